// SPDX-License-Identifier: MIT
//
// One more mask beside a layer's own: each type and polarity, what hides together, and what may not leak.
#include "plain_heads.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr std::size_t tokens = 5;
using Causing = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 8, .context_length = 8, .num_heads = 2}>;
using Seeing = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 8, .context_length = 8, .num_heads = 2, .causal = false}>;

constexpr auto causing = filled<Causing>(1);
constexpr auto seeing = filled<Seeing>(1);
constexpr auto x = numbers<Matrix<float, tokens, 3>>(2);

// Query 3 sees nothing; query 1 nothing that a causal layer shows it.
constexpr auto keep = matrix<bool>({{true, false, true, true, false},
                                    {false, false, false, true, false},
                                    {true, false, true, false, true},
                                    {false, false, false, false, false},
                                    {true, true, true, true, true}});
constexpr auto kept = [](std::size_t i, std::size_t j) { return keep(i, j); };
constexpr auto kept_past = [](std::size_t i, std::size_t j) { return keep(i, j) && j <= i; };

template <std::size_t... Extents>
constexpr Tensor<bool, Extents...> opposite(Tensor<bool, Extents...> mask) noexcept {
  for (std::size_t i = 0; i < mask.size(); ++i) mask.data()[i] = !mask.data()[i];
  return mask;
}

constexpr auto addend() { return masked_fill(zeros<float, tokens, tokens>(), hidden(opposite(keep)), -infinity); }

template <class Layer, std::size_t... Extents>
constexpr auto attend(const Layer& layer, const Tensor<float, Extents...>& input, const auto& mask) {
  typename Layer::Workspace workspace{};
  Guarded<decltype(layer(input))> out;
  layer.forward(hidden(input), mask, out.tensor, workspace);
  return out.guards_hold() ? out.tensor : decltype(out.tensor){};
}

