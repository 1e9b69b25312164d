// SPDX-License-Identifier: MIT
//
// Functions of each element: values that PyTorch computed in double, how operands are repeated, NaN and infinity.
#include "tinyattn/elementwise.hpp"

#include "forms.hpp"
#include "tinyattn/strided.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Five = Vector<float, 5>;

// To 10^-6 of a value, which is 17 units in the last place or fewer.
constexpr void check_values(Check& check, auto function, const Five& expected, const auto&... operands) {
  const auto out = elementwise(function, opaque(operands)...);
  for (std::size_t i = 0; i < 5; ++i) check.near(out(i), expected(i), 1e-6f * (expected(i) < 0.0f ? -expected(i) : expected(i)));
}

constexpr Five x{-6.75f, -0.625f, 0.4375f, 2.5f, 1000.25f}, y{2.5f, -0.625f, -3.0f, 0.1875f, 0.5f}, z{0.25f, -2.0f, 5.0f, 0.0f, 0.5f};
constexpr Five positive{0.0625f, 0.75f, 1.0f, 2.75f, 1000.25f}, little{-6.75f, -0.625f, 0x1p-10f, 2.5f, 20.0f};
constexpr Five base{2.5f, -1.5f, -3.0f, 0.1875f, 0.5f}, exponent{-3.0f, 4.0f, -2.0f, 20.5f, 0.5f};

