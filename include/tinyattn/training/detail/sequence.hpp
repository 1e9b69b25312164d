// SPDX-License-Identifier: MIT
//
// Both passes over the parts of a user's model, one after the other, as torch.nn.Sequential has
// them: each part's output is the input of the next.
#pragma once

#include "tinyattn/parameters.hpp"
#include "tinyattn/training/backward/layers.hpp"
#include "tinyattn/training/backward/multi_head_attention.hpp"
#include "tinyattn/training/backward/transformer.hpp"
#include "tinyattn/training/cross_entropy.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// Returns the type of what a layer makes of an input.
template <class Layer, class TensorX>
consteval auto output_of() noexcept {
  if constexpr (std::is_same_v<typename TensorX::value_type, Token>)
    return std::type_identity<
        Matrix<float, TensorX::size(), LayoutOf<decltype(Layer::weight)>::cols>>{};
  else if constexpr (std::invocable<const Layer&, const TensorX&>)
    return std::type_identity<std::invoke_result_t<const Layer&, const TensorX&>>{};
  else
    return std::type_identity<Like<TensorX>>{};
}

// Layers that follow one another, or their gradients.
struct NoLayers {};
template <bool is_trained, class Layer, class Next>
struct Layers {
  Layer& layer;
  Next next;
};

// The members that follow one another: those of Sequence, if the model names it, else its Parts.
template <class Model>
consteval auto sequence_of() noexcept {
  if constexpr (requires { typename Model::Sequence; })
    return typename Model::Sequence{};
  else
    return typename Model::Parts{};
}
// Whether all of them are layers in the end: a tensor has no forward.
template <class Module>
consteval bool has_layers_alone() noexcept {
  const auto are_layers = []<auto... members>(Parameters<members...>) {
    return (
        has_layers_alone<std::remove_reference_t<decltype(std::declval<Module&>().*members)>>() &&
        ...);
  };
  if constexpr (std::is_array_v<Module>)
    return has_layers_alone<std::remove_extent_t<Module>>();
  else if constexpr (has_parts<Module>)
    return are_layers(sequence_of<Module>());
  else
    return !parameter_like<Module>;
}
template <auto member, auto... parts>
consteval bool is_one_of(Parameters<parts...>) noexcept {
  return (std::is_same_v<Parameters<member>, Parameters<parts>> || ...);
}

// Returns the list of a module's layers, followed by the layers `next`. An array consists of its
// elements, a model with Parts of its members, of which those that are no Parts are frozen.
template <bool is_trained, class Module, class Next>
constexpr auto layers_before(Module& module, const Next& next) noexcept;
template <bool is_trained, std::size_t count>
constexpr auto elements_before(auto& modules, const auto& next) noexcept {
  if constexpr (count == 0)
    return next;
  else
    return elements_before<is_trained, count - 1>(
        modules, layers_before<is_trained>(modules[count - 1], next));
}
template <bool is_trained>
constexpr auto members_before(Parameters<>, auto&, const auto& next) noexcept {
  return next;
}
template <bool is_trained, auto first, auto... rest, class Model>
constexpr auto members_before(Parameters<first, rest...>, Model& model, const auto& next) noexcept {
  using Parts = typename Model::Parts;
  return layers_before < is_trained &&
         is_one_of<first>(Parts{}) >
             (model.*first, members_before<is_trained>(Parameters<rest...>{}, model, next));
}
template <bool is_trained, class Module, class Next>
constexpr auto layers_before(Module& module, const Next& next) noexcept {
  if constexpr (std::is_array_v<Module>) {
    return elements_before<is_trained, std::extent_v<Module>>(module, next);
  } else if constexpr (has_parts<Module>) {
    return members_before<is_trained>(sequence_of<Module>(), module, next);
  } else {
    return Layers<is_trained, Module, Next>{module, next};
  }
}
template <class Model>
constexpr auto layers_of(Model& model) noexcept {
  return layers_before<true>(model, NoLayers{});
}

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
    Scratch alone{};
    use(alone);
  } else {
    use((new (memory.bytes) Placed<Scratch>)->scratch);
  }
}

// The memory that both passes of a layer take.
struct Room {
  std::size_t bytes = 0, alignment = 1;
};
template <class Layer>
concept has_workspace = requires {
  typename Layer::Workspace;
};
template <class Layer>
consteval Room room_of_layer() noexcept {
  if constexpr (has_workspace<Layer>)
    return {kernel::maximum(sizeof(typename Layer::Workspace), sizeof(BackwardWorkspace<Layer>)),
            kernel::maximum(alignof(typename Layer::Workspace), alignof(BackwardWorkspace<Layer>))};
  else
    return {};
}

