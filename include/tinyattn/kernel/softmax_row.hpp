// SPDX-License-Identifier: MIT
//
// Softmax of one row or a few. Each becomes a probability distribution, or zeros if no element
// takes part.
#pragma once

#include "tinyattn/kernel/row.hpp"
#include "tinyattn/kernel/tile.hpp"

#include <cstdint>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Where the search for the largest score starts: a score of -infinity does not take part, and is
// still -infinity when this is subtracted. With a NaN in the row the largest may be any element,
// and no result depends on which.
inline constexpr float least = -0x1.fffffep127f;

template <class Port>
TINYATTN_KERNEL float largest_of(typename Port::vec v) noexcept {
  return reduce<Port>(v, [](auto a, auto b) TINYATTN_INLINE_LAMBDA { return Port::maximum(a, b); });
}

// Returns e^(scale * (score - largest)), in which `shift` is -largest. An exponential below e^-69
// counts as 0, so that no subnormal arises; the comparison lets a NaN through.
template <class Port>
TINYATTN_KERNEL auto exponential(typename Port::vec score, typename Port::broadcast_operand shift,
                                 typename Port::broadcast_operand scale) noexcept {
  const auto t = Port::mul(Port::add(score, shift), scale);
  return exp_of_nonpositive<Port>(
      Port::select_less(t, Port::splat(-69.0f), Port::splat(exp_is_zero), t));
}

// Whether x is 0.
template <class Port>
TINYATTN_KERNEL bool is_zero(float x) noexcept {
  if constexpr (requires { &Port::add_multiple; })  // a comparison is a function, too
    return __builtin_bit_cast(std::uint32_t, x) << 1 == 0;
  else
    return x == 0.0f;
}

// Returns the number by which a row of this sum is multiplied to add up to 1; 0 if the sum is 0.
template <class Port>
TINYATTN_KERNEL auto reciprocal(float sum) noexcept {
  return Port::broadcast(is_zero<Port>(sum) ? 0.0f : 1.0f / sum);
}

// --- `Rows` rows of one length side by side: while one waits for a result, another goes on ---

// sums[r] = the sum of row r, in sixteen lanes. element(at, r) returns a vector of row r, where
// `at` is its RowVector.
template <class Port, std::size_t Rows, bool IsWhole>
TINYATTN_KERNEL void sum_rows(std::size_t count, const auto& element,
                              float (&sums)[Rows]) noexcept {
  typename Port::vec lanes[Rows][16 / Port::lanes] = {};
  for_each_summand<Port, IsWhole>(count, [&](auto at, std::size_t q) TINYATTN_INLINE_LAMBDA {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) lanes[r][q] = Port::add(lanes[r][q], element(at, r));
  });
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) sums[r] = total_of_lanes<Port>(lanes[r]);
}

// to[j] = from[j] * (1 / sum of the row); zeros, of the elements' signs, if the sum is 0.
template <class Port, std::size_t Rows, bool IsWhole>
TINYATTN_KERNEL void divide_rows(Dense from, Output to, std::size_t count,
                                 const float (&sums)[Rows]) noexcept {
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto factor = reciprocal<Port>(sums[r]);
    for_each_vector<Port, IsWhole>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      at.store(to.at(r, 0), Port::mul(at.load(from.at(r, 0), 0.0f), factor));
    });
  }
}

template <class Port, std::size_t Rows = 1, bool IsWhole = false>
TINYATTN_KERNEL void normalize_rows(Dense from, Output to, std::size_t count) noexcept {
  float sums[Rows];
  if constexpr (Port::lanes == 1 || sums_rows<Port>)
    for (std::size_t r = 0; r < Rows; ++r) sums[r] = sum_of_row<Port>(from.at(r, 0), count);
  else
    sum_rows<Port, Rows, IsWhole>(
        count,
        [&](auto at, std::size_t r) TINYATTN_INLINE_LAMBDA { return at.load(from.at(r, 0), 0.0f); },
        sums);
  divide_rows<Port, Rows, IsWhole>(from, to, count, sums);
}

