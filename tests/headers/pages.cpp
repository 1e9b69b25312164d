// SPDX-License-Identifier: MIT
//
// Runs the code of the pages for users, as page_code.py extracts it, with wrong inputs too.
#include <array>

#include "calling.md.inc"
#include "catalogue/draw.hpp"
#include "models.md.inc"
#include "support/check.hpp"

namespace {

using namespace tinyattn::test;

const Model& drawn_model() {
  static Model model;
  Mt19937 generator(123);
  initialize(model, generator);
  auto& embedding = model.token_embedding.weight;
  rand(generator, embedding);
  for (std::size_t i = 0; i < embedding.size(); ++i) embedding.data()[i] *= 0.1f;  // otherwise each token would be followed by itself
  return model;
}

// Each token is a letter, from 'A' on.
struct Letters {
  static Status encode(std::string_view text, std::span<Token> to, std::size_t& count) {
    if (to.size() - count <= text.size()) return Status::too_many_tokens;
    for (const char letter : text) {
      if (letter < 'A' || letter >= 'A' + 60) return Status::unknown_token;
      to[count++] = static_cast<Token>(letter - 'A');
    }
    return Status::ok;
  }
  static std::string_view piece(Token token) { return {&alphabet[token], 1}; }
  static constexpr std::array<char, 60> alphabet = [] {
    std::array<char, 60> letters{};
    for (std::size_t i = 0; i < 60; ++i) letters[i] = static_cast<char>('A' + i);
    return letters;
  }();
};

struct Text {
  std::array<char, 400> letters{};
  std::size_t size = 0;

  bool write(std::string_view prompt) {
    Philox4x32 generator(7);
    return ::write(drawn_model(), Letters{}, prompt, generator, [this](std::string_view text) {
      for (const char letter : text) letters[size++] = letter;
      return true;
    });
  }
  friend bool operator==(const Text&, const Text&) = default;
};

constexpr Test tests[] = {
    at_run_time("a text of many windows is written, and the same seed writes the same",
                [](Check& check) {
                  Text text, again;
                  check.that(text.write("HELLO") && again.write("HELLO") && text == again && text.size == 400);
                  std::size_t changes = 0;
                  for (std::size_t i = 1; i < text.size; ++i) changes += text.letters[i] != text.letters[i - 1];
                  check.that(changes > 100);
                }),
    at_run_time("a prompt that is too long or has an unknown character writes nothing",
                [](Check& check) {
                  static constexpr std::array<char, 162> long_prompt = [] {
                    std::array<char, 162> letters{};
                    letters.fill('B');
                    return letters;
                  }();
                  Text text;
                  check.that(!text.write("HELLO!") && !text.write({long_prompt.data(), 162}) && text.size == 0);
                  check.that(text.write({long_prompt.data(), 160}) && text.size == 400);
                }),
    at_run_time("a layer is called with floats of one's own",
                [](Check& check) {
                  static Layer layer;
                  static Layer::Workspace scratch;
                  static Matrix<float, 20, 48> x, out;
                  Mt19937 generator(123);
                  rand(generator, x);
                  initialize(layer, generator);
                  attend(layer, x.data(), out.data(), scratch);
                  check.same_bits(out, layer(x));
                }),
    at_run_time("a listener writes what its decoder says of the whole text",
                [](Check& check) {
                  static Listener listener = drawn<Listener>(123);
                  listener.decoder.final_norm.bias = {};  // otherwise each token would be the same
                  static Reader::Workspace scratch;
                  static Matrix<float, 40, 32> memory;
                  static Matrix<float, 12, 32> x;
                  const auto frames = drawn<Matrix<float, 80, 16>>(5);
                  Vector<Token, 13> text{};
                  check.that(listen(listener, frames, text) == 12 && heard.size() == 12);
                  listener.convolution.forward(frames, memory);
                  gelu(memory, memory);
                  add(memory, sinusoidal_positions<40, 32>(), memory);
                  listener.encoder.forward(memory, memory, of_encoder);
                  Vector<Token, 12> read{};
                  for (std::size_t i = 0; i < 12; ++i) read(i) = text(i);
                  check.that(listener.embedding.forward(read, x) == Status::ok);
                  add(x, listener.positions, x);
                  listener.decoder.forward(x, memory, x, scratch);
                  const auto logits = listener.head(x);
                  for (std::size_t i = 0; i < 12; ++i) check.that(argmax(row(logits, i)) == text(i + 1));
                  std::size_t others = 0;
                  for (std::size_t i = 1; i < 13; ++i) others += text(i) != text(1);
                  check.that(others > 2);
                }),
};

}  // namespace

int main() { return run(tests); }
