// SPDX-License-Identifier: MIT
//
// Each kind of weights: what is valid, and how kernels take it. Operations of models are templates
// over these.
#pragma once

#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/kernel/int8/product.hpp"
#include "tinyattn/tinyattn_models.h"

#include <cstddef>
#include <cstdint>

namespace tinyattn::compiled {

// The maximum number of floats in an object, which has no more than PTRDIFF_MAX bytes.
constexpr std::size_t most_floats = static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(float);

// Whether the sizes of a matrix are valid: none is 0, and it has no more than `most` elements.
template <std::size_t most = most_floats>
constexpr bool is_matrix(std::size_t rows, std::size_t cols) noexcept {
  return rows != 0 && cols != 0 && rows <= most / cols;
}

// Whether an array begins at a word.
inline bool is_aligned(const void* array) noexcept {
  return reinterpret_cast<std::uintptr_t>(array) % 4 == 0;
}

// Whether a linear has a weight of any kind.
inline bool has_weight(const tinyattn_linear& linear) noexcept {
  return linear.weight != nullptr || linear.codes != nullptr;
}

}  // namespace tinyattn::compiled

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace library {

using namespace compiled;

struct Floats {
  static constexpr bool has_integers = false;
  using Weight = const float*;

  // Whether a linear has a weight of this kind, or, if it may lack one, none.
  TINYATTN_ALWAYS_INLINE static bool is_valid(const tinyattn_linear& linear, std::size_t,
                                              std::size_t, bool may_lack = false) noexcept {
    return linear.weight != nullptr || (may_lack && linear.codes == nullptr);
  }
  TINYATTN_ALWAYS_INLINE static constexpr kernel::Projection<> projection(
      const tinyattn_linear& linear) noexcept {
    return {linear.weight, linear.bias};
  }
  TINYATTN_ALWAYS_INLINE static kernel::Dense embedding(const tinyattn_decoder& d) noexcept {
    return {d.token_embedding, d.d_model};
  }
  TINYATTN_ALWAYS_INLINE static kernel::LogitsHead head(const tinyattn_decoder& d) noexcept {
    return {d.d_model, d.vocabulary, {d.head.weight, d.head.bias}, d.token_embedding};
  }
  TINYATTN_ALWAYS_INLINE static constexpr kernel::NoScratch take(float*, std::size_t,
                                                                 std::size_t) noexcept {
    return {};
  }
  TINYATTN_ALWAYS_INLINE static constexpr void give_back() noexcept {}
};

struct Int8 {
  static constexpr bool has_integers = true;
  using Weight = kernel::Int8Weights;

  // Rows of codes are padded to multiples of 16 bytes.
  static bool is_valid(const tinyattn_linear& linear, std::size_t in, std::size_t out,
                       bool may_lack = false) noexcept {
    if (in > kernel::most_inputs || !is_matrix(kernel::row_size(in), out)) return false;
    if (may_lack && linear.codes == nullptr) return linear.weight == nullptr;
    return linear.codes != nullptr && is_aligned(linear.codes) && linear.scales != nullptr;
  }
  TINYATTN_ALWAYS_INLINE static constexpr kernel::Projection<Weight> projection(
      const tinyattn_linear& linear) noexcept {
    return {{linear.codes, linear.scales}, linear.bias};
  }
  TINYATTN_ALWAYS_INLINE static kernel::Int8Table embedding(const tinyattn_decoder& d) noexcept {
    return {{d.token_codes, d.token_scales}, d.d_model};
  }
  TINYATTN_ALWAYS_INLINE static kernel::Int8LogitsHead head(const tinyattn_decoder& d) noexcept {
    if (d.head.codes == nullptr) return {d.d_model, d.vocabulary, {embedding(d).weights, nullptr}};
    return {d.d_model, d.vocabulary, projection(d.head)};
  }

  // Returns room in the caller's scratch, TINYATTN_INTEGERS(rows, inputs), after `floats` floats.
  // Its words are floats before and after. Compilers take floats and integers for different memory.
  // But they may move no access across these empty statements of assembly, and do not know that the
  // result is part of `scratch`.
  TINYATTN_ALWAYS_INLINE static kernel::IntegerScratch take(float* scratch, std::size_t floats,
                                                            std::size_t rows) noexcept {
    auto* q = reinterpret_cast<std::int32_t*>(scratch + floats);
    asm volatile("" : "+r"(q) : : "memory");
    return {q, TINYATTN_QUERY_ROWS(rows)};
  }
  TINYATTN_ALWAYS_INLINE static void give_back() noexcept { asm volatile("" : : : "memory"); }
};

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::library
