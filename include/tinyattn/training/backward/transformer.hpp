// SPDX-License-Identifier: MIT
//
// The training passes of transformers. Of the forward pass, which it runs first, the backward pass
// keeps two inputs for each block; everything else is computed again. `forward` of the modules
// calls the forward pass with dropout.
#pragma once

#include "tinyattn/training/detail/backward_call.hpp"
#include "tinyattn/training/detail/blocks.hpp"
#include "tinyattn/transformer.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Turns d, the gradient of the output of a transformer's final norm, into that of its input.
template <class Port, class Module>
constexpr void final_norm_backward(const Module& transformer, auto& gradient, std::size_t tokens,
                                   auto& workspace) noexcept {
  if constexpr (requires { transformer.final_norm.weight; }) {
    kernel::NormGradient of_norm;
    if constexpr (requires { gradient.final_norm; }) of_norm = norm_gradient(gradient.final_norm);
    const kernel::Output last = workspace.rows(workspace.input);
    write_input_of_block<Port>(transformer.blocks, Module::num_blocks, tokens, workspace, last);
    kernel::norm_rows_backward<Port>(describe(transformer.final_norm), of_norm, tokens, last,
                                     workspace.rows(workspace.d), workspace.row);
  }
}

// The two passes of a module over the first `tokens` rows: the first computes d = module(d), the
// second turns d from the gradient of the output into that of the input.
template <class Port>
constexpr void forward_kept(const auto& module, std::size_t tokens, const auto& mask,
                            auto& workspace, const auto& generator) noexcept {
  forward_blocks_kept<Port>(blocks_of(module), tokens, mask, workspace, generator);
  apply_final_norm<Port>(module, tokens, workspace.rows(workspace.d));
}
template <class Port>
constexpr void backward_kept(const auto& module, auto& gradient, std::size_t tokens,
                             const auto& mask, auto& workspace, const auto& generator) noexcept {
  final_norm_backward<Port>(base_of(module), gradient, tokens, workspace);
  blocks_backward<Port>(
      blocks_of(module),
      [&](std::size_t l) TINYATTN_INLINE_LAMBDA {
        if constexpr (requires { gradient.blocks; })
          return block_gradient(gradient.blocks[l]);
        else
          return static_cast<void>(l), block_gradient(gradient);
      },
      tokens, mask, workspace, generator);
}

// The configuration of the blocks of a TransformerBlock or a Transformer.
template <class Module>
struct BlocksOf {};
template <BlockConfig of_block>
struct BlocksOf<TransformerBlock<of_block>> {
  static constexpr BlockConfig config = of_block;
};
template <TransformerConfig of_transformer>
struct BlocksOf<Transformer<of_transformer>> {
  static constexpr BlockConfig config = of_transformer.block;
};
template <class Module>
concept made_of_blocks = has_backward<Module, BlocksOf<BaseOf<Module>>::config.attention.weights>;
template <class Module>
inline constexpr BlockConfig config_of_blocks = BlocksOf<BaseOf<Module>>::config;

// The streams that one text takes from the generator of a dropout.
template <class Module>
inline constexpr std::size_t streams_of =
    BlockDropout<MultiHeadAttention<config_of_blocks<Module>.attention>>::streams*
        Module::num_blocks;

// Returns a copy of the generator of a pass over `texts` texts, and moves the generator on by the
// streams of the pass.
template <class Module, class Generator>
constexpr auto skip_streams(std::size_t texts, Generator& generator) noexcept {
  if constexpr (check_replay<Generator>() && !is_no_generator<Generator>) {
    const Philox4x32 before = generator;
    generator = stream_after(generator, texts * streams_of<Module>);
    return before;
  } else {
    return no_generator;
  }
}

// Runs both passes over the first `tokens` rows of every batch element of x.
template <class Said, class Module>
constexpr void train_blocks(const Module& module, std::size_t tokens, auto&... arguments) noexcept {
  const auto& x = nth<0>(arguments...);
  auto& input_gradient = nth<Said::d_query>(arguments...);
  auto& workspace = nth<Said::workspace>(arguments...);
  constexpr std::size_t texts = LayoutOf<decltype(x)>::batch,
                        d_model = config_of_blocks<Module>.feed_forward.d_model;
  decltype(auto) mask = mask_of<Said>(arguments...);
  const auto before = skip_streams<Module>(texts, generator_of<Said>(arguments...));
  on_native_port([&](auto port) TINYATTN_INLINE_LAMBDA {
    using Port = decltype(port);
    const kernel::Output d = workspace.rows(workspace.d);
    for (std::size_t i = 0; i < texts; ++i) {
      const auto generator = stream_after(before, i * streams_of<Module>);
      kernel::copy_rows<Port>(tokens, d_model, input(x, i), d);
      forward_kept<Port>(module, tokens, mask, workspace, generator);
      kernel::copy_rows<Port>(tokens, d_model, input(nth<Said::d_out>(arguments...), i), d);
      backward_kept<Port>(module, nth<Said::gradient>(arguments...), tokens, mask, workspace,
                          generator);
      if constexpr (!is_no_gradient<decltype(input_gradient)>)
        kernel::copy_rows<Port>(tokens, d_model, d, output(input_gradient, i));
    }
  });
}

