// SPDX-License-Identifier: MIT
//
// Drawn encoders and decoders, and texts that a decoder reads in parts, up to the end of its context.
#pragma once

#include "parts.hpp"

#include <array>

namespace tinyattn::test {

// A model's blocks; query heads may share key heads.
struct DrawnBlocks {
  Size d_model, d_hidden, num_layers, num_heads, num_kv_heads;
  tinyattn_activation activation;
  bool norm_first;
  std::array<tinyattn_block, 2> blocks = {};

  Size head_dim() const { return d_model / num_heads; }
  Size kv_width() const { return head_dim() * num_kv_heads; }

  // Sets what encoders and decoders share.
  void describe_to(auto& model, const DrawnRotation& rotation) const {
    model.d_model = d_model, model.d_hidden = d_hidden, model.num_layers = num_layers;
    model.num_heads = num_heads, model.num_kv_heads = num_kv_heads;
    model.activation = activation, model.norm_first = norm_first, model.blocks = blocks.data();
    model.rotary = rotation.rotary, model.cosines = rotation.cosines, model.sines = rotation.sines;
  }
  // Replaces x by the output of all blocks.
  void compute_plainly(const plain::Rotation& rotation, const plain::Mask& mask, plain::Output x) const {
    for (Size i = 0; i < num_layers; ++i) {
      const tinyattn_block& block = blocks[i];
      plain::forward({plainly(block.attention_norm),
                      plainly(block, d_model, d_model, num_heads, num_kv_heads, rotation),
                      plainly(block.feed_forward_norm),
                      {plainly(block.up, d_model, d_hidden), plainly(block.gate, d_model, d_hidden), plainly(block.down, d_hidden, d_model),
                       static_cast<Activation>(activation)},
                      norm_first},
                     mask, x);
    }
  }
};
inline DrawnBlocks draw_blocks(Call& call, Kind kind) {
  Random& random = call.random;
  const Heads heads = draw_heads(random);
  const Size d_model = heads.count * heads.dim, d_hidden = random.size(40), layers = 1 + random.below(2);
  const Size kv_heads = random.divisor(heads.count), kv = kv_heads * heads.dim;
  const auto activation = static_cast<tinyattn_activation>(call.activation());
  DrawnBlocks drawn{d_model, d_hidden, layers, heads.count, kv_heads, activation, random.one_in(2)};
  const bool is_gated = random.one_in(2), has_output = random.one_in(2);
  const Numbers of_heads = random.one_in(10) ? Numbers::special : random.one_in(3) ? Numbers::large : Numbers::small;
  for (Size i = 0; i < drawn.num_layers; ++i) {
    tinyattn_block& block = drawn.blocks[i];
    block.attention_norm = draw_norm(call, d_model), block.feed_forward_norm = draw_norm(call, d_model);
    block.query = draw_linear(call, kind, d_model, d_model, of_heads);
    block.key = draw_linear(call, kind, d_model, kv, of_heads), block.value = draw_linear(call, kind, d_model, kv, of_heads);
    if (has_output) block.out_proj = draw_linear(call, kind, d_model, d_model);
    block.up = draw_linear(call, kind, d_model, d_hidden), block.down = draw_linear(call, kind, d_hidden, d_model);
    if (is_gated) block.gate = draw_linear(call, kind, d_model, d_hidden);
  }
  return drawn;
}

template <Kind kind>
void encoder(Call& call) {
  constexpr bool is_int8 = kind == Kind::int8;
  Random& random = call.random;
  const DrawnBlocks drawn = draw_blocks(call, kind);
  const Size tokens = random.size(50), d_model = drawn.d_model;
  const DrawnRotation rotation = draw_rotation(call, tokens, drawn.head_dim());
  const bool is_causal = random.one_in(2);
  tinyattn_encoder encoder{};
  encoder.kind = is_int8 ? &tinyattn_encoder_int8 : &tinyattn_encoder_floats;
  encoder.context_length = tokens, encoder.causal = is_causal;
  drawn.describe_to(encoder, rotation);
  if (drawn.num_kv_heads == drawn.num_heads && is_causal) encoder.num_kv_heads = 0;
  if (random.one_in(2)) encoder.final_norm = draw_norm(call, d_model);
  float *const x = call.input(tokens * d_model), *const out = call.in_place(x, tokens * d_model), *const from = random.one_of({x, out});
  const Size floats = tinyattn_encoder_scratch(&encoder), integers = TINYATTN_INTEGERS(tokens, TINYATTN_MORE(d_model, drawn.d_hidden));
  call.check(floats == TINYATTN_ENCODER_SCRATCH(d_model, drawn.kv_width(), drawn.d_hidden, tokens) + (is_int8 ? integers : 0),
             "a size differs from its macro");
  encoder.context_length += 7;  // fewer tokens need no more scratch
  float* const scratch = call.garbage(floats);
  call.makes([&] { return tinyattn_encoder_forward(&encoder, from, tokens, out, scratch); });
  call.refuses([&] { return tinyattn_encoder_forward(&encoder, x, encoder.context_length + 1, out, scratch); }, TINYATTN_TOO_MANY_TOKENS);
  call.gives(out, tokens, d_model, [&](plain::Output to) {
    plain::copy(matrix(x, tokens, d_model), to);
    drawn.compute_plainly(rotation.plainly(), {.is_causal = is_causal}, to);
    if (encoder.final_norm.weight != nullptr) plain::norm(to, plainly(encoder.final_norm), to);
  });
}

template <Kind kind>
constexpr const tinyattn_decoder_kind* decoder_kind = kind == Kind::f32    ? &tinyattn_decoder_floats
                                                      : kind == Kind::int8 ? &tinyattn_decoder_int8
                                                                           : &tinyattn_decoder_int8_cache;

// The scratch of a decoder as the macros count it.
inline Size scratch_in_c(Kind kind, const tinyattn_decoder& d) {
  const Size head_dim = d.d_model / d.num_heads, inputs = TINYATTN_MORE(d.d_model, d.d_hidden);
  if (kind == Kind::int8_cache)
    return TINYATTN_DECODER_SCRATCH(d.d_model, d.d_hidden, d.window == 0 ? 0 : head_dim) +
           TINYATTN_CACHE_INTEGERS(inputs, head_dim, d.window == 0 ? d.context_length : d.window);
  const Size scores = d.window == 0 ? d.context_length : TINYATTN_WINDOW_SCORES(d.window, head_dim, d.num_heads / d.num_kv_heads);
  return TINYATTN_DECODER_SCRATCH(d.d_model, d.d_hidden, scores) + (kind == Kind::f32 ? 0 : TINYATTN_INTEGERS(1, inputs));
}

// A decoder, a text that fills its context or runs over several windows, and its logits by plain loops.
template <Kind kind>
struct DrawnDecoder {
  Call& call;
  DrawnBlocks drawn = draw_blocks(call, kind);
  Size window = call.random.one_in(2) ? call.random.size(30) : 0;
  // Only a cache of int8 has a context much longer than its text: its sums then have room for fewer bits.
  Size context_length = window != 0 ? window : kind != Kind::int8_cache ? call.random.size() : std::min<Size>(call.random.length(), 1100);
  Size length = window != 0 ? 1 + call.random.below(5 * window + 4) : std::min(context_length, Random::any_size);
  Size vocabulary = call.random.size();
  DrawnRotation rotation = {};
  tinyattn_decoder decoder = {};
  const std::uint16_t* tokens = nullptr;
  tinyattn_linear embedding = {};

