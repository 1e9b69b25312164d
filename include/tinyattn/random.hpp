// SPDX-License-Identifier: MIT
//
// Two random generators, with the same numbers on every target: the Mersenne twister, to reproduce
// PyTorch's random numbers, and Philox, a counter-based generator, each of whose numbers depends
// only on the seed, the stream and the position in the stream.
#pragma once

#include "tinyattn/kernel/random.hpp"
#include "tinyattn/tensor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// MT19937 of Matsumoto and Nishimura, "Mersenne Twister", 1998, seeded as in their version of 2002:
// the generator of torch.manual_seed and std::mt19937. 2,500 bytes of state.
class Mt19937 {
 public:
  using result_type = std::uint32_t;  // as the generators of <random> declare it

  // Seeds the generator as torch.manual_seed(seed) does.
  explicit constexpr Mt19937(std::uint32_t seed) noexcept {
    state_[0] = seed;
    for (std::uint32_t i = 1; i < size; ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }

  // The minimum of what a call returns.
  static constexpr result_type(min)() noexcept { return 0; }
  // The maximum of what a call returns.
  static constexpr result_type(max)() noexcept { return 0xffffffffu; }

  // Returns the next 32 random bits.
  constexpr result_type operator()() noexcept {
    if (next_ == size) twist();
    std::uint32_t word = state_[next_++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680u;
    word ^= (word << 15) & 0xefc60000u;
    return word ^ (word >> 18);
  }

 private:
  static constexpr std::uint32_t size = 624;
  static constexpr std::uint32_t middle = 397;

  constexpr void twist() noexcept {
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t following = i + 1 < size ? i + 1 : 0;
      const std::uint32_t distant = i + middle < size ? i + middle : i + middle - size;
      const std::uint32_t joined = (state_[i] & 0x80000000u) | (state_[following] & 0x7fffffffu);
      state_[i] = state_[distant] ^ (joined >> 1) ^ (joined % 2 == 1 ? 0x9908b0dfu : 0u);
    }
    next_ = 0;
  }

  std::uint32_t state_[size] = {};
  std::uint32_t next_ = size;
};

namespace detail {

// Not a std::array, whose functions translation units that are built with different flags would
// share.
struct PhiloxBlock {
  std::uint32_t words[4];
};

}  // namespace detail

// Philox 4x32 with ten rounds: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", 2011. A block is a function of seed, stream and counter alone; each call that draws
// random numbers takes a stream of its own.
class Philox4x32 {
 public:
  // Starts a stream of a seed. The streams of one seed are independent of each other.
  explicit constexpr Philox4x32(std::uint64_t seed, std::uint64_t stream = 0) noexcept
      : seed_(seed), stream_(stream) {}

  // Returns four random words. The counter of Philox is counter low, counter high, stream low,
  // stream high; its key is seed low, seed high.
  constexpr std::array<std::uint32_t, 4> block(std::uint64_t counter) const noexcept {
    const auto [words] = plain_block(counter);
    return {words[0], words[1], words[2], words[3]};
  }

  // The same, as a struct.
  constexpr detail::PhiloxBlock plain_block(std::uint64_t counter) const noexcept {
    detail::PhiloxBlock block = {{low(counter), high(counter), low(stream_), high(stream_)}};
    std::uint32_t key[2] = {low(seed_), high(seed_)};
    for (int round = 0; round < 10; ++round) {
      const auto& words = block.words;
      const std::uint64_t first = std::uint64_t{0xd2511f53u} * words[0];
      const std::uint64_t second = std::uint64_t{0xcd9e8d57u} * words[2];
      block = {{high(second) ^ words[1] ^ key[0], low(second), high(first) ^ words[3] ^ key[1],
                low(first)}};
      key[0] += 0x9e3779b9u;
      key[1] += 0xbb67ae85u;
    }
    return block;
  }

  // Returns a generator of the present stream, and increments the stream of this generator.
  constexpr Philox4x32 take_stream() noexcept {
    const Philox4x32 taken = *this;
    ++stream_;
    return taken;
  }

 private:
  static constexpr std::uint32_t low(std::uint64_t x) noexcept {
    return static_cast<std::uint32_t>(x);
  }
  static constexpr std::uint32_t high(std::uint64_t x) noexcept {
    return static_cast<std::uint32_t>(x >> 32);
  }

  std::uint64_t seed_;
  std::uint64_t stream_;
};

namespace detail {

// The random stream of one call. next() returns 32 random bits: MtStream takes the next of a
// Mersenne twister; PhiloxStream takes a stream from Philox at the first next(). keeps(rate)
// returns whether dropout keeps the next element.
class MtStream {
 public:
  explicit constexpr MtStream(Mt19937& generator) noexcept : generator_(&generator) {}
  constexpr std::uint32_t next() noexcept { return (*generator_)(); }

  // Compares the low 53 bits of two words, the first of which is high, as PyTorch does on a CPU.
  constexpr bool keeps(const auto& rate) noexcept {
    const std::uint64_t high = next();
    const std::uint64_t low = next();
    return (((high << 32) | low) & ((std::uint64_t{1} << 53) - 1)) < rate.keep_below_2_53;
  }

 private:
  Mt19937* generator_;  // a pointer, because -fpack-struct warns of references
};

class PhiloxStream {
 public:
  explicit constexpr PhiloxStream(Philox4x32& generator) noexcept
      : generator_(&generator), stream_(generator) {}
  constexpr std::uint32_t next() noexcept {
    if (drawn_ == 0) stream_ = generator_->take_stream();
    if (drawn_ % 4 == 0) block_ = stream_.plain_block(drawn_ / 4);
    return block_.words[drawn_++ % 4];
  }

  // Takes one word for each element.
  constexpr bool keeps(const auto& rate) noexcept { return next() < rate.keep_below_2_32; }

 private:
  Philox4x32* generator_;
  Philox4x32 stream_;
  std::uint64_t drawn_ = 0;
  PhiloxBlock block_ = {};
};

constexpr MtStream random_stream(Mt19937& generator) noexcept { return MtStream(generator); }
constexpr PhiloxStream random_stream(Philox4x32& generator) noexcept {
  return PhiloxStream(generator);
}

}  // namespace detail

// A random generator: Mt19937 or Philox4x32.
template <class Generator>
concept random_generator = requires(Generator& generator) {
  detail::random_stream(generator);
};

// Returns a random number, uniform in [low, high); only rounding may give high itself.
template <random_generator Generator>
constexpr float uniform(Generator& generator, float low, float high) noexcept {
  return kernel::uniform_from(detail::random_stream(generator).next(), low, high);
}

// Fills `out` with random numbers, uniform in [0, 1), in row-major order: by an Mt19937, those of
// torch.rand after torch.manual_seed. By value, the result is on the stack.
template <random_generator Generator, std::size_t... Extents>
constexpr void rand(Generator& generator, Tensor<float, Extents...>& out) noexcept {
  auto stream = detail::random_stream(generator);
  for (float& element : out.elements) element = kernel::uniform_from(stream.next(), 0.0f, 1.0f);
}

template <std::size_t... Extents, random_generator Generator>
constexpr Tensor<float, Extents...> rand(Generator& generator) noexcept {
  Tensor<float, Extents...> out{};
  rand(generator, out);
  return out;
}

template <random_generator Generator>
constexpr detail::Diagnosed rand(Generator&, detail::Anything, ...) noexcept {
  static_assert(detail::no_such_call<Generator>,
                "rand takes (generator, out): a tensor of float, neither const nor a temporary");
  return {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE
