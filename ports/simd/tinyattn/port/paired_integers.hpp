// SPDX-License-Identifier: MIT
//
// Sums of products of integers with codes where one instruction multiplies halfwords and adds each
// two neighbours: pmaddwd and vpdpwssd of x86, i32x4.dot_i16x8_s of WebAssembly. A vector of codes
// becomes two vectors of halfwords, its even bytes and its odd ones: by a mask and a shift, which
// take fewer instructions than loads of widened bytes. A packed row has its integers in the same
// order. No sum saturates: a product of an integer and a code is less than 2^23.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

// The members of a port that multiply rows of integers. `Instructions` has:
//
//   vec                       a vector of integers
//   load(from), store(to, v)  a vector, aligned only as a byte
//   load_n(from, n)           n bytes, then zeros; n is a multiple of 8, and less than a vector has
//   store_n(to, v, n)         the first n bytes
//   narrow(a, b)              the low halves of the words of a, then of b
//   multiply(a, b)            in each word a sum of two products, of halfwords with their sign
//   multiply_add(sums, a, b)  the same, added to sums modulo 2^32
//   add_lanes(sums, to)       to[i] = the sum of the words of sums[i], for eight vectors
template <class Instructions>
struct paired_integers {
  // Two rows share the codes that were taken apart; more do not gain more.
  static constexpr std::size_t integer_rows = 2;

  // A part of a vector comes first, then whole vectors: 2 * terms bytes altogether.
  static void pack_row(std::int32_t* q, std::size_t terms) noexcept {
    const std::size_t part = terms % vector_bytes;
    if (part != 0) pack(q, q, part);
    for (std::size_t k = part; k < terms; k += vector_bytes) pack(q + k, q + k / 2, vector_bytes);
  }

  template <std::size_t Rows>
  static void integer_dots(const std::int32_t* q, std::size_t q_stride, const std::uint8_t* codes,
                           std::size_t stride, std::size_t terms, std::size_t cols,
                           std::uint32_t* sums) noexcept {
    constexpr std::size_t width = tile_sums / Rows;
    // The last tile overlaps its neighbour. A single one that is too wide repeats the last column.
    const std::size_t last = cols < width ? 0 : cols - width;
    std::size_t steps[width];
    TINYATTN_UNROLL
    for (std::size_t c = 0; c < width; ++c) steps[c] = c < cols ? stride : 0;
    for (std::size_t j = 0; j < cols; j += width) {
      const std::size_t first = j < last ? j : last;
      const std::uint8_t* columns[width] = {codes + first * stride};
      TINYATTN_UNROLL
      for (std::size_t c = 1; c < width; ++c) columns[c] = columns[c - 1] + steps[c];
      integer_tile<Rows>(q, q_stride, columns, terms, cols, sums + first);
    }
  }

 private:
  // A port has names of its own: these differ from all of them.
  using integers = typename Instructions::vec;
  using words [[gnu::vector_size(sizeof(integers))]] = std::int32_t;
  using halfwords [[gnu::vector_size(sizeof(integers))]] = std::uint16_t;
  static constexpr std::size_t vector_bytes = sizeof(integers);
  static constexpr std::size_t tile_sums = 8;  // of 16 registers

  template <std::size_t Rows>
  TINYATTN_ALWAYS_INLINE static void integer_tile(
      const std::int32_t* q, std::size_t q_stride,
      const std::uint8_t* const (&columns)[tile_sums / Rows], std::size_t terms, std::size_t cols,
      std::uint32_t* sums) noexcept {
    constexpr std::size_t width = tile_sums / Rows;
    integers all[tile_sums];
    // Adds n terms from term k on; the first ones make the sums.
    const auto add = [&]<bool IsFirst>(std::bool_constant<IsFirst>, std::size_t k, std::size_t n,
                                       const auto& load) TINYATTN_INLINE_LAMBDA {
      integers even[Rows], odd[Rows];
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::int32_t* const row = q + r * q_stride + k / 2;
        even[r] = load(row);
        odd[r] = load(row + n / 4);
      }
      TINYATTN_UNROLL
      for (std::size_t c = 0; c < width; ++c) {
        const halfwords both = reinterpret_cast<halfwords>(load(columns[c] + k));
        const integers low = reinterpret_cast<integers>(both & 0xff),
                       high = reinterpret_cast<integers>(both >> 8);
        TINYATTN_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
          integers& sum = all[r * width + c];
          sum = IsFirst ? Instructions::multiply(low, even[r])
                        : Instructions::multiply_add(sum, low, even[r]);
          sum = Instructions::multiply_add(sum, high, odd[r]);
        }
      }
    };
    const auto whole = [](const void* from)
                           TINYATTN_INLINE_LAMBDA { return Instructions::load(from); };
    std::size_t k = terms % vector_bytes;
    if (k != 0)
      add(std::true_type{}, 0, k,
          [k](const void* from) TINYATTN_INLINE_LAMBDA { return Instructions::load_n(from, k); });
    else
      add(std::true_type{}, 0, k = vector_bytes, whole);
    for (; k < terms; k += vector_bytes) add(std::false_type{}, k, vector_bytes, whole);
    write_sums<Rows>(all, cols, sums);
  }

  template <std::size_t Rows>
  TINYATTN_ALWAYS_INLINE static void write_sums(const integers (&all)[tile_sums], std::size_t cols,
                                                std::uint32_t* sums) noexcept {
    constexpr std::size_t width = tile_sums / Rows;
    if (Rows == 1 && cols >= width) return Instructions::add_lanes(all, sums);
    std::uint32_t lanes[tile_sums];
    Instructions::add_lanes(all, lanes);
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      if (cols >= width)
        __builtin_memcpy(sums + r * cols, lanes + r * width, width * sizeof(*sums));
      else
        for (std::size_t c = 0; c < cols; ++c) sums[r * cols + c] = lanes[r * width + c];
    }
  }

  // Packs n integers: the halfwords of even terms, then those of odd ones.
  TINYATTN_ALWAYS_INLINE static void pack(const std::int32_t* q, std::int32_t* to,
                                          std::size_t n) noexcept {
    integers four[4];
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t at = i * vector_bytes / 4, bytes = n > at ? (n - at) * 4 : 0;
      four[i] = bytes >= vector_bytes ? Instructions::load(q + at)
                : bytes != 0          ? Instructions::load_n(q + at, bytes)
                                      : integers{};
    }
    const integers even = Instructions::narrow(every_second_word<0>(four[0], four[1]),
                                               every_second_word<0>(four[2], four[3]));
    const integers odd = Instructions::narrow(every_second_word<1>(four[0], four[1]),
                                              every_second_word<1>(four[2], four[3]));
    if (n == vector_bytes) {
      Instructions::store(to, even);
      Instructions::store(to + n / 4, odd);
    } else {
      Instructions::store_n(to, even, n);
      Instructions::store_n(to + n / 4, odd, n);
    }
  }

  // Every second word of a, then of b.
  template <std::size_t First>
  TINYATTN_ALWAYS_INLINE static integers every_second_word(integers a, integers b) noexcept {
    return [=]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
      return reinterpret_cast<integers>(__builtin_shufflevector(
          reinterpret_cast<words>(a), reinterpret_cast<words>(b), (First + Lane * 2)...));
    }
    (std::make_index_sequence<vector_bytes / 4>{});
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
