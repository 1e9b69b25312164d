// SPDX-License-Identifier: MIT
//
// The next token from its logits.
#pragma once

#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/kernel/sampling.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/token.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

// How a token is drawn. A temperature of 0, below it or NaN takes the most likely one; an infinite
// one makes all equally likely that top_k leaves in. top_k = 0 and top_p = 1 leave all tokens in,
// and so does a top_p that is NaN; one of 0 or below leaves one.
struct Sampling {
  float temperature = 1.0f;  // divides the logits: below 1 likely tokens become likelier
  std::size_t top_k = 0;     // how many of the most likely tokens stay in
  float top_p = 1.0f;        // what share of all probabilities those that stay in reach
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// The token of the largest logit, the lowest one on a tie. A NaN counts as -infinity: token 0 if
// there is nothing else.
template <tensor_like Logits>
constexpr Token argmax(const Logits& logits) noexcept {
  if constexpr (detail::check_one_row<Logits>())
    return static_cast<Token>(
        kernel::index_of_largest(logits.data(), detail::LayoutOf<Logits>::cols));
  else
    return 0;
}

// Draws a token, by one uniform of the generator, or by none without a temperature above 0. The
// logits are divided by the temperature; those below the top_k-th largest fall; then softmax; then
// the smallest set of most likely tokens stays whose probabilities reach top_p of their sum, to
// 2^-24. Of equals the lower tokens stay. -infinity is never drawn, and a NaN counts as that: token
// 0 if nothing else is left. If the largest is infinity, or the temperature makes it infinite, it
// is taken. The uniform has 24 bits: tokens less likely than 2^-24 are drawn as often as they
// should be together, but not each. logits is overwritten. Holtzman et al., "The Curious Case of
// Neural Text Degeneration", 2020.
template <tensor_like Logits, random_generator Generator>
constexpr Token sample(Logits& logits, const Sampling& sampling, Generator& generator) noexcept {
  constexpr bool writable = detail::is_writable<Logits>;
  static_assert(writable, "logits must hold floats, and not be const: sample overwrites them");
  if constexpr (writable && detail::check_one_row<Logits>()) {
    if (!(sampling.temperature > 0.0f)) return argmax(logits);
    constexpr std::size_t count = detail::LayoutOf<Logits>::cols;
    const float fraction = uniform(generator, 0.0f, 1.0f);
    return on_native_port([&](auto port) {
      return static_cast<Token>(kernel::draw<decltype(port)>(
          logits.data(), count, sampling.temperature, sampling.top_k, sampling.top_p, fraction));
    });
  } else {
    return 0;
  }
}

template <class Logits>
constexpr detail::Diagnosed sample(const Logits&, ...) noexcept {
  static_assert(detail::no_such_call<Logits>,
                "sample takes (logits, sampling, generator): a vector of float that is neither "
                "const nor a temporary, and a Philox4x32 or Mt19937");
  return {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
