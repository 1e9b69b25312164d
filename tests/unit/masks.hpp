// SPDX-License-Identifier: MIT
//
// Masks: the three types that can say which keys are kept, and masks that are drawn.
#pragma once

#include "plain.hpp"
#include "tinyattn/mask.hpp"

namespace tinyattn::test {

template <std::size_t... Extents>
constexpr Tensor<bool, Extents...> opposite(Tensor<bool, Extents...> mask) noexcept {
  for (bool& element : mask.elements) element = !element;
  return mask;
}

// An addend of -infinity for each key that is not kept, else 0.
template <std::size_t... Extents>
constexpr Tensor<float, Extents...> addends_that_keep(const Tensor<bool, Extents...>& kept) noexcept {
  return masked_fill(zeros<float, Extents...>(), opposite(kept), -infinity);
}

// The masks of each type that keep what is true in `kept`: with a scale that is a power of two they give the same bits.
constexpr void for_each_mask(const auto& kept, auto body) {
  body(KeepMask{hidden(kept)});
  body(BlockMask{hidden(opposite(kept))});
  body(AdditiveMask{hidden(addends_that_keep(kept))});
}

// What plain loops ask: sees(i, j). A mask with one extent is the same for every query.
template <std::size_t... Extents>
constexpr auto sees_kept(const Tensor<bool, Extents...>& kept) noexcept {
  return [=]([[maybe_unused]] std::size_t i, std::size_t j) {
    if constexpr (sizeof...(Extents) == 1) {
      return kept(j);
    } else {
      return kept(i, j);
    }
  };
}

template <std::size_t... Extents>
constexpr Tensor<bool, Extents...> drawn_flags(std::uint32_t seed) noexcept {
  const auto drawn = numbers<Tensor<float, Extents...>>(seed);
  Tensor<bool, Extents...> result{};
  for (std::size_t i = 0; i < result.size(); ++i) result.data()[i] = drawn.data()[i] < 0.2f;
  return hidden(result);
}

template <std::size_t... Extents>
constexpr Tensor<float, Extents...> drawn_addends(std::uint32_t seed) noexcept {
  auto result = numbers<Tensor<float, Extents...>>(seed);
  for (float& element : result.elements)
    if (element < -0.5f) element = -infinity;
  return hidden(result);
}

}  // namespace tinyattn::test
