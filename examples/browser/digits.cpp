// SPDX-License-Identifier: MIT
//
// The functions that digits.html calls: they run the model of ../digits, and return its attention weights. The page reads and
// writes the arrays in place.
#include "../digits/model.hpp"
#include "../digits/score.hpp"

namespace {

using namespace digits;

Image drawn;
Logits logits;
tinyattn::Tensor<float, num_heads, num_tokens, num_tokens> attention;
Scratch scratch;
Score score;

}  // namespace

extern "C" {

int digits_parameters() { return static_cast<int>(parameter_count); }
// The image to read: 8 x 8 pixels, 0 is white, 1 is black.
float* digits_image() { return drawn.data(); }
// The scores that digits_read computed, one for each digit.
const float* digits_logits() { return logits.data(); }
// Attention weights [head, query row, key row].
const float* digits_attention() { return attention.data(); }

// Returns the digit that the image is read as.
int digits_read() {
  logits = classify(drawn, scratch);
  weights::attention.forward_with_weights(scratch.x, scratch.attended, attention, scratch.attention);
  return static_cast<int>(argmax(logits));
}

int digits_num_held_out() { return static_cast<int>(num_images); }
// Copies one of the images that took no part in training to digits_image(). Returns its label.
int digits_take_held_out(int index) {
  const std::size_t image = static_cast<std::size_t>(index) % num_images;
  for (std::size_t i = 0; i < num_tokens; ++i)
    for (std::size_t j = 0; j < row_pixels; ++j) drawn(i, j) = static_cast<float>(held_out::pixels(image, i, j)) / 16.0f;
  return held_out::labels(image);
}

// Returns the CRC-32 of the logits of all these images, which every board prints.
unsigned digits_checksum() {
  score = {};
  score_images(score, scratch);
  return score.checksum.value();
}
}
