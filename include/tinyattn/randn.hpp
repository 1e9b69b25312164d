// SPDX-License-Identifier: MIT
//
// Normally distributed random numbers.
#pragma once

#include "tinyattn/kernel/normal.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Fills `out` with normal random numbers of mean 0 and variance 1, in row-major order: of sixteen
// or more numbers by an Mt19937, those of torch.randn after torch.manual_seed, to 3e-6, since
// PyTorch rounds angles to floats. (Fewer it draws as doubles.) By value, the result is on the
// stack.
template <random_generator Generator, std::size_t... Extents>
constexpr void randn(Generator& generator, Tensor<float, Extents...>& out) noexcept {
  auto stream = detail::random_stream(generator);
  on_native_port(
      [&](auto port) { kernel::draw_normal<decltype(port)>(out.data(), out.size(), stream); });
}

template <std::size_t... Extents, random_generator Generator>
constexpr Tensor<float, Extents...> randn(Generator& generator) noexcept {
  Tensor<float, Extents...> out{};
  randn(generator, out);
  return out;
}

template <random_generator Generator>
constexpr detail::Diagnosed randn(Generator&, detail::Anything, ...) noexcept {
  static_assert(detail::no_such_call<Generator>,
                "randn takes (generator, out): a tensor of float, neither const nor a temporary");
  return {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
