// SPDX-License-Identifier: MIT
//
// Checkpoints in a flash whose power may fail at each word of a write or an erasure, which then changes only some of the word's bits. load
// must find the model before or the new one, never a mixture.
#include "tinyattn/training/checkpoint.hpp"

#include "tinyattn/feed_forward.hpp"
#include "tinyattn/normalization.hpp"

#include <cstdint>
#include <span>

#include "support/check.hpp"

namespace tinyattn::test { namespace {

struct Small {
  Linear<3, 2> linear;
  Linear<2, 3, false, Weights::int8> codes;
  LayerNorm<2> norms[2];
  using Parts = Parameters<&Small::linear, &Small::codes, &Small::norms>;
};
using Other = Linear<5, 3>;
using Larger = Linear<5, 70>;

// A model in which every parameter is `number`, so that a mixture of two is recognized.
constexpr Small numbered(std::uint32_t number) {
  Small model{};
  const float value = __builtin_bit_cast(float, 0x3f000000u + number);
  for_each_parameter(model, [&]<class Parameter>(const char*, Parameter& parameter) {
    if constexpr (requires { parameter.code; }) {
      for (std::size_t i = 0; i < sizeof(parameter.code); ++i) parameter.code[i] = static_cast<std::uint8_t>(number >> i % 4 * 8);
      for (float& scale : parameter.scale) scale = value;
    } else {
      for (float& element : parameter.elements) element = value;
    }
  });
  return model;
}
constexpr bool equal(const Small& a, const Small& b) {
  bool equal = a.linear.weight == b.linear.weight && a.linear.bias == b.linear.bias && a.codes.weight == b.codes.weight;
  for (std::size_t i = 0; i < 2; ++i) equal = equal && a.norms[i].weight == b.norms[i].weight && a.norms[i].bias == b.norms[i].bias;
  return equal;
}

// Two slots of words. Power fails at word operation number `cut`: only some bits of that word change, and no later word until power is
// back.
template <std::size_t SlotBytes>
struct Flash {
  static constexpr std::size_t words = SlotBytes / 4;
  std::uint32_t content[2][words];
  std::uint32_t random = 1;
  std::size_t operations = 0, cut = ~std::size_t{0}, written = 0;
  bool is_misused = false;

  constexpr Flash() {
    for (auto& slot : content)
      for (std::uint32_t& word : slot) word = 0xffffffff;
  }

  constexpr std::uint32_t draw() {
    for (const int shift : {13, -17, 5}) random ^= shift > 0 ? random << shift : random >> -shift;
    return random;
  }
  // The bits that this operation changes: all, some or none.
  constexpr std::uint32_t changing_bits() {
    const std::size_t operation = operations++;
    return operation < cut ? 0xffffffff : operation == cut ? draw() & draw() : 0;
  }

  constexpr void erase(std::size_t slot) {
    for (std::uint32_t& word : content[slot]) word |= changing_bits();
    written = 0;
  }
  constexpr void write(std::size_t slot, std::size_t offset, std::span<const std::byte> bytes) {
    is_misused = is_misused || slot > 1 || offset != written || bytes.size() != checkpoint_block || offset + bytes.size() > SlotBytes;
    written += checkpoint_block;
    for (std::size_t i = 0; i < bytes.size() && !is_misused; i += 4) {
      std::uint32_t word = 0;
      for (std::size_t j = 0; j < 4; ++j) word |= std::to_integer<std::uint32_t>(bytes[i + j]) << 8 * j;
      std::uint32_t& place = content[slot][(offset + i) / 4];
      if (operations < cut && place != 0xffffffff) is_misused = true;
      place &= word | ~changing_bits();
    }
  }
  constexpr void read(std::size_t slot, std::size_t offset, std::span<std::byte> bytes) {
    is_misused =
        is_misused || slot > 1 || offset % checkpoint_block != 0 || bytes.size() != checkpoint_block || offset + bytes.size() > SlotBytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(content[slot][(offset + i) / 4 % words] >> (offset + i) % 4 * 8);
  }

