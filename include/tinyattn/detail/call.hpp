// SPDX-License-Identifier: MIT
//
// What a call says. Its arguments are told apart by their types, in the order of calling.md:
// inputs, how many of their rows are tokens, a mask or a cache, outputs, a workspace, a generator.
#pragma once

#include "tinyattn/mask.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

enum class Role : unsigned char { tensor, count, mask, cache, workspace, generator };

// Returns what an argument is. An array may stand for a mask, which a check diagnoses.
template <class Argument>
consteval Role role_of() noexcept {
  using Type = std::remove_cvref_t<Argument>;
  if constexpr (tensor_like<Type>)
    return Role::tensor;
  else if constexpr (std::is_convertible_v<Type, std::size_t>)
    return Role::count;
  else if constexpr (mask_type<Type> || std::is_array_v<Type> || std::is_pointer_v<Type>)
    return Role::mask;
  else if constexpr (requires(Type & cache) { cache.has_room(std::size_t{1}); })
    return Role::cache;
  else
    return random_generator<Type> ? Role::generator : Role::workspace;
}

template <class... Arguments>
consteval std::size_t number_of([[maybe_unused]] Role word) noexcept {
  return (std::size_t{0} + ... + (role_of<Arguments>() == word ? 1 : 0));
}

// A call with `num_outputs` outputs: where each argument is. Arguments are as std::forward takes
// them: an output must not be a temporary. A check diagnoses one that is const.
template <std::size_t num_outputs, class... Arguments>
struct Call {
  static constexpr std::size_t size = sizeof...(Arguments);
  static constexpr Role roles[size + 1] = {role_of<Arguments>()...};
  static constexpr bool writable[size + 1] = {
      std::is_lvalue_reference_v<Arguments> &&
      (tensor_like<std::remove_cvref_t<Arguments>> ||
       !std::is_const_v<std::remove_reference_t<Arguments>>)...};

  // One input, or those of queries, keys and values. A tensor more is a mask that is none, such as
  // one of bools, which a check diagnoses.
  static constexpr std::size_t tensors = number_of<Arguments...>(Role::tensor),
                               inputs_and_mask = tensors < num_outputs ? 0 : tensors - num_outputs,
                               num_inputs = inputs_and_mask < 3 ? 1 : 3,
                               num_counts = number_of<Arguments...>(Role::count);
  static constexpr bool has_counts = num_counts != 0,
                        has_cache = number_of<Arguments...>(Role::cache) != 0,
                        has_mask = number_of<Arguments...>(Role::mask) != 0 ||
                                   inputs_and_mask > num_inputs,
                        has_generator = number_of<Arguments...>(Role::generator) != 0;

  // Self-attention, or blocks, of all rows, with a mask or without.
  static constexpr bool is_plain = num_inputs == 1 && !has_counts && !has_cache;

  // The places of the arguments.
  static constexpr std::size_t key = num_inputs == 1 ? 0 : 1, value = num_inputs - 1,
                               tokens = num_inputs, source_tokens = num_inputs + num_counts - 1,
                               mask = num_inputs + num_counts, cache = mask,
                               out = mask + (has_mask || has_cache ? 1 : 0),
                               workspace = out + num_outputs, generator = workspace + 1;

  static constexpr bool is_call = [] {
    const std::size_t end = generator + (has_generator ? 1 : 0);
    const std::size_t counts = num_inputs == 1 ? 1 : 2;
    if (end != size || (has_counts && num_counts != counts)) return false;
    for (std::size_t i = 0; i < size; ++i) {
      const Role expected = i < num_inputs   ? Role::tensor
                            : i < mask       ? Role::count
                            : i < out        ? has_cache ? Role::cache : Role::mask
                            : i < workspace  ? Role::tensor
                            : i == workspace ? Role::workspace
                                             : Role::generator;
      const bool is_no_mask = has_mask && i == mask && roles[i] == Role::tensor;
      if ((roles[i] != expected && !is_no_mask) || (i >= out && !writable[i])) return false;
    }
    return !has_cache || writable[cache];
  }();
};

// The type of argument n, as it is written and without a reference.
template <std::size_t n, class First, class... Rest>
struct TypeAt : TypeAt<n - 1, Rest...> {};
template <class First, class... Rest>
struct TypeAt<0, First, Rest...> {
  using type = First;
};
template <std::size_t n, class... Arguments>
using WrittenAt = typename TypeAt<n, Arguments...>::type;
template <std::size_t n, class... Arguments>
using ArgumentAt = std::remove_cvref_t<WrittenAt<n, Arguments...>>;

// Returns argument n.
template <std::size_t n>
TINYATTN_ALWAYS_INLINE constexpr auto& nth(auto& first, auto&... rest) noexcept {
  if constexpr (n == 0)
    return first;
  else
    return nth<n - 1>(rest...);
}

// Returns the mask of a call, and the number of its tokens or source tokens: of all rows, if it
// does not say that.
template <class Said>
TINYATTN_ALWAYS_INLINE constexpr decltype(auto) mask_of(auto&... arguments) noexcept {
  if constexpr (Said::has_mask)
    return (nth<Said::mask>(arguments...));
  else
    return NoMask{};
}
template <class Said, std::size_t input, std::size_t place>
TINYATTN_ALWAYS_INLINE constexpr std::size_t rows_of(auto&... arguments) noexcept {
  if constexpr (Said::has_counts)
    return static_cast<std::size_t>(nth<place>(arguments...));
  else
    return LayoutOf<decltype(nth<input>(arguments...))>::rows;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
