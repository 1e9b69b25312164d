// SPDX-License-Identifier: MIT
//
// Blocks and transformers: every form of a call in the bits of plain loops. Large objects are static: a board has little stack.
#include "plain_model.hpp"

#include "masks.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr AttentionConfig heads{.d_in = 12, .d_out = 12, .context_length = 11, .num_heads = 2, .qkv_bias = true};
constexpr AttentionConfig grouped{
    .d_in = 12, .d_out = 12, .context_length = 11, .num_heads = 6, .out_bias = false, .num_kv_heads = 2, .rotary = Rotary::halves};
constexpr FeedForwardConfig gelu_hidden{.d_model = 12, .d_hidden = 20};
constexpr FeedForwardConfig gated_hidden{.d_model = 12, .d_hidden = 17, .activation = Activation::silu, .gated = true, .bias = false};
constexpr BlockConfig gpt{.attention = heads, .feed_forward = gelu_hidden};
constexpr BlockConfig post{.attention = heads, .feed_forward = gelu_hidden, .norm_first = false};
constexpr BlockConfig llama{.attention = grouped, .feed_forward = gated_hidden, .normalization = Normalization::rms};
constexpr BlockConfig odd{.attention = {.d_in = 12, .d_out = 12, .context_length = 11, .num_heads = 4, .out_proj = false},
                          .feed_forward = {.d_model = 12, .d_hidden = 3, .activation = Activation::relu, .gated = true},
                          .normalization = Normalization::rms,
                          .norm_first = false};

using Gpt = TransformerBlock<gpt>;
using Post = TransformerBlock<post>;
using Llama = TransformerBlock<llama>;
using Decoder = Transformer<TransformerConfig{.block = llama, .num_layers = 3}>;
using WithoutNorm = Transformer<TransformerConfig{.block = post, .num_layers = 2, .final_norm = false}>;
using Single = Transformer<TransformerConfig{.block = gpt, .num_layers = 1}>;

constexpr BlockConfig seeing{.attention = {.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .causal = false},
                             .feed_forward = {.d_model = 4, .d_hidden = 6, .activation = Activation::gelu_tanh},
                             .norm_first = false};
using Encoder = Transformer<TransformerConfig{.block = seeing, .num_layers = 2}>;

static_assert(Gpt::parameter_count == 2 * 24 + 4 * (12 * 12 + 12) + 12 * 20 + 20 + 20 * 12 + 12);
static_assert(Llama::parameter_count == 2 * 12 + 2 * 12 * 12 + 2 * 12 * 4 + 3 * 12 * 17);
static_assert(Decoder::parameter_count == 3 * Llama::parameter_count + 12);
static_assert(WithoutNorm::parameter_count == 2 * Post::parameter_count);
static_assert(sizeof(Gpt) == sizeof(float) * (Gpt::parameter_count + 2) &&
              sizeof(Decoder) == sizeof(float) * (Decoder::parameter_count + 7));
static_assert(std::is_aggregate_v<Decoder> && std::is_trivially_copyable_v<Decoder>);

// One workspace serves all blocks, and each block has a cache.
static_assert(sizeof(Decoder::Workspace) == sizeof(Llama::Workspace));
static_assert(sizeof(Decoder::Cache::Workspace) == sizeof(Llama::Cache::Workspace));
static_assert(sizeof(Decoder::Cache) == 3 * sizeof(Llama::Cache));
static_assert(sizeof(Llama::Cache) <= 2 * 2 * 2 * 11 * sizeof(float) + sizeof(std::size_t));

// The scratch of a call with a cache is at most eight rows of what is widest.
template <std::size_t DModel, std::size_t DHidden, std::size_t Context, std::size_t Heads, bool Gated>
constexpr bool scratch_is_small = [] {
  using Shape = TransformerBlock<BlockConfig{.attention = {.d_in = DModel, .d_out = DModel, .context_length = Context, .num_heads = Heads},
                                             .feed_forward = {.d_model = DModel, .d_hidden = DHidden, .gated = Gated}}>;
  std::size_t widest = DModel;
  for (const std::size_t width : {DHidden, Context}) widest = width > widest ? width : widest;
  return sizeof(typename Shape::Cache::Workspace) <= 8 * widest * sizeof(float);
}();
static_assert(scratch_is_small<12, 20, 11, 2, false> && scratch_is_small<12, 17, 11, 2, true> && scratch_is_small<12, 3, 11, 1, true>);
static_assert(scratch_is_small<64, 172, 512, 8, true> && scratch_is_small<288, 768, 256, 6, true> &&
              scratch_is_small<768, 3072, 1024, 12, false>);
