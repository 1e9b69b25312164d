// SPDX-License-Identifier: MIT
//
// A module as ports/pytorch exports it, and the same calls written by hand. Its weights are in flash, of the file
// TINYATTN_BENCH_MODULE.
#pragma once

#include "../../golden/modules/gestures.hpp"

asm(".section .rodata\n"
    ".balign 4\n"
    "gestures_in_flash:\n"
    ".incbin \"" TINYATTN_BENCH_MODULE
    "\"\n"
    ".previous\n");
extern "C" const unsigned char gestures_in_flash[];

namespace tinyattn::bench {

template <std::size_t>
struct Module {
  const gestures::Model& model = gestures::weights(gestures_in_flash);
  gestures::Model::Input x = gestures::example_input;
  gestures::Model::Output out;
  gestures::Model::Workspace workspace;

  void prepare() {}
  void compute() { model.forward(x, out, workspace); }
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
