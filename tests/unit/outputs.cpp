// SPDX-License-Identifier: MIT
//
// Operations with the output last: the bits of the forms by value, nothing behind the output is
// touched, and the output may be an input where the header says so.
#include "plain.hpp"
#include "support/check.hpp"
#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr auto a = numbers<Matrix<float, 5, 7>>(1);
constexpr auto b = numbers<Matrix<float, 5, 7>>(2);
constexpr auto above = triu(ones<bool, 5, 7>(), 1);

// What `operation` writes into an output between guards is `expected`.
template <class Expected>
constexpr void check_output(Check& check, const Expected& expected, auto operation) {
  Guarded<Expected> out;
  operation(out.tensor);
  check.same_bits(out.tensor, expected);
  check.that(out.guards_hold());
}

// The same, where the output is the input `in`.
template <class Expected>
constexpr void check_in_place(Check& check, const Expected& expected, const Expected& in, auto operation) {
  auto both = hidden(in);
  operation(both);
  check.same_bits(both, expected);
}

constexpr Test tests[] = {
    everywhere("rows, columns, transposes and batches",
               [](Check& check) {
                 check_output(check, row(a, 3), [](auto& out) { row(hidden(a), 3, out); });
                 check_output(check, transpose(a), [](auto& out) { transpose(hidden(a), out); });
                 check_output(check, concat_columns(a, b), [](auto& out) { concat_columns(hidden(a), b, out); });
                 check_output(check, stack(a, b), [](auto& out) { stack(hidden(a), b, out); });
               }),
    everywhere("sums",
               [](Check& check) {
                 check_output(check, add(a, b), [](auto& out) { add(hidden(a), b, out); });
                 check_in_place(check, add(a, b), a, [](auto& m) { add(m, b, m); });
                 check_in_place(check, add(a, b), b, [](auto& m) { add(a, m, m); });
                 auto wide = hidden(a);
                 auto left = columns<3>(wide, 0);
                 add(left, columns<3>(b, 4), left);
                 for (std::size_t i = 0; i < 5; ++i)
                   for (std::size_t j = 0; j < 7; ++j) check.same_bits(wide(i, j), j < 3 ? a(i, j) + b(i, j + 4) : a(i, j));
               }),
    everywhere("triangles and masks",
               [](Check& check) {
                 check_in_place(check, tril(a, -1), a, [](auto& m) { tril(m, -1, m); });
                 check_in_place(check, triu(a, 2), a, [](auto& m) { triu(m, 2, m); });
                 check_in_place(check, masked_fill(a, above, 9.0f), a, [](auto& m) { masked_fill(m, above, 9.0f, m); });
               }),
    everywhere("draws",
               [](Check& check) {
                 Mt19937 by_value(hidden(7u)), output_last(hidden(7u));
                 const auto drawn = rand<5, 7>(by_value);
                 check_output(check, drawn, [&](auto& out) { rand(output_last, out); });
                 const auto dropped = dropout(a, 0.5, by_value);
                 check_in_place(check, dropped, a, [&](auto& m) { dropout(m, 0.5, output_last, m); });
               }),
    everywhere("a Linear, of a batch and of a vector too",
               [](Check& check) {
                 const Linear<7, 3> linear{numbers<Matrix<float, 7, 3>>(3), numbers<Vector<float, 3>>(4)};
                 check_output(check, linear(a), [&](auto& out) { linear.forward(hidden(a), out); });
                 check_output(check, linear(stack(a, b)), [&](auto& out) { linear.forward(stack(a, b), out); });
                 check_output(check, linear(row(a, 1)), [&](auto& out) { linear.forward(row(a, 1), out); });
               }),
};

}  // namespace

int main() { return run(tests); }
