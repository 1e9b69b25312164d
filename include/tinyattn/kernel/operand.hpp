// SPDX-License-Identifier: MIT
//
// What a kernel works on: vectors along a row, and matrices as a pointer and a stride.
#pragma once

#include "tinyattn/kernel/extent.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel {

// The port for rows of at most Count elements: the narrowest that takes them in one vector.
template <class Port, class Count>
struct Narrowed {
  using port = Port;
};
template <class Port, std::size_t N>
requires requires { requires N <= Port::half::lanes; }
struct Narrowed<Port, Extent<N>> : Narrowed<typename Port::half, Extent<N>> {};
template <class Port, class Count>
using narrowed = typename Narrowed<Port, Count>::port;

// `count` elements in whole vectors.
template <class Port>
constexpr std::size_t padded(std::size_t count) noexcept {
  return (count + Port::lanes - 1) / Port::lanes * Port::lanes;
}

// Calls step(j, n) for vectors that cover elements 0 to count - 1: n is Extent<lanes>, or fewer for the last.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void for_each_vector(std::size_t count, auto step) noexcept {
  std::size_t j = 0;
  for (; j + Port::lanes <= count; j += Port::lanes) step(j, Extent<Port::lanes>{});
  if constexpr (Port::lanes > 1)
    if (j < count) step(j, count - j);
}

template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void for_each_vector(MultipleOf<Port::lanes> count, auto step) noexcept {
  if (count == 0) return;
  std::size_t j = 0;
  do step(j, Extent<Port::lanes>{});
  while ((j += Port::lanes) != count);
}

// The elements from j on that a vector has room for.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr std::size_t in_vector(std::size_t count, std::size_t j) noexcept {
  return smaller(Port::lanes, count - j);
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto in_vector(MultipleOf<Port::lanes>, std::size_t) noexcept {
  return Extent<Port::lanes>{};
}

// n elements from p on as one vector, the rest filled with `rest`; or `cols` of them as a row of vectors. A full one is
// said by the type.
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto load(const float* p, Extent<Port::lanes>, float = 0.0f) noexcept {
  return Port::load(p);
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr auto load(const float* p, std::size_t n, float rest = 0.0f) noexcept {
  return Port::load_n(p, n, rest);
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void store(float* p, typename Port::vec v, Extent<Port::lanes>) noexcept {
  Port::store(p, v);
}
template <class Port>
TINYATTN_ALWAYS_INLINE constexpr void store(float* p, typename Port::vec v, std::size_t n) noexcept {
  Port::store_n(p, v, n);
}

template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void load_row(const float* p, typename Port::vec (&row)[Vectors], Extent<Vectors * Port::lanes>) noexcept {
  Port::load_row(p, row);
}
template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void load_row(const float* p, typename Port::vec (&row)[Vectors], std::size_t cols) noexcept {
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < Vectors; ++v) row[v] = Port::load_n(p + v * Port::lanes, smaller(Port::lanes, cols - v * Port::lanes), 0.0f);
}
template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void store_row(float* p, const typename Port::vec (&row)[Vectors],
                                                Extent<Vectors * Port::lanes>) noexcept {
  if constexpr (Port::lanes > 1 && requires { Port::store_row(row, p); }) {
    Port::store_row(row, p);
  } else {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) Port::store(p + v * Port::lanes, row[v]);
  }
}
template <class Port, std::size_t Vectors>
TINYATTN_ALWAYS_INLINE constexpr void store_row(float* p, const typename Port::vec (&row)[Vectors], std::size_t cols) noexcept {
  TINYATTN_UNROLL
  for (std::size_t v = 0; v < Vectors; ++v) Port::store_n(p + v * Port::lanes, row[v], smaller(Port::lanes, cols - v * Port::lanes));
}

// Goes along `Rows` rows of a matrix side by side: with one pointer for each, or one for all if the compiler knows how
// far apart they are. After next(r) for every row comes step().
template <std::size_t Rows, class Stride>
struct Walk {
  const float* rows[Rows];

  TINYATTN_ALWAYS_INLINE constexpr Walk(const float* first, Stride stride) noexcept {
    rows[0] = first;
    TINYATTN_UNROLL
    for (std::size_t r = 1; r < Rows; ++r) rows[r] = rows[r - 1] + stride;
  }
  TINYATTN_ALWAYS_INLINE constexpr const float* next(std::size_t r, std::size_t steps) noexcept { return (rows[r] += steps) - steps; }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr float next(std::size_t r) noexcept {
    if constexpr (requires { Port::load_next(rows[r]); })
      return Port::load_next(rows[r]);
    else
      return *rows[r]++;
  }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr void next_two(std::size_t r, float (&two)[2]) noexcept {
    Port::load_next_two(rows[r], two);
  }
  TINYATTN_ALWAYS_INLINE constexpr void step(std::size_t = 1) noexcept {}
};
template <std::size_t Rows, std::size_t Stride>
struct Walk<Rows, Extent<Stride>> {
  const float* first;

  TINYATTN_ALWAYS_INLINE constexpr Walk(const float* p, Extent<Stride>) noexcept : first(p) {}
  TINYATTN_ALWAYS_INLINE constexpr const float* next(std::size_t r, std::size_t) const noexcept { return first + r * Stride; }
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr float next(std::size_t r) const noexcept {
    return first[r * Stride];
  }
  TINYATTN_ALWAYS_INLINE constexpr void step(std::size_t steps = 1) noexcept { first += steps; }
};

