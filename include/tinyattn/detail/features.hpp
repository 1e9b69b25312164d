// SPDX-License-Identifier: MIT
//
// Operations on the features of each token.
#pragma once

#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/rows.hpp"
#include "tinyattn/kernel/normalization.hpp"
#include "tinyattn/port/found.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Normalizes every row of x, [..., norm.dim].
template <tensor_like TensorX, tensor_like Out>
constexpr void normalize_features(const kernel::Norm& norm, const TensorX& x, Out& out) noexcept {
  if constexpr (check_rows<TensorX, Out>())
    on_native_port([&](auto port) {
      for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i)
        kernel::normalize_features<decltype(port)>(norm, LayoutOf<TensorX>::rows, input(x, i),
                                                   output(out, i));
    });
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
