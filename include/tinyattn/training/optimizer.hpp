// SPDX-License-Identifier: MIT
//
// Optimizers: SGD, with momentum or without, and AdamW, as torch.optim has them; and the clipping
// of gradients. The gradient of a module, and each moment of an optimizer, is a module of the same
// type. Only weights of floats are trained. The same bits on every target.
#pragma once

#include "tinyattn/parameters.hpp"
#include "tinyattn/shape.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/optimizer.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Calls f(parameters...) for every parameter of modules of one type, one of each module at a time,
// in the order of for_each_parameter.
template <class First, class... More>
constexpr void visit_together(const auto& f, First& first, More&... more) {
  if constexpr (std::is_array_v<First>) {
    for (std::size_t i = 0; i < std::extent_v<First>; ++i) visit_together(f, first[i], more[i]...);
  } else if constexpr (parameter_like<First>) {
    f(first, more...);
  } else if constexpr (!std::is_empty_v<First>) {
    const auto visit_member = [&]<auto member>() TINYATTN_INLINE_LAMBDA {
      visit_together(f, first.*member, more.*member...);
    };
    const auto visit_members = [&]<const auto & names, auto... members>(
        Members<names, members...>) {
      (visit_member.template operator()<members>(), ...);
    };
    if constexpr (has_parts<First>)
      visit_members(typename First::Parts::Members{});
    else
      visit_members(typename First::Members{});
  }
}

// A static_assert diagnoses wrong types of modules; the caller then computes nothing.
template <class Module>
consteval bool check_trained() noexcept {
  constexpr bool is_module = has_parameters<Module>, has_floats = has_floats_alone<Module>;
  static_assert(is_module,
                "a model of yours names its members: using Parts = Parameters<&Model::first, "
                "&Model::second>;");
  static_assert(!std::is_const_v<Module>, "an optimizer changes its module, which is const here");
  static_assert(!is_module || has_floats,
                "f32 weights alone are trained: int8 weights are made of trained floats, by "
                "quantize");
  return !std::is_const_v<Module> && has_floats;
}
template <class Module, class Gradient>
consteval bool check_step() noexcept {
  constexpr bool is_gradient = std::is_same_v<std::remove_const_t<Module>, Gradient>;
  static_assert(is_gradient, "an optimizer takes a gradient of the type of its module");
  return check_trained<Module>() && is_gradient;
}
template <class Optimizer, class Module, class Gradient, class State>
consteval bool check_step() noexcept {
  using Expected = typename Optimizer::template State<std::remove_const_t<Module>>;
  constexpr bool is_state = std::is_same_v<State, Expected>;
  static_assert(is_state,
                "the state of an optimizer is its State of the type of the module, and not const");
  return check_step<Module, Gradient>() && is_state;
}

}  // namespace detail

// Stochastic gradient descent, which keeps no state.
struct Sgd {
  // The settings of a step.
  struct Config {
    float learning_rate = 1e-3f;  // what multiplies the gradient
    float weight_decay = 0.0f;    // added to the gradient, times the weight
  };
  // Empty: takes no space with [[no_unique_address]].
  template <class Module>
  struct State {};

  // Makes a step, as sgd_step.
  template <class Module>
  static constexpr void step(Module& model, const Module& gradient, State<Module>&,
                             const Config& config) noexcept {
    sgd_step(model, gradient, config);
  }
};

// Stochastic gradient descent with momentum, which keeps one moment of each weight.
struct SgdMomentum {
  // The settings of a step.
  struct Config {
    float learning_rate = 1e-3f;  // what multiplies the velocity
    float momentum = 0.9f;        // the share of the velocity that stays
    float weight_decay = 0.0f;    // added to the gradient, times the weight
  };
  // Zero before the first step.
  template <class Module>
  struct State {
    Module velocity{};  // the sum of gradients, which each step multiplies by momentum
  };

  // Makes a step, as sgd_step with a state.
  template <class Module>
  static constexpr void step(Module& model, const Module& gradient, State<Module>& state,
                             const Config& config) noexcept {
    sgd_step(model, gradient, state, config);
  }
};

// Adam with decoupled weight decay, which keeps two moments of each weight. Loshchilov and Hutter,
// "Decoupled Weight Decay Regularization", 2019.
struct AdamW {
  // The settings of a step. The betas are decimal numbers of up to seven digits: 1 - beta is
  // computed in decimal, so that 1 - .999f is .001f.
  struct Config {
    float learning_rate = 1e-3f;  // what multiplies mean / (root + epsilon)
    float beta1 = 0.9f;           // of the mean of gradients
    float beta2 = 0.999f;         // of the mean of their squares
    float epsilon = 1e-8f;        // added to the root of the mean of squares
    float weight_decay = 0.01f;   // times learning_rate and the weight, taken off the weight
  };
  // Zero before the first step.
  template <class Module>
  struct State {
    Module mean{};             // of gradients
    Module mean_of_squares{};  // of gradients
    float correction1 = 0.0f;  // 1 - beta1^t after t steps
    float correction2 = 0.0f;  // 1 - beta2^t
  };

