// SPDX-License-Identifier: MIT
//
// Shapes: what a tensor is in memory, how one is made, and the few ways to take it apart.
#include "tinyattn/tensor.hpp"

#include <cstdint>
#include <type_traits>

#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

static_assert(std::is_same_v<Matrix<float, 2, 3>, Tensor<float, 2, 3>>);
static_assert(std::is_same_v<Vector<float, 3>, Tensor<float, 3>>);
static_assert(sizeof(Matrix<float, 6, 3>) == 6 * 3 * sizeof(float));
static_assert(sizeof(Tensor<bool, 2, 3, 5>) == 30 * sizeof(bool));
static_assert(sizeof(Vector<std::uint8_t, 1>) == 1);
static_assert(alignof(Matrix<float, 5, 7>) == alignof(float) && alignof(Vector<std::uint8_t, 4>) == 1);
static_assert(std::is_trivially_copyable_v<Matrix<float, 2, 3>> && std::is_standard_layout_v<Matrix<float, 2, 3>>);
static_assert(std::is_aggregate_v<Matrix<float, 2, 3>> && std::is_trivially_default_constructible_v<Matrix<float, 2, 3>>);
static_assert(Tensor<float, 2, 3, 5>::rank == 3 && Tensor<float, 2, 3, 5>::element_count == 30 && Vector<float, 4>::rank == 1);

constexpr auto small = matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});

