// SPDX-License-Identifier: MIT
//
// Sums of products of integers with codes where one instruction multiplies halfwords and adds every
// two neighbours: pmaddwd and vpdpwssd of x86, i32x4.dot_i16x8_s of WebAssembly. A vector of codes
// becomes two vectors of halfwords, its even bytes and its odd ones, by a mask and a shift, which
// take fewer instructions than loads of widened bytes. A packed row has its integers in the same
// order. No sum saturates: a product of an integer and a code is less than 2^23.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

// The members of a port that multiply rows of integers. `Instructions` has:
//
//   vec                       a vector of integers
//   load(from), store(to, v)  a vector, aligned only as a byte
//   load_n(from, n)           n bytes, then zeros; n is a multiple of 8, and less than a vector has
//   store_n(to, v, n)         the first n bytes
//   load_codes(from)          a vector that is used twice
//   narrow(a, b)              words that fit into halfwords, for each 16 bytes: of a, then of b
//   multiply(a, b)            in each word the sum of two products of signed halfwords
//   multiply_add(sums, a, b)  the same, added to sums modulo 2^32
//   tile_sums                 how many sums fit into registers
//   block_vectors             how many vectors of codes have their part of a row in registers, or 0
//   has_panels                whether sums of several rows gain by panels of codes
//   add_lanes(sums, to)       to[i] = the sum of the words of sums[i], for tile_sums vectors
template <class Instructions>
struct paired_integers {
  // Two rows share the unpacked codes; more rows gain nothing.
  static constexpr std::size_t integer_rows = 2;

  // A partial vector comes first, then whole vectors: 2 * terms bytes altogether.
  static void pack_row(std::int32_t* q, std::size_t terms) noexcept {
    const std::size_t part = terms % vector_bytes;
    if (part != 0) pack(q, q, part);
    for (std::size_t k = part; k < terms; k += vector_bytes) pack(q + k, q + k / 2, vector_bytes);
  }

  // Port supplies the vectors of floats.
  template <class Port>
  requires(sizeof(typename Port::vec) == sizeof(typename Instructions::vec)) static std::uint32_t
      quantize(const float* x, std::size_t count, std::size_t terms, unsigned bits, std::int32_t* q,
               std::uint32_t& sum) noexcept {
    const words magnitude = greatest_magnitude<Port>(x, count);
    const unsigned_words exponent =
        (reinterpret_cast<unsigned_words>(magnitude) + (1u << (23 - bits))) >> 23;
    const unsigned_words factor = (253u + bits - exponent) << 23;
    sum = round_and_pack<Port>(x, count, terms, reinterpret_cast<floats>(factor), q);
    return first_word(magnitude);
  }

  template <std::size_t Rows>
  static void integer_dots(const std::int32_t* q, std::size_t q_stride, const std::uint8_t* codes,
                           std::size_t stride, std::size_t terms, std::size_t cols,
                           std::uint32_t* sums) noexcept {
    if (Rows == 1 && terms == 8 && stride == 8) return dots_of_eights(q, codes, cols, sums);
    if constexpr (Rows == 1 && block != 0)
      if (terms >= block && terms % block < vector_bytes && cols >= tile_sums)
        return dots_in_blocks(q, codes, stride, terms, cols, sums);
    constexpr std::size_t width = tile_sums / Rows;
    const std::uint8_t* columns[width] = {codes};
    // A single tile that is too wide repeats the last column.
    TINYATTN_UNROLL
    for (std::size_t c = 1; c < width; ++c) columns[c] = columns[c - 1] + (c < cols ? stride : 0);
    for (std::size_t left = cols;;) {
      integer_tile<Rows>(q, q_stride, columns, terms, cols, sums);
      if (left <= width) return;
      left -= width;
      // The last tile overlaps its neighbour.
      const std::size_t step = left < width ? left : width;
      left += width - step;
      TINYATTN_UNROLL
      for (std::size_t c = 0; c < width; ++c) columns[c] += step * stride;
      sums += step;
    }
  }

