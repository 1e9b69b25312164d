// SPDX-License-Identifier: MIT
//
// Causal attention of a batch of two, with stacked heads and with heads split from one projection, with and without the mask; and how many
// bytes three common sizes take.

#include "golden.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

template <class Attention>
constexpr void check_batch(Check& check, std::uint32_t seed, const auto& expected) {
  check.near(drawn<Attention>(seed)(stack(inputs(), inputs())), stack(expected, expected), tolerance);
}

template <std::size_t Width, std::size_t ContextLength, std::size_t NumHeads>
using Attention = MultiHeadAttention<AttentionConfig{
    .d_in = Width, .d_out = Width, .context_length = ContextLength, .num_heads = NumHeads, .out_bias = false}>;

constexpr std::size_t kilobyte = 1024;

// An example of a firmware's check that its model stays within a budget.
static_assert(sizeof(Attention<64, 32, 4>) + sizeof(Attention<64, 32, 4>::Workspace) <= 96 * kilobyte);

template <std::size_t Width, std::size_t ContextLength, std::size_t NumHeads>
constexpr void check_size(Check& check, std::size_t parameters, std::size_t kilobytes) {
  using Module = Attention<Width, ContextLength, NumHeads>;
  check.equal(Module::parameter_count, parameters);
  check.equal(sizeof(Module), kilobytes * kilobyte);
}

constexpr Test tests[] = {
    everywhere("causal attention, with its mask and without",
               [](Check& check) {
                 check_batch<CausalAttention<3, 2, 6>>(check, reference::causal_attention_seed, reference::causal_attention_context);
                 check_batch<SelfAttention<3, 2, 6>>(check, reference::causal_attention_without_its_mask_seed,
                                                     reference::causal_attention_without_its_mask_context);
               }),
    everywhere(
        "two stacked causal heads",
        [](Check& check) { check_batch<StackedCausalAttention<3, 2, 6, 2>>(check, reference::wrapper_seed, reference::wrapper_context); }),
    everywhere("two heads side by side without their mask",
               [](Check& check) {
                 Mt19937 generator(opaque(reference::wrapper_without_its_mask_seed));
                 const auto first = drawn<SelfAttention<3, 2, 6>>(generator), second = drawn<SelfAttention<3, 2, 6>>(generator);
                 check.near(concat_columns(first(inputs()), second(inputs())), reference::wrapper_without_its_mask_context, tolerance);
               }),
    everywhere("two split heads with output projection",
               [](Check& check) {
                 using Split = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .num_heads = 2}>;
                 check_batch<Split>(check, reference::multi_head_seed, reference::multi_head_context);
               }),
    everywhere("three split heads are three attentions side by side",
               [](Check& check) {
                 using Split = MultiHeadAttention<AttentionConfig{
                     .d_in = 12, .d_out = 12, .context_length = 5, .num_heads = 3, .causal = false, .out_proj = false}>;
                 static_assert(Split::head_dim == 4);
                 Mt19937 generator(opaque(std::uint32_t{123}));
                 const auto x = rand<5, 12>(generator);
                 Split split{};
                 split.query.weight = split.key.weight = split.value.weight = tril(triu(ones<float, 12, 12>()));
                 const auto attend = [&x](std::size_t first) {
                   const auto head = columns<4>(x, first);
                   return scaled_dot_product_attention(head, head, head);
                 };
                 check.near(split(x), concat_columns(concat_columns(attend(0), attend(4)), attend(8)), tolerance);
               }),
    everywhere("parameters and bytes of three sizes",
               [](Check& check) {
                 check_size<64, 32, 4>(check, 16'384, 64);
                 check_size<256, 256, 8>(check, 262'144, 1'024);
                 check_size<512, 512, 8>(check, 1'048'576, 4'096);
               }),
};

}  // namespace

int main() { return run(tests); }
