// SPDX-License-Identifier: MIT
//
// Saves models twice as a board does, each number changed in between: exported layers and models (the LAYOUTS of exporter.py), and a struct
// of parts, whose outputs it prints. The flash of each is a file, NAME.bin.
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "layouts.hpp"
#include "tinyattn/convolution.hpp"
#include "tinyattn/embedding.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/training/checkpoint.hpp"

namespace {

using namespace tinyattn;

struct Flash {
  unsigned char bytes[2][SLOT];
  void erase(std::size_t slot) { std::memset(bytes[slot], 0xff, SLOT); }
  void write(std::size_t slot, std::size_t offset, std::span<const std::byte> from) {
    std::memcpy(bytes[slot] + offset, from.data(), from.size());
  }
  void read(std::size_t slot, std::size_t offset, std::span<std::byte> to) { std::memcpy(to.data(), bytes[slot] + offset, to.size()); }
};

template <class Model>
bool save_changed(Model& model, const std::string& name) {
  static Flash flash;
  flash.erase(0);
  flash.erase(1);
  bool saved = save(model, flash) == Status::ok;
  float change = 0.0f;
  for_each_parameter(model, [&]<class Parameter>(const char*, Parameter& parameter) {
    if constexpr (requires { parameter.elements; })
      for (float& element : parameter.elements) element = 0.75f * element + (change += 0.001f);
  });
  saved = save(model, flash) == Status::ok && saved;
  std::FILE* file = std::fopen((name + ".bin").c_str(), "wb");
  std::fwrite(flash.bytes, 1, sizeof flash.bytes, file);
  std::fclose(file);
  return saved;
}

struct Stack {
  Embedding<7, 3> embedding;
  Conv1d<Conv1dConfig{.in = 3, .out = 4, .kernel = 3, .padding = 1}> convolution;
  LayerNorm<4> norm;
  Linear<4, 5> linear;
  Linear<5, 6, true, Weights::int8> codes;
  using Parts = Parameters<&Stack::embedding, &Stack::convolution, &Stack::norm, &Stack::linear, &Stack::codes>;
};

bool save_parts() {
  static Stack parts;
  static Linear<5, 6> floats;
  for (std::size_t i = 0; i < 30; ++i) floats.weight(i % 5, i / 5) = 0.1f * static_cast<float>(i % 7) - 0.25f;
  parts.codes = quantize(floats);
  const bool saved = save_changed(parts, "parts");
  static Matrix<float, 5, 3> embedded;
  static Matrix<float, 5, 4> convolved;
  static Matrix<float, 5, 5> out;
  if (parts.embedding.forward(vector<Token>({2, 0, 6, 6, 3}), embedded) != Status::ok) return false;
  parts.convolution.forward(embedded, convolved);
  parts.norm.forward(convolved, convolved);
  parts.linear.forward(convolved, out);
  for (const float element : out.elements) std::printf("%.9g ", static_cast<double>(element));
  return saved;
}

}  // namespace

#define SAVE(name, part, tokens, parameters) \
  static auto changed_##name = name::part;   \
  if (!save_changed(changed_##name, #name)) return 1;
int main() {
  LAYOUTS(SAVE)
  return save_parts() ? 0 : 1;
}
