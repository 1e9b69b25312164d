// SPDX-License-Identifier: MIT
//
// Convolutions, over tokens and over images, channels last: each token or element of the result is
// an affine function of those in a window. With a stride as long as the kernel, it makes patches.
#pragma once

#include "tinyattn/detail/images.hpp"
#include "tinyattn/detail/integer_workspace.hpp"
#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/detail/optional.hpp"
#include "tinyattn/initialize.hpp"
#include "tinyattn/kernel/convolution.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/weights.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn {

// The shape of a convolution over tokens.
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

// The shape of a convolution over images. A size is one number, or {height, width}.
struct Conv2dConfig {
  std::size_t in;                  // features of an element: PyTorch's channels
  std::size_t out;                 // features of an element of the result
  Size2d kernel;                   // rows and columns that an element of the result is made of
  Size2d stride = 1;               // how far apart windows of a kernel begin
  Size2d padding = 0;              // zeros on each side of x; less than kernel
  bool bias = true;                // whether a bias is added
  Weights weights = Weights::f32;  // of the kernel
  std::size_t groups = 1;          // parts of in and out that are convolved by themselves
  Size2d dilation = 1;             // how far apart the elements of a kernel are
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Whether a configuration is that of a convolution, and of one over images.
template <auto config>
inline constexpr bool is_over_images =
    std::is_same_v<std::remove_cv_t<decltype(config)>, Conv2dConfig>;
template <auto config>
concept of_convolution =
    is_over_images<config> || std::is_same_v<std::remove_cv_t<decltype(config)>, Conv1dConfig>;

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

// PyTorch's weight: the positions of the kernel come last.
template <auto config>
auto torch_weight() {
  constexpr std::size_t in = config.in / config.groups;
  if constexpr (is_over_images<config>)
    return Tensor<float, config.out, in, config.kernel.height, config.kernel.width>{};
  else
    return Tensor<float, config.out, in, config.kernel>{};
}

// What x is for a convolution, and the result.
template <auto config, class TensorX>
using ConvolvedInput =
    std::conditional_t<is_over_images<config>, Images<TensorX, config.in>, Tokens<TensorX>>;
template <auto config, class TensorX, class Input = ConvolvedInput<config, TensorX>>
using Convolved = WindowsOf<axes_of<config, Input>(), Input, config.out>;

// A static_assert diagnoses a wrong x, or a wrong out; the caller then computes nothing.
template <auto config, class TensorX>
consteval bool check_convolved() noexcept {
  using Input = ConvolvedInput<config, TensorX>;
  constexpr kernel::Axes axes = axes_of<config, Input>();
  constexpr bool floats = holds_floats<TensorX>, fits = Input::fits && Input::features == config.in,
                 dense = is_over_images<config> || !has_gaps<TensorX>,
                 is_large = axes.height.count() != 0 && axes.width.count() != 0;
  static_assert(floats, "x must hold floats");
  static_assert(fits,
                "x must be [..., tokens, in]; of a Conv2d [..., height, width, in], or a matrix "
                "[height, width * in]");
  static_assert(dense, "rows of x must follow each other without gaps: copy the columns of a view");
  static_assert(!fits || is_large, "the kernel is larger than x and its padding");
  return floats && fits && dense && is_large;
}

template <auto config, class TensorX, class Out>
consteval bool check_convolution() noexcept {
  constexpr bool writable = is_writable<Out>;
  static_assert(writable, "out must hold floats, and not be const");
  if constexpr (check_convolved<config, TensorX>()) {
    constexpr bool fits = same_shape<Out, Convolved<config, TensorX>>;
    static_assert(!writable || fits,
                  "out must have an element of `out` features for each window: [..., "
                  "tokens_after(tokens), out], of a Conv2d [..., height, width, out]");
    return writable && fits;
  } else {
    return false;
  }
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

// Convolves whole tokens in one group: a product with rows of x that overlap.
template <auto config, class TensorX>
TINYATTN_ALWAYS_INLINE constexpr void convolve_tokens(const TensorX& x, const auto& projection,
                                                      auto& out) noexcept {
  on_native_port([&](auto port) {
    using Port = decltype(port);
    constexpr kernel::Convolution shape{LayoutOf<TensorX>::rows, config.in,     config.out,
                                        config.kernel,           config.stride, config.padding};
    constexpr std::size_t of_int8 = config.weights == Weights::int8 ? shape.width() : 0;
    constexpr bool all_whole = shape.begin_of_whole() == 0 && shape.end_of_whole() == shape.rows();
    IntegerWorkspace<of_int8, rows_on_stack<Port>(shape.rows(), of_int8)> integers;
    Table<float, all_whole ? 0 : of_int8> padded;  // a row that is partly outside of x
    for (std::size_t element = 0; element < LayoutOf<TensorX>::batch; ++element)
      kernel::convolve<Port, all_whole>(shape, matrix_at(x, element), projection,
                                        output(out, element), integers.parts(), padded.data());
  });
}

}  // namespace detail

// Conv1d is torch.nn.Conv1d on the transpose: a token is a row here. Conv2d is torch.nn.Conv2d,
// channels last. The weight is [kernel * in / groups, out], kernel the number of elements in a
// window: row k * in / groups + c has the weights of feature c of a group of the window's element k
// for all outputs. A weight of int8 is its transpose; quantize computes it from floats. PyTorch's
// weight is [out, in / groups, kernel], of a Conv2d [out, in / groups, height, width]; from_torch
// permutes it.
template <auto config>
struct Convolution {
  static_assert(detail::check_convolution_config<config>());