// Element (i, j) lies at data[i * stride + j].
template <class T, class Stride>
struct RowMajor {
  T* data;
  [[no_unique_address]] Stride stride;

  template <class Port, std::size_t Rows>
  TINYATTN_ALWAYS_INLINE constexpr auto walk(std::size_t i) const noexcept {
    return Walk<Rows, std::conditional_t<port::steps_pointers<Port>, std::size_t, Stride>>(at(i, 0), stride);
  }

  constexpr T* at(std::size_t i, std::size_t j) const noexcept { return data + i * stride + j; }
  constexpr RowMajor from(std::size_t i, std::size_t j) const noexcept { return {at(i, j), stride}; }

  constexpr std::size_t row_step() const noexcept { return stride; }

  template <class Port, std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE constexpr void load_row(const T* element, typename Port::vec (&row)[Vectors], auto cols) const noexcept {
    kernel::load_row<Port>(element, row, cols);
  }

  // The same, and `element` moves on to the next row.
  template <class Port, std::size_t Vectors, class Cols>
  TINYATTN_ALWAYS_INLINE constexpr void load_next_row(const T*& element, typename Port::vec (&row)[Vectors], Cols cols) const noexcept {
    constexpr std::size_t step = std::is_same_v<Stride, std::size_t> ? 0 : std::size_t{Stride{}};
    if constexpr (is_at_least<Vectors * Port::lanes, Cols> && step != 0 && requires { Port::template load_next_row<step>(element, row); }) {
      Port::template load_next_row<step>(element, row);
    } else {
      load_row<Port>(element, row, cols);
      element += stride;
    }
  }
};

// The transpose of a row-major matrix: element (i, j) lies at data[j * stride + i].
template <class T, class Stride>
struct ColumnMajor {
  T* data;
  [[no_unique_address]] Stride stride;

  constexpr T* at(std::size_t i, std::size_t j) const noexcept { return data + j * stride + i; }
  constexpr ColumnMajor from(std::size_t i, std::size_t j) const noexcept { return {at(i, j), stride}; }

  constexpr std::size_t row_step() const noexcept { return 1; }

  template <class Port, std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE constexpr void load_row(const T* element, typename Port::vec (&row)[Vectors], std::size_t cols) const noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = gather<Port>(element + v * Port::lanes * stride, cols - v * Port::lanes);
  }
  template <class Port, std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE constexpr void load_next_row(const T*& element, typename Port::vec (&row)[Vectors],
                                                      std::size_t cols) const noexcept {
    load_row<Port>(element++, row, cols);
  }

 private:
  template <class Port>
  TINYATTN_ALWAYS_INLINE constexpr auto gather(const T* element, std::size_t n) const noexcept {
    float lanes[Port::lanes] = {};
    for (std::size_t lane = 0; lane < Port::lanes; ++lane)
      if (lane < n) lanes[lane] = element[lane * stride];
    return Port::load(lanes);
  }
};

// Where the chains of a row of outputs start: at +0, at a bias, or at one of them, which is known at run time.
struct Zero {
  constexpr Zero from(std::size_t) const noexcept { return {}; }

  template <class Port, std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE constexpr void load_row(std::size_t, typename Port::vec (&row)[Vectors], auto) const noexcept {
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < Vectors; ++v) row[v] = Port::fill(0.0f);
  }
};

struct Bias {
  const float* data;

  constexpr const float* at(std::size_t j) const noexcept { return data + j; }
  constexpr Bias from(std::size_t j) const noexcept { return {at(j)}; }

  template <class Port, std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE constexpr void load_row(std::size_t j, typename Port::vec (&row)[Vectors], auto cols) const noexcept {
    kernel::load_row<Port>(data + j, row, cols);
  }
};

struct MaybeBias {
  const float* data;
  std::size_t stride;

  constexpr const float* at(std::size_t j) const noexcept { return data + j * stride; }

  template <class Port, std::size_t Vectors>
  TINYATTN_ALWAYS_INLINE constexpr void load_row(std::size_t j, typename Port::vec (&row)[Vectors], auto cols) const noexcept {
    kernel::load_row<Port>(at(j), row, cols);
  }
};

// The same operand, with what its type says as numbers.
template <class T, class Stride>
constexpr RowMajor<T, std::size_t> of_any_shape(const RowMajor<T, Stride>& m) noexcept {
  return {m.data, m.stride};
}
template <class T, class Stride>
constexpr ColumnMajor<T, std::size_t> of_any_shape(const ColumnMajor<T, Stride>& m) noexcept {
  return {m.data, m.stride};
}

// The same start, for tiles of `Width` columns.
template <std::size_t Width>
inline constexpr float zeros[Width] = {};
template <std::size_t Width>
constexpr MaybeBias of_any_shape(Zero) noexcept {
  return {zeros<Width>, 0};
}
template <std::size_t Width>
constexpr MaybeBias of_any_shape(Bias bias) noexcept {
  return {bias.data, 1};
}

template <class T, class Stride>
constexpr RowMajor<const T, Stride> read_only(const RowMajor<T, Stride>& m) noexcept {
  return {m.data, m.stride};
}
template <class T, class Stride>
constexpr ColumnMajor<const T, Stride> read_only(const ColumnMajor<T, Stride>& m) noexcept {
  return {m.data, m.stride};
}

}  // namespace tinyattn::inline TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
