// SPDX-License-Identifier: MIT
//
// Tensors: their layout in memory, functions that make them, and functions that take parts of them.
#include "tinyattn/tensor.hpp"

#include <cstdint>
#include <type_traits>

#include "catalogue/draw.hpp"
#include "catalogue/guarded.hpp"

namespace tinyattn::test { namespace {

static_assert(std::is_same_v<Matrix<float, 2, 3>, Tensor<float, 2, 3>>);
static_assert(std::is_same_v<Vector<float, 3>, Tensor<float, 3>>);
static_assert(sizeof(Matrix<float, 6, 3>) == 6 * 3 * sizeof(float));
static_assert(sizeof(Tensor<bool, 2, 3, 5>) == 30 * sizeof(bool));
static_assert(sizeof(Vector<std::uint8_t, 1>) == 1);
static_assert(alignof(Matrix<float, 5, 7>) == alignof(float) && alignof(Vector<std::uint8_t, 4>) == 1);
static_assert(std::is_trivially_copyable_v<Matrix<float, 2, 3>> && std::is_standard_layout_v<Matrix<float, 2, 3>>);
static_assert(std::is_aggregate_v<Matrix<float, 2, 3>> && std::is_trivially_default_constructible_v<Matrix<float, 2, 3>>);
static_assert(Tensor<float, 2, 3, 5>::rank == 3 && Tensor<float, 2, 3, 5>::element_count == 30 && Vector<float, 4>::rank == 1);

// Functions that make tensors deduce the shape.
constexpr auto small = matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
static_assert(std::is_same_v<decltype(small), const Matrix<float, 2, 3>>);
static_assert(std::is_same_v<decltype(vector<float>({1.0f, 2.0f})), Vector<float, 2>>);
static_assert(std::is_same_v<decltype(matrix<bool>({{true, false}})), Matrix<bool, 1, 2>>);
static_assert(std::is_same_v<decltype(zeros<float, 2, 2>()), Matrix<float, 2, 2>>);
static_assert(std::is_same_v<decltype(ones<int, 3>()), Vector<int, 3>>);
static_assert(std::is_same_v<decltype(row(small, 1)), Vector<float, 3>>);
static_assert(std::is_same_v<decltype(stack(small, small)), Tensor<float, 2, 2, 3>>);

static_assert(small.size() == 6 && small.extent(0) == 2 && small.extent(1) == 3 && Tensor<float, 2, 3, 5>{}.extent(2) == 5);

// Checks what `operation` returns, and what it writes to an output.
template <class Expected>
constexpr void check_forms(Check& check, auto operation, const Expected& expected) {
  check.same_bits(operation(), expected);
  check_output(check, expected, [&](auto& out) { operation(out); });
}

constexpr Test tests[] = {
    everywhere("elements lie row after row, as a literal is written",
               [](Check& check) {
                 const auto m = opaque(small);
                 for (std::size_t i = 0; i < 6; ++i) check.equal(m.data()[i], static_cast<float>(i + 1));
                 check.that(m(0, 0) == 1.0f && m(0, 2) == 3.0f && m(1, 0) == 4.0f && m(1, 2) == 6.0f);
                 Tensor<int, 2, 3, 5> t{};
                 t(1, 2, 3) = 7;
                 check.equal(t.data()[1 * 15 + 2 * 5 + 3], 7);
                 t.data()[29] = 8;
                 check.equal(t(1, 2, 4), 8);
                 check.that(vector<float>({1.0f, 2.0f})(1) == 2.0f && !matrix<bool>({{true, false}})(0, 1));
               }),
    everywhere("tensors are equal when every element is",
               [](Check& check) {
                 auto other = opaque(small);
                 check.that(other == small);
                 other(1, 2) = 6.5f;
                 check.that(other != small);
                 check.that(!(other == small));
               }),
    everywhere("zeros, ones, full; braces give zeros",
               [](Check& check) {
                 check.equal(zeros<float, 2, 2>(), opaque(matrix<float>({{0.0f, 0.0f}, {0.0f, 0.0f}})));
                 check.equal(Matrix<float, 2, 2>{}, zeros<float, 2, 2>());
                 check.equal(ones<int, 3>(), opaque(vector<int>({1, 1, 1})));
                 const auto f = full<float, 2, 1, 2>(opaque(2.5f));
                 for (std::size_t i = 0; i < 4; ++i) check.equal(f.data()[i], 2.5f);
                 check.that(ones<bool, 1>()(0) && !zeros<bool, 1>()(0));
               }),
    everywhere("row, transpose, concat_columns, concat_rows and stack, by value and into an output",
               [](Check& check) {
                 const auto m = opaque(small);
                 check_forms(
                     check, [&](auto&... out) { return row(m, 1, out...); }, vector<float>({4.0f, 5.0f, 6.0f}));
                 check_forms(
                     check, [&](auto&... out) { return transpose(m, out...); }, matrix<float>({{1.0f, 4.0f}, {2.0f, 5.0f}, {3.0f, 6.0f}}));
                 check_forms(
                     check,
                     [&](auto&... out) {
                       return concat_columns(m, matrix<float>({{7.0f}, {8.0f}}), out...);
                     },
                     matrix<float>({{1.0f, 2.0f, 3.0f, 7.0f}, {4.0f, 5.0f, 6.0f, 8.0f}}));
                 const auto zero = zeros<float, 3>();
                 check_forms(
                     check, [&](auto&... out) { return concat_rows(zero, m, out...); },
                     matrix<float>({{0.0f, 0.0f, 0.0f}, {1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}));
                 check_forms(
                     check, [&](auto&... out) { return concat_rows(columns<2>(m, 1), columns<2>(m, 0), out...); },
                     matrix<float>({{2.0f, 3.0f}, {5.0f, 6.0f}, {1.0f, 2.0f}, {4.0f, 5.0f}}));
                 check.equal(concat_rows(row(m, 0), row(m, 1)), small);
                 Tensor<float, 2, 2, 3> batch{};
                 for (std::size_t i = 0; i < 12; ++i) batch.data()[i] = i < 6 ? small.data()[i] : 9.0f;
                 check_forms(
                     check, [&](auto&... out) { return stack(m, full<float, 2, 3>(9.0f), out...); }, batch);
                 check.equal(stack(row(m, 0), row(m, 1)), small);
                 const auto threes = concat_rows(batch, full<float, 2, 1, 3>(3.0f));
                 check.that(threes(0, 1, 2) == 6.0f && threes(0, 2, 0) == 3.0f && threes(1, 1, 2) == 9.0f && threes(1, 2, 2) == 3.0f);
               }),
    everywhere("columns is a view: it copies nothing",
               [](Check& check) {
                 auto m = opaque(small);
                 auto view = columns<2>(m, 1);
                 check.that(view(0, 0) == 2.0f && view(0, 1) == 3.0f && view(1, 0) == 5.0f && view(1, 1) == 6.0f);
                 m(1, 2) = 60.0f;
                 check.equal(view(1, 1), 60.0f);
                 view(0, 0) = 20.0f;
                 check.equal(m(0, 1), 20.0f);
                 check.equal(columns<1>(small, 2)(1, 0), 6.0f);  // of a constant matrix
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