static_assert(scratch_is_small<16, 16, 1000, 4, true> && scratch_is_small<128, 64, 8, 4, true> && scratch_is_small<32, 32, 32, 4, true>);

constexpr auto x = numbers<Matrix<float, 11, 12>>(1);

// The forms of a call that a block and a transformer share.
template <class Module>
void check_forms(Check& check) {
  static const auto module = made<Module>(2);
  static const auto expected = plain_outputs(module, x);
  static Guarded<typename Module::Workspace> workspace;
  auto& scratch = workspace.tensor;
  poison(scratch.scratch);
  poison(scratch.part_of);
  check_output(check, expected, [&](auto& out) { module.forward(hidden(x), out, scratch); });
  check_in_place(check, expected, x, [&](auto& both) { module.forward(both, both, scratch); });
  const auto kept = tril(ones<bool, 11, 11>());
  check_output(check, expected, [&](auto& out) { module.forward(hidden(x), KeepMask{kept}, out, scratch); });
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{11}}) {
    auto some = expected;
    auto poisoned = x;
    for (std::size_t i = count * 12; i < x.size(); ++i) {
      some.data()[i] = Guarded<float>::untouched;
      poisoned.data()[i] = quiet_nan;
    }
    check_output(check, some, [&](auto& out) { check.that(module.forward(poisoned, count, out, scratch) == Status::ok); });
  }
  const auto none = full<float, 11, 12>(Guarded<float>::untouched);
  check_output(check, none, [&](auto& out) { check.that(module.forward(x, std::size_t{12}, out, scratch) == Status::too_many_tokens); });
  const auto other = numbers<Matrix<float, 11, 12>>(5);
  static Tensor<float, 2, 11, 12> both;
  module.forward(stack(x, other), both, scratch);
  check.same_bits(both, stack(expected, plain_outputs(module, other)));
  check.that(workspace.guards_hold());
}

template <class Module>
void check_cached(Check& check) {
  static const auto module = made<Module>(3);
  check_divided(check, module, x, plain_outputs(module, x));
}

// Hidden features that need more scratch than attention does, for as many tokens as a block has: the compiler computes with the scalar
// port, whose blocks may be higher than those of the port that the workspace is for.
constexpr BlockConfig wide_hidden{.attention = {.d_in = 4, .d_out = 4, .context_length = 4, .out_proj = false},
                                  .feed_forward = {.d_model = 4, .d_hidden = 64, .gated = true}};
constexpr float last_of_ones() {
  const TransformerBlock<wide_hidden> block{};
  TransformerBlock<wide_hidden>::Workspace workspace{};
  auto features = ones<float, 4, 4>();
  block.forward(features, features, workspace);
  return features(3, 3);
}
static_assert(last_of_ones() == 1.0f);

// Of a block with a cache, whatever its sizes.
constexpr void check_rows_at_once(Check& check, std::size_t d_model, std::size_t d_hidden, std::size_t context_length) {
  const std::size_t widest = kernel::maximum(d_model, d_hidden);
  const auto floats = [&](std::size_t rows) { return kernel::cached_block_scratch(rows, d_model, d_hidden, true, context_length); };
  const std::size_t rows = kernel::cached_rows(widest, floats);
  check.that(rows >= 1 && rows <= 4);
  check.that(rows == 1 || floats(rows) <= 8 * widest);
  check.that(rows == 4 || floats(rows + 1) > 8 * widest);
}

