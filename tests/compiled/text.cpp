// SPDX-License-Identifier: MIT
//
// Compares texts of tinyattn_generate with those of `generate` by the LanguageModel of the same weights, on the port that the library
// chooses.
#include "described.hpp"
#include "tinyattn/generate.hpp"
#include "tinyattn/tokenizer.hpp"
#include "tinyattn/tokenizer_for_c.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Pieces that hold characters, parts of them, bytes that are part of none, and one that is no text.
constexpr std::string_view pieces[19] = {"",      "\xc3", "\xa9", "\xe2\x82", "\xac", "\xf0\x9f", "\x98",      "\x80", "\xff", " the",
                                         "a\xc3", "b",    "c",    "d",        "e",    "f",        "\xa9g\xe2", "h",    "i"};

struct Pieces {
  static constexpr std::string_view piece(Token token) { return pieces[token]; }
};

const char* piece(uint16_t token, std::size_t* size) {
  *size = pieces[token].size();
  return pieces[token].data();
}
template <LanguageModelConfig config>
constexpr tinyattn_tokenizer tokenizer = {config.vocabulary, nullptr, piece};

// What was put out, a line for each call, up to a number of calls.
struct Written {
  std::string text = {};
  std::size_t calls = 0, most = 1000;

  bool put(std::string_view bytes) {
    (text += bytes) += '\n';
    return ++calls < most;
  }
};
bool put(void* written, const char* text, std::size_t size) { return static_cast<Written*>(written)->put({text, size}); }

// The function for these weights and this cache.
template <LanguageModelConfig config>
constexpr auto generate_in_c = has_int8_cache<config> ? tinyattn_generate_int8_cache
                               : is_int8<config>      ? tinyattn_generate_int8
                                                      : tinyattn_generate;

// A text in C, and all that it needs.
template <LanguageModelConfig config>
struct InC {
  std::vector<float> cache = std::vector<float>(cache_of<config>(&both().decoder)),
                     scratch = std::vector<float>(scratch_of<config>(&both().decoder)), logits = std::vector<float>(config.vocabulary);
  tinyattn_text text = {.decoder = &both().decoder,
                        .tokenizer = &tokenizer<config>,
                        .cache = has_int8_cache<config> ? nullptr : cache.data(),
                        .int8_cache = has_int8_cache<config> ? reinterpret_cast<std::uint32_t*>(cache.data()) : nullptr,
                        .logits = logits.data(),
                        .scratch = scratch.data(),
                        .past = 0,
                        .generator = {5, 0}};

  static const Described<config>& both() {
    static const Described<config> described;
    return described;
  }
};

constexpr Sampling hot = {.temperature = infinity}, cold = {.temperature = 0.0f}, usual = {.temperature = 1.5f, .top_k = 12, .top_p = 0.9f};

