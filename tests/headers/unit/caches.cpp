// SPDX-License-Identifier: MIT
//
// Attention layers with a cache give the bits of one call for all tokens, however the tokens are divided. Blocks and transformers:
// transformer.cpp.
#include <algorithm>

#include "catalogue/case.hpp"
#include "divided.hpp"
#include "forms.hpp"

namespace tinyattn::test { namespace {

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
// Windows around multiples of 16; contexts that wrap around the ring several times, or never.
constexpr AttentionConfig windowed = with_window({.d_in = 12, .d_out = 12, .context_length = 70, .num_heads = 2}, 16);
constexpr AttentionConfig heads_of_eight{.d_in = 5, .d_out = 16, .context_length = 37, .num_heads = 2};
constexpr AttentionConfig in_the_compiler{
    .d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2, .num_kv_heads = 1, .rotary = Rotary::halves};

// The parameters of the projections; keys and values are as wide as the key heads.
static_assert(MultiHeadAttention<grouped>::parameter_count == 10 * 24 + 24 + 2 * (10 * 8 + 8) + 24 * 24 + 24);
static_assert(MultiHeadAttention<shared>::parameter_count == 12 * 12 + 2 * 12 * 4);

// A cache holds keys, values and their count; a small one also holds a vector of values.
template <AttentionConfig config>
constexpr bool cache_is_small = sizeof(typename MultiHeadAttention<config>::Cache) <=
                                sizeof(float) * 2 * config.context_length* MultiHeadAttention<config>{}.key.weight.extent(1) +
                                    2 * sizeof(std::size_t);
static_assert(cache_is_small<simple> && cache_is_small<grouped> && cache_is_small<shared> && cache_is_small<rotated>);

// A call with a cache takes scratch of at most eight rows of the widest matrix.
template <class Module>
constexpr bool scratch_is_small(std::initializer_list<std::size_t> widths) {
  return sizeof(typename Module::Cache::Workspace) <= 8 * std::max(widths) * sizeof(float);
}
template <AttentionConfig config>
constexpr bool scratch_of_layer_is_small = scratch_is_small<MultiHeadAttention<config>>({config.d_in, config.d_out, config.context_length});
static_assert(scratch_of_layer_is_small<in_int8(grouped)> && scratch_of_layer_is_small<in_int8(wide)>);
static_assert(scratch_of_layer_is_small<grouped> && scratch_of_layer_is_small<shared> && scratch_of_layer_is_small<wide> &&
              scratch_of_layer_is_small<AttentionConfig{.d_in = 512, .d_out = 8, .context_length = 16}>);

// The same for a layer, a block with it, and a language model of two such blocks.
template <std::size_t Vocabulary, std::size_t DModel, std::size_t DHidden, std::size_t Context, std::size_t Heads, bool Gated>
constexpr bool scratch_of_each_is_small = [] {
  constexpr AttentionConfig attention{.d_in = DModel, .d_out = DModel, .context_length = Context, .num_heads = Heads};
  constexpr BlockConfig block{.attention = attention, .feed_forward = {.d_model = DModel, .d_hidden = DHidden, .gated = Gated}};
  constexpr LanguageModelConfig model{.vocabulary = Vocabulary, .transformer = {.block = block, .num_layers = 2}};
  return scratch_of_layer_is_small<attention> && scratch_is_small<TransformerBlock<block>>({DModel, DHidden, Context}) &&
         scratch_is_small<LanguageModel<model>>({Vocabulary, DModel, DHidden, Context});
}();
static_assert(scratch_of_each_is_small<10, 12, 20, 11, 2, false> && scratch_of_each_is_small<7, 12, 17, 11, 2, true> &&
              scratch_of_each_is_small<33, 12, 3, 11, 1, true> && scratch_of_each_is_small<512, 64, 172, 512, 4, true> &&
              scratch_of_each_is_small<32000, 288, 768, 256, 6, true> && scratch_of_each_is_small<50257, 768, 3072, 1024, 12, false> &&
              scratch_of_each_is_small<27, 16, 16, 1000, 4, true> && scratch_of_each_is_small<27, 16, 64, 1024, 4, true> &&
              scratch_of_each_is_small<256, 128, 64, 8, 4, true> && scratch_of_each_is_small<65, 32, 32, 32, 4, true>);

// Without a cache, too, a layer with keys and values of int8 takes less memory: half of what floats do.
template <AttentionConfig config>
constexpr std::size_t room_without_a_cache = sizeof(typename MultiHeadAttention<config>::Workspace);
constexpr AttentionConfig of_32_tokens{.d_in = 64, .d_out = 64, .context_length = 32, .num_heads = 4};
static_assert(room_without_a_cache<with_int8_cache(of_32_tokens)> * 2 < room_without_a_cache<of_32_tokens> &&
              room_without_a_cache<with_int8_cache(in_int8(of_32_tokens))> < room_without_a_cache<in_int8(of_32_tokens)>);

// Heads of any width; float weights, an int8 cache.
template <std::size_t Heads, std::size_t KvHeads, std::size_t HeadDim, std::size_t Tokens>
constexpr AttentionConfig of_heads{.d_in = 6,
                                   .d_out = Heads* HeadDim,
                                   .context_length = Tokens,
                                   .num_heads = Heads,
                                   .qkv_bias = true,
                                   .out_proj = false,
                                   .num_kv_heads = KvHeads,
                                   .cache = Weights::int8};

template <AttentionConfig config>
using DividedAttention = Divided<MultiHeadAttention<config>, config.context_length, config.d_in, config.d_out>;

// The shift of weights, which are powers of two, for the first and last context length of each step.
constexpr unsigned power_shift(std::size_t context_length) { return kernel::score_rule<port::scalar>(1.0f, 1, context_length).power_shift; }
static_assert(power_shift(1) == 0 && power_shift(516) == 0 && power_shift(517) == 1 && power_shift(1032) == 1 && power_shift(1033) == 2);

// Scale number s of an int8 cache, (8 + s % 8) * 2^(s / 8 - 25).
constexpr double scale_of(std::size_t s) {
  double power = 0x1p-25;
  for (std::size_t i = 0; i < s / 8; ++i) power *= 2;
  return power * static_cast<double>(8 + s % 8);
}

// Checks quantization for the cache at each scale: numbers halfway between two integers, the largest number that fits the scale, and the
// next float, which does not.
void check_scales(Check& check) {
  for (std::size_t s = 0; s < 255; ++s)
    for (const std::uint32_t below : {1u, 0u}) {
      Vector<float, 128> x{};
      const double unit = scale_of(s);
      for (std::size_t k = 0; k < 128; ++k) x(k) = static_cast<float>((k % 3 == 0 ? 0.5 : -0.5) * static_cast<double>(2 * k + 1) * unit);
      x(127) = kernel::float_of(kernel::bits_of(x(127)) - below);
      static std::uint8_t codes[128 * 3];
      check.equal(kernel::encode<native_port>(opaque(x).data(), 128, codes, 3), s + 1 - below);
      for (std::size_t k = 0; k < 128; ++k)
        check.near(static_cast<float>(codes[3 * k] - 128),
                   s + 1 - below == 255 ? 0.0f : static_cast<float>(static_cast<double>(x(k)) / scale_of(s + 1 - below)), 0.5625f);
    }
}

// A layer, its cache and scratch.
template <AttentionConfig config>
struct CachedLayer {
  using Layer = MultiHeadAttention<config>;
  Layer layer = drawn<Layer>(1);
  typename Layer::Cache cache{};
  typename Layer::Cache::Workspace workspace{};

