// SPDX-License-Identifier: MIT
//
// The CRC-32 of the outputs of each workload, the same on every target. README.md says how to print these lines anew, and that nobody
// changes them to make a test pass.
#pragma once

#include <cstdint>

namespace tinyattn::test {

struct CommittedCrc {
  const char* workload;
  std::uint32_t crc;
};

// clang-format off
inline constexpr CommittedCrc crcs[] = {
    {"fma", 0x23608a07},
    {"exp", 0x1692211e},
    {"sqrt", 0x11562981},
    {"rand and uniform, Mt19937", 0xd0b06a71},
    {"rand and uniform, Philox4x32", 0x54d2546e},
    {"initialize, Mt19937", 0x24955a27},
    {"dot", 0x82247381},
    {"add", 0xcb90e2d2},
    {"matmul, odd shapes", 0x366c7f18},
    {"matmul, columns around multiples of 16", 0xbc1e1272},
    {"matmul, rows around multiples of 16", 0xc4390854},
    {"matmul of vectors and batches", 0x9f8f036c},
    {"matmul_transposed", 0x62b1723c},
    {"softmax of narrow rows", 0x5cb3fc1d},
    {"softmax of wide rows", 0x355cdd33},
    {"softmax of extreme scores", 0x97295eaa},
    {"softmax_naive", 0xbcf5b4c1},
    {"normalize", 0xef5468d4},
    {"dropout, Mt19937", 0x3e572363},
    {"dropout, Philox4x32", 0xb6c990a7},
    {"Linear", 0xe5427318},
    {"attention, step by step", 0xc2ae0c46},
    {"scaled_dot_product_attention", 0xbe02b703},
    {"attention, Causal", 0x04f4806b},
    {"attention, CausalBottomRight", 0xb7eb144a},
    {"attention, BlockMask", 0xb43fa395},
    {"attention, KeepMask", 0x42996df9},
    {"attention, AdditiveMask", 0xa73df77a},
    {"SelfAttention", 0x37277824},
    {"CausalAttention", 0xfe01bc63},
    {"StackedCausalAttention", 0xfce1c3c5},
    {"MultiHeadAttention", 0x4c8d3658},
    {"MultiHeadAttention, tokens around 16", 0x92c38874},
    {"MultiHeadAttention, cross", 0x69117d68},
    {"MultiHeadAttention, batch", 0x616f4820},
    {"MultiHeadAttention, with weights", 0x37b1229d},
    {"MultiHeadAttention, run-time tokens", 0xdeea4d19},
    {"MultiHeadAttention, more masks", 0x2e59cb3b},
    {"MultiHeadAttention, training, Mt19937", 0x5dda91c6},
    {"MultiHeadAttention, training, Philox4x32", 0x404f945c},
    {"tanh and erf", 0xb4c76b1c},
    {"relu", 0xf6c7e277},
    {"gelu", 0x8c08360c},
    {"gelu_tanh", 0xf6ecc6f4},
    {"silu", 0xd6133163},
    {"LayerNorm", 0x4d96cf47},
    {"RmsNorm", 0xea1801f5},
    {"sinusoidal_positions", 0x1c0ae845},
    {"FeedForward", 0xbd5b75a7},
    {"MultiHeadAttention, rotary, by a cache", 0xb2bc3c8f},
    {"TransformerBlock", 0xc1236eb5},
    {"LanguageModel, as GPT-2", 0xb29b7849},
    {"LanguageModel, as Llama", 0x37dc2b5c},
    {"NaN and infinity, arithmetic", 0x512f9f51},
    {"NaN and infinity, rows", 0x833d1180},
    {"NaN and infinity, attention", 0x032e52a3},
    {"MultiHeadAttention, 65 tokens", 0x3fbaefb5},
    {"NaN and infinity, activations", 0x022a2be6},
};
// clang-format on

}  // namespace tinyattn::test
