// SPDX-License-Identifier: MIT
//
// Products with int8 weights: rows of x become integers, sums of integers are exact, and an output
// is rounded where its sum becomes a float and where that is scaled.
#pragma once

#include "tinyattn/kernel/int8/quantize.hpp"
#include "tinyattn/kernel/matmul.hpp"
#include "tinyattn/kernel/transpose.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// The weight of a projection: weight (k, j) is (codes[j * row_size(in) + k] - 128) * scales[j].
struct Int8Weights {
  const std::uint8_t* codes;  // [out, row_size(in)], aligned to 4
  const float* scales;        // [out]

  TINYATTN_ALWAYS_INLINE friend constexpr bool is_null(const Int8Weights& weights) noexcept {
    return tinyattn::is_null(weights.codes);
  }
};

// Rows of codes, for sums of products with rows of integers.
struct Codes {
  const std::uint8_t* data;
  std::size_t stride;  // of rows; a multiple of 8
  std::size_t terms;   // of a sum; a multiple of 8

  TINYATTN_KERNEL Codes from(std::size_t j) const noexcept {
    return {data + j * stride, stride, terms};
  }
};

// sums[r * cols + j] = the sum of q_r[k] * codes[j][k] for `Rows` rows, modulo 2^32.
template <class Port, std::size_t Rows>
TINYATTN_KERNEL void integer_dots(IntegerRows x, Codes codes, std::size_t cols,
                                  std::uint32_t* sums) noexcept {
  if constexpr (sums_integers<Port>) {
    Port::template integer_dots<Rows>(x.q, x.stride, codes.data, codes.stride, codes.terms, cols,
                                      sums);
  } else {
    for (std::size_t r = 0; r < Rows; ++r)
      for (std::size_t j = 0; j < cols; ++j) {
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < codes.terms; ++k)
          sum +=
              static_cast<std::uint32_t>(x.q[r * x.stride + k]) * codes.data[j * codes.stride + k];
        sums[r * cols + j] = sum;
      }
  }
}

// The maximum number of rows of a tile of sums, and of its columns.
template <class Port>
constexpr std::size_t sum_rows() noexcept {
  if constexpr (sums_integers<Port>)
    return Port::integer_rows;
  else
    return 1;
}
template <class Port>
inline constexpr std::size_t sum_columns = Port::shares_code ? 64 : 128;
// Of a tile of several rows: where memory is scarce, its sums shall not take much of the stack.
template <class Port>
constexpr std::size_t tile_columns() noexcept {
  const bool is_high = Port::lanes == 1 && sum_rows<Port>() > 2;
  return Port::shares_code && is_high ? 32 : sum_columns<Port>;
}

template <class Port>
concept scales_sums = requires(const float* scales, float* out) {
  Port::scale_sums(nullptr, 0u, scales, 1.0f, scales, out, 1);
};

// out[j] = float(sum) * (scales[j] * step) + bias[j], in which the sum, the product of scales, and
// the whole are rounded. sums[j] lacks `correction`.
template <class Port>
TINYATTN_KERNEL void scale_sums(const std::uint32_t* sums, std::uint32_t correction,
                                const float* scales, float step, const float* bias, float* out,
                                std::size_t count) noexcept {
  if constexpr (scales_sums<Port>) {
    Port::scale_sums(sums, correction, scales, step, bias, out, count);
  } else {
    const auto scale_by = [&](const auto& finish) TINYATTN_INLINE_LAMBDA {
      for_each_vector<Port>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
        const auto sum = load_and_add<Port>(sums + at.j, correction);
        const auto scale = Port::mul(at.load(scales, 0.0f), Port::broadcast(step));
        at.store(out, finish(as_floats<Port>(sum), scale, at));
      });
    };
    if (is_null(bias))
      scale_by([](auto sum, auto scale, auto)
                   TINYATTN_INLINE_LAMBDA { return Port::mul(sum, scale); });
    else
      scale_by([&](auto sum, auto scale, auto at)
                   TINYATTN_INLINE_LAMBDA { return Port::fma(sum, scale, at.load(bias, 0.0f)); });
  }
}

// The sums of a tile of `rows` rows: as many as sum_rows, or one.
template <class Port>
TINYATTN_KERNEL void tile_sums(std::size_t rows, IntegerRows x, Codes codes, std::size_t cols,
                               std::uint32_t* sums) noexcept {
  if (constexpr std::size_t height = sum_rows<Port>(); height > 1 && rows == height)
    integer_dots<Port, height>(x, codes, cols, sums);
  else
    integer_dots<Port, 1>(x, codes, cols, sums);
  // Vectors read beyond the last sum, and an fma in software may branch on its operands.
  if constexpr (IntegerPort<Port>::lanes > 1 && !scales_sums<IntegerPort<Port>>)
    for (std::size_t n = cols; n < padded<IntegerPort<Port>>(cols); ++n)
      sums[(rows - 1) * cols + n] = 0;
}

// --- Panels ---

// A panel has the codes of two vectors of columns, transposed, four at a time: sums of columns are
// in lanes then, and need not be added up. Rows that share it gain more than it takes.
template <class Port>
concept sums_panels = requires(const std::int32_t* q, const float* panel, std::uint32_t* sums) {
  Port::template panel_dots<Port>(q, 1, panel, 8, sums);
};
inline constexpr std::size_t most_panel_terms = 512;