constexpr void check_functions(Check& check) {
  check_values(check, function::negative, Five{6.75f, 0.625f, -0.4375f, -2.5f, -1000.25f}, x);
  check_values(check, function::square, Five{45.5625f, 0.390625f, 0.19140625f, 6.25f, 1000500.06f}, x);
  check_values(check, function::reciprocal, Five{-0.148148148f, -1.6f, 2.28571429f, 0.4f, 0.000999750062f}, x);
  check_values(check, function::absolute, Five{6.75f, 0.625f, 0.4375f, 2.5f, 1000.25f}, x);
  check_values(check, function::sign, Five{-1.0f, -1.0f, 1.0f, 1.0f, 1.0f}, x);
  check_values(check, function::isnan, Five{0.0f, 0.0f, 0.0f, 0.0f, 0.0f}, x);
  check_values(check, function::logical_not, Five{0.0f, 0.0f, 0.0f, 0.0f, 0.0f}, x);
  check_values(check, function::round, Five{-7.0f, -1.0f, 0.0f, 2.0f, 1000.0f}, x);
  check_values(check, function::floor, Five{-7.0f, -1.0f, 0.0f, 2.0f, 1000.0f}, x);
  check_values(check, function::ceil, Five{-6.0f, -0.0f, 1.0f, 3.0f, 1001.0f}, x);
  check_values(check, function::trunc, Five{-6.0f, -0.0f, 0.0f, 2.0f, 1000.0f}, x);
  check_values(check, function::sin, Five{-0.450044074f, -0.585097273f, 0.423676257f, 0.598472144f, 0.940308668f}, x);
  check_values(check, function::cos, Five{0.893006345f, 0.81096312f, 0.905813683f, -0.801143616f, 0.340322801f}, x);
  check_values(check, function::tanh, Five{-0.999997258f, -0.554599722f, 0.411570056f, 0.986614298f, 1.0f}, x);
  check_values(check, function::erf, Five{-1.0f, -0.623240882f, 0.463898136f, 0.999593048f, 1.0f}, x);
  check_values(check, function::sigmoid, Five{0.00116951027f, 0.348645135f, 0.60766317f, 0.92414182f, 1.0f}, x);
  check_values(check, function::relu, Five{0.0f, 0.0f, 0.4375f, 2.5f, 1000.25f}, x);
  check_values(check, function::gelu, Five{-4.9897711e-11f, -0.166240956f, 0.292742455f, 2.48447584f, 1000.25f}, x);
  check_values(check, function::gelu_tanh, Five{-4.17594832e-14f, -0.16627885f, 0.292731923f, 2.48491573f, 1000.25f}, x);
  check_values(check, function::silu, Five{-0.00789419429f, -0.21790321f, 0.265852637f, 2.31035455f, 1000.25f}, x);
  check_values(check, function::softplus, Five{0.00117019468f, 0.428700678f, 0.935634548f, 2.57888973f, 1000.25f}, x);
  check_values(check, function::logsigmoid, Five{-6.75117019f, -1.05370068f, -0.498134548f, -0.0788897343f, 0.0f}, x);
  check_values(check, function::softsign, Five{-0.870967742f, -0.384615385f, 0.304347826f, 0.714285714f, 0.999001248f}, x);
  check_values(check, function::mish, Five{-0.00789881046f, -0.252646797f, 0.320779422f, 2.4713923f, 1000.25f}, x);
  check_values(check, function::selu, Five{-1.75604082f, -0.817056576f, 0.459681682f, 2.62675247f, 1050.96366f}, x);
  check_values(check, function::hardsigmoid, Five{0.0f, 0.395833333f, 0.572916667f, 0.916666667f, 1.0f}, x);
  check_values(check, function::hardswish, Five{-0.0f, -0.247395833f, 0.250651042f, 2.29166667f, 1000.25f}, x);
  check_values(check, function::log, Five{-2.77258872f, -0.287682072f, 0.0f, 1.01160091f, 6.90800525f}, positive);
  check_values(check, function::log2, Five{-4.0f, -0.415037499f, 0.0f, 1.45943162f, 9.96614491f}, positive);
  check_values(check, function::log10, Five{-1.20411998f, -0.124938737f, 0.0f, 0.439332694f, 3.00010856f}, positive);
  check_values(check, function::log1p, Five{0.0606246218f, 0.559615788f, 0.693147181f, 1.32175584f, 6.9090045f}, positive);
  check_values(check, function::sqrt, Five{0.25f, 0.866025404f, 1.0f, 1.6583124f, 31.6267292f}, positive);
  check_values(check, function::rsqrt, Five{4.0f, 1.15470054f, 1.0f, 0.603022689f, 0.0316188245f}, positive);
  check_values(check, function::exp, Five{0.00117087962f, 0.535261429f, 1.00097704f, 12.182494f, 485165195.0f}, little);
  check_values(check, function::expm1, Five{-0.99882912f, -0.464738571f, 0.000977039492f, 11.182494f, 485165194.0f}, little);
  check_values(check, function::add, Five{-4.25f, -1.25f, -2.5625f, 2.6875f, 1000.75f}, x, y);
  check_values(check, function::subtract, Five{-9.25f, 0.0f, 3.4375f, 2.3125f, 999.75f}, x, y);
  check_values(check, function::multiply, Five{-16.875f, 0.390625f, -1.3125f, 0.46875f, 500.125f}, x, y);
  check_values(check, function::divide, Five{-2.7f, 1.0f, -0.145833333f, 13.3333333f, 2000.5f}, x, y);
  check_values(check, function::minimum, Five{-6.75f, -0.625f, -3.0f, 0.1875f, 0.5f}, x, y);
  check_values(check, function::maximum, Five{2.5f, -0.625f, 0.4375f, 2.5f, 1000.25f}, x, y);
  check_values(check, function::less, Five{1.0f, 0.0f, 0.0f, 0.0f, 0.0f}, x, y);
  check_values(check, function::less_equal, Five{1.0f, 1.0f, 0.0f, 0.0f, 0.0f}, x, y);
  check_values(check, function::greater, Five{0.0f, 0.0f, 1.0f, 1.0f, 1.0f}, x, y);
  check_values(check, function::greater_equal, Five{0.0f, 1.0f, 1.0f, 1.0f, 1.0f}, x, y);
  check_values(check, function::equal, Five{0.0f, 1.0f, 0.0f, 0.0f, 0.0f}, x, y);
  check_values(check, function::not_equal, Five{1.0f, 0.0f, 1.0f, 1.0f, 1.0f}, x, y);
  check_values(check, function::logical_and, Five{1.0f, 1.0f, 1.0f, 1.0f, 1.0f}, x, y);
  check_values(check, function::logical_or, Five{1.0f, 1.0f, 1.0f, 1.0f, 1.0f}, x, y);
  check_values(check, function::remainder, Five{0.75f, -0.0f, -2.5625f, 0.0625f, 0.25f}, x, y);
  check_values(check, function::floor_divide, Five{-3.0f, 1.0f, -1.0f, 13.0f, 2000.0f}, x, y);
  check_values(check, function::leaky_relu, Five{-16.875f, 0.390625f, 0.4375f, 2.5f, 1000.25f}, x, y);
  check_values(check, function::elu, Five{-2.4970728f, 0.290461607f, 0.4375f, 2.5f, 1000.25f}, x, y);
  check_values(check, function::celu, Five{-2.33198622f, -1.07392614f, 0.4375f, 2.5f, 1000.25f}, x, y);
  check_values(check, function::power, Five{0.064f, 5.0625f, 0.111111111f, 1.24889543e-15f, 0.707106781f}, base, exponent);
  check_values(check, function::fma, Five{-16.625f, -1.609375f, 3.6875f, 0.46875f, 500.625f}, x, y, z);
  check_values(check, function::lerp, Five{-4.4375f, -0.625f, -16.75f, 2.5f, 500.375f}, x, y, z);
  check_values(check, function::clamp, Five{0.25f, -2.0f, 0.4375f, 0.0f, 0.5f}, x, y, z);
  check_values(check, function::select, Five{2.5f, -0.625f, -3.0f, 0.1875f, 0.5f}, x, y, z);
}

