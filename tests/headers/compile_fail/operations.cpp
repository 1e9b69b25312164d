// SPDX-License-Identifier: MIT
//
// Tensors, views, and operations on them: products, linear layers, convolutions and reductions, softmax, activations, dropout.
#include "tinyattn/tensor.hpp"  // first, since a compiler prints each file through which a header is included

#include "given.hpp"

constexpr Matrix<float, 2, 3> zeros_2x3{};
constexpr std::size_t half = 4 * sizeof(std::size_t), extent = (std::size_t{1} << half) + 1;  // 2^32 + 1 if std::size_t has 64 bits
extern Matrix<float, extent, extent> huge;  // 2^64 + 2^33 + 1 elements overflow to 2^33 + 1
constexpr Conv1dConfig of_two = {.in = 2, .out = 3, .kernel = 3};
constexpr Conv2dConfig of_images = {.in = 2, .out = 3, .kernel = 3};
constexpr Conv1dConfig in_int8 = {.in = 2, .out = 3, .kernel = 3, .weights = Weights::int8};
extern const Conv1d<of_two> convolution;
constexpr RecurrentConfig gru_config = {.in = 2, .hidden = 3};
extern const Gru<gru_config> gru;
Gru<gru_config>::State gru_state;
Gru<gru_config>::Workspace gru_workspace;
extern const Conv2d<of_images> convolution_2d;
extern Tensor<float, 6, 5, 2> image;
extern Matrix<float, 6, 2> two_features;
extern Matrix<float, 6, 3> three_features;
extern Matrix<float, 1, 2> one_token;
extern const MatrixView<float, extent, extent, extent> huge_view;

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
// it is the address of element (1, 0), so without TINYATTN_CHECKED the compiler accepts it
constexpr float index_outside = zeros_2x3(0, 3);
// arguments: -D_GLIBCXX_ASSERTIONS
// a column of the matrix that is not in the view
constexpr float index_outside_of_a_view = columns<2>(zeros_2x3, 0)(0, 2);

// --- Moving and adding elements ---

// expect: a and b must have the same number of rows
auto columns_of_two_heights() { return concat_columns(x, shorter); }
// expect: a and b must have the same number of columns
auto rows_of_two_widths() { return concat_rows(x, narrow); }
// expect: out must not be const
void add_into_const() { add(x, x, constant); }
// expect: each operand must have the extents of out, or 1, from the last axis on
auto sum_of_two_shapes() { return add(x, shorter); }
auto product_with_a_narrow_row() { return multiply(row(narrow, 0), x); }
void difference_into_a_row(Vector<float, 4>& result) { subtract(result, x, result); }
// expect: add takes (a, b) or (a, b, out)
auto sum_with_braces() { return add(x, {1.0f, 2.0f, 3.0f, 4.0f}); }
// expect: subtract takes (a, b) or (a, b, out)
void difference_into_temporary() { subtract(1.0f, x, Matrix<float, 6, 4>{}); }
// expect: an array or a pointer is no tensor
auto product_of_an_array() { return multiply(array, x); }
// expect: out must have the type of the elements that are copied
void transpose_into_bools(Matrix<bool, 4, 6>& result) { transpose(x, result); }
void triangle_into_const() { tril(x, 0, constant); }

// --- Products ---

// expect: u and v must have the same size
auto dot_of_two_sizes() { return dot(vector({1.0f}), vector({1.0f, 2.0f})); }
// expect: columns of a must equal rows of b
auto matmul_inner() { return matmul(x, square); }
void matmul_inner_with_output() { matmul(x, square, out); }
auto matmul_vector() { return matmul(last_logits, square); }
auto repeated_inner() { return matmul(x, batch); }
// expect: columns of a must equal columns of b
auto matmul_transposed_inner() { return matmul_transposed(x, square); }
// expect: out must have the rows of a and the columns of b
void matmul_out() { matmul(square, x, narrow); }
void repeated_out() { matmul(square, batch, out); }
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

// --- Over tokens ---

