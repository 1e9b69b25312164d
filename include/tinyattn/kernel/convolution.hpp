// SPDX-License-Identifier: MIT
//
// Convolutions: over tokens a product whose rows overlap, so that nothing is copied; over images,
// and over tokens with groups or a dilation, products for each run of features in a window.
#pragma once

#include "tinyattn/kernel/axis.hpp"
#include "tinyattn/kernel/int8/product.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// --- Of tokens ---

// The sizes of a convolution: a row of its product is `kernel` tokens of `in` features, and begins
// `stride` tokens after the row before it, the first one `padding` tokens before x.
struct Convolution {
  std::size_t tokens, in, out, kernel, stride, padding;

  // The features of a row.
  constexpr std::size_t width() const noexcept { return kernel * in; }
  // The number of rows of the product; the kernel is no longer than x and its padding.
  constexpr std::size_t rows() const noexcept {
    return (tokens + 2 * padding - kernel) / stride + 1;
  }
  // Rows begin to end have all their tokens in x. A product computes the address of the row after
  // the last, which may be outside of x if rows lie apart: then the last row is left out.
  constexpr std::size_t begin_of_whole() const noexcept {
    return minimum((padding + stride - 1) / stride, rows());
  }
  constexpr std::size_t end_of_whole() const noexcept {
    const std::size_t count =
        tokens + padding < kernel ? 0 : (tokens + padding - kernel) / stride + 1;
    const std::size_t end = stride > kernel && count != 0 ? count - 1 : count;
    return maximum(begin_of_whole(), minimum(end, rows()));
  }
};

// Computes row i, of which some tokens may be padding: takes the part of the kernel that is
// inside of x. Products with zeros would add nothing.
template <class Port, class Weight>
[[gnu::noinline]] constexpr void convolve_row(const Convolution& c, std::size_t i, const float* x,
                                              const Projection<Weight>& to, Output out,
                                              const NoScratch& none, float*) noexcept {
  const std::size_t start = i * c.stride;  // of the row, from the first token of the padding on
  const std::size_t skipped = start < c.padding ? c.padding - start : 0;
  const std::size_t end = minimum(c.kernel, c.tokens + c.padding - start);
  project<Port>(
      1, (end - skipped) * c.in, c.out, Dense{x + (start + skipped - c.padding) * c.in, 0},
      Projection<Weight>{to.weight + skipped * c.in * c.out, to.bias}, out.from(i, 0), none);
}

// With int8 weights the row is copied to `padded` and filled with zeros.
template <class Port>
[[gnu::noinline]] constexpr void convolve_row(const Convolution& c, std::size_t i, const float* x,
                                              const Projection<Int8Weights>& to, Output out,
                                              const IntegerScratch& integers,
                                              float* padded) noexcept {
  const std::size_t start = i * c.stride;
  for (std::size_t k = 0; k < c.kernel; ++k) {
    const bool is_inside = start + k >= c.padding && start + k - c.padding < c.tokens;
    for (std::size_t j = 0; j < c.in; ++j)
      padded[k * c.in + j] = is_inside ? x[(start + k - c.padding) * c.in + j] : 0.0f;
  }
  project<Port>(1, c.width(), c.out, Dense{padded, 0}, to, out.from(i, 0), integers);
}

// out[i] = bias + the sum over k and j of x[i * stride + k - padding][j] * weight[k * in + j], in
// rising order of k and j. `padded` has room for a row if weights are int8, and some rows are not
// whole. Where all rows are whole, no code reads it.
template <class Port, bool all_whole = false, class Weight>
TINYATTN_KERNEL void convolve(const Convolution& c, const float* x, const Projection<Weight>& to,
                              Output out, const auto& scratch, float* padded) noexcept {
  const std::size_t rows = c.rows(), begin = c.begin_of_whole(), end = c.end_of_whole();
  const auto convolve_rows = [&](std::size_t first, std::size_t last) TINYATTN_INLINE_LAMBDA {
    if constexpr (!all_whole)
      for (std::size_t i = first; i < last; ++i)
        convolve_row<Port>(c, i, x, to, out, scratch, padded);
  };
  convolve_rows(0, begin);
  if (begin != end)
    project<Port>(end - begin, c.width(), c.out,
                  Dense{x + (begin * c.stride - c.padding) * c.in, c.stride * c.in}, to,
                  out.from(begin, 0), scratch);
  convolve_rows(end, rows);
}

