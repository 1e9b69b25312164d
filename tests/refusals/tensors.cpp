// SPDX-License-Identifier: MIT
//
// Tensors, views, and what moves or adds their elements.
#include "tinyattn/mask.hpp"
#include "tinyattn/tensor.hpp"

using namespace tinyattn;

// --- zero_extent: a matrix without columns
// expect: an extent must not be zero
Matrix<float, 3, 0> m;

// --- too_many_bytes: 2^64 + 2^33 + 1 elements, of which 64 bits would keep 2^33 + 1
// expect: a tensor has more bytes than this target can address
extern Matrix<float, 0x100000001, 0x100000001> m;
const std::size_t size = m.size();

// --- too_large_view: a view of as many
// expect: a view has more bytes than this target can address
extern const MatrixView<float, 0x100000001, 0x100000001, 0x100000001> view;
const std::size_t size = view.size();

// --- indices_of_a_matrix: one index for two extents
// expect: a tensor takes one index for each of its extents
auto use(const Matrix<float, 2, 3>& m) { return m(1); }

// --- view_of_a_temporary: the matrix would be gone when the view is read
// expect: deleted
auto use() { return columns<2>(zeros<float, 2, 3>(), 0); }

// --- view_of_too_many_columns: four columns of three
// expect: a view has no more columns than its matrix
auto use(const Matrix<float, 2, 3>& m) { return columns<4>(m, 0); }

// --- columns_of_two_heights: rows without a neighbour
// expect: a and b must have the same number of rows
auto use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 3>& b) { return concat_columns(a, b); }

// --- add_into_const: an output that cannot be written
// expect: out must hold floats, and not be const
void use(const Matrix<float, 2, 3>& a, const Matrix<float, 2, 3>& out) { add(a, a, out); }

// --- transpose_into_bools: a number is no bool
// expect: out must have the type of m's elements
void use(const Matrix<float, 2, 3>& m, Matrix<bool, 3, 2>& out) { transpose(m, out); }

// --- triangle_into_const: a constant cannot be an output
// expect: out must have the type of m's elements, and not be const
void use(const Matrix<float, 3, 3>& m, const Matrix<float, 3, 3>& out) { tril(m, 0, out); }

// --- index_outside: it lies in the next row, so that without TINYATTN_CHECKED the compiler takes it
// expect: constant expression
// arguments: -DTINYATTN_CHECKED
constexpr Matrix<float, 2, 3> m{};
constexpr float outside = m(0, 3);

// --- index_outside_of_a_view: it is a column of the matrix, but not of the view
// expect: constant expression
// arguments: -D_GLIBCXX_ASSERTIONS
constexpr Matrix<float, 2, 3> m{};
constexpr float outside = columns<2>(m, 0)(0, 2);