// Calls use(workspace, generator) for a pass of a layer, without those that the layer does not
// take.
template <class Layer, bool is_backward>
constexpr void with_scratch_of(auto& scratch, auto& generator, const auto& use) noexcept {
  if constexpr (has_workspace<Layer>) {
    using Workspace =
        std::conditional_t<is_backward, BackwardWorkspace<Layer>, typename Layer::Workspace>;
    constexpr bool draws = !is_no_generator<decltype(generator)> &&
                           (made_of_blocks<Layer> || trained_attention<Layer>);
    with_scratch<Workspace>(scratch, [&](auto& workspace) {
      if constexpr (draws)
        use(workspace, generator);
      else
        use(workspace);
    });
  } else {
    use();
  }
}

// What the passes of layers that follow one another keep: the output of each, which is overwritten
// by its gradient.
template <class Input, class Each>
struct Passes;
template <class Logits>
struct Passes<Logits, NoLayers> {
  using Result = Logits;
  static constexpr Room room{};

  constexpr float run(NoLayers, NoLayers, Logits& logits, auto&, auto&, auto&,
                      const auto& loss_of) noexcept {
    return loss_of(logits);
  }
};
template <class Input, bool is_trained, class OfLayer, class Rest>
struct Passes<Input, Layers<is_trained, OfLayer, Rest>> {
  using Layer = OfLayer;
  using Output = typename decltype(output_of<Layer, Input>())::type;
  using Next = Passes<Output, Rest>;
  using Result = typename Next::Result;
  static constexpr Room of_layer = room_of_layer<Layer>(),
                        room = {kernel::maximum(of_layer.bytes, Next::room.bytes),
                                kernel::maximum(of_layer.alignment, Next::room.alignment)};

  Output output{};
  [[no_unique_address]] Next next;

  // Runs both passes. loss_of(logits) turns the output of the last layer into its gradient, and
  // returns the loss. Writes the gradient of x, which may be x, unless it is no_gradient.
  TINYATTN_ALWAYS_INLINE constexpr float run(const auto& layers, const auto& gradients,
                                             const Input& x, auto& input_gradient, auto& scratch,
                                             auto& generator, const auto& loss_of) noexcept {
    auto before = generator;
    with_scratch_of<Layer, false>(scratch, generator, [&](auto&... more) {
      static_cast<void>(layers.layer.forward(x, output, more...));
    });
    const auto run_next = [&](auto& output_gradient) TINYATTN_INLINE_LAMBDA {
      return next.run(layers.next, gradients.next, output, output_gradient, scratch, generator,
                      loss_of);
    };
    const auto run_backward = [&](auto& gradient) TINYATTN_INLINE_LAMBDA {
      const float loss = run_next(output);
      with_scratch_of<Layer, true>(scratch, before, [&](auto&... more) {
        static_cast<void>(backward(layers.layer, x, output, input_gradient, gradient, more...));
      });
      return loss;
    };
    if constexpr (is_trained)
      return run_backward(gradients.layer);
    else if constexpr (!is_no_gradient<decltype(input_gradient)>)
      return run_backward(no_gradient);
    else
      return run_next(no_gradient);
  }
};

template <class Model>
using PassesOfParts = Passes<typename Model::Input, decltype(layers_of(std::declval<Model&>()))>;

// Whether the layers of a model follow one another, from its Input on, such as
// `using Input = Matrix<float, 8, 16>;`.
template <class Model>
concept is_sequence = has_parts<Model> && has_layers_alone<Model>() && requires {
  typename Model::Input;
};

// All that the passes of such a model need.
template <is_sequence Model>
struct PassesOf<Model> : PassesOfParts<Model> {
  using Passes = PassesOfParts<Model>;
  [[no_unique_address]] SharedScratch<Passes::room.bytes, Passes::room.alignment> scratch{};
};

// Whether a first layer that is an embedding knows all tokens.
template <class Model>
constexpr bool knows_tokens(const auto& input) noexcept {
  using First = typename PassesOfParts<Model>::Layer;
  if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(input)>::value_type, Token>)
    return kernel::are_known(input.data(), input.size(), LayoutOf<decltype(First::weight)>::rows);
  else
    return true;
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
  constexpr bool has_layers = has_layers_alone<Model>();
  static_assert(has_layers,
                "layers, blocks and models follow one another: a tensor has no forward. Call "
                "forward and backward of each part");
  if constexpr (is_sequence<Model>) {
    constexpr bool fits = std::is_same_v<Input, typename Model::Input>;
    static_assert(fits, "the input must be the Input of the model");
    if constexpr (fits) {
      using Logits = typename PassesOfParts<Model>::Result;
      if constexpr (check_cross_entropy<Logits, Targets, Logits>()) {
        if (!knows_tokens<Model>(input) ||
            count_targets<Logits>(row_of_targets(targets)) == kernel::wrong_targets)
          return __builtin_nanf("");
        return workspace.run(
            layers_of(model), layers_of(gradient), input, no_gradient, workspace.scratch, generator,
            [&](auto& output) { return cross_entropy(output, targets, output, factor); });
      }
    }
  }
  return 0.0f;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
