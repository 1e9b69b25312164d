// SPDX-License-Identifier: MIT
//
// Computes cases of the catalogue with the compiled library.
#include "tinyattn/compiled.hpp"

#include <cstdint>

#include "catalogue/attention.hpp"
#include "catalogue/models.hpp"
#include "catalogue/operations.hpp"
#include "catalogue/twin.hpp"
#include "compiled/described_blocks.hpp"
#include "exact.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

// Like `Library`, without what the compiled library lacks: weights, training passes, and masks of several rows with a count known at run
// time.
struct Compiled {
  static constexpr bool has_weights = false;

  static void matmul(const auto& a, const auto& b, auto& out) noexcept { compiled::matmul(a, b, out); }
  static void matmul_transposed(const auto& a, const auto& b, auto& out) noexcept { compiled::matmul_transposed(a, b, out); }
  static void softmax(const auto& m, float scale, auto& out) noexcept { compiled::softmax(m, scale, out); }
  static void softmax(const auto& m, auto& out) noexcept { compiled::softmax(m, 1.0f, out); }
  static auto mean(const auto& x, auto&&... args) noexcept { return compiled::mean(x, args...); }
  static auto largest(const auto& x, auto&&... args) noexcept { return compiled::largest(x, args...); }
  static void standardize(const auto& x, const auto& mean, const auto& inverse_deviation, auto& out) noexcept {
    compiled::standardize(x, mean, inverse_deviation, out);
  }
  static void norm(const auto& layer, const auto& x, auto& out) noexcept { compiled::forward(layer, x, out); }
  template <class Query, class Key>
  static void context(const Query& query, const Key& key, const auto& value, const auto& mask, auto& out) noexcept {
    Guarded<compiled::AttentionWorkspace<Query::extent(0), Key::extent(0)>> workspace;
    compiled::scaled_dot_product_attention(query, key, value, mask, out, workspace.tensor);
    if (!workspace.guards_hold()) out = {};
  }
  static auto forward(const auto& layer, auto&&... args) noexcept { return compiled::forward(layer, args...); }
};

// Computes a Transformer by its description in C.
struct CompiledEncoder {
  static constexpr bool has_weights = false;

  template <TransformerConfig config, class TensorX>
  static void forward(const Transformer<config>& model, const TensorX& x, auto& out, auto&) noexcept {
    constexpr std::size_t width = config.block.attention.d_out, hidden = config.block.feed_forward.d_hidden, tokens = TensorX::extent(0);
    constexpr std::size_t kv_width = detail::kv_heads<config.block.attention> * detail::head_dim<config.block.attention>;
    constexpr bool is_int8 = config.block.attention.weights == Weights::int8;
    constexpr auto encode = is_int8 ? tinyattn_encoder_forward_int8 : tinyattn_encoder_forward;
    Guarded<Vector<float, is_int8 ? TINYATTN_ENCODER_SCRATCH_INT8(width, kv_width, hidden, tokens)
                                  : TINYATTN_ENCODER_SCRATCH(width, kv_width, hidden, tokens)>>
        scratch;
    const EncoderInC<config> described(model);
    if (encode(&described.encoder, x.data(), tokens, out.data(), scratch.tensor.data()) != TINYATTN_OK || !scratch.guards_hold()) out = {};
  }
};

template <class... Cases>
void encoders_by_the_library(Check& check) {
  Crc crc;
  (check_twin<Cases>(check, CompiledEncoder{}, crc), ...);
}

template <class... Cases>
void by_the_library(Check& check) {
  Crc crc;
  (check_twin<Cases>(check, Compiled{}, crc), ...);
}

// With int8 weights, the library and the headers have the same bits, whether the source is the input or not.
template <AttentionConfig config, class Mask, std::size_t Tokens, std::size_t SourceTokens>
void as_the_headers(Check& check) {
  using Layer = MultiHeadAttention<config>;
  static const auto layer = drawn<Layer>(3);
  const auto x = drawn<Matrix<float, Tokens, config.d_in>>(4);
  const auto source = drawn<Matrix<float, SourceTokens, config.d_in>>(5);
  const auto mask = drawn<Mask>(6);
  static Guarded<typename Layer::Workspace> workspace;
  const auto agrees = [&](const auto&... inputs) {
    Matrix<float, Tokens, config.d_out> expected, out{};
    static_cast<void>(layer.forward(inputs..., expected, workspace.tensor));
    static_cast<void>(compiled::forward(layer, inputs..., out, workspace.tensor));
    check.same_bits(out, expected);
    check.that(workspace.guards_hold());
  };
  agrees(x, source, source, mask);
  agrees(x, source, source);
  agrees(x);
  if constexpr (!requires { mask.tensor; }) agrees(x, mask);
}
template <AttentionConfig config>
constexpr AttentionConfig with_int8 = [] {
  AttentionConfig changed = config;
  changed.weights = Weights::int8;
  return changed;
}();

