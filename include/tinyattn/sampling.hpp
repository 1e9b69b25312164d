// SPDX-License-Identifier: MIT
//
// Chooses the next token by its logits.
#pragma once

#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/kernel/sampling.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/token.hpp"

#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

// How a token is drawn. A temperature that is 0, negative or NaN selects the most likely token; an
// infinite temperature makes all tokens that top_k keeps equally likely. top_k = 0 keeps all
// tokens, and so does a top_p of 1, above 1 or NaN; a top_p of 0 or below keeps one token.
struct Sampling {
  float temperature = 1.0f;  // divides the logits: below 1 likely tokens become likelier
  std::size_t top_k = 0;     // number of the most likely tokens to keep
  float top_p = 1.0f;        // keeps the fewest of these with at least this total probability
};

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// Returns the token of the largest logit; of several, the lowest. A NaN counts as -infinity; if all
// logits are -infinity, returns token 0.
template <tensor_like Logits>
constexpr Token argmax(const Logits& logits) noexcept {
  if constexpr (detail::check_one_row<Logits>())
    return static_cast<Token>(
        kernel::index_of_largest(logits.data(), detail::LayoutOf<Logits>::cols));
  else
    return 0;
}

// Draws a token with one uniform random number of the generator; if the temperature is not above 0,
// returns argmax(logits) and draws no number. Divides the logits by the temperature, removes those
// below the top_k-th largest, computes the softmax, and keeps the smallest set of most likely
// tokens whose probabilities add up to top_p of the sum of all, to 2^-24. Of equally likely tokens
// the lower ones are kept. A token whose logit is -infinity or NaN is never drawn; if all are,
// returns token 0. If the largest logit is infinity, or the temperature makes it infinite, returns
// its token. The random number has 24 bits: tokens less likely than 2^-24 are together drawn as
// often as they should be, but not each of them. Overwrites logits. Holtzman et al., "The Curious
// Case of Neural Text Degeneration", 2020.
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

TINYATTN_DIAGNOSTIC(class First, sample(const First&, ...),
                    "sample takes (logits, sampling, generator): a vector of float that is neither "
                    "const nor a temporary, and a Philox4x32 or Mt19937")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
