// SPDX-License-Identifier: MIT
//
// Writes a paragraph as Jane Austen might have, a character at a time, and then the checksum of all logits that every machine prints. The
// model lies in flash: model.h, 185 KB.
#include <tinyattn.h>

#include "crc32.h"
#include "model.h"

const char prompt[] = "It is a truth";
const size_t enough = 300;  // characters, after which the text ends with a sentence
const size_t longest = 400;
const size_t width = 80;  // of a line, which is broken at the first space from this column on
const tinyattn_sampling sampling = {0.7f, 0, 0.9f};

uint16_t text[sizeof prompt + longest];
size_t length = 0;      // of the text, in tokens
size_t past = 0;        // tokens in the cache
size_t characters = 0;  // generated so far
tinyattn_philox generator = {1, 0};
uint32_t checksum = 0;
bool goesOn = false;

float cache[TINYATTN_DECODER_CACHE(num_layers, kv_width, context_length)];
float scratch[TINYATTN_DECODER_SCRATCH(d_model, d_hidden, context_length)];
float logits[vocabulary_size];

// Returns the token of a character; vocabulary_size if there is none.
uint16_t tokenOf(char character) {
  uint16_t token = 0;
  while (token < vocabulary_size && vocabulary[token] != character) ++token;
  return token;
}

// Returns why the model cannot read the prompt, or null.
const char* problem() {
  if (sizeof prompt == 1) return "The prompt is empty.";
  if (sizeof prompt - 1 > context_length) return "The prompt is longer than what the model sees.";
  for (const char* character = prompt; *character != 0; ++character)
    if (tokenOf(*character) == vocabulary_size) return "The prompt has a character that the model has never read.";
  return nullptr;
}

void put(uint16_t token) {
  static size_t column = 0;
  const bool ends = vocabulary[token] == '\n' || (vocabulary[token] == ' ' && column >= width);
  Serial.print(ends ? '\n' : vocabulary[token]);
  column = ends ? 0 : column + 1;
  text[length++] = token;
}

// Computes the logits after the last `unread` tokens of the text. If the cache has no room for them, reads half a context anew.
bool readText(size_t unread) {
  tinyattn_status status = tinyattn_decoder_forward(&model, past, text + length - unread, unread, cache, logits, scratch);
  if (status == TINYATTN_TOO_MANY_TOKENS) {
    past = 0;
    unread = context_length / 2;
    status = tinyattn_decoder_forward(&model, past, text + length - unread, unread, cache, logits, scratch);
  }
  past += unread;
  return status == TINYATTN_OK;
}

// Returns whether the paragraph ends after this character: in the training text it is one line.
bool endsParagraph(char character) {
  return character == '\n' || (characters >= enough && (character == '.' || character == '!' || character == '?'));
}

// Generates and prints one more character. Returns whether the paragraph continues.
bool writeOne() {
  uint16_t token = 0;
  if (!readText(characters == 0 ? length : 1)) return false;
  checksum = crc32(checksum, logits, vocabulary_size);
  ++characters;
  if (tinyattn_sample(&sampling, vocabulary_size, logits, &generator, &token) != TINYATTN_OK) return false;
  put(token);
  return !endsParagraph(vocabulary[token]) && characters < longest;
}

void setup() {
  Serial.begin(115200);
  while (!Serial && millis() < 3000) {
  }
  const char* sentence = problem();
  if (sentence != nullptr) {
    Serial.println(sentence);
    return;
  }
  for (const char* character = prompt; *character != 0; ++character) put(tokenOf(*character));
  goesOn = true;
}

void loop() {
  if (!goesOn) return;
  goesOn = writeOne();
  if (goesOn) return;
  Serial.print("\n\ncharacters       ");
  Serial.println(characters);
  Serial.print("crc32 of logits  ");
  Serial.println(checksum, HEX);
}
