// SPDX-License-Identifier: MIT
//
// The feed-forward part: each activation, with a gate and without, over more rows than there is scratch for.
#include "plain_model.hpp"

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

// Every form of a call.
template <class Module, std::size_t Rows>
constexpr void check_rows(Check& check) {
  const auto layer = made<Module>(1);
  const auto x = numbers<Matrix<float, Rows, 5>>(2);
  const auto expected = plain_forward(layer, x);
  Guarded<typename Module::Workspace> workspace;
  if (!std::is_constant_evaluated()) poison(workspace.tensor.scratch);
  check_output(check, expected, [&](auto& out) { layer.forward(hidden(x), out, workspace.tensor); });
  check_in_place(check, expected, x, [&](auto& both) { layer.forward(both, both, workspace.tensor); });
  check.that(workspace.guards_hold());
}

// What every activation makes of three rows.
template <bool gated>
constexpr void check_activations(Check& check) {
  check_rows<Layer<Activation::relu, gated, true>, 3>(check);
  check_rows<Layer<Activation::gelu, gated, true>, 3>(check);
  check_rows<Layer<Activation::gelu_tanh, gated, true>, 3>(check);
  check_rows<Layer<Activation::silu, gated, true>, 3>(check);
}

constexpr Test tests[] = {
    everywhere("each activation: the bits of plain loops; the output may be the input", check_activations<false>),
    everywhere("the same behind a gate", check_activations<true>),
    at_run_time("rows around those that are computed at a time, with a gate and without",
                [](Check& check) {
                  check_rows<Plain, 1>(check);
                  check_rows<Plain, 15>(check);
                  check_rows<Plain, 17>(check);
                  check_rows<Gated, 2>(check);
                  check_rows<Gated, 16>(check);
                  check_rows<Gated, 33>(check);
                }),
    everywhere("by hand: two features, three hidden ones",
               [](Check& check) {
                 FeedForward<FeedForwardConfig{.d_model = 2, .d_hidden = 3, .activation = Activation::relu}> layer{};
                 layer.up = {matrix<float>({{1.0f, -1.0f, 2.0f}, {0.5f, 1.0f, -1.0f}}), vector<float>({0.0f, 0.0f, 1.0f})};
                 layer.down = {matrix<float>({{1.0f, 0.0f}, {0.0f, 1.0f}, {1.0f, 1.0f}}), vector<float>({10.0f, 20.0f})};
                 Matrix<float, 1, 2> out{};
                 decltype(layer)::Workspace workspace{};
                 // (2, 4) is raised to (4, 2, 1).
                 layer.forward(hidden(matrix<float>({{2.0f, 4.0f}})), out, workspace);
                 check.equal(out, matrix<float>({{15.0f, 23.0f}}));
               }),
    at_run_time("a batch, and rows that stand apart",
                [](Check& check) {
                  const auto layer = made<Gated>(3);
                  const auto a = numbers<Matrix<float, 17, 5>>(4), b = numbers<Matrix<float, 17, 5>>(5);
                  Gated::Workspace workspace{};
                  Tensor<float, 2, 17, 5> out{};
                  layer.forward(stack(a, b), out, workspace);
                  check.same_bits(out, stack(plain_forward(layer, a), plain_forward(layer, b)));
                  auto wide = full<float, 17, 6>(Guarded<float>::untouched);
                  MatrixView<float, 17, 5, 6> view{wide.data()};
                  layer.forward(a, view, workspace);
                  check.same_bits(plain_columns<5>(wide, 0), plain_forward(layer, a));
                  check.same_bits(plain_columns<1>(wide, 5), full<float, 17, 1>(Guarded<float>::untouched));
                }),
    everywhere("first weights: up, gate, down",
               [](Check& check) {
                 Mt19937 generator(hidden(5u)), same(5);
                 Layer<Activation::silu, true, true> layer{};
                 initialize(layer, generator);
                 Linear<5, 7> up{}, gate{};
                 Linear<7, 5> down{};
                 initialize(up, same);
                 initialize(gate, same);
                 initialize(down, same);
                 check.that(layer.up == up && layer.gate == gate && layer.down == down);
               }),
};

}  // namespace

int main() { return run(tests); }
