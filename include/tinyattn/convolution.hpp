// SPDX-License-Identifier: MIT
//
// The convolution over tokens: each token of the result is an affine function of `kernel` tokens
// that follow each other. With a stride as long as the kernel, it makes patches.
#pragma once

#include "tinyattn/detail/images.hpp"
#include "tinyattn/detail/integer_workspace.hpp"
#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/optional.hpp"
#include "tinyattn/detail/token_checks.hpp"
#include "tinyattn/initialize.hpp"
#include "tinyattn/kernel/convolution.hpp"
#include "tinyattn/kernel/convolution_2d.hpp"
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
  std::size_t groups = 1;          // parts of in and out that are convolved by themselves
  std::size_t dilation = 1;        // how many tokens apart those of a kernel are
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

constexpr bool is_divided(std::size_t groups, std::size_t count) noexcept {
  return groups != 0 && count % groups == 0;
}

template <auto config>
consteval bool check_convolution_config() noexcept {
  constexpr Size2d kernel = config.kernel, padding = config.padding, dilation = config.dilation;
  constexpr bool has_windows = check_windows<config>();
  static_assert(config.in != 0 && config.out != 0, "in and out must not be zero");
  static_assert(!has_windows || (padding.height <= (kernel.height - 1) * dilation.height &&
                                 padding.width <= (kernel.width - 1) * dilation.width),
                "padding must be less than kernel: each token of the result needs one of x");
  static_assert(is_divided(config.groups, config.in) && is_divided(config.groups, config.out),
                "groups must divide in and out");
  return check_type_of_weights<config.weights>();
}

consteval auto with_weights(auto config, Weights weights) noexcept {
  config.weights = weights;
  return config;
}

// Convolves X, to To.
template <auto config, class Input, class To>
constexpr void convolve_windows(const float* x, const auto& projection, float* out) noexcept {
  on_native_port([&](auto port) {
    using Port = decltype(port);
    constexpr kernel::Convolution2d shape{axes_of<config, Input, To>(), config.in, config.out,
                                          config.groups};
    constexpr bool is_int8 = config.weights == Weights::int8, alone = shape.is_depthwise();
    constexpr std::size_t positions = shape.positions(), width = positions * shape.group_in();
    constexpr std::size_t of_int8 = is_int8 && !alone ? width : 0;
    IntegerWorkspace<of_int8, rows_on_stack<Port>(shape.axes.width.count(), of_int8)> integers;
    Table<float, !is_int8 ? 0 : alone ? positions * 16 : width> window;
    for (std::size_t i = 0; i < Input::batch; ++i)
      kernel::convolve_2d<Port, alone>(shape, x + i * Input::height * Input::row, projection,
                                       out + i * To::height * To::row, integers.parts(),
                                       window.data());
  });
}

}  // namespace detail

// torch.nn.Conv1d on the transpose: a token is a row here. The weight is [kernel * in / groups,
// out]: row k * in / groups + c has the weights of feature c of a group of the kernel's token k for
// all outputs. A weight of int8 is [out, kernel * in / groups]; quantize computes it from floats.
// PyTorch's weight is [out, in / groups, kernel]; from_torch permutes it.
template <Conv1dConfig config>
struct Conv1d {
  static_assert(detail::check_convolution_config<config>());

  // The features of a group, the tokens of a kernel, and the weights of an output.
  static constexpr std::size_t group_in = config.in / config.groups, positions = config.kernel,
                               width = positions * group_in;
  // The number of weights and biases, and the bytes that they take.
  static constexpr std::size_t parameter_count = detail::count_parameters<Conv1d>(),
                               parameter_bytes = detail::bytes_of_parameters<Conv1d>();

  // The number of tokens of the result for `tokens` tokens: (tokens + 2 * padding -
  // dilation * (kernel - 1) - 1) / stride + 1, rounded down, or 0 if the kernel is longer than x
  // and its padding.
  static constexpr std::size_t tokens_after(std::size_t tokens) noexcept {
    return detail::tokens_after<config>(tokens);
  }

  // [kernel * in / groups, out], of int8 [out, kernel * in / groups].
  detail::WeightMatrix<config.weights, width, config.out> weight{};
  // Added to each row.
  [[no_unique_address]] detail::Optional<config.bias, Vector<float, config.out>> bias{};