  // Two vectors of columns share what is loaded of a row.
  static constexpr std::size_t panel_rows = Instructions::tile_sums / 2;
  template <class Port>
  requires(
      Instructions::has_panels &&
      sizeof(typename Port::vec) ==
          sizeof(typename Instructions::vec)) static void panel_dots(const std::int32_t* q,
                                                                     std::size_t q_stride,
                                                                     const float* panel,
                                                                     std::size_t terms,
                                                                     std::uint32_t* sums) noexcept {
    integers all[panel_rows][2]{};
    // Adds n terms, of which a packed row has the even ones first.
    const auto add = [&](std::size_t n) TINYATTN_INLINE_LAMBDA {
      for (const std::int32_t* const end = q + n / 4; q != end; ++q, panel += 2 * vector_words) {
        integers even[2], odd[2];
        TINYATTN_UNROLL
        for (std::size_t v = 0; v < 2; ++v) {
          const halfwords both =
              reinterpret_cast<halfwords>(Instructions::load(panel + v * vector_words));
          even[v] = reinterpret_cast<integers>(both & 0xff);
          odd[v] = reinterpret_cast<integers>(both >> 8);
        }
        TINYATTN_UNROLL
        for (std::size_t r = 0; r < panel_rows; ++r) {
          const std::int32_t* const row = q + r * q_stride;
          const integers by_even = reinterpret_cast<integers>(words{} + row[0]),
                         by_odd = reinterpret_cast<integers>(words{} + row[n / 4]);
          TINYATTN_UNROLL
          for (std::size_t v = 0; v < 2; ++v) {
            all[r][v] = Instructions::multiply_add(all[r][v], even[v], by_even);
            all[r][v] = Instructions::multiply_add(all[r][v], odd[v], by_odd);
          }
        }
      }
      q += n / 4;
    };
    add(terms % vector_bytes);
    for (std::size_t blocks = terms / vector_bytes; blocks != 0; --blocks) add(vector_bytes);
    TINYATTN_UNROLL
    for (std::size_t r = 0; r < panel_rows; ++r)
      for (std::size_t v = 0; v < 2; ++v)
        Instructions::store(sums + (2 * r + v) * vector_words, all[r][v]);
  }

 private:
  // A port inherits this: the names must differ from its own.
  using integers = typename Instructions::vec;
  using words [[gnu::vector_size(sizeof(integers))]] = std::int32_t;
  using unsigned_words [[gnu::vector_size(sizeof(integers))]] = std::uint32_t;
  using floats [[gnu::vector_size(sizeof(integers))]] = float;
  using halfwords [[gnu::vector_size(sizeof(integers))]] = std::uint16_t;
  using eights [[gnu::vector_size(sizeof(integers))]] = std::uint64_t;
  static constexpr std::size_t vector_bytes = sizeof(integers), vector_words = vector_bytes / 4;
  static constexpr std::size_t tile_sums = Instructions::tile_sums;
  static constexpr std::size_t block_vectors = Instructions::block_vectors;
  static constexpr std::size_t block = block_vectors * vector_bytes;

