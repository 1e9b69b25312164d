// SPDX-License-Identifier: MIT
//
// One more mask beside a layer's own: each type and polarity, what hides together, and what may not leak.
#include "masks.hpp"
#include "plain_layer.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr std::size_t tokens = 5;
using Causing = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 8, .context_length = 8, .num_heads = 2}>;
using Seeing = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 8, .context_length = 8, .num_heads = 2, .causal = false}>;

// head_dim is 4: the scale is a power of two and rounds nothing, before or after the largest score is taken out.
constexpr auto causing = filled<Causing>(1);
constexpr auto seeing = filled<Seeing>(1);
constexpr auto x = numbers<Matrix<float, tokens, 3>>(2);
constexpr auto memory = numbers<Matrix<float, 7, 3>>(4);

// Query 3 sees nothing; query 1 nothing that a causal layer shows it.
constexpr auto keep = matrix<bool>({{true, false, true, true, false},
                                    {false, false, false, true, false},
                                    {true, false, true, false, true},
                                    {false, false, false, false, false},
                                    {true, true, true, true, true}});

constexpr auto both(auto first, auto second) {
  return [=](std::size_t i, std::size_t j) { return first(i, j) && second(i, j); };
}

// A layer that is not causal sees what the mask keeps, a causal one of that only the past.
constexpr void check_mask(Check& check, const auto& mask, auto sees) {
  check_forward(check, plain_forward(seeing, x, x, x, sees).out, seeing, x, mask);
  check_forward(check, plain_forward(causing, x, x, x, both(sees, sees_the_past)).out, causing, x, mask);
}

constexpr void check_cross(Check& check, const auto& mask, auto sees) {
  check_forward(check, plain_forward(seeing, x, memory, memory, sees).out, seeing, x, memory, memory, mask);
  check_forward(check, plain_forward(causing, x, memory, memory, both(sees, sees_the_past)).out, causing, x, memory, memory, mask);
}

constexpr Test tests[] = {
    everywhere("true blocks in one type and keeps in the other; a causal layer hides the future as well",
               [](Check& check) {
                 check_mask(check, KeepMask{keep}, sees_kept(keep));
                 check_mask(check, BlockMask{opposite(keep)}, sees_kept(keep));
               }),
    at_run_time("masks of the causal order, padding, and masks that say what a causal layer says, or less",
                [](Check& check) {
                  check_mask(check, NoMask{}, sees_everything);
                  check_mask(check, Causal{}, sees_the_past);
                  check_mask(check, CausalBottomRight{}, sees_the_past);
                  check_mask(check, AdditiveMask{causal_mask<tokens>()}, sees_the_past);
                  const auto padding = vector<bool>({true, false, true, true, false});
                  for_each_mask(padding, [&](const auto& mask) { check_mask(check, mask, sees_kept(padding)); });
                  for_each_mask(ones<bool, tokens, tokens>(), [&](const auto& mask) { check_mask(check, mask, sees_everything); });
                }),
    at_run_time("addends go to the scaled scores",
                [](Check& check) {
                  check_mask(check, AdditiveMask{addends_that_keep(keep)}, sees_kept(keep));
                  // One head with weights of 1 and features of 2 against 3: scores 4 and 6, and an addend that turns them round.
                  using Single =
                      MultiHeadAttention<AttentionConfig{.d_in = 1, .d_out = 1, .context_length = 2, .causal = false, .out_proj = false}>;
                  Single single{};
                  single.query.weight(0, 0) = single.key.weight(0, 0) = single.value.weight(0, 0) = 1.0f;
                  check_forward(check, full<float, 2, 1>(2.5f), single, matrix<float>({{2.0f}, {3.0f}}),
                                AdditiveMask{matrix<float>({{2.0f, 0.0f}, {3.0f, 0.0f}})});
                }),
    at_run_time("the same mask for every item of a batch",
                [](Check& check) {
                  const auto other = numbers<Matrix<float, tokens, 3>>(3);
                  const auto sees = both(sees_kept(keep), sees_the_past);
                  check_forward(check,
                                stack(plain_forward(causing, x, x, x, sees).out, plain_forward(causing, other, other, other, sees).out),
                                causing, stack(x, other), KeepMask{keep});
                }),
    everywhere("a query that sees nothing gives zeros, and the projection its bias",
               [](Check& check) {
                 Causing::Workspace workspace{};
                 Matrix<float, tokens, 8> out{};
                 causing.forward(hidden(x), BlockMask{ones<bool, tokens>()}, out, workspace);
                 for (std::size_t i = 0; i < tokens; ++i) check.same_bits(row(out, i), causing.out_proj.bias);
                 using Bare = CausalAttention<3, 2, 8>;
                 check_forward(check, zeros<float, tokens, 2>(), filled<Bare>(5), x, KeepMask{zeros<bool, tokens>()});
               }),
    at_run_time("a NaN or infinity in a hidden token does not leak",
                [](Check& check) {
                  const auto padding = vector<bool>({true, true, false, true, true});
                  const auto clean = plain_forward(seeing, x, x, x, sees_kept(padding)).out;
                  for (const float poison : {quiet_nan, infinity, -infinity}) {
                    auto poisoned = hidden(x);
                    for (std::size_t feature = 0; feature < 3; ++feature) poisoned(2, feature) = poison;
                    for_each_mask(padding, [&](const auto& mask) {
                      Seeing::Workspace workspace{};
                      Matrix<float, tokens, 8> out{};
                      seeing.forward(poisoned, mask, out, workspace);
                      for (const std::size_t i : {0u, 1u, 3u, 4u}) check.same_bits(row(out, i), row(clean, i));
                    });
                    check.same_bits(plain_rows<2>(causing(poisoned), 0), plain_rows<2>(causing(x), 0));
                  }
                }),
    at_run_time("a mask of a cross-attention is [tokens, source tokens]",
                [](Check& check) {
                  const auto kept = triu(tril(ones<bool, tokens, 7>(), 3), -1);
                  for_each_mask(kept, [&](const auto& mask) { check_cross(check, mask, sees_kept(kept)); });
                  check_cross(check, CausalBottomRight{}, [](std::size_t i, std::size_t j) { return j <= i + 2; });
                }),
};

}  // namespace

int main() { return run(tests); }
