// SPDX-License-Identifier: MIT
//
// Adapters.
#include "tinyattn/training.hpp"

#include "given.hpp"

constexpr LoraConfig lora{.rank = 2};
constexpr AttentionConfig without_output{.d_in = 4, .d_out = 4, .context_length = 6, .out_proj = false};
using Four = Linear<4, 4>;
extern const Four four;
extern const Linear<4, 4, true, Weights::int8> four_in_int8;
extern Four merged;
extern Linear<4, 4, true, Weights::int8> merged_in_int8;
extern Adapters<Four, lora> adapters;
extern Adapters<Linear<4, 3>, lora> of_another;
extern Adapters<Linear<4, 4, true, Weights::int8>, lora> of_int8;

// expect: the rank of adapters must not be zero
Adapters<Four, LoraConfig{.rank = 0}> of_no_rank;
// expect: lora adapts the gate, and the layer is not gated
Adapters<FeedForward<hidden>, LoraConfig{.gate = true}> of_no_gate;
// expect: adapters of a feed-forward layer are those of up, gate or down
Adapters<FeedForward<hidden>, lora> of_no_hidden_projection;
// expect: lora adapts the output projection, and attention has none
Adapters<MultiHeadAttention<without_output>, LoraConfig{.output = true}> of_no_output;
// expect: adapters of attention are those of query, key, value or output
Adapters<MultiHeadAttention<without_output>, LoraConfig{.query = false, .value = false}> of_no_projection;
// expect: lora adapts nothing of the model
Adapters<TransformerBlock<BlockConfig{.attention = without_output, .feed_forward = hidden}>, LoraConfig{.query = false, .value = false}>
    of_nothing;
// expect: Adapters are those of a LanguageModel, a Transformer
Adapters<LayerNorm<4>, lora> of_a_norm;
// expect: adapted takes (model, adapters): Adapters of the type of the model
void adapters_of_another_layer() { static_cast<void>(adapted(four, of_another)); }
// expect: merge takes (model, adapters, out)
void merged_adapters_of_another_layer() { merge(four, of_another, merged); }
void merged_into_const() { merge(four, adapters, four); }
// expect: merge takes weights of floats
void merged_into_int8() { merge(four_in_int8, of_int8, merged_in_int8); }
// expect: Adapters<Model, lora>> its adapters
void training_of_another_layer(Training<Four, Sgd, Adapters<Linear<4, 3>, lora>>& training) { training.step(merged, {}); }
// expect: Training of adapters takes (model, adapters, tokens, targets)
void training_without_a_model(Training<Four, Sgd, Adapters<Four, lora>>& training) { training.backward(adapters, tokens, tokens); }
// expect: a layer with head_dim, rotary_dim, qk_norm or bias_kv is for inference
BackwardWorkspace<MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 6, .qk_norm = true}>> gradient_of_head_norms;