constexpr Test tests[] = {
    everywhere("true blocks in one type and keeps in the other",
               [](Check& check) {
                 const auto expected = plain_forward(seeing, x, x, x, kept).out;
                 check.same_bits(attend(seeing, x, KeepMask{hidden(keep)}), expected);
                 check.same_bits(attend(seeing, x, BlockMask{hidden(opposite(keep))}), expected);
               }),
    everywhere("a causal layer hides the future as well",
               [](Check& check) {
                 const auto expected = plain_forward(causing, x, x, x, kept_past).out;
                 check.same_bits(attend(causing, x, KeepMask{hidden(keep)}), expected);
                 check.same_bits(attend(causing, x, BlockMask{hidden(opposite(keep))}), expected);
               }),
    // head_dim is 4: the scale is a power of two and rounds nothing, before or after the largest score is taken out.
    everywhere("five ways to say causal, one answer",
               [](Check& check) {
                 const auto causal = causing(hidden(x));
                 check.same_bits(attend(seeing, x, Causal{}), causal);
                 check.same_bits(attend(seeing, x, BlockMask{hidden(triu(ones<bool, tokens, tokens>(), 1))}), causal);
                 check.same_bits(attend(seeing, x, KeepMask{hidden(tril(ones<bool, tokens, tokens>()))}), causal);
                 check.same_bits(attend(seeing, x, AdditiveMask{hidden(causal_mask<tokens>())}), causal);
                 check.same_bits(attend(seeing, x, CausalBottomRight{}), causal);
               }),
    at_run_time("masks that say what the layer says, or less",
                [](Check& check) {
                  const auto causal = causing(hidden(x));
                  check.same_bits(attend(causing, x, NoMask{}), causal);
                  check.same_bits(attend(causing, x, Causal{}), causal);
                  check.same_bits(attend(causing, x, CausalBottomRight{}), causal);
                  check.same_bits(attend(causing, x, KeepMask{hidden(ones<bool, tokens, tokens>())}), causal);
                  check.same_bits(attend(causing, x, AdditiveMask{hidden(causal_mask<tokens>())}), causal);
                  check.same_bits(attend(seeing, x, NoMask{}), seeing(hidden(x)));
                }),
    at_run_time(
        "addends go to the scaled scores",
        [](Check& check) {
          check.same_bits(attend(seeing, x, AdditiveMask{addend()}), attend(seeing, x, KeepMask{keep}));
          check.same_bits(attend(causing, x, AdditiveMask{addend()}), attend(causing, x, KeepMask{keep}));
          // One head with weights of 1 and features of 2 against 3: scores 4 and 6, and an addend that turns them round.
          using Single =
              MultiHeadAttention<AttentionConfig{.d_in = 1, .d_out = 1, .context_length = 2, .causal = false, .out_proj = false}>;
          Single single{};
          single.query.weight(0, 0) = single.key.weight(0, 0) = single.value.weight(0, 0) = 1.0f;
          const auto out = attend(single, matrix<float>({{2.0f}, {3.0f}}), AdditiveMask{matrix<float>({{2.0f, 0.0f}, {3.0f, 0.0f}})});
          check.same_bits(out, full<float, 2, 1>(2.5f));
        }),
    at_run_time("a mask of the source tokens is padding",
                [](Check& check) {
                  const auto padding = hidden(vector<bool>({true, false, true, true, false}));
                  const auto sees = [&](std::size_t, std::size_t j) { return padding(j); };
                  const auto sees_past = [&](std::size_t i, std::size_t j) { return padding(j) && j <= i; };
                  const auto expected = plain_forward(seeing, x, x, x, sees).out;
                  const auto expected_past = plain_forward(causing, x, x, x, sees_past).out;
                  const auto out = masked_fill(zeros<float, tokens>(), opposite(padding), -infinity);
                  check.same_bits(attend(seeing, x, KeepMask{padding}), expected);
                  check.same_bits(attend(seeing, x, BlockMask{opposite(padding)}), expected);
                  check.same_bits(attend(seeing, x, AdditiveMask{out}), expected);
                  check.same_bits(attend(causing, x, KeepMask{padding}), expected_past);
                  check.same_bits(attend(causing, x, BlockMask{opposite(padding)}), expected_past);
                  check.same_bits(attend(causing, x, AdditiveMask{out}), expected_past);
                }),
    at_run_time("the same mask for every item of a batch",
                [](Check& check) {
                  const auto other = numbers<Matrix<float, tokens, 3>>(3);
                  check.same_bits(attend(causing, stack(x, other), KeepMask{hidden(keep)}),
                                  stack(attend(causing, x, KeepMask{keep}), attend(causing, other, KeepMask{keep})));
                }),
    everywhere("a query that sees nothing gives zeros, and the projection its bias",
               [](Check& check) {
                 check.same_bits(row(attend(seeing, x, KeepMask{hidden(keep)}), 3), seeing.out_proj.bias);
                 check.same_bits(row(attend(causing, x, KeepMask{hidden(keep)}), 1), causing.out_proj.bias);
                 const auto nothing = attend(causing, x, BlockMask{hidden(ones<bool, tokens>())});
                 for (std::size_t i = 0; i < tokens; ++i) check.same_bits(row(nothing, i), causing.out_proj.bias);
                 using Bare = CausalAttention<3, 2, 8>;
                 check.same_bits(attend(filled<Bare>(5), x, KeepMask{hidden(zeros<bool, tokens>())}), zeros<float, tokens, 2>());
               }),
    at_run_time("a NaN or infinity in a hidden token does not leak",
                [](Check& check) {
                  const auto padding = vector<bool>({true, true, false, true, true});
                  for (const float poison : {quiet_nan, infinity, -infinity}) {
                    auto poisoned = hidden(x);
                    for (std::size_t feature = 0; feature < 3; ++feature) poisoned(2, feature) = poison;
                    const auto clean = attend(seeing, x, KeepMask{padding});
                    const auto out = attend(seeing, poisoned, KeepMask{padding});
                    const auto blocked = attend(seeing, poisoned, BlockMask{opposite(padding)});
                    const auto added = attend(seeing, poisoned, AdditiveMask{vector<float>({0.0f, 0.0f, -infinity, 0.0f, 0.0f})});
                    const auto past = causing(poisoned);
                    for (std::size_t i = 0; i < tokens; ++i) {
                      if (i == 2) continue;  // its own query is poisoned
                      check.same_bits(row(out, i), row(clean, i));
                      check.same_bits(row(blocked, i), row(clean, i));
                      check.same_bits(row(added, i), row(clean, i));
                      if (i < 2) check.same_bits(row(past, i), row(causing(x), i));
                    }
                  }
                }),
    at_run_time("a mask of a cross-attention is [tokens, source tokens]",
                [](Check& check) {
                  const auto memory = numbers<Matrix<float, 7, 3>>(4);
                  const auto mask = hidden(triu(tril(ones<bool, tokens, 7>(), 3), -1));
                  const auto sees = [&](std::size_t i, std::size_t j) { return mask(i, j); };
                  const auto sees_past = [&](std::size_t i, std::size_t j) { return mask(i, j) && j <= i; };
                  Seeing::Workspace workspace{};
                  Causing::Workspace causal_workspace{};
                  Matrix<float, tokens, 8> out{};
                  seeing.forward(hidden(x), memory, memory, KeepMask{mask}, out, workspace);
                  check.same_bits(out, plain_forward(seeing, x, memory, memory, sees).out);
                  seeing.forward(hidden(x), memory, memory, CausalBottomRight{}, out, workspace);
                  check.same_bits(out,
                                  plain_forward(seeing, x, memory, memory, [](std::size_t i, std::size_t j) { return j <= i + 2; }).out);
                  causing.forward(hidden(x), memory, memory, BlockMask{opposite(mask)}, out, causal_workspace);
                  check.same_bits(out, plain_forward(causing, x, memory, memory, sees_past).out);
                }),
};

}  // namespace

int main() { return run(tests); }
