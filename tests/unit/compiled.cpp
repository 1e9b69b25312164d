// SPDX-License-Identifier: MIT
//
// The compiled library computes the bits of the headers, and leaves what is not its output alone.
#include "tinyattn/compiled.hpp"

#include <cstdint>

#include "compiled_masks.hpp"
#include "exact.hpp"
#include "plain.hpp"
#include "support/check.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
void multiply(Check& check) {
  const auto a = draw<Matrix<float, Rows, Inner>>(1);
  const auto b = draw<Matrix<float, Inner, Cols>>(2);
  Guarded<Matrix<float, Rows, Cols>> out, out_of_transposed;
  compiled::matmul(a, b, out.tensor);
  check.same_bits(out.tensor, matmul(a, b));
  compiled::matmul_transposed(a, transpose(b), out_of_transposed.tensor);
  check.same_bits(out_of_transposed.tensor, out.tensor);
  check.that(out.guards_hold() && out_of_transposed.guards_hold());
}

template <std::size_t Rows, std::size_t Cols>
void check_softmax(Check& check) {
  const auto m = draw<Matrix<float, Rows, Cols>>(6);
  Guarded<Matrix<float, Rows, Cols>> out;
  compiled::softmax(m, 0.5f, out.tensor);
  check.same_bits(out.tensor, softmax(m, 0.5f));
  out.tensor = m;
  compiled::softmax(out.tensor, 0.5f, out.tensor);
  check.same_bits(out.tensor, softmax(m, 0.5f));
  check.that(out.guards_hold());
}

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void attend(Check& check, const auto& mask) {
  const auto query = draw<Matrix<float, Tokens, KeyDim>>(3);
  const auto key = draw<Matrix<float, SourceTokens, KeyDim>>(4);
  const auto value = draw<Matrix<float, SourceTokens, ValueDim>>(5);
  Guarded<Matrix<float, Tokens, ValueDim>> out;
  struct {
    compiled::AttentionWorkspace<Tokens, SourceTokens> workspace;
    float guard;
  } scratch;
  scratch.guard = out.untouched;
  compiled::scaled_dot_product_attention(query, key, value, mask, out.tensor, scratch.workspace);
  check.same_bits(out.tensor, scaled_dot_product_attention(query, key, value, mask));
  check.that(out.guards_hold());
  check.same_bits(scratch.guard, out.untouched);
}

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void attend_with_every_mask(Check& check) {
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, NoMask{});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, Causal{});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, CausalBottomRight{});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, BlockMask{flags<Tokens, SourceTokens>(7)});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, KeepMask{flags<SourceTokens>(8)});
  attend<Tokens, SourceTokens, KeyDim, ValueDim>(check, AdditiveMask{addends<Tokens, SourceTokens>(9)});
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
                  check_softmax<1, 1>(check);
                  check_softmax<5, 19>(check);
                  check_softmax<7, 16>(check);
                  check_softmax<3, 70>(check);
                }),
    at_run_time("attention of any shape, with every mask",
                [](Check& check) {
                  attend_with_every_mask<1, 1, 1, 1>(check);
                  attend_with_every_mask<6, 9, 4, 5>(check);
                  attend_with_every_mask<13, 9, 8, 7>(check);
                }),
    at_run_time("the scale is the constant of the headers, for every width",
                [](Check& check) {
                  bool holds = true;
                  for (std::size_t n = 1; n <= 300; ++n) holds = holds && is_nearest_inverse_root(tinyattn_inverse_sqrt(n), n);
                  check.that(holds);
                  check.same_bits(tinyattn_inverse_sqrt(65536), detail::inverse_sqrt<65536>);
                  check.same_bits(tinyattn_inverse_sqrt(1048575), detail::inverse_sqrt<1048575>);
                  check.same_bits(tinyattn_inverse_sqrt(0), 0.0f);
                  check.same_bits(tinyattn_inverse_sqrt(SIZE_MAX), sizeof(std::size_t) == 8 ? 0x1p-32f : 0x1p-16f);
                }),
};

}  // namespace

int main() { return run(tests); }
