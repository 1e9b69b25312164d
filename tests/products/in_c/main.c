/* SPDX-License-Identifier: MIT
 *
 * A firmware in C99 with exported models: a layer, encoders and decoders, with floats and with int8. It is linked from this file, the files
 * that the exporter wrote, and src/library.cpp. Compares outputs with PyTorch's; ../export has those of the C++ headers, bit for bit. */
#include "../../examples/recipes/claims.h"
#include "decoder.h"
#include "decoder_int8.h"
#include "encoder.h"
#include "encoder_int8.h"
#include "expected.h"
#include "layer.h"

enum { MOST = 256 };

static float out[MOST], cache[DECODER_CACHE];

/* Scratch for the largest model, shared as in a firmware. */
static union {
  float of_layer[LAYER_SCRATCH], of_encoder[ENCODER_SCRATCH], of_encoder_int8[ENCODER_INT8_SCRATCH];
  float of_decoder[DECODER_SCRATCH], of_decoder_int8[DECODER_INT8_SCRATCH];
} scratch;

static float magnitude(float x) { return x < 0 ? -x : x; }

/* Whether all outputs are there, and near: within a part of the largest. */
static bool is_near(const float* expected, size_t count, float part) {
  float largest = 0, error = 0;
  for (size_t i = 0; i < count; ++i) {
    const float difference = magnitude(out[i] - expected[i]);
    if (!(difference <= error)) error = difference;
    if (magnitude(expected[i]) > largest) largest = magnitude(expected[i]);
  }
  return error <= part * largest;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define JUDGE(name, part) claim(#name " as PyTorch", COUNT(name##_output) <= MOST && is_near(name##_output, COUNT(name##_output), part))

/* Writes the logits after each token. */
static bool read(const tinyattn_decoder* decoder, const uint16_t* tokens, size_t count, float* its_scratch) {
  bool is_ok = true;
  for (size_t i = 0; i < count; ++i)
    is_ok = is_ok && tinyattn_decoder_forward(decoder, i, tokens + i, 1, cache, out + i * decoder->vocabulary, its_scratch) == TINYATTN_OK;
  return is_ok;
}

int main(void) {
  claim("layer", tinyattn_forward(&layer, LAYER_CONTEXT_LENGTH, layer_input, out, scratch.of_layer) == TINYATTN_OK);
  JUDGE(layer, 4e-6f);
  claim("encoder", tinyattn_encoder_forward(&encoder, encoder_input, ENCODER_CONTEXT_LENGTH, out, scratch.of_encoder) == TINYATTN_OK);
  JUDGE(encoder, 8e-6f);
  claim("encoder_int8", tinyattn_encoder_forward(&encoder_int8, encoder_int8_input, ENCODER_INT8_CONTEXT_LENGTH, out,
                                                 scratch.of_encoder_int8) == TINYATTN_OK);
  JUDGE(encoder_int8, 2e-4f);
  claim("decoder", read(&decoder, decoder_input, COUNT(decoder_input), scratch.of_decoder));
  JUDGE(decoder, 8e-6f);
  claim("decoder_int8", read(&decoder_int8, decoder_int8_input, COUNT(decoder_int8_input), scratch.of_decoder_int8));
  JUDGE(decoder_int8, 1e-3f);
  return verdict();
}
