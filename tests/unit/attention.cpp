// SPDX-License-Identifier: MIT
//
// Scaled dot-product attention, under each mask.
#include "tinyattn/attention.hpp"

#include "catalogue/attention.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Masks may be temporaries in a constant expression, where the compiler compares their addresses with null.
constexpr auto query = drawn<Matrix<float, 6, 4>>(1), key = drawn<Matrix<float, 6, 4>>(2);
constexpr auto value = drawn<Matrix<float, 6, 3>>(3);
constexpr auto keep = drawn<KeepMask<6, 6>>(4).tensor;
constexpr auto of_kept = scaled_dot_product_attention(query, key, value, KeepMask{Tensor(keep)});
static_assert(scaled_dot_product_attention(query, key, value, BlockMask{masked_fill(ones<bool, 6, 6>(), keep, false)}) == of_kept);
static_assert(scaled_dot_product_attention(query, key, value, AdditiveMask{zeros<float, 6, 6>()}) ==
              scaled_dot_product_attention(query, key, value));

template <std::size_t Tokens, std::size_t SourceTokens>
using BottomRight = Attention<CausalBottomRight, Tokens, SourceTokens, 3, 2>;

constexpr Test tests[] = {
    everywhere("in each form as in plain loops, and nothing next to it",
               as_in_plain_loops<AttentionForms<NoMask>, AttentionForms<Causal>, AttentionForms<KeepMask<5, 7>>>),
    // In a random mask with rows, the first row masks every key: that query's weights and output are zeros.
    everywhere(
        "masks that keep, block and add, a row for each query or one for all",
        as_in_plain_loops<Attention<KeepMask<6, 7>, 6, 7, 4, 3>, Attention<KeepMask<7>, 6, 7, 4, 3>, Attention<BlockMask<6, 7>, 6, 7, 4, 3>,
                          Attention<BlockMask<7>, 6, 7, 4, 3>, Attention<AdditiveMask<6, 7>, 6, 7, 4, 3>,
                          Attention<AdditiveMask<7>, 6, 7, 4, 3>, Attention<AdditiveMask<4, 5>, 4, 5, 3, 2>>),
    everywhere("five ways to say causal", as_in_plain_loops<CausalWays>),
    everywhere("an addend goes to the scaled score: ln 3 for one of two equal keys gives it three quarters",
               [](Check& check) {
                 Matrix<float, 1, 2> weights{};
                 Matrix<float, 1, 1> out{};
                 scaled_dot_product_attention(opaque(full<float, 1, 4>(2.0f)), full<float, 2, 4>(1.0f), matrix<float>({{1.0f}, {0.0f}}),
                                              AdditiveMask{matrix<float>({{1.09861229f, 0.0f}})}, out, weights);
                 check.near(weights, matrix<float>({{0.75f, 0.25f}}), 1e-6f);
               }),
    everywhere("a query that sees nothing gives zeros; masks that mask nothing are none",
               [](Check& check) {
                 check.same_bits(scaled_dot_product_attention(opaque(query), key, value, KeepMask{zeros<bool, 6, 6>()}),
                                 zeros<float, 6, 3>());
                 check.same_bits(scaled_dot_product_attention(opaque(query), key, value, BlockMask{ones<bool, 6>()}), zeros<float, 6, 3>());
                 check.same_bits(scaled_dot_product_attention(opaque(query), key, value, KeepMask{ones<bool, 6>()}),
                                 scaled_dot_product_attention(query, key, value));
               }),
    // With five queries and three keys, the first two queries attend to no key.
    everywhere("causal from the bottom right",
               as_in_plain_loops<BottomRight<3, 5>, BottomRight<5, 3>, BottomRight<4, 4>, BottomRight<1, 6>, BottomRight<6, 1>>),
    at_run_time("causal from the bottom right, over several blocks", as_in_plain_loops<BottomRight<19, 33>, BottomRight<33, 18>>),
    everywhere("one token, one feature; scores of 1e10 and 1e-30",
               [](Check& check) {
                 as_in_plain_loops<Attention<Causal, 1, 1, 1, 1>>(check);
                 const auto values = matrix<float>({{1.0f}, {2.0f}, {5.0f}});
                 check.same_bits(
                     scaled_dot_product_attention(opaque(matrix<float>({{-3.25f}})), matrix<float>({{-3.25f}}), matrix<float>({{0.1f}})),
                     matrix<float>({{0.1f}}));
                 check.same_bits(scaled_dot_product_attention(opaque(matrix<float>({{1.0f}, {-1.0f}})),
                                                              matrix<float>({{1e10f}, {-1e10f}, {1e10f}}), values),
                                 matrix<float>({{3.0f}, {2.0f}}));
                 const auto tiny = full<float, 3, 1>(1e-15f);
                 check.same_bits(scaled_dot_product_attention(opaque(tiny), tiny, values), matmul(full<float, 3, 3>(1.0f / 3.0f), values));
               }),
    at_run_time("NaN or infinity in any element: as in plain loops", as_in_plain_loops<AnyNotFinite<Attention<NoMask, 5, 7, 4, 3>>>),
    at_run_time("a NaN or infinity that is masked does not leak", as_in_plain_loops<MaskedNotFinite>),
    at_run_time("a NaN or +infinity in an addend takes part; in a row of NaN a masked weight is still zero",
                as_in_plain_loops<AnyNotFinite<Attention<AdditiveMask<4, 5>, 4, 5, 3, 3>>, AnyNotFinite<Attention<KeepMask<6>, 4, 6, 3, 3>>,
                                  AnyNotFinite<Attention<Causal, 5, 5, 3, 3>>>),
    at_run_time("a weight that the cutoff made zero still multiplies",
                [](Check& check) {
                  const auto q = opaque(matrix<float>({{1.0f}}));
                  const auto out =
                      scaled_dot_product_attention(q, matrix<float>({{0.0f}, {-1000.0f}}), matrix<float>({{1.0f}, {quiet_nan}}));
                  check.same_bits(out, matrix<float>({{quiet_nan}}));
                }),
};

}  // namespace

int main() { return run(tests); }
