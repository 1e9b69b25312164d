// SPDX-License-Identifier: MIT
//
// Decoders that read a source, in every form of a call.
#include "catalogue/case.hpp"
#include "catalogue/workloads.hpp"
#include "forms.hpp"
#include "tinyattn/arithmetic.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr DecoderBlockConfig small{.attention = {.d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2},
                                   .cross_attention = {.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .causal = false},
                                   .feed_forward = {.d_model = 4, .d_hidden = 6, .activation = Activation::relu}};
// A source of several blocks of rows, and parts of int8 next to parts of floats.
constexpr DecoderBlockConfig mixed{
    .attention = in_int8(with_biases),
    .cross_attention = with_int8_cache({.d_in = 12, .d_out = 12, .context_length = 70, .causal = false, .d_key = 9, .d_value = 9}),
    .feed_forward = in_int8(gelu_part)};
constexpr TransformerDecoderConfig of_two{.block = small, .num_layers = 2};

template <DecoderBlockConfig config>
using Layer = TransformerDecoder<TransformerDecoderConfig{.block = config, .num_layers = 1, .final_norm = false}>;
using Small = Layer<small>;
using Two = TransformerDecoder<of_two>;
static_assert(Small::parameter_count == 3 * 8 + 2 * (4 * 16 + 4) + 2 * 4 * 6 + 6 + 4);
static_assert(Two::parameter_count == 2 * Small::parameter_count + 8);
static_assert(sizeof(Two::Cache) == 2 * sizeof(Small::Cache) && sizeof(Two::Workspace) == sizeof(Small::Workspace));
static_assert(sizeof(Small::Cache) <= 4 * sizeof(float) * 2 * (4 + 5) + 2 * sizeof(std::size_t));

// The text in one call is the text with a cache, divided at every place, after a source of 0, some or all tokens; a cache is used again.
template <class Module, std::size_t Tokens, std::size_t SourceTokens, std::size_t Dim, std::size_t MemoryDim = Dim>
struct DividedText : WithCache<Module, Tokens, Dim> {
  Matrix<float, SourceTokens, MemoryDim> memory;
  Matrix<float, Tokens, Dim> expected;

  constexpr void operator()(Draw& draw, Check& check) noexcept {
    this->draw_inputs(draw);
    draw(memory);
    auto& computed = this->out.tensor;
    for (const std::size_t count : {SourceTokens, std::size_t{0}, SourceTokens / 2}) {
      check.that(this->layer.forward(this->x, memory, Tokens, count, computed, this->workspace.tensor) == Status::ok);
      expected = computed;
      check.that(this->layer.begin(memory, count, this->cache.tensor, this->cache_workspace.tensor) == Status::ok);
      for (std::size_t cut = 0; cut <= Tokens; cut += Tokens < 4 ? Tokens : 1)
        for (const std::size_t step : {Tokens, std::size_t{1}}) {
          computed = {};
          check.that(this->forward_cached(cut, step) == Status::ok);
          check.same_bits(computed, expected);
        }
    }
    check.that(this->out.guards_hold() && this->workspace.guards_hold() && this->cache.guards_hold() &&
               this->cache_workspace.guards_hold());
  }
};

template <DecoderBlockConfig config, std::size_t Rows, std::size_t SourceRows>
void check_parts(Check& check) {
  using Block = TransformerDecoderBlock<config>;
  static Layer<config> layer;
  static typename Layer<config>::Workspace workspace;
  static typename Block::Attention::Workspace of_attention;
  static typename MultiHeadAttention<config.cross_attention>::Workspace of_source;
  static typename Block::Hidden::Workspace of_hidden;
  layer = drawn<Layer<config>>(1);
  const Block& block = layer.blocks[0];
  const auto x = drawn<Matrix<float, Rows, 12>>(2);
  const auto memory = drawn<Matrix<float, SourceRows, detail::d_key<config.cross_attention>>>(3);
  Matrix<float, Rows, 12> out = x, change{};
  const auto with_residual = [&](const auto& norm, const auto& part) {
    part(config.norm_first ? norm(out) : out);
    out = config.norm_first ? add(out, change) : norm(add(out, change));
  };
  with_residual(block.attention_norm, [&](const auto& in) { block.attention.forward(in, change, of_attention); });
  with_residual(block.cross_attention_norm, [&](const auto& in) { block.cross_attention.forward(in, memory, memory, change, of_source); });
  with_residual(block.feed_forward_norm, [&](const auto& in) { block.feed_forward.forward(in, change, of_hidden); });
  layer.forward(x, memory, change, workspace);
  check.same_bits(change, out);
  check_in_place(check, out, x, [&](auto& both) { layer.forward(both, memory, both, workspace); });
  check_output(check, stack(out, out), [&](auto& to) { layer.forward(stack(x, x), stack(memory, memory), to, workspace); });
}

constexpr Test tests[] = {
    at_run_time("a block is its parts, one after the other; in place, and of a batch",
                [](Check& check) {
                  check_parts<reading_last, 5, 17>(check);
                  check_parts<reading_first, 4, 3>(check);
                  check_parts<mixed, 5, 70>(check);
                }),
    everywhere("a text in one call, and token by token with a cache, in the compiler", all<DividedText<Two, 3, 5, 4>>),
    at_run_time("the same of larger ones, of heads that share keys, with weights, keys and values of int8",
                all<DividedText<Layer<reading_last>, 5, 17, 12>, DividedText<Layer<reading_first>, 9, 4, 12>,
                    DividedText<Layer<in_int8(reading_last)>, 5, 17, 12>,
                    DividedText<Layer<with_int8_cache(in_int8(reading_first))>, 9, 3, 12>, DividedText<Layer<mixed>, 5, 70, 12, 9>>),
    everywhere("masks of text and source mask keys in all blocks, and a NaN there does not leak; too many tokens",
               [](Check& check) {
                 const auto decoder = drawn<Two>(4);
                 const auto x = drawn<Matrix<float, 3, 4>>(5);
                 auto memory = drawn<Matrix<float, 5, 4>>(6);
                 Two::Workspace scratch{};
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
                 Two::Cache cache{};
                 Two::Cache::Workspace cached{};
                 check.that(decoder.begin(memory, 6, cache, cached) == Status::too_many_tokens);
                 check.that(decoder.forward(x, 4, cache, out, cached) == Status::too_many_tokens && cache.size() == 0);
               }),
};

}  // namespace

int main() { return run(tests); }
