// SPDX-License-Identifier: MIT
//
// Computes the models of main.c by their exported C++ headers.
#include "headers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "decoder.hpp"
#include "decoder_int8.hpp"
#include "encoder.hpp"
#include "encoder_int8.hpp"
#include "expected.h"
#include "layer.hpp"

namespace {

template <std::size_t Tokens, std::size_t Width, class Module>
void forward(const Module& module, const float* input, float* output) {
  static tinyattn::Matrix<float, Tokens, Width> x, out;
  static typename Module::Workspace workspace;
  std::copy_n(input, x.size(), x.data());
  module.forward(x, out, workspace);
  std::copy_n(out.data(), out.size(), output);
}

template <std::size_t Tokens, tinyattn::LanguageModelConfig config>
void forward(const tinyattn::LanguageModel<config>& model, const std::uint16_t* input, float* output) {
  static tinyattn::Vector<tinyattn::Token, Tokens> tokens;
  static tinyattn::Matrix<float, Tokens, config.vocabulary> logits;
  static typename tinyattn::LanguageModel<config>::Workspace workspace;
  std::copy_n(input, Tokens, tokens.data());
  static_cast<void>(model.forward(tokens, logits, workspace));
  std::copy_n(logits.data(), logits.size(), output);
}

}  // namespace

void layer_by_headers(float* out) { forward<5, 8>(of_layer::attention, layer_input, out); }
void encoder_by_headers(float* out) { forward<12, 8>(of_encoder::model, encoder_input, out); }
void encoder_int8_by_headers(float* out) { forward<12, 8>(of_encoder_int8::model, encoder_int8_input, out); }
void decoder_by_headers(float* out) { forward<12>(of_decoder::model, decoder_input, out); }
void decoder_int8_by_headers(float* out) { forward<12>(of_decoder_int8::model, decoder_int8_input, out); }
