// SPDX-License-Identifier: MIT
//
// Tensors as images, channels last, and the windows that move over them.
#pragma once

#include "tinyattn/kernel/axis.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>
#include <utility>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// [..., height, width, features], or a matrix [height, width * features]: one image, whose rows may
// have gaps between them. Features of 0 are the last extent.
template <class TensorX, std::size_t Features = 0>
struct Images {
  using Layout = LayoutOf<TensorX>;
  static constexpr bool is_matrix = Layout::rank == 2 && Features != 0,
                        fits = is_matrix ? Layout::cols % Features == 0 : Layout::rank > 2;
  static constexpr std::size_t features = is_matrix ? Features : Layout::cols,
                               width = is_matrix ? Layout::cols / features : Layout::rows;
  static constexpr std::size_t height = [] {
    if constexpr (Layout::rank > 2)
      return Layout::extents[Layout::rank - 3];
    else
      return Layout::rows;
  }();
  static constexpr std::size_t batch = is_matrix ? 1 : Layout::batch / height, step = features,
                               row = is_matrix ? Layout::stride : width * features;

  template <std::size_t Height, std::size_t Width, std::size_t Out>
  static auto result() {
    if constexpr (Layout::rank > 2)
      return with_batch<float, Height, Width, Out>(
          decltype(Layout::leading(std::make_index_sequence<Layout::rank - 3>{})){});
    else
      return Tensor<float, Height, Width, Out>{};
  }
};

// [..., tokens, features], as images of one row.
template <class TensorX, std::size_t = 0>
struct Tokens {
  using Layout = LayoutOf<TensorX>;
  static constexpr bool fits = Layout::rank > 1;
  static constexpr std::size_t features = Layout::cols, width = Layout::rows, height = 1,
                               batch = Layout::batch, step = Layout::stride, row = width * step;

  template <std::size_t, std::size_t Width, std::size_t Out>
  static auto result() {
    return WithBatch<TensorX, Width, Out>{};
  }
};

// The windows of a configuration over Input, whose result is To; over tokens, sizes are widths.
template <auto c, class Input, class To = Input>
consteval kernel::Axes axes_of() noexcept {
  constexpr bool ceil_mode = [] {
    if constexpr (requires { c.ceil_mode; })
      return c.ceil_mode;
    else
      return false;
  }();
  constexpr Size2d kernel = c.kernel, stride = c.stride, padding = c.padding, dilation = c.dilation;
  constexpr kernel::Axis width{Input::width, Input::step,   To::step,       kernel.width,
                               stride.width, padding.width, dilation.width, ceil_mode};
  if constexpr (requires { Input::is_matrix; })
    return {{Input::height, Input::row, To::row, kernel.height, stride.height, padding.height,
             dilation.height, ceil_mode},
            width};
  else
    return {{1, Input::row, To::row, 1}, width};
}

// The result of such windows, of Out features each.
template <auto axes, class Input, std::size_t Out>
using WindowsOf = decltype(Input::template result<kernel::maximum(axes.height.count(), 1),
                                                  kernel::maximum(axes.width.count(), 1), Out>());

// The elements of a window.
template <auto c>
inline constexpr std::size_t positions_of = [] {
  if constexpr (requires { c.kernel.height; })
    return c.kernel.height * c.kernel.width;
  else
    return c.kernel;
}();

template <auto c>
consteval bool check_windows() noexcept {
  constexpr Size2d kernel = c.kernel, stride = c.stride, dilation = c.dilation;
  static_assert(kernel.height != 0 && kernel.width != 0 && stride.height != 0 && stride.width != 0,
                "kernel and stride must not be zero");
  static_assert(dilation.height != 0 && dilation.width != 0, "dilation must not be zero");
  return true;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
