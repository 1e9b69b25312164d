// SPDX-License-Identifier: MIT
//
// The convolution over tokens: each token of the result is an affine function of `kernel` tokens
// that follow each other. With a stride as long as the kernel, it makes patches.
#pragma once

#include "tinyattn/detail/integer_workspace.hpp"
#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/optional.hpp"
#include "tinyattn/detail/token_checks.hpp"
#include "tinyattn/initialize.hpp"
#include "tinyattn/kernel/convolution.hpp"
#include "tinyattn/kernel/random.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/weights.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

// The shape of a convolution.
struct Conv1dConfig {
  std::size_t in;                  // features of a token
  std::size_t out;                 // features of a token of the result
  std::size_t kernel;              // how many tokens a token of the result is made of
  std::size_t stride = 1;          // how many tokens later the next one begins
  std::size_t padding = 0;         // tokens of zeros before x and after it; less than kernel
  bool bias = true;                // whether a bias is added
  Weights weights = Weights::f32;  // of the kernel
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

template <Conv1dConfig config>
consteval bool check_convolution_config() noexcept {
  static_assert(config.in != 0 && config.out != 0, "in and out must not be zero");
  static_assert(config.kernel != 0 && config.stride != 0, "kernel and stride must not be zero");
  static_assert(config.padding < config.kernel || config.kernel == 0,
                "padding must be less than kernel: each token of the result needs one of x");
  return check_type_of_weights<config.weights>();
}

consteval Conv1dConfig with_weights(Conv1dConfig config, Weights weights) noexcept {
  config.weights = weights;
  return config;
}

}  // namespace detail

// torch.nn.Conv1d on the transpose, with groups and a dilation of 1: a token is a row here. The
// weight is [kernel * in, out]: row k * in + c has the weights of feature c of the kernel's token k
// for all outputs. A weight of int8 is [out, kernel * in]; quantize computes it from floats.
// PyTorch's weight is [out, in, kernel]; from_torch permutes it.
template <Conv1dConfig config>
struct Conv1d {
  static_assert(detail::check_convolution_config<config>());

  static constexpr std::size_t width = config.kernel * config.in;  // weights of an output
  // The number of weights and biases, and the bytes that they take.
  static constexpr std::size_t parameter_count = detail::count_parameters<Conv1d>(),
                               parameter_bytes = detail::bytes_of_parameters<Conv1d>();

  // The number of tokens of the result for `tokens` tokens: (tokens + 2 * padding - kernel) /
  // stride + 1, rounded down, or 0 if the kernel is longer than x and its padding.
  static constexpr std::size_t tokens_after(std::size_t tokens) noexcept {
    return detail::tokens_after<config>(tokens);
  }

  // [kernel * in, out], of int8 [out, kernel * in].
  detail::WeightMatrix<config.weights, width, config.out> weight{};
  // Added to each row.
  [[no_unique_address]] detail::Optional<config.bias, Vector<float, config.out>> bias{};

  // Computes the convolution of x [..., tokens, in]; out is [..., tokens_after(tokens), out] and
  // may not overlap x. It is a product with rows of x that overlap, and copies nothing: each sum
  // starts at the bias, or +0, and takes tokens, then features, in rising order. At the edges it
  // leaves out products with the zeros of the padding: the same bits if weights are finite, except
  // for the sign of a zero. With int8 weights, rows of kernel * in features are rounded to integers
  // first, as by Linear, and rows with padding are copied: one at a time, to the stack.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out) const noexcept;

  TINYATTN_DIAGNOSTIC(
      class First = detail::Anything, forward(const First&, ...) const,
      "forward takes (x, out): tensors or views of float; out is neither const nor a temporary")

  // By value: the result is on the stack.
  template <class TensorX>
  constexpr auto operator()(const TensorX& x) const noexcept {
    if constexpr (detail::check_argument<TensorX>()) {
      detail::Convolved<config, TensorX> out;
      forward(x, out);
      return out;
    }
  }

  friend constexpr bool operator==(const Conv1d&, const Conv1d&) = default;

  // Weights of floats are not quantized by an assignment.
  template <Conv1dConfig other>
  requires(other.weights != config.weights) constexpr operator Conv1d<other>() const noexcept {
    return detail::diagnose_quantization<Conv1d<other>>();
  }

