// SPDX-License-Identifier: MIT
//
// What a call of a backward pass says: the inputs of the forward pass with their numbers of tokens
// and their mask, the gradient of the output, those of the inputs, that of the module, a workspace,
// and the generator of a dropout.
#pragma once

#include "tinyattn/detail/call.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/training/detail/replay.hpp"
#include "tinyattn/training/gradient.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Where each argument of a call is. Behind the generator there are none, or the gradient and the
// workspace that a Training adds. The number of gradients says how many inputs there are, one or
// those of queries, keys and values: the module's gradient may be of any type, and each may be
// no_gradient.
template <std::size_t after_generator, class... Arguments>
struct BackwardCall {
  using Said = Call<1, Arguments...>;
  static constexpr bool has_generator = Said::has_generator;
  static constexpr std::size_t num_counts = Said::num_counts;

  // The places of the arguments.
  static constexpr std::size_t generator = Said::size - after_generator - 1,
                               workspace = has_generator && after_generator == 0 ? generator - 1
                                                                                 : Said::size - 1,
                               gradient = workspace - 1,
                               end = has_generator ? kernel::minimum(gradient, generator)
                                                   : gradient,  // one past the gradients of inputs
      mask_or_none = (end - num_counts) % 2 == 0 ? 1 : 0,
                               num_inputs = (end - num_counts - mask_or_none - 1) / 2,
                               key = num_inputs == 1 ? 0 : 1, value = num_inputs - 1,
                               tokens = num_inputs, source_tokens = num_inputs + num_counts - 1,
                               mask = num_inputs + num_counts, d_out = mask + mask_or_none,
                               d_query = d_out + 1, d_key = d_query + key,
                               d_value = d_query + value;
  static constexpr bool has_mask = mask_or_none != 0, has_counts = num_counts != 0;

  static constexpr bool are_lvalues[Said::size + 1] = {std::is_lvalue_reference_v<Arguments>...};
  static constexpr bool is_call = [] {
    if (Said::size < 5 || end < 3 || end > Said::size) return false;
    if (num_inputs != 1 && num_inputs != 3) return false;
    if (has_counts && num_counts != (num_inputs == 1 ? 1 : 2)) return false;
    if (has_generator && Said::roles[generator] != Role::generator) return false;
    for (std::size_t i = 0; i < mask; ++i)
      if (Said::roles[i] != (i < num_inputs ? Role::tensor : Role::count)) return false;
    for (std::size_t i = d_query; i <= workspace; ++i)
      if (!are_lvalues[i]) return false;
    return Said::roles[d_out] == Role::tensor;
  }();
};

// The mask and the generator of a call, or what replaces them.
template <class Said, class... Arguments>
using MaskOf = std::conditional_t<Said::has_mask, ArgumentAt<Said::mask, Arguments...>, NoMask>;
template <class Said>
TINYATTN_ALWAYS_INLINE constexpr auto& generator_of(auto&... arguments) noexcept {
  if constexpr (Said::has_generator)
    return nth<Said::generator>(arguments...);
  else
    return no_generator;
}

// What a call returns: whether there was room, if it counts tokens.
template <class Said>
using ResultOf = std::conditional_t<Said::has_counts, Status, void>;

// Whether the arguments after a module are such a call, with the module's workspace.
template <class Module, class Said, class... Arguments>
consteval bool is_backward() noexcept {
  if constexpr (!Said::is_call)
    return false;
  else
    return std::is_base_of_v<BackwardWorkspace<BaseOf<Module>>,
                             ArgumentAt<Said::workspace, Arguments...>>;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
