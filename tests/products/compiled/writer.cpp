// SPDX-License-Identifier: MIT
//
// Firmware that continues a text: with -DTEXT by tinyattn_generate, else token by token, without waiting for whole characters.
#include "tinyattn/tinyattn_models.h"

namespace {

// Returns a struct of which one member is set.
template <class Struct, class Member>
constexpr Struct with(Member Struct::*member, Member value) {
  Struct result{};
  result.*member = value;
  return result;
}

constexpr tinyattn_decoder decoder = with(&tinyattn_decoder::kind, &tinyattn_decoder_floats);
tinyattn_text text = with(&tinyattn_text::decoder, &decoder);
tinyattn_generation options;
volatile char console;

bool put(void*, const char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) console = bytes[i];
  return true;
}

}  // namespace

extern "C" void entry() {
  asm volatile("" : : "r"(&text), "r"(&options) : "memory");
  uint16_t token = 0;
#ifdef TEXT
  tinyattn_generation_result result;
  if (tinyattn_generate(&text, &options, &token, 1, put, nullptr, &result) != TINYATTN_OK) return;
#else
  for (size_t i = 0; i < options.max_tokens; ++i) {
    if (tinyattn_decoder_forward(text.decoder, text.past++, &token, 1, text.cache, text.logits, text.scratch) != TINYATTN_OK) return;
    if (tinyattn_sample(&options.sampling, text.decoder->vocabulary, text.logits, &text.generator, &token) != TINYATTN_OK) return;
    size_t size = 0;
    const char* const piece = text.tokenizer->piece(token, &size);
    if (!put(nullptr, piece, size)) return;
  }
#endif
}
