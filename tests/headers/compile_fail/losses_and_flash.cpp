// SPDX-License-Identifier: MIT
//
// Losses, and checkpoints in flash.
#include "tinyattn/training.hpp"

using namespace tinyattn;

struct NoRead {
  void erase(std::size_t slot);
  void write(std::size_t slot, std::size_t offset, std::span<const std::byte> bytes);
};
struct Flash : NoRead {
  void read(std::size_t slot, std::size_t offset, std::span<std::byte> bytes);
};
struct WithTokens {
  Vector<Token, 3> tokens;
  using Parts = Parameters<&WithTokens::tokens>;
};

constexpr TransformerConfig body{
    .block = {.attention = {.d_in = 4, .d_out = 4, .context_length = 6}, .feed_forward = {.d_model = 4, .d_hidden = 8}}, .num_layers = 2};

extern Matrix<float, 2, 5> logits;
extern const Matrix<float, 2, 5> constant;
extern Matrix<float, 2, 4> narrow;
extern Matrix<float, 1, 65536> large_vocabulary;
extern Matrix<Token, 2, 5> tokens;
extern Vector<Token, 2> targets;
extern Vector<Token, 3> three_targets;
extern Linear<4, 3> linear;
extern const Linear<4, 3> constant_linear;
extern Flash flash;
extern NoRead flash_without_read;

// --- Cross-entropy ---

// expect: logits must hold floats
float loss_of_tokens() { return cross_entropy(tokens, targets); }
// expect: a vocabulary with targets has at most 65,535 tokens
float loss_of_a_large_vocabulary() { return cross_entropy(large_vocabulary, 3); }
Training<LanguageModel<LanguageModelConfig{.vocabulary = 65536, .transformer = body}>, Sgd> training_of_a_large_vocabulary;
// expect: logits must have a row for each target
float loss_of_more_targets() { return cross_entropy(logits, three_targets); }
float loss_of_one_target() { return cross_entropy(logits, 3); }
// expect: the gradient of logits must have their shape
float loss_with_a_narrow_gradient() { return cross_entropy(logits, targets, narrow); }
float loss_with_a_const_gradient() { return cross_entropy(constant, targets, constant); }
// expect: cross_entropy takes (logits, targets)
float loss_with_braces() { return cross_entropy(logits, {1, 2}); }
float loss_of_floats() { return cross_entropy(logits, logits); }

// --- Checkpoints ---

// expect: flash must have erase(slot), write(slot, offset, bytes) and read(slot, offset, bytes)
Status save_without_read() { return save(linear, flash_without_read); }
Status load_without_read() { return load(linear, flash_without_read); }
// expect: load writes the parameters of a model, which must not be const
Status load_into_const() { return load(constant_linear, flash); }
// expect: save and load take a model or adapters
Status save_training(const Training<Linear<4, 3>, AdamW>& training) { return save(training, flash); }
Status load_training(Training<Linear<4, 3>, AdamW>& training) { return load(training, flash); }
// expect: a checkpoint holds tensors of float, and weights of int8
Status save_tokens(const WithTokens& model) { return save(model, flash); }
