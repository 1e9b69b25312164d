// SPDX-License-Identifier: MIT
//
// Norms: every form of a call, and the limits of their formulas.
#include <type_traits>

#include "forms.hpp"
#include "tinyattn/normalization.hpp"

namespace tinyattn::test { namespace {

static_assert(sizeof(LayerNorm<3>) == 7 * sizeof(float) && sizeof(RmsNorm<3>) == 4 * sizeof(float));
static_assert(LayerNorm<3>::parameter_count == 6 && RmsNorm<3>::parameter_count == 3);
static_assert(std::is_aggregate_v<LayerNorm<3>> && std::is_trivially_copyable_v<RmsNorm<3>>);
static_assert(LayerNorm<3>{}.epsilon == 1e-5f && RmsNorm<3>{}.epsilon == 1e-5f);

constexpr LayerNorm<4> unit_layer{ones<float, 4>(), {}};
constexpr RmsNorm<4> unit_rms{ones<float, 4>()};

constexpr Test tests[] = {
    everywhere("in each form",
               [](Check& check) {
                 check_forms_in_place(check, drawn<Matrix<float, 2, 17>>(1), call(drawn<LayerNorm<17>>(2)));
                 check_forms_in_place(check, drawn<Matrix<float, 3, 5>>(1), call(drawn<RmsNorm<5>>(2)));
                 check_forms_in_place(check, drawn<Matrix<float, 2, 1>>(1), call(drawn<LayerNorm<1>>(2)));
               }),
    // (1, 2, 3, 6): mean 3, variance 3.5; mean of squares 12.5.
    everywhere("four numbers by hand",
               [](Check& check) {
                 const auto x = opaque(vector<float>({1.0f, 2.0f, 3.0f, 6.0f}));
                 check.near(unit_layer(x), vector<float>({-1.069043f, -0.5345217f, 0.0f, 1.603565f}), 1e-6f);
                 check.near(unit_rms(x), vector<float>({0.2828426f, 0.5656852f, 0.8485278f, 1.697056f}), 1e-6f);
                 const LayerNorm<4> scaled{full<float, 4>(2.0f), full<float, 4>(10.0f)};
                 check.near(scaled(x), vector<float>({7.861914f, 8.930957f, 10.0f, 13.20713f}), 2e-6f);
               }),
    everywhere("epsilon counts: of equal numbers nothing is left but the bias, and zeros stay zeros",
               [](Check& check) {
                 const LayerNorm<4> biased{ones<float, 4>(), vector<float>({1.0f, 2.0f, 3.0f, 4.0f})};
                 check.equal(biased(opaque(full<float, 4>(7.0f))), biased.bias);
                 check.equal(unit_rms(opaque(zeros<float, 4>())), zeros<float, 4>());
                 // With a variance of 0, (x - mean) / sqrt(epsilon) is finite. An epsilon of 3/4 turns a mean square of 1/4 into 1.
                 const RmsNorm<4> wide{ones<float, 4>(), 0.75f};
                 check.equal(wide(opaque(full<float, 4>(0.5f))), full<float, 4>(0.5f));
                 const LayerNorm<4> wider{ones<float, 4>(), {}, 3.0f};
                 check.equal(wider(opaque(vector<float>({1.0f, -1.0f, 1.0f, -1.0f}))), vector<float>({0.5f, -0.5f, 0.5f, -0.5f}));
               }),
    everywhere("an epsilon is the float that it is given, also 0, or that lies in the file of a model",
               [](Check& check) {
                 for (const float given : {opaque(1e-5f), 1e-6f, 0.0f, 1.0f}) {
                   check.equal(static_cast<float>(Epsilon(given)), given);
                   check.that(Epsilon(given) == given && (Epsilon(given) == Epsilon{}) == (given == 1e-5f));
                 }
                 check.that(__builtin_bit_cast(Epsilon, 1e-5f) == Epsilon{} && __builtin_bit_cast(Epsilon, 1e-6f) == 1e-6f);
                 check.that(__builtin_bit_cast(std::uint32_t, Epsilon(1e-5f)) == 0);
               }),
    everywhere("first weights are 1 and biases 0, and nothing is drawn",
               [](Check& check) {
                 Mt19937 generator(opaque(7u)), same(7);
                 auto layer = drawn<LayerNorm<4>>(1);
                 auto rms = drawn<RmsNorm<4>>(1);
                 initialize(layer, generator);
                 initialize(rms, generator);
                 check.that(layer == unit_layer && rms == unit_rms);
                 check.same_bits(uniform(generator, 0.0f, 1.0f), uniform(same, 0.0f, 1.0f));
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
