// SPDX-License-Identifier: MIT
//
// Both passes over the parts of a user's model, one after the other, as torch.nn.Sequential has
// them: each part's output is the input of the next.
#pragma once

#include "tinyattn/parameters.hpp"
#include "tinyattn/training/backward/convolution.hpp"
#include "tinyattn/training/backward/embedding.hpp"
#include "tinyattn/training/backward/linear.hpp"
#include "tinyattn/training/backward/multi_head_attention.hpp"
#include "tinyattn/training/backward/normalization.hpp"
#include "tinyattn/training/backward/transformer.hpp"
#include "tinyattn/training/cross_entropy.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

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

// The way from a model to one of its layers, by addresses of members and indices of arrays.
template <auto... steps>
struct Path {};
template <class... Each>
struct Paths {};
template <class... Left, class... Right>
constexpr Paths<Left..., Right...> operator+(Paths<Left...>, Paths<Right...>) noexcept {
  return {};
}

template <class Module>
constexpr Module& follow(Module& module, Path<>) noexcept {
  return module;
}
template <class Module, auto first, auto... rest>
constexpr auto& follow(Module& module, Path<first, rest...>) noexcept {
  if constexpr (std::is_member_pointer_v<decltype(first)>)
    return follow(module.*first, Path<rest...>{});
  else
    return follow(module[first], Path<rest...>{});
}

// The paths to the layers of a module, in their order: an array is its elements, a model of Parts
// its parts.
template <class Module, auto... steps>
struct LayersOf {
  using type = Paths<Path<steps...>>;
};
template <class Module, class Members, auto... steps>
struct LayersOfMembers;
template <class Module, auto... members, auto... steps>
struct LayersOfMembers<Module, Parameters<members...>, steps...> {
  using type =
      decltype((Paths<>{} + ... +
                typename LayersOf<std::remove_cvref_t<decltype(std::declval<Module&>().*members)>,
                                  steps..., members>::type{}));
};
template <has_parts Module, auto... steps>
struct LayersOf<Module, steps...> : LayersOfMembers<Module, typename Module::Parts, steps...> {};
template <class Element, std::size_t Size, auto... steps>
struct LayersOf<Element[Size], steps...> {
  template <std::size_t... Index>
  static constexpr auto of_elements(std::index_sequence<Index...>) noexcept {
    return (Paths<>{} + ... + typename LayersOf<Element, steps..., Index>::type{});
  }
  using type = decltype(of_elements(std::make_index_sequence<Size>{}));
};

// The members that follow one another: those of Sequence, if the model names it, else its Parts.
template <class Model>
struct SequenceOf {
  using type = typename Model::Parts;
};
template <class Model>
requires requires { typename Model::Sequence; }
struct SequenceOf<Model> {
  using type = typename Model::Sequence;
};

// Whether a path begins with a member that is trained, one of the Parts.
template <auto member, auto... rest, auto... parts>
consteval bool begins_with_one_of(Path<member, rest...>, Parameters<parts...>) noexcept {
  return (std::is_same_v<Path<member>, Path<parts>> || ...);
}

// Whether a module draws from this generator.
template <class Module, class Generator>
inline constexpr bool may_draw = false;
template <made_of_blocks Module>
inline constexpr bool may_draw<Module, Philox4x32> = true;
template <AttentionConfig config>
inline constexpr bool may_draw<MultiHeadAttention<config>, Philox4x32> = true;

// Memory for the scratch of one call. Calls use it one after the other.
template <std::size_t size, std::size_t alignment>
struct SharedScratch {
  alignas(alignment) std::byte bytes[size];
};
template <std::size_t alignment>
struct SharedScratch<0, alignment> {};

// Scratch that new (bytes) places there. Units with different flags would share the function of
// <new>.
template <class Scratch>
struct Placed {
  Scratch scratch;

  static constexpr void* operator new(std::size_t, std::byte* bytes) noexcept { return bytes; }
};

// Calls use(scratch) with scratch of a type, whose lifetime begins. In a constant expression a
// variable takes its place: <memory>, which has std::construct_at, does not compile if the program
// defines min or max as a macro.
template <class Scratch>
constexpr void with_scratch(auto& memory, const auto& use) noexcept {
  if (__builtin_is_constant_evaluated()) {
    Scratch its{};
    use(its);
  } else {
    use((new (memory.bytes) Placed<Scratch>)->scratch);
  }
}

// What the passes of layers that follow one another keep: the output of each, which is overwritten
// by its gradient.
template <class Model, class Input, class Layers>
struct Passes {
  using Result = Input;
  static constexpr std::size_t scratch_bytes = 0, scratch_alignment = 1;
};
template <class Model, class Path>
using ModuleAt = std::remove_cvref_t<decltype(follow(std::declval<Model&>(), Path{}))>;
template <class Model, class Input, class First, class... Rest>
requires parameter_like<ModuleAt<Model, First>>
struct Passes<Model, Input, Paths<First, Rest...>> : Passes<Model, Input, Paths<Rest...>> {
  static_assert(no_such_call<Model>,
                "layers, blocks and models follow one another: a tensor has no forward. Call "
                "forward and backward of each part");
};
template <class Model, class Input, class First, class... Rest>
struct Passes<Model, Input, Paths<First, Rest...>> {
  using Module = ModuleAt<Model, First>;
  using Output = typename OutputOf<Module, Input>::type;
  using Next = Passes<Model, Output, Paths<Rest...>>;
  using Result = typename Next::Result;
  static constexpr bool has_scratch = requires { typename Module::Workspace; };
  static constexpr bool is_trained = begins_with_one_of(First{}, typename Model::Parts{});
  static constexpr std::size_t scratch_bytes = [] {
    if constexpr (has_scratch)
      return kernel::maximum(
          Next::scratch_bytes,
          kernel::maximum(sizeof(typename Module::Workspace), sizeof(BackwardWorkspace<Module>)));
    else
      return Next::scratch_bytes;
  }();
  static constexpr std::size_t scratch_alignment = [] {
    if constexpr (has_scratch)
      return kernel::maximum(
          Next::scratch_alignment,
          kernel::maximum(alignof(typename Module::Workspace), alignof(BackwardWorkspace<Module>)));
    else
      return Next::scratch_alignment;
  }();

