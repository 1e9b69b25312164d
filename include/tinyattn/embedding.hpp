// SPDX-License-Identifier: MIT
//
// Embeddings: a row of features for each token.
#pragma once

#include "tinyattn/detail/operands.hpp"
#include "tinyattn/kernel/embedding.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/positions.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/token.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// torch.nn.Embedding: `Count` rows of `Dim` features.
template <std::size_t Count, std::size_t Dim>
struct Embedding {
  static constexpr std::size_t parameter_count =
      detail::count_parameters<Embedding>();  // of weight, in floats

  Matrix<float, Count, Dim> weight{};  // a row for each token

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
        kernel::embed<decltype(port)>({weight.data(), Dim}, {nullptr, 0}, tokens.data(), Tokens, 0,
                                      detail::output(out, 0));
      });
    }
    return Status::ok;
  }

  template <class Tokens = detail::Anything>
  constexpr detail::Diagnosed forward(const Tokens&, ...) const noexcept {
    static_assert(detail::no_such_call<Tokens>,
                  "forward takes (tokens, out): a Vector<Token, N>, and a matrix of float that is "
                  "neither const nor a temporary");
    return {};
  }

  friend constexpr bool operator==(const Embedding&, const Embedding&) = default;

  // Calls use(names, members...), for for_each_parameter and initialize.
  static constexpr auto members(auto& self, const auto& use) {
    return use(detail::names<"weight">, self.weight);
  }
};

template <std::size_t Count, std::size_t Dim, class Generator>
constexpr void initialize(Embedding<Count, Dim>&, Generator&) noexcept {
  static_assert(detail::no_such_call<Generator>,
                "PyTorch draws an Embedding from a normal distribution, and torch.randn is not "
                "replayed: fill its weight");
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
