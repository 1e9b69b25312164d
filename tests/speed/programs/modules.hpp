// SPDX-License-Identifier: MIT
//
// A module as ports/pytorch exports it, and the same calls written by hand.
#pragma once

#include "../../golden/modules/gestures.hpp"

namespace tinyattn::bench {

template <std::size_t>
struct Module {
  gestures::Model model;
  gestures::Model::Input x;
  gestures::Model::Output out;
  gestures::Model::Workspace workspace;

  void prepare() {
    for (std::size_t i = 0; i < sizeof(model); i += sizeof(number))
      __builtin_memcpy(reinterpret_cast<char*>(&model) + i, &number, sizeof(number));
    for (float& element : x.elements) element = number * static_cast<float>(&element - x.elements);
  }
  void compute() { model.forward(x, out, workspace); }

  static constexpr float number = 0.125f;
};

template <std::size_t Any>
struct Hand : Module<Any> {
  Matrix<float, 16, 6> samples;
  Matrix<float, 16, 16> embedded;
  Matrix<float, 17, 16> tokens, part;
  Matrix<float, 17, 32> hidden;
  Vector<float, 16> first;
  decltype(gestures::Model::Block::attention)::Workspace attention;

  void compute() {
    const gestures::Model& layers = this->model;
    standardize(this->x, layers.mean, layers.inverse_std, samples);
    layers.embed.forward(samples, embedded);
    concat_rows(layers.cls, embedded, tokens);
    add(tokens, layers.positions, tokens);
    for (const auto& block : layers.blocks) {
      block.norm1.forward(tokens, part);
      block.attention.forward(part, part, attention);
      add(tokens, part, tokens);
      block.norm2.forward(tokens, part);
      block.mlp._0.forward(part, hidden);
      gelu(hidden, hidden);
      block.mlp._3.forward(hidden, part);
      add(tokens, part, tokens);
    }
    layers.norm.forward(tokens, tokens);
    row(tokens, 0, first);
    layers.head.forward(first, this->out);
  }
};

}  // namespace tinyattn::bench
