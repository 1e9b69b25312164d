// SPDX-License-Identifier: MIT
//
// Sums, differences and products: of what shapes, in which forms of a call, rounded once.
#include "tinyattn/arithmetic.hpp"

#include <type_traits>

#include "catalogue/draw.hpp"
#include "catalogue/guarded.hpp"
#include "tinyattn/tensor.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

inline constexpr auto call_add = [](auto&&... args) { return add(args...); };
inline constexpr auto call_subtract = [](auto&&... args) { return subtract(args...); };
inline constexpr auto call_multiply = [](auto&&... args) { return multiply(args...); };

// A type of the library deduces what a call returns: the shape of the larger operand.
static_assert(std::is_same_v<decltype(add(Vector<float, 3>{}, Tensor<float, 2, 4, 3>{})), Tensor<float, 2, 4, 3>>);
static_assert(std::is_same_v<decltype(subtract(1, Vector<float, 3>{})), Vector<float, 3>>);
static_assert(std::is_same_v<decltype(multiply(Matrix<float, 1, 3>{}, Vector<float, 3>{})), Matrix<float, 1, 3>>);

// Element i of a term: of a number, and of a row with `cols` columns, it is that of all rows.
template <class Term>
constexpr float element(const Term& term, std::size_t i) noexcept {
  if constexpr (tensor_like<Term>)
    return term.data()[i % term.size()];
  else
    return static_cast<float>(term);
}

// Checks every form of a call: by value, into an output, into a view, and into each operand that has the shape of the result.
template <class Out, class TermA, class TermB>
constexpr void check_forms(Check& check, auto operation, const TermA& a, const TermB& b, auto exact, int line = __builtin_LINE()) {
  Out expected{};
  for (std::size_t i = 0; i < expected.size(); ++i) expected.data()[i] = exact(element(a, i), element(b, i));
  check.same_bits(operation(a, b), expected, line);
  check_output(
      check, expected, [&](auto& out) { operation(a, b, out); }, line);
  if constexpr (std::is_same_v<TermA, Out>)
    check_in_place(
        check, expected, a, [&](auto& both) { operation(both, b, both); }, line);
  if constexpr (std::is_same_v<TermB, Out>)
    check_in_place(
        check, expected, b, [&](auto& both) { operation(a, both, both); }, line);
}

// Draws numbers whose sums have to be rounded, but are exact in a double.
constexpr void draw_apart(Draw& draw, auto&... tensors) noexcept {
  const auto fill = [&](auto& tensor) {
    for (float& x : tensor.elements) x = draw.wide_number(12);
  };
  (fill(tensors), ...);
}

// Checks an operation with operands of every kind, of `Cols` columns, against a formula in doubles.
template <std::size_t Cols>
constexpr void check_kinds(Check& check, Draw& draw, auto operation, auto exact) {
  Matrix<float, 3, Cols> m, n;
  Tensor<float, 2, 2, Cols> batch;
  Vector<float, Cols> row, other_row;
  draw_apart(draw, m, n, batch, row, other_row);
  const float number = draw.wide_number(12);
  check_forms<Matrix<float, 3, Cols>>(check, operation, m, n, exact);
  check_forms<Vector<float, Cols>>(check, operation, row, other_row, exact);
  check_forms<Matrix<float, 3, Cols>>(check, operation, m, row, exact);
  check_forms<Matrix<float, 3, Cols>>(check, operation, row, m, exact);
  check_forms<Tensor<float, 2, 2, Cols>>(check, operation, batch, row, exact);
  check_forms<Tensor<float, 2, 2, Cols>>(check, operation, batch, batch, exact);
  check_forms<Matrix<float, 3, Cols>>(check, operation, m, number, exact);
  check_forms<Matrix<float, 3, Cols>>(check, operation, number, m, exact);
}

// Calls each kind with rows below, at and above the width of vectors.
constexpr void check_widths(Check& check, auto operation, auto exact) {
  Draw draw(17);
  check_kinds<1>(check, draw, operation, exact);
  check_kinds<5>(check, draw, operation, exact);
  check_kinds<16>(check, draw, operation, exact);
  check_kinds<21>(check, draw, operation, exact);
}

constexpr Test tests[] = {
    everywhere("add: of one shape, with a row, with a number",
               [](Check& check) { check_widths(check, call_add, [](double a, double b) { return static_cast<float>(a + b); }); }),
    everywhere("subtract: of one shape, with a row, with a number",
               [](Check& check) { check_widths(check, call_subtract, [](double a, double b) { return static_cast<float>(a - b); }); }),
    everywhere("multiply: of one shape, with a row, with a number",
               [](Check& check) { check_widths(check, call_multiply, [](double a, double b) { return static_cast<float>(a * b); }); }),
};

}  // namespace

int main() { return run(tests); }
