// SPDX-License-Identifier: MIT
//
// Attention with each mask, and a layer's heads with their projections and dropout, on a port.
#pragma once

#include <cstddef>

#include "same_bits.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "unit/plain_heads.hpp"

namespace tinyattn::test {

template <class Port, std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void check_attention(Check& check, const auto& mask) {
  const auto query = hidden(numbers<Matrix<float, Tokens, KeyDim>>(1));
  const auto key = hidden(numbers<Matrix<float, SourceTokens, KeyDim>>(2));
  const auto value = hidden(numbers<Matrix<float, SourceTokens, ValueDim>>(3));
  constexpr std::size_t weights = Tokens * SourceTokens;
  check_same_bits<Port>(check, weights + Tokens * ValueDim, [&](auto port, float* out) {
    Matrix<float, Tokens, ValueDim> context{};
    kernel::scaled_dot_product_attention<decltype(port)>(query, key, value, mask, context, kernel::CopyWeights<Tokens, SourceTokens>{out});
    for (std::size_t i = 0; i < context.size(); ++i) out[weights + i] = context.data()[i];
  });
}

// True at every third element.
template <class Shape>
constexpr Shape every_third() noexcept {
  Shape mask{};
  for (std::size_t i = 0; i < mask.size(); i += 3) mask.data()[i] = true;
  return mask;
}

template <class Port>
void check_attention_with_each_mask(Check& check) {
  check_attention<Port, 9, 17, 3, 5>(check, NoMask{});
  check_attention<Port, 18, 19, 4, 7>(check, Causal{});
  check_attention<Port, 6, 16, 2, 8>(check, CausalBottomRight{});
  check_attention<Port, 5, 7, 2, 3>(check, KeepMask{hidden(every_third<Vector<bool, 7>>())});
  check_attention<Port, 7, 18, 4, 5>(check, BlockMask{hidden(every_third<Matrix<bool, 7, 18>>())});
  auto addend = numbers<Matrix<float, 7, 18>>(4);
  for (std::size_t i = 0; i < addend.size(); i += 5) addend.data()[i] = -infinity;
  check_attention<Port, 7, 18, 4, 5>(check, AdditiveMask{hidden(addend)});
}

inline constexpr AttentionConfig layer_config{.d_in = 3, .d_out = 6, .context_length = 19, .num_heads = 2, .qkv_bias = true};

// Its rows of scores are shorter than a tile is wide, and however many tokens there are they fill no vector of eight lanes.
inline constexpr AttentionConfig short_layer_config{.d_in = 2, .d_out = 2, .context_length = 3};

// The kernels of a layer's forward pass for a token count that is known at run time; and with dropout, in the order of a training pass.
template <class Port, AttentionConfig config>
void forward_heads(Check& check, std::size_t tokens, bool drops, float* out) {
  static constexpr auto layer = filled<MultiHeadAttention<config>>(1);
  using Workspace = kernel::HeadsWorkspace<Port, config.d_out, config.context_length>;
  static Guarded<Workspace> workspace;
  const auto projection = [](const auto& linear) { return kernel::projection(linear); };
  const kernel::Heads<config.num_heads, config.d_out / config.num_heads, Workspace, decltype(projection(layer.query)),
                      decltype(projection(layer.out_proj))>
      heads{projection(layer.query), projection(layer.key), projection(layer.value), projection(layer.out_proj), workspace.tensor};
  const kernel::RowMajor<const float, kernel::Extent<config.d_in>> x{source(tokens), {}};
  const kernel::RowMajor<float, kernel::Extent<config.d_out>> to{out, {}};
  const auto visible = kernel::visible(Causal{}, tokens, tokens);
  heads.template project_source<Port>(tokens, x, x);
  if (drops) {
    Philox4x32 generator(7);
    auto words = detail::words(generator);
    using Words = decltype(words);
    heads.template forward_by_head<Port>(tokens, x, to, visible, kernel::DropWeights<Port, Words>{DropoutRate(0.25), words, tokens});
    heads.template project_output<Port>(tokens, to);
  } else {
    heads.template forward<Port>(tokens, x, to, visible, kernel::IgnoreWeights{});
  }
  check.that(workspace.guards_hold());
}

template <class Port, AttentionConfig config = layer_config>
void check_heads(Check& check) {
  for (const std::size_t tokens : {std::size_t{1}, config.context_length / 2, config.context_length})
    for (const bool drops : {false, true})
      check_same_bits<Port>(check, tokens * config.d_out,
                            [&](auto port, float* out) { forward_heads<decltype(port), config>(check, hidden(tokens), drops, out); });
}

}  // namespace tinyattn::test
