// SPDX-License-Identifier: MIT
//
// Both passes over the parts of a user's model, one after the other, as torch.nn.Sequential has
// them: each part's output is the input of the next.
#pragma once

#include "tinyattn/backward/convolution.hpp"
#include "tinyattn/backward/embedding.hpp"
#include "tinyattn/backward/linear.hpp"
#include "tinyattn/backward/normalization.hpp"
#include "tinyattn/backward/transformer.hpp"
#include "tinyattn/parameters.hpp"

#include <new>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The type of what a module makes of an input.
template <class Module, class TensorX>
struct OutputOf {
  using type = Like<TensorX>;
};
template <class Module, class TensorX>
requires std::invocable<const Module&, const TensorX&>
struct OutputOf<Module, TensorX> {
  using type = std::invoke_result_t<const Module&, const TensorX&>;
};
template <std::size_t Count, std::size_t Dim, std::size_t Tokens>
struct OutputOf<Embedding<Count, Dim>, Vector<Token, Tokens>> {
  using type = Matrix<float, Tokens, Dim>;
};

// The type of the member of a model that a part names.
template <class Model, auto part>
using MemberOf = std::remove_cvref_t<decltype(std::declval<Model&>().*part)>;

// The scratch of a module, forward and then backward; empty if it needs none.
template <class Module>
struct ScratchOf {};
template <class Module>
requires requires { typename Module::Workspace; }
struct ScratchOf<Module> {
  union {
    typename Module::Workspace forward;
    BackwardWorkspace<Module> backward;
  };
  constexpr ScratchOf() noexcept : forward{} {}
};

// Calls use(member) with a member of the union above, whose lifetime begins. In a constant
// expression a variable takes its place: <memory>, which has std::construct_at, does not compile if
// the program defines min or max as a macro.
template <class Member>
constexpr void with_scratch(Member& member, const auto& use) noexcept {
  if (__builtin_is_constant_evaluated()) {
    Member its{};
    use(its);
  } else {
    use(*::new (static_cast<void*>(__builtin_addressof(member))) Member);
  }
}

// What the passes of parts that follow one another need: the output of each, which is overwritten
// by its gradient, and their scratch.
template <class Model, class Input, auto... parts>
struct Passes {};
template <class Model, class Input, auto first, auto... rest>
struct Passes<Model, Input, first, rest...> {
  using Module = MemberOf<Model, first>;
  using Output = typename OutputOf<Module, Input>::type;

  Output output{};
  [[no_unique_address]] ScratchOf<Module> scratch;
  [[no_unique_address]] Passes<Model, Output, rest...> next;

  // Runs both passes. loss_of(logits) turns the output of the last part into its gradient, and
  // returns the loss. Writes the gradient of x, which may be x.
  constexpr float run(const Model& model, const Input& x, Model& gradient, auto& input_gradient,
                      const auto& loss_of) noexcept {
    const Module& module = model.*first;
    Module& of_module = gradient.*first;
    float loss = 0.0f;
    if constexpr (requires { scratch.forward; })
      with_scratch(scratch.forward, [&](auto& its) { module.forward(x, output, its); });
    else
      static_cast<void>(module.forward(x, output));
    if constexpr (sizeof...(rest) == 0)
      loss = loss_of(output);
    else
      loss = next.run(model, output, gradient, output, loss_of);
    if constexpr (requires { scratch.backward; })
      with_scratch(scratch.backward,
                   [&](auto& its) { backward(module, x, output, input_gradient, of_module, its); });
    else
      static_cast<void>(backward(module, x, output, input_gradient, of_module));
    return loss;
  }
};

// All that the passes of a model need: of one whose Parts follow one another, and that names its
// Input, such as `using Input = Matrix<float, 8, 16>;`.
template <class Model, class Parts>
struct SequenceOf;
template <class Model, auto... parts>
struct SequenceOf<Model, Parameters<parts...>> : Passes<Model, typename Model::Input, parts...> {};

// Whether an embedding that is the first part knows all tokens.
template <class Model, auto first, auto... rest>
constexpr bool knows_tokens(const Parameters<first, rest...>*, const auto& input) noexcept {
  if constexpr (requires { input.data() + Token{}; } &&
                std::is_same_v<typename std::remove_cvref_t<decltype(input)>::value_type, Token>)
    return kernel::are_known(input.data(), input.size(),
                             LayoutOf<decltype(MemberOf<Model, first>::weight)>::rows);
  else
    return true;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
