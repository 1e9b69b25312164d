// SPDX-License-Identifier: MIT
//
// Products of matrices and vectors, and linear layers.
#include "tinyattn/linear.hpp"
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

// --- dot_of_two_sizes: three elements by four
// expect: u and v must have the same size
auto use(const Vector<float, 3>& u, const Vector<float, 4>& v) { return dot(u, v); }

// --- matmul_inner: three columns against four rows
// expect: columns of a must equal rows of b
auto use(const Matrix<float, 2, 3>& a, const Matrix<float, 4, 2>& b) { return matmul(a, b); }

// --- matmul_inner_with_output: the same with an output
// expect: columns of a must equal rows of b
void use(const Matrix<float, 2, 3>& a, const Matrix<float, 4, 2>& b, Matrix<float, 2, 2>& out) { matmul(a, b, out); }

// --- matmul_vector: the same for a vector
// expect: columns of a must equal rows of b
auto use(const Vector<float, 3>& v, const Matrix<float, 4, 2>& b) { return matmul(v, b); }

// --- matmul_transposed_inner: b is meant transposed, but is written straight
// expect: columns of a must equal columns of b
auto use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 2>& b) { return matmul_transposed(a, b); }

// --- matmul_out: rows and columns of the output exchanged
// expect: out must have the rows of a and the columns of b
void use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b, Matrix<float, 4, 2>& out) { matmul(a, b, out); }

// --- matmul_of_doubles: a matrix of double
// expect: a and b must hold floats
void use(const Matrix<double, 2, 3>& a, const Matrix<float, 3, 4>& b, Matrix<float, 2, 4>& out) { matmul(a, b, out); }

// --- matmul_into_const: an output that cannot be written
// expect: out must hold floats, and not be const
void use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b, const Matrix<float, 2, 4>& out) { matmul(a, b, out); }

// --- matmul_output_first: the output before the inputs, as other libraries have it
// expect: out must hold floats, and not be const
void use(Matrix<float, 2, 4>& out, const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b) { matmul(out, a, b); }

// --- matmul_into_temporary: an output that nobody would see
// expect: matmul takes (a, b) or (a, b, out)
void use(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b) { matmul(a, b, Matrix<float, 2, 4>{}); }

// --- linear_columns: four features for a layer that takes three
// expect: x must have d_in columns
auto use(const Linear<3, 2>& linear, const Matrix<float, 5, 4>& x) { return linear(x); }

// --- linear_into_temporary: an output that nobody would see
// expect: forward takes (x, out)
void use(const Linear<3, 4>& linear, const Matrix<float, 2, 3>& x) { linear.forward(x, Matrix<float, 2, 4>{}); }