  explicit DrawnDecoder(Call& one_call) : call(one_call) {
    const bool has_positions = window == 0 && length == context_length && call.random.one_in(3);
    if (!has_positions) rotation = draw_rotation(call, std::max(length, context_length), drawn.head_dim(), window != 0);
    decoder.kind = decoder_kind<kind>;
    decoder.vocabulary = vocabulary, decoder.context_length = context_length, decoder.window = window;
    drawn.describe_to(decoder, rotation);
    decoder.speeds = rotation.speeds;
    if (has_positions) decoder.position_embedding = call.input(context_length * drawn.d_model);
    embedding = draw_linear(call, kind, drawn.d_model, vocabulary);  // of floats: [vocabulary, d_model]
    decoder.token_embedding = embedding.weight, decoder.token_codes = embedding.codes, decoder.token_scales = embedding.scales;
    if (call.random.one_in(2)) decoder.final_norm = draw_norm(call, drawn.d_model);
    if (call.random.one_in(2)) decoder.head = draw_linear(call, kind, drawn.d_model, vocabulary);
    tokens = call.elements<std::uint16_t>(length, [&] { return call.random.below(vocabulary); });
  }

  // Whether the text may be endless: any multiple of the window may then be added to `past` once the window is full.
  bool is_endless() const { return window != 0 && rotation.rotary == TINYATTN_NO_ROTARY; }
  Size counted_high(Size past) const { return is_endless() && past >= window ? past + (SIZE_MAX / 2 - past) / window * window : past; }

