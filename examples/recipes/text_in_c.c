/* SPDX-License-Identifier: MIT
 *
 * Text from C: a decoder and a tokenizer continue a prompt, and a callback receives the text as it
 * comes. A real decoder has exported weights in arrays, and its tokenizer is tokenizer_for_c.hpp's.
 * Here both are so small that they are written by hand: five characters, and weights that only say
 * which character follows which. */
#include "tinyattn/tinyattn_models.h"

enum { VOCABULARY = 5, WIDTH = VOCABULARY, WINDOW = 8, MOST = 40 };

static const char characters[VOCABULARY] = {'w', 'a', 'v', 'e', ' '};

static const char* piece(uint16_t token, size_t* size) {
  *size = 1;
  return characters + token;
}

static tinyattn_status encode(const char* text, size_t size, uint16_t* tokens, size_t room,
                              size_t* count) {
  if (size > room - *count) return TINYATTN_TOO_MANY_TOKENS;
  for (size_t i = 0; i < size; ++i) {
    uint16_t token = 0;
    while (token < VOCABULARY && characters[token] != text[i]) ++token;
    if (token == VOCABULARY) return TINYATTN_UNKNOWN_TOKEN;
    tokens[*count + i] = token;
  }
  *count += size;
  return TINYATTN_OK;
}

static const tinyattn_tokenizer tokenizer = {VOCABULARY, encode, piece};

static const float zeros[WIDTH * WIDTH] = {0}, ones[WIDTH] = {1, 1, 1, 1, 1};
static const float one_hot[VOCABULARY][WIDTH] = {
    {1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 0, 1}};
static const float successors[WIDTH][VOCABULARY] = {
    {0, 1}, {0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 0, 1}, {1}};

static const tinyattn_block block = {.attention_norm = {.weight = ones, .epsilon = 1e-5f},
                                     .query = {.weight = zeros},
                                     .key = {.weight = zeros},
                                     .value = {.weight = zeros},
                                     .feed_forward_norm = {.weight = ones, .epsilon = 1e-5f},
                                     .up = {.weight = zeros},
                                     .down = {.weight = zeros}};
static const tinyattn_decoder decoder = {.kind = &tinyattn_decoder_floats,
                                         .vocabulary = VOCABULARY,
                                         .context_length = WINDOW,
                                         .d_model = WIDTH,
                                         .d_hidden = WIDTH,
                                         .num_layers = 1,
                                         .num_heads = 1,
                                         .num_kv_heads = 1,
                                         .norm_first = true,
                                         .token_embedding = one_hot[0],
                                         .blocks = &block,
                                         .head = {.weight = successors[0]},
                                         .window = WINDOW};

static float cache[TINYATTN_DECODER_CACHE(1, WIDTH, WINDOW)], logits[VOCABULARY];
static float
    scratch[TINYATTN_DECODER_SCRATCH(WIDTH, WIDTH, TINYATTN_WINDOW_SCORES(WINDOW, WIDTH, 1))];
static tinyattn_text waves = {.decoder = &decoder,
                              .tokenizer = &tokenizer,
                              .cache = cache,
                              .logits = logits,
                              .scratch = scratch,
                              .generator = {.seed = 7}};

/* What was written. A device would print it, or send it. */
static char written[MOST];
static size_t num_written;

static bool take(void* context, const char* bytes, size_t size) {
  const size_t most = *(const size_t*)context;
  for (size_t i = 0; i < size && num_written < most; ++i) written[num_written++] = bytes[i];
  return num_written < most;
}

/* Continues the text so far and a prompt, by up to `max_tokens` tokens and until `most` bytes are
 * written. */
static tinyattn_status go_on(const char* prompt, size_t size, size_t max_tokens, size_t most,
                             tinyattn_generation_result* result) {
  const tinyattn_generation options = {.sampling = {.temperature = 0.7f, .top_k = 1, .top_p = 1},
                                       .max_tokens = max_tokens};
  uint16_t tokens[MOST];
  size_t count = 0;
  const tinyattn_status status = tokenizer.encode(prompt, size, tokens, MOST, &count);
  if (status != TINYATTN_OK) return status;
  return tinyattn_generate(&waves, &options, tokens, count, take, &most, result);
}

/* --- What it shows --- */
#include "claims.h"

static bool is_written(const char* expected) {
  for (size_t i = 0; i < num_written; ++i)
    if (expected[i] != written[i]) return false;
  return expected[num_written] == 0;
}

int main(void) {
  tinyattn_generation_result result = {TINYATTN_END_UNKNOWN_TOKEN, 0};
  claim("a prompt is continued", go_on("w", 1, 7, MOST, &result) == TINYATTN_OK);
  claim("the text has the tokens that were asked for", is_written("ave wav"));
  claim("and ends after so many", result.end == TINYATTN_END_MAX_TOKENS && result.num_tokens == 7);
  claim("without a prompt it goes on", go_on("", 0, 2, MOST, &result) == TINYATTN_OK);
  claim("where it was", is_written("ave wave ") && waves.past == 10);
  claim("until the callback ends it",
        go_on("wa", 2, 0, 20, &result) == TINYATTN_OK && result.end == TINYATTN_END_BY_CALLER);
  claim("also after the window", is_written("ave wave ve wave wav") && waves.past > WINDOW);
  claim("a character without a token is refused",
        go_on("sea", 3, 5, MOST, &result) == TINYATTN_UNKNOWN_TOKEN);
  return verdict();
}
