// SPDX-License-Identifier: MIT
//
// The compiled library computes the bits of the headers.
#include "tinyattn/compiled.hpp"

#include "plain.hpp"
#include "support/check.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using tinyattn::test::at_run_time;
using tinyattn::test::Check;
using tinyattn::test::Guarded;
using tinyattn::test::Test;

template <std::size_t... Extents>
tinyattn::Tensor<float, Extents...> draw(std::uint64_t seed) {
  tinyattn::Philox4x32 generator(seed);
  return tinyattn::rand<Extents...>(generator);
}

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
void multiply(Check& check) {
  const auto a = draw<Rows, Inner>(1);
  const auto b = draw<Inner, Cols>(2);
  Guarded<tinyattn::Matrix<float, Rows, Cols>> out;
  tinyattn::compiled::matmul(Rows, Inner, Cols, a.data(), b.data(), out.tensor.data());
  check.same_bits(out.tensor, tinyattn::matmul(a, b));
  check.that(out.guards_hold());
}

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim, class Mask>
void attend(Check& check, Mask mask) {
  const auto query = draw<Tokens, KeyDim>(3);
  const auto key = draw<SourceTokens, KeyDim>(4);
  const auto value = draw<SourceTokens, ValueDim>(5);
  Guarded<tinyattn::Matrix<float, Tokens, ValueDim>> out;
  constexpr std::size_t enough = 16 * (SourceTokens + 15);  // sixteen rows of whole vectors
  static float scratch[enough + 1];
  const std::size_t asked_for = tinyattn::compiled::scratch_size(SourceTokens);
  check.that(asked_for <= enough);
  scratch[asked_for] = out.untouched;
  const bool causal = std::is_same_v<Mask, tinyattn::Causal>;
  tinyattn::compiled::scaled_dot_product_attention({Tokens, SourceTokens, KeyDim, ValueDim, causal}, tinyattn::detail::inverse_sqrt<KeyDim>,
                                                   query.data(), key.data(), value.data(), out.tensor.data(), scratch);
  check.same_bits(out.tensor, tinyattn::scaled_dot_product_attention(query, key, value, mask));
  check.same_bits(scratch[asked_for], out.untouched);
  check.that(out.guards_hold());
}

constexpr Test tests[] = {
    at_run_time("products of any shape",
                [](Check& check) {
                  multiply<1, 1, 1>(check);
                  multiply<3, 5, 7>(check);
                  multiply<9, 4, 6>(check);
                  multiply<17, 16, 33>(check);
                }),
    at_run_time("softmax of any shape",
                [](Check& check) {
                  const auto m = draw<5, 19>(6);
                  Guarded<tinyattn::Matrix<float, 5, 19>> out;
                  tinyattn::compiled::softmax(5, 19, m.data(), 0.5f, out.tensor.data());
                  check.same_bits(out.tensor, tinyattn::softmax(m, 0.5f));
                  check.that(out.guards_hold());
                  out.tensor = m;
                  tinyattn::compiled::softmax(5, 19, out.tensor.data(), 0.5f, out.tensor.data());
                  check.same_bits(out.tensor, tinyattn::softmax(m, 0.5f));
                }),
    at_run_time("attention of any shape, without a mask",
                [](Check& check) {
                  attend<1, 1, 1, 1>(check, tinyattn::NoMask{});
                  attend<6, 9, 4, 5>(check, tinyattn::NoMask{});
                  attend<17, 18, 16, 8>(check, tinyattn::NoMask{});
                }),
    at_run_time("attention of any shape, causal",
                [](Check& check) {
                  attend<6, 6, 3, 2>(check, tinyattn::Causal{});
                  attend<13, 9, 8, 7>(check, tinyattn::Causal{});
                }),
};

}  // namespace

int main() { return tinyattn::test::run(tests); }
