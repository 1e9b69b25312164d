// SPDX-License-Identifier: MIT
//
// The backward pass of an Embedding.
#pragma once

#include "tinyattn/embedding.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Adds row i of output_gradient, [tokens, Dim], to row tokens[i] of gradient.weight, i rising: all
// rows of a token add up. Tokens have no gradient; that of the module may be no_gradient. Adds
// nothing if a token is not below Count: forward has then returned unknown_token.
template <std::size_t Count, std::size_t Dim, std::size_t Tokens, tensor_like OutputGradient,
          class Gradient>
constexpr void backward(const Embedding<Count, Dim>&, const Vector<Token, Tokens>& tokens,
                        const OutputGradient& output_gradient, const NoGradient&,
                        Gradient& gradient) noexcept {
  if constexpr (detail::check_backward<Embedding<Count, Dim>, OutputGradient,
                                       Matrix<float, Tokens, Dim>, NoGradient,
                                       Vector<Token, Tokens>, Gradient>()) {
    if (!kernel::are_known(tokens.data(), Tokens, Count)) return;
    on_native_port([&](auto port) {
      kernel::embed_backward<decltype(port)>({detail::projection_gradient(gradient).weight, Dim},
                                             {nullptr, 0}, tokens.data(), Tokens, 0,
                                             detail::input(output_gradient, 0));
    });
  }
}

// The same: an embedding has no gradient of its input.
template <std::size_t Count, std::size_t Dim, std::size_t Tokens, tensor_like OutputGradient,
          class Gradient>
constexpr void backward(const Embedding<Count, Dim>& embedding, const Vector<Token, Tokens>& tokens,
                        const OutputGradient& output_gradient, Gradient& gradient) noexcept {
  backward(embedding, tokens, output_gradient, no_gradient, gradient);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
