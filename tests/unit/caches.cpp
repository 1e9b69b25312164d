// SPDX-License-Identifier: MIT
//
// Calls of attention layers, blocks and transformers with a cache have the bits of one call for all tokens, however the tokens are divided.
#include <type_traits>

#include "catalogue/models.hpp"
#include "catalogue/twin.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr AttentionConfig simple{.d_in = 12, .d_out = 12, .context_length = 20, .num_heads = 2};
constexpr AttentionConfig grouped{
    .d_in = 10, .d_out = 24, .context_length = 20, .num_heads = 6, .qkv_bias = true, .num_kv_heads = 2, .rotary = Rotary::interleaved};
constexpr AttentionConfig shared{.d_in = 12,
                                 .d_out = 12,
                                 .context_length = 20,
                                 .num_heads = 3,
                                 .out_proj = false,
                                 .num_kv_heads = 1,
                                 .rotary = Rotary::halves,
                                 .rotary_base = 500000};
constexpr AttentionConfig rotated{.d_in = 5, .d_out = 8, .context_length = 19, .num_heads = 1, .rotary = Rotary::halves};
constexpr AttentionConfig smallest{.d_in = 1, .d_out = 1, .context_length = 5, .out_bias = false};
constexpr AttentionConfig wide{.d_in = 40, .d_out = 16, .context_length = 37, .num_heads = 4, .num_kv_heads = 2};
constexpr AttentionConfig of_several_blocks{.d_in = 6, .d_out = 8, .context_length = 67, .num_heads = 2};
constexpr AttentionConfig in_the_compiler{
    .d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2, .num_kv_heads = 1, .rotary = Rotary::halves};

// A cache holds keys, values and their number, and nothing else but, if it is small, a vector of values.
template <AttentionConfig config, std::size_t KvHeads = config.num_heads>
constexpr bool cache_is_small = sizeof(typename MultiHeadAttention<config>::Cache) <= KvHeads*(config.d_out / config.num_heads) *
                                                                                              2 * config.context_length * sizeof(float) +
                                                                                          2 * sizeof(std::size_t);
static_assert(cache_is_small<simple> && cache_is_small<grouped, 2> && cache_is_small<shared, 1> && cache_is_small<rotated>);

// The scratch of a call with a cache is at most eight rows of the widest matrix.
template <class Module>
constexpr bool scratch_is_small(std::initializer_list<std::size_t> widths) {
  std::size_t widest = 0;
  for (const std::size_t width : widths) widest = width > widest ? width : widest;
  return sizeof(typename Module::Cache::Workspace) <= 8 * widest * sizeof(float);
}
template <AttentionConfig config>
constexpr bool scratch_of_layer_is_small = scratch_is_small<MultiHeadAttention<config>>({config.d_in, config.d_out, config.context_length});
static_assert(scratch_of_layer_is_small<simple> && scratch_of_layer_is_small<grouped> && scratch_of_layer_is_small<shared> &&
              scratch_of_layer_is_small<wide> &&
              scratch_of_layer_is_small<AttentionConfig{.d_in = 64, .d_out = 64, .context_length = 512, .num_heads = 4}> &&
              scratch_of_layer_is_small<AttentionConfig{.d_in = 288, .d_out = 288, .context_length = 256, .num_heads = 6}> &&
              scratch_of_layer_is_small<AttentionConfig{.d_in = 512, .d_out = 8, .context_length = 16}>);

template <std::size_t DModel, std::size_t DHidden, std::size_t Context, std::size_t Heads, bool Gated>
constexpr bool scratch_of_block_is_small = scratch_is_small<
    TransformerBlock<BlockConfig{.attention = {.d_in = DModel, .d_out = DModel, .context_length = Context, .num_heads = Heads},
                                 .feed_forward = {.d_model = DModel, .d_hidden = DHidden, .gated = Gated}}>>({DModel, DHidden, Context});
static_assert(scratch_of_block_is_small<12, 20, 11, 2, false> && scratch_of_block_is_small<12, 17, 11, 2, true> &&
              scratch_of_block_is_small<12, 3, 11, 1, true> && scratch_of_block_is_small<64, 172, 512, 8, true> &&
              scratch_of_block_is_small<288, 768, 256, 6, true> && scratch_of_block_is_small<768, 3072, 1024, 12, false> &&
              scratch_of_block_is_small<16, 16, 1000, 4, true> && scratch_of_block_is_small<128, 64, 8, 4, true> &&
              scratch_of_block_is_small<32, 32, 32, 4, true>);

// Counts the parameters of projections; those of keys and values are as wide as their heads.
static_assert(MultiHeadAttention<grouped>::parameter_count == 10 * 24 + 24 + 2 * (10 * 8 + 8) + 24 * 24 + 24);
static_assert(MultiHeadAttention<shared>::parameter_count == 12 * 12 + 2 * 12 * 4);

template <AttentionConfig config>
using DividedAttention = Divided<MultiHeadAttention<config>, config.context_length, config.d_in, config.d_out>;

// Checks how many rows a call of a block with a cache computes at once, for any sizes.
constexpr void check_rows_at_once(Check& check, std::size_t d_model, std::size_t d_hidden, std::size_t context_length) {
  const std::size_t widest = d_model > d_hidden ? d_model : d_hidden;
  const auto floats = [&](std::size_t rows) { return kernel::cached_block_scratch(rows, d_model, d_hidden, true, context_length); };
  const std::size_t rows = kernel::cached_rows(widest, floats);
  check.that(rows >= 1 && rows <= 4);
  check.that(rows == 1 || floats(rows) <= 8 * widest);
  check.that(rows == 4 || floats(rows + 1) > 8 * widest);
}

