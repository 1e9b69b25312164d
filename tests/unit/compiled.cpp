// SPDX-License-Identifier: MIT
//
// Computes cases of the catalogue with the compiled library.
#include "tinyattn/compiled.hpp"

#include <cstdint>

#include "catalogue/attention.hpp"
#include "catalogue/operations.hpp"
#include "catalogue/twin.hpp"
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
  template <class Query, class Key>
  static void context(const Query& query, const Key& key, const auto& value, const auto& mask, auto& out) noexcept {
    Guarded<compiled::AttentionWorkspace<Query::extent(0), Key::extent(0)>> workspace;
    compiled::scaled_dot_product_attention(query, key, value, mask, out, workspace.tensor);
    if (!workspace.guards_hold()) out = {};
  }
  static auto forward(const auto& layer, auto&&... args) noexcept { return compiled::forward(layer, args...); }
};

template <class... Cases>
void by_the_library(Check& check) {
  Crc crc;
  (check_twin<Cases>(check, Compiled{}, crc), ...);
}

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void attend(Check& check) {
  const auto with_masks = [&]<class... Masks>(std::type_identity<Masks>...) {
    by_the_library<Attention<Masks, Tokens, SourceTokens, KeyDim, ValueDim>...>(check);
  };
  with_masks(std::type_identity<NoMask>{}, std::type_identity<Causal>{}, std::type_identity<CausalBottomRight>{},
             std::type_identity<BlockMask<Tokens, SourceTokens>>{}, std::type_identity<KeepMask<SourceTokens>>{},
             std::type_identity<AdditiveMask<Tokens, SourceTokens>>{});
}

constexpr AttentionConfig small{.d_in = 3, .d_out = 4, .context_length = 7, .num_heads = 2};
constexpr AttentionConfig biased{.d_in = 5, .d_out = 9, .context_length = 6, .num_heads = 3, .causal = false, .qkv_bias = true};
constexpr AttentionConfig without_projection{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 1, .out_proj = false};
constexpr AttentionConfig without_out_bias{.d_in = 4, .d_out = 6, .context_length = 9, .num_heads = 1, .out_bias = false};

// Forwards all tokens, without and with masks, and the first rows, among them none and too many.
template <AttentionConfig config, std::size_t Tokens>
void forward(Check& check) {
  by_the_library<ForwardOf<config, Tokens>, ForwardMasked<config, BlockMask<Tokens, Tokens>, Tokens>,
                 ForwardMasked<config, AdditiveMask<Tokens>, 2, Tokens>, ForwardOfSomeTokens<config, Tokens>>(check);
}

constexpr Test tests[] = {
    at_run_time(
        "products of any shape",
        by_the_library<Matmul<1, 1, 1>, Matmul<3, 5, 7>, Matmul<9, 4, 6>, Matmul<17, 16, 33>, MatmulTransposed<1, 1, 1>,
                       MatmulTransposed<3, 5, 7>, MatmulTransposed<9, 4, 6>, MatmulTransposed<17, 16, 33>, MatmulOfBatch<2, 3, 4, 9>>),
    at_run_time("softmax of any shape, in place too",
                by_the_library<SoftmaxWithScales<1>, SoftmaxWithScales<16>, SoftmaxWithScales<19>, SoftmaxWithScales<70>, Softmax<5, 19>>),
    at_run_time("attention of any shape, with every mask",
                [](Check& check) {
                  attend<1, 1, 1, 1>(check);
                  attend<6, 9, 4, 5>(check);
                  attend<13, 9, 8, 7>(check);
                }),
    at_run_time("layers with and without biases, projection and a causal mask",
                [](Check& check) {
                  forward<small, 7>(check);
                  forward<biased, 6>(check);
                  forward<without_projection, 5>(check);
                  forward<without_out_bias, 9>(check);
                }),
    at_run_time(
        "cross-attention, in batches, with both counts, in place",
        by_the_library<CrossForms<biased, NoMask, 6, 4>, CrossForms<biased, KeepMask<4>, 6, 4>, CrossForms<small, CausalBottomRight, 2, 5>,
                       CrossForms<small, KeepMask<2>, 5, 2>, CrossForms<without_projection, NoMask, 6, 3>>),
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