// --- Of images ---

// Each of `groups` parts of the outputs is computed of as many parts of the features. The weight is
// [height.kernel, width.kernel, in / groups, out].
struct Convolution2d {
  Axes axes;
  std::size_t in, out, groups;

  constexpr std::size_t group_in() const noexcept { return in / groups; }
  constexpr std::size_t group_out() const noexcept { return out / groups; }
  constexpr std::size_t positions() const noexcept {
    return axes.height.kernel * axes.width.kernel;
  }
  // Whether each feature is convolved by itself.
  constexpr bool is_depthwise() const noexcept { return groups == in && groups == out; }
  // How many positions of a row of the kernel meet features that follow each other.
  constexpr std::size_t run(std::size_t positions) const noexcept {
    return groups == 1 && axes.width.dilation == 1 && axes.width.step == in ? positions : 1;
  }
  // Where x ends.
  constexpr std::size_t end() const noexcept {
    return (axes.height.size - 1) * axes.height.step + (axes.width.size - 1) * axes.width.step + in;
  }
};

// out[i] = initial + x[i] . weight for `rows` rows of x, which begin `step` floats apart. A product
// computes the address of the row after the last; if that is outside of x, the last row has a
// product of its own.
template <class Port, class Initial>
TINYATTN_KERNEL void multiply_rows(std::size_t rows, std::size_t inner, std::size_t cols,
                                   const float* x, std::size_t step, std::size_t left, Dense weight,
                                   Initial initial, Output out) noexcept {
  const auto multiply = [&](std::size_t first, std::size_t count,
                            std::size_t stride) TINYATTN_INLINE_LAMBDA {
    matmul<Port>(Product<Dense, Dense, Initial>{count,
                                                inner,
                                                cols,
                                                {x + first * step, stride},
                                                weight,
                                                initial.from(first, 0),
                                                out.from(first, 0)});
  };
  const std::size_t several = rows * step <= left ? rows : rows - 1;
  if (several != 0) multiply(0, several, step);
  if (several != rows) multiply(several, 1, 0);
}

// Computes one group of `rows` elements of row i of the result, from column j on: their windows
// have the same positions in x. The first product begins at the bias, the others at its result.
template <class Port>
[[gnu::noinline]] constexpr void convolve_windows(const Convolution2d& c, std::size_t i,
                                                  std::size_t j, std::size_t rows,
                                                  std::size_t group, const float* x,
                                                  const Projection<>& to, float* out) noexcept {
  const Overlap down = c.axes.height.window(i), along = c.axes.width.window(j);
  const std::size_t first_out = group * c.group_out(), first_in = group * c.group_in();
  const std::size_t run = c.run(along.end - along.begin),
                    step = c.axes.width.stride * c.axes.width.step;
  const Bias bias(is_null(to.bias) ? nullptr : to.bias + first_out);
  const Output result{out + i * c.axes.height.out_step + j * c.axes.width.out_step + first_out,
                      c.axes.width.out_step};
  bool is_first = true;
  const auto add = [&](std::size_t y, std::size_t k, std::size_t offset) TINYATTN_INLINE_LAMBDA {
    const std::size_t start = offset + first_in, inner = run * c.group_in();
    const float* const weight = to.weight + (y * c.axes.width.kernel + k) * c.group_in() * c.out;
    const Dense of_group{weight + first_out, c.out};
    if (is_first)
      multiply_rows<Port>(rows, inner, c.group_out(), x + start, step, c.end() - start, of_group,
                          bias, result);
    else
      multiply_rows<Port>(rows, inner, c.group_out(), x + start, step, c.end() - start, of_group,
                          Dense(result), result);
    is_first = false;
  };
  c.axes.visit(down, along, run, add);
  if (is_first)
    multiply_rows<Port>(rows, 0, c.group_out(), x, 0, 0, Dense{to.weight, 0}, bias, result);
}

