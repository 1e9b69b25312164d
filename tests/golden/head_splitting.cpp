// SPDX-License-Identifier: MIT
//
// Twelve features make three heads of four: features 0-3, 4-7 and 8-11. A head is a view; nothing moves.

#include "golden.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/multi_head_attention.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

constexpr std::size_t num_tokens = 5;
constexpr std::size_t num_features = 12;
constexpr std::size_t head_dim = 4;

using Features = Matrix<float, num_tokens, num_features>;
using Attention =
    MultiHeadAttention<AttentionConfig{.d_in = 12, .d_out = 12, .context_length = 5, .num_heads = 3, .causal = false, .out_proj = false}>;

constexpr Features uniform_features() {
  Mt19937 generator(hidden(std::uint32_t{123}));
  return rand<num_tokens, num_features>(generator);
}

constexpr auto identity() { return tril(triu(ones<float, num_features, num_features>())); }

constexpr Test tests[] = {
    everywhere("head h holds features 4h to 4h + 3",
               [](Check& check) {
                 Features numbered{};
                 for (std::size_t i = 0; i < num_tokens; ++i)
                   for (std::size_t j = 0; j < num_features; ++j) numbered(i, j) = static_cast<float>(j);
                 check.same_bits(row(columns<head_dim>(numbered, 0), 2), vector<float>({0, 1, 2, 3}));
                 check.same_bits(row(columns<head_dim>(numbered, 4), 2), vector<float>({4, 5, 6, 7}));
                 check.same_bits(row(columns<head_dim>(numbered, 8), 2), vector<float>({8, 9, 10, 11}));
               }),
    everywhere("a head is where its features are",
               [](Check& check) {
                 Features features{};
                 for (std::size_t head = 0; head < 3; ++head) {
                   const auto view = columns<head_dim>(features, head * head_dim);
                   check.equal(&view(num_tokens - 1, 0), &features(num_tokens - 1, head * head_dim));
                 }
               }),
    everywhere("three split heads are three attentions side by side",
               [](Check& check) {
                 const auto x = uniform_features();
                 Attention attention{};
                 attention.query.weight = attention.key.weight = attention.value.weight = identity();
                 const auto attend = [&x](std::size_t first) {
                   const auto head = columns<head_dim>(x, first);
                   return scaled_dot_product_attention(head, head, head);
                 };
                 check.equal(Attention::head_dim, head_dim);
                 check.near(attention(x), concat_columns(concat_columns(attend(0), attend(4)), attend(8)), tolerance);
               }),
};

}  // namespace

int main() { return run(tests); }
