// SPDX-License-Identifier: MIT
//
// Operations on scores: softmax, masks, dropout; and activations.
#include "tinyattn/activation.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/softmax.hpp"

using namespace tinyattn;

// expect: m must hold floats
auto softmax_of_doubles(const Matrix<double, 2, 3>& m) { return softmax(m); }
auto gelu_of_doubles(const Vector<double, 3>& m) { return gelu(m); }

// expect: out must have the shape of m
void softmax_out(const Matrix<float, 2, 3>& m, Matrix<float, 3, 2>& out) { softmax(m, out); }
void relu_out(const Matrix<float, 2, 3>& m, Matrix<float, 3, 2>& out) { relu(m, out); }

// expect: out must hold floats, and not be const
void silu_out(const Matrix<float, 2, 3>& m, const Matrix<float, 2, 3>& out) { silu(m, out); }

// expect: gelu_tanh takes (m) or (m, out)
auto gelu_tanh_form(const Matrix<float, 2, 3>& m) { return gelu_tanh(m, "tanh"); }

// expect: mask must have the shape of m, or of its last extents
auto masked_fill_mask(const Matrix<float, 2, 3>& m, const Matrix<bool, 3, 2>& mask) { return masked_fill(m, mask, 0.0f); }

// expect: detail::CheckedDropoutRate::
auto dropout_rate_above_one_in_a_call(const Matrix<float, 2, 3>& m, Mt19937& generator) { return dropout(m, 1.5, generator); }
auto dropout_rate_below_zero_in_a_call(const Matrix<float, 2, 3>& m, Mt19937& generator) { return dropout(m, -0.5, generator); }

// expect: constant expression
// a rate is a constant expression, from which the compiler computes an integer threshold
auto dropout_rate_known_too_late(const Matrix<float, 2, 3>& m, double rate, Mt19937& generator) { return dropout(m, rate, generator); }