  // One row of whole blocks, the first perhaps after part of a vector: a block stays in registers
  // while columns pass, each of whose codes are read in order. Codes in a second-level cache then
  // take three quarters of the time.
  static void dots_in_blocks(const std::int32_t* q, const std::uint8_t* codes, std::size_t stride,
                             std::size_t terms, std::size_t cols, std::uint32_t* sums) noexcept {
    for (std::size_t c = 0;;) {
      integers all[tile_sums]{};
      // Adds `Vectors` times n terms from term k on.
      const auto add = [&]<std::size_t Vectors>(std::integral_constant<std::size_t, Vectors>,
                                                std::size_t k, std::size_t n, const auto& load,
                                                const auto& load_codes) TINYATTN_INLINE_LAMBDA {
        integers even[Vectors], odd[Vectors];
        TINYATTN_UNROLL
        for (std::size_t v = 0; v < Vectors; ++v) {
          even[v] = load(q + (k + v * n) / 2);
          odd[v] = load(q + (k + v * n) / 2 + n / 4);
        }
        const std::uint8_t* column = codes + c * stride + k;
        for (integers& sum : all) {
          integers of_odd{};
          TINYATTN_UNROLL
          for (std::size_t v = 0; v < Vectors; ++v) {
            const halfwords both = reinterpret_cast<halfwords>(load_codes(column + v * n));
            sum = Instructions::multiply_add(sum, reinterpret_cast<integers>(both & 0xff), even[v]);
            of_odd =
                Instructions::multiply_add(of_odd, reinterpret_cast<integers>(both >> 8), odd[v]);
          }
          sum = reinterpret_cast<integers>(reinterpret_cast<words>(sum) +
                                           reinterpret_cast<words>(of_odd));
          column += stride;
        }
      };
      const auto load_part = [n = terms % vector_bytes](const void* from)
                                 TINYATTN_INLINE_LAMBDA { return Instructions::load_n(from, n); };
      std::size_t k = terms % vector_bytes;
      if (k != 0) add(std::integral_constant<std::size_t, 1>{}, 0, k, load_part, load_part);
      for (; k < terms; k += block)
        add(std::integral_constant<std::size_t, block_vectors>{}, k, vector_bytes,
            Instructions::load, Instructions::load_codes);
      Instructions::add_lanes(all, sums + c);
      if (c + tile_sums == cols) return;
      c = c + 2 * tile_sums <= cols ? c + tile_sums : cols - tile_sums;  // the last tile overlaps
    }
  }