  void forward(const auto& in, auto& out) {
    cache.clear();
    if (layer.forward(in, cache, out, workspace) != Status::ok) __builtin_trap();
  }
};

// Infinity, or a number that no scale fits, in one feature of the key or value of token 3 in key head 1: query heads 2 and 3 give NaN from
// that token on, and nothing else changes.
void check_not_finite(Check& check) {
  static CachedLayer<of_heads<4, 2, 3, 6>> called;
  auto& layer = called.layer;
  auto x = drawn<Matrix<float, 6, 6>>(2);
  for (std::size_t i = 0; i < 6; ++i) x(i, 0) = i == 3 ? 0x1p100f : 0.0f;
  for (std::size_t j = 0; j < 12; ++j) layer.query.weight(0, j) = layer.key.weight(0, j / 2) = layer.value.weight(0, j / 2) = 0.0f;
  Matrix<float, 6, 12> expected{}, out{};
  called.forward(x, expected);
  for (auto* const linear : {&layer.key, &layer.value})
    for (const float weight : {0x1p100f, -0x1p100f, 0x1.cp-84f}) {
      linear->weight(0, 4) = weight;
      called.forward(x, out);
      linear->weight(0, 4) = 0.0f;
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t j = 0; j < 12; ++j) check.same_bits(out(i, j), i >= 3 && j >= 6 ? quiet_nan : expected(i, j));
    }
}

// The largest sums of 32 bits: equal keys, and values that are 127 steps of the largest scale.
void check_long_context(Check& check) {
  static CachedLayer<of_heads<1, 1, 1, 600>> called;
  auto& [layer, cache, workspace] = called;
  layer = {};
  static Matrix<float, 600, 6> x = ones<float, 600, 6>();
  static Matrix<float, 600, 1> out;
  layer.value.bias(0) = 127 * 15;
  check.that(layer.forward(x, cache, out, workspace) == Status::ok);
  check.near(out, full<float, 600, 1>(127 * 15), 0.01f);
}

// A layer with a context of ten tokens reads sixty through a window of seven, with the bits of one call of a layer with a longer context;
// also near SIZE_MAX, where the count of tokens is reduced.
void check_endless(Check& check) {
  using Longer = MultiHeadAttention<with_window({.d_in = 12, .d_out = 12, .context_length = 60, .num_heads = 2}, 7)>;
  static Longer longer;
  static Longer::Workspace of_longer;
  static CachedLayer<with_window({.d_in = 12, .d_out = 12, .context_length = 10, .num_heads = 2}, 7)> called;
  auto& [layer, cache, workspace] = called;
  static_assert(sizeof cache <= sizeof(std::size_t) + 7 * 2 * 12 * sizeof(float) && sizeof(Longer::Cache) == sizeof cache);
  longer = drawn<Longer>(1);
  layer = {longer.query, longer.key, longer.value, longer.out_proj};
  const auto x = drawn<Matrix<float, 60, 12>>(2);
  Matrix<float, 60, 12> expected{}, out{};
  longer.forward(x, expected, of_longer);
  for (std::size_t i = 0; i < 60; i += 4) {
    MatrixView<float, 4, 12, 12> to{out.data() + i * 12};
    if (i == 28) cache.num_tokens += (SIZE_MAX / 2 / 7 + 1) * 7;
    check.that(cache.has_room(4) &&
               layer.forward(MatrixView<const float, 4, 12, 12>{x.data() + i * 12}, cache, to, workspace) == Status::ok);
  }
  check.same_bits(out, expected);
  check.that(cache.size() > SIZE_MAX / 8 && cache.size() < SIZE_MAX / 2);
}

// After a million tokens, the last logits of a text are those of a cache that has read only the tokens on which they depend: a window per
// layer.
template <Rotary rotary, Weights of_cache>
void check_long_text(Check& check) {
  constexpr AttentionConfig attention{
      .d_in = 4, .d_out = 4, .context_length = 1, .num_heads = 2, .rotary = rotary, .cache = of_cache, .window = 32};
  constexpr BlockConfig block{.attention = attention, .feed_forward = {.d_model = 4, .d_hidden = 5}};
  using Model =
      LanguageModel<LanguageModelConfig{.vocabulary = 11, .transformer = {.block = block, .num_layers = 2}, .positions = Positions::none}>;
  static Model model;
  static typename Model::Cache all, some;
  static typename Model::Cache::Workspace workspace;
  model = drawn<Model>(1);
  const auto read_from = [&](std::size_t first, auto& cache) {
    Vector<float, 11> logits{};
    for (auto& of_block : cache.blocks) of_block.num_tokens = first;
    for (std::size_t i = first; i < 1'000'300; ++i) {
      const auto token = static_cast<Token>((i * 7 + i / 13) % 11);
      check.that(model.forward(TokenView(&token, 1), cache, logits, workspace) == Status::ok);
    }
    return logits;
  };
  check.same_bits(read_from(1'000'000, all), read_from(1'000'300 - (2 * 31 + 1), some));
}

// Rotary positions end at 2^28.
void check_end_of_positions(Check& check) {
  static CachedLayer<with_window(rotated, 4)> called;
  auto& [layer, cache, workspace] = called;
  Matrix<float, 19, 5> x{};
  Matrix<float, 19, 8> out{};
  cache.num_tokens = (std::size_t{1} << 28) - 2;
  check.that(layer.forward(x, 3, cache, out, workspace) == Status::too_many_tokens);
  check.that(layer.forward(x, 2, cache, out, workspace) == Status::ok && !cache.has_room(1));
}

template <AttentionConfig config, std::size_t Rows>
void check_every_count(Check& check) {
  using Layer = MultiHeadAttention<config>;
  static Layer layer;
  static typename Layer::Workspace workspace;
  static Matrix<float, Rows, config.d_out> out;
  layer = drawn<Layer>(1);
  const auto x = drawn<Matrix<float, Rows, config.d_in>>(2);
  check_layer_forms(check, layer, x, out, workspace);
  check_counts(check, layer, x, out, workspace);
}

struct Called : CachedLayer<simple> {
  Matrix<float, 20, 12> x = drawn<Matrix<float, 20, 12>>(2), expected{};

