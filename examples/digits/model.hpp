// SPDX-License-Identifier: MIT
//
// The model that train.py trains: a digit of 8 x 8 pixels is a sequence of 8 tokens, its rows. In attention each row
// attends to all rows; a residual connection adds the row itself; a linear layer maps all rows together to the logits.
#pragma once

#include <cstddef>
#include <type_traits>

#include "tinyattn/tinyattn.hpp"

#ifdef DIGITS_INT8  // the program digits_int8
#include "weights_int8.hpp"
#else
#include "weights.hpp"
#endif

namespace digits {

inline constexpr std::size_t num_tokens = 8;
inline constexpr std::size_t row_pixels = 8;
inline constexpr std::size_t width = 32;
inline constexpr std::size_t num_heads = 4;
inline constexpr std::size_t num_classes = 10;

using Image = tinyattn::Matrix<float, num_tokens, row_pixels>;  // 0 is white, 1 is black
using Hidden = tinyattn::Matrix<float, num_tokens, width>;
using Logits = tinyattn::Vector<float, num_classes>;
using Attention = std::remove_const_t<decltype(weights::attention)>;
using Classifier = std::remove_const_t<decltype(weights::classifier)>;

inline constexpr std::size_t parameter_count = weights::position.size() + Attention::parameter_count +
                                               decltype(weights::shortcut)::parameter_count +
                                               decltype(weights::classifier)::parameter_count;
inline constexpr std::size_t parameter_bytes = sizeof(weights::position) + Attention::parameter_bytes +
                                               decltype(weights::shortcut)::parameter_bytes +
                                               decltype(weights::classifier)::parameter_bytes;
#ifdef DIGITS_INT8
inline constexpr bool is_int8 = true;
#else
inline constexpr bool is_int8 = false;
#endif

// The activations between layers, and the attention layer's scratch.
struct Scratch {
  Image x;
  Hidden attended;
  Hidden shortcut;
  Attention::Workspace attention;
};
static_assert(sizeof(Scratch) <= 8 * 1024);
static_assert(Attention::head_dim * num_heads == width);

// Computes the frozen layers, all those before the classifier: returns scratch.attended, whose rows are the classifier's input as one row.
constexpr tinyattn::MatrixView<const float, 1, Hidden::size(), Hidden::size()> features(const Image& image, Scratch& scratch) {
  add(image, weights::position, scratch.x);
  weights::attention.forward(scratch.x, scratch.attended, scratch.attention);
  weights::shortcut.forward(scratch.x, scratch.shortcut);
  add(scratch.attended, scratch.shortcut, scratch.attended);
  relu(scratch.attended, scratch.attended);
  return tinyattn::MatrixView<const float, 1, Hidden::size(), Hidden::size()>{scratch.attended.data()};
}

// Returns a logit for each digit; the largest is the prediction.
constexpr Logits classify(const Image& image, Scratch& scratch, const Classifier& classifier = weights::classifier) {
  return row(classifier(features(image, scratch)), 0);
}

}  // namespace digits
