// SPDX-License-Identifier: MIT
//
// Steps of optimizers over one weight, with a gradient of ordinary numbers.
#pragma once

#include "operations.hpp"
#include "tinyattn/training.hpp"

namespace tinyattn::bench {

template <class Optimizer, std::size_t In, std::size_t Out>
struct Step {
  using Module = tinyattn::Linear<In, Out, false>;

  alignas(64) Module model;
  alignas(64) Module gradient;
  alignas(64) typename Optimizer::template State<Module> state;

  void prepare() { fill(model.weight, gradient.weight); }
  void compute() { Optimizer::step(model, gradient, state, {.learning_rate = 1e-3f}); }
};

template <std::size_t In, std::size_t Out>
using Sgd = Step<tinyattn::Sgd, In, Out>;
template <std::size_t In, std::size_t Out>
using Momentum = Step<SgdMomentum, In, Out>;
template <std::size_t In, std::size_t Out>
using Adamw = Step<AdamW, In, Out>;

}  // namespace tinyattn::bench
