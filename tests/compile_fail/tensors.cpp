// SPDX-License-Identifier: MIT
//
// Tensors, views, and operations that move or add elements.
#include "tinyattn/mask.hpp"
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

constexpr Matrix<float, 2, 3> zeros_2x3{};
extern Matrix<float, 0x100000001, 0x100000001> huge;  // 2^64 + 2^33 + 1 elements; 64 bits overflow to 2^33 + 1
extern const MatrixView<float, 0x100000001, 0x100000001, 0x100000001> huge_view;

// expect: an extent must not be zero
Matrix<float, 3, 0> zero_extent;

// expect: a tensor has more bytes than this target can address
const std::size_t too_many_bytes = huge.size();

// expect: a view has more bytes than this target can address
const std::size_t too_large_view = huge_view.size();

// expect: a tensor takes one index for each of its extents
auto indices_of_a_matrix() { return zeros_2x3(1); }

// expect: deleted
// the matrix no longer exists when the view is read
auto view_of_a_temporary() { return columns<2>(zeros<float, 2, 3>(), 0); }

// expect: a view has no more columns than its matrix
auto view_of_too_many_columns() { return columns<4>(zeros_2x3, 0); }

// expect: a and b must have the same number of rows
auto columns_of_two_heights(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 3>& b) { return concat_columns(a, b); }

// expect: out must hold floats, and not be const
void add_into_const(const Matrix<float, 2, 3>& a, const Matrix<float, 2, 3>& out) { add(a, a, out); }

// expect: out must have the type of m's elements
void transpose_into_bools(const Matrix<float, 2, 3>& m, Matrix<bool, 3, 2>& out) { transpose(m, out); }

// expect: out must have the type of m's elements, and not be const
void triangle_into_const(const Matrix<float, 3, 3>& m, const Matrix<float, 3, 3>& out) { tril(m, 0, out); }

// expect: constant expression
// arguments: -DTINYATTN_CHECKED
// it is element (1, 0), so without TINYATTN_CHECKED the compiler accepts it
constexpr float index_outside = zeros_2x3(0, 3);
// arguments: -D_GLIBCXX_ASSERTIONS
// a column of the matrix that is not in the view
constexpr float index_outside_of_a_view = columns<2>(zeros_2x3, 0)(0, 2);