  template <std::size_t Rows>
  TINYATTN_ALWAYS_INLINE static void integer_tile(
      const std::int32_t* q, std::size_t q_stride,
      const std::uint8_t* const (&columns)[tile_sums / Rows], std::size_t terms, std::size_t cols,
      std::uint32_t* sums) noexcept {
    constexpr std::size_t width = tile_sums / Rows;
    integers all[tile_sums];
    // Adds n terms from term k on; the first call starts the sums.
    const auto add = [&]<bool IsFirst>(std::bool_constant<IsFirst>, std::size_t k, std::size_t n,
                                       const auto& load,
                                       const auto& load_codes) TINYATTN_INLINE_LAMBDA {
      integers even[Rows], odd[Rows];
      TINYATTN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::int32_t* const row = q + r * q_stride + k / 2;
        even[r] = load(row);
        odd[r] = load(row + n / 4);
      }
      TINYATTN_UNROLL
      for (std::size_t c = 0; c < width; ++c) {
        const halfwords both = reinterpret_cast<halfwords>(load_codes(columns[c] + k));
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
    const auto load_part = [n = terms % vector_bytes](const void* from)
                               TINYATTN_INLINE_LAMBDA { return Instructions::load_n(from, n); };
    std::size_t k = terms % vector_bytes;
    if (k != 0)
      add(std::true_type{}, 0, k, load_part, load_part);
    else
      add(std::true_type{}, 0, k = vector_bytes, Instructions::load, Instructions::load_codes);
    for (; k < terms; k += vector_bytes)
      add(std::false_type{}, k, vector_bytes, Instructions::load, Instructions::load_codes);
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

  // The sums of columns of eight codes, one behind the other: a vector has several, and two vectors
  // have two words of each of their sums.
  static void dots_of_eights(const std::int32_t* q, const std::uint8_t* codes, std::size_t cols,
                             std::uint32_t* sums) noexcept {
    std::uint64_t halves[2];
    __builtin_memcpy(halves, q, sizeof(halves));
    const auto even = reinterpret_cast<integers>(eights{} + halves[0]),
               odd = reinterpret_cast<integers>(eights{} + halves[1]);
    const auto products = [even, odd](integers v) TINYATTN_INLINE_LAMBDA {
      const halfwords both = reinterpret_cast<halfwords>(v);
      return reinterpret_cast<words>(Instructions::multiply_add(
          Instructions::multiply(reinterpret_cast<integers>(both & 0xff), even),
          reinterpret_cast<integers>(both >> 8), odd));
    };
    const auto sums_of = [&](integers low, integers high) TINYATTN_INLINE_LAMBDA {
      const words a = products(low), b = products(high);
      return [=]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
        return reinterpret_cast<integers>(__builtin_shufflevector(a, b, (2 * Lane)...) +
                                          __builtin_shufflevector(a, b, (2 * Lane + 1)...));
      }
      (std::make_index_sequence<vector_words>{});
    };
    if (cols < vector_words) {
      const auto load = [](const std::uint8_t* from, std::size_t n) TINYATTN_INLINE_LAMBDA {
        return n == 0 ? integers{} : Instructions::load_n(from, n);
      };
      const bool has_high = 8 * cols >= vector_bytes;
      const integers low = has_high ? Instructions::load(codes) : load(codes, 8 * cols);
      const integers high =
          has_high ? load(codes + vector_bytes, 8 * cols - vector_bytes) : integers{};
      std::uint32_t all[vector_words];
      Instructions::store(all, sums_of(low, high));
      for (std::size_t c = 0; c < cols; ++c) sums[c] = all[c];
      return;
    }
    // The last tile overlaps its neighbour.
    const std::size_t last = cols - vector_words;
    for (std::size_t c = 0;; c = c + vector_words < last ? c + vector_words : last) {
      const std::uint8_t* const from = codes + 8 * c;
      Instructions::store(
          sums + c, sums_of(Instructions::load(from), Instructions::load(from + vector_bytes)));
      if (c == last) return;
    }
  }

  template <class Port>
  TINYATTN_ALWAYS_INLINE static std::uint32_t round_and_pack(const float* x, std::size_t count,
                                                             std::size_t terms, floats steps_of_one,
                                                             std::int32_t* q) noexcept {
    unsigned_words sums{};
    // Packs n integers from integer k on.
    const auto add = [&](std::size_t k, std::size_t n, const auto& load) TINYATTN_INLINE_LAMBDA {
      integers four[4];
      TINYATTN_UNROLL
      for (std::size_t i = 0; i < 4; ++i) {
        const floats v = reinterpret_cast<floats>(load(k + i * vector_words));
        const unsigned_words rounded = round_exactly(v, steps_of_one);
        sums += rounded;
        four[i] = reinterpret_cast<integers>(rounded);
      }
      store_packed(four, q + k / 2, n);
    };
    // Loads the floats before index `end`, then zeros.
    const auto load_before = [x](std::size_t end) {
      return [x, end](std::size_t k) TINYATTN_INLINE_LAMBDA {
        if (k >= end) return Port::splat(0.0f);
        return end - k >= vector_words ? Port::load(x + k) : Port::load_n(x + k, end - k, 0.0f);
      };
    };
    const auto load = [x](std::size_t k) TINYATTN_INLINE_LAMBDA { return Port::load(x + k); };
    std::size_t k = terms % vector_bytes;
    if (k != 0) add(0, k, load_before(k < count ? k : count));
    for (; k + vector_bytes <= count; k += vector_bytes) add(k, vector_bytes, load);
    if (k < terms) add(k, vector_bytes, load_before(count));
    const auto add_words = [](auto m, auto n) TINYATTN_INLINE_LAMBDA { return m + n; };
    return first_word(reduced(sums, add_words));
  }

  // The maximum of the bits of |x[k]|, in every word.
  template <class Port>
  TINYATTN_ALWAYS_INLINE static words greatest_magnitude(const float* x,
                                                         std::size_t count) noexcept {
    const auto greater = [](words m, words n) TINYATTN_INLINE_LAMBDA { return m < n ? n : m; };
    words even{}, odd{};
    const auto magnitudes = [x](std::size_t k) TINYATTN_INLINE_LAMBDA {
      return reinterpret_cast<words>(Instructions::load(x + k)) & 0x7fffffff;
    };
    if (count < vector_words)
      return reduced(reinterpret_cast<words>(Port::load_n(x, count, 0.0f)) & 0x7fffffff, greater);
    // The last vector overlaps the one before.
    const std::size_t last = count - vector_words;
    for (std::size_t k = 0; k < last; k += 2 * vector_words) {
      const std::size_t next = k + vector_words < last ? k + vector_words : last;
      even = greater(even, magnitudes(k));
      odd = greater(odd, magnitudes(next));
    }
    return reduced(greater(greater(even, odd), magnitudes(last)), greater);
  }

  TINYATTN_ALWAYS_INLINE static std::uint32_t first_word(auto v) noexcept {
    std::uint32_t word;
    __builtin_memcpy(&word, &v, sizeof(word));
    return word;
  }

  // Combines all words, in each word of the result.
  template <std::size_t Half = vector_words / 2, class Words>
  TINYATTN_ALWAYS_INLINE static Words reduced(Words v, const auto& combine) noexcept {
    if constexpr (Half == 0) {
      return v;
    } else {
      const Words other = [v]<std::size_t... Lane>(std::index_sequence<Lane...>)
          TINYATTN_INLINE_LAMBDA {
        return __builtin_shufflevector(v, v, (Lane ^ Half)...);
      }
      (std::make_index_sequence<vector_words>{});
      return reduced<Half / 2>(combine(v, other), combine);
    }
  }

  // x * steps_of_one as integers. The product with a power of two is exact, contracted or not; the
  // sum has the rounded product in its low bits.
  TINYATTN_ALWAYS_INLINE static unsigned_words round_exactly(floats x,
                                                             floats steps_of_one) noexcept {
    constexpr float magic = 0x1.8p23f;
    return reinterpret_cast<unsigned_words>(x * steps_of_one + magic) -
           __builtin_bit_cast(std::uint32_t, magic);
  }

  // Packs n integers.
  TINYATTN_ALWAYS_INLINE static void pack(const std::int32_t* q, std::int32_t* to,
                                          std::size_t n) noexcept {
    integers four[4];
    TINYATTN_UNROLL
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t at = i * vector_words, bytes = n > at ? (n - at) * 4 : 0;
      four[i] = bytes >= vector_bytes ? Instructions::load(q + at)
                : bytes != 0          ? Instructions::load_n(q + at, bytes)
                                      : integers{};
    }
    store_packed(four, to, n);
  }

