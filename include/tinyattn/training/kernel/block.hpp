// SPDX-License-Identifier: MIT
//
// A block of a transformer in training. The forward pass keeps one input for each of its two parts;
// the backward pass computes everything else again.
#pragma once

#include "tinyattn/kernel/block.hpp"
#include "tinyattn/training/kernel/feed_forward.hpp"
#include "tinyattn/training/kernel/layer.hpp"
#include "tinyattn/training/kernel/normalization.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

struct BlockGradient {
  NormGradient attention_norm;
  LayerGradient attention;
  NormGradient feed_forward_norm;
  FeedForwardGradient feed_forward;
};

// Drops nothing. A dropout of a block has `weights`, the replay of attention weights, and
// drop_outputs<Port>(part, first, rows, x), which drops in place what is dropped of the output of
// part 0, attention, or 1, from row `first` on.
struct NoDropout {
  static constexpr bool drops_weights = false, drops_outputs = false;
  NoReplay weights;
};

// --- Forward ---

// In the place of what is kept, if there is no backward pass.
struct KeepsNothing {
  static constexpr KeepsNothing from(std::size_t, std::size_t) noexcept { return {}; }
};
template <class Port>
TINYATTN_KERNEL void keep_rows(std::size_t rows, std::size_t dim, Output x, Output kept) noexcept {
  copy_rows<Port>(rows, dim, x, kept);
}
template <class Port>
TINYATTN_KERNEL void keep_rows(std::size_t, std::size_t, Output, KeepsNothing) noexcept {}

// Computes a part, x += part(norm(x)) if norm_first, else x = norm(x + part(x)), and keeps the
// input of the norm. part(input, out) computes the part; `out` may be the input.
template <class Port>
TINYATTN_KERNEL void forward_part(const Norm& norm, bool norm_first, std::size_t rows, Output x,
                                  Output part_of, auto kept, const auto& part) noexcept {
  if (norm_first) keep_rows<Port>(rows, norm.dim, x, kept);
  part(input_of_part<Port>(norm, norm_first, rows, x, part_of), part_of);
  add_all_rows<Port>(rows, norm.dim, part_of, x);
  if (norm_first) return;
  keep_rows<Port>(rows, norm.dim, x, kept);
  normalize_features<Port>(norm, rows, x, x);
}

// x = block(x). `kept` has the kept inputs of attention and of the feed-forward part, [tokens,
// d_model], or KeepsNothing twice.
template <class Port, class Kept>
TINYATTN_KERNEL void forward_block_kept(const auto& block, const auto& scratch, std::size_t tokens,
                                        Output x, const Kept (&kept)[2], const auto& mask,
                                        const auto& dropout) noexcept {
  using Dropout = std::remove_cvref_t<decltype(dropout)>;
  const auto drop_outputs = [&](std::size_t part, std::size_t first, std::size_t rows, Output out)
                                TINYATTN_INLINE_LAMBDA {
                                  if constexpr (Dropout::drops_outputs)
                                    dropout.template drop_outputs<Port>(part, first, rows, out);
                                };
  const auto attend = [&](Dense input, Output out) TINYATTN_INLINE_LAMBDA {
    const BatchElement element{0, tokens, tokens, input, input, input, out};
    const auto attention = block.attention;  // a copy: the block's address does not escape
    if constexpr (Dropout::drops_weights)
      forward<Port, CallShape{}>(
          attention, scratch.attention, element, mask,
          drop_weights(dropout.weights.rate, [&](std::size_t index, std::size_t i, float* row,
                                                 std::size_t end) TINYATTN_INLINE_LAMBDA {
            dropout.weights.template drop<Port>(row, end, index, i);
          }));
    else
      forward<Port, CallShape{}>(attention, scratch.attention, element, mask, IgnoreWeights{});
    drop_outputs(0, 0, tokens, out);
  };
  forward_part<Port>(block.attention_norm, block.norm_first, tokens, x, scratch.part_of, kept[0],
                     attend);
  for (std::size_t first = 0; first < tokens; first += scratch.hidden_rows) {
    const std::size_t rows = minimum(scratch.hidden_rows, tokens - first);
    forward_part<Port>(block.feed_forward_norm, block.norm_first, rows, x.from(first, 0),
                       scratch.part_of, kept[1].from(first, 0),
                       [&](Dense input, Output out) TINYATTN_INLINE_LAMBDA {
                         feed_forward<Port>(block.feed_forward, rows, input, out, scratch.hidden,
                                            scratch.attention.integers);
                         drop_outputs(1, first, rows, out);
                       });
  }
}

