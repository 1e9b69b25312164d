// SPDX-License-Identifier: MIT
//
// What is done to scores: softmax, masks, dropout; and activations.
#include "tinyattn/activation.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/softmax.hpp"

using namespace tinyattn;

// --- softmax_of_doubles: a matrix of double
// expect: m must hold floats
auto use(const Matrix<double, 2, 3>& m) { return softmax(m); }

// --- softmax_out: weights for other scores
// expect: out must have the shape of m
void use(const Matrix<float, 2, 3>& m, Matrix<float, 3, 2>& out) { softmax(m, out); }

// --- gelu_of_doubles: a vector of double
// expect: m must hold floats
auto use(const Vector<double, 3>& m) { return gelu(m); }

// --- relu_out: a shape that is not the input's
// expect: out must have the shape of m
void use(const Matrix<float, 2, 3>& m, Matrix<float, 3, 2>& out) { relu(m, out); }

// --- silu_out: an output that is const
// expect: out must hold floats, and not be const
void use(const Matrix<float, 2, 3>& m, const Matrix<float, 2, 3>& out) { silu(m, out); }

// --- gelu_tanh_form: a name where a tensor is meant
// expect: gelu_tanh takes (m) or (m, out)
auto use(const Matrix<float, 2, 3>& m) { return gelu_tanh(m, "tanh"); }

// --- masked_fill_mask: a mask on its side
// expect: mask must have the shape of m, or of its last extents
auto use(const Matrix<float, 2, 3>& m, const Matrix<bool, 3, 2>& mask) { return masked_fill(m, mask, 0.0f); }

// --- dropout_rate_above_one_in_a_call: a constant rate is looked at while it is compiled
// expect: detail::CheckedDropoutRate::
auto use(const Matrix<float, 2, 3>& m, Mt19937& generator) { return dropout(m, 1.5, generator); }

// --- dropout_rate_below_zero_in_a_call: the same below zero
// expect: detail::CheckedDropoutRate::
auto use(const Matrix<float, 2, 3>& m, Mt19937& generator) { return dropout(m, -0.5, generator); }

// --- dropout_rate_known_too_late: a rate is a constant, whose threshold is an integer before the program runs
// expect: constant expression
auto use(const Matrix<float, 2, 3>& m, double rate, Mt19937& generator) { return dropout(m, rate, generator); }