template <class Port, std::size_t Rows, bool IsWhole>
TINYATTN_KERNEL void softmax_of_rows(Dense from, Output to, std::size_t count,
                                     float scale) noexcept {
  typename Port::vec largest[Rows];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) largest[r] = Port::splat(least);
  for_each_vector<Port, IsWhole>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r)
      largest[r] = Port::maximum(largest[r], at.load(from.at(r, 0), -infinity));
  });
  typename Port::broadcast_operand shifts[Rows];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) shifts[r] = Port::broadcast(-largest_of<Port>(largest[r]));
  const auto factor = Port::broadcast(scale);
  const auto exponentiate = [&](auto at, std::size_t r) TINYATTN_INLINE_LAMBDA {
    const auto e = exponential<Port>(at.load(from.at(r, 0), -infinity), shifts[r], factor);
    at.store(to.at(r, 0), e);
    return e;
  };
  // With sixteen lanes, exponentials are added as they are computed. With fewer, for_each_summand
  // would repeat the code of an exponential 16 / lanes times.
  if constexpr (Port::lanes == 16) {
    float sums[Rows];
    sum_rows<Port, Rows, IsWhole>(count, exponentiate, sums);
    divide_rows<Port, Rows, IsWhole>(to, to, count, sums);
  } else {
    for_each_vector<Port, IsWhole>(count, [&](auto at) TINYATTN_INLINE_LAMBDA {
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) exponentiate(at, r);
    });
    normalize_rows<Port, Rows, IsWhole>(to, to, count);
  }
}

// Computes one row; all callers share the code.
template <class Port, bool IsWhole>
[[gnu::noinline]] constexpr void shared_softmax_of_row(const float* from, float* to,
                                                       std::size_t count, float scale) noexcept {
  softmax_of_rows<Port, 1, IsWhole>({from, 0}, {to, 0}, count, scale);
}
template <class Port, bool IsWhole>
TINYATTN_KERNEL void softmax_of_row(const float* from, float* to, std::size_t count,
                                    float scale) noexcept {
  if constexpr (requires { Port::softmax_row(from, to, count, scale, exp_numbers); })
    Port::softmax_row(from, to, count, scale, exp_numbers);
  else
    shared_softmax_of_row<Port, IsWhole>(from, to, count, scale);
}

// --- Short rows ---

// Computes `Rows` rows of `Count` elements, which stay in registers.
template <class Port, std::size_t Rows, std::size_t Count>
TINYATTN_KERNEL void softmax_in_registers(Dense from, Output to, float scale) noexcept {
  constexpr std::size_t vectors = padded<Port>(Count) / Port::lanes;
  constexpr RowVector<Port, Count % Port::lanes == 0> last{(vectors - 1) * Port::lanes,
                                                           Count - (vectors - 1) * Port::lanes};
  typename Port::vec rows[Rows][vectors];
  float largest_of_row[Rows];
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    auto largest = Port::splat(least);
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < vectors; ++v) {
      rows[r][v] = v + 1 < vectors ? Port::load(from.at(r, v * Port::lanes))
                                   : last.load(from.at(r, 0), -infinity);
      largest = Port::maximum(largest, rows[r][v]);
    }
    largest_of_row[r] = largest_of<Port>(largest);
  }
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const auto shift = Port::broadcast(-largest_of_row[r]), factor = Port::broadcast(scale);
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < vectors; ++v)
      rows[r][v] = exponential<Port>(rows[r][v], shift, factor);
  }
  TINYATTN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    typename Port::vec sums[16 / Port::lanes];
    TINYATTN_UNROLL
    for (auto& sum : sums) sum = Port::splat(0.0f);  // not = {}: for Helium, GCC calls memset
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < vectors; ++v) {
      auto& sum = sums[v % (16 / Port::lanes)];
      sum = Port::add(sum, rows[r][v]);
    }
    const auto factor = reciprocal<Port>(total_of_lanes<Port>(sums));
    TINYATTN_UNROLL
    for (std::size_t v = 0; v < vectors - 1; ++v)
      Port::store(to.at(r, v * Port::lanes), Port::mul(rows[r][v], factor));
    last.store(to.at(r, 0), Port::mul(rows[r][vectors - 1], factor));
  }
}

