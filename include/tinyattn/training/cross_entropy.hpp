// SPDX-License-Identifier: MIT
//
// Cross-entropy: how far logits are from their targets, and the gradient of that.
#pragma once

#include "tinyattn/token.hpp"
#include "tinyattn/training/gradient.hpp"
#include "tinyattn/training/kernel/cross_entropy.hpp"

#include <concepts>
#include <cstddef>

TINYATTN_BEGIN

namespace tinyattn {

// The target of a position that the loss ignores, such as padding; PyTorch's is -100. A vocabulary
// with targets has at most 65,535 tokens, so that none of them has this id.
inline constexpr Token ignore_index = kernel::no_target;

}  // namespace tinyattn

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// The target of one row. A number that no Token holds is no target.
struct OneTarget {
  Token token;
  std::size_t count;

  constexpr explicit OneTarget(std::integral auto target) noexcept
      : token(static_cast<Token>(target)), count(token == target ? 1 : 0) {}
  constexpr const Token* data() const noexcept { return &token; }
  constexpr std::size_t size() const noexcept { return count; }
};

template <class Targets>
concept targets_of_rows = std::integral<Targets> || std::convertible_to<const Targets&, TokenView>;
template <targets_of_rows Targets>
constexpr auto row_of_targets(const Targets& targets) noexcept {
  if constexpr (std::integral<Targets>)
    return OneTarget(targets);
  else
    return TokenView(targets);
}

// The number of targets, if their type has it; else 0.
template <class Targets>
inline constexpr std::size_t number_of_targets = std::integral<Targets> ? 1 : 0;
template <std::size_t Size>
inline constexpr std::size_t number_of_targets<Token[Size]> = Size;
template <tensor_like Targets>
inline constexpr std::size_t number_of_targets<Targets> = Targets::size();

// A static_assert diagnoses wrong types of cross_entropy, which then computes nothing.
template <class Logits, class Targets, class Gradient>
consteval bool check_cross_entropy() noexcept {
  using Layout = LayoutOf<Logits>;
  constexpr std::size_t targets = number_of_targets<Targets>;
  constexpr bool floats = holds_floats<Logits>, countable = Layout::cols <= ignore_index,
                 complete = targets == 0 || targets == Layout::batch * Layout::rows,
                 fits = gradient_of_tensor<Gradient, Logits>;
  static_assert(floats, "logits must hold floats");
  static_assert(countable, "a vocabulary with targets has at most 65,535 tokens");
  static_assert(complete, "logits must have a row for each target");
  static_assert(fits,
                "the gradient of logits must have their shape and hold floats that are not "
                "const, or be no_gradient");
  return floats && countable && complete && fits;
}

// Returns how many of the targets of all rows count, or wrong_targets.
template <class Logits>
constexpr std::uint32_t count_targets(TokenView targets) noexcept {
  constexpr std::size_t rows = LayoutOf<Logits>::batch * LayoutOf<Logits>::rows;
  return targets.size() != rows
             ? kernel::wrong_targets
             : kernel::count_targets(targets.data(), rows, LayoutOf<Logits>::cols);
}

template <class Port, class Logits, class Gradient>
constexpr float cross_entropy_of(const Logits& logits, TokenView targets, Gradient& gradient,
                                 float factor) noexcept {
  using Single = typename Port::one_lane;
  using Layout = LayoutOf<Logits>;
  constexpr std::size_t rows = Layout::batch * Layout::rows, vocabulary = Layout::cols;
  const auto count = count_targets<Logits>(targets);
  if (count == kernel::wrong_targets) return __builtin_nanf("");
  const float share = kernel::share_of_target<Single>(count);
  float sum = 0.0f;
  for (std::size_t i = 0; i < rows; ++i) {
    const float* row = logits.data() + i * Layout::stride;
    if constexpr (is_no_gradient<Gradient>)
      sum = Single::add(sum, kernel::cross_entropy_row<Port>(row, vocabulary, targets.data()[i]));
    else
      sum = Single::add(sum, kernel::cross_entropy_row<Port>(
                                 row, gradient.data() + i * LayoutOf<Gradient>::stride, vocabulary,
                                 targets.data()[i], Single::mul(factor, share)));
  }
  return count == 0 ? __builtin_nanf("") : Single::mul(sum, share);
}

}  // namespace detail

// Returns the mean over the targets of -log(softmax(row of logits)[target]), as
// torch.nn.functional.cross_entropy, and writes its gradient: (softmax - one_hot) / targets, times
// `factor`, which does not scale the mean: with 1.0f / sequences the gradients of several sequences
// add up to that of their mean. logits are [..., vocabulary], of at most 65,535 tokens. `gradient`
// has the shape of the logits, and may be the logits; or it is no_gradient.
// There is a target for each row: in a tensor, a std::span or an array of Token; of one row also
// the Token itself. A row whose target is ignore_index does not count, and has gradient 0; if none
// counts, the mean is NaN. If a target is neither that nor below the vocabulary, or if their number
// is not that of the rows, it returns NaN and writes nothing.
// NaN and +infinity make the mean and their row's gradient NaN; a target of -infinity makes the
// mean infinite. The loss of a row is (largest logit - logit of target) - log(largest weight).
template <tensor_like Logits, detail::targets_of_rows Targets, class Gradient>
constexpr float cross_entropy(const Logits& logits, const Targets& targets, Gradient& gradient,
                              float factor = 1.0f) noexcept {
  if constexpr (detail::check_cross_entropy<Logits, Targets, Gradient>())
    return on_native_port([&](auto port) {
      return detail::cross_entropy_of<decltype(port)>(logits, detail::row_of_targets(targets),
                                                      gradient, factor);
    });
  return 0.0f;
}

// The mean alone, to the same bits: writes nothing.
template <tensor_like Logits, detail::targets_of_rows Targets>
constexpr float cross_entropy(const Logits& logits, const Targets& targets) noexcept {
  return cross_entropy(logits, targets, no_gradient);
}

TINYATTN_DIAGNOSTIC(class First, cross_entropy(const First&, detail::Anything, ...),
                    "cross_entropy takes (logits, targets), (logits, targets, gradient) or "
                    "(logits, targets, gradient, factor): a tensor of float, a Token for each of "
                    "its rows, and a gradient that is neither const nor a temporary")

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
