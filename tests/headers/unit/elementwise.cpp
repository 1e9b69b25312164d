// SPDX-License-Identifier: MIT
//
// Functions of each element: values that PyTorch computed in double, how operands are repeated, NaN and infinity.
#include "tinyattn/elementwise.hpp"

#include "catalogue/primitives.hpp"
#include "forms.hpp"
#include "golden/activations.hpp"
#include "tinyattn/strided.hpp"

namespace tinyattn::test { namespace {

namespace torch = reference;

// To 10^-6 of a value, which is 17 units in the last place or fewer.
constexpr void check_values(Check& check, auto function, const Vector<float, 5>& expected, const auto&... operands) {
  const auto out = elementwise(function, opaque(operands)...);
  for (std::size_t i = 0; i < 5; ++i) check.near(out(i), expected(i), 1e-6f * (expected(i) < 0.0f ? -expected(i) : expected(i)));
}

constexpr void check_functions(Check& check) {
  constexpr auto x = torch::elementwise_x, y = torch::elementwise_y, z = torch::elementwise_z, positive = torch::elementwise_positive;
#define CHECK(name, ...) check_values(check, function::name, torch::elementwise_##name, __VA_ARGS__);
#define OF_ONE(name, ...) CHECK(name, x)
#define OF_A_POSITIVE(name) CHECK(name, positive)
#define OF_TWO(name) CHECK(name, x, y)
#define OF_THREE(name) CHECK(name, x, y, z)
  FUNCTIONS_OF_ONE(OF_ONE)
  TINYATTN_ACTIVATIONS(OF_ONE)
  FUNCTIONS_OF_A_POSITIVE(OF_A_POSITIVE)
  FUNCTIONS_OF_TWO(OF_TWO)
  FUNCTIONS_OF_THREE(OF_THREE)
  CHECK(power, torch::elementwise_base, torch::elementwise_exponent)
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

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