// Calls step.operator()<size>(j) for each group of floats that a port of one lane moves at once:
// `size` floats from element j on.
template <class Port>
TINYATTN_KERNEL void for_each_group(std::size_t count, const auto& step) noexcept {
  constexpr std::size_t size = [] {
    if constexpr (requires { Port::group; }) return Port::group;
    return Port::tile_vectors;
  }();
  std::size_t j = 0;
  for (; j + size <= count; j += size) step.template operator()<size>(j);
  for (; j < count; ++j) step.template operator()<1>(j);
}

template <class Port>
TINYATTN_KERNEL void copy_row(const float* from, float* to, std::size_t count) noexcept {
  if constexpr (Port::lanes > 1)
    transform_row<Port>(from, to, count, [](auto v) TINYATTN_INLINE_LAMBDA { return v; });
  else
    for_each_group<Port>(count, [&]<std::size_t size>(std::size_t j) TINYATTN_INLINE_LAMBDA {
      float group[size];
      Port::load_row(from + j, group);
      Port::store_row(group, to + j);
    });
}

// Whether a port computes the exponentials of rows of fours.
template <class Port>
concept has_exponentials = requires(float* row) {
  Port::exponentials(row, row, 0, 0.0f, 0.0f, exp_numbers);
  Port::sum_of_fours(row, 0, exp_numbers);
  Port::multiply_fours(row, 0, 0.0f);
};

// Computes a row of `count` single floats, at most `Most`; elements from `count` to `Most` become
// 0. Several floats move at once, and only the sum is unrolled.
template <class Port, std::size_t Most>
TINYATTN_KERNEL void softmax_of_floats(const float* from, float* to, std::size_t count,
                                       float scale) noexcept {
  // A maximum waits for the one before: long rows have two side by side.
  constexpr std::size_t together = Most < 16 ? 1 : 2;
  float largest_of[] = {least, least};
  for_each_group<Port>(count, [&]<std::size_t size>(std::size_t j) TINYATTN_INLINE_LAMBDA {
    float group[size];
    Port::load_row(from + j, group);
    TINYATTN_UNROLL
    for (std::size_t e = 0; e < size; ++e)
      largest_of[e % together] = Port::maximum(largest_of[e % together], group[e]);
  });
  const float largest = Port::maximum(largest_of[0], largest_of[together - 1]);
  std::size_t done = 0;
  if constexpr (has_exponentials<Port> && Most >= 16)
    if (done = count / 4 * 4; done != 0)
      Port::exponentials(from, to, done, largest, scale, exp_numbers);
  for (std::size_t j = done; j < count; ++j) to[j] = exponential<Port>(from[j], -largest, scale);
  for (std::size_t j = count; j < Most; ++j) to[j] = 0.0f;
  float sums[minimum(Most, 16)];
  TINYATTN_UNROLL
  for (std::size_t j = 0; j < Most; ++j)
    sums[j % 16] = j < 16 ? to[j] : Port::add(sums[j % 16], to[j]);
  const float factor = reciprocal<Port>(total_of_lanes<Port>(sums));
  for_each_group<Port>(Most, [&]<std::size_t size>(std::size_t j) TINYATTN_INLINE_LAMBDA {
    float group[size];
    Port::load_row(to + j, group);
    TINYATTN_UNROLL
    for (std::size_t e = 0; e < size; ++e) group[e] = Port::mul(group[e], factor);
    Port::store_row(group, to + j);
  });
}

// --- Rows of fours, for a port that computes their exponentials ---

// Returns how many floats the memory of a row of `count` scores holds: whole vectors, or fours.
template <class Port>
constexpr std::size_t room_of_scores(std::size_t count) noexcept {
  constexpr std::size_t size = has_exponentials<Port> ? 4 : Port::lanes;
  return (count + size - 1) / size * size;
}

// Computes a row in place. Elements from its end to the next multiple of four become 0, or NaN if
// the row has one.
template <class Port>
[[gnu::noinline]] constexpr void softmax_of_fours(float* row, std::size_t count,
                                                  float scale) noexcept {
  if (count == 0) return;
  float largest = least;
  for (std::size_t j = 0; j < count; ++j) largest = Port::maximum(largest, row[j]);
  for (; count % 4 != 0; ++count) row[count] = -infinity;
  Port::exponentials(row, row, count, largest, scale, exp_numbers);
  Port::multiply_fours(row, count, reciprocal<Port>(Port::sum_of_fours(row, count, zeros<8>)));
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