constexpr Test tests[] = {
    at_run_time("norm first or last, gated, no output projection, heads that share keys: every form of a call",
                [](Check& check) {
                  check_forms<Gpt>(check);
                  check_forms<Post>(check);
                  check_forms<Llama>(check);
                  check_forms<TransformerBlock<odd>>(check);
                }),
    at_run_time("block after block, with a final norm and without: every form of a call",
                [](Check& check) {
                  check_forms<Decoder>(check);
                  check_forms<WithoutNorm>(check);
                  check_forms<Single>(check);
                }),
    at_run_time("blocks: a prompt in one call, in two or token by token: the bits of one call for all; too many: nothing is written",
                [](Check& check) {
                  check_cached<Gpt>(check);
                  check_cached<Post>(check);
                  check_cached<Llama>(check);
                  check_cached<TransformerBlock<odd>>(check);
                }),
    at_run_time("transformers: the same",
                [](Check& check) {
                  check_cached<Decoder>(check);
                  check_cached<WithoutNorm>(check);
                  check_cached<Single>(check);
                }),
    everywhere("workspaces hold what so many tokens need, and nothing else",
               [](Check& check) {
                 using OfBlock = Gpt::Cache::Workspace;
                 using OfAttention = MultiHeadAttention<gpt.attention>::Cache;
                 check.that(OfBlock::floats(hidden(OfBlock::rows_at_once)) * sizeof(float) == sizeof(OfBlock));
                 check.that(OfAttention::floats(hidden(OfAttention::rows_at_once)) * sizeof(float) == sizeof(OfAttention::Workspace));
               }),
    everywhere("a call with a cache takes as many tokens at a time as fit into eight rows, one at least and four at most",
               [](Check& check) {
                 for (const std::size_t context_length : {std::size_t{6}, std::size_t{64}, std::size_t{1024}}) {
                   check_rows_at_once(check, 64, 172, hidden(context_length));
                   check_rows_at_once(check, 64, 32, hidden(context_length));
                 }
               }),
    everywhere("an encoder, in the compiler; a mask hides keys from all blocks, and a NaN behind it does not leak",
               [](Check& check) {
                 const auto encoder = made<Encoder>(4);
                 const auto few = numbers<Matrix<float, 3, 4>>(5);
                 Encoder::Workspace scratch{};
                 check_output(check, plain_forward(encoder, few, sees_everything),
                              [&](auto& out) { encoder.forward(hidden(few), out, scratch); });
                 auto poisoned = few;
                 if (!std::is_constant_evaluated())
                   for (std::size_t j = 0; j < 4; ++j) poisoned(2, j) = quiet_nan;
                 Matrix<float, 3, 4> out{};
                 encoder.forward(hidden(poisoned), BlockMask{vector<bool>({false, false, true})}, out, scratch);
                 check.same_bits(plain_rows<2>(out, 0), plain_forward(encoder, plain_rows<2>(few, 0), sees_everything));
               }),
    at_run_time("views of rows that stand apart",
                [](Check& check) {
                  static const auto block = made<Gpt>(6);
                  static Gpt::Workspace scratch;
                  static Matrix<float, 11, 15> wide_x, wide_out;
                  wide_x = full<float, 11, 15>(quiet_nan);
                  wide_out = full<float, 11, 15>(Guarded<float>::untouched);
                  for (std::size_t i = 0; i < 11; ++i)
                    for (std::size_t j = 0; j < 12; ++j) wide_x(i, j) = x(i, j);
                  const MatrixView<const float, 11, 12, 15> from{wide_x.data()};
                  MatrixView<float, 11, 12, 15> to{wide_out.data()};
                  block.forward(from, to, scratch);
                  check.same_bits(plain_columns<12>(wide_out, 0), plain_outputs(block, x));
                  check.same_bits(plain_columns<3>(wide_out, 12), full<float, 11, 3>(Guarded<float>::untouched));
                  static Gpt::Cache cache;
                  static Gpt::Cache::Workspace few;
                  check.that(block.forward(from, cache, to, few) == Status::ok);
                  check.same_bits(plain_columns<12>(wide_out, 0), plain_outputs(block, x));
                  check.same_bits(plain_columns<3>(wide_out, 12), full<float, 11, 3>(Guarded<float>::untouched));
                }),
    everywhere("first weights: attention, then feed_forward, block after block; norms are 1",
               [](Check& check) {
                 Mt19937 generator(hidden(5u)), same(5);
                 Encoder encoder{};
                 initialize(encoder, generator);
                 for (const auto& block : encoder.blocks) {
                   decltype(encoder.blocks[0].attention) attention{};
                   decltype(encoder.blocks[0].feed_forward) feed_forward{};
                   initialize(attention, same);
                   initialize(feed_forward, same);
                   check.that(block.attention == attention && block.feed_forward == feed_forward);
                   check.equal(block.attention_norm, LayerNorm<4>{ones<float, 4>(), zeros<float, 4>()});
                 }
                 check.equal(encoder.final_norm, LayerNorm<4>{ones<float, 4>(), zeros<float, 4>()});
               }),
};

}  // namespace

int main() { return run(tests); }
