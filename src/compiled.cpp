// SPDX-License-Identifier: MIT
#include "tinyattn/compiled.hpp"

#include "tinyattn/kernel/attention.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/softmax.hpp"

namespace tinyattn::compiled {

namespace {

using Input = kernel::RowMajor<const float, std::size_t>;
using Output = kernel::RowMajor<float, std::size_t>;

}  // namespace

void matmul(std::size_t rows, std::size_t inner, std::size_t cols, const float* a, const float* b, float* out) noexcept {
  kernel::matmul<native_port>(kernel::Product{rows, inner, cols, Input{a, inner}, Input{b, cols}, kernel::Zero{}, Output{out, cols}});
}

void softmax(std::size_t rows, std::size_t cols, const float* m, float scale, float* out) noexcept {
  kernel::softmax_rows<native_port>(
      rows, cols,
      [=](std::size_t i) {
        return kernel::Row<false, std::size_t>{m + i * cols, out + i * cols, cols};
      },
      scale);
}

std::size_t scratch_size(std::size_t source_tokens) noexcept {
  return native_port::query_rows * kernel::padded<native_port>(source_tokens);
}

void scaled_dot_product_attention(const AttentionShape& shape, float scale, const float* query, const float* key, const float* value,
                                  float* out, float* scratch) noexcept {
  const std::size_t source = shape.source_tokens;
  const kernel::SeesEarlier<std::size_t> visible{source, shape.causal ? 0 : source, 0};
  kernel::for_each_block<native_port::query_rows>(shape.tokens, [&](std::size_t first, std::size_t rows) {
    kernel::attend<native_port>(rows, shape.key_dim, shape.value_dim, Input{query, shape.key_dim}.from(first, 0),
                                kernel::ColumnMajor<const float, std::size_t>{key, shape.key_dim}, Input{value, shape.value_dim},
                                Output{scratch, kernel::padded<native_port>(source)}, Output{out, shape.value_dim}.from(first, 0), scale,
                                kernel::see_from(visible, first), kernel::IgnoreWeights{});
  });
}

}  // namespace tinyattn::compiled
