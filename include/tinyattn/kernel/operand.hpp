// SPDX-License-Identifier: MIT
//
// What a product reads and writes. An operand is a type, and a product takes it as a template
// argument: memory of another kind, such as integers with a scale, needs a new type, but no new
// kernel.
//
//   from(i, j)           the operand from row i and column j on, any of them
//   element<Port>(i, j)  one element, as a float
//   load<Port>(j)        a vector of row 0 from column j on
//   load_n<Port>(j, n)   its first n lanes, 1 <= n <= lanes, and zeros; reads no element after them
//
// Port is any port: a narrow product also loads by Port::half. `element` and `load` give the same
// bits, so that a scale is multiplied by Port::one_lane::mul in the one and by Port::mul in the
// other. The functions are constexpr and always inline, and lie in the namespace of the port.
#pragma once

#include "tinyattn/kernel/size.hpp"

#include <concepts>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

template <class Operand, class Port>
concept operand = requires(const Operand& matrix, std::size_t i) {
  { matrix.from(i, i) } -> std::same_as<Operand>;
  { matrix.template element<Port>(i, i) } -> std::same_as<float>;
  { matrix.template load<Port>(i) } -> std::same_as<typename Port::vec>;
  { matrix.template load_n<Port>(i, i) } -> std::same_as<typename Port::vec>;
};

// Floats: element (i, j) lies at data[i * stride + j]. Rows may overlap, as a convolution reads
// them: the stride is then less than their length.
struct Dense {
  const float* data;
  std::size_t stride;

  TINYATTN_KERNEL const float* at(std::size_t i, std::size_t j) const noexcept {
    return data + i * stride + j;
  }
  TINYATTN_KERNEL Dense from(std::size_t i, std::size_t j) const noexcept {
    return {data + i * stride + j, stride};
  }
  template <class Port>
  TINYATTN_KERNEL float element(std::size_t i, std::size_t j) const noexcept {
    return data[i * stride + j];
  }
  template <class Port>
  TINYATTN_KERNEL auto load(std::size_t j) const noexcept {
    return Port::load(data + j);
  }
  template <class Port>
  TINYATTN_KERNEL auto load_n(std::size_t j, std::size_t n) const noexcept {
    return Port::load_n(data + j, n, 0.0f);
  }
};

// Element (i, j) is element (j, i) of `stored`: a vector is gathered from a column of it.
template <class Stored = Dense>
struct Transposed {
  Stored stored;

  TINYATTN_KERNEL Transposed from(std::size_t i, std::size_t j) const noexcept {
    return {stored.from(j, i)};
  }
  template <class Port>
  TINYATTN_KERNEL float element(std::size_t i, std::size_t j) const noexcept {
    return stored.template element<Port>(j, i);
  }
  template <class Port>
  TINYATTN_KERNEL auto load(std::size_t j) const noexcept {
    return load_n<Port>(j, Port::lanes);
  }
  template <class Port>
  TINYATTN_KERNEL auto load_n(std::size_t j, std::size_t n) const noexcept {
    float lanes[Port::lanes] = {};
    for (std::size_t lane = 0; lane < n; ++lane)
      lanes[lane] = stored.template element<Port>(j + lane, 0);
    return Port::load(lanes);
  }
};

// Whether vectors of B are gathered. If so, tiles are one vector wide.
template <class Right>
inline constexpr bool is_transposed = false;
template <class Stored>
inline constexpr bool is_transposed<Transposed<Stored>> = true;

// The initial accumulators of a product: one row for all rows of the output, or nullptr for +0. A
// Dense in place of a Bias has a row for each row of the output, and may be the output: out += a .
// b.
struct Bias {
  const float* data;

  TINYATTN_KERNEL Bias(const float* row) noexcept : data(row) {}
  TINYATTN_KERNEL Bias from(std::size_t, std::size_t j) const noexcept {
    return is_null(data) ? data : data + j;
  }
};

// A matrix to write: element (i, j) lies at data[i * stride + j].
struct Output {
  float* data;
  std::size_t stride;

  TINYATTN_KERNEL float* at(std::size_t i, std::size_t j) const noexcept {
    return data + i * stride + j;
  }
  TINYATTN_KERNEL Output from(std::size_t i, std::size_t j) const noexcept {
    return {data + i * stride + j, stride};
  }
  TINYATTN_KERNEL operator Dense() const noexcept { return {data, stride}; }
};

// out[i][j] = initial[j], or initial[i][j], + the sum over k of a[i][k] * b[k][j], k rising, each
// step one fma. NaN and infinity propagate as in the plain loop.
template <class Left = Dense, class Right = Dense, class Initial = Bias>
struct Product {
  std::size_t rows, inner, cols;
  Left a;           // [rows, inner]
  Right b;          // [inner, cols]
  Initial initial;  // [cols], or [rows, cols]
  Output out;       // [rows, cols]; overwritten; may not overlap a or b
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel
