// SPDX-License-Identifier: MIT
//
// Text from a language model: when it ends, what the cache holds afterwards, and bytes that become characters. ../../answers/layers.cpp
// compares texts with those of the compiled library, and answers.cpp these with plain loops.
#include "tinyattn/generate.hpp"

#include "catalogue/draw.hpp"
#include "catalogue/workloads.hpp"

namespace tinyattn::test { namespace {

// Every token is a letter, except the last, which has no text.
struct Letters {
  static constexpr char letters[] = "abcdefghijklmnopqr";
  static constexpr std::string_view piece(Token token) { return token < 18 ? std::string_view(letters + token, 1) : ""; }
};

// Collects a text, up to a number of bytes.
struct Written {
  char text[64];
  std::size_t size = 0, most = 64, calls = 0;

  constexpr auto put() {
    return [this](std::string_view bytes) {
      ++calls;
      for (const char byte : bytes) text[size++] = byte;
      return size < most;
    };
  }
  constexpr std::string_view view() const { return {text, size}; }
};

template <LanguageModelConfig config>
struct Writer {
  using Model = LanguageModel<config>;

  Model model = drawn<Model>(1);
  typename Model::Cache cache{};
  typename Model::Cache::Workspace workspace{};
  Vector<float, config.vocabulary> logits{};
  Philox4x32 generator{5};

  constexpr GenerationResult operator()(TokenView prompt, const Generation& options, Written& to) {
    return generate(model, Letters{}, prompt, options, cache, logits, workspace, generator, to.put());
  }
};

constexpr Token prompt[] = {1, 2, 3};
constexpr Generation hot{.sampling = {.temperature = 2.0f}};

void check_ends(Check& check) {
  static Writer<with_window(llama, 4)> writer;
  Written written;
  constexpr Token unknown[] = {1, 19};
  check.that(writer(unknown, hot, written) == GenerationResult{GenerationEnd::unknown_token, 0} && writer.cache.size() == 0);
  Generation options = hot;
  options.max_tokens = 20;
  check.that(writer(prompt, options, written) == GenerationResult{GenerationEnd::max_tokens, 20} && writer.cache.size() == 23);
  options.stop = argmax(writer.logits);
  options.sampling.temperature = 0;
  const std::size_t size = written.size;
  check.that(writer({}, options, written) == GenerationResult{GenerationEnd::stop_token, 1});
  check.that(written.size == size && writer.cache.size() == 24);
  written.most = size + 2;
  options = {.sampling = {.temperature = infinity}};
  const GenerationResult result = writer(prompt, options, written);
  check.that(result.end == GenerationEnd::by_caller && written.size == size + 2 && writer.cache.size() == 27 + result.num_tokens);
}

// A text may end within a character.
void check_cut_character(Check& check) {
  struct Cut {
    static constexpr std::string_view piece(Token) { return "\xe2\x82"; }
  };
  static Writer<llama> writer;
  Written written;
  generate(writer.model, Cut{}, prompt, {.max_tokens = 1}, writer.cache, writer.logits, writer.workspace, writer.generator, written.put());
  check.that(written.view() == "\xe2\x82");
}

// Bytes one by one, and all in one call, are put out in whole characters.
constexpr void check_characters(Check& check) {
  constexpr std::string_view texts[] = {"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", "\xc3z\xe2\x82z\x80\xff", "\xe2\x82\xc3\xa9\xf0\x9f\x98",
                                        "\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\xe0\x80\x80\xf0\x80\x80\x80"};
  constexpr std::size_t num_puts[] = {5, 6, 3, 16};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t step = 1; step <= 16; ++step) {
      Written written{};
      detail::CharacterStream characters;
      for (std::string_view rest = texts[i]; !rest.empty();) {
        const std::size_t count = step < rest.size() ? step : rest.size();
        characters.write({rest.data(), count}, written.put());
        rest.remove_prefix(count);
      }
      characters.flush(written.put());
      check.that(written.view() == texts[i] && (step != 1 || written.calls == num_puts[i]));
    }
}

constexpr Test tests[] = {
    at_run_time("a text ends at the stop token, at so many tokens, and when the caller says so", check_ends),
    at_run_time("bytes at the end of a text that are no whole character are put out", check_cut_character),
    everywhere("bytes are put out in whole characters", check_characters),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
