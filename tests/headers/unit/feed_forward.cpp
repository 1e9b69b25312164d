// SPDX-License-Identifier: MIT
//
// The feed-forward part of a block: an up projection, an activation or a gate, a down projection; and workspaces that share memory with
// its.
#include "catalogue/operations.hpp"
#include "catalogue/workloads.hpp"
#include "forms.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"

namespace tinyattn::test { namespace {

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

// Parts of a workspace, used one after the other.
struct Shared {
  Matrix<float, 3, 5> kept;
  union {
    Matrix<float, 3, 5> sum;
    Plain::Workspace layer;
  };
};
// Trivial constructors: beginning a member's lifetime, or the whole's, costs no code.
static_assert(std::is_trivially_default_constructible_v<Plain::Workspace> && std::is_trivially_default_constructible_v<Shared>);

constexpr void check_lifetimes(Check& check) {
  const auto layer = drawn<Plain>(1);
  const auto x = drawn<Matrix<float, 3, 5>>(2);
  Matrix<float, 3, 5> expected{};
  Plain::Workspace alone{};
  layer.forward(x, expected, alone);
  Shared shared;
  for (int call = 0; call < 2; ++call) {
    layer.forward(opaque(x), shared.kept, begin_lifetime(shared.layer));
    Matrix<float, 3, 5>& sum = begin_lifetime(shared.sum);
    add(shared.kept, x, sum);
    check.same_bits(sum, add(expected, x));
    check.that(&sum == &shared.sum);
  }
}

constexpr Test tests[] = {
    everywhere("each activation, in every form of a call, and step by step", with_each_activation<false>),
    everywhere("the same after a gate", with_each_activation<true>),
    everywhere("parts of a workspace that share memory, one after the other", check_lifetimes),
    at_run_time("weights of int8, in every form of a call",
                each_of<check_forms<FeedForward<in_int8(gelu_part)>, 17, 12>, check_forms<FeedForward<in_int8(gated_part)>, 2, 12>>),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
