// SPDX-License-Identifier: MIT
//
// The compiled library computes the bits of the headers, and leaves what is not its output alone.
#include "tinyattn/compiled.hpp"

#include <cstdint>

#include "exact.hpp"
#include "masks.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/softmax.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
void check_product(Check& check) {
  const auto a = hidden(numbers<Matrix<float, Rows, Inner>>(1));
  const auto b = hidden(numbers<Matrix<float, Inner, Cols>>(2));
  check_output(check, matmul(a, b), [&](auto& out) { compiled::matmul(a, b, out); });
  check_output(check, matmul(a, b), [&](auto& out) { compiled::matmul_transposed(a, transpose(b), out); });
}

template <std::size_t Rows, std::size_t Cols>
void check_softmax(Check& check) {
  const auto m = hidden(numbers<Matrix<float, Rows, Cols>>(6));
  for (const float scale : {0.5f, 0.0f}) {
    check_output(check, softmax(m, scale), [&](auto& out) { compiled::softmax(m, scale, out); });
    check_in_place(check, softmax(m, scale), m, [&](auto& both) { compiled::softmax(both, scale, both); });
  }
}

template <std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void check_attention(Check& check) {
  const auto query = hidden(numbers<Matrix<float, Tokens, KeyDim>>(3));
  const auto key = hidden(numbers<Matrix<float, SourceTokens, KeyDim>>(4));
  const auto value = hidden(numbers<Matrix<float, SourceTokens, ValueDim>>(5));
  const auto check_mask = [&](const auto& mask) {
    Guarded<compiled::AttentionWorkspace<Tokens, SourceTokens>> workspace;
    check_output(check, scaled_dot_product_attention(query, key, value, mask),
                 [&](auto& out) { compiled::scaled_dot_product_attention(query, key, value, mask, out, workspace.tensor); });
    check.that(workspace.guards_hold());
  };
  check_mask(NoMask{});
  check_mask(Causal{});
  check_mask(CausalBottomRight{});
  check_mask(BlockMask{drawn_flags<Tokens, SourceTokens>(7)});
  check_mask(KeepMask{drawn_flags<SourceTokens>(8)});
  check_mask(AdditiveMask{drawn_addends<Tokens, SourceTokens>(9)});
}

constexpr Test tests[] = {
    at_run_time("products of any shape",
                [](Check& check) {
                  check_product<1, 1, 1>(check);
                  check_product<3, 5, 7>(check);
                  check_product<9, 4, 6>(check);
                  check_product<17, 16, 33>(check);
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
                  check_attention<1, 1, 1, 1>(check);
                  check_attention<6, 9, 4, 5>(check);
                  check_attention<13, 9, 8, 7>(check);
                }),
    at_run_time("the scale is the constant of the headers, for every width",
                [](Check& check) {
                  for (std::size_t n = 1; n <= 300; ++n) check.that(is_nearest_inverse_root(tinyattn_inverse_sqrt(n), n));
                  check.same_bits(tinyattn_inverse_sqrt(65536), detail::inverse_sqrt<65536>);
                  check.same_bits(tinyattn_inverse_sqrt(1048575), detail::inverse_sqrt<1048575>);
                  check.same_bits(tinyattn_inverse_sqrt(0), 0.0f);
                  check.same_bits(tinyattn_inverse_sqrt(SIZE_MAX), sizeof(std::size_t) == 8 ? 0x1p-32f : 0x1p-16f);
                }),
};

}  // namespace

int main() { return run(tests); }