constexpr AttentionConfig small{.d_in = 3, .d_out = 4, .context_length = 7, .num_heads = 2};
constexpr AttentionConfig biased{.d_in = 5, .d_out = 9, .context_length = 6, .num_heads = 3, .causal = false, .qkv_bias = true};
constexpr AttentionConfig without_projection{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 1, .out_proj = false};
constexpr AttentionConfig without_out_bias{.d_in = 4, .d_out = 6, .context_length = 9, .num_heads = 1, .out_bias = false};

constexpr Conv1dConfig strided{.in = 2, .out = 17, .kernel = 5, .stride = 2, .padding = 3};
constexpr Conv1dConfig apart{.in = 5, .out = 4, .kernel = 2, .stride = 4, .padding = 1, .bias = false};
constexpr Conv1dConfig strided_int8{.in = 2, .out = 17, .kernel = 5, .stride = 2, .padding = 3, .weights = Weights::int8};
constexpr Conv1dConfig apart_int8{.in = 5, .out = 4, .kernel = 2, .stride = 4, .padding = 1, .bias = false, .weights = Weights::int8};

// The catalogue's cases have views, too, which the compiled library does not take.
template <const auto& reduce, std::size_t Tokens, std::size_t Features>
struct PooledBatch {
  Tensor<float, 2, Tokens, Features> x;
  Guarded<Matrix<float, 2, Features>> out;

  void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(x);
    reduce(by, x, out.tensor);
    outputs.take("of all", out);
    for (std::size_t count = 0; count < Tokens + 2; ++count) {
      static_cast<void>(reduce(by, x, count, out.tensor));
      outputs.take("of some", out);
    }
  }
};
template <std::size_t Tokens, std::size_t Features>
struct StandardizedBatch {
  Tensor<float, 2, Tokens, Features> x;
  Vector<float, Features> mean, inverse_deviation;

  void operator()(Draw& draw, auto by, auto& outputs) noexcept {
    draw(x, mean, inverse_deviation);
    by.standardize(x, mean, inverse_deviation, x);
    outputs.take("in place", x);
  }
};

constexpr AttentionConfig grouped{.d_in = 5, .d_out = 8, .context_length = 7, .num_heads = 4, .num_kv_heads = 2};
constexpr AttentionConfig rotating{.d_in = 6,
                                   .d_out = 12,
                                   .context_length = 6,
                                   .num_heads = 3,
                                   .causal = false,
                                   .num_kv_heads = 1,
                                   .rotary = Rotary::halves,
                                   .rotary_base = 100};
constexpr AttentionConfig interleaved{.d_in = 4, .d_out = 8, .context_length = 9, .num_heads = 2, .rotary = Rotary::interleaved};

// Encoders: of torch.nn, and one with all that a block may have.
constexpr TransformerConfig of_pytorch{
    .block = {.attention = {.d_in = 6, .d_out = 6, .context_length = 5, .num_heads = 2, .causal = false, .qkv_bias = true},
              .feed_forward = {.d_model = 6, .d_hidden = 9, .activation = Activation::relu},
              .norm_first = false},
    .num_layers = 2};
constexpr TransformerConfig with_all{
    .block = {.attention = {.d_in = 8, .d_out = 8, .context_length = 7, .num_heads = 4, .num_kv_heads = 2, .rotary = Rotary::interleaved},
              .feed_forward = {.d_model = 8, .d_hidden = 11, .activation = Activation::silu, .gated = true, .bias = false},
              .normalization = Normalization::rms},
    .num_layers = 1,
    .final_norm = false};

template <TransformerConfig config, std::size_t Tokens>
using TransformerOf = Forward<Transformer<config>, config.block.attention.d_in, config.block.attention.d_out, Tokens>;

