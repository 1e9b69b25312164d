// SPDX-License-Identifier: MIT
//
// The kernels over shapes that are known at run time, on the port of this unit. Arguments make sense: library.cpp has checked them.
#pragma once

#include "masks.hpp"
#include "operations.hpp"
#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/softmax.hpp"

#include <cstddef>

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library {

static_assert(native_port::block_rows <= TINYATTN_BLOCK_ROWS && native_port::query_rows <= TINYATTN_QUERY_ROWS &&
                  TINYATTN_LANES % native_port::lanes == 0,
              "scratch, as tinyattn.h counts it, must suffice for every port");

// No size is 0. So said, all products share their code.
using Inner = kernel::AtLeast<1>;
using Input = kernel::RowMajor<const float, std::size_t>;
using InputColumns = kernel::ColumnMajor<const float, std::size_t>;
using Output = kernel::RowMajor<float, std::size_t>;

inline void matmul(const compiled::ProductCall& call) noexcept {
  kernel::matmul<native_port>(kernel::Product{call.rows, Inner{call.inner}, call.cols, Input{call.a, call.inner}, Input{call.b, call.cols},
                                              kernel::Zero{}, Output{call.out, call.cols}});
}

inline void matmul_transposed(const compiled::ProductCall& call) noexcept {
  kernel::matmul<native_port>(kernel::Product{call.rows, Inner{call.inner}, call.cols, Input{call.a, call.inner},
                                              InputColumns{call.b, call.inner}, kernel::Zero{}, Output{call.out, call.cols}});
}

inline void softmax(const compiled::SoftmaxCall& call) noexcept {
  const auto row_at = [&](std::size_t i) TINYATTN_INLINE_LAMBDA {
    return kernel::Row<false, std::size_t>{call.m + i * call.cols, call.out + i * call.cols, call.cols};
  };
  kernel::softmax_rows<native_port>(call.rows, call.cols, row_at, call.scale);
}

inline void attention(const compiled::AttentionCall& call) noexcept {
  const Output scores{call.scratch, TINYATTN_PADDED(call.source_tokens)};
  with_visible(*call.mask, false, call.tokens, call.source_tokens, [&](const auto& visible) {
    kernel::for_each_block<native_port::query_rows>(call.tokens, [&](std::size_t first, std::size_t rows) {
      kernel::attend<native_port>(rows, Inner{call.key_dim}, call.value_dim, Input{call.query, call.key_dim}.from(first, 0),
                                  InputColumns{call.key, call.key_dim}, Input{call.value, call.value_dim}, scores,
                                  Output{call.out, call.value_dim}.from(first, 0), call.scale, kernel::see_from(visible, first),
                                  kernel::IgnoreWeights{});
    });
  });
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::library
