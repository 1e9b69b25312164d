// SPDX-License-Identifier: MIT
//
// The two generators compared with published vectors, and the floats made of their words; golden/tables.cpp compares with PyTorch's random
// numbers.
#include "tinyattn/random.hpp"

#include <array>
#include <cstdint>
#include <type_traits>

#include "catalogue/draw.hpp"
#include "catalogue/guarded.hpp"
#if __STDC_HOSTED__
#include <random>
#endif

namespace tinyattn::test { namespace {

using Words = std::array<std::uint32_t, 4>;

static_assert(std::is_trivially_copyable_v<Mt19937> && std::is_trivially_copyable_v<Philox4x32>);

constexpr Test tests[] = {
    // The three lines "philox4x32 10" of Random123's kat_vectors.
    everywhere("philox4x32-10: the published answers",
               [](Check& check) {
                 check.equal(Philox4x32(opaque(std::uint64_t{0}), 0).block(0), Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
                 constexpr std::uint64_t all = 0xffffffffffffffff;
                 check.equal(Philox4x32(opaque(all), all).block(all), Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
                 // counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0, word 0 is the low one of each pair
                 const Philox4x32 pi(opaque(std::uint64_t{0x299f31d0a4093822}), 0x0370734413198a2e);
                 check.equal(pi.block(0x85a308d3243f6a88), Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
               }),
    everywhere("a block depends on seed, stream and counter, and on nothing else",
               [](Check& check) {
                 const Words first = Philox4x32(opaque(std::uint64_t{7}), 3).block(0);
                 constexpr std::uint64_t high = std::uint64_t{1} << 32;
                 check.equal(Philox4x32(7, 3).block(0), first);
                 check.equal(Philox4x32(7).block(0), Philox4x32(7, 0).block(0));
                 for (const std::uint64_t other : {std::uint64_t{1}, high})
                   check.that(Philox4x32(7, 3).block(other) != first && Philox4x32(7, 3 + other).block(0) != first &&
                              Philox4x32(7 + other, 3).block(0) != first);
               }),
    // The first outputs for the reference seed 5489; and the 10000th, which the C++ standard specifies ([rand.predef]).
    everywhere("mt19937: the first outputs",
               [](Check& check) {
                 Mt19937 generator(opaque(5489u));
                 check.equal(Mt19937::min(), 0u);
                 check.equal(Mt19937::max(), 0xffffffffu);
                 for (const std::uint32_t expected : {3499211612u, 581869302u, 3890346734u, 3586334585u, 545404204u})
                   check.equal(generator(), expected);
               }),
    at_run_time("mt19937: the 10000th output, and all as the standard library has it",
                [](Check& check) {
                  Mt19937 generator(opaque(5489u));
                  for (int i = 1; i < 10000; ++i) generator();
                  check.equal(generator(), 4123659995u);
#if __STDC_HOSTED__
                  for (const std::uint32_t seed : {0u, 1u, 123u, 789u, 0xffffffffu}) {
                    Mt19937 ours(seed);
                    std::mt19937 expected(seed);
                    for (int i = 0; i < 2000; ++i) check.equal(ours(), static_cast<std::uint32_t>(expected()));
                  }
#endif
                }),
    everywhere("rand is uniform from 0 to 1, element after element, by value and into an output",
               [](Check& check) {
                 Mt19937 generator(opaque(123u));
                 Mt19937 same(123);
                 Mt19937 again(123);
                 const auto drawn = rand<3, 2>(generator);
                 static_assert(std::is_same_v<decltype(drawn), const Matrix<float, 3, 2>>);
                 for (const float element : drawn.elements) check.same_bits(element, uniform(same, 0.0f, 1.0f));
                 check.equal(generator(), same());
                 check_output(check, drawn, [&](auto& out) { rand(again, out); });
               }),
    everywhere("uniform: 24 bits of a word, between low and high, rounded once",
               [](Check& check) {
                 Mt19937 generator(opaque(5489u));
                 Mt19937 words(5489u);
                 for (const float low : {-1.0f, -0.577350259f, 0.0f, 3.0f}) {
                   const float high = low < 0.0f ? -low : low + 1.5f;
                   const float fraction = static_cast<float>(words() & 0xffffffu) * 0x1p-24f;
                   const float drawn = uniform(generator, low, high);
                   check.same_bits(drawn, tinyattn::fma(fraction, high - low, low));
                   check.that(low <= drawn && drawn < high);
                 }
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