// A static_assert diagnoses wrong types of a call; the caller then computes nothing.
template <class Module, class Said, class... Arguments>
consteval bool check_blocks_backward() noexcept {
  using TensorX = ArgumentAt<0, Arguments...>;
  if constexpr (check_layer<config_of_blocks<Module>.attention, TensorX, TensorX, TensorX,
                            Like<TensorX>, Said::has_counts>() &&
                check_mask_of<MaskOf<Said, Arguments...>, TensorX, TensorX>())
    return check_backward<Module, ArgumentAt<Said::d_out, Arguments...>, Like<TensorX>,
                          WrittenAt<Said::d_query, Arguments...>, TensorX,
                          std::remove_reference_t<WrittenAt<Said::gradient, Arguments...>>>();
  else
    return false;
}

// Whether the arguments after a module made of blocks are a call of its backward pass.
template <class Module, class Said, class... Arguments>
consteval bool is_backward_of_blocks() noexcept {
  return is_backward<Module, Said, Arguments...>() && Said::num_inputs == 1 &&
         !(Said::has_counts && Said::has_mask);
}

template <class Said, class... Types>
constexpr ResultOf<Said> backward_of_blocks(const auto& module, auto&... arguments) noexcept {
  using Module = std::remove_cvref_t<decltype(module)>;
  if constexpr (check_blocks_backward<Module, Said, Types...>()) {
    constexpr std::size_t most = kernel::minimum(BackwardWorkspace<BaseOf<Module>>::tokens,
                                                 LayoutOf<ArgumentAt<0, Types...>>::rows);
    const std::size_t tokens = rows_of<Said, 0, Said::tokens>(arguments...);
    if constexpr (Said::has_counts)
      if (tokens > most) return Status::too_many_tokens;
    train_blocks<Said>(module, tokens, arguments...);
  }
  return ResultOf<Said>();
}

// A call of a Training, which adds the gradient and the workspace: they are after a generator.
template <class Module, class... Arguments>
using TrainingCall = BackwardCall<2, Arguments..., typename Trained<Module>::Gradient&,
                                  BackwardWorkspace<BaseOf<Module>>&>;
template <class Module, class... Arguments>
consteval bool is_backward_by_training() noexcept {
  if constexpr (!made_of_blocks<Module>)
    return false;
  else
    return is_backward_of_blocks<Module, TrainingCall<Module, Arguments...>, Arguments...,
                                 typename Trained<Module>::Gradient&,
                                 BackwardWorkspace<BaseOf<Module>>&>();
}
template <class... Types>
constexpr auto backward_by_training(const auto& module, auto& gradient, auto& workspace,
                                    auto&... arguments) noexcept {
  using Said = TrainingCall<std::remove_cvref_t<decltype(module)>, Types...>;
  return backward_of_blocks<Said, Types..., decltype(gradient), decltype(workspace)>(
      module, arguments..., gradient, workspace);
}

// --- Forward with dropout ---

// A static_assert diagnoses int8 weights, which are not trained, a workspace that is not the
// module's, and a generator that cannot be replayed.
template <class Module, class Blocks, class Workspace, class Generator>
consteval bool check_forward_with_dropout() noexcept {
  using OfTraining = BackwardWorkspace<BaseOf<Module>>;
  constexpr bool fits = std::is_base_of_v<typename Module::Workspace, Workspace> ||
                        std::is_base_of_v<OfTraining, Workspace>;
  static_assert(fits,
                "a training pass takes the Workspace of the module, or its BackwardWorkspace");
  if constexpr (made_of_blocks<Blocks>)
    return check_replay<Generator>() && fits && check_plain_block<config_of_blocks<Blocks>>();
  else
    return check_training<config_of_blocks<Blocks>.attention>();
}

