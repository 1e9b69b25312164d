// SPDX-License-Identifier: MIT
//
// Norms of features: the bits of plain loops for widths around every vector, and the edges of their formulas.
#include "plain_model.hpp"

#include <type_traits>
#include <utility>

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

static_assert(sizeof(LayerNorm<3>) == 7 * sizeof(float) && sizeof(RmsNorm<3>) == 4 * sizeof(float));
static_assert(LayerNorm<3>::parameter_count == 6 && RmsNorm<3>::parameter_count == 3);
static_assert(std::is_aggregate_v<LayerNorm<3>> && std::is_trivially_copyable_v<RmsNorm<3>>);
static_assert(LayerNorm<3>{}.epsilon == 1e-5f && RmsNorm<3>{}.epsilon == 1e-5f);

template <class Norm>
constexpr Norm norm(std::uint32_t seed) noexcept {
  Norm result{};
  fill(result, seed);
  return result;
}

// Every form of a call.
template <class Norm, std::size_t Dim>
constexpr void check_norm(Check& check) {
  const auto module = norm<Norm>(Dim);
  const auto x = numbers<Matrix<float, 2, Dim>>(Dim + 1);
  const auto expected = plain_norm(x, module);
  check_output(check, expected, [&](auto& out) { module.forward(hidden(x), out); });
  check_in_place(check, expected, x, [&](auto& both) { module.forward(both, both); });
  check.same_bits(module(hidden(row(x, 1))), row(expected, 1));
}

template <std::size_t... Dims>
constexpr void check_widths(Check& check, std::index_sequence<Dims...>) {
  (check_norm<LayerNorm<Dims + 1>, Dims + 1>(check), ...);
  (check_norm<RmsNorm<Dims + 1>, Dims + 1>(check), ...);
}

constexpr LayerNorm<4> unit_layer{ones<float, 4>(), {}};
constexpr RmsNorm<4> unit_rms{ones<float, 4>()};

constexpr Test tests[] = {
    everywhere("widths of 1 to 9: the bits of plain loops", [](Check& check) { check_widths(check, std::make_index_sequence<9>{}); }),
    at_run_time("widths of 1 to 35, and larger ones",
                [](Check& check) {
                  check_widths(check, std::make_index_sequence<35>{});
                  check_norm<LayerNorm<64>, 64>(check);
                  check_norm<RmsNorm<100>, 100>(check);
                }),
    // (1, 2, 3, 6): mean 3, variance 3.5; mean of squares 12.5.
    everywhere("four numbers by hand",
               [](Check& check) {
                 const auto x = hidden(vector<float>({1.0f, 2.0f, 3.0f, 6.0f}));
                 check.near(unit_layer(x), vector<float>({-1.069043f, -0.5345217f, 0.0f, 1.603565f}), 1e-6f);
                 check.near(unit_rms(x), vector<float>({0.2828426f, 0.5656852f, 0.8485278f, 1.697056f}), 1e-6f);
                 const LayerNorm<4> scaled{full<float, 4>(2.0f), full<float, 4>(10.0f)};
                 check.near(scaled(x), vector<float>({7.861914f, 8.930957f, 10.0f, 13.20713f}), 2e-6f);
               }),
    everywhere("epsilon counts: of equal numbers nothing is left but the bias, and zeros stay zeros",
               [](Check& check) {
                 const LayerNorm<4> biased{ones<float, 4>(), vector<float>({1.0f, 2.0f, 3.0f, 4.0f})};
                 check.equal(biased(hidden(full<float, 4>(7.0f))), biased.bias);
                 check.equal(unit_rms(hidden(zeros<float, 4>())), zeros<float, 4>());
                 // Of variance 0 too, (x - mean) / sqrt(epsilon) is finite; epsilon = 3 / 4 doubles what 1 / 4 is.
                 const RmsNorm<4> wide{ones<float, 4>(), 0.75f};
                 check.equal(wide(hidden(full<float, 4>(0.5f))), full<float, 4>(0.5f));
                 const LayerNorm<4> wider{ones<float, 4>(), {}, 3.0f};
                 check.equal(wider(hidden(vector<float>({1.0f, -1.0f, 1.0f, -1.0f}))), vector<float>({0.5f, -0.5f, 0.5f, -0.5f}));
               }),
    everywhere("a batch is normalized row by row",
               [](Check& check) {
                 const auto module = norm<LayerNorm<5>>(1);
                 const auto a = numbers<Matrix<float, 3, 5>>(2), b = numbers<Matrix<float, 3, 5>>(3);
                 check.same_bits(module(hidden(stack(a, b))), stack(plain_norm(a, module), plain_norm(b, module)));
               }),
    everywhere("rows that stand apart: nothing between them is touched",
               [](Check& check) {
                 const auto module = norm<RmsNorm<3>>(1);
                 const auto x = numbers<Matrix<float, 2, 5>>(2);
                 auto out = full<float, 2, 5>(Guarded<float>::untouched);
                 const MatrixView<const float, 2, 3, 5> from{x.data()};
                 MatrixView<float, 2, 3, 5> to{out.data()};
                 module.forward(from, to);
                 check.same_bits(plain_columns<3>(out, 0), plain_norm(plain_columns<3>(x, 0), module));
                 check.same_bits(plain_columns<2>(out, 3), full<float, 2, 2>(Guarded<float>::untouched));
               }),
    at_run_time("NaN and infinity make their own row NaN, and no other",
                [](Check& check) {
                  for (const float bad : {quiet_nan, infinity, -infinity}) {
                    auto x = numbers<Matrix<float, 3, 4>>(4);
                    const auto good = unit_layer(x);
                    const auto good_rms = unit_rms(x);
                    x(1, 2) = bad;
                    const auto layer = unit_layer(hidden(x));
                    const auto rms = unit_rms(hidden(x));
                    for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
                      check.same_bits(row(layer, i), row(good, i));
                      check.same_bits(row(rms, i), row(good_rms, i));
                    }
                    for (std::size_t j = 0; j < 4; ++j) check.that(layer(1, j) != layer(1, j));
                    check.that(rms(1, 2) != rms(1, 2));
                  }
                }),
    everywhere("an epsilon is the float that it is given, also 0, or that lies in the file of a model",
               [](Check& check) {
                 for (const float given : {hidden(1e-5f), 1e-6f, 0.0f, 1.0f}) {
                   check.equal(static_cast<float>(Epsilon(given)), given);
                   check.that(Epsilon(given) == given && (Epsilon(given) == Epsilon{}) == (given == 1e-5f));
                 }
                 check.that(__builtin_bit_cast(Epsilon, 1e-5f) == Epsilon{} && __builtin_bit_cast(Epsilon, 1e-6f) == 1e-6f);
                 check.that(__builtin_bit_cast(std::uint32_t, Epsilon(1e-5f)) == 0);
               }),
    everywhere("first weights are 1 and biases 0, and nothing is drawn",
               [](Check& check) {
                 Mt19937 generator(hidden(7u)), same(7);
                 auto layer = norm<LayerNorm<4>>(1);
                 auto rms = norm<RmsNorm<4>>(1);
                 initialize(layer, generator);
                 initialize(rms, generator);
                 check.that(layer == unit_layer && rms == unit_rms);
                 check.same_bits(uniform(generator, 0.0f, 1.0f), uniform(same, 0.0f, 1.0f));
               }),
};

}  // namespace

int main() { return run(tests); }
