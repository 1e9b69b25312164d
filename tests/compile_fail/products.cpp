// SPDX-License-Identifier: MIT
//
// Products of matrices and vectors, and linear layers.
#include "tinyattn/linear.hpp"
#include "tinyattn/matmul.hpp"

using namespace tinyattn;

// expect: u and v must have the same size
auto dot_of_two_sizes(const Vector<float, 3>& u, const Vector<float, 4>& v) { return dot(u, v); }

// expect: columns of a must equal rows of b
auto matmul_inner(const Matrix<float, 2, 3>& a, const Matrix<float, 4, 2>& b) { return matmul(a, b); }
void matmul_inner_with_output(const Matrix<float, 2, 3>& a, const Matrix<float, 4, 2>& b, Matrix<float, 2, 2>& out) { matmul(a, b, out); }
auto matmul_vector(const Vector<float, 3>& v, const Matrix<float, 4, 2>& b) { return matmul(v, b); }

// expect: columns of a must equal columns of b
auto matmul_transposed_inner(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 2>& b) { return matmul_transposed(a, b); }

// expect: out must have the rows of a and the columns of b
void matmul_out(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b, Matrix<float, 4, 2>& out) { matmul(a, b, out); }

// expect: a and b must hold floats
void matmul_of_doubles(const Matrix<double, 2, 3>& a, const Matrix<float, 3, 4>& b, Matrix<float, 2, 4>& out) { matmul(a, b, out); }

// expect: out must hold floats, and not be const
void matmul_into_const(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b, const Matrix<float, 2, 4>& out) { matmul(a, b, out); }
// other libraries take the output first
void matmul_output_first(Matrix<float, 2, 4>& out, const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b) { matmul(out, a, b); }

// expect: matmul takes (a, b) or (a, b, out)
void matmul_into_temporary(const Matrix<float, 2, 3>& a, const Matrix<float, 3, 4>& b) { matmul(a, b, Matrix<float, 2, 4>{}); }

// expect: x must have d_in columns
auto linear_columns(const Linear<3, 2>& linear, const Matrix<float, 5, 4>& x) { return linear(x); }

// expect: forward takes (x, out)
void linear_into_temporary(const Linear<3, 4>& linear, const Matrix<float, 2, 3>& x) { linear.forward(x, Matrix<float, 2, 4>{}); }
