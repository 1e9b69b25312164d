// SPDX-License-Identifier: MIT
//
// Tensors, views, and operations on them: products, linear layers, softmax, activations, dropout.
#include "tinyattn/tensor.hpp"  // by itself, since a compiler prints each file through which a header is included

#include "given.hpp"

constexpr Matrix<float, 2, 3> zeros_2x3{};
extern Matrix<float, 0x100000001, 0x100000001> huge;  // 2^64 + 2^33 + 1 elements; 64 bits overflow to 2^33 + 1
extern const MatrixView<float, 0x100000001, 0x100000001, 0x100000001> huge_view;

// --- Tensors and views ---

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
// expect: constant expression
// arguments: -DTINYATTN_CHECKED
// it is element (1, 0), so without TINYATTN_CHECKED the compiler accepts it
constexpr float index_outside = zeros_2x3(0, 3);
// arguments: -D_GLIBCXX_ASSERTIONS
// a column of the matrix that is not in the view
constexpr float index_outside_of_a_view = columns<2>(zeros_2x3, 0)(0, 2);

// --- Moving and adding elements ---

// expect: a and b must have the same number of rows
auto columns_of_two_heights() { return concat_columns(x, shorter); }
// expect: out must hold floats, and not be const
void add_into_const() { add(x, x, constant); }
// expect: out must have the type of m's elements
void transpose_into_bools(Matrix<bool, 4, 6>& result) { transpose(x, result); }
// expect: out must have the type of m's elements, and not be const
void triangle_into_const() { tril(x, 0, constant); }

// --- Products ---

// expect: u and v must have the same size
auto dot_of_two_sizes() { return dot(vector({1.0f}), vector({1.0f, 2.0f})); }
// expect: columns of a must equal rows of b
auto matmul_inner() { return matmul(x, square); }
void matmul_inner_with_output() { matmul(x, square, out); }
auto matmul_vector() { return matmul(last_logits, square); }
// expect: columns of a must equal columns of b
auto matmul_transposed_inner() { return matmul_transposed(x, square); }
// expect: out must have the rows of a and the columns of b
void matmul_out() { matmul(square, x, narrow); }
// expect: a and b must hold floats
void matmul_of_doubles() { matmul(square, doubles, out); }
// expect: out must hold floats, and not be const
void matmul_into_const() { matmul(square, x, constant); }
// other libraries take the output first
void matmul_output_first(const Matrix<float, 6, 5>& a, const Matrix<float, 5, 6>& b) { matmul(square, a, b); }
// expect: matmul takes (a, b) or (a, b, out)
void matmul_into_temporary() { matmul(square, x, Matrix<float, 6, 4>{}); }
// expect: x must have as many columns as the layer has inputs
auto linear_columns(const Linear<3, 2>& linear) { return linear(x); }
// expect: forward takes (x, out)
void linear_into_temporary(const Linear<4, 4>& linear) { linear.forward(x, Matrix<float, 6, 4>{}); }

// --- Weights of int8 ---

// expect: a layer with int8 weights has at most 66,311 inputs
Linear<66312, 1, false, Weights::int8> too_many_inputs_of_int8;
// expect: weights must be Weights::f32 or int8
Linear<2, 2, true, static_cast<Weights>(9)> unknown_weights_of_linear;
Embedding<2, 2, static_cast<Weights>(9)> unknown_weights_of_embedding;
// expect in 30 lines: weights of floats and int8 weights are different types: quantize(layer) makes int8 of floats
void floats_into_int8(Int8Linear& linear) { linear = from_torch(square, Vector<float, 6>{}); }
void floats_into_int8_of_a_layer(Int8Layer& its, const Linear<4, 4, false>& linear) { its.query = linear; }
// expect: quantize takes (layer): a Linear or an Embedding whose weights are floats
auto int8_quantized_again(const Int8Linear& linear) { return quantize(linear); }
auto quantized_layer_of_attention() { return quantize(layer); }
auto quantized_matrix() { return quantize(square); }
// expect: weights are drawn as floats: initialize a layer whose weights are floats, then quantize it
void int8_drawn(Int8Linear& linear) { initialize(linear, generator); }
// expect in 50 lines: weights are drawn as floats
void int8_drawn_in_a_layer(Int8Layer& its) { initialize(its, generator); }
// expect: a training pass needs weights of floats: int8 weights are not trained
void int8_trained(const Int8Layer& its, Int8Layer::Workspace& room) { its.forward(x, out, room, generator); }

// --- Operations on rows ---

// expect: m must hold floats
auto softmax_of_doubles() { return softmax(doubles); }
auto gelu_of_doubles() { return gelu(doubles); }
// expect: out must have the shape of m
void softmax_out() { softmax(x, narrow); }
void relu_out() { relu(x, narrow); }
// expect: out must hold floats, and not be const
void silu_out() { silu(x, constant); }
// expect: gelu_tanh takes (m) or (m, out)
auto gelu_tanh_form() { return gelu_tanh(x, "tanh"); }
// expect: mask must have the shape of m, or of its last extents
auto masked_fill_mask() { return masked_fill(x, bools, 0.0f); }
// expect: detail::CheckedDropoutRate::
auto dropout_rate_above_one_in_a_call() { return dropout(x, 1.5, generator); }
auto dropout_rate_below_zero_in_a_call() { return dropout(x, -0.5, generator); }
// expect: constant expression
// a rate is a constant expression, from which the compiler computes an integer threshold
auto dropout_rate_known_too_late(double rate) { return dropout(x, rate, generator); }