  // Computes the convolution of x [..., tokens, in]; out is [..., tokens_after(tokens), out] and
  // may not overlap x. It is a product with rows of x that overlap, and copies nothing: each sum
  // starts at the bias, or +0, and takes tokens, then features, in rising order. At the edges it
  // leaves out products with the zeros of the padding: the same bits if weights are finite, except
  // for the sign of a zero. With int8 weights, rows of kernel * in features are rounded to integers
  // first, as by Linear, and rows with padding are copied: one at a time, to the stack. Depthwise,
  // with as many groups as features and outputs, weights become floats instead, code * scale.
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
  if constexpr (!detail::check_convolution<config, TensorX, Out>())
    return;
  else if constexpr (config.groups != 1 || config.dilation != 1)
    detail::convolve_windows<config, detail::Tokens<TensorX>, detail::Tokens<Out>>(
        x.data(), describe(*this), out.data());
  else
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

namespace detail {

// Permutes PyTorch's weight, in which the positions of the kernel come last.
template <class Layer, auto config, std::size_t Out, std::size_t In, std::size_t... Kernel,
          std::size_t... BiasSize>
constexpr Layer convolution_from_torch(const Tensor<float, Out, In, Kernel...>& weight,
                                       const Vector<float, BiasSize>&... bias) noexcept {
  static_assert(Out == config.out && In == Layer::group_in && (Kernel * ...) == Layer::positions,
                "weight must be [out, in / groups, kernel], as its configuration says");
  static_assert(sizeof...(BiasSize) == (config.bias ? 1 : 0),
                "from_torch takes (weight, bias), or (weight) if the configuration has no bias");
  static_assert(((BiasSize == Out) && ...), "bias must have one element for each output");
  static_assert(config.weights == Weights::f32,
                "from_torch makes weights of floats: quantize(layer) makes int8 of them");
  Layer layer{{}, {bias...}};
  for (std::size_t o = 0; o < Out; ++o)
    for (std::size_t c = 0; c < In; ++c)
      for (std::size_t k = 0; k < Layer::positions; ++k)
        layer.weight(k * In + c, o) = weight.elements[(o * In + c) * Layer::positions + k];
  return layer;
}

}  // namespace detail

// Makes a Conv1d from the weight and bias of a PyTorch state_dict: permutes the weight, which is
// [out, in / groups, kernel] there. The result, with all weights, is on the stack unless it is a
// constant.
template <Conv1dConfig config, std::size_t Out, std::size_t In, std::size_t Kernel,
          std::size_t... BiasSize>
constexpr Conv1d<config> from_torch(const Tensor<float, Out, In, Kernel>& weight_out_in_kernel,
                                    const Vector<float, BiasSize>&... bias) noexcept {
  return detail::convolution_from_torch<Conv1d<config>, config>(weight_out_in_kernel, bias...);
}

template <std::size_t Out, std::size_t In, std::size_t Kernel>
constexpr detail::Diagnosed from_torch(const Tensor<float, Out, In, Kernel>&, ...) noexcept {
  static_assert(detail::no_such_call<Tensor<float, Out, In, Kernel>>,
                "the weight of a convolution needs its configuration: from_torch<config>(weight, "
                "bias)");
  return {};
}

namespace detail {

// Draws the weights of each output in PyTorch's order, the positions of the kernel last.
template <bool has_bias, class Layer>
constexpr void initialize_convolution(Layer& layer, auto& generator) noexcept {
  constexpr float bound = inverse_sqrt<Layer::width>;
  auto weights = random_stream(generator);
  for (std::size_t o = 0; o < layer.weight.extent(1); ++o)
    for (std::size_t c = 0; c < Layer::group_in; ++c)
      for (std::size_t k = 0; k < Layer::positions; ++k)
        layer.weight(k * Layer::group_in + c, o) =
            kernel::uniform_from(weights.next(), -bound, bound);
  if constexpr (has_bias) {
    auto biases = random_stream(generator);
    for (float& element : layer.bias.elements)
      element = kernel::uniform_from(biases.next(), -bound, bound);
  }
}

}  // namespace detail

// Draws weight, then bias, as torch.nn.Conv1d does: uniform from -1 / sqrt(n) to 1 / sqrt(n), where
// n is kernel * in / groups, in the order of PyTorch's layout.
template <Conv1dConfig config, random_generator Generator>
requires(config.weights == Weights::f32) constexpr void initialize(Conv1d<config>& layer,
                                                                   Generator& generator) noexcept {
  detail::initialize_convolution<config.bias>(layer, generator);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
