// SPDX-License-Identifier: MIT
//
// The functions that writer.html calls: they run the model of ../writer, and generate one character at a time.
#include <cstddef>
#include <cstdint>

#include "../support/checksum.hpp"
#include "../writer/arguments.hpp"
#include "../writer/paragraph.hpp"

namespace {

using namespace writer;

// The longest prompt: one that the model can attend to as a whole.
constexpr std::size_t longest = Model::context_length;

struct Session {
  Memory memory;
  Passage<longest + longest_paragraph> passage;
  tinyattn::Philox4x32 generator{1};
  tinyattn::Sampling sampling = writer::sampling;
  support::Checksum checksum;  // of all logits
  std::size_t unread = 0, characters = 0;
  bool ends = false;
};

Session session;
char prompt[longest];

}  // namespace

extern "C" {

const char* writer_vocabulary() { return vocabulary; }
int writer_parameters() { return static_cast<int>(Model::parameter_count); }
int writer_vocabulary_size() { return static_cast<int>(vocabulary_size); }
char* writer_prompt() { return prompt; }
int writer_longest_prompt() { return static_cast<int>(longest); }

// Starts a text with the first `length` characters of the prompt. Returns false if there are none, too many, or one that is not in
// the vocabulary.
bool writer_start(int length, unsigned seed, float temperature) {
  const std::size_t count = static_cast<std::size_t>(length);
  if (count == 0 || count > longest) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (token_of(prompt[i]) == vocabulary_size) return false;
  session = {};
  session.generator = tinyattn::Philox4x32{seed};
  session.sampling.temperature = temperature;
  session.passage.add(std::string_view{prompt, count});
  session.unread = count;
  return true;
}

// Generates the next character; returns 0 after the last one.
int writer_next() {
  if (session.ends || session.characters == longest_paragraph) return 0;
  if (read(session.passage.tokens(), session.unread, session.memory) != tinyattn::Status::ok) return 0;
  session.checksum.add(session.memory.logits.data(), vocabulary_size);
  const tinyattn::Token token = sample(session.memory.logits, session.sampling, session.generator);
  session.passage.add(token);
  session.unread = 1;
  session.ends = ends_paragraph(vocabulary[token], ++session.characters);
  return vocabulary[token];
}

// Returns the CRC-32 of all logits so far.
unsigned writer_checksum() { return session.checksum.value(); }
}
