// SPDX-License-Identifier: MIT
//
// The norm of a row of features. Its mean and its mean of squares are sums in sixteen lanes.
#pragma once

#include "tinyattn/kernel/row.hpp"
#include "tinyattn/kernel/tile.hpp"
#include "tinyattn/port/square_root.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace kernel {

// Parameters of a norm of `dim` features: a layer norm or, without a bias, a norm that divides by
// the root mean square and subtracts no mean.
struct Norm {
  std::size_t dim;
  const float* weight;  // [dim]
  const float* bias;    // [dim], or nullptr
  float epsilon;
  float inverse_dim = 1.0f / static_cast<float>(dim);
};

// Returns 1 / sqrt(sum * (1 / dim) + epsilon), with one fma under the root.
template <class Port>
TINYATTN_KERNEL float inverse_deviation(float sum, const Norm& norm) noexcept {
  return 1.0f / port::detail::square_root(Port::one_lane::fma(sum, norm.inverse_dim, norm.epsilon));
}

// (x - mean) / sqrt(variance + epsilon) * weight + bias: Ba et al., "Layer Normalization", 2016,
// as torch.nn.LayerNorm. `out` may be x.
template <class Port>
[[gnu::noinline]] constexpr void layer_norm(Norm norm, const float* x, float* out) noexcept {
  const std::size_t dim = norm.dim;
  const float mean = Port::one_lane::mul(sum_of_row<Port>(x, dim), norm.inverse_dim);
  const auto shift = Port::broadcast(-mean);
  transform_row<Port>(x, out, dim,
                      [&](auto v) TINYATTN_INLINE_LAMBDA { return Port::add(v, shift); });
  const float squares = sum_of_squares<Port>(out, dim);
  const auto scale = Port::broadcast(inverse_deviation<Port>(squares, norm));
  for_each_vector<Port>(dim, [&](auto at) TINYATTN_INLINE_LAMBDA {
    const auto centered = Port::mul(at.load(out, 0.0f), scale);
    at.store(out, Port::fma(centered, at.load(norm.weight, 0.0f), at.load(norm.bias, 0.0f)));
  });
}

// x / sqrt(mean of squares + epsilon) * weight: Zhang and Sennrich, "Root Mean Square Layer
// Normalization", 2019, as Llama. `out` may be x.
template <class Port>
[[gnu::noinline]] constexpr void rms_norm(Norm norm, const float* x, float* out) noexcept {
  const float squares = sum_of_squares<Port>(x, norm.dim);
  const auto scale = Port::broadcast(inverse_deviation<Port>(squares, norm));
  if constexpr (requires { Port::multiply_twice(x, scale, norm.weight, out, norm.dim); })
    Port::multiply_twice(x, scale, norm.weight, out, norm.dim);
  else
    for_each_vector<Port>(norm.dim, [&](auto at) TINYATTN_INLINE_LAMBDA {
      at.store(out, Port::mul(Port::mul(at.load(x, 0.0f), scale), at.load(norm.weight, 0.0f)));
    });
}

// Normalizes every row: by a layer norm, or by an RMS norm if there is no bias.
template <class Port>
TINYATTN_KERNEL void normalize_features(Norm norm, std::size_t rows, Dense x, Output out) noexcept {
  for (std::size_t i = 0; i < rows; ++i)
    if (is_null(norm.bias))
      rms_norm<Port>(norm, x.at(i, 0), out.at(i, 0));
    else
      layer_norm<Port>(norm, x.at(i, 0), out.at(i, 0));
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::kernel

TINYATTN_END