  using Members = detail::Members<detail::names<"weight", "bias">, &Conv1d::weight, &Conv1d::bias>;

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Conv1d& layer) noexcept {
    return detail::projection_of(layer);
  }
  friend constexpr auto converted(const Conv1d& layer, auto to) noexcept
      requires(config.weights == Weights::f32) {
    return Conv1d<detail::with_weights(config, to.weights)>{to.matrix_of(layer.weight), layer.bias};
  }
};

template <Conv1dConfig config>
template <tensor_like TensorX, tensor_like Out>
constexpr void Conv1d<config>::forward(const TensorX& x, Out& out) const noexcept {
  using LayoutX = detail::LayoutOf<TensorX>;
  if constexpr (detail::check_convolution<config, TensorX, Out>())
    on_native_port([&](auto port) {
      constexpr kernel::Convolution shape{LayoutX::rows, config.in,     config.out,
                                          config.kernel, config.stride, config.padding};
      constexpr std::size_t of_int8 = config.weights == Weights::int8 ? width : 0;
      constexpr bool all_whole =
          shape.begin_of_whole() == 0 && shape.end_of_whole() == shape.rows();
      detail::IntegerWorkspace<of_int8,
                               detail::rows_on_stack<decltype(port)>(shape.rows(), of_int8)>
          integers;
      detail::Table<float, all_whole ? 0 : of_int8> padded;  // a row that is partly outside of x
      for (std::size_t element = 0; element < LayoutX::batch; ++element)
        kernel::convolve<decltype(port), all_whole>(shape, detail::matrix_at(x, element),
                                                    describe(*this), detail::output(out, element),
                                                    integers.parts(), padded.data());
    });
}

// Makes a Conv1d from the weight and bias of a PyTorch state_dict: permutes the weight, which is
// [out, in, kernel] there. The result, with all weights, is on the stack unless it is a constant.
template <Conv1dConfig config, std::size_t Out, std::size_t In, std::size_t Kernel,
          std::size_t... BiasSize>
constexpr Conv1d<config> from_torch(const Tensor<float, Out, In, Kernel>& weight_out_in_kernel,
                                    const Vector<float, BiasSize>&... bias) noexcept {
  static_assert(Out == config.out && In == config.in && Kernel == config.kernel,
                "weight must be [out, in, kernel], as its configuration says");
  static_assert(sizeof...(BiasSize) == (config.bias ? 1 : 0),
                "from_torch takes (weight, bias), or (weight) if the configuration has no bias");
  static_assert(((BiasSize == Out) && ...), "bias must have one element for each output");
  static_assert(config.weights == Weights::f32,
                "from_torch makes weights of floats: quantize(layer) makes int8 of them");
  Conv1d<config> layer{{}, {bias...}};
  for (std::size_t o = 0; o < Out; ++o)
    for (std::size_t c = 0; c < In; ++c)
      for (std::size_t k = 0; k < Kernel; ++k)
        layer.weight(k * In + c, o) = weight_out_in_kernel(o, c, k);
  return layer;
}

template <std::size_t Out, std::size_t In, std::size_t Kernel>
constexpr detail::Diagnosed from_torch(const Tensor<float, Out, In, Kernel>&, ...) noexcept {
  static_assert(detail::no_such_call<Tensor<float, Out, In, Kernel>>,
                "the weight of a convolution needs its configuration: from_torch<config>(weight, "
                "bias)");
  return {};
}

// Draws weight, then bias, as torch.nn.Conv1d does: uniform from -1 / sqrt(in * kernel) to 1 /
// sqrt(in * kernel), in the order of PyTorch's layout.
template <Conv1dConfig config, random_generator Generator>
requires(config.weights == Weights::f32) constexpr void initialize(Conv1d<config>& layer,
                                                                   Generator& generator) noexcept {
  constexpr float bound = detail::inverse_sqrt<Conv1d<config>::width>;
  auto weights = detail::random_stream(generator);
  for (std::size_t o = 0; o < config.out; ++o)
    for (std::size_t c = 0; c < config.in; ++c)
      for (std::size_t k = 0; k < config.kernel; ++k)
        layer.weight(k * config.in + c, o) = kernel::uniform_from(weights.next(), -bound, bound);
  if constexpr (config.bias) {
    auto biases = detail::random_stream(generator);
    for (float& element : layer.bias.elements)
      element = kernel::uniform_from(biases.next(), -bound, bound);
  }
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
