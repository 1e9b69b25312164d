// SPDX-License-Identifier: MIT
//
// The calls of compiled.hpp, which take tensors: each gives what the same call of the headers gives. answers/ checks the C functions.
#include "tinyattn/compiled.hpp"
#include "tinyattn/elementwise.hpp"
#include "tinyattn/reduce.hpp"
#include "tinyattn/tinyattn_operations.h"

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

// Of tinyattn_reduction_NAME.
namespace of_reduction {
using namespace reduction;
constexpr variance variance_0{0}, variance_1{1};
constexpr deviation deviation_0{{0}}, deviation_1{{1}};
}  // namespace of_reduction

// Each function and each reduction of C is that of its name.
void check_names(Check& check) {
  const auto a = opaque(drawn<Matrix<float, 3, 21>>(6));
  const auto b = drawn<Vector<float, 21>>(7);
  const auto c = drawn<Matrix<float, 3, 1>>(8);
  const auto computes = [&](const tinyattn_function& function, const auto& expected) {
    constexpr tinyattn_walk walk{2, {3, 21}, {{21, 1}, {21, 1}, {0, 1}, {1, 0}}};
    Matrix<float, 3, 21> out{};
    check.that(tinyattn_elementwise(&function, &walk, a.data(), b.data(), c.data(), out.data()) == TINYATTN_OK);
    check.same_bits(out, expected);
  };
  const auto reduces = [&](auto call, const auto& reduction, const auto& of) {
    const auto over = [&](const tinyattn_walk& walk, const auto& expected) {
      auto out = expected;
      out.elements[0] += 1;
      check.that(call(&reduction, &walk, a.data(), out.data()) == TINYATTN_OK);
      for (std::size_t i = 0; i < out.size(); ++i) check.same_bits(static_cast<float>(out(i)), static_cast<float>(expected(i)));
    };
    over({2, {3, 21}, {{1, 0}, {21, 1}}}, reduce<1>(of, a));
    over({2, {3, 21}, {{0, 1}, {21, 1}}}, reduce<0>(of, a));
  };
#define OPERANDS_1 a
#define OPERANDS_2 a, b
#define OPERANDS_3 a, b, c
#define COMPUTES(name, operands) computes(tinyattn_function_##name, elementwise(function::name, OPERANDS_##operands));
#define REDUCES(name) reduces(tinyattn_reduce, tinyattn_reduction_##name, of_reduction::name);
  TINYATTN_FUNCTIONS(COMPUTES)
  TINYATTN_REDUCTIONS(REDUCES)
  reduces(tinyattn_reduce_to_index, tinyattn_reduction_argmax, reduction::argmax);
  reduces(tinyattn_reduce_to_index, tinyattn_reduction_argmin, reduction::argmin);
}

constexpr Test tests[] = {
    at_run_time("layers", check_layer<floats>),
#if !defined(__ARM_ARCH_6M__)  // a micro:bit has no RAM for it
    at_run_time("layers of int8", check_layer<int8>),
#endif
    at_run_time("functions of elements, and reductions", check_names),
    at_run_time("convolutions, also of int8", each_of<check_convolution<strided>, check_convolution<strided_int8>>),
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