// Calls that follow one another, each with a prompt of the first so many of these tokens.
constexpr Token prompt[] = {1, 2, 10, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
constexpr struct {
  std::size_t num_tokens;
  Generation options;
  std::size_t most_calls;
} conversation[] = {{3, {usual, 4, {}}, 1000}, {0, {hot, 3, Token{5}}, 1000},  {1, {hot, 0, {}}, 2},       {2, {cold, 1, {}}, 1000},
                    {21, {hot, 2, {}}, 1000},  {0, {hot, 60, Token{3}}, 1000}, {1, {usual, 30, {}}, 1000}, {1, {usual, 30, {}}, 1000}};

// Returns a bit for each end that the conversation had.
template <LanguageModelConfig config>
unsigned converses_the_same(Check& check) {
  using Model = LanguageModel<config>;
  const Model& model = InC<config>::both().model;
  InC<config> in_c;
  static typename Model::Cache cache;
  typename Model::Cache::Workspace workspace;
  Vector<float, config.vocabulary> logits{};
  Philox4x32 generator(5);
  unsigned ends = 0;
  for (const auto& [num_tokens, options, most_calls] : conversation) {
    Written expected{.most = most_calls}, actual{.most = most_calls};
    const auto to_expected = [&](std::string_view bytes) { return expected.put(bytes); };
    const auto [end, num_drawn] =
        generate(model, Pieces{}, TokenView(prompt, num_tokens), options, cache, logits, workspace, generator, to_expected);
    const tinyattn_generation the_same = {.sampling = {options.sampling.temperature, options.sampling.top_k, options.sampling.top_p},
                                          .max_tokens = options.max_tokens,
                                          .has_stop = options.stop.has_value(),
                                          .stop = options.stop.value_or(0)};
    tinyattn_generation_result result = {};
    check.that(generate_in_c<config>(&in_c.text, &the_same, prompt, num_tokens, put, &actual, &result) == TINYATTN_OK);
    check.that(result.end == static_cast<tinyattn_generation_end>(end) && result.num_tokens == num_drawn);
    check.that(actual.text == expected.text && in_c.text.past == cache.size());
    check.same_bits(in_c.logits, logits);
    Philox4x32 next = generator, next_in_c(in_c.text.generator.seed, in_c.text.generator.stream);
    check.that(uniform(next, 0.0f, 1.0f) == uniform(next_in_c, 0.0f, 1.0f));
    ends |= 1u << result.end;
  }
  return ends;
}

constexpr unsigned stop = 1u << TINYATTN_END_STOP_TOKEN, long_enough = 1u << TINYATTN_END_MAX_TOKENS,
                   full = 1u << TINYATTN_END_CONTEXT_FULL, by_caller = 1u << TINYATTN_END_BY_CALLER;

void texts_are_the_same(Check& check) {
  const unsigned ends[] = {converses_the_same<llama>(check), converses_the_same<with_int8(llama)>(check),
                           converses_the_same<with_int8_cache(llama)>(check)};
  for (const unsigned of_one : ends) check.equal(of_one | stop, long_enough | by_caller | full | stop);
}

void texts_without_an_end_are_the_same(Check& check) {
  const unsigned ends[] = {converses_the_same<with_window(llama, 7)>(check), converses_the_same<with_int8(with_window(llama, 16))>(check),
                           converses_the_same<with_int8_cache(with_window(llama, 4))>(check)};
  for (const unsigned of_one : ends) check.equal(of_one, long_enough | by_caller | stop);
}

template <LanguageModelConfig config>
void ends_at_once(Check& check) {
  InC<config> in_c;
  Written written;
  const tinyattn_generation options = {.sampling = {}, .max_tokens = 2, .has_stop = false, .stop = 0};
  tinyattn_generation_result result = {TINYATTN_END_BY_CALLER, 9};
  const Token unknown[] = {1, config.vocabulary};
  const auto generate = [&](const Token* tokens, std::size_t count) {
    check.that(generate_in_c<config>(&in_c.text, &options, tokens, count, put, &written, &result) == TINYATTN_OK);
    return result.num_tokens == 0 ? 1u << result.end : 0;
  };
  check.equal(generate(unknown, 2), 1u << TINYATTN_END_UNKNOWN_TOKEN);
  check.that(in_c.text.past == 0 && written.text.empty());
  if constexpr (config.transformer.block.attention.window == 0) {
    check.that(generate(prompt, 21) == full && in_c.text.past == 0);
    in_c.text.past = 21;
    check.that(generate(prompt, 1) == full && in_c.text.past == 21 && written.text.empty());
  }
  in_c.text.past = 0;
  check.that(generate(prompt, 3) == 0 && result.num_tokens == 2 && in_c.text.past == 5);
}

// The number of tokens steps back by a multiple of the window where there are no positions, and a text ends where they do.
void counts_on(Check& check) {
  constexpr std::size_t large = SIZE_MAX / 2 - 1, window = 7;
  InC<with_window(llama, window)> in_c;
  Written written;
  const tinyattn_generation options = {.sampling = {}, .max_tokens = 3, .has_stop = false, .stop = 0};
  tinyattn_generation_result result = {};
  tinyattn_decoder decoder = *in_c.text.decoder;
  in_c.text.decoder = &decoder;
  in_c.text.past = (1u << 28) - 2;
  check.that(tinyattn_generate(&in_c.text, &options, prompt, 1, put, &written, &result) == TINYATTN_OK);
  check.that(result.end == TINYATTN_END_CONTEXT_FULL && result.num_tokens == 1 && in_c.text.past == 1u << 28);
  decoder.rotary = TINYATTN_NO_ROTARY;
  in_c.text.past = large;
  check.that(tinyattn_generate(&in_c.text, &options, prompt, 1, put, &written, &result) == TINYATTN_OK);
  check.that(result.num_tokens == 3 && in_c.text.past < large && in_c.text.past % window == (large + 4) % window);
}

// What must be refused, and must write nothing.
struct Call {
  tinyattn_text* text;
  tinyattn_generation* options;
  const Token* tokens;
  tinyattn_put put;
  tinyattn_generation_result* result;
};
template <LanguageModelConfig config>
void refuses(Check& check) {
  using Change = void (*)(Call & call, tinyattn_tokenizer & tokenizer, tinyattn_decoder & decoder);
  constexpr Change changes[] = {[](auto& call, auto&, auto&) { call.text = nullptr; },
                                [](auto& call, auto&, auto&) { call.options = nullptr; },
                                [](auto& call, auto&, auto&) { call.tokens = nullptr; },
                                [](auto& call, auto&, auto&) { call.put = nullptr; },
                                [](auto& call, auto&, auto&) { call.result = nullptr; },
                                [](auto& call, auto&, auto&) { call.text->decoder = nullptr; },
                                [](auto& call, auto&, auto&) { call.text->tokenizer = nullptr; },
                                [](auto& call, auto&, auto&) { call.text->cache = nullptr, call.text->int8_cache = nullptr; },
                                [](auto& call, auto&, auto&) { call.text->logits = nullptr; },
                                [](auto& call, auto&, auto&) { call.text->scratch = nullptr; },
                                [](auto& call, auto&, auto&) { call.options->sampling.temperature = -1.0f; },
                                [](auto& call, auto&, auto&) { call.options->sampling.top_p = quiet_nan; },
                                [](auto&, auto& tokenizer, auto&) { ++tokenizer.vocabulary; },
                                [](auto&, auto& tokenizer, auto&) { tokenizer.piece = nullptr; },
                                [](auto&, auto&, auto& decoder) { decoder.num_heads = 3; },
                                [](auto&, auto&, auto& decoder) { decoder.token_embedding = nullptr, decoder.token_codes = nullptr; }};
  for (const Change change : changes) {
    InC<config> in_c;
    std::fill(in_c.logits.begin(), in_c.logits.end(), 5.0f);
    const std::vector<float> logits = in_c.logits, cache = in_c.cache;
    tinyattn_tokenizer its_tokenizer = tokenizer<config>;
    tinyattn_decoder decoder = *in_c.text.decoder;
    tinyattn_generation options = {.sampling = {1.0f, 0, 1.0f}, .max_tokens = 2, .has_stop = false, .stop = 0};
    tinyattn_generation_result result = {TINYATTN_END_BY_CALLER, 9};
    in_c.text.tokenizer = &its_tokenizer;
    in_c.text.decoder = &decoder;
    Call call = {&in_c.text, &options, prompt, put, &result};
    Written written;
    change(call, its_tokenizer, decoder);
    check.that(generate_in_c<config>(call.text, call.options, call.tokens, 3, call.put, &written, call.result) == TINYATTN_BAD_ARGUMENT);
    check.that(in_c.text.past == 0 && in_c.text.generator.stream == 0 && in_c.logits == logits && in_c.cache == cache);
    check.that(written.calls == 0 && result.end == TINYATTN_END_BY_CALLER && result.num_tokens == 9);
  }
}

// The characters a, b and U+00E9, of two bytes; token 1 is no text.
constexpr TokenizerConfig table = {.kind = TokenizerKind::characters, .vocabulary = 4, .text_size = 4, .longest = 2, .num_pieces = 3};
constexpr Tokenizer<table> characters = {
    .text = "ab\303\251", .places = {{1, 0, 5, 10}}, .sorted = {{0, 2, 3}}, .lefts = {}, .ranks = {}, .hidden = {}};

extern "C" constexpr tinyattn_tokenizer characters_for_c = tokenizer_for_c<characters>;

void tokenizers_do_the_same(Check& check) {
  const auto encode = characters_for_c.encode;
  Token tokens[8] = {9};
  std::size_t count = 1, size = 9;
  check.that(characters_for_c.vocabulary == 4 && encode("a\303\251", 3, tokens, 5, &count) == TINYATTN_OK);
  check.that(count == 3 && tokens[0] == 9 && tokens[1] == 0 && tokens[2] == 3);
  check.that(encode("ab", 2, tokens, 5, &count) == TINYATTN_TOO_MANY_TOKENS && count == 3);
  check.that(encode("c", 1, tokens, 8, &count) == TINYATTN_UNKNOWN_TOKEN && count == 3);
  check.that(encode(nullptr, 0, tokens, 8, &count) == TINYATTN_OK && count == 3);
  check.that(encode(nullptr, 1, tokens, 8, &count) == TINYATTN_BAD_ARGUMENT && encode("a", 1, nullptr, 8, &count) == TINYATTN_BAD_ARGUMENT);
  check.that(encode("a", 1, tokens, 8, nullptr) == TINYATTN_BAD_ARGUMENT && count == 3);
  for (const Token token : {Token{0}, Token{1}, Token{2}, Token{3}, Token{4}}) {
    const char* const bytes = characters_for_c.piece(token, &size);
    check.that(std::string_view(bytes, size) == characters.piece(token));
  }
}

constexpr Test tests[] = {
    at_run_time("texts are those of generate, until the context is full", texts_are_the_same),
    at_run_time("texts are those of generate, without an end", texts_without_an_end_are_the_same),
    at_run_time("an unknown token and a prompt that is too long are not read",
                [](Check& check) {
                  ends_at_once<llama>(check);
                  ends_at_once<with_int8(llama)>(check);
                  ends_at_once<with_int8_cache(with_window(llama, 4))>(check);
                }),
    at_run_time("tokens are counted on, as far as there are positions", counts_on),
    at_run_time("what makes no sense is refused, and nothing is written",
                [](Check& check) {
                  refuses<llama>(check);
                  refuses<with_int8(llama)>(check);
                  refuses<with_int8_cache(llama)>(check);
                }),
    at_run_time("a tokenizer for C does what it does in C++", tokenizers_do_the_same),
};

}  // namespace

int main() { return run(tests); }
