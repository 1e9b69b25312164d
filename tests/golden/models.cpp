// SPDX-License-Identifier: MIT
//
// Whole models drawn from the seeds of generate.py, in its order: linear layers, norms, embeddings, inputs.
#include "tinyattn/language_model.hpp"
#include "values.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Draws weights and biases of norms after those of linear layers; PyTorch initializes them with 1 and 0.
void draw_norm(Mt19937& generator, auto& norm) {
  draw(generator, norm.weight);
  if constexpr (requires { norm.bias; }) draw(generator, norm.bias);
}
void draw_norms(Mt19937& generator, auto& block) {
  draw_norm(generator, block.attention_norm);
  draw_norm(generator, block.feed_forward_norm);
}

template <bool norm_first, Activation activation>
void check_encoder(Check& check, std::uint32_t seed, const Matrix<float, 5, 12>& expected) {
  using Layer = TransformerBlock<BlockConfig{
      .attention = {.d_in = 12, .d_out = 12, .context_length = 5, .num_heads = 3, .causal = false, .qkv_bias = true},
      .feed_forward = {.d_model = 12, .d_hidden = 20, .activation = activation},
      .norm_first = norm_first}>;
  static Layer layer;
  static typename Layer::Workspace workspace;
  Mt19937 generator(seed);
  initialize(layer, generator);
  draw_norms(generator, layer);
  Matrix<float, 5, 12> x, out;
  draw(generator, x);
  layer.forward(x, out, workspace);
  check.near(out, expected, 2e-6f);
}

constexpr LanguageModelConfig gpt{
    .vocabulary = 11,
    .transformer = {.block = {.attention = {.d_in = 16, .d_out = 16, .context_length = 8, .num_heads = 4, .qkv_bias = true},
                              .feed_forward = {.d_model = 16, .d_hidden = 64, .activation = Activation::gelu_tanh}},
                    .num_layers = 2}};

constexpr LanguageModelConfig llama(Rotary rotary, std::size_t num_layers, bool tied) {
  const AttentionConfig heads{
      .d_in = 16, .d_out = 16, .context_length = 8, .num_heads = 4, .out_bias = false, .num_kv_heads = 2, .rotary = rotary};
  const FeedForwardConfig part{.d_model = 16, .d_hidden = 24, .activation = Activation::silu, .gated = true, .bias = false};
  return {
      .vocabulary = 11,
      .transformer = {.block = {.attention = heads, .feed_forward = part, .normalization = Normalization::rms}, .num_layers = num_layers},
      .positions = Positions::none,
      .tied = tied};
}

template <LanguageModelConfig config>
void check_logits(Check& check, std::uint32_t seed, const Matrix<float, 8, 11>& expected) {
  using Model = LanguageModel<config>;
  static Model model;
  static typename Model::Workspace workspace;
  Mt19937 generator(seed);
  initialize(model, generator);
  for (auto& block : model.transformer.blocks) draw_norms(generator, block);
  draw_norm(generator, model.transformer.final_norm);
  draw(generator, model.token_embedding.weight);
  if constexpr (config.positions == Positions::learned) draw(generator, model.position_embedding.weight);
  float largest = 0.0f;
  for (const float logit : expected.elements) largest = logit > largest ? logit : -logit > largest ? -logit : largest;
  Matrix<float, 8, 11> logits;
  check.that(model.forward(vector<Token>({3, 1, 4, 1, 5, 9, 2, 6}), logits, workspace) == Status::ok);
  check.near(logits, expected, 8e-6f * largest);
}

constexpr Test tests[] = {
    at_run_time("TransformerEncoderLayer: the norm last and first, relu and gelu",
                [](Check& check) {
                  check_encoder<false, Activation::relu>(check, 32, reference::encoder_last_relu);
                  check_encoder<true, Activation::relu>(check, 33, reference::encoder_first_relu);
                  check_encoder<false, Activation::gelu>(check, 34, reference::encoder_last_gelu);
                  check_encoder<true, Activation::gelu>(check, 35, reference::encoder_first_gelu);
                }),
    at_run_time("a decoder as GPT-2", [](Check& check) { check_logits<gpt>(check, 36, reference::gpt); }),
    at_run_time("decoders as Llama, in both conventions of rotary positions",
                [](Check& check) {
                  check_logits<llama(Rotary::halves, 2, false)>(check, 37, reference::llama_halves);
                  check_logits<llama(Rotary::interleaved, 3, true)>(check, 38, reference::llama_interleaved);
                }),
};

}  // namespace

int main() { return run(tests); }
