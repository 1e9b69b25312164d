// SPDX-License-Identifier: MIT
//
// Optimizers: a step of a model is a step of each weight; frozen parts; clipping of gradients. ../golden compares 1,000 steps with PyTorch,
// and ../answers compares with plain loops, of tiny numbers too.
#include "tinyattn/training/optimizer.hpp"

#include <string_view>

#include "support/check.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/random.hpp"

namespace tinyattn::test { namespace {

// A user's model with rows of 21, 7, 3 and 1 floats; a frozen layer is not among its Parts.
struct Tail {
  Linear<3, 1> ends[2]{};
  using Parts = Parameters<&Tail::ends>;
};
struct Model {
  LayerNorm<7> norm{};
  Linear<3, 7> first{};
  Linear<1, 1> frozen{};
  Tail tail{};
  Vector<float, 1> gain{};
  using Parts = Parameters<&Model::first, &Model::norm, &Model::tail, &Model::gain>;
};

// No optimizer has more than its moments, and corrections.
static_assert(sizeof(SgdMomentum::State<Model>) == sizeof(Model) && std::is_empty_v<Sgd::State<Model>>);
static_assert(sizeof(AdamW::State<Model>) == 2 * sizeof(Model) + 8);
struct WithoutState {
  Model model;
  [[no_unique_address]] Sgd::State<Model> state;
};
static_assert(sizeof(WithoutState) == sizeof(Model));

// Fills a module, its frozen part too.
constexpr void draw(Model& model, std::uint32_t seed, float size) {
  Philox4x32 generator(seed);
  for_each_parameter(model, [&](const char*, auto& tensor) {
    for (float& element : tensor.elements) element = uniform(generator, -size, size);
  });
  model.frozen.weight(0, 0) = size;
}

// Checks that all parts of two modules have the same bits.
constexpr void same_parts(Check& check, const Model& actual, const Model& expected) {
  detail::visit_together([&](const auto& a, const auto& b) { check.same_bits(a, b); }, actual, expected);
  check.same_bits(actual.frozen.weight, expected.frozen.weight);
}

using One = Linear<1, 1, false>;

// Checks that a model's steps equal steps of its weights one by one, each with its own gradient and moments; frozen parts stay.
template <class Optimizer>
constexpr void check_steps(Check& check) {
  const typename Optimizer::Config config{.learning_rate = 0.01f, .weight_decay = 0.1f};
  Model model{}, gradients[2]{};
  draw(model, 7, 1.0f);
  for (std::uint32_t i = 0; i < 2; ++i) draw(gradients[i], 8 + i, 0.5f);
  Model expected = model;
  detail::visit_together(
      [&](auto& weights, const auto& first, const auto& second) {
        for (std::size_t j = 0; j < weights.size(); ++j) {
          One one{{{weights.elements[j]}}};
          typename Optimizer::template State<One> state{};
          Optimizer::step(one, {{{first.elements[j]}}}, state, config);
          Optimizer::step(one, {{{second.elements[j]}}}, state, config);
          weights.elements[j] = one.weight(0, 0);
        }
      },
      expected, gradients[0], gradients[1]);
  typename Optimizer::template State<Model> state{};
  for (const Model& gradient : gradients) Optimizer::step(model, opaque(gradient), state, config);
  same_parts(check, model, expected);
}

constexpr Test tests[] = {
    everywhere("the parts of a model are its parameters, in their order and with their place",
               [](Check& check) {
                 constexpr std::string_view names[] = {"0.weight",   "0.bias",       "1.weight",   "1.bias", "2.0.0.weight",
                                                       "2.0.0.bias", "2.0.1.weight", "2.0.1.bias", "3"};
                 Model model{};
                 std::size_t count = 0;
                 for_each_parameter(model, [&](std::string_view name, auto&) { check.equal(name, names[count++]); });
                 check.that(count == 9);
               }),
    everywhere("steps of a model are steps of its weights", each_of<check_steps<Sgd>, check_steps<SgdMomentum>, check_steps<AdamW>>),
    everywhere("a gradient is clipped to a norm, or stays, and the norm before is returned; then it is zeroed",
               [](Check& check) {
                 Model gradient{}, clipped{};
                 gradient.first.weight(2, 6) = 3.0f;
                 gradient.gain(0) = -4.0f;
                 gradient.norm.bias(3) = 0x1p-51f;
                 gradient.frozen.weight(0, 0) = 100.0f;
                 clipped = gradient;
                 check.that(clip_grad_norm(clipped, 5.5f) == 5.0f);
                 same_parts(check, clipped, gradient);
                 check.that(clip_grad_norm(clipped, 1.0f) == 5.0f && clipped.frozen.weight(0, 0) == 100.0f);
                 check.near(clipped.first.weight(2, 6), 0.6f, 1e-6f);
                 check.near(clipped.gain, vector<float>({-0.8f}), 1e-6f);
                 zero_grad(clipped);
                 gradient = {};
                 gradient.frozen.weight(0, 0) = 100.0f;
                 same_parts(check, clipped, gradient);
                 for (float& element : clipped.first.weight.elements) element = 0x1p-51f;
                 check.that(clip_grad_norm(clipped, 1.0f) == 0.0f);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
