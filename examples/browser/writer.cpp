// SPDX-License-Identifier: MIT
//
// The functions that writer.html calls: they run the model of ../writer, one token at a time.
#include <cstddef>
#include <cstdint>

#include "../support/checksum.hpp"
#include "../writer/arguments.hpp"
#include "../writer/paragraph.hpp"

namespace {

using namespace writer;

struct Session {
  Memory memory;
  tinyattn::Philox4x32 generator{1};
  tinyattn::Generation generation = {.sampling = writer::generation.sampling, .max_tokens = 1};
  support::Checksum checksum;  // of the probabilities from which each token was drawn
  Paragraph paragraph;
  std::string_view text;  // of the last token
};

Session session;
char prompt[longest_prompt];

}  // namespace

extern "C" {

int writer_parameters() { return static_cast<int>(Model::parameter_count); }
int writer_layers() { return static_cast<int>(config.transformer.num_layers); }
char* writer_prompt() { return prompt; }
int writer_longest_prompt() { return static_cast<int>(longest_prompt); }
bool writer_is_known(int character) { return character > 0 && character < 128 && is_known(static_cast<char>(character)); }

// Starts a text with the first `length` characters of the prompt, which must all be known; ends it with the paragraph, or never.
void writer_start(int length, unsigned seed, float temperature, bool is_for_ever) {
  session = {};
  session.generator = tinyattn::Philox4x32{seed};
  session.generation.sampling.temperature = temperature;
  session.paragraph.is_for_ever = is_for_ever;
  auto& [cache, workspace, logits] = session.memory;
  Token tokens[longest_prompt + 2] = {beginning};
  std::size_t count = 1;
  static_cast<void>(tokenizer.encode({prompt, static_cast<std::size_t>(length)}, tokens, count));
  static_cast<void>(weights::model.forward({tokens, count}, cache, logits, workspace));
}

// Generates the next token. Returns the size of its text, writer_text(); 0 after the last one.
int writer_next() {
  if (!session.paragraph.goes_on()) return 0;
  auto& [cache, workspace, logits] = session.memory;
  const auto put = [&](std::string_view text) {
    session.checksum.add(session.memory.logits.data(), vocabulary_size);
    session.text = session.paragraph.add(text);
    return true;
  };
  generate(weights::model, tokenizer, {}, session.generation, cache, logits, workspace, session.generator, put);
  return static_cast<int>(session.text.size());
}

const char* writer_text() { return session.text.data(); }
int writer_characters() { return static_cast<int>(session.paragraph.characters); }

// Returns the CRC-32 of all probabilities so far, and of the logits of the next token.
unsigned writer_checksum() {
  support::Checksum checksum = session.checksum;
  checksum.add(session.memory.logits.data(), vocabulary_size);
  return checksum.value();
}
}
