// SPDX-License-Identifier: MIT
//
// The feed-forward part of a block: an up projection, an activation or a gate, a down projection.
#include "catalogue/operations.hpp"
#include "catalogue/workloads.hpp"
#include "forms.hpp"
#include "tinyattn/arithmetic.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <Activation activation, bool gated, bool bias>
using Layer = FeedForward<FeedForwardConfig{.d_model = 5, .d_hidden = 7, .activation = activation, .gated = gated, .bias = bias}>;

using Plain = Layer<Activation::gelu, false, true>;
using Gated = Layer<Activation::silu, true, false>;
static_assert(Plain::parameter_count == 5 * 7 + 7 + 7 * 5 + 5 && Gated::parameter_count == 3 * 5 * 7);
static_assert(sizeof(Plain) == Plain::parameter_count * sizeof(float) && sizeof(Gated) == Gated::parameter_count * sizeof(float));
static_assert(FeedForwardConfig{.d_model = 1, .d_hidden = 1}.activation == Activation::gelu);

template <class Module, std::size_t Rows, std::size_t DModel = 5>
constexpr void check_forms(Check& check) {
  Matrix<float, Rows, DModel> out{};
  typename Module::Workspace workspace{};
  check_layer_forms(check, drawn<Module>(1), drawn<Matrix<float, Rows, DModel>>(2), out, workspace);
}

template <bool gated>
constexpr void with_each_activation(Check& check) {
  for_each_activation([&]<Activation activation>(const char*) {
    using Module = Layer<activation, gated, true>;
    check_forms<Module, 3>(check);
    const auto layer = drawn<Module>(1);
    const auto x = drawn<Matrix<float, 17, 5>>(2);
    const auto up = layer.up(opaque(x));
    Matrix<float, 17, 5> out{};
    typename Module::Workspace workspace{};
    layer.forward(x, out, workspace);
    if constexpr (gated)
      check.same_bits(out, layer.down(multiply(up, activate<activation>(layer.gate(x)))));
    else
      check.same_bits(out, layer.down(activate<activation>(up)));
  });
}

constexpr Test tests[] = {
    everywhere("each activation, in every form of a call, and step by step", with_each_activation<false>),
    everywhere("the same after a gate", with_each_activation<true>),
    at_run_time("weights of int8, in every form of a call",
                [](Check& check) {
                  check_forms<FeedForward<in_int8(gelu_part)>, 17, 12>(check);
                  check_forms<FeedForward<in_int8(gated_part)>, 2, 12>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