  // The features of a group, the elements of a kernel, and the weights of an output.
  static constexpr std::size_t group_in = config.in / (config.groups == 0 ? 1 : config.groups),
                               positions = detail::positions_of<config>,
                               width = positions * group_in;

  // Of a Conv1d the number of tokens of the result for `tokens` tokens: (tokens + 2 * padding -
  // dilation * (kernel - 1) - 1) / stride + 1, rounded down, or 0 if the kernel is longer than x
  // and its padding.
  static constexpr std::size_t tokens_after(std::size_t tokens) noexcept
      requires(!detail::is_over_images<config>) {
    return kernel::Axis{tokens, 0, 0, config.kernel, config.stride, config.padding, config.dilation}
        .count();
  }

  // [kernel * in / groups, out], of int8 [out, kernel * in / groups].
  detail::WeightMatrix<config.weights, width, config.out> weight{};
  // Added to each row.
  [[no_unique_address]] detail::Optional<config.bias, Vector<float, config.out>> bias{};

  // Computes the convolution of x, which out may not overlap:
  //
  //   Conv1d    x [..., tokens, in], out [..., tokens_after(tokens), out]
  //   Conv2d    x [..., height, width, in], or one image as a matrix [height, width * in], whose
  //             rows may have gaps between them; out [..., height, width, out], sizes as
  //             tokens_after has them
  //
  // Each sum starts at the bias, or +0, and takes rows, then elements, then features of a window,
  // in rising order. At the edges it leaves out products with the zeros of the padding: the same
  // bits if weights are finite, except for the sign of a zero. Nothing is copied. With int8 weights
  // the features of a window are rounded to integers first, as by Linear, and windows with padding
  // (of a Conv2d all windows) are copied to the stack. Depthwise, with as many groups as features
  // and outputs, weights become floats instead, code * scale.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out) const noexcept {
    if constexpr (!detail::check_convolution<config, TensorX, Out>())
      return;
    else if constexpr (detail::is_over_images<config>)
      detail::convolve_windows<config, detail::Images<TensorX, config.in>, detail::Images<Out>>(
          x.data(), describe(*this), out.data());
    else if constexpr (config.groups != 1 || config.dilation != 1)
      detail::convolve_windows<config, detail::Tokens<TensorX>, detail::Tokens<Out>>(
          x.data(), describe(*this), out.data());
    else
      detail::convolve_tokens<config>(x, describe(*this), out);
  }

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

  // Weights of floats are not quantized by an assignment.
  template <auto other>
  requires(other.weights != config.weights) constexpr operator Convolution<other>() const noexcept {
    return detail::diagnose_quantization<Convolution<other>>();
  }

  TINYATTN_MODULE(Convolution, weight, bias)

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Convolution& layer) noexcept {
    return detail::projection_of(layer);
  }
  friend constexpr auto converted(const Convolution& layer, auto to) noexcept
      requires(config.weights == Weights::f32) {
    return Convolution<detail::with_weights(config, to.weights)>{to.matrix_of(layer.weight),
                                                                 layer.bias};
  }
};

// A convolution over tokens.
template <Conv1dConfig config>
using Conv1d = Convolution<config>;
// A convolution over images.
template <Conv2dConfig config>
using Conv2d = Convolution<config>;

// Makes a Conv1d or a Conv2d from the weight and bias of a PyTorch state_dict: permutes the weight,
// which is [out, in / groups, kernel] there, of a Conv2d [out, in / groups, height, width]. The
// result, with all weights, is on the stack unless it is a constant.
template <auto config, std::size_t Out, std::size_t In, std::size_t... Kernel,
          std::size_t... BiasSize>
requires detail::of_convolution<config>
constexpr Convolution<config> from_torch(const Tensor<float, Out, In, Kernel...>& weight,
                                         const Vector<float, BiasSize>&... bias) noexcept {
  using Layer = Convolution<config>;
  static_assert(
      std::is_same_v<Tensor<float, Out, In, Kernel...>, decltype(detail::torch_weight<config>())>,
      "weight must be [out, in / groups, kernel], of a Conv2d [out, in / groups, height, "
      "width], as its configuration says");
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

template <std::size_t Out, std::size_t In, std::size_t Kernel>
constexpr detail::Diagnosed from_torch(const Tensor<float, Out, In, Kernel>&, ...) noexcept {
  static_assert(detail::no_such_call<Tensor<float, Out, In, Kernel>>,
                "the weight of a convolution needs its configuration: from_torch<config>(weight, "
                "bias)");
  return {};
}

// Draws weight, then bias, as torch.nn.Conv1d and Conv2d do: uniform from -1 / sqrt(n) to 1 /
// sqrt(n), where n is kernel * in / groups, in the order of PyTorch's layout.
template <auto config, random_generator Generator>
requires(config.weights == Weights::f32) constexpr void initialize(Convolution<config>& layer,
                                                                   Generator& generator) noexcept {
  using Layer = Convolution<config>;
  detail::draw_uniform<Layer::width, Layer::positions>(layer.weight, generator);
  if constexpr (config.bias) detail::draw_uniform<Layer::width>(layer.bias, generator);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
