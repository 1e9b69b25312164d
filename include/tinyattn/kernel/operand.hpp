// SPDX-License-Identifier: MIT
//
// What a kernel works on: extents that are known to the compiler or at run time, and matrices as a
// pointer and a stride.
#pragma once

#include "tinyattn/port/native.hpp"

#include <cstddef>

namespace tinyattn::inline TINYATTN_PORT::kernel {

// A size that is part of a type. Kernels take an Extent or a std::size_t, and use both alike.
template <std::size_t N>
struct Extent {
  constexpr operator std::size_t() const noexcept { return N; }
};

constexpr std::size_t smaller(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }

// Element (i, j) lies at data[i * stride + j].
template <class T, class Stride>
struct RowMajor {
  T* data;
  Stride stride;

  constexpr T* at(std::size_t i, std::size_t j) const noexcept { return data + i * stride + j; }
  constexpr RowMajor from(std::size_t i, std::size_t j) const noexcept { return {at(i, j), stride}; }

  // Elements (i, j) to (i, j + n - 1) as one vector.
  template <class Port>
  constexpr auto load(std::size_t i, std::size_t j, Extent<Port::lanes>) const noexcept {
    return Port::load(at(i, j));
  }
  template <class Port>
  constexpr auto load(std::size_t i, std::size_t j, std::size_t n) const noexcept {
    return Port::load_n(at(i, j), n);
  }
  template <class Port>
  constexpr void store(std::size_t i, std::size_t j, typename Port::vec v, Extent<Port::lanes>) const noexcept {
    Port::store(at(i, j), v);
  }
  template <class Port>
  constexpr void store(std::size_t i, std::size_t j, typename Port::vec v, std::size_t n) const noexcept {
    Port::store_n(at(i, j), v, n);
  }
};

// The transpose of a row-major matrix: element (i, j) lies at data[j * stride + i].
template <class T, class Stride>
struct ColumnMajor {
  T* data;
  Stride stride;

  constexpr T* at(std::size_t i, std::size_t j) const noexcept { return data + j * stride + i; }
  constexpr ColumnMajor from(std::size_t i, std::size_t j) const noexcept { return {at(i, j), stride}; }

  template <class Port>
  constexpr auto load(std::size_t i, std::size_t j, std::size_t n) const noexcept {
    float lanes[Port::lanes] = {};
    for (std::size_t lane = 0; lane < n; ++lane) lanes[lane] = *at(i, j + lane);
    return Port::load(lanes);
  }
  template <class Port>
  constexpr void store(std::size_t i, std::size_t j, typename Port::vec v, std::size_t n) const noexcept {
    float lanes[Port::lanes];
    Port::store(lanes, v);
    for (std::size_t lane = 0; lane < n; ++lane) *at(i, j + lane) = lanes[lane];
  }
};

// Where the chains of a row of outputs start: at +0, or at a bias.
struct Zero {
  constexpr Zero from(std::size_t) const noexcept { return {}; }

  template <class Port>
  constexpr auto load(std::size_t, std::size_t) const noexcept {
    return Port::fill(0.0f);
  }
};

struct Bias {
  const float* data;

  constexpr Bias from(std::size_t j) const noexcept { return {data + j}; }

  template <class Port>
  constexpr auto load(std::size_t j, std::size_t n) const noexcept {
    return n == Port::lanes ? Port::load(data + j) : Port::load_n(data + j, n);
  }
};

}  // namespace tinyattn::inline TINYATTN_PORT::kernel