  constexpr void fail_at(std::size_t operation) {
    operations = 0;
    cut = operation;
  }
  constexpr void power_on() { cut = ~std::size_t{0}; }
};
using SmallFlash = Flash<checkpoint_bytes<Small>>;

// Word operations in one save.
constexpr std::size_t operations_of_save = 2 * SmallFlash::words;

// Checks what load returns, and which model it reads. A model that is not loaded stays number 9.
constexpr void check_load(Check& check, auto& flash, Status expected, std::uint32_t number = 9) {
  Small model = numbered(9);
  check.equal(load(model, flash), expected);
  check.that(equal(model, numbered(number)));
}
constexpr void check_saved(Check& check, auto& flash, std::uint32_t number) {
  check.equal(save(numbered(number), flash), Status::ok);
  check_load(check, flash, Status::ok, number);
}

// Saves model `number` while power fails, and returns the number of the model found afterwards: the new one, or the one before, 9 if there
// was none.
std::uint32_t saved_or_kept(Check& check, SmallFlash& flash, std::size_t cut, std::uint32_t number, std::uint32_t kept) {
  flash.fail_at(cut);
  const Status saved = save(numbered(number), flash);
  flash.power_on();
  Small model = numbered(9);
  const Status loaded = load(model, flash);
  const bool is_new = equal(model, numbered(number));
  check.that(is_new || (equal(model, numbered(kept)) && saved == Status::no_model));
  check.equal(loaded, is_new || kept != 9 ? Status::ok : Status::no_model);
  check.that(!flash.is_misused);
  return is_new ? number : kept;
}

#if __STDC_HOSTED__
constexpr std::uint32_t cuts = 10000;
#else
constexpr std::uint32_t cuts = 60;
#endif

constexpr Test tests[] = {
    everywhere("what is saved is loaded, of the two last models",
               [](Check& check) {
                 SmallFlash flash;
                 check_load(check, flash, Status::no_model);
                 for (std::uint32_t number = 1; number <= 3; ++number) check_saved(check, flash, number);
                 check.that(!flash.is_misused);
               }),
    everywhere("bytes are the same on every machine; the CRC is zlib's",
               [](Check& check) {
                 using Tiny = Linear<1, 2, false>;
                 Flash<checkpoint_bytes<Tiny>> flash;
                 const Tiny tiny{.weight = {{1.0f, -2.0f}}};
                 check.equal(save(tiny, flash), Status::ok);
                 check.equal(flash.content[0][0], 0x31414154u);
                 check.equal(flash.content[0][1], 0u);
                 check.equal(flash.content[0][8], 0x69657700u);  // 0, "wei"
                 check.equal(flash.content[0][16], 0x3f800000u);
                 check.equal(flash.content[0][17], 0xc0000000u);
                 check.equal(detail::crc32(0, "123456789", 9), 0xcbf43926u);
                 check.equal(detail::crc32(detail::crc32(0, "1234", 4), "56789", 5), 0xcbf43926u);
               }),
    at_run_time("power fails at each word of a save: there is the model before, if any, or the new one, and the next save succeeds",
                [](Check& check) {
                  for (std::size_t cut = 0; cut <= operations_of_save; ++cut)
                    for (const std::uint32_t before : {0u, 1u, 2u}) {
                      SmallFlash flash;
                      flash.random = static_cast<std::uint32_t>(cut + 1);
                      for (std::uint32_t number = 1; number <= before; ++number) check.equal(save(numbered(number), flash), Status::ok);
                      const std::uint32_t now = saved_or_kept(check, flash, cut, before + 1, before == 0 ? 9 : before);
                      check.that(cut < operations_of_save || now == before + 1);
                      check.equal(saved_or_kept(check, flash, operations_of_save, before + 2, now), before + 2);
                    }
                }),
    at_run_time("power fails again and again, at any word",
                [](Check& check) {
                  static SmallFlash flash;
                  std::uint32_t kept = 0, saved = 0;
                  check.equal(save(numbered(kept), flash), Status::ok);
                  for (std::uint32_t number = 10; number < 10 + cuts; ++number) {
                    const std::size_t cut = flash.draw() % operations_of_save;
                    const std::uint32_t now = saved_or_kept(check, flash, cut, number, kept);
                    saved += now == number ? 1 : 0;
                    kept = now;
                  }
                  check.that(saved < cuts / 4);
                }),
    at_run_time("a byte that changes in flash makes a slot none",
                [](Check& check) {
                  static SmallFlash flash;
                  check.equal(save(numbered(1), flash), Status::ok);
                  // The CRC is followed by seven words without meaning.
                  for (std::size_t word = 0; word + 7 < SmallFlash::words; ++word) {
                    flash.content[0][word] ^= 1u << word % 32;
                    check_load(check, flash, Status::no_model);
                    flash.content[0][word] ^= 1u << word % 32;
                  }
                }),
    everywhere("sequence numbers wrap around",
               [](Check& check) {
                 SmallFlash flash;
                 detail::write_slot(numbered(0), flash, 1, 0xfffffffe);
                 for (std::uint32_t number = 1; number <= 3; ++number) check_saved(check, flash, number);
                 check.equal(flash.content[0][1], 1u);
               }),
    everywhere("a model of another layout is refused, kept as long as there is room, and overwritten at last",
               [](Check& check) {
                 SmallFlash flash;
                 Other other{.weight = full<float, 5, 3>(0.5f), .bias = {}}, loaded{};
                 check.equal(save(other, flash), Status::ok);
                 check_load(check, flash, Status::wrong_model);
                 check_saved(check, flash, 1);
                 check.equal(load(loaded, flash), Status::ok);
                 check.equal(loaded.weight, other.weight);
                 check_saved(check, flash, 2);
                 check.equal(load(loaded, flash), Status::wrong_model);
                 check.equal(save(other, flash), Status::ok);  // in the place of the older one, so that 2 is the only one
                 check_saved(check, flash, 3);
                 check.equal(load(loaded, flash), Status::wrong_model);
                 SmallFlash of_other;
                 detail::write_slot(other, of_other, 1, 0);
                 check_load(check, of_other, Status::wrong_model);
               }),
    everywhere("a larger model, of which a slot has room for the beginning, is another",
               [](Check& check) {
                 Flash<checkpoint_bytes<Larger>> large;
                 SmallFlash flash;
                 check.equal(save(Larger{}, large), Status::ok);
                 for (std::size_t word = 0; word < SmallFlash::words; ++word) flash.content[0][word] = large.content[0][word];
                 check_load(check, flash, Status::wrong_model);
                 check_saved(check, flash, 1);
                 check.that(!flash.is_misused);
                 flash.content[0][1] ^= 1;  // its header
                 flash.content[1][1] ^= 1;
                 check_load(check, flash, Status::no_model);
               }),
    everywhere("layouts differ by names and by shapes of the same size",
               [](Check& check) {
                 check.that(detail::crc_of_layout<Linear<2, 3, false>> != detail::crc_of_layout<Linear<3, 2, false>>);
                 check.that(detail::crc_of_layout<RmsNorm<6>> != detail::crc_of_layout<Linear<1, 6, false>>);
                 check.that(detail::crc_of_layout<FeedForward<FeedForwardConfig{.d_model = 2, .d_hidden = 2}>> !=
                            detail::crc_of_layout<FeedForward<FeedForwardConfig{.d_model = 2, .d_hidden = 2, .bias = false}>>);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
