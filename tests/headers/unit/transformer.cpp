// SPDX-License-Identifier: MIT
//
// Blocks, transformers, and decoders that read a source, in every form of a call.
#include <type_traits>

#include "catalogue/case.hpp"
#include "catalogue/workloads.hpp"
#include "divided.hpp"
#include "forms.hpp"
#include "tinyattn/arithmetic.hpp"

namespace tinyattn::test { namespace {

constexpr BlockConfig odd{.attention = {.d_in = 12, .d_out = 12, .context_length = 11, .num_heads = 4, .out_proj = false},
                          .feed_forward = {.d_model = 12, .d_hidden = 3, .activation = Activation::relu, .gated = true},
                          .normalization = Normalization::rms,
                          .norm_first = false};
constexpr BlockConfig seeing{.attention = {.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .causal = false},
                             .feed_forward = {.d_model = 4, .d_hidden = 6, .activation = Activation::gelu_tanh},
                             .norm_first = false};

constexpr BlockConfig attention_in_int8{.attention = in_int8(with_biases), .feed_forward = gelu_part};
constexpr BlockConfig hidden_in_int8{.attention = grouped, .feed_forward = in_int8(gated_part)};

using Gpt = TransformerBlock<layer_first>;
using Post = TransformerBlock<norm_last>;
using Llama = TransformerBlock<rms_first>;
using Odd = TransformerBlock<odd>;
using Decoder = Transformer<TransformerConfig{.block = rms_first, .num_layers = 3}>;
using WithoutNorm = Transformer<TransformerConfig{.block = norm_last, .num_layers = 2, .final_norm = false}>;
using Encoder = Transformer<TransformerConfig{.block = seeing, .num_layers = 2}>;

static_assert(Gpt::parameter_count == 2 * 24 + 4 * (12 * 12 + 12) + 12 * 33 + 33 + 33 * 12 + 12);
static_assert(Llama::parameter_count == 2 * 12 + 2 * 12 * 12 + 12 + 2 * 12 * 4 + 3 * 12 * 20);
static_assert(Decoder::parameter_count == 3 * Llama::parameter_count + 12);
static_assert(WithoutNorm::parameter_count == 2 * Post::parameter_count);
static_assert(sizeof(Gpt) == sizeof(float) * (Gpt::parameter_count + 2) &&
              sizeof(Decoder) == sizeof(float) * (Decoder::parameter_count + 7));
static_assert(std::is_aggregate_v<Decoder> && std::is_trivially_copyable_v<Decoder>);

// All blocks share a workspace; each block has a cache.
static_assert(sizeof(Decoder::Workspace) == sizeof(Llama::Workspace));
static_assert(sizeof(Decoder::Cache::Workspace) == sizeof(Llama::Cache::Workspace));
static_assert(sizeof(Decoder::Cache) == 3 * sizeof(Llama::Cache));
static_assert(sizeof(Llama::Cache) <= 2 * 2 * 2 * 9 * sizeof(float) + sizeof(std::size_t));

constexpr DecoderBlockConfig small{.attention = {.d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2},
                                   .cross_attention = {.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .causal = false},
                                   .feed_forward = {.d_model = 4, .d_hidden = 6, .activation = Activation::relu}};
// A source of several blocks of rows, and parts of int8 next to parts of floats.
constexpr DecoderBlockConfig mixed{
    .attention = in_int8(with_biases),
    .cross_attention = with_int8_cache({.d_in = 12, .d_out = 12, .context_length = 70, .causal = false, .d_key = 9, .d_value = 9}),
    .feed_forward = in_int8(gelu_part)};
template <DecoderBlockConfig config>
using Reader = TransformerDecoder<TransformerDecoderConfig{.block = config, .num_layers = 1, .final_norm = false}>;
using SmallReader = Reader<small>;
using TwoReaders = TransformerDecoder<TransformerDecoderConfig{.block = small, .num_layers = 2}>;
static_assert(SmallReader::parameter_count == 3 * 8 + 2 * (4 * 16 + 4) + 2 * 4 * 6 + 6 + 4);
static_assert(TwoReaders::parameter_count == 2 * SmallReader::parameter_count + 8);
static_assert(sizeof(TwoReaders::Cache) == 2 * sizeof(SmallReader::Cache) &&
              sizeof(TwoReaders::Workspace) == sizeof(SmallReader::Workspace));
static_assert(sizeof(SmallReader::Cache) <= 4 * sizeof(float) * 2 * (4 + 5) + 2 * sizeof(std::size_t));

// d_hidden so large that the feed-forward part needs more scratch than attention, for a whole block of rows: the compiler evaluates with
// the scalar port, whose blocks may have more rows than the port for which the workspace is sized.
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

template <class Module, std::size_t Rows>
void check_forms(Check& check) {
  static Module module;
  static typename Module::Workspace workspace;
  module = drawn<Module>(1);
  Matrix<float, Rows, 12> out{};
  check_layer_forms(check, module, drawn<Matrix<float, Rows, 12>>(2), out, workspace);
  check_counts(check, module, drawn<Matrix<float, Rows, 12>>(2), out, workspace);
}

// What a module computes of its inputs.
template <class Module, std::size_t Rows>
auto computed(const Module& module, const Matrix<float, Rows, 12>& x, const auto&... source) {
  static typename Module::Workspace workspace;
  Matrix<float, Rows, 12> out{};
  module.forward(x, source..., out, workspace);
  return out;
}
// x and what a part computes of it, with the norm before the part or after the sum.
auto with_part(bool norm_first, const auto& x, const auto& norm, const auto& part, const auto&... source) {
  return norm_first ? add(x, computed(part, norm(x), source...)) : norm(add(x, computed(part, x, source...)));
}

template <BlockConfig config, std::size_t Rows>
void check_parts(Check& check, const auto&... mask) {
  static const auto block = drawn<TransformerBlock<config>>(1);
  const auto x = drawn<Matrix<float, Rows, 12>>(2);
  const auto attended = with_part(config.norm_first, x, block.attention_norm, block.attention, mask...);
  check.same_bits(computed(block, x, mask...), with_part(config.norm_first, attended, block.feed_forward_norm, block.feed_forward));
}
template <DecoderBlockConfig config, std::size_t Rows, std::size_t SourceRows>
void check_reader(Check& check, const auto& mask, const auto& source_mask) {
  static const auto reader = drawn<Reader<config>>(1);
  static typename Reader<config>::Workspace workspace;
  const auto& block = reader.blocks[0];
  const auto x = drawn<Matrix<float, Rows, 12>>(2);
  const auto memory = drawn<Matrix<float, SourceRows, detail::d_key<config.cross_attention>>>(3);
  const auto attended = with_part(config.norm_first, x, block.attention_norm, block.attention, mask);
  const auto read = with_part(config.norm_first, attended, block.cross_attention_norm, block.cross_attention, memory, memory, source_mask);
  const auto out = with_part(config.norm_first, read, block.feed_forward_norm, block.feed_forward);
  Matrix<float, Rows, 12> all{};
  reader.forward(x, memory, mask, source_mask, all, workspace);
  check.same_bits(all, out);
  check_in_place(check, out, x, [&](auto& both) { reader.forward(both, memory, mask, source_mask, both, workspace); });
  check_output(check, stack(out, out),
               [&](auto& to) { reader.forward(stack(x, x), stack(memory, memory), mask, source_mask, to, workspace); });
}

// The text in one call is the text with a cache, divided at every place, after a source of 0, some or all tokens; a cache is used again.
template <class Module, std::size_t Tokens, std::size_t SourceTokens, std::size_t Dim, std::size_t MemoryDim = Dim>
struct DividedReading : Divided<Module, Tokens, Dim> {
  Matrix<float, SourceTokens, MemoryDim> memory;