  // Stores n integers as halfwords: the even ones, then the odd ones.
  TINYATTN_ALWAYS_INLINE static void store_packed(const integers (&four)[4], std::int32_t* to,
                                                  std::size_t n) noexcept {
    const integers even = every_second<0>(four), odd = every_second<1>(four);
    if (n == vector_bytes) {
      Instructions::store(to, even);
      Instructions::store(to + n / 4, odd);
    } else {
      Instructions::store_n(to, even, n);
      Instructions::store_n(to + n / 4, odd, n);
    }
  }
  // Every second integer, as halfwords. Steps that move nothing between blocks of 16 bytes leave
  // them in transposed order, which the last step restores.
  template <std::size_t First>
  TINYATTN_ALWAYS_INLINE static integers every_second(const integers (&four)[4]) noexcept {
    const integers narrow = Instructions::narrow(every_second_word<First>(four[0], four[1]),
                                                 every_second_word<First>(four[2], four[3]));
    return [=]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
      constexpr std::size_t blocks = vector_bytes / 16;
      return reinterpret_cast<integers>(
          __builtin_shufflevector(reinterpret_cast<words>(narrow), reinterpret_cast<words>(narrow),
                                  (Lane % blocks * 4 + Lane / blocks)...));
    }
    (std::make_index_sequence<vector_words>{});
  }
  // In each block of 16 bytes, every second word of a, then of b.
  template <std::size_t First>
  TINYATTN_ALWAYS_INLINE static integers every_second_word(integers a, integers b) noexcept {
    return [=]<std::size_t... Lane>(std::index_sequence<Lane...>) TINYATTN_INLINE_LAMBDA {
      return reinterpret_cast<integers>(__builtin_shufflevector(
          reinterpret_cast<words>(a), reinterpret_cast<words>(b),
          (Lane / 4 * 4 + Lane % 4 / 2 * vector_words + First + Lane % 2 * 2)...));
    }
    (std::make_index_sequence<vector_words>{});
  }
};

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE

TINYATTN_END
