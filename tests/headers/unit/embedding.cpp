// SPDX-License-Identifier: MIT
//
// Embeddings, and the tables of sines and cosines, for positions that are added and for rotary positions.
#include "tinyattn/embedding.hpp"

#if __STDC_HOSTED__
#include <cmath>
#include <utility>
#endif
#include <type_traits>

#include "catalogue/draw.hpp"
#include "catalogue/guarded.hpp"

namespace tinyattn::test { namespace {

constexpr Embedding<4, 3> embedding{drawn<Matrix<float, 4, 3>>(1)};
static_assert(Embedding<4, 3>::parameter_count == 12 && sizeof(embedding) == 12 * sizeof(float));

using Int8 = Embedding<4, 3, Weights::int8>;
static_assert(Int8::parameter_count == 12 && Int8::parameter_bytes == 4 * (16 + 4) && sizeof(Int8) == Int8::parameter_bytes);

#if __STDC_HOSTED__  // the tables are constants, the same on boards, which have no libm

// Checks that `actual` is the float nearest to `truth`; halfway, where libm's last bit decides, either neighbour is right.
void check_nearest(Check& check, float actual, long double truth) {
  const auto half_way_to = [&](float to) {
    return (static_cast<long double>(std::nextafter(actual, to)) + static_cast<long double>(actual)) / 2;
  };
  const long double slack = 0x1p-48L;
  check.that(truth >= half_way_to(-2.0f) - slack && truth <= half_way_to(2.0f) + slack);
}

// Checks against libm: the table, which is arranged at run time from constant columns, and the same columns computed at run time.
template <std::size_t Positions, std::size_t Dim, std::uint32_t Base>
void check_sinusoids(Check& check) {
  const auto arrange = [] { return detail::sinusoids_of<Positions, Dim, Base>(std::make_index_sequence<(Dim + 1) / 2>{}); };
  const auto table = opaque(+arrange)();
  for (std::size_t i = 0; i < Dim / 2; ++i) {
    const double power = detail::logarithm(opaque(static_cast<double>(Base))) * static_cast<double>(2 * i) / Dim;
    const auto column = detail::sinusoid<Positions>(detail::exponential_of_minus(power));
    for (std::size_t p = 0; p < Positions; ++p) {
      const long double angle =
          static_cast<long double>(p) * std::pow(static_cast<long double>(Base), -static_cast<long double>(2 * i) / Dim);
      for (const float cosine : {table.cosines[p * (Dim / 2) + i], column.cosines[p]}) check_nearest(check, cosine, std::cos(angle));
      for (const float sine : {table.sines[p * (Dim / 2) + i], column.sines[p]}) check_nearest(check, sine, std::sin(angle));
    }
  }
}

// Checks against libm: cosines and sines of positions without a table.
template <std::size_t Dim, std::uint32_t Base>
void check_endless_sinusoids(Check& check) {
  for (std::size_t i = 0; i < Dim / 2; ++i)
    for (std::uint64_t p = 0; p < 1u << 28; p += p / 256 + 1) {
      const long double angle =
          static_cast<long double>(p) * std::pow(static_cast<long double>(Base), -static_cast<long double>(2 * i) / Dim);
      const auto at = kernel::cosine_and_sine_of<native_port>(static_cast<std::uint32_t>(p * detail::speeds<Dim, Base>.at[i] >> 32));
      check.near(at.cosine, static_cast<float>(std::cos(angle)), 0x1p-22f);
      check.near(at.sine, static_cast<float>(std::sin(angle)), 0x1p-22f);
    }
}

#endif

// 260 pairs of columns: Clang accepts at most 256 operands in a fold expression.
static_assert(sinusoidal_positions<2, 520>()(1, 519) == 1.0f);

constexpr Test tests[] = {
    everywhere("a row for each token, and nothing next to it",
               [](Check& check) {
                 const auto tokens = opaque(vector<Token>({2, 0, 3, 2, 2}));
                 Matrix<float, 5, 3> expected{};
                 for (std::size_t i = 0; i < 5; ++i)
                   for (std::size_t j = 0; j < 3; ++j) expected(i, j) = embedding.weight(tokens(i), j);
                 check_output(check, expected, [&](auto& out) { check.that(embedding.forward(tokens, out) == Status::ok); });
                 auto wide = full<float, 5, 4>(7.0f);
                 auto view = columns<3>(wide, 0);
                 check.that(embedding.forward(tokens, view) == Status::ok);
                 check.same_bits(wide, concat_columns(expected, full<float, 5, 1>(7.0f)));
               }),
    everywhere("weights of int8: quantize gives each token a scale; a feature is its integer times that",
               [](Check& check) {
                 Embedding<4, 3> of_floats = opaque(embedding);
                 for (std::size_t j = 0; j < 3; ++j) of_floats.weight(1, j) = 0.0f;
                 const auto layer = quantize(of_floats);
                 static_assert(std::is_same_v<decltype(layer), const Int8>);
                 Matrix<float, 4, 3> expected{};
                 for (std::size_t i = 0; i < 4; ++i)
                   for (std::size_t j = 0; j < 3; ++j) {
                     const float step = layer.weight.scale[i];
                     expected(i, j) = static_cast<float>(layer.weight.code[16 * i + j] - 128) * step;
                     check.near(expected(i, j), of_floats.weight(i, j), 0.50001f * step);
                   }
                 check.equal(layer.weight.scale[1], 1.0f);
                 check_output(check, expected, [&](auto& out) {
                   check.that(layer.forward(opaque(vector<Token>({0, 1, 2, 3})), out) == Status::ok);
                 });
               }),
    everywhere("an unknown token: said so, and nothing is written",
               [](Check& check) {
                 const auto none = full<float, 3, 3>(Guarded<float>::untouched);
                 for (const auto& tokens : {vector<Token>({4, 0, 0}), vector<Token>({0, 0, 4}), vector<Token>({0, 65535, 0})})
                   check_output(check, none,
                                [&](auto& out) { check.that(embedding.forward(opaque(tokens), out) == Status::unknown_token); });
               }),
#if __STDC_HOSTED__
    at_run_time("sinusoidal positions are the nearest floats",
                [](Check& check) {
                  static constexpr auto table = sinusoidal_positions<70, 7>();
                  check.same_bits(detail::make_sinusoidal_positions<70, 7>(), table);  // computed at run time
                  for (std::size_t p = 0; p < 70; ++p) {
                    for (std::size_t j = 0; j < 7; ++j) {
                      const long double angle = static_cast<long double>(p) * std::pow(10000.0L, -static_cast<long double>(j / 2 * 2) / 7);
                      check_nearest(check, table(p, j), j % 2 == 0 ? std::sin(angle) : std::cos(angle));
                    }
                  }
                }),
    at_run_time("angles of rotary positions too, of other bases and many positions",
                each_of<check_sinusoids<64, 8, 10000>, check_sinusoids<20, 4, 500000>, check_sinusoids<30, 6, 1>,
                        check_sinusoids<9, 2, 4294967295>, check_sinusoids<700, 2, 10000>>),
    at_run_time("angles of positions without an end, up to 2^28",
                each_of<check_endless_sinusoids<16, 10000>, check_endless_sinusoids<6, 1000000>, check_endless_sinusoids<2, 1>>),
#endif
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
