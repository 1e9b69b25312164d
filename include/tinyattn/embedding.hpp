// SPDX-License-Identifier: MIT
//
// Embeddings: a row of features for each token.
#pragma once

#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/detail/operands.hpp"
#include "tinyattn/initialize.hpp"
#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/positions.hpp"
#include "tinyattn/randn.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/token.hpp"
#include "tinyattn/weights.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// torch.nn.Embedding: `Count` rows of `Dim` features.
template <std::size_t Count, std::size_t Dim, Weights weights = Weights::f32>
struct Embedding {
  static_assert(detail::check_type_of_weights<weights>());

  detail::WeightTable<weights, Count, Dim> weight{};  // a row for each token

  // Writes out[i] = weight[tokens[i]] to out, [tokens, Dim]. If a token is not below Count, writes
  // nothing and returns unknown_token.
  template <std::size_t Tokens, tensor_like Out>
  constexpr Status forward(const Vector<Token, Tokens>& tokens, Out& out) const noexcept {
    using LayoutOut = detail::LayoutOf<Out>;
    constexpr bool writable = detail::is_writable<Out>, fits = LayoutOut::batch == 1 &&
                                                               LayoutOut::rows == Tokens &&
                                                               LayoutOut::cols == Dim;
    static_assert(writable, "out must hold floats, and not be const");
    static_assert(fits, "out must have a row for each token, and the columns of the embedding");
    if constexpr (writable && fits) {
      if (!kernel::are_known(tokens.data(), Tokens, Count)) return Status::unknown_token;
      on_native_port([&](auto port) {
        kernel::embed<decltype(port)>(describe(*this), {nullptr, 0}, tokens.data(), Tokens, 0,
                                      detail::output(out, 0));
      });
    }
    return Status::ok;
  }

  TINYATTN_DIAGNOSTIC(class First = detail::Anything, forward(const First&, ...) const,
                      "forward takes (tokens, out): a Vector<Token, N>, and a matrix of float that "
                      "is neither const nor a temporary")

  TINYATTN_MODULE(Embedding, weight)

  TINYATTN_ALWAYS_INLINE friend constexpr auto describe(const Embedding& embedding) noexcept {
    if constexpr (weights == Weights::int8)
      return kernel::Int8Table{detail::projection_of(embedding).weight, Dim};
    else
      return kernel::operand_of(detail::projection_of(embedding).weight, Dim);
  }
  friend constexpr auto converted(const Embedding& embedding, auto to) noexcept
      requires(weights == Weights::f32) {
    return Embedding<Count, Dim, to.weights>{to.table_of(embedding.weight)};
  }
};

// Draws the weight as torch.nn.Embedding does: normal, of mean 0 and variance 1.
template <std::size_t Count, std::size_t Dim, random_generator Generator>
constexpr void initialize(Embedding<Count, Dim>& embedding, Generator& generator) noexcept {
  randn(generator, embedding.weight);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
