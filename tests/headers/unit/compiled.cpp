// SPDX-License-Identifier: MIT
//
// The calls of compiled.hpp, which take tensors: each gives what the same call of the headers gives. answers/ checks the C functions.
#include "tinyattn/compiled.hpp"

#include "exact.hpp"
#include "forms.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr AttentionConfig floats{
    .d_in = 4, .d_out = 8, .context_length = 6, .num_heads = 4, .qkv_bias = true, .num_kv_heads = 2, .rotary = Rotary::halves};
constexpr AttentionConfig int8 = [] {
  AttentionConfig config = floats;
  config.weights = Weights::int8;
  config.causal = false;
  return config;
}();
constexpr Conv1dConfig strided{.in = 3, .out = 4, .kernel = 3, .stride = 2, .padding = 1};
constexpr Conv1dConfig strided_int8{.in = 3, .out = 4, .kernel = 3, .stride = 2, .padding = 1, .weights = Weights::int8};

// Both refuse counts that are too large.
template <AttentionConfig config>
void check_layer(Check& check) {
  using Layer = MultiHeadAttention<config>;
  static const auto layer = drawn<Layer>(1);
  static Guarded<typename Layer::Workspace> workspace;
  const auto x = drawn<Matrix<float, 6, 4>>(2);
  const auto source = drawn<Matrix<float, 3, 4>>(3);
  const KeepMask keys{vector<bool>({true, false, true})};
  const auto agrees = [&]<class Out>(Out expected, const auto&... inputs) {
    Out out = expected;
    static_cast<void>(layer.forward(inputs..., expected, workspace.tensor));
    compiled::forward(layer, inputs..., out, workspace.tensor);
    check.same_bits(out, expected);
    check.that(workspace.guards_hold());
  };
  const auto counted = [&](const auto&... inputs) {
    Matrix<float, 6, 8> expected{}, out{};
    const Status status = layer.forward(inputs..., expected, workspace.tensor);
    check.that(compiled::forward(layer, inputs..., out, workspace.tensor) == status);
    check.same_bits(out, expected);
  };
  const Matrix<float, 6, 8> out{};
  agrees(out, x);
  agrees(Tensor<float, 2, 6, 8>{}, stack(x, x));
  agrees(out, x, KeepMask{vector<bool>({true, true, false, true, true, false})});
  agrees(out, x, source, source);
  agrees(out, x, source, source, keys);
  agrees(out, x, source, source, BlockMask{drawn<Matrix<bool, 6, 3>>(4)});
  agrees(out, x, source, source, AdditiveMask{drawn<Matrix<float, 6, 3>>(5)});
  agrees(out, x, source, source, CausalBottomRight{});
  for (const std::size_t count : {std::size_t{0}, std::size_t{4}, std::size_t{7}}) {
    counted(x, count);
    counted(x, count, Causal{});
    counted(x, source, source, count, std::size_t{2});
    counted(x, source, source, count, std::size_t{2}, keys);
  }
}

template <Conv1dConfig config>
void check_convolution(Check& check) {
  const auto layer = drawn<Conv1d<config>>(1);
  const auto x = drawn<Tensor<float, 2, 7, 3>>(2);
  check_output(check, layer(x), [&](auto& out) { compiled::forward(layer, x, out); });
}

constexpr Test tests[] = {
    at_run_time("layers", check_layer<floats>),
#if !defined(__ARM_ARCH_6M__)  // a micro:bit has no RAM for it
    at_run_time("layers of int8", check_layer<int8>),
#endif
    at_run_time("convolutions, also of int8",
                [](Check& check) {
                  check_convolution<strided>(check);
                  check_convolution<strided_int8>(check);
                }),
    at_run_time("the scale is the constant of the headers, for every width",
                [](Check& check) {
                  for (std::size_t n = 1; n <= 300; ++n) check.that(is_nearest_inverse_root(tinyattn_inverse_sqrt(n), n));
                  check.same_bits(tinyattn_inverse_sqrt(65536), detail::inverse_sqrt<65536>);
                  check.same_bits(tinyattn_inverse_sqrt(1048575), detail::inverse_sqrt<1048575>);
                  check.same_bits(tinyattn_inverse_sqrt(0), 0.0f);
                  check.same_bits(tinyattn_inverse_sqrt(SIZE_MAX), sizeof(std::size_t) == 8 ? 0x1p-32f : 0x1p-16f);
                }),
};

}  // namespace

int main() { return run(tests); }
