// SPDX-License-Identifier: MIT
//
// Writes a paragraph as Jane Austen might have, one token at a time, and then the checksum that every machine prints, of the probabilities
// from which each token was drawn. The model lies in flash: model.h, 214 KB.
#include <tinyattn.h>

#include "crc32.h"
#include "model.h"

const char prompt[] = "It is a truth";
const size_t enough = 300;  // characters, after which the text ends with a sentence
const size_t longest = 400;
const size_t width = 80;  // of a line, which is broken at the first space from this column on
const tinyattn_sampling sampling = {0.7f, 0, 0.9f};

uint16_t tokens[sizeof prompt];  // of the prompt, after the token with which every text begins
size_t past = 0;                 // tokens in the cache
size_t characters = 0;           // written so far
tinyattn_philox generator = {3, 0};
uint32_t checksum = 0;
bool goesOn = false;

uint32_t cache[TINYATTN_INT8_CACHE(num_layers, num_kv_heads, head_dim, window)];
float scratch[TINYATTN_DECODER_SCRATCH(d_model, d_hidden, head_dim) +
              TINYATTN_CACHE_INTEGERS(TINYATTN_MORE(d_model, d_hidden), head_dim, window)];
float logits[vocabulary_size];

// Returns whether a piece is the concatenation of two others.
bool isMergedOf(const char* piece, const char* left, const char* right) {
  for (; *left != 0; ++left, ++piece)
    if (*piece != *left) return false;
  while (*piece != 0 && *piece == *right) {
    ++piece;
    ++right;
  }
  return *piece == *right;
}

// Returns the token into which two pieces merge; vocabulary_size if there is none.
uint16_t merged(const char* left, const char* right) {
  uint16_t token = 0;
  while (token < vocabulary_size && !isMergedOf(pieces[token], left, right)) ++token;
  return token;
}

// Encodes the prompt into tokens[0 .. count): its characters, of which repeatedly the two are merged that make the lowest token. Returns
// whether the model knows all characters.
bool encode(size_t& count) {
  tokens[0] = begin_of_text;
  for (count = 1; count < sizeof prompt; ++count) {
    const char character[] = {prompt[count - 1], 0};
    tokens[count] = merged("", character);
    if (tokens[count] == vocabulary_size) return false;
  }
  for (;;) {
    uint16_t lowest = vocabulary_size;
    size_t place = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      const uint16_t token = merged(pieces[tokens[i]], pieces[tokens[i + 1]]);
      if (token < lowest) {
        lowest = token;
        place = i;
      }
    }
    if (lowest == vocabulary_size) return true;
    tokens[place] = lowest;
    --count;
    for (size_t i = place + 1; i < count; ++i) tokens[i] = tokens[i + 1];
  }
}

void put(char character) {
  static size_t column = 0;
  const bool ends = character == '\n' || (character == ' ' && column >= width);
  Serial.print(ends ? '\n' : character);
  column = ends ? 0 : column + 1;
}

bool readTokens(const uint16_t* first, size_t count) {
  const tinyattn_status status = tinyattn_decoder_forward(&model, past, first, count, cache, logits, scratch);
  past += count;
  return status == TINYATTN_OK;
}

// Returns whether the paragraph ends after this character: each paragraph of the training text is one line.
bool endsParagraph(char character) {
  return character == '\n' || (characters >= enough && (character == '.' || character == '!' || character == '?'));
}

// Writes a piece, up to the end of the paragraph. Returns whether the paragraph continues.
bool putPiece(const char* piece) {
  for (; *piece != 0; ++piece) {
    put(*piece);
    ++characters;
    if (endsParagraph(*piece) || characters == longest) return false;
  }
  return true;
}

// Draws a token, prints it and reads it. Returns whether the paragraph continues.
bool writeOne() {
  uint16_t token = 0;
  if (tinyattn_sample(&sampling, vocabulary_size, logits, &generator, &token) != TINYATTN_OK) return false;
  checksum = crc32(checksum, logits, vocabulary_size);
  const bool isOpen = putPiece(pieces[token]);
  return readTokens(&token, 1) && isOpen;
}

void setup() {
  Serial.begin(115200);
  while (!Serial && millis() < 3000) {
  }
  size_t count = 0;
  if (sizeof prompt == 1) {
    Serial.println("The prompt is empty.");
  } else if (!encode(count)) {
    Serial.println("The prompt has a character that the model has never read.");
  } else {
    for (const char* character = prompt; *character != 0; ++character) put(*character);
    goesOn = readTokens(tokens, count);
  }
}

void loop() {
  if (!goesOn) return;
  goesOn = writeOne();
  if (goesOn) return;
  Serial.print("\n\ncharacters       ");
  Serial.println(characters);
  Serial.print("crc32 of draws   ");
  Serial.println(crc32(checksum, logits, vocabulary_size), HEX);
}
