// SPDX-License-Identifier: MIT
//
// Checks what a port does with integers: sums of products with codes, which are exact modulo 2^32, against plain loops of 64 bits; and
// products with int8 weights against the plain rule.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "catalogue/plain.hpp"
#include "same_bits.hpp"
#include "tinyattn/kernel/int8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tinyattn::test {

// Memory for codes. Where there is Linux, the page after it is not readable.
inline constexpr std::size_t codes_room = 200 * 208 + 4;
inline std::uint8_t* end_of_codes() noexcept {
#if defined(__linux__)
  static std::uint8_t* const end = [] {
    constexpr std::size_t page = 0x10000;
    static_assert(codes_room <= page);
    void* const pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) __builtin_trap();
    std::uint8_t* const second = static_cast<std::uint8_t*>(pages) + page;
    if (mprotect(second, page, PROT_NONE) != 0) __builtin_trap();
    return second;
  }();
  return end;
#else
  alignas(4) static std::uint8_t codes[codes_room];
  return codes + codes_room;
#endif
}

alignas(16) inline std::array<std::int32_t, 1 + 8 * 1042> integers;  // of up to eight rows

// Sums of `Rows` rows: q(k) and code(k) are drawn, or the same for all k. No code lies after the last one, and codes and integers are
// aligned to four bytes and no more.
template <class Port, std::size_t Rows>
void check_sums(Check& check, std::size_t terms, std::size_t stride, std::size_t cols, auto q, auto code) {
  static_assert(Rows <= 8);
  const std::size_t q_stride = terms + 2;
  std::uint8_t* const codes = end_of_codes() - ((cols - 1) * stride + terms) - (terms % 16 == 0 ? 4 : 0);
  for (std::uint8_t* c = codes; c < end_of_codes(); ++c) *c = static_cast<std::uint8_t>(code());
  std::int32_t* const rows = integers.data() + 1;
  std::int64_t expected[Rows * kernel::sum_columns<Port>] = {};
  for (std::size_t r = 0; r < Rows; ++r) {
    std::int32_t* const row = rows + r * q_stride;
    for (std::size_t k = 0; k < terms; ++k) row[k] = q();
    row[terms] = row[terms + 1] = -1;
    for (std::size_t j = 0; j < cols; ++j)
      for (std::size_t k = 0; k < terms; ++k) expected[r * cols + j] += std::int64_t{row[k]} * codes[j * stride + k];
    const std::uint32_t correction = 0x89abcdefu * static_cast<std::uint32_t>(r + 1);
    const std::uint32_t added = correction - kernel::pack_row<Port>(row, terms, correction);
    for (std::size_t j = 0; j < cols; ++j) expected[r * cols + j] += added;
    check.that(row[terms] == -1 && row[terms + 1] == -1);
  }
  std::uint32_t sums[Rows * kernel::sum_columns<Port> + 8];
  std::fill(std::begin(sums), std::end(sums), 0xabcdefu);
  kernel::integer_dots<Port, Rows>({rows, q_stride}, {codes, stride, terms}, cols, sums);
  for (std::size_t i = 0; i < std::size(sums); ++i)
    check.equal(sums[i], i < Rows * cols ? static_cast<std::uint32_t>(expected[i]) : 0xabcdefu);
}

template <class Port, std::size_t Rows>
void check_sums_of_rows(Check& check) {
  Draw draw(Rows);
  const auto any_q = [&] { return static_cast<std::int32_t>(draw.word() % 0xffff) - 0x7fff; };
  const auto any_code = [&] { return draw.word() >> 24; };
  std::size_t cols = 1;
  for (std::size_t terms = 8; terms <= 208; terms += 8)
    for (const std::size_t stride : {terms, terms + 8})
      check_sums<Port, Rows>(check, terms, stride, 1 + (cols += 13) % 32, any_q, any_code);
  for (cols = 1; cols <= 32; ++cols) check_sums<Port, Rows>(check, 16, 16, cols, any_q, any_code);
  // Extremes: the longest rows of fourteen bits, in sums beyond 32 bits; and what pairs of products would saturate.
  for (const std::int32_t q : {0x7fff, 16383, -16383, -0x7fff})
    for (const std::uint32_t code : {0u, 1u, 127u, 128u, 255u})
      check_sums<Port, Rows>(
          check, 1032, 1040, 3, [=] { return q; }, [=] { return code; });
  bool is_odd = false;
  check_sums<Port, Rows>(
      check, 1040, 1040, 5, [&] { return (is_odd = !is_odd) ? 16383 : -16383; }, [] { return 255u; });
}

// The sums of one row, and of as many as a tile of the port has.
template <class Port>
void check_integer_sums(Check& check) {
  check_sums_of_rows<Port, 1>(check);
  if constexpr (kernel::sum_rows<Port>() > 1) check_sums_of_rows<Port, kernel::sum_rows<Port>()>(check);
}

// A product with int8 weights, whose padding may hold any codes: rows of floats become integers, sums become floats. Rows of x overlap.
template <class Port>
void check_int8_product(Check& check, std::size_t rows, std::size_t in, std::size_t cols, auto number, auto code) {
  static std::array<float, 1100> x;
  static std::array<float, 200> scales;
  for (std::size_t k = 0; k < in + rows * gap; ++k) x[k] = number(k);
  for (std::size_t j = 0; j < cols; ++j) scales[j] = (source(in)[j] + 2.0f) * 0x1p-9f;
  const std::size_t row_size = kernel::row_size(in), stride = cols + gap;
  std::uint8_t* const codes = end_of_codes() - row_size * cols - in % 2 * 4;
  for (std::uint8_t* c = codes; c < end_of_codes(); ++c) *c = static_cast<std::uint8_t>(code());
  const float* const bias = in % 3 == 0 ? nullptr : source(in + cols);
  const auto plain_loop = [&](auto, float* out) {
    plain::matmul({x.data(), rows, in, gap}, {codes, cols, in, row_size}, scales.data(), {out, rows, cols, stride}, bias);
  };
  check_same_bits<Port>(check, rows * stride, plain_loop, [&](auto port, float* out) {
    const kernel::IntegerRows to{integers.data() + 1, kernel::integer_row(in)};
    kernel::quantize_rows<decltype(port)>(rows, in, {x.data(), gap}, to);
    kernel::int8_matmul<decltype(port)>(rows, in, cols, to, {{codes, scales.data()}, bias}, {out, stride});
  });
}

// Every width from 1 to 200 of inputs and of outputs, and more rows than a tile has; inputs of any size, some NaN. At the end the largest
// sums of 32 bits.
template <class Port>
void check_int8_products(Check& check) {
  Draw draw;
  for (std::size_t in = 1; in <= 200; ++in) {
    const float power = draw.wide_number(80);
    check_int8_product<Port>(
        check, 1 + in % (2 * kernel::sum_rows<Port>() + 1), in, 1 + in * 77 % 200,
        [&](std::size_t k) { return k == 150 && in % 8 == 0 ? quiet_nan : source(in)[k] * power; }, [&] { return 1 + draw.word() % 255; });
  }
  for (const float x : {0x1.fffcp0f, -0x1.fff8p0f})
    for (const std::uint32_t code : {1u, 255u})
      check_int8_product<Port>(
          check, 2, 1032, 3, [=](std::size_t) { return x; }, [=] { return code; });
}

}  // namespace tinyattn::test