// Computes x = module(x) for the first `tokens` rows.
template <class Port, class Module>
constexpr void forward_dropped(const Module& module, std::size_t tokens, kernel::Output x,
                               const auto& mask, const auto& scratch,
                               const Philox4x32& generator) noexcept {
  constexpr AttentionConfig attention = config_of_blocks<Module>.attention;
  for (std::size_t l = 0; l < Module::num_blocks; ++l)
    kernel::forward_block_kept<Port>(
        describe(blocks_of(module)[l]), scratch, tokens, x,
        {kernel::KeepsNothing{}, kernel::KeepsNothing{}},
        with_mask_of<attention>(kernel_mask(mask, tokens, tokens)),
        dropout_of_block<MultiHeadAttention<attention>>(generator, l, tokens));
  apply_final_norm<Port>(module, tokens, x);
}

// The same for every batch element, from x to `out`.
template <class Module, class TensorX>
constexpr void forward_dropped_rows(const Module& module, std::size_t tokens, const TensorX& x,
                                    const auto& mask, auto& out, auto& workspace,
                                    auto& generator) noexcept {
  const Philox4x32 before = skip_streams<Module>(LayoutOf<TensorX>::batch, generator);
  on_native_port([&](auto port) {
    using Port = decltype(port);
    for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i) {
      const kernel::Output rows = output(out, i);
      copy_features<Port>(tokens, config_of_blocks<Module>.feed_forward.d_model, input(x, i), rows);
      forward_dropped<Port>(module, tokens, rows, mask, workspace.parts(),
                            stream_after(before, i * streams_of<Module>));
    }
  });
}

// Of a TransformerBlock or a Transformer: of all rows, with a mask, or of the first num_tokens.
template <class Module, class TensorX, class MaskOrCount, class Out, class Workspace,
          class Generator>
constexpr auto forward_with_dropout(WithDropout, const Module& module, const TensorX& x,
                                    const MaskOrCount& mask_or_count, Out& out,
                                    Workspace& workspace, Generator& generator) noexcept {
  constexpr bool has_count = std::is_convertible_v<MaskOrCount, std::size_t>;
  using Mask = std::conditional_t<has_count, NoMask, MaskOrCount>;
  if constexpr (check_forward_with_dropout<Module, Module, Workspace, Generator>())
    if constexpr (check_layer<config_of_blocks<Module>.attention, TensorX, TensorX, TensorX, Out,
                              has_count>() &&
                  check_mask_of<Mask, TensorX, TensorX>()) {
      constexpr std::size_t rows = LayoutOf<TensorX>::rows;
      if constexpr (has_count) {
        const auto num_tokens = static_cast<std::size_t>(mask_or_count);
        if (num_tokens > kernel::minimum(BackwardWorkspace<BaseOf<Module>>::tokens, rows))
          return Status::too_many_tokens;
        forward_dropped_rows(module, num_tokens, x, NoMask{}, out, workspace, generator);
      } else {
        forward_dropped_rows(module, rows, x, mask_or_count, out, workspace, generator);
      }
    }
  if constexpr (has_count) return Status::ok;
}

}  // namespace detail

// All the scratch of the passes of a block, with what the forward pass keeps.
template <BlockConfig config>
struct BackwardWorkspace<TransformerBlock<config>> : detail::BlocksBackwardWorkspace<config, 1> {};
// The same of a transformer.
template <TransformerConfig config>
struct BackwardWorkspace<Transformer<config>>
    : detail::BlocksBackwardWorkspace<config.block, config.num_layers> {};

// The backward pass of a TransformerBlock or a Transformer, which runs the forward pass first: adds
// to the gradients of all parameters, and writes that of x.
//
//   backward(module, x, output_gradient, input_gradient, gradient, workspace)
//
// x and both gradients are [..., tokens, d_model]; input_gradient may be x or output_gradient.
// Either of input_gradient and gradient may be no_gradient. After x there may be the mask of the
// forward pass, or num_tokens: other rows are then neither read nor written; if there are too many,
// changes nothing and returns too_many_tokens, else ok.
//
// With the generator of a training pass after the workspace, a Philox4x32 in its state before that
// pass, there is dropout at the rates of AttentionConfig. Each batch element takes streams: in each
// block for the attention weights, the outputs of attention, and those of the feed-forward part.
template <detail::made_of_blocks Module, class... Arguments>
requires(detail::is_backward_of_blocks<
         Module, detail::BackwardCall<0, Arguments...>,
         Arguments...>()) constexpr auto backward(const Module& module,
                                                  Arguments&&... arguments) noexcept {
  return detail::backward_of_blocks<detail::BackwardCall<0, Arguments...>, Arguments...>(
      module, arguments...);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
