// SPDX-License-Identifier: MIT
//
// Checks the kernels of products and rows over the port of this build, for shapes that the catalogue does not have; and caches,
// feed-forward parts and convolutions, for sizes that its workloads do not have.
#include "catalogue/models.hpp"
#include "catalogue/operations.hpp"
#include "catalogue/twin.hpp"
#include "integers.hpp"
#include "products.hpp"
#include "rows.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Query heads that share keys, and rows that fill no vector.
constexpr AttentionConfig longer{
    .d_in = 10, .d_out = 24, .context_length = 19, .num_heads = 6, .qkv_bias = true, .num_kv_heads = 2, .rotary = Rotary::halves};
constexpr AttentionConfig in_integers{
    .d_in = 10, .d_out = 40, .context_length = 35, .num_heads = 2, .out_proj = false, .num_kv_heads = 1, .cache = Weights::int8};
constexpr Conv1dConfig edges{.in = 3, .out = 37, .kernel = 9, .stride = 2, .padding = 7};
constexpr Conv1dConfig edges_in_int8{.in = 3, .out = 37, .kernel = 9, .stride = 2, .padding = 7, .weights = Weights::int8};
constexpr FeedForwardConfig plain_part{.d_model = 6, .d_hidden = 21}, gated_part{.d_model = 6, .d_hidden = 37, .gated = true};

constexpr Test tests[] = {
    at_run_time("products of any shape, of one row, and specialized ones", check_products<native_port>),
    at_run_time("products of a backward pass, whose sums go on", check_backward_products<native_port>),
    at_run_time("rows", check_rows<native_port>),
    at_run_time("transposes", check_transposes<native_port>),
    at_run_time("sums of integers, exact modulo 2^32, and no code after the last is read", check_integer_sums<native_port>),
    at_run_time("products with int8 weights, of every width", check_int8_products<native_port>),
    at_run_time("caches of 19 tokens, divided at every place", as_in_plain_loops<Divided<MultiHeadAttention<longer>, 19, 10, 24>>),
    at_run_time("a cache of int8 of 35 tokens", as_in_plain_loops<Cached<MultiHeadAttention<in_integers>, 35, 10, 40>>),
    at_run_time("convolutions whose edges are several rows", as_in_plain_loops<Convolved<edges, 38>, Convolved<edges_in_int8, 38>>),
    at_run_time("feed-forward parts, whose hidden features fill no vector",
                as_in_plain_loops<FeedForwardOf<plain_part, 13>, FeedForwardOf<gated_part, 13>>),
};

}  // namespace

int main() { return run(tests); }
