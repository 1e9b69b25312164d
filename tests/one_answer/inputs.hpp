// SPDX-License-Identifier: MIT
//
// Inputs of the workloads: drawn with Philox, so that they are the same on every target, and exact, so that a difference in a result
// is never one in the inputs.
#pragma once

#include "support/check.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tinyattn::one_answer {

using test::hidden;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float largest = std::numeric_limits<float>::max();

class Inputs {
 public:
  // Not inlined, like what follows: what the cases share must not be compiled again for each of them.
  [[gnu::noinline]] constexpr std::uint32_t word() noexcept {
    if (drawn_ % 4 == 0) block_ = generator_.block(drawn_ / 4);
    return block_[drawn_++ % 4];
  }

  // From [-1, 1), in steps of 2^-23: the product and the sum are exact.
  constexpr float number() noexcept { return static_cast<float>(word() >> 8) * 0x1p-23f - 1.0f; }

  constexpr bool one_in(std::uint32_t count) noexcept { return word() % count == 0; }

  // Numbers from [-scale, scale), scale a power of two.
  template <std::size_t... Extents>
  constexpr void draw(Tensor<float, Extents...>& tensor, float scale = 1.0f) noexcept {
    draw(tensor.data(), tensor.size(), scale);
  }

  template <std::size_t In, std::size_t Out, bool Bias>
  constexpr void draw(Linear<In, Out, Bias>& linear) noexcept {
    draw(linear.weight, 0.5f);
    if constexpr (Bias) draw(linear.bias, 0.5f);
  }

  template <AttentionConfig config>
  constexpr void draw(MultiHeadAttention<config>& layer) noexcept {
    draw(layer.query, layer.key, layer.value);
    if constexpr (config.out_proj) draw(layer.out_proj);
  }

  template <std::size_t DIn, std::size_t DOut, std::size_t ContextLength, std::size_t NumHeads>
  constexpr void draw(StackedCausalAttention<DIn, DOut, ContextLength, NumHeads>& layer) noexcept {
    for (auto& head : layer.heads) draw(head);
  }

  // A third of the elements.
  template <std::size_t... Extents>
  constexpr void draw(Tensor<bool, Extents...>& tensor) noexcept {
    for (bool& element : tensor.elements) element = one_in(3);
  }

  template <class Mask>
  requires std::is_empty_v<Mask>
  constexpr void draw(Mask&) noexcept {}

  template <std::size_t... Extents>
  constexpr void draw(BlockMask<Extents...>& mask) noexcept {
    draw_mask(mask.tensor, true);
  }
  template <std::size_t... Extents>
  constexpr void draw(KeepMask<Extents...>& mask) noexcept {
    draw_mask(mask.tensor, false);
  }
  template <std::size_t... Extents>
  constexpr void draw(AdditiveMask<Extents...>& mask) noexcept {
    draw_mask(mask.tensor, -infinity);
  }

  // Several, in this order.
  template <class... Drawn>
  requires(sizeof...(Drawn) > 1) constexpr void draw(Drawn&... drawn) noexcept { (draw(drawn), ...); }

 private:
  [[gnu::noinline]] constexpr void draw(float* elements, std::size_t count, float scale) noexcept {
    for (std::size_t i = 0; i < count; ++i) elements[i] = scale * number();
  }

  // The first row of a mask with rows hides everything.
  template <class T, std::size_t... Extents>
  constexpr void draw_mask(Tensor<T, Extents...>& mask, T hides) noexcept {
    draw(mask);
    if constexpr (std::is_same_v<T, float>)
      for (float& element : mask.elements)
        if (one_in(3)) element = hides;
    if constexpr (sizeof...(Extents) == 2)
      for (std::size_t j = 0; j < mask.extent(1); ++j) mask(0, j) = hides;
  }

  Philox4x32 generator_{hidden(std::uint64_t{123})};
  std::uint64_t drawn_ = 0;
  std::array<std::uint32_t, 4> block_ = {};
};

}  // namespace tinyattn::one_answer