// --- Of images, depthwise ---

// Computes `Vectors` vectors of features of all elements of the result: out[j] = bias[j] + the sum
// over the positions p of x[p][j] * weight[p][j].
template <class Port, std::size_t Vectors>
TINYATTN_KERNEL void convolve_vectors(const Convolution2d& c, std::size_t last, const float* x,
                                      Dense weight, const float* bias, float* out) noexcept {
  constexpr TileKind kind{Vectors != 1 || Port::lanes == 1};
  for (std::size_t i = 0; i < c.axes.height.count(); ++i) {
    const Overlap down = c.axes.height.window(i);
    for (std::size_t j = 0; j < c.axes.width.count(); ++j) {
      typename Port::vec sums[1][Vectors];
      initialize_sums<Port, kind>(sums, Bias(is_null(bias) ? zeros<16> : bias), last);
      const auto add = [&](std::size_t y, std::size_t k,
                           std::size_t offset) TINYATTN_INLINE_LAMBDA {
        typename Port::vec features[Vectors], factors[Vectors];
        load_row<Port, kind>(Dense{x + offset, 0}, last, features);
        load_row<Port, kind>(weight.from(y * c.axes.width.kernel + k, 0), last, factors);
        TINYATTN_UNROLL
        for (std::size_t v = 0; v < Vectors; ++v)
          sums[0][v] = Port::fma(features[v], factors[v], sums[0][v]);
      };
      c.axes.visit(down, c.axes.width.window(j), 1, add);
      store_sums<Port, kind>(
          sums, Output{out + i * c.axes.height.out_step + j * c.axes.width.out_step, 0}, last);
    }
  }
}

// Computes `count` features, up to 16 at a time.
template <class Port>
[[gnu::noinline]] constexpr void convolve_features(const Convolution2d& c, std::size_t count,
                                                   const float* x, Dense weight, const float* bias,
                                                   float* out) noexcept {
  constexpr std::size_t vectors = minimum(Port::tile_vectors, 16 / Port::lanes),
                        width = vectors * Port::lanes;
  std::size_t j = 0;
  const auto at = [&](const float* row)
                      TINYATTN_INLINE_LAMBDA { return is_null(row) ? nullptr : row + j; };
  if constexpr (vectors > 1)
    for (; count - j >= width; j += width)
      convolve_vectors<Port, vectors>(c, Port::lanes, x + j, weight.from(0, j), at(bias), out + j);
  for (; j < count; j += Port::lanes)
    convolve_vectors<Port, 1>(c, minimum(Port::lanes, count - j), x + j, weight.from(0, j),
                              at(bias), out + j);
}

// --- Of images, all features ---

// out[i][j] = bias + the sum over y, k and f of x[i * stride + y * dilation - padding]
// [j * stride + k * dilation - padding][f] * weight[y][k][f], in rising order; what lies outside of
// x is left out.
template <class Port, bool depthwise>
constexpr void convolve_2d(const Convolution2d& c, const float* x, const Projection<>& to,
                           float* out, const auto&, float*) noexcept {
  if constexpr (depthwise) {
    convolve_features<Port>(c, c.out, x, Dense{to.weight, c.out}, to.bias, out);
  } else {
    const std::size_t begin = c.axes.width.begin_of_whole(),
                      whole = c.axes.width.end_of_whole() - begin;
    for (std::size_t i = 0; i < c.axes.height.count(); ++i)
      for (std::size_t j = 0, rows; j < c.axes.width.count(); j += rows) {
        rows = j == begin && whole != 0 ? whole : 1;
        for (std::size_t group = 0; group < c.groups; ++group)
          convolve_windows<Port>(c, i, j, rows, group, x, to, out);
      }
  }
}