// compiled/random_calls has random shapes, on each port of the host; these are for boards, and for the calls of compiled.hpp.
constexpr Test tests[] = {
    at_run_time("products", by_the_library<Matmul<1, 1, 1>, Matmul<3, 5, 7>, Matmul<17, 16, 33>, MatmulTransposed<1, 1, 1>,
                                           MatmulTransposed<9, 4, 6>, MatmulTransposed<17, 16, 33>, MatmulOfBatch<2, 3, 4, 9>>),
    at_run_time("softmax, in place too",
                by_the_library<SoftmaxWithScales<1>, SoftmaxWithScales<16>, SoftmaxWithScales<70>, Softmax<5, 19>>),
    at_run_time("attention, with every mask",
                by_the_library<Attention<NoMask, 1, 1, 1, 1>, Attention<NoMask, 13, 9, 8, 7>, Attention<Causal, 13, 9, 8, 7>,
                               Attention<CausalBottomRight, 6, 9, 4, 5>, Attention<BlockMask<6, 9>, 6, 9, 4, 5>,
                               Attention<KeepMask<9>, 13, 9, 8, 7>, Attention<AdditiveMask<13, 9>, 13, 9, 8, 7>>),
    at_run_time("layers with and without biases, projection and a causal mask",
                by_the_library<ForwardOf<small, 7>, ForwardMasked<small, BlockMask<7, 7>, 7>, ForwardOfSomeTokens<small, 7>,
                               ForwardOf<biased, 6>, ForwardMasked<biased, AdditiveMask<6>, 2, 6>, ForwardOfSomeTokens<biased, 6>,
                               ForwardOf<without_projection, 5>, ForwardOf<without_out_bias, 9>>),
    at_run_time(
        "cross-attention, in batches, with both counts, in place",
        by_the_library<CrossForms<biased, NoMask, 6, 4>, CrossForms<biased, KeepMask<4>, 6, 4>, CrossForms<small, CausalBottomRight, 2, 5>,
                       CrossForms<small, KeepMask<2>, 5, 2>, CrossForms<without_projection, NoMask, 6, 3>>),
    at_run_time("layers with grouped heads and rotary positions",
                by_the_library<ForwardOf<grouped, 7>, ForwardOfSomeTokens<grouped, 7>, ForwardOf<rotating, 6>,
                               CrossForms<rotating, NoMask, 6, 4>, ForwardOf<interleaved, 9>>),
    at_run_time("encoders", encoders_by_the_library<TransformerOf<of_pytorch, 5>, TransformerOf<with_all, 7>>),
#if !defined(__ARM_ARCH_6M__)  // a micro:bit has no RAM for these layers
    at_run_time("int8 weights",
                [](Check& check) {
                  as_the_headers<with_int8<small>, NoMask, 7, 7>(check);
                  as_the_headers<with_int8<biased>, KeepMask<4>, 6, 4>(check);
                  as_the_headers<with_int8<biased>, AdditiveMask<5, 6>, 5, 6>(check);
                  as_the_headers<with_int8<without_projection>, CausalBottomRight, 3, 6>(check);
                  as_the_headers<with_int8<rotating>, KeepMask<4>, 6, 4>(check);
                  as_the_headers<with_int8<without_out_bias>, BlockMask<9, 2>, 9, 2>(check);
                }),
#endif
    at_run_time("convolutions, also with int8 weights",
                by_the_library<Convolved<strided, 6, 2>, Convolved<strided, 1>, Convolved<apart, 11>, Convolved<strided_int8, 6, 2>,
                               Convolved<apart_int8, 11>>),
    at_run_time("reductions and scaled samples, also of some tokens",
                by_the_library<PooledBatch<call_mean, 3, 17>, PooledBatch<call_largest, 3, 17>, StandardizedBatch<3, 7>>),
    at_run_time("the scale is the constant of the headers, for every width",
                [](Check& check) {
                  for (std::size_t n = 1; n <= 300; ++n) check.that(is_nearest_inverse_root(tinyattn_inverse_sqrt(n), n));
                  check.same_bits(tinyattn_inverse_sqrt(65536), detail::inverse_sqrt<65536>);
                  check.same_bits(tinyattn_inverse_sqrt(1048575), detail::inverse_sqrt<1048575>);
                  check.same_bits(tinyattn_inverse_sqrt(0), 0.0f);
                  check.same_bits(tinyattn_inverse_sqrt(SIZE_MAX), sizeof(std::size_t) == 8 ? 0x1p-32f : 0x1p-16f);
                }),
    at_run_time("softmax refuses a scale below 0 or NaN, and writes nothing",
                [](Check& check) {
                  const auto m = matrix<float>({{1.0f, 2.0f}});
                  auto out = m;
                  for (const float scale : {-1.0f, quiet_nan})
                    check.that(compiled::softmax(m, opaque(scale), out) == TINYATTN_BAD_ARGUMENT);
                  check.that(out == m && compiled::softmax(m, 1.0f, out) == TINYATTN_OK && out != m);
                }),
};

}  // namespace

int main() { return run(tests); }