// A layer, its full cache, and outputs that no call has written.
struct Full {
  using Layer = MultiHeadAttention<simple>;
  Layer layer = drawn<Layer>(1);
  Matrix<float, 20, 12> x = drawn<Matrix<float, 20, 12>>(2), expected{};
  Layer::Cache cache{};
  Layer::Cache::Workspace workspace{};
  Guarded<Matrix<float, 20, 12>> out{};

  Full() {
    if (layer.forward(x, cache, expected, workspace) != Status::ok) __builtin_trap();
  }
  bool out_is_untouched() const {
    for (const float element : out.tensor.elements)
      if (element != out.untouched) return false;
    return out.guards_hold();
  }
};

constexpr Test tests[] = {
    at_run_time("layers: a prompt in one call, in two or token by token",
                as_in_plain_loops<DividedAttention<simple>, DividedAttention<grouped>, DividedAttention<shared>, DividedAttention<rotated>,
                                  DividedAttention<smallest>, DividedAttention<wide>>),
    everywhere("the same in the compiler", as_in_plain_loops<DividedAttention<in_the_compiler>>),
    at_run_time("heads that share keys, features that rotate, in every other form of a call",
                as_in_plain_loops<FormsOf<grouped, 20>, ForwardWithWeights<grouped, 20>, TrainingPass<grouped, Mt19937, 20>,
                                  CrossForward<grouped, 20, 9>, FormsOf<shared, 9>, FormsOf<rotated, 19>>),
    at_run_time("without a cache: every count of tokens, wherever a block of rows ends", as_in_plain_loops<FormsOf<of_several_blocks, 67>>),
    at_run_time("too many tokens: nothing is written, and the cache is as it was; no tokens are fine, also with a full cache",
                [](Check& check) {
                  static Full full;
                  static Full::Layer::Cache before;
                  before = full.cache;
                  const auto call = [&](std::size_t count) {
                    return full.layer.forward(full.x, count, full.cache, full.out.tensor, full.workspace);
                  };
                  check.that(call(1) == Status::too_many_tokens && call(0) == Status::ok && full.cache.size() == 20);
                  check.that(full.out_is_untouched() && __builtin_memcmp(&before, &full.cache, sizeof before) == 0);
                  full.cache.clear();
                  check.that(call(21) == Status::too_many_tokens && full.cache.size() == 0 && full.out_is_untouched());
                }),
    at_run_time("the output may be the input; what lies between the rows of a view stays",
                [](Check& check) {
                  static Full full;
                  full.cache.clear();
                  auto both = full.x;
                  check.that(full.layer.forward(both, full.cache, both, full.workspace) == Status::ok);
                  check.same_bits(both, full.expected);
                  static Matrix<float, 20, 15> wide_x, wide_out;
                  wide_x = tinyattn::full<float, 20, 15>(quiet_nan), wide_out = tinyattn::full<float, 20, 15>(7.0f);
                  auto from = columns<12>(wide_x, 0), to = columns<12>(wide_out, 0);
                  for (std::size_t i = 0; i < 20; ++i)
                    for (std::size_t j = 0; j < 12; ++j) from(i, j) = full.x(i, j);
                  full.cache.clear();
                  check.that(full.layer.forward(from, full.cache, to, full.workspace) == Status::ok);
                  for (std::size_t i = 0; i < 20; ++i)
                    for (std::size_t j = 0; j < 15; ++j) check.same_bits(wide_out(i, j), j < 12 ? full.expected(i, j) : 7.0f);
                }),
    at_run_time("a NaN in a later token, or one that a cache has forgotten, does not leak",
                [](Check& check) {
                  static Full full;
                  auto x = full.x;
                  for (std::size_t j = 0; j < 12; ++j) x(9, j) = quiet_nan;
                  full.cache.clear();
                  check.that(full.layer.forward(x, full.cache, full.out.tensor, full.workspace) == Status::ok);
                  for (std::size_t i = 0; i < 9; ++i) check.same_bits(row(full.out.tensor, i), row(full.expected, i));
                  for (const float element : row(full.out.tensor, 9).elements) check.that(element != element);
                  full.cache.clear();
                  check.that(full.layer.forward(full.x, full.cache, full.out.tensor, full.workspace) == Status::ok);
                  check.same_bits(full.out.tensor, full.expected);
                }),
    everywhere("workspaces hold what so many tokens need, and nothing else",
               [](Check& check) {
                 using OfAttention = MultiHeadAttention<simple>::Cache;
                 using OfBlock =
                     TransformerBlock<BlockConfig{.attention = simple, .feed_forward = {.d_model = 12, .d_hidden = 20}}>::Cache::Workspace;
                 check.that(OfBlock::floats(opaque(OfBlock::rows_at_once)) * sizeof(float) == sizeof(OfBlock));
                 check.that(OfAttention::floats(opaque(OfAttention::rows_at_once)) * sizeof(float) == sizeof(OfAttention::Workspace));
               }),
    everywhere("a call with a cache takes as many tokens at a time as fit into eight rows, one at least and four at most",
               [](Check& check) {
                 for (const std::size_t context_length : {std::size_t{6}, std::size_t{64}, std::size_t{1024}}) {
                   check_rows_at_once(check, 64, 172, opaque(context_length));
                   check_rows_at_once(check, 64, 32, opaque(context_length));
                 }
               }),
};

}  // namespace

int main() { return run(tests); }