// Returns the features of a group in a window: of one position in x, of more copied to `window`,
// with zeros for what is outside of x.
constexpr const float* gather_window(const Convolution2d& c, std::size_t i, std::size_t j,
                                     const float* x, float* window) noexcept {
  const Overlap down = c.axes.height.window(i), along = c.axes.width.window(j);
  if (c.positions() == 1) return x + down.at * c.axes.height.step + along.at * c.axes.width.step;
  const std::size_t count = c.group_in(), run = c.run(along.count());
  for (std::size_t k = 0; k < c.positions() * count; ++k) window[k] = 0.0f;
  c.axes.visit(down, along, run,
               [&](std::size_t y, std::size_t k, std::size_t offset) TINYATTN_INLINE_LAMBDA {
                 float* const to = window + (y * c.axes.width.kernel + k) * count;
                 for (std::size_t f = 0; f < run * count; ++f) to[f] = x[offset + f];
               });
  return window;
}

// With int8 weights a window becomes integers, as a row of a Linear does; `window` has room for it.
template <class Port>
[[gnu::noinline]] constexpr void convolve_integers(const Convolution2d& c, std::size_t group,
                                                   const float* x,
                                                   const Projection<Int8Weights>& to, float* out,
                                                   const IntegerScratch& integers,
                                                   float* window) noexcept {
  const std::size_t inner = c.positions() * c.group_in(), first = group * c.group_out();
  const Projection<Int8Weights> of_group{
      {to.weight.codes + first * row_size(inner), to.weight.scales + first},
      is_null(to.bias) ? nullptr : to.bias + first};
  const IntegerRows rows{integers.q, integer_row(inner)};
  const std::size_t most = rows_at_a_time<Port>(integers.rows);
  for (std::size_t i = 0; i < c.axes.height.count(); ++i)
    for (std::size_t j = 0; j < c.axes.width.count(); j += most) {
      const std::size_t count = minimum(most, c.axes.width.count() - j);
      for (std::size_t r = 0; r < count; ++r) {
        const float* const from = gather_window(c, i, j + r, x + group * c.group_in(), window);
        quantize_rows<Port>(1, inner, Dense{from, 0}, rows.from(r));
      }
      int8_matmul<Port>(count, inner, c.group_out(), rows, of_group,
                        {out + i * c.axes.height.out_step + j * c.axes.width.out_step + first,
                         c.axes.width.out_step});
    }
}

// Depthwise, weights become floats, code * scale: those of 16 features at a time, in `window`.
template <class Port>
[[gnu::noinline]] constexpr void convolve_depthwise(const Convolution2d& c, const float* x,
                                                    const Projection<Int8Weights>& to, float* out,
                                                    float* window) noexcept {
  const std::size_t size = row_size(c.positions());
  for (std::size_t j = 0; j < c.out; j += 16) {
    const std::size_t count = minimum(16, c.out - j);
    for (std::size_t f = 0; f < count; ++f)
      for (std::size_t k = 0; k < c.positions(); ++k)
        window[k * 16 + f] = Port::one_lane::mul(
            static_cast<float>(to.weight.codes[(j + f) * size + k] - 128), to.weight.scales[j + f]);
    convolve_features<Port>(c, count, x + j, Dense{window, 16},
                            is_null(to.bias) ? nullptr : to.bias + j, out + j);
  }
}

template <class Port, bool depthwise>
constexpr void convolve_2d(const Convolution2d& c, const float* x,
                           const Projection<Int8Weights>& to, float* out, const auto& integers,
                           float* window) noexcept {
  if constexpr (depthwise)
    convolve_depthwise<Port>(c, x, to, out, window);
  else
    for (std::size_t group = 0; group < c.groups; ++group)
      convolve_integers<Port>(c, group, x, to, out, integers, window);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