  // Makes a step, as adamw_step.
  template <class Module>
  static constexpr void step(Module& model, const Module& gradient, State<Module>& state,
                             const Config& config) noexcept {
    adamw_step(model, gradient, state, config);
  }
};

// gradient = 0, as optimizer.zero_grad().
template <class Module>
constexpr void zero_grad(Module& gradient) noexcept {
  if constexpr (detail::check_trained<Module>())
    on_native_port([&](auto port) {
      detail::visit_together([](auto& g) { kernel::zero_row<decltype(port)>(g.data(), g.size()); },
                             gradient);
    });
}

// A step of torch.optim.SGD without momentum: model -= learning_rate * (gradient + weight_decay *
// model).
template <class Module, class Gradient>
constexpr void sgd_step(Module& model, const Gradient& gradient,
                        const Sgd::Config& config) noexcept {
  if constexpr (detail::check_step<Module, Gradient>())
    on_native_port([&](auto port) {
      const kernel::SgdFactors by{config.learning_rate, 0.0f, config.weight_decay};
      detail::visit_together(
          [&](auto& w, auto& g) { kernel::sgd<decltype(port)>(by, w.size(), w.data(), g.data()); },
          model, gradient);
    });
}

// A step of torch.optim.SGD with momentum: velocity = momentum * velocity + gradient + weight_decay
// * model; model -= learning_rate * velocity. The state is an SgdMomentum::State<Module>.
template <class Module, class Gradient, class State>
constexpr void sgd_step(Module& model, const Gradient& gradient, State& state,
                        const SgdMomentum::Config& config) noexcept {
  if constexpr (detail::check_step<SgdMomentum, Module, Gradient, State>())
    on_native_port([&](auto port) {
      const kernel::SgdFactors by{config.learning_rate, config.momentum, config.weight_decay};
      detail::visit_together(
          [&](auto& w, auto& g, auto& v) {
            kernel::sgd_momentum<decltype(port)>(by, w.size(), w.data(), g.data(), v.data());
          },
          model, gradient, state.velocity);
    });
}

TINYATTN_DIAGNOSTIC(class First, sgd_step(const First&, ...),
                    "sgd_step takes (model, gradient, settings), or (model, gradient, state, "
                    "settings) with momentum; the model is no temporary")

// A step of torch.optim.AdamW; the settings may change from step to step. The state is an
// AdamW::State<Module>. Differs from PyTorch by less than 1e-6 after 1,000 steps of 1e-3.
template <class Module, class Gradient, class State>
constexpr void adamw_step(Module& model, const Gradient& gradient, State& state,
                          const AdamW::Config& config) noexcept {
  if constexpr (detail::check_step<AdamW, Module, Gradient, State>())
    on_native_port([&](auto port) {
      const auto by = kernel::adamw_factors<decltype(port)>(
          config.learning_rate, config.beta1, config.beta2, config.epsilon, config.weight_decay,
          state.correction1, state.correction2);
      detail::visit_together(
          [&](auto& w, auto& g, auto& m, auto& v) {
            kernel::adamw<decltype(port)>(by, w.size(), w.data(), g.data(), m.data(), v.data());
          },
          model, gradient, state.mean, state.mean_of_squares);
    });
}

TINYATTN_DIAGNOSTIC(class First, adamw_step(const First&, ...),
                    "adamw_step takes (model, gradient, state, settings); neither the model nor "
                    "the state is a temporary")

// Returns the norm of a gradient, and scales the gradient to max_norm if it is more:
// torch.nn.utils.clip_grad_norm_. The squares of each tensor are summed in sixteen lanes, then the
// tensors in the order of for_each_parameter. A gradient whose norm is NaN stays as it is.
template <class Module>
constexpr float clip_grad_norm(Module& gradient, float max_norm) noexcept {
  if constexpr (detail::check_trained<Module>())
    return on_native_port([&](auto port) {
      using Port = decltype(port);
      float squares = 0.0f;
      detail::visit_together(
          [&](auto& g) {
            squares = Port::one_lane::add(
                squares, kernel::sum_of_squares_of_gradient<Port>(g.data(), g.size()));
          },
          gradient);
      const float norm = port::detail::square_root(squares);
      const float share = Port::one_lane::divide(max_norm, Port::one_lane::add(norm, 1e-6f));
      if (share < 1.0f)
        detail::visit_together(
            [&](auto& g) { kernel::scale_row<Port>(g.data(), share, g.data(), g.size()); },
            gradient);
      return norm;
    });
  return 0.0f;
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
