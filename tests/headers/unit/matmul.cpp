// SPDX-License-Identifier: MIT
//
// Products in every form of a call: every element is a sequential sum of fma for increasing k.
#include "tinyattn/matmul.hpp"

#include "tinyattn/strided.hpp"

#include "catalogue/operations.hpp"
#include "forms.hpp"

namespace tinyattn::test { namespace {

constexpr Test tests[] = {
    everywhere("leading extents are repeated for each other, on either side",
               [](Check& check) {
                 const auto check_matrices = [&](const auto& a, const auto& b, std::size_t of_a, std::size_t of_b) {
                   const auto one = [](const auto& m, std::size_t index) {
                     constexpr std::size_t rows = detail::LayoutOf<decltype(m)>::rows, cols = detail::LayoutOf<decltype(m)>::cols;
                     Matrix<float, rows, cols> result{};
                     for (std::size_t i = 0; i < rows * cols; ++i) result.elements[i] = m.elements[index * rows * cols + i];
                     return result;
                   };
                   const auto all = matmul(opaque(a), b);
                   static_assert(decltype(all)::rank == 4 || decltype(all)::rank == 3);
                   for (std::size_t i = 0, many = detail::LayoutOf<decltype(all)>::batch; i < many; ++i)
                     check.same_bits(one(all, i), matmul(one(a, i / (of_a == 1 ? many : of_b)), one(b, i % of_b)));
                   check_output(check, all, [&](auto& out) { matmul(a, b, out); });
                 };
                 check_matrices(drawn<Matrix<float, 3, 5>>(1), drawn<Tensor<float, 2, 5, 7>>(2), 1, 2);
                 check_matrices(drawn<Tensor<float, 2, 1, 3, 5>>(1), drawn<Tensor<float, 3, 5, 7>>(2), 2, 3);
                 const auto a = drawn<Tensor<float, 2, 1, 3, 5>>(1);
                 const auto b = drawn<Tensor<float, 4, 7, 5>>(2);
                 Tensor<float, 4, 5, 7> turned{};
                 copy(StridedView<const float, Extents<4, 5, 7>, Strides<35, 1, 5>>{b.data()}, turned);
                 check.same_bits(matmul_transposed(a, b), matmul(a, turned));
               }),
    everywhere("a product that fits on paper",
               [](Check& check) {
                 const auto m = opaque(matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}}));
                 const auto n = matrix<float>({{7.0f, 8.0f}, {9.0f, 10.0f}, {11.0f, 12.0f}});
                 check.equal(matmul(m, n), matrix<float>({{58.0f, 64.0f}, {139.0f, 154.0f}}));
                 check.equal(matmul_transposed(m, m), matrix<float>({{14.0f, 32.0f}, {32.0f, 77.0f}}));
                 check.equal(dot(vector<float>({1.0f, 2.0f, 3.0f}), opaque(vector<float>({4.0f, 5.0f, 6.0f}))), 32.0f);
               }),
    everywhere("of matrices, vectors, batches and views, into each",
               [](Check& check) {
                 const auto a = drawn<Matrix<float, 4, 5>>(1);
                 const auto b = drawn<Matrix<float, 5, 3>>(2), other_b = drawn<Matrix<float, 5, 3>>(3);
                 const auto wide_b = widened(b, 1);
                 const auto product = matmul(opaque(a), b);
                 check_row_forms(check, a, [&](const auto& x, auto&... out) { return matmul(x, b, out...); });
                 check_row_forms(check, a, [&](const auto& x, auto&... out) { return matmul(x, columns<3>(wide_b, 1), out...); });
                 check_row_forms(check, a, [&](const auto& x, auto&... out) { return matmul_transposed(x, transpose(b), out...); });
                 check.same_bits(matmul_transposed(a, transpose(b)), product);
                 check.same_bits(matmul(opaque(stack(a, a)), stack(b, other_b)), stack(product, matmul(a, other_b)));
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