  Output output{};
  [[no_unique_address]] Next next;

  // Runs both passes. loss_of(logits) turns the output of the last layer into its gradient, and
  // returns the loss. Writes the gradient of x, which may be x, unless it is no_gradient.
  constexpr float run(const Model& model, const Input& x, Model& gradient, auto& input_gradient,
                      auto& scratch, auto& generator, const auto& loss_of) noexcept {
    const Module& module = follow(model, First{});
    const auto before = generator;
    run_forward(module, x, scratch, generator);
    float loss;
    if constexpr (sizeof...(Rest) == 0)
      loss = loss_of(output);
    else if constexpr (is_trained || !is_no_gradient<decltype(input_gradient)>)
      loss = next.run(model, output, gradient, output, scratch, generator, loss_of);
    else
      loss = next.run(model, output, gradient, no_gradient, scratch, generator, loss_of);
    if constexpr (is_trained)
      run_backward(module, x, input_gradient, follow(gradient, First{}), scratch, before);
    else if constexpr (!is_no_gradient<decltype(input_gradient)>)
      run_backward(module, x, input_gradient, no_gradient, scratch, before);
    return loss;
  }

 private:
  constexpr void run_forward(const Module& module, const Input& x, auto& scratch,
                             auto& generator) noexcept {
    constexpr bool draws = may_draw<Module, std::remove_cvref_t<decltype(generator)>>;
    if constexpr (draws)
      with_scratch<typename Module::Workspace>(
          scratch, [&](auto& its) { module.forward(x, output, its, generator); });
    else if constexpr (has_scratch)
      with_scratch<typename Module::Workspace>(scratch,
                                               [&](auto& its) { module.forward(x, output, its); });
    else
      static_cast<void>(module.forward(x, output));
  }

  constexpr void run_backward(const Module& module, const Input& x, auto& input_gradient,
                              auto& of_module, auto& scratch, auto generator) noexcept {
    constexpr bool draws = may_draw<Module, std::remove_cvref_t<decltype(generator)>>;
    if constexpr (draws)
      with_scratch<BackwardWorkspace<Module>>(scratch, [&](auto& its) {
        backward(module, x, output, input_gradient, of_module, its, generator);
      });
    else if constexpr (has_scratch)
      with_scratch<BackwardWorkspace<Module>>(
          scratch, [&](auto& its) { backward(module, x, output, input_gradient, of_module, its); });
    else
      static_cast<void>(backward(module, x, output, input_gradient, of_module));
  }
};

template <class Model>
using PassesOfParts =
    Passes<Model, typename Model::Input,
           typename LayersOfMembers<Model, typename SequenceOf<Model>::type>::type>;

// All that the passes of a model need: of one whose parts follow one another, and that names its
// Input, such as `using Input = Matrix<float, 8, 16>;`.
template <has_parts Model>
requires requires { typename Model::Input; }
struct PassesOf<Model> : PassesOfParts<Model> {
  using Passes = PassesOfParts<Model>;
  [[no_unique_address]] SharedScratch<Passes::scratch_bytes, Passes::scratch_alignment> scratch{};
};

// Whether a first layer that is an embedding knows all tokens; and whether there is a target for
// each row of logits, ignore_index or below the vocabulary.
template <class Model>
constexpr bool knows_tokens(const auto& input) noexcept {
  using First = typename PassesOfParts<Model>::Module;
  if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(input)>::value_type, Token>)
    return kernel::are_known(input.data(), input.size(), LayoutOf<decltype(First::weight)>::rows);
  else
    return true;
}
template <class Model>
constexpr bool knows_targets(const auto& targets) noexcept {
  using Logits = LayoutOf<typename PassesOfParts<Model>::Result>;
  constexpr std::size_t rows = Logits::batch * Logits::rows;
  return targets.size() == rows &&
         kernel::count_targets(targets.data(), rows, Logits::cols) != kernel::wrong_targets;
}

// Runs both passes of a model of Parts with the cross-entropy of targets. Returns the loss, or NaN
// if a token or target is unknown; nothing is then changed.
template <class Model, class Input, class Targets>
constexpr float train_parts(const Model& model, const Input& input, const Targets& targets,
                            Model& gradient, float factor, auto& workspace,
                            auto& generator) noexcept {
  constexpr bool has_input = requires { typename Model::Input; };
  static_assert(has_input,
                "a model of Parts names its input, such as using Input = Matrix<float, 8, 16>, if "
                "its parts follow one another; else call backward part by part");
  if constexpr (has_input) {
    constexpr bool fits = std::is_same_v<Input, typename Model::Input>;
    static_assert(fits, "the input must be the Input of the model");
    if constexpr (fits) {
      using Logits = typename PassesOfParts<Model>::Result;
      if constexpr (check_cross_entropy<Logits, Targets, Logits>()) {
        const auto counted = [&] {
          if constexpr (std::integral<Targets>)
            return OneTarget(targets);
          else
            return TokenView(targets);
        }();
        if (!knows_tokens<Model>(input) || !knows_targets<Model>(counted))
          return __builtin_nanf("");
        return workspace.run(
            model, input, gradient, no_gradient, workspace.scratch, generator,
            [&](auto& output) { return cross_entropy(output, targets, output, factor); });
      }
    }
  }
  return 0.0f;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