  float feature(Size token, Size j) const {
    if (kind == Kind::f32) return embedding.weight[token * drawn.d_model + j];
    const int code = embedding.codes[token * row_of_codes(drawn.d_model) + j];
    return plain::product(static_cast<float>(code - 128), embedding.scales[token]);
  }
  // Computes the logits after each token.
  void compute_plainly(plain::Output out) const {
    const Size d_model = drawn.d_model, pairs = drawn.head_dim() / 2;
    const plain::Matrix features(length, d_model), cosines(length, pairs), sines(length, pairs);
    const plain::Output x = features;
    for (Size i = 0; i < length; ++i)
      for (Size j = 0; j < d_model; ++j)
        x(i, j) = feature(tokens[i], j) + (decoder.position_embedding == nullptr ? 0.0f : decoder.position_embedding[i * d_model + j]);
    const Size int8_context = kind == Kind::int8_cache ? context_length : 0;
    drawn.compute_plainly(rotation.plainly(cosines, sines), {.is_causal = true, .window = window, .int8_context = int8_context}, x);
    if (decoder.final_norm.weight != nullptr) plain::norm(x, plainly(decoder.final_norm), x);
    const plain::Linear of_tokens = plainly(embedding, d_model, vocabulary);
    if (decoder.head.weight != nullptr || decoder.head.codes != nullptr)
      plainly(decoder.head, d_model, vocabulary)(x, out);
    else if (kind == Kind::f32)
      plain::matmul(x, matrix(embedding.weight, vocabulary, d_model).transposed(), out);
    else
      plain::matmul(x, of_tokens.codes, of_tokens.scales, out, nullptr);
  }
};

// Reads a text in parts: the logits are the same however it is divided.
template <Kind kind>
void read_in_parts(Call& call, const DrawnDecoder<kind>& drawn, plain::Input expected) {
  const tinyattn_decoder& decoder = drawn.decoder;
  const Size floats = tinyattn_decoder_scratch(&decoder), vocabulary = drawn.vocabulary;
  call.check(floats == scratch_in_c(kind, decoder), "a size differs from its macro");
  float *const cache = call.garbage(tinyattn_decoder_cache(&decoder)), *const scratch = call.garbage(floats);
  float* const logits = call.output(vocabulary);
  const auto read = [&](Size past, const std::uint16_t* tokens, Size count) {
    return tinyattn_decoder_forward(&decoder, drawn.counted_high(past), tokens, count, cache, logits, scratch);
  };
  for (Size past = 0; past < drawn.length;) {
    const Size count = call.random.one_in(2) ? 1 : 1 + call.random.below(drawn.length - past);
    call.makes([&] { return read(past, drawn.tokens + past, count); });
    past += count;
    call.gives(logits, 1, vocabulary, [&](plain::Output to) { plain::copy(expected.rows_from(past - 1).first_rows(1), to); });
  }
  const auto unknown = static_cast<std::uint16_t>(vocabulary);
  call.refuses([&] { return read(0, &unknown, 1); }, TINYATTN_UNKNOWN_TOKEN);
  if (drawn.window == 0) call.refuses([&] { return read(drawn.context_length, drawn.tokens, 1); }, TINYATTN_TOO_MANY_TOKENS);
  if (drawn.window == 0) call.refuses([&] { return read(1, drawn.tokens, SIZE_MAX); }, TINYATTN_TOO_MANY_TOKENS);
}
template <Kind kind>
void decoder(Call& call) {
  const DrawnDecoder<kind> drawn(call);
  if constexpr (has_twin)
    if (call.is_compared) {
      const plain::Matrix expected(drawn.length, drawn.vocabulary);
      drawn.compute_plainly(expected);
      return read_in_parts(call, drawn, expected);
    }
  read_in_parts(call, drawn, {});
}

// Samples tokens from logits with ties, -infinity and NaN, by one generator that goes on.
inline void sampling(Call& call) {
  Random& random = call.random;
  const Size count = random.size();
  const float unit = random.one_of({1.0f, 16.0f, 256.0f});
  float* const given = call.input(count, Numbers::special);
  for (Size i = 0; i < count; ++i) given[i] = random.one_in(4) ? given[random.below(i + 1)] : unit * given[i];
  if (random.one_in(4)) given[0] = quiet_nan;
  float *const logits = call.output(count), *const tokens = call.output(5);
  tinyattn_philox generator{random.below(1000), 0};
  std::uint16_t token = 0;
  call.makes([&] { return tinyattn_argmax(count, given, &token); });
  tokens[0] = token;
  for (Size i = 1; i < 5; ++i) {
    const float share = static_cast<float>(random.below(count)) / static_cast<float>(count);
    const tinyattn_sampling how{random.one_of({0.0f, 1e-3f, 0.5f, 1.0f, 3.0f, infinity}),
                                random.one_of<Size>({0, 1, random.below(count + 2), SIZE_MAX}),
                                random.one_of({0.0f, 0.1f, 0.7f, share, 0x1.fffffep-1f, 1.0f, infinity})};
    std::copy_n(given, count, logits);
    call.makes([&] { return tinyattn_sample(&how, count, logits, &generator, &token); });
    call.check(token < count, "a token is none of the logits'");
    call.takes(logits, count);
    tokens[i] = token;
  }
  call.takes(tokens, 5);
  const tinyattn_sampling cold{-1.0f, 0, 1.0f};
  call.refuses([&] { return tinyattn_sample(&cold, count, logits, &generator, &token); });
}

// Continues a text to the end of its context, or by two windows, and then by two more, during which the count of tokens must not overflow.
// Each token is drawn from the logits after the one before it.
template <Kind kind>
void generation(Call& call) {
  Random& random = call.random;
  const DrawnDecoder<kind> drawn(call);
  const tinyattn_decoder& decoder = drawn.decoder;
  float* const cache = call.garbage(tinyattn_decoder_cache(&decoder));
  tinyattn_tokenizer tokenizer{drawn.vocabulary, nullptr, [](std::uint16_t, std::size_t* size) {
                                 *size = 1;
                                 return "a";
                               }};
  tinyattn_text text{};
  text.decoder = &decoder, text.tokenizer = &tokenizer, text.cache = cache;
  text.scratch = call.garbage(tinyattn_decoder_scratch(&decoder)), text.logits = call.output(drawn.vocabulary);
  text.generator = {7, 0};
  tinyattn_generation options{};
  options.sampling = {random.one_of({0.0f, 0.7f, 1.5f}), random.below(5), random.one_of({1.0f, 0.9f})};
  const bool fills_context = drawn.window == 0 && drawn.length == drawn.context_length;
  options.max_tokens = fills_context ? 0 : drawn.window != 0 ? 2 * drawn.window : 10;
  tinyattn_generation_result result{};
  Size left = 1000;  // characters of a text that should have ended long before
  const auto put = [](void* context, const char*, std::size_t) { return --*static_cast<Size*>(context) != 0; };
  const auto generate = [&](Size prompt) { return tinyattn_generate(&text, &options, drawn.tokens, prompt, put, &left, &result); };
  const Size prompt = 1 + random.below(drawn.length);
  call.makes([&] { return generate(prompt); });
  call.check(result.end == (fills_context ? TINYATTN_END_CONTEXT_FULL : TINYATTN_END_MAX_TOKENS), "a text ends too soon");
  call.check(!fills_context || prompt + result.num_tokens == drawn.context_length, "a context is not filled");
  if (drawn.is_endless()) {
    text.past += (SIZE_MAX - 1 - text.past) / drawn.window * drawn.window;
    call.makes([&] { return generate(0); });
    call.check(result.end == TINYATTN_END_MAX_TOKENS, "a text without an end ends");
  }
  call.takes(text.logits, drawn.vocabulary);
  // Ends that do not depend on what is drawn: nothing is put out, or one character.
  const auto ends = [&](const std::uint16_t* tokens, Size count, tinyattn_generation_end expected) {
    if (!drawn.is_endless()) return;
    const Size past = text.past;
    call.makes([&] { return tinyattn_generate(&text, &options, tokens, count, put, &left, &result); });
    const bool is_read = expected != TINYATTN_END_UNKNOWN_TOKEN;
    call.check(result.end == expected && result.num_tokens == (is_read ? 1 : 0) && (text.past != past) == is_read,
               "a text has another end");
  };
  const auto unknown = static_cast<std::uint16_t>(drawn.vocabulary);
  ends(&unknown, 1, TINYATTN_END_UNKNOWN_TOKEN);
  options.sampling.temperature = 0;
  left = 1;
  ends(nullptr, 0, TINYATTN_END_BY_CALLER);
  options.has_stop = true;
  call.makes([&] { return tinyattn_argmax(drawn.vocabulary, text.logits, &options.stop); });
  left = 0;  // a single character would be too many
  ends(nullptr, 0, TINYATTN_END_STOP_TOKEN);
  tokenizer.vocabulary += 1;
  call.refuses([&] { return generate(0); });
}

}  // namespace tinyattn::test
