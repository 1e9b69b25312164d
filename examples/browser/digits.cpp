// SPDX-License-Identifier: MIT
//
// The functions that digits.html calls: they run the model of ../digits, return its attention weights, and train its last layer. The page
// reads and writes the arrays in place.
#include <array>

#include "../digits/lesson.hpp"
#include "../digits/model.hpp"
#include "../digits/score.hpp"

namespace {

using namespace digits;

Image drawn;
Logits logits;
tinyattn::Tensor<float, num_heads, num_tokens, num_tokens> attention;
Scratch scratch;
Score score;

Lesson lesson;
std::array<Image, num_samples> taught;
std::array<std::size_t, num_samples> taught_digits;
std::size_t num_taught;

void teach(const Image& image, std::size_t digit) {
  if (num_taught == num_samples) return;
  taught[num_taught] = image;
  taught_digits[num_taught++] = digit;
}

}  // namespace

extern "C" {

int digits_parameters() { return static_cast<int>(parameter_count); }
// The image to read: 8 x 8 pixels, 0 is white, 1 is black.
float* digits_image() { return drawn.data(); }
// The logits of digits_read, one for each digit.
const float* digits_logits() { return logits.data(); }
// Attention weights [head, query row, key row].
const float* digits_attention() { return attention.data(); }

// Returns the predicted digit.
int digits_read() {
  logits = classify(drawn, scratch, lesson.head);
  weights::attention.forward_with_weights(scratch.x, scratch.attended, attention, scratch.attention);
  return static_cast<int>(argmax(logits));
}

int digits_num_held_out() { return static_cast<int>(num_images); }
// Copies one of the held-out images to digits_image(). Returns its label.
int digits_take_held_out(int index) {
  const std::size_t image = static_cast<std::size_t>(index) % num_images;
  for (std::size_t i = 0; i < num_tokens; ++i)
    for (std::size_t j = 0; j < row_pixels; ++j) drawn(i, j) = static_cast<float>(held_out::pixels(image, i, j)) / 16.0f;
  return held_out::labels(image);
}

// Discards all training on the page; called before all else.
void digits_forget() {
  start(lesson);
  num_taught = 0;
}
// Adds the image as an example of a digit, unless there are already 100. Returns the number of examples.
int digits_teach(int digit) {
  teach(drawn, static_cast<std::size_t>(digit));
  return static_cast<int>(num_taught);
}
// Replaces the examples by the images of the hand that boards learn. Returns their number.
int digits_take_hand() {
  digits_forget();
  for (std::size_t i = 0; i < num_samples; ++i) teach(image_at(hand::pixels, i), hand::labels(i));
  return static_cast<int>(num_taught);
}
// Trains on each example once, followed each time by an image from the original training set. Returns the mean loss.
float digits_learn() {
  float loss = 0.0f;
  for (std::size_t i = 0; i < num_taught; ++i) {
    loss += learn(lesson, taught[i], taught_digits[i]);
    learn(lesson, image_at(hand::known_pixels, i), hand::known_labels(i));
  }
  return loss / static_cast<float>(num_taught);
}
// Returns how many examples, and how many held-out images, are predicted right.
int digits_taught_right() {
  int right = 0;
  for (std::size_t i = 0; i < num_taught; ++i) right += argmax(classify(taught[i], scratch, lesson.head)) == taught_digits[i] ? 1 : 0;
  return right;
}
int digits_held_out_right() { return static_cast<int>(read_first_tests(lesson).right); }
// Returns the CRC-32 of the last layer's weights, which every board prints after learning its hand.
unsigned digits_weights_checksum() { return checksum_of(lesson.head); }

// Returns the CRC-32 of the logits of all held-out images, which every board prints.
unsigned digits_checksum() {
  score = {};
  score_images(score, scratch);
  return score.checksum.value();
}
}
