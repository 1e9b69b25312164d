// SPDX-License-Identifier: MIT
//
// The calls of compiled.hpp, which take tensors: each gives what the same call of the headers gives. answers/ has those of C.
#include "tinyattn/compiled.hpp"

#include "exact.hpp"
#include "forms.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/softmax.hpp"

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

// Counts that lie beyond what there is are refused by both.
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
    at_run_time("products, of batches too",
                [](Check& check) {
                  const auto a = drawn<Tensor<float, 2, 3, 5>>(1);
                  const auto b = drawn<Matrix<float, 5, 4>>(2);
                  check_output(check, matmul(a, b), [&](auto& out) { compiled::matmul(a, b, out); });
                  check_output(check, matmul(a, b), [&](auto& out) { compiled::matmul_transposed(a, transpose(b), out); });
                }),
    at_run_time("softmax, which refuses a scale below 0 or NaN",
                [](Check& check) {
                  const auto m = drawn<Matrix<float, 3, 17>>(1);
                  for (const float scale : {0.5f, -0.0f, 0x1p-127f, infinity})
                    check_output(check, softmax(m, scale), [&](auto& out) { check.equal(compiled::softmax(m, scale, out), TINYATTN_OK); });
                  for (const float scale : {-1.0f, quiet_nan})
                    check_in_place(check, m, m,
                                   [&](auto& out) { check.equal(compiled::softmax(m, opaque(scale), out), TINYATTN_BAD_ARGUMENT); });
                }),
    at_run_time("reductions, also of some tokens, and scaled samples",
                [](Check& check) {
                  const auto x = drawn<Tensor<float, 2, 5, 3>>(1);
                  const auto scale = drawn<Vector<float, 3>>(2);
                  Matrix<float, 2, 3> some{};
                  check_output(check, mean(x), [&](auto& out) { compiled::mean(x, out); });
                  check_output(check, largest(x), [&](auto& out) { compiled::largest(x, out); });
                  check.that(mean(x, 3, some) == Status::ok && compiled::mean(x, 6, some) == Status::too_many_tokens);
                  check_output(check, some, [&](auto& out) { check.that(compiled::mean(x, 3, out) == Status::ok); });
                  check.that(largest(x, 3, some) == Status::ok && compiled::largest(x, 0, some) == Status::no_tokens);
                  check_output(check, some, [&](auto& out) { check.that(compiled::largest(x, 3, out) == Status::ok); });
                  check_output(check, standardize(x, scale, scale), [&](auto& out) { compiled::standardize(x, scale, scale, out); });
                }),
    at_run_time("attention, under a mask, of batches",
                [](Check& check) {
                  const auto query = drawn<Tensor<float, 2, 5, 3>>(1);
                  const auto key = drawn<Tensor<float, 2, 7, 3>>(2);
                  const auto value = drawn<Tensor<float, 2, 7, 4>>(3);
                  Guarded<compiled::AttentionWorkspace<5, 7>> workspace;
                  const auto check_mask = [&](const auto& mask) {
                    check_output(check, scaled_dot_product_attention(query, key, value, mask), [&](auto& out) {
                      compiled::scaled_dot_product_attention(query, key, value, mask, out, workspace.tensor);
                    });
                    check.that(workspace.guards_hold());
                  };
                  check_mask(NoMask{});
                  check_mask(Causal{});
                  check_mask(KeepMask{drawn<Matrix<bool, 5, 7>>(4)});
                }),
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
