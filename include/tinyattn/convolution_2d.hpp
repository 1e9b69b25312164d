// SPDX-License-Identifier: MIT
//
// The convolution over images, channels last.
#pragma once

#include "tinyattn/convolution.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

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

template <Conv2dConfig config, class Input>
using ConvolvedImages = WindowsOf<axes_of<config, Input>(), Input, config.out>;

template <Conv2dConfig config, class TensorX, class Out>
consteval bool check_convolution_2d() noexcept {
  using Input = Images<TensorX, config.in>;
  constexpr kernel::Axes axes = axes_of<config, Input>();
  constexpr bool floats = holds_floats<TensorX>, writable = is_writable<Out>,
                 is_image = Input::fits && Input::features == config.in,
                 is_large = axes.height.count() != 0 && axes.width.count() != 0,
                 fits = same_shape<Out, ConvolvedImages<config, Input>>;
  static_assert(floats, "x must hold floats");
  static_assert(is_image, "x must be [..., height, width, in], or a matrix [height, width * in]");
  static_assert(!is_image || is_large, "the kernel is larger than x and its padding");
  static_assert(writable, "out must hold floats, and not be const");
  static_assert(!is_image || !is_large || !writable || fits,
                "out must be [..., height, width, out], with an element for each window");
  return floats && is_image && is_large && writable && fits;
}

}  // namespace detail

// torch.nn.Conv2d, channels last. The weight is [kernel height * width * in / groups, out], as that
// of a Conv1d for each row of the kernel; PyTorch's is [out, in / groups, height, width], and
// from_torch permutes it. Weights of int8 are as those of Conv1d.
template <Conv2dConfig config>
struct Conv2d {
  static_assert(detail::check_convolution_config<config>());

  // The features of a group, the elements of a kernel, and the weights of an output.
  static constexpr std::size_t group_in = config.in / config.groups,
                               positions = config.kernel.height * config.kernel.width,
                               width = positions * group_in;
  // The number of weights and biases, and the bytes that they take.
  static constexpr std::size_t parameter_count = detail::count_parameters<Conv2d>(),
                               parameter_bytes = detail::bytes_of_parameters<Conv2d>();

  // [kernel height * width * in / groups, out], of int8 its transpose.
  detail::WeightMatrix<config.weights, width, config.out> weight{};
  // Added to each element.
  [[no_unique_address]] detail::Optional<config.bias, Vector<float, config.out>> bias{};

  // Computes the convolution of x [..., height, width, in], or of one image as a matrix [height,
  // width * in], whose rows may have gaps between them. out is [..., height, width, out], with
  // heights and widths as Conv1d has tokens, and may not overlap x. Each sum starts at the bias, or
  // +0, and takes rows, then elements, then features, in rising order; what Conv1d says of padding
  // and of int8 weights holds, but that all windows are copied to the stack with int8 weights.
  template <tensor_like TensorX, tensor_like Out>
  constexpr void forward(const TensorX& x, Out& out) const noexcept;

  TINYATTN_DIAGNOSTIC(
      class First = detail::Anything, forward(const First&, ...) const,
      "forward takes (x, out): tensors or views of float; out is neither const nor a temporary")

  // By value: the result is on the stack.
  template <class TensorX>
  constexpr auto operator()(const TensorX& x) const noexcept {
    if constexpr (detail::check_argument<TensorX>()) {
      detail::ConvolvedImages<config, detail::Images<TensorX, config.in>> out;
      forward(x, out);
      return out;
    }
  }

  friend constexpr bool operator==(const Conv2d&, const Conv2d&) = default;

  // Weights of floats are not quantized by an assignment.
  template <Conv2dConfig other>
  requires(other.weights != config.weights) constexpr operator Conv2d<other>() const noexcept {
    return detail::diagnose_quantization<Conv2d<other>>();
  }

  using Members = detail::Members<detail::names<"weight", "bias">, &Conv2d::weight, &Conv2d::bias>;

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Conv2d& layer) noexcept {
    return detail::projection_of(layer);
  }
  friend constexpr auto converted(const Conv2d& layer, auto to) noexcept
      requires(config.weights == Weights::f32) {
    return Conv2d<detail::with_weights(config, to.weights)>{to.matrix_of(layer.weight), layer.bias};
  }
};

template <Conv2dConfig config>
template <tensor_like TensorX, tensor_like Out>
constexpr void Conv2d<config>::forward(const TensorX& x, Out& out) const noexcept {
  if constexpr (detail::check_convolution_2d<config, TensorX, Out>())
    detail::convolve_windows<config, detail::Images<TensorX, config.in>, detail::Images<Out>>(
        x.data(), describe(*this), out.data());
}

// Makes a Conv2d from the weight and bias of a PyTorch state_dict. The result, with all weights, is
// on the stack unless it is a constant.
template <Conv2dConfig config, std::size_t Out, std::size_t In, std::size_t Height,
          std::size_t Width, std::size_t... BiasSize>
constexpr Conv2d<config> from_torch(const Tensor<float, Out, In, Height, Width>& weight,
                                    const Vector<float, BiasSize>&... bias) noexcept {
  static_assert(Height == config.kernel.height && Width == config.kernel.width,
                "weight must be [out, in / groups, height, width], as its configuration says");
  return detail::convolution_from_torch<Conv2d<config>, config>(weight, bias...);
}

// Draws weight, then bias, as torch.nn.Conv2d does, which is as Conv1d.
template <Conv2dConfig config, random_generator Generator>
requires(config.weights == Weights::f32) constexpr void initialize(Conv2d<config>& layer,
                                                                   Generator& generator) noexcept {
  detail::initialize_convolution<config.bias>(layer, generator);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