// What is not finite, next to what PyTorch gives: a number, or whether it is a NaN.
struct Special {
  float a, b, minimum, maximum, power, remainder;
  bool less, equal, both;
};
constexpr Special specials[] = {
    {infinity, infinity, infinity, infinity, infinity, quiet_nan, false, true, true},
    {-infinity, 3.0f, -infinity, 3.0f, -infinity, quiet_nan, true, false, true},
    {quiet_nan, 0.0f, quiet_nan, quiet_nan, 1.0f, quiet_nan, false, false, false},
    {1.0f, quiet_nan, quiet_nan, quiet_nan, 1.0f, quiet_nan, false, false, true},
    {-2.0f, infinity, -2.0f, infinity, infinity, infinity, true, false, true},
    {-0.0f, -3.0f, -3.0f, -0.0f, -infinity, -0.0f, false, false, false},
    {-8.0f, 0.5f, -8.0f, 0.5f, quiet_nan, 0.0f, true, false, true},
    {0x1p100f, 3.0f, 3.0f, 0x1p100f, infinity, 1.0f, false, false, true},
};
void check_specials(Check& check) {
  for (const Special& s : specials) {
    const auto of = [&](auto function) { return elementwise(function, opaque(s.a), s.b)(0); };
    check.same_bits(of(function::minimum), s.minimum);
    check.same_bits(of(function::maximum), s.maximum);
    check.same_bits(of(function::power), s.power);
    check.that(of(function::remainder) == s.remainder || s.remainder != s.remainder);
    check.that((of(function::less) == 1.0f) == s.less && (of(function::equal) == 1.0f) == s.equal);
    check.that((of(function::less_equal) == 1.0f) == (s.less || s.equal) && (of(function::not_equal) == 1.0f) == !s.equal);
    check.that((of(function::logical_and) == 1.0f) == s.both && of(function::logical_or) == 1.0f);
    check.that(elementwise(function::isnan, opaque(s.a))(0) == (s.a != s.a ? 1.0f : 0.0f));
  }
  for (const float number : {quiet_nan, infinity, -infinity}) {
    const auto of = [&](auto function) { return elementwise(function, opaque(number))(0); };
    check.that(of(function::sin) != of(function::sin) && of(function::cos) != of(function::cos) && of(function::logical_not) == 0.0f);
    check.same_bits(of(function::log1p), number == -infinity ? quiet_nan : number);
    check.same_bits(of(function::expm1), number == -infinity ? -1.0f : number);
    check.same_bits(of(function::round), number);
  }
  check.near(elementwise(function::sin, opaque(0x1p100f))(0), -0x1.be8edap-1f, 0x1p-23f);
  check.that(elementwise(function::sign, opaque(quiet_nan))(0) == 0.0f);
}