// expect: x must be [..., tokens, in]; of a Conv2d [..., height, width, in], or a matrix [height, width * in]
auto convolution_of_other_features() { return convolution(three_features); }
auto convolution_of_a_vector() { return convolution(last_logits); }
auto convolution_of_another_image() { return convolution_2d(Tensor<float, 6, 5, 3>{}); }
auto convolution_of_half_an_element() { return convolution_2d(three_features); }
// expect: x must have a row for each token
auto mean_of_a_vector() { return mean(last_logits); }
// expect: rows of x must follow each other without gaps
auto convolution_of_columns() { return convolution(columns<2>(x, 1)); }
// expect: the kernel is larger than x and its padding
auto convolution_of_a_short_text() { return convolution(one_token); }
auto convolution_of_a_small_image() { return convolution_2d(two_features); }
auto pool_of_a_small_image() { return max_pool2d<PoolConfig{.kernel = {3, 6}}>(image); }
// expect: out must have an element of `out` features for each window
void convolution_2d_out(Tensor<float, 4, 4, 3>& result) { convolution_2d.forward(image, result); }
void convolution_out(Matrix<float, 6, 3>& result) { convolution.forward(two_features, result); }
// expect: out must hold floats, and not be const
void convolution_into_const(const Matrix<float, 4, 3>& result) { convolution.forward(two_features, result); }
void mean_into_const(const Vector<float, 4>& result) { mean(x, result); }
// expect: forward takes (x, out)
void convolution_into_temporary() { convolution.forward(two_features, Matrix<float, 4, 3>{}); }
// expect in 25 lines: in and out must not be zero
Conv1d<Conv1dConfig{.in = 2, .out = 0, .kernel = 3}> convolution_to_nothing;
// expect in 25 lines: kernel and stride must not be zero
Conv1d<Conv1dConfig{.in = 2, .out = 3, .kernel = 0}> convolution_of_no_token;
Conv1d<Conv1dConfig{.in = 2, .out = 3, .kernel = 1, .stride = 0}> convolution_in_one_place;
// expect: padding must be less than kernel
Conv1d<Conv1dConfig{.in = 2, .out = 3, .kernel = 3, .padding = 3}> convolution_of_padding;
// expect: the weight of a convolution needs its configuration
auto convolution_from_torch_alone() { return from_torch(Tensor<float, 3, 2, 3>{}, Vector<float, 3>{}); }
// expect: weight must be [out, in / groups, kernel], of a Conv2d [out, in / groups, height, width]
auto convolution_2d_in_another_order() { return from_torch<of_images>(Tensor<float, 3, 2, 9, 1>{}, Vector<float, 3>{}); }
auto convolution_in_another_order() { return from_torch<of_two>(Tensor<float, 3, 3, 2>{}, Vector<float, 3>{}); }
// expect: from_torch takes (weight, bias), or (weight) if the configuration has no bias
auto convolution_without_its_bias() { return from_torch<of_two>(Tensor<float, 3, 2, 3>{}); }
// expect: bias must have one element for each output
auto convolution_with_a_short_bias() { return from_torch<of_two>(Tensor<float, 3, 2, 3>{}, Vector<float, 2>{}); }
// expect: from_torch makes weights of floats
auto convolution_from_torch_in_int8() { return from_torch<in_int8>(Tensor<float, 3, 2, 3>{}, Vector<float, 3>{}); }
// expect: weights of floats and int8 weights are different types
void floats_into_int8_of_a_convolution(Conv1d<in_int8>& its) { its = convolution; }
// expect: weights are drawn as floats
void convolution_drawn_in_int8(Conv1d<in_int8>& its) { initialize(its, generator); }
// expect: dilation must not be zero
Conv1d<Conv1dConfig{.in = 2, .out = 3, .kernel = 1, .dilation = 0}> convolution_of_one_token;
// expect: groups must divide in and out
Conv1d<Conv1dConfig{.in = 2, .out = 3, .kernel = 1, .groups = 2}> convolution_in_uneven_groups;
Conv2d<Conv2dConfig{.in = 2, .out = 4, .kernel = 1, .groups = 0}> convolution_in_no_group;
// expect: padding must be at most half of kernel
auto pool_of_padding() { return max_pool1d<PoolConfig{.kernel = 3, .padding = 2}>(x); }
// expect: a mean takes a dilation of 1
auto mean_with_a_dilation() { return avg_pool1d<PoolConfig{.kernel = 2, .dilation = 2}>(x); }
// expect: x must be [..., tokens, features], or [..., height, width, features]
auto pool_of_a_matrix() { return avg_pool2d<PoolConfig{.kernel = 2}>(x); }
// expect: out must have the shape of x, but an element for each window
void pool_out(Matrix<float, 6, 4>& result) { adaptive_avg_pool1d<2>(x, result); }
// expect: a pool takes (x) or (x, out)
void pool_into_temporary() { adaptive_avg_pool1d<2>(x, Matrix<float, 2, 4>{}); }
// expect: out must have the shape of x, but no axis of tokens
void mean_out(Vector<float, 5>& result) { mean(x, result); }
void largest_out(Matrix<float, 6, 4>& result) { largest(x, result); }
// expect: x must hold floats
auto mean_of_doubles() { return mean(doubles); }
// expect: mean takes (x), (x, out) or (x, count, out)
void mean_into_temporary() { mean(x, Vector<float, 4>{}); }
// expect: largest takes (x), (x, out) or (x, count, out)
void largest_of_some_into_temporary() { static_cast<void>(largest(x, 2, Vector<float, 4>{})); }
// expect: mean and inverse_deviation must be vectors of float, an element for each feature
auto standardized_by_one_number() { return standardize(x, Vector<float, 1>{}, Vector<float, 4>{}); }
// expect: standardize takes (x, mean, inverse_deviation), then out
auto standardized_without_deviation() { return standardize(x, Vector<float, 4>{}); }

