// SPDX-License-Identifier: MIT
//
// Draws the inputs of a case, with Philox and exact arithmetic only: inputs are the same on every target, so that a difference in a result
// never comes from them. One class draws numbers, tensors, masks and modules, in the order in which a case asks for them.
#pragma once

#include "guarded.hpp"
#include "tinyattn/convolution.hpp"
#include "tinyattn/language_model.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/recurrent.hpp"
#include "tinyattn/transformer_decoder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tinyattn::test {

class Draw {
 public:
  constexpr explicit Draw(std::uint64_t seed = 123) noexcept : generator_(opaque(seed)) {}

  // Not inlined, like draw(float*, ...), so that this code is compiled once and not in each case.
  [[gnu::noinline]] constexpr std::uint32_t word() noexcept {
    if (drawn_ % 4 == 0) block_ = generator_.block(drawn_ / 4);
    return block_[drawn_++ % 4];
  }

  // Uniform in [-1, 1), in steps of 2^-23: product and sum are exact.
  constexpr float number() noexcept { return static_cast<float>(word() >> 8) * 0x1p-23f - 1.0f; }

  // A number of either sign with any exponent from -`range` to `range` - 1.
  constexpr float wide_number(std::uint32_t range) noexcept {
    const std::uint32_t exponent = 127 - range + word() % (2 * range);
    return __builtin_bit_cast(float, (word() & 0x807fffffu) | exponent << 23);
  }

  constexpr bool one_in(std::uint32_t count) noexcept { return word() % count == 0; }

  // Draws each argument in turn.
  constexpr void operator()(auto&... drawn) noexcept { (draw(drawn), ...); }

  // Uniform in [-scale, scale); scale is a power of two.
  template <std::size_t... Extents>
  constexpr void draw(Tensor<float, Extents...>& tensor, float scale = 1.0f) noexcept {
    draw(tensor.data(), tensor.size(), scale);
  }

  // Each element is true with probability 1/3.
  template <std::size_t... Extents>
  constexpr void draw(Tensor<bool, Extents...>& tensor) noexcept {
    for (bool& element : tensor.elements) element = one_in(3);
  }

  // Nothing to draw: a mask without elements, or an optional member that is absent.
  template <class Empty>
  requires std::is_empty_v<Empty>
  constexpr void draw(Empty&) noexcept {}

  // --- Masks: if a mask has rows, its first row masks every key ---

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

  // --- Modules, member by member ---

  template <std::size_t In, std::size_t Out, bool Bias, Weights weights>
  constexpr void draw(Linear<In, Out, Bias, weights>& linear) noexcept {
    draw(linear.weight, 0.5f);
    if constexpr (Bias) draw(linear.bias, 0.5f);
  }
  template <auto config>
  constexpr void draw(Convolution<config>& layer) noexcept {
    draw(layer.weight, 0.5f);
    if constexpr (config.bias) draw(layer.bias, 0.5f);
  }
  template <std::size_t Count, std::size_t Dim, Weights weights>
  constexpr void draw(Embedding<Count, Dim, weights>& embedding) noexcept {
    draw(embedding.weight, 2.0f);
  }
  // Weights of int8: random codes, and scales with which the largest weight lies between scale / 2 and scale.
  template <std::size_t In, std::size_t Out>
  constexpr void draw(Int8Matrix<In, Out>& matrix, float scale) noexcept {
    for (std::size_t o = 0; o < Out; ++o) {
      for (std::size_t i = 0; i < matrix.row_size; ++i)
        matrix.code[o * matrix.row_size + i] = static_cast<std::uint8_t>(i < In ? 1 + word() % 255 : 128);
      matrix.scale[o] = scale * static_cast<float>((word() >> 9) + 0x800000) * 0x1p-31f;
    }
  }
  // The gate comes last: the committed CRCs follow from this order.
  template <FeedForwardConfig config>
  constexpr void draw(FeedForward<config>& layer) noexcept {
    (*this)(layer.up, layer.down, layer.gate);
  }
  // All other modules: members in the order of their declaration.
  template <class Module>
  requires(!std::is_empty_v<Module>) constexpr void draw(Module& module) noexcept {
    detail::members_of(module, [&](const auto&, auto&... members) { (*this)(members...); });
  }
  template <class Module, std::size_t Count>
  constexpr void draw(Module (&modules)[Count]) noexcept {
    for (Module& module : modules) draw(module);
  }

 private:
  [[gnu::noinline]] constexpr void draw(float* elements, std::size_t count, float scale) noexcept {
    for (std::size_t i = 0; i < count; ++i) elements[i] = scale * number();
  }

  template <class T, std::size_t... Extents>
  constexpr void draw_mask(Tensor<T, Extents...>& mask, T masks) noexcept {
    draw(mask);
    if constexpr (std::is_same_v<T, float>)
      for (float& element : mask.elements)
        if (one_in(3)) element = masks;
    if constexpr (sizeof...(Extents) == 2)
      for (std::size_t j = 0; j < mask.extent(1); ++j) mask(0, j) = masks;
  }

  Philox4x32 generator_;
  std::uint64_t drawn_ = 0;
  std::array<std::uint32_t, 4> block_ = {};
};

// Returns a tensor, mask or module that is drawn by itself.
template <class Drawn>
constexpr Drawn drawn(std::uint64_t seed) noexcept {
  Drawn result{};
  Draw(seed).draw(result);
  return result;
}

}  // namespace tinyattn::test