constexpr Test tests[] = {
    everywhere("each function computes what PyTorch does", check_functions),
    at_run_time("NaN, infinity and large numbers", check_specials),
    everywhere("axes of extent 1, and those in front that an operand lacks, are repeated; numbers are for all",
               [](Check& check) {
                 const auto a = opaque(drawn<Tensor<float, 2, 1, 17>>(1));
                 const auto b = drawn<Matrix<float, 3, 1>>(2);
                 const auto out = elementwise(function::fma, a, b, 2);
                 for (std::size_t i = 0; i < 2; ++i)
                   for (std::size_t j = 0; j < 3; ++j)
                     for (std::size_t k = 0; k < 17; ++k) check.same_bits(out(i, j, k), fma(a(i, 0, k), b(j, 0), 2.0f));
                 check_output(check, out, [&](auto& to) { elementwise(function::fma, a, b, 2.0, to); });
                 check_output(check, out,
                              [&](auto& to) { elementwise([](float p, float q, float r) { return fma(p, q, r); }, a, b, 2, to); });
               }),
    everywhere("views in any order, and in place",
               [](Check& check) {
                 const auto m = opaque(drawn<Matrix<float, 3, 21>>(1)), n = drawn<Matrix<float, 3, 21>>(2);
                 const auto expected = elementwise(function::divide, m, n);
                 check_in_place(check, expected, m, [&](auto& both) { elementwise(function::divide, both, n, both); });
                 check_in_place(check, expected, n, [&](auto& both) { elementwise(function::divide, m, both, both); });
                 using Columns = StridedView<const float, Extents<21, 3>, Strides<1, 21>>;
                 check_output(check, transpose(expected),
                              [&](auto& to) { elementwise(function::divide, Columns{m.data()}, Columns{n.data()}, to); });
                 check_output(check, expected, [&](auto& to) {
                   elementwise(function::divide, Columns{m.data()}, Columns{n.data()},
                               StridedView<float, Extents<21, 3>, Strides<1, 21>>{to.data()});
                 });
                 check_output(check, widened(expected, 1), [&](auto& wide) { elementwise(function::divide, m, n, columns<21>(wide, 1)); });
               }),
    everywhere("copy: permuted, repeated, reversed, into a slice",
               [](Check& check) {
                 const auto from = opaque(drawn<Tensor<float, 2, 3, 4>>(1));
                 Tensor<float, 4, 2, 3> permuted{};
                 copy(StridedView<const float, Extents<4, 2, 3>, Strides<1, 12, 4>>{from.data()}, permuted);
                 for (std::size_t i = 0; i < 24; ++i) check.same_bits(permuted(i % 4, i / 12, i / 4 % 3), from.elements[i]);
                 Matrix<float, 2, 5> slice{};
                 copy(1.5f, StridedView<float, Extents<2, 2>, Strides<5, 1>>{slice.data() + 1});
                 check.equal(slice, matrix<float>({{0.0f, 1.5f, 1.5f, 0.0f, 0.0f}, {0.0f, 1.5f, 1.5f, 0.0f, 0.0f}}));
                 Vector<float, 24> reversed{};
                 copy(StridedView<const float, Extents<24>, Strides<-1>>{from.data() + 23}, reversed);
                 for (std::size_t i = 0; i < 24; ++i) check.same_bits(reversed(i), from.elements[23 - i]);
               }),
};

}  // namespace

int main() { return run(tests); }