// Four codes as a float, which is only moved.
TINYATTN_ALWAYS_INLINE Dense as_floats(Codes codes) noexcept {
  return {reinterpret_cast<const float*>(codes.data), codes.stride / 4};
}

// out = x . weight + bias. The last panel overlaps its neighbour, and so does the last tile of
// rows.
template <class Port>
[[gnu::noinline]] constexpr void matmul_in_panels(std::size_t rows, std::size_t cols, IntegerRows x,
                                                  Codes codes, const Projection<Int8Weights>& to,
                                                  Output out) noexcept {
  constexpr std::size_t height = Port::panel_rows, width = 2 * Port::lanes;
  alignas(64) float panel[most_panel_terms / 4 * width];
  alignas(64) std::uint32_t sums[height * width];
  for (std::size_t next = 0; next < cols; next += width) {
    const std::size_t j = minimum(next, cols - width);
    transpose<Port>(width, codes.terms / 4, as_floats(codes.from(j)), {panel, width});
    const float* const bias = is_null(to.bias) ? nullptr : to.bias + j;
    for (std::size_t end = height;; end = minimum(end + height, rows)) {
      const std::size_t i = end - height;
      Port::template panel_dots<Port>(x.from(i).q, x.stride, panel, codes.terms, sums);
      for (std::size_t r = 0; r < height; ++r)
        scale_sums<Port>(sums + r * width, x.from(i + r).correction(), to.weight.scales + j,
                         x.from(i + r).scale(), bias, out.at(i + r, j), width);
      if (end == rows) break;
    }
  }
}

// out = x . weight + bias, in tiles of sums, or by panels.
template <class Port>
[[gnu::noinline]] constexpr void int8_matmul(std::size_t rows, std::size_t in, std::size_t cols,
                                             IntegerRows x, const Projection<Int8Weights>& to,
                                             Output out) noexcept {
  constexpr std::size_t height = sum_rows<Port>();
  const std::size_t width = rows < height ? sum_columns<Port> : tile_columns<Port>();
  const Codes codes{to.weight.codes, row_size(in), row_size(in)};
  if constexpr (sums_panels<Port>)
    if (rows >= Port::panel_rows && cols >= 2 * Port::lanes && codes.terms <= most_panel_terms)
      return matmul_in_panels<Port>(rows, cols, x, codes, to, out);
  std::uint32_t sums[maximum(sum_columns<Port>, height * tile_columns<Port>())];
  for (std::size_t j = 0; j < cols; j += width) {
    const std::size_t count = minimum(width, cols - j);
    for (std::size_t i = 0; i < rows;) {
      const std::size_t end = rows - i < height ? i + 1 : i + height;
      tile_sums<Port>(end - i, x.from(i), codes.from(j), count, sums);
      for (const std::uint32_t* row = sums; i < end; ++i, row += count)
        scale_sums<IntegerPort<Port>>(row, x.from(i).correction(), to.weight.scales + j,
                                      x.from(i).scale(), is_null(to.bias) ? nullptr : to.bias + j,
                                      out.at(i, j), count);
    }
  }
}

// --- Inputs of projections ---

// Scratch for rows of integers.
struct IntegerScratch {
  std::int32_t* q;
  std::size_t rows;  // for which there is room
};

// Returns rows of x as projections take them: as they are, or quantized, which one input needs but
// once for all its projections.
template <class Port, class Weight>
TINYATTN_KERNEL Dense input_of(const Projection<Weight>&, std::size_t, std::size_t, Dense x,
                               const auto&) noexcept {
  return x;
}
template <class Port>
TINYATTN_KERNEL IntegerRows input_of(const Projection<Int8Weights>&, std::size_t rows,
                                     std::size_t in, Dense x,
                                     const IntegerScratch& integers) noexcept {
  const IntegerRows to{integers.q, integer_row(in)};
  quantize_rows<Port>(rows, in, x, to);
  return to;
}

template <class Port>
TINYATTN_KERNEL void project_few(std::size_t rows, std::size_t in, std::size_t cols, IntegerRows x,
                                 const Projection<Int8Weights>& to, Output out) noexcept {
  int8_matmul<Port>(rows, in, cols, x, to, out);
}

// How many rows are projected at a time: as many as there is scratch for, in whole tiles if these
// do not fill all of it.
template <class Port>
TINYATTN_KERNEL std::size_t rows_at_a_time(std::size_t rows) noexcept {
  constexpr std::size_t height = sum_rows<Port>();
  return 4 % height == 0 || rows < height ? rows : rows - rows % height;
}

// Projects any number of rows.
template <class Port, Shape = Shape{}>
TINYATTN_KERNEL void project(std::size_t rows, std::size_t in, std::size_t cols, Dense x,
                             const Projection<Int8Weights>& to, Output out,
                             const IntegerScratch& integers) noexcept {
  const std::size_t most = rows_at_a_time<Port>(integers.rows);
  for (std::size_t i = 0; i < rows; i += most) {
    const std::size_t count = minimum(most, rows - i);
    int8_matmul<Port>(count, in, cols, input_of<Port>(to, count, in, x.from(i, 0), integers), to,
                      out.from(i, 0));
  }
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
