// SPDX-License-Identifier: MIT
//
// Sinusoidal positions: constants, which the compiler computes in double and rounds once. No double
// reaches the firmware.
#pragma once

#include "tinyattn/detail/sinusoids.hpp"
#include "tinyattn/shape.hpp"

#include <cstddef>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Returns the table that is added to the features of tokens: column j of row p is sin(p / 10000^(j
// / Dim)) if j is even, cos(p / 10000^((j - 1) / Dim)) if it is odd. Section 3.5 of Vaswani et al.,
// "Attention Is All You Need", 2017.
template <std::size_t Tokens, std::size_t Dim>
constexpr Matrix<float, Tokens, Dim> sinusoidal_positions() noexcept {
  return detail::sinusoidal_table<Tokens, Dim>;
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
