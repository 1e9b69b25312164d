// SPDX-License-Identifier: MIT
//
// Tensors as kernels take them: a pointer and a stride; and the weights of projections.
#pragma once

#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/kernel/tile.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Returns matrix `index` of a batch, to read; a single matrix for every index.
template <class TensorM>
TINYATTN_ALWAYS_INLINE constexpr kernel::Dense input(const TensorM& m, std::size_t index) noexcept {
  return {matrix_at(m, LayoutOf<TensorM>::batch == 1 ? 0 : index), LayoutOf<TensorM>::stride};
}

// Returns matrix `index` of a batch, to write.
template <class TensorM>
TINYATTN_ALWAYS_INLINE constexpr kernel::Output output(TensorM& m, std::size_t index) noexcept {
  return {matrix_at(m, index), LayoutOf<TensorM>::stride};
}

// Returns a view of `Count` columns of matrix `index` of a batch, from column `first` on.
template <std::size_t Count, class TensorM>
constexpr auto columns_of(TensorM& m, std::size_t index, std::size_t first) noexcept {
  using Element = std::remove_pointer_t<decltype(m.data())>;
  return MatrixView<Element, LayoutOf<TensorM>::rows, Count, LayoutOf<TensorM>::stride>{
      matrix_at(m, index) + first};
}

// The weight of a kernel's projection.
template <Weights weights>
using KernelWeight =
    std::conditional_t<weights == Weights::int8, kernel::Int8Weights, const float*>;

// Returns a layer that has a weight and perhaps a bias as a kernel's projection.
TINYATTN_ALWAYS_INLINE constexpr auto projection_of(const auto& layer) noexcept {
  const float* bias = nullptr;
  if constexpr (requires { layer.bias.data(); }) bias = layer.bias.data();
  if constexpr (requires { layer.weight.code; })
    return kernel::Projection<kernel::Int8Weights>{{layer.weight.code, layer.weight.scale}, bias};
  else
    return kernel::Projection<>{layer.weight.data(), bias};
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
