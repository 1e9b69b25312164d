// SPDX-License-Identifier: MIT
//
// Dropout in a backward pass: what a forward pass drew from a Philox is drawn again, any element by
// its number. A Mersenne twister cannot be replayed.
#pragma once

#include "tinyattn/dropout.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/training/kernel/attention.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// In the place of a generator: nothing is dropped.
struct NoGenerator {};
inline constexpr NoGenerator no_generator{};
template <class Generator>
inline constexpr bool is_no_generator = std::is_same_v<std::remove_cvref_t<Generator>, NoGenerator>;

// A static_assert diagnoses a generator whose numbers cannot be drawn again.
template <class Generator>
consteval bool check_replay() noexcept {
  constexpr bool is_philox = is_no_generator<Generator> || std::is_same_v<Generator, Philox4x32>;
  static_assert(is_philox, "only a Philox4x32 replays dropout: a Mersenne twister cannot go back");
  return is_philox;
}

// Whether dropout of this rate takes a stream.
constexpr bool draws(const DropoutRate& rate) noexcept {
  return rate.bits != 0 && rate.keep_below_2_53 != 0;
}

// The stream of one call of dropout, from element `next` on, for kernel::drop.
class ReplayedStream {
 public:
  constexpr ReplayedStream(const Philox4x32& stream, std::uint64_t next) noexcept
      : stream_(stream), next_(next), block_(stream.plain_block(next / 4)) {}

  constexpr bool keeps(const DropoutRate& rate) noexcept {
    if (next_ % 4 == 0) block_ = stream_.plain_block(next_ / 4);
    return block_.words[next_++ % 4] < rate.keep_below_2_32;
  }

 private:
  Philox4x32 stream_;
  std::uint64_t next_;
  PhiloxBlock block_;
};

// Returns the stream that the generator would take after `count` others.
constexpr Philox4x32 stream_after(Philox4x32 generator, std::size_t count) noexcept {
  for (; count != 0; --count) static_cast<void>(generator.take_stream());
  return generator;
}
constexpr NoGenerator stream_after(NoGenerator none, std::size_t) noexcept { return none; }

// Replays dropout of attention weights, for kernels.
template <class Attention>
struct WeightsReplay {
  static constexpr DropoutRate rate = Attention::dropout_rate;
  static constexpr bool drops = rate.bits != 0;
  Philox4x32 stream;
  std::size_t tokens;  // of the whole input: a matrix of weights is [tokens, tokens]

  template <class Port>
  constexpr void drop(float* row, std::size_t end, std::size_t index,
                      std::size_t i) const noexcept {
    const std::uint64_t first = (std::uint64_t{index} * tokens + i) * tokens;
    ReplayedStream of_row(stream, first);
    kernel::drop<Port>(row, end, end, rate, of_row);
  }
};

// Drops of rows, `dim` columns wide, what a call of dropout dropped of its rows from row `first`
// on.
template <class Port>
constexpr void drop_rows_again(std::size_t first, std::size_t rows, std::size_t dim,
                               kernel::Output x, const DropoutRate& rate,
                               const Philox4x32& stream) noexcept {
  ReplayedStream of_rows(stream, std::uint64_t{first} * dim);
  for (std::size_t i = 0; i < rows; ++i) kernel::drop<Port>(x.at(i, 0), dim, dim, rate, of_rows);
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