constexpr Test tests[] = {
    everywhere("a matrix literal has the shape it is written in",
               [](Check& check) {
                 constexpr auto m = matrix<float>({{0.43f, 0.15f, 0.89f}, {0.55f, 0.87f, 0.66f}});
                 static_assert(std::is_same_v<decltype(m), const Matrix<float, 2, 3>>);
                 check.equal(m(0, 0), 0.43f);
                 check.equal(m(0, 2), 0.89f);
                 check.equal(m(1, 0), 0.55f);
                 check.equal(m(1, 2), 0.66f);
                 constexpr auto v = vector<float>({1.0f, 2.0f});
                 static_assert(std::is_same_v<decltype(v), const Vector<float, 2>>);
                 check.that(v(0) == 1.0f && v(1) == 2.0f);
                 constexpr auto flags = matrix<bool>({{true, false}});
                 static_assert(std::is_same_v<decltype(flags), const Matrix<bool, 1, 2>>);
                 check.that(flags(0, 0) && !flags(0, 1));
               }),
    everywhere("size and extents",
               [](Check& check) {
                 const Tensor<float, 2, 3, 5> t{};
                 check.equal(t.size(), std::size_t{30});
                 check.that(t.extent(0) == 2 && t.extent(1) == 3 && t.extent(2) == 5);
                 check.that(small.size() == 6 && small.extent(0) == 2 && small.extent(1) == 3);
               }),
    everywhere("elements lie row after row",
               [](Check& check) {
                 const auto m = hidden(small);
                 for (std::size_t i = 0; i < 6; ++i) check.equal(m.data()[i], static_cast<float>(i + 1));
                 Tensor<int, 2, 3, 5> t{};
                 t(1, 2, 3) = 7;
                 check.equal(t.data()[1 * 15 + 2 * 5 + 3], 7);
                 t.data()[29] = 8;
                 check.equal(t(1, 2, 4), 8);
               }),
    everywhere("braces give zeros", [](Check& check) { check.that(Matrix<float, 2, 3>{} == zeros<float, 2, 3>()); }),
    everywhere("tensors are equal when every element is",
               [](Check& check) {
                 auto other = hidden(small);
                 check.that(other == small);
                 other(1, 2) = 6.5f;
                 check.that(other != small);
                 check.that(!(other == small));
               }),
    everywhere("zeros, ones, full",
               [](Check& check) {
                 constexpr auto z = zeros<float, 2, 2>();
                 constexpr auto o = ones<int, 3>();
                 const auto f = full<float, 2, 1, 2>(hidden(2.5f));
                 static_assert(std::is_same_v<decltype(z), const Matrix<float, 2, 2>> && std::is_same_v<decltype(o), const Vector<int, 3>>);
                 check.that(z(0, 0) == 0.0f && z(0, 1) == 0.0f && z(1, 0) == 0.0f && z(1, 1) == 0.0f);
                 check.that(o(0) == 1 && o(1) == 1 && o(2) == 1);
                 for (std::size_t i = 0; i < 4; ++i) check.equal(f.data()[i], 2.5f);
                 check.that(ones<bool, 1>()(0) && !zeros<bool, 1>()(0));
               }),
    everywhere("a row is a vector of its own",
               [](Check& check) {
                 auto m = hidden(small);
                 const auto second = row(m, 1);
                 static_assert(std::is_same_v<decltype(second), const Vector<float, 3>>);
                 m(1, 0) = 0.0f;
                 check.equal(second, vector<float>({4.0f, 5.0f, 6.0f}));
               }),
    everywhere("transpose",
               [](Check& check) {
                 check.equal(transpose(hidden(small)), matrix<float>({{1.0f, 4.0f}, {2.0f, 5.0f}, {3.0f, 6.0f}}));
                 check.equal(transpose(transpose(hidden(small))), small);
               }),
    everywhere("concat_columns puts the second matrix to the right",
               [](Check& check) {
                 check.equal(concat_columns(hidden(small), matrix<float>({{7.0f}, {8.0f}})),
                             matrix<float>({{1.0f, 2.0f, 3.0f, 7.0f}, {4.0f, 5.0f, 6.0f, 8.0f}}));
               }),
    everywhere("stack makes a batch of two",
               [](Check& check) {
                 const auto batch = stack(hidden(small), full<float, 2, 3>(9.0f));
                 static_assert(std::is_same_v<decltype(batch), const Tensor<float, 2, 2, 3>>);
                 check.that(batch(0, 0, 0) == 1.0f && batch(0, 1, 2) == 6.0f && batch(1, 0, 0) == 9.0f && batch(1, 1, 2) == 9.0f);
                 const auto rows = stack(vector<float>({1.0f, 2.0f}), vector<float>({3.0f, 4.0f}));
                 check.equal(rows, matrix<float>({{1.0f, 2.0f}, {3.0f, 4.0f}}));
               }),
    everywhere("add, element by element",
               [](Check& check) {
                 check.equal(add(hidden(small), full<float, 2, 3>(10.0f)), matrix<float>({{11.0f, 12.0f, 13.0f}, {14.0f, 15.0f, 16.0f}}));
                 check.equal(add(vector<float>({0.5f}), vector<float>({0.25f})), vector<float>({0.75f}));
               }),
    everywhere("columns is a view: it copies nothing",
               [](Check& check) {
                 auto m = hidden(small);
                 auto view = columns<2>(m, 1);
                 check.that(view(0, 0) == 2.0f && view(0, 1) == 3.0f && view(1, 0) == 5.0f && view(1, 1) == 6.0f);
                 m(1, 2) = 60.0f;
                 check.equal(view(1, 1), 60.0f);
                 view(0, 0) = 20.0f;
                 check.equal(m(0, 1), 20.0f);
               }),
    everywhere("a view of a constant matrix reads", [](Check& check) { check.equal(columns<1>(small, 2)(1, 0), 6.0f); }),
    everywhere("twelve features in three heads: 0 to 3, 4 to 7, 8 to 11",
               [](Check& check) {
                 Matrix<float, 2, 12> m{};
                 for (std::size_t i = 0; i < 24; ++i) m.data()[i] = static_cast<float>(i);
                 m = hidden(m);
                 for (std::size_t head = 0; head < 3; ++head) {
                   const auto view = columns<4>(m, head * 4);
                   for (std::size_t feature = 0; feature < 4; ++feature) {
                     check.equal(view(1, feature), static_cast<float>(12 + head * 4 + feature));
                   }
                 }
               }),
};

}  // namespace

int main() { return run(tests); }
