// SPDX-License-Identifier: MIT
//
// A language model of the headers, its description for the compiled library, and texts that both continue.
#pragma once

#include "models.hpp"
#include "tinyattn/compiled.hpp"
#include "tinyattn/generate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tinyattn::test {

inline tinyattn_norm in_c(const kernel::Norm& norm) { return {norm.weight, norm.bias, norm.epsilon}; }
inline tinyattn_linear in_c(const auto& linear) {
  tinyattn_linear result{};
  compiled::detail::describe_to(result, linear);
  return result;
}

template <LanguageModelConfig config>
struct ModelInC {
  using Model = LanguageModel<config>;
  static constexpr AttentionConfig attention = config.transformer.block.attention;
  static constexpr Kind kind = config.weights == Weights::f32 ? Kind::f32 : attention.cache == Weights::f32 ? Kind::int8 : Kind::int8_cache;

  tinyattn_block blocks[config.transformer.num_layers];
  tinyattn_decoder decoder{};
  std::vector<float> cache, scratch, logits = std::vector<float>(config.vocabulary);

  explicit ModelInC(const Model& model) {
    for (tinyattn_block& block : blocks) {
      const auto& [attention_norm, layer, feed_forward_norm, feed_forward] = model.transformer.blocks[&block - blocks];
      block = {
          in_c(describe(attention_norm)),    in_c(layer.query),     in_c(layer.key),         in_c(layer.value),      in_c(layer.out_proj),
          in_c(describe(feed_forward_norm)), in_c(feed_forward.up), in_c(feed_forward.gate), in_c(feed_forward.down)};
    }
    decoder.kind = decoder_kind<kind>;
    decoder.vocabulary = config.vocabulary, decoder.context_length = Model::context_length, decoder.window = attention.window;
    decoder.d_model = Model::d_model, decoder.d_hidden = Model::block.feed_forward.d_hidden;
    decoder.num_layers = config.transformer.num_layers;
    decoder.num_heads = attention.num_heads, decoder.num_kv_heads = attention.num_kv_heads;
    decoder.activation = static_cast<tinyattn_activation>(Model::block.feed_forward.activation);
    decoder.norm_first = Model::block.norm_first, decoder.blocks = blocks;
    if constexpr (kind == Kind::f32)
      decoder.token_embedding = model.token_embedding.weight.data();
    else
      decoder.token_codes = model.token_embedding.weight.code, decoder.token_scales = model.token_embedding.weight.scale;
    if constexpr (config.transformer.final_norm) decoder.final_norm = in_c(describe(model.transformer.final_norm));
    decoder.head = in_c(model.head);
    constexpr std::size_t head_dim = Model::d_model / attention.num_heads;
    if constexpr (attention.rotary != Rotary::none) {
      decoder.rotary = attention.rotary == Rotary::halves ? TINYATTN_HALVES : TINYATTN_INTERLEAVED;
      if constexpr (attention.window != 0) {
        decoder.speeds = detail::speeds<head_dim, attention.rotary_base>.at;
      } else {
        const auto& table = detail::sinusoids<Model::context_length, head_dim, attention.rotary_base>;
        decoder.cosines = table.cosines, decoder.sines = table.sines;
      }
    }
    cache.resize(tinyattn_decoder_cache(&decoder)), scratch.resize(tinyattn_decoder_scratch(&decoder));
  }

  tinyattn_status read(const Token* tokens, std::size_t count) {
    return tinyattn_decoder_forward(&decoder, 0, tokens, count, cache.data(), logits.data(), scratch.data());
  }
};

// Pieces of text: whole characters, parts of characters, stray bytes, or nothing.
struct Pieces {
  static std::string_view piece(Token token) {
    constexpr std::string_view pieces[] = {"a", "\xe2\x82", "\xac", " the", "", "\xff", "\xac\xc3", "\xa9"};
    return pieces[token % std::size(pieces)];
  }
};

// Both continue a text in several calls that end in different ways: the same bytes, in the same pieces, and the same state afterwards.
template <LanguageModelConfig config>
void check_texts(Check& check, const LanguageModel<config>& model, auto& cache, auto& logits, auto& workspace) {
  using InC = ModelInC<config>;
  InC by_library(model);
  const tinyattn_tokenizer tokenizer{config.vocabulary, nullptr, [](std::uint16_t token, std::size_t* size) {
                                       const std::string_view piece = Pieces::piece(token);
                                       return *size = piece.size(), piece.data();
                                     }};
  tinyattn_text text{};
  text.decoder = &by_library.decoder, text.tokenizer = &tokenizer, text.generator = {5, 0};
  text.cache = by_library.cache.data(), text.logits = by_library.logits.data(), text.scratch = by_library.scratch.data();
  Philox4x32 generator(5);
  cache.clear();
  const Sampling usual{.temperature = 1.5f, .top_k = 12, .top_p = 0.9f}, hot{.temperature = infinity}, cold{.temperature = 0.0f};
  const Token prompt[] = {0, 1, 1};
  const struct {
    std::size_t num_tokens;
    Generation options;
    std::size_t most_puts = 1000;
  } calls[] = {{3, {usual, 4, {}}}, {0, {hot, 0, Token{1}}}, {1, {hot, 0, {}}, 2},
               {2, {cold, 1, {}}},  {1, {usual, 80, {}}},    {1, {usual, 1, {}}}};
  for (const auto& [num_tokens, options, most_puts] : calls) {
    struct Written {
      std::size_t most_puts;
      std::string bytes = {};
      bool put(std::string_view piece) { return (bytes += piece) += '|', --most_puts != 0; }
    } expected{most_puts}, actual{most_puts};
    const auto [end, count] = generate(model, Pieces{}, TokenView(prompt, num_tokens), options, cache, logits, workspace, generator,
                                       [&](std::string_view piece) { return expected.put(piece); });
    const tinyattn_generation in_c{{options.sampling.temperature, options.sampling.top_k, options.sampling.top_p},
                                   options.max_tokens,
                                   options.stop.has_value(),
                                   options.stop.value_or(0)};
    const tinyattn_put put = [](void* to, const char* bytes, std::size_t size) { return static_cast<Written*>(to)->put({bytes, size}); };
    tinyattn_generation_result result{};
    check.equal(tinyattn_generate(&text, &in_c, prompt, num_tokens, put, &actual, &result), TINYATTN_OK);
    check.that(result.end == static_cast<tinyattn_generation_end>(end) && result.num_tokens == count);
    check.that(actual.bytes == expected.bytes && text.past == cache.size());
    check.same_bits(by_library.logits, logits);
  }
}

}  // namespace tinyattn::test
