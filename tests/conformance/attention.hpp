// SPDX-License-Identifier: MIT
//
// Compares attention and layers, with each mask, on a port with those on the scalar port, whose blocks and tiles have sizes of their own.
#pragma once

#include <array>
#include <cstddef>

#include "same_bits.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/kernel/layer.hpp"

namespace tinyattn::test {

inline Field<1024> key_scratch, value_scratch, block_scratch, score_scratch;

// A layer may have an output projection; a training pass drops weights, head by head.
struct Sizes {
  std::size_t tokens, source_tokens, in, out, num_heads = 1;
  bool has_output = false, drops = false;
};

// Calls step(mask) for each kind of mask; some mask every key of a query.
inline void for_each_mask(const Sizes& s, const auto& step) {
  static std::array<bool, source_size> flags;
  static std::array<float, source_size> addends;
  for (std::size_t i = 0; i < source_size; ++i) {
    flags[i] = i % 3 == 0;
    addends[i] = i % 5 == 0 ? -infinity : source(0)[i];
  }
  const auto last = static_cast<std::ptrdiff_t>(s.source_tokens);
  for (const std::ptrdiff_t diagonal : {last, std::ptrdiff_t{0}, last - 9}) {
    const kernel::Mask mask{s.source_tokens, diagonal};
    step(mask);
    step(kernel::with_flags(mask, flags.data(), true, 0));
    step(kernel::with_flags(mask, flags.data(), false, mask.keys));
    step(kernel::with_addends(mask, addends.data(), mask.keys));
  }
}

// The first rows of `to` hold the contexts, a gap after each; the weights follow, each row written up to the `end` that the kernel reports.
constexpr std::size_t floats_written(const Sizes& s) {
  const std::size_t weights = s.num_heads * s.source_tokens;
  return s.tokens * (s.out + gap + weights);
}
inline auto weights_to(const Sizes& s, float* to) {
  return [s, to](std::size_t matrix, std::size_t i, const float* row, std::size_t end) {
    const std::size_t before = s.tokens * (s.out + gap + matrix * s.source_tokens);
    for (std::size_t j = 0; j < end; ++j) to[before + i * s.source_tokens + j] = row[j];
  };
}

// Computes attention of one head, whose keys are not transposed.
template <class Port>
void attend(Check& check, const Sizes& s, const kernel::Mask& mask, float* to) {
  const std::size_t row_size = kernel::room_of_scores<Port>(s.source_tokens);
  const std::size_t rows_of_scores = kernel::minimum(s.tokens, Port::query_rows);
  const kernel::Dense queries{last_of_source(s.tokens * s.in), s.in};
  const kernel::Dense keys{last_of_source(s.source_tokens * s.in), s.in};
  const kernel::Dense values{last_of_source(s.source_tokens * s.out), s.out};
  const kernel::Output scores{score_scratch.cleared(), row_size}, context{to, s.out + gap};
  const kernel::Attention all{s.tokens, Port::query_rows, s.in, s.out, 0, 0, queries, keys, values, scores, context, 0.6f};
  kernel::attend<Port, true>(all, mask, weights_to(s, to));
  check.that(score_scratch.is_untouched_beside(rows_of_scores * row_size));
}

template <class Port>
void check_attention(Check& check) {
  constexpr std::size_t lanes = Port::lanes, tile = Port::tile_vectors * lanes;
  for (const Sizes& s : {Sizes{18, 1, 1, 1}, {18, 3, 2, lanes}, {18, 19, 4, 7}, {5, 2 * lanes, 3, tile + 1}, {2, 70, 3, 5}})
    for_each_mask(s, [&](const kernel::Mask& mask) {
      const auto compute = [&](auto p, float* to) { attend<decltype(p)>(check, s, mask, to); };
      check_same_bits<Port>(check, floats_written(s), compute, compute);
    });
}

inline constexpr std::size_t context_length = 19;

template <class Port, kernel::LayerShape tiny = kernel::LayerShape{}>
void forward(Check& check, const Sizes& s, const kernel::Mask& mask, float* to) {
  const std::size_t row_size = kernel::room_of_scores<Port>(context_length);
  std::size_t block = kernel::block_rows<Port>(context_length);
  std::size_t queries = kernel::minimum(block, Port::query_rows);
  if (tiny.tokens != 0) block = queries = tiny.tokens;
  const auto projection = [&](std::size_t seed) {
    return kernel::Projection<>{source(seed), s.num_heads == 1 ? nullptr : source(seed + 20)};
  };
  const kernel::Projection<> output = s.has_output ? projection(4) : kernel::Projection<>{};
  const auto query = projection(1), key = projection(2), value = projection(3);
  const std::size_t dim = s.out / s.num_heads;
  const kernel::Layer layer{s.in, s.out, s.num_heads, dim, 0.6f, query, key, value, output};
  const kernel::Scratch scratch{{key_scratch.cleared(), row_size},
                                {value_scratch.cleared(), s.out},
                                {block_scratch.cleared(), s.out},
                                {score_scratch.cleared(), row_size},
                                block,
                                queries};
  const kernel::Dense x{source(5), s.in}, key_input{source(6), s.in}, value_input{source(7), s.in};
  const kernel::Output out{to, s.out + gap};
  const kernel::Item item{1, s.tokens, s.source_tokens, x, key_input, value_input, out};
  Philox4x32 generator(7);
  auto stream = detail::random_stream(generator);
  const auto take = [&](std::size_t index, std::size_t i, float* row, std::size_t end) {
    weights_to(s, to)(index - s.num_heads, i, row, end);
    if (s.drops) kernel::drop<Port>(row, end, s.source_tokens, DropoutRate(0.25), stream);
  };
  if (s.drops) {
    kernel::forward_by_head<Port>(layer, scratch, item, mask, take);
    kernel::project_output<Port>(layer, scratch, s.tokens, out);
  } else {
    kernel::forward<Port, tiny>(layer, scratch, item, mask, take);
  }
  check.that(key_scratch.is_untouched_beside(s.out * row_size));
  check.that(value_scratch.is_untouched_beside(s.source_tokens * s.out));
  check.that(block_scratch.is_untouched_beside(block * s.out));
  check.that(score_scratch.is_untouched_beside(queries * row_size));
}

template <class Port, kernel::LayerShape tiny = kernel::LayerShape{}>
void check_layer(Check& check, const Sizes& s) {
  for_each_mask(s, [&](const kernel::Mask& mask) {
    const auto expect = [&](auto p, float* to) { forward<decltype(p)>(check, s, mask, to); };
    const auto compute = [&](auto, float* to) { forward<Port, tiny>(check, s, mask, to); };
    check_same_bits<Port>(check, floats_written(s), expect, compute);
  });
}

// Checks token counts that do not fill the last block, rows of scores narrower than a tile, and layers specialized by size, with one, two
// or three tokens in a block.
template <class Port>
void check_layers(Check& check) {
  for (const bool has_output : {false, true}) {
    for (const bool drops : {false, true}) {
      check_layer<Port>(check, {3, 3, 2, 2, 1, has_output, drops});
      check_layer<Port>(check, {9, 4, 3, 6, 2, has_output, drops});
      check_layer<Port>(check, {19, 19, 5, 20, 2, has_output, drops});
      check_layer<Port>(check, {1, 18, 3, 6, 2, has_output, drops});
    }
    check_layer<Port, kernel::LayerShape{1, 1, 1, 1, 1}>(check, {4, 1, 1, 1, 1, has_output});
    check_layer<Port, kernel::LayerShape{2, 6, 3, 2, 2}>(check, {6, 6, 3, 2, 1, has_output});
    check_layer<Port, kernel::LayerShape{3, 5, 2, 4, 2}>(check, {9, 5, 2, 4, 2, has_output});
    check_layer<Port, kernel::LayerShape{1, 19, 2, 2, 2}>(check, {2, 19, 2, 2, 1, has_output});
  }
}

}  // namespace tinyattn::test