  Called() { forward(x, expected); }
};

constexpr Test tests[] = {
    at_run_time("a prompt in one call, in two or token by token",
                all<DividedAttention<simple>, DividedAttention<grouped>, DividedAttention<shared>, DividedAttention<rotated>,
                    DividedAttention<smallest>, DividedAttention<wide>>),
    at_run_time("the same with weights of int8",
                all<DividedAttention<in_int8(grouped)>, DividedAttention<in_int8(shared)>, DividedAttention<in_int8(wide)>>),
    at_run_time("the same with a window",
                all<DividedAttention<windowed>, DividedAttention<with_window(windowed, 33)>, DividedAttention<with_window(simple, 1)>,
                    DividedAttention<with_window(simple, 20)>, DividedAttention<with_window(grouped, 7)>,
                    DividedAttention<with_window(shared, 19)>, DividedAttention<with_window(rotated, 32)>,
                    DividedAttention<with_window(in_int8(grouped), 5)>, DividedAttention<with_window(heads_of_eight, 11)>>),
    at_run_time("the same with a window and a cache of int8",
                all<DividedAttention<with_window(with_int8_cache(windowed), 16)>, DividedAttention<with_window(of_heads<2, 1, 16, 7>, 3)>,
                    DividedAttention<with_window(with_int8_cache(in_int8(grouped)), 9)>>),
    at_run_time(
        "the same with a cache of int8, heads of any width, and weights of int8",
        all<DividedAttention<of_heads<2, 1, 1, 9>>, DividedAttention<of_heads<4, 2, 3, 21>>, DividedAttention<of_heads<2, 2, 8, 17>>,
            DividedAttention<of_heads<1, 1, 12, 16>>, DividedAttention<of_heads<2, 1, 16, 7>>, DividedAttention<of_heads<1, 1, 64, 9>>,
            DividedAttention<with_int8_cache(in_int8(grouped))>>),
    at_run_time("a cache of int8: its scales, and its integers in the middle between two", check_scales),
    at_run_time("what no scale takes, in a key or a value, reaches each context that sees it, and no other", check_not_finite),
    at_run_time("600 tokens, whose sums have 32 bits", check_long_context),
    everywhere("the same in the compiler", all<DividedAttention<in_the_compiler>, DividedAttention<with_window(in_the_compiler, 2)>,
                                               DividedAttention<with_int8_cache(in_int8(in_the_compiler))>>),
    at_run_time(
        "without a cache: every count of tokens, wherever a block of rows ends; heads that share keys, features that rotate, a window",
        each_of<check_every_count<of_several_blocks, 67>, check_every_count<with_window(of_several_blocks, 18), 67>,
                check_every_count<grouped, 20>, check_every_count<with_window(shared, 1), 9>, check_every_count<rotated, 19>,
                check_every_count<with_int8_cache(of_several_blocks), 67>,
                check_every_count<with_window(with_int8_cache(in_int8(grouped)), 7), 20>>),
    at_run_time("a window goes on after the context, and after the largest number of tokens", check_endless),
    at_run_time("a long text without positions", check_long_text<Rotary::none, Weights::f32>),
    at_run_time("a long text with rotary positions", check_long_text<Rotary::halves, Weights::f32>),
    at_run_time("a long text with rotary positions and a cache of int8", check_long_text<Rotary::interleaved, Weights::int8>),
    at_run_time("a window of rotary positions ends at 2^28", check_end_of_positions),
    at_run_time("too many tokens: nothing is written, and the cache is as it was; no tokens are fine, also with a full cache",
                [](Check& check) {
                  static Called full;
                  static Called::Layer::Cache before;
                  before = full.cache;
                  const auto untouched = tinyattn::full<float, 20, 12>(Guarded<float>::untouched);
                  const auto check_call = [&](std::size_t count, Status expected) {
                    check_output(check, untouched, [&](auto& out) {
                      check.that(full.layer.forward(full.x, count, full.cache, out, full.workspace) == expected);
                    });
                  };
                  check_call(1, Status::too_many_tokens);
                  check_call(0, Status::ok);
                  check.that(full.cache.size() == 20 && __builtin_memcmp(&before, &full.cache, sizeof before) == 0);
                  full.cache.clear();
                  check_call(21, Status::too_many_tokens);
                  check.equal(full.cache.size(), std::size_t{0});
                }),
    at_run_time("the output may be the input; what lies between the rows of a view stays",
                [](Check& check) {
                  static Called called;
                  check_in_place(check, called.expected, called.x, [&](auto& both) { called.forward(both, both); });
                  const auto margin = full<float, 20, 3>(7.0f);
                  auto wide_x = concat_columns(called.x, full<float, 20, 3>(quiet_nan)), wide_out = concat_columns(called.x, margin);
                  auto to = columns<12>(wide_out, 0);
                  called.forward(columns<12>(wide_x, 0), to);
                  check.same_bits(wide_out, concat_columns(called.expected, margin));
                }),
    at_run_time("a NaN in a later token, or one that a cache has forgotten, does not leak",
                [](Check& check) {
                  static Called called;
                  auto poisoned = called.x, out = called.x;
                  for (std::size_t j = 0; j < 12; ++j) poisoned(9, j) = quiet_nan;
                  called.forward(poisoned, out);
                  for (std::size_t i = 0; i < 9; ++i) check.same_bits(row(out, i), row(called.expected, i));
                  check.same_bits(row(out, 9), full<float, 12>(quiet_nan));
                  called.forward(called.x, out);
                  check.same_bits(out, called.expected);
                }),
    everywhere("workspaces hold what so many tokens need, and nothing else",
               [](Check& check) {
                 using OfAttention = MultiHeadAttention<simple>::Cache;
                 using OfBlock =
                     TransformerBlock<BlockConfig{.attention = simple, .feed_forward = {.d_model = 12, .d_hidden = 20}}>::Cache::Workspace;
                 check.that(OfBlock::floats(opaque(OfBlock::rows_at_once)) * sizeof(float) == sizeof(OfBlock));
                 check.that(OfAttention::floats(opaque(OfAttention::rows_at_once)) * sizeof(float) == sizeof(OfAttention::Workspace));
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