// --- Recurrent layers ---

// expect: a recurrent layer reads one sequence, [tokens, features]: each has a state
void recurrent_batch() { gru.forward(Tensor<float, 2, 6, 2>{}, gru_state, gru_workspace); }
// expect: out must have the rows of x and a column for each output
void recurrent_out(Vector<float, 3>& last) { gru.forward(two_features, gru_state, last, gru_workspace); }
// expect: forward takes (x, state, workspace) or (x, state, out, workspace)
void recurrent_without_a_state() { gru.forward(two_features, gru_workspace); }
void recurrent_into_temporary() { gru.forward(two_features, gru_state, Matrix<float, 6, 3>{}, gru_workspace); }
void recurrent_state_of_another(Lstm<gru_config>::State& its) { gru.forward(two_features, its, gru_workspace); }
// expect: in and hidden must not be zero
Gru<RecurrentConfig{.in = 2, .hidden = 0}> recurrent_of_nothing;
// expect: weights must be [3 * hidden, in] and [3 * hidden, hidden] of a GRU
auto recurrent_in_another_order() { return from_torch<gru_config>(Matrix<float, 2, 9>{}, Matrix<float, 3, 9>{}); }
// expect: from_torch takes (weight_ih, weight_hh, bias_ih, bias_hh)
auto recurrent_without_its_biases() { return from_torch<gru_config>(Matrix<float, 9, 2>{}, Matrix<float, 9, 3>{}); }
// --- Functions of elements, and reductions ---

// expect: each operand must have the extents of out, or 1, from the last axis on
void elementwise_of_other_extents() { elementwise(function::add, x, narrow, out); }
void copy_of_other_extents() { copy(narrow, out); }
// expect: out must not be const
void elementwise_into_a_constant() { elementwise(function::exp, x, constant); }
// expect: operands and out must hold floats
auto elementwise_of_doubles() { return elementwise(function::exp, doubles); }
// expect: elementwise takes (function, operands..., out), or no out
void elementwise_of_too_few() { elementwise(function::fma, x, out); }
auto elementwise_of_an_array() { return elementwise(function::exp, array); }
// expect: an axis of reduce<axes...> must be below the rank of x
auto reduced_axis() { return reduce<2>(reduction::sum, x); }
// expect: out must have the extents of x, and 1 at reduced axes or none of these
void reduced_out() { reduce<0>(reduction::sum, x, last_logits); }
// expect: out must hold floats, or Tokens of argmax and argmin, and not be const
void index_as_float() { reduce<1>(reduction::argmax, x, last_logits); }
// expect: reduce<axes...> takes (reduction, x) or (reduction, x, out)
auto reduced_number() { return reduce<0>(reduction::sum, 1.0f); }
// expect: operands and out must hold floats
auto sum_of_doubles() { return reduce<0>(reduction::sum, doubles); }

// --- Weights of int8 ---

// expect: a layer with int8 weights has at most 66,311 inputs
Linear<66312, 1, false, Weights::int8> too_many_inputs_of_int8;
// expect: weights must be Weights::f32 or int8
Linear<2, 2, true, static_cast<Weights>(9)> unknown_weights_of_linear;
Embedding<2, 2, static_cast<Weights>(9)> unknown_weights_of_embedding;
// expect: weights of floats and int8 weights are different types: quantize(layer) makes int8 of floats
void floats_into_int8(Int8Linear& linear) { linear = from_torch(square, Vector<float, 6>{}); }
void floats_into_int8_of_a_layer(Int8Layer& its, const Linear<4, 4, false>& linear) { its.query = linear; }
// expect: quantize takes (layer): a Linear, a Conv1d, a Gru, an Lstm or an Embedding whose weights are floats
auto int8_quantized_again(const Int8Linear& linear) { return quantize(linear); }
auto quantized_layer_of_attention() { return quantize(layer); }
auto quantized_matrix() { return quantize(square); }
// expect: weights are drawn as floats: initialize a layer whose weights are floats, then quantize it
void int8_drawn(Int8Linear& linear) { initialize(linear, generator); }
// expect in 25 lines: weights are drawn as floats
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
// expect: a function of rows takes (m) or (m, out)
auto gelu_tanh_form() { return gelu_tanh(x, "tanh"); }
// expect: mask must have the shape of m, or of its last extents
auto masked_fill_mask() { return masked_fill(x, bools, 0.0f); }
// expect: detail::RateBetween0And1
auto dropout_rate_above_one_in_a_call() { return dropout(x, 1.5, generator); }
auto dropout_rate_below_zero_in_a_call() { return dropout(x, -0.5, generator); }
// expect: constant expression
// a rate is a constant expression, from which the compiler computes an integer threshold
auto dropout_rate_known_too_late(double rate) { return dropout(x, rate, generator); }