  constexpr void operator()(Draw& draw, Check& check) noexcept {
    this->draw_inputs(draw);
    draw(memory);
    for (const std::size_t count : {SourceTokens, std::size_t{0}, SourceTokens / 2}) {
      check.that(this->layer.forward(this->x, memory, Tokens, count, this->expected, this->workspace.tensor) == Status::ok);
      check.that(this->layer.begin(memory, count, this->cache.tensor, this->cache_workspace.tensor) == Status::ok);
      this->check_divisions(check);
    }
  }
};

constexpr Test tests[] = {
    at_run_time("norm first or last, gated, no output projection, heads that share keys; block after block, with a final norm and without",
                each_of<check_forms<Gpt, 5>, check_forms<Odd, 11>, check_forms<Decoder, 9>, check_forms<WithoutNorm, 5>,
                        check_forms<TransformerBlock<hidden_in_int8>, 9>>),
    at_run_time("a prompt in one call, in two or token by token",
                all<Divided<Gpt, 5, 12>, Divided<Odd, 11, 12>, Divided<Decoder, 9, 12>, Divided<WithoutNorm, 5, 12>>),
    at_run_time("the same with weights of int8 in all layers, and in one kind of layer",
                all<Divided<TransformerBlock<in_int8(odd)>, 11, 12>, Divided<TransformerBlock<attention_in_int8>, 5, 12>>),
    at_run_time("a block is its parts, one after the other; with a mask for each head",
                [](Check& check) {
                  check_parts<layer_first, 5>(check, drawn<BlockMask<2, 5, 5>>(3));
                  check_parts<norm_last, 5>(check);
                  check_parts<rms_first, 9>(check);
                }),
    everywhere("an encoder, in the compiler; a mask masks keys in all blocks, and a NaN in one of them does not leak",
               [](Check& check) {
                 const auto encoder = drawn<Encoder>(4);
                 auto x = drawn<Matrix<float, 3, 4>>(5);
                 Matrix<float, 2, 4> expected{};
                 Encoder::Workspace scratch{};
                 encoder.forward(opaque(stack(row(x, 0), row(x, 1))), expected, scratch);
                 if (!std::is_constant_evaluated())
                   for (std::size_t j = 0; j < 4; ++j) x(2, j) = quiet_nan;
                 Matrix<float, 3, 4> out{};
                 encoder.forward(opaque(x), BlockMask{vector<bool>({false, false, true})}, out, scratch);
                 for (std::size_t i = 0; i < 2; ++i) check.same_bits(row(out, i), row(expected, i));
               }),
    at_run_time("a block that reads a source is its parts; in place, of a batch, with masks for each head",
                [](Check& check) {
                  check_reader<reading_last, 5, 17>(check, drawn<BlockMask<2, 5, 5>>(4), drawn<KeepMask<3, 5, 17>>(5));
                  check_reader<reading_first, 4, 3>(check, NoMask{}, drawn<AdditiveMask<4, 4, 3>>(5));
                  check_reader<mixed, 5, 70>(check, NoMask{}, NoMask{});
                }),
    everywhere("a text with a source, in one call and by a cache, in the compiler", all<DividedReading<TwoReaders, 3, 5, 4>>),
    at_run_time(
        "the same of larger ones, of heads that share keys, with weights, keys and values of int8",
        all<DividedReading<Reader<reading_last>, 5, 17, 12>, DividedReading<Reader<reading_first>, 9, 4, 12>,
            DividedReading<Reader<in_int8(reading_last)>, 5, 17, 12>,
            DividedReading<Reader<with_int8_cache(in_int8(reading_first))>, 9, 3, 12>, DividedReading<Reader<mixed>, 5, 70, 12, 9>>),
    everywhere("masks of text and source mask keys in all blocks, and a NaN there does not leak; too many tokens",
               [](Check& check) {
                 const auto decoder = drawn<TwoReaders>(4);
                 const auto x = drawn<Matrix<float, 3, 4>>(5);
                 auto memory = drawn<Matrix<float, 5, 4>>(6);
                 TwoReaders::Workspace scratch{};
                 auto out = full<float, 3, 4>(1.0f), expected = out;
                 check.that(decoder.forward(x, memory, opaque(std::size_t{2}), 3, expected, scratch) == Status::ok);
                 for (std::size_t j = 0; j < 4; ++j) {
                   check.that(expected(2, j) == 1.0f);
                   if (!std::is_constant_evaluated()) memory(3, j) = memory(4, j) = quiet_nan;
                 }
                 decoder.forward(x, memory, first_keys<3>(2), first_keys<5>(3), out, scratch);
                 for (std::size_t i = 0; i < 2; ++i) check.same_bits(row(out, i), row(expected, i));
                 check.that(decoder.forward(x, memory, 4, 5, out, scratch) == Status::too_many_tokens);
                 check.that(decoder.forward(x, memory, 3, 6, out, scratch) == Status::too_many_tokens);
                 TwoReaders::Cache cache{};
                 TwoReaders::Cache::Workspace cached{};
                 check.that(decoder.begin(memory, 6, cache, cached) == Status::too_many_tokens);
                 check.that(decoder.forward(x, 4, cache, out, cached) == Status::too_many_tokens && cache.size() == 0);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