// --- Backward ---

template <class Integers = NoScratch>
struct BlockBackwardScratch {
  Output input, d_part;                      // [tokens, d_model]: of a part, and its gradient
  float* row;                                // [d_model]
  LayerBackwardScratch<Integers> attention;  // shares its memory with `hidden`
  float* hidden;                             // has room for hidden_rows rows
  std::size_t hidden_rows;
};

// d[i], the gradient of norm(x[i]), becomes that of x[i].
template <class Port>
TINYATTN_KERNEL void norm_rows_backward(const Norm& norm, const NormGradient& gradient,
                                        std::size_t rows, Dense x, Output d, float* row) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    norm_backward<Port>(norm, gradient, x.at(i, 0), d.at(i, 0), d.at(i, 0), row);
}

// d, the gradient of the output of a part and its residual, becomes that of their input. `kept` is
// the input of the norm. write_input(out) writes the input of a part without norm_first;
// part(input, d, d_part) computes d_part, the gradient of a part's input, from that of its output.
template <class Port>
TINYATTN_KERNEL void part_backward(const Norm& norm, const NormGradient& gradient, bool norm_first,
                                   std::size_t rows, Dense kept, Output d, const auto& s,
                                   const auto& write_input, const auto& part) noexcept {
  if (norm_first) {
    normalize_features<Port>(norm, rows, kept, s.input);
  } else {
    norm_rows_backward<Port>(norm, gradient, rows, kept, d, s.row);
    write_input(s.input);
  }
  part(s.input, d, s.d_part);
  if (norm_first) norm_rows_backward<Port>(norm, gradient, rows, kept, s.d_part, s.row);
  add_all_rows<Port>(rows, norm.dim, s.d_part, d);
}

// d, the gradient of the block's output, becomes that of its input, which write_input(out) writes
// if the block is without norm_first.
template <class Port>
TINYATTN_KERNEL void block_backward(const auto& block, const BlockGradient& gradient, const auto& s,
                                    std::size_t tokens, const Output (&kept)[2], Output d,
                                    const auto& mask, const auto& dropout,
                                    const auto& write_input) noexcept {
  const std::size_t dim = block.attention_norm.dim;
  const auto dropped = [&](std::size_t part, std::size_t first, std::size_t rows, Dense from)
                           TINYATTN_INLINE_LAMBDA {
                             if constexpr (!std::remove_cvref_t<decltype(dropout)>::drops_outputs)
                               return from;
                             copy_rows<Port>(rows, dim, from, s.d_part);
                             if constexpr (std::remove_cvref_t<decltype(dropout)>::drops_outputs)
                               dropout.template drop_outputs<Port>(part, first, rows, s.d_part);
                             return Dense(s.d_part);
                           };
  for (std::size_t first = 0; first < tokens; first += s.hidden_rows) {
    const std::size_t rows = minimum(s.hidden_rows, tokens - first);
    part_backward<Port>(
        block.feed_forward_norm, gradient.feed_forward_norm, block.norm_first, rows,
        kept[1].from(first, 0), d.from(first, 0), s,
        [&](Output out) TINYATTN_INLINE_LAMBDA {
          normalize_features<Port>(block.attention_norm, rows, kept[0].from(first, 0), out);
        },
        [&](Dense input, Dense d_out, Output d_part) TINYATTN_INLINE_LAMBDA {
          feed_forward_backward<Port>(block.feed_forward, gradient.feed_forward, rows, input,
                                      dropped(1, first, rows, d_out), d_part, s.hidden,
                                      s.attention.integers);
        });
  }
  part_backward<Port>(
      block.attention_norm, gradient.attention_norm, block.norm_first, tokens, kept[0], d, s,
      write_input, [&](Dense input, Dense d_out, Output d_part) TINYATTN_INLINE_LAMBDA {
        layer_backward<Port>(block.attention, gradient.attention, s.attention,
                             BackwardElement{0, tokens, tokens, input, input, input,
                                             dropped(0, 0, tokens, d_out), d_part, d_part, d_part},
                             mask, dropout.weights);
      });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
