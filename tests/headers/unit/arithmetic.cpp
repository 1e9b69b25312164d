// SPDX-License-Identifier: MIT
//
// Sums, differences and products, elementwise: equal shapes, a row, a number.
#include "tinyattn/arithmetic.hpp"

#include <type_traits>

#include "forms.hpp"

namespace tinyattn::test { namespace {

// The result has the shape of the operand that is not broadcast; of two single rows, the matrix's shape.
static_assert(std::is_same_v<decltype(add(Vector<float, 3>{}, Tensor<float, 2, 4, 3>{})), Tensor<float, 2, 4, 3>>);
static_assert(std::is_same_v<decltype(subtract(1, Vector<float, 3>{})), Vector<float, 3>>);
static_assert(std::is_same_v<decltype(multiply(Matrix<float, 1, 3>{}, Vector<float, 3>{})), Matrix<float, 1, 3>>);
static_assert(std::is_same_v<decltype(multiply(Vector<float, 3>{}, Matrix<float, 1, 3>{})), Matrix<float, 1, 3>>);

constexpr Test tests[] = {
    everywhere("on paper",
               [](Check& check) {
                 const auto m = opaque(matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}));
                 const auto row = vector<float>({10.0f, 20.0f, 30.0f});
                 check.equal(add(m, row), matrix<float>({{11.0f, 22.0f, 33.0f}, {14.0f, 25.0f, 36.0f}}));
                 check.equal(subtract(m, row), matrix<float>({{-9.0f, -18.0f, -27.0f}, {-6.0f, -15.0f, -24.0f}}));
                 check.equal(subtract(row, m), matrix<float>({{9.0f, 18.0f, 27.0f}, {6.0f, 15.0f, 24.0f}}));
                 check.equal(multiply(m, row), matrix<float>({{10.0f, 40.0f, 90.0f}, {40.0f, 100.0f, 180.0f}}));
                 check.equal(subtract(1, m), matrix<float>({{0.0f, -1.0f, -2.0f}, {-3.0f, -4.0f, -5.0f}}));
                 check.equal(subtract(m, 1.0), matrix<float>({{0.0f, 1.0f, 2.0f}, {3.0f, 4.0f, 5.0f}}));
                 check.equal(multiply(0.5f, m), matrix<float>({{0.5f, 1.0f, 1.5f}, {2.0f, 2.5f, 3.0f}}));
                 check.equal(add(columns<2>(m, 1), columns<2>(m, 0)), matrix<float>({{3.0f, 5.0f}, {9.0f, 11.0f}}));
               }),
    everywhere("in each form",
               [](Check& check) {
                 const auto m = drawn<Matrix<float, 2, 21>>(1), n = drawn<Matrix<float, 2, 21>>(2);
                 const auto row_of_n = row(n, 0);
                 const auto check_one = [&](auto operation) {
                   check_forms_in_place(check, m, [&](const auto& x, auto&... out) { return operation(x, row_of_n, out...); });
                   check_forms_in_place(check, m, [&](const auto& x, auto&... out) { return operation(row_of_n, x, out...); });
                   check_forms_in_place(check, m, [&](const auto& x, auto&... out) { return operation(x, 0.3f, out...); });
                   check_forms_in_place(check, m, [&](const auto& x, auto&... out) { return operation(0.3f, x, out...); });
                   const auto expected = operation(opaque(m), n);
                   check.same_bits(row(expected, 0), operation(row(m, 0), row_of_n));
                   check_in_place(check, expected, m, [&](auto& both) { operation(both, n, both); });
                   check_in_place(check, expected, n, [&](auto& both) { operation(m, both, both); });
                   check_output(check, stack(expected, expected), [&](auto& out) { operation(stack(m, m), stack(n, n), out); });
                 };
                 check_one([](auto&&... args) { return add(args...); });
                 check_one([](auto&&... args) { return subtract(args...); });
                 check_one([](auto&&... args) { return multiply(args...); });
               }),
    everywhere("zeros have the sign of IEEE 754",
               [](Check& check) {
                 const auto zero = opaque(vector<float>({0.0f})), negative = opaque(vector<float>({-0.0f}));
                 check.same_bits(subtract(zero, zero), zero);
                 check.same_bits(subtract(negative, zero), negative);
                 check.same_bits(subtract(zero, 0.0f), zero);
                 check.same_bits(subtract(-0.0f, zero), negative);
                 check.same_bits(add(negative, negative), negative);
                 check.same_bits(multiply(negative, 1.0f), negative);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
