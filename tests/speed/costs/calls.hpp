// SPDX-License-Identifier: MIT
//
// The calls whose footprint is measured: three layers, whose figures tests check, and those on the documentation's pages, each with a
// comment that shows the call there. -DTINYATTN_FOOTPRINT_CALL chooses one.
#pragma once

#include "support/stories260k.hpp"
#include "tinyattn/compiled.hpp"
#include "tinyattn/tinyattn.hpp"
#include "tinyattn/training.hpp"

namespace tinyattn::footprint {

struct None {};

// A call make(layer, x, out, workspace).
template <class LayerOfCall, class InputOfCall, class OutputOfCall, auto make, class WorkspaceOfCall = None>
struct Call {
  using Layer = LayerOfCall;
  using Input = InputOfCall;
  using Output = OutputOfCall;
  using Workspace = WorkspaceOfCall;

  static inline Layer measured;                   // a variable, which counted.cpp fills
  static constexpr std::size_t calls_before = 0;  // the one that is measured

  static void call(const Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept { make(layer, x, out, workspace); }
};

inline constexpr auto forward = [](auto& layer, auto& x, auto& out, auto& workspace) noexcept { layer.forward(x, out, workspace); };
inline constexpr auto forward_without_workspace = [](auto& layer, auto& x, auto& out, auto&) noexcept {
  static_cast<void>(layer.forward(x, out));
};
inline constexpr auto forward_with_cache = [](auto& layer, auto& x, auto& out, auto& memory) noexcept {
  static_cast<void>(layer.forward(x, memory.cache, out, memory.scratch));
};

template <class Layer>
struct CacheAndScratch {
  typename Layer::Cache cache;
  typename Layer::Cache::Workspace scratch;
};

template <class Layer>
struct StateAndScratch {
  typename Layer::State state;
  typename Layer::Workspace scratch;
};
template <class Layer>
using ReadToken = Call<Layer, Vector<float, Layer::d_in>, Vector<float, Layer::d_hidden>,
                       [](auto& layer, auto& x, auto& out, auto& memory) noexcept { layer.forward(x, memory.state, out, memory.scratch); },
                       StateAndScratch<Layer>>;

template <class Layer, class Input, class Output = Input>
using Forward = Call<Layer, Input, Output, forward, typename Layer::Workspace>;

template <AttentionConfig config>
using Attention = Forward<MultiHeadAttention<config>, Matrix<float, config.context_length, config.d_in>,
                          Matrix<float, config.context_length, config.d_out>>;

using Square = Matrix<float, 32, 32>;
using Tokens = Matrix<float, 16, 32>;
using Wide = Matrix<float, 32, 16>;
inline constexpr Conv1dConfig small_kernel{.in = 16, .out = 16, .kernel = 3, .padding = 1};
inline constexpr Conv1dConfig small_kernel_int8{.in = 16, .out = 16, .kernel = 3, .padding = 1, .weights = Weights::int8};
inline constexpr RecurrentConfig small_recurrent{.in = 16, .hidden = 16};
inline constexpr RecurrentConfig small_recurrent_int8{.in = 16, .hidden = 16, .weights = Weights::int8};
using Image = Tensor<float, 8, 8, 8>;
inline constexpr Conv2dConfig small_image{.in = 8, .out = 8, .kernel = 3, .padding = 1};
inline constexpr Conv2dConfig small_image_int8{.in = 8, .out = 8, .kernel = 3, .padding = 1, .weights = Weights::int8};
inline constexpr Conv2dConfig one_by_one{.in = 8, .out = 8, .kernel = 3, .padding = 1, .groups = 8};
inline constexpr AttentionConfig small_attention{.d_in = 32, .d_out = 32, .context_length = 16, .num_heads = 4};
inline constexpr FeedForwardConfig small_part{.d_model = 32, .d_hidden = 128};
using Stream =
    Transformer<TransformerConfig{.block = {.attention = {.d_in = 16, .d_out = 16, .context_length = 1, .num_heads = 2, .window = 32},
                                            .feed_forward = {.d_model = 16, .d_hidden = 32}},
                                  .num_layers = 2}>;
using Frame = Matrix<float, 1, 16>;
using SmallLayer = MultiHeadAttention<small_attention>;
using SmallBlock = TransformerBlock<BlockConfig{.attention = small_attention, .feed_forward = small_part}>;
inline constexpr AttentionConfig small_source{.d_in = 32, .d_out = 32, .context_length = 16, .num_heads = 4, .causal = false};
using ReadingBlock = TransformerDecoder<TransformerDecoderConfig{
    .block = {.attention = small_attention, .cross_attention = small_source, .feed_forward = small_part},
    .num_layers = 1,
    .final_norm = false}>;
using Stories = LanguageModel<stories260k>;

// The last of many calls. Weights are constants that the compiler draws: as variables they would not fit into a small board.
template <class Of, std::size_t before>
struct LastOfMany : Of {
  static constexpr typename Of::Layer measured = [] {
    typename Of::Layer drawn{};
    Mt19937 generator(123);
    initialize(drawn, generator);
    return drawn;
  }();
  static constexpr std::size_t calls_before = before;
};

template <auto make>
using Elementwise = Call<None, Square, Square, make>;

template <float (*f)(float) noexcept>
using EachElement = Elementwise<[](auto&, auto& m, auto& out, auto&) noexcept {
  for (std::size_t i = 0; i < m.size(); ++i) out.elements[i] = f(m.elements[i]);
}>;

template <class Mask>
using MaskedAttention =
    Call<Mask, Tokens, Tokens, [](auto& mask, auto& x, auto& out, auto&) noexcept { scaled_dot_product_attention(x, x, x, mask, out); }>;

template <class Generator>
using Rand = Call<None, None, Square, [](auto&, auto&, auto& out, auto&) noexcept {
  Generator generator(123);
  rand(generator, out);
}>;

// Calls of training; the workspace is what they change.
template <class Module, class Input = Tokens, class OutputGradient = Input, class Scratch = None>
struct Backward {
  Module gradient;
  OutputGradient output_gradient;
  Scratch scratch;
};
using Trained = Linear<16, 16, false>;
template <class Optimizer>
using Step = Call<Trained, Trained, None,
                  [](auto& model, auto& gradient, auto&, auto& state) noexcept {
                    Optimizer::step(const_cast<Trained&>(model), gradient, state, {.learning_rate = 1e-3f});  // firmware.cpp has a variable
                  },
                  typename Optimizer::template State<Trained>>;
// Reads and writes digits.
using Learner =
    LanguageModel<LanguageModelConfig{.vocabulary = 10,
                                      .transformer = {.block = {.attention = {.d_in = 8, .d_out = 8, .context_length = 8, .num_heads = 2},
                                                                .feed_forward = {.d_model = 8, .d_hidden = 16}},
                                                      .num_layers = 1}}>;

namespace calls {

// layer.forward(x, out, workspace): 6 tokens, 3 -> 2 features, 2 heads, causal
using T0 = Attention<AttentionConfig{.d_in = 3, .d_out = 2, .context_length = 6, .num_heads = 2}>;

// layer.forward(x, out, workspace): 32 tokens of 64 features, 4 heads, causal
using T1 = Attention<AttentionConfig{.d_in = 64, .d_out = 64, .context_length = 32, .num_heads = 4}>;

// model.forward(token, cache, logits, workspace): a token of llama2.c's stories260K
using TOKEN = Call<Stories, Vector<Token, 1>, Vector<float, stories260k.vocabulary>, forward_with_cache, CacheAndScratch<Stories>>;

// transpose(m, out): m is [32, 32]
using transpose = Elementwise<[](auto&, auto& m, auto& out, auto&) noexcept { tinyattn::transpose(m, out); }>;

// matmul(a, b, out): a is [16, 32], b [32, 32]
using matmul = Call<Square, Tokens, Tokens, [](auto& b, auto& a, auto& out, auto&) noexcept { tinyattn::matmul(a, b, out); }>;

// softmax(m, out): m is [32, 32]
using softmax = Elementwise<[](auto&, auto& m, auto& out, auto&) noexcept { tinyattn::softmax(m, out); }>;

// tinyattn::exp(x): of 1,024 numbers
using exp = EachElement<tinyattn::exp>;

// tinyattn::tanh(x): of 1,024 numbers
using tanh = EachElement<tinyattn::tanh>;

// tinyattn::erf(x): of 1,024 numbers
using erf = EachElement<tinyattn::erf>;

// relu(m, out): m is [32, 32]
using relu = Elementwise<[](auto&, auto& m, auto& out, auto&) noexcept { tinyattn::relu(m, out); }>;

// gelu(m, out): m is [32, 32]
using gelu = Elementwise<[](auto&, auto& m, auto& out, auto&) noexcept { tinyattn::gelu(m, out); }>;

// gelu_tanh(m, out): m is [32, 32]
using gelu_tanh = Elementwise<[](auto&, auto& m, auto& out, auto&) noexcept { tinyattn::gelu_tanh(m, out); }>;

// silu(m, out): m is [32, 32]
using silu = Elementwise<[](auto&, auto& m, auto& out, auto&) noexcept { tinyattn::silu(m, out); }>;

// scaled_dot_product_attention(q, k, v, NoMask{}, out): each is [16, 32]
using unmasked = MaskedAttention<NoMask>;

// scaled_dot_product_attention(q, k, v, keep_mask, out): each is [16, 32], the mask [16, 16]
using keep_mask = MaskedAttention<KeepMask<16, 16>>;

// scaled_dot_product_attention(q, k, v, additive_mask, out): each is [16, 32], the mask [16, 16]
using additive_mask = MaskedAttention<AdditiveMask<16, 16>>;

// rand(generator, out): out is [32, 32], from a Philox4x32
using philox = Rand<Philox4x32>;

// rand(generator, out): out is [32, 32], from an Mt19937 that is seeded for it
using mersenne = Rand<Mt19937>;

// dropout(m, 0.125, generator, out): m is [32, 32], by a Philox4x32
using dropout = Elementwise<[](auto&, auto& m, auto& out, auto&) noexcept {
  Philox4x32 generator(123);
  tinyattn::dropout(m, 0.125, generator, out);
}>;

// linear.forward(x, out): x is [16, 32], the weight [32, 32], with a bias
using linear = Call<Linear<32, 32>, Tokens, Tokens, forward_without_workspace>;

// linear.forward(x, out): the same with weights in int8
using linear_int8 = Call<Linear<32, 32, true, Weights::int8>, Tokens, Tokens, forward_without_workspace>;

// convolution.forward(x, out): x is [32, 16], 16 outputs, a kernel of 3 and a padding of 1
using conv1d = Call<Conv1d<small_kernel>, Wide, Wide, forward_without_workspace>;

// convolution.forward(x, out): the same with weights in int8
using conv1d_int8 = Call<Conv1d<small_kernel_int8>, Wide, Wide, forward_without_workspace>;

// gru.forward(x, state, out, workspace): a token, 16 -> 16 features
using gru = ReadToken<Gru<small_recurrent>>;

// gru.forward(x, state, out, workspace): the same with weights in int8
using gru_int8 = ReadToken<Gru<small_recurrent_int8>>;

// lstm.forward(x, state, out, workspace): a token, 16 -> 16 features
using lstm = ReadToken<Lstm<small_recurrent>>;

// lstm.forward(x, state, out, workspace): the same with weights in int8
using lstm_int8 = ReadToken<Lstm<small_recurrent_int8>>;
// convolution.forward(x, out): x is [8, 8, 8], 8 outputs, a kernel of 3 x 3 and a padding of 1
using conv2d = Call<Conv2d<small_image>, Image, Image, forward_without_workspace>;

// convolution.forward(x, out): the same with weights in int8
using conv2d_int8 = Call<Conv2d<small_image_int8>, Image, Image, forward_without_workspace>;

// convolution.forward(x, out): the same depthwise, with 8 groups
using depthwise = Call<Conv2d<one_by_one>, Image, Image, forward_without_workspace>;

// max_pool2d<PoolConfig{.kernel = 2}>(x, out): x is [8, 8, 8]
using max_pool2d = Call<None, Image, Tensor<float, 4, 4, 8>,
                        [](auto&, auto& x, auto& out, auto&) noexcept { tinyattn::max_pool2d<PoolConfig{.kernel = 2}>(x, out); }>;

// mean(x, out): x is [16, 32]
using mean = Call<None, Tokens, Vector<float, 32>, [](auto&, auto& x, auto& out, auto&) noexcept { tinyattn::mean(x, out); }>;

// largest(x, out): x is [16, 32]
using largest = Call<None, Tokens, Vector<float, 32>, [](auto&, auto& x, auto& out, auto&) noexcept { tinyattn::largest(x, out); }>;

// elementwise(function::divide, x, row, out): x is [32, 32]
using elementwise = Call<Vector<float, 32>, Square, Square,
                         [](auto& row, auto& x, auto& out, auto&) noexcept { tinyattn::elementwise(function::divide, x, row, out); }>;

// reduce<1>(reduction::variance{0}, x, out): x is [16, 32]
using reduce = Call<None, Tokens, Vector<float, 16>,
                    [](auto&, auto& x, auto& out, auto&) noexcept { tinyattn::reduce<1>(reduction::variance{0}, x, out); }>;

// standardize(x, mean, inverse_deviation, out): x is [32, 32]
using standardize =
    Call<Vector<float, 32>, Square, Square, [](auto& of, auto& x, auto& out, auto&) noexcept { tinyattn::standardize(x, of, of, out); }>;

// out = sinusoidal_positions<16, 32>(): a table in flash, which is copied
using positions = Call<None, None, Tokens, [](auto&, auto&, auto& out, auto&) noexcept { out = sinusoidal_positions<16, 32>(); }>;

// compiled::forward(layer, x, 16, out, workspace): x is [16, 32], 4 heads; with the library
using compiled = Call<SmallLayer, Tokens, Tokens,
                      [](auto& layer, auto& x, auto& out, auto& workspace) noexcept {
                        static_cast<void>(tinyattn::compiled::forward(layer, x, 16, out, workspace));
                      },
                      SmallLayer::Workspace>;

// layer.forward(x, cache, out, workspace): one token of 32 features, 4 heads, the last of 16
using cached =
    LastOfMany<Call<SmallLayer, Matrix<float, 1, 32>, Matrix<float, 1, 32>, forward_with_cache, CacheAndScratch<SmallLayer>>, 15>;

// model.forward(frame, cache, out, workspace): 16 features, 2 layers, a full window of 32 frames
using frame = LastOfMany<Call<Stream, Frame, Frame, forward_with_cache, CacheAndScratch<Stream>>, 47>;

// norm.forward(x, out): LayerNorm<32>, x is [16, 32]
using layer_norm = Call<LayerNorm<32>, Tokens, Tokens, forward_without_workspace>;

// norm.forward(x, out): RmsNorm<32>, x is [16, 32]
using rms_norm = Call<RmsNorm<32>, Tokens, Tokens, forward_without_workspace>;

// part.forward(x, out, workspace): 32 features, 128 hidden ones, gelu; x is [16, 32]
using feed_forward = Forward<FeedForward<small_part>, Tokens>;

// embedding.forward(tokens, out): 16 tokens of a vocabulary of 60, 32 features
using embedding = Call<Embedding<60, 32>, Vector<Token, 16>, Tokens, forward_without_workspace>;

// block.forward(x, out, workspace): 32 features, 4 heads, 128 hidden features; x is [16, 32]
using block = Forward<SmallBlock, Tokens>;

// decoder.forward(x, memory, out, workspace): the same with attention to a memory [16, 32] too
using decoder_block =
    Call<ReadingBlock, Tokens, Tokens,
         [](auto& layer, auto& memory, auto& out, auto& workspace) noexcept { layer.forward(memory, memory, out, workspace); },
         ReadingBlock::Workspace>;

// decoder.forward(x, cache, out, workspace): one token of that block, the last of 16, a source of 16 tokens
using decoder_token = LastOfMany<Call<ReadingBlock, Matrix<float, 1, 32>, Matrix<float, 1, 32>,
                                      [](auto& layer, auto& x, auto& out, auto& memory) noexcept {
                                        memory.cache.blocks[0].source.num_tokens = 16;
                                        forward_with_cache(layer, x, out, memory);
                                      },
                                      CacheAndScratch<ReadingBlock>>,
                                 15>;

// argmax(logits): of 512 tokens
using argmax =
    Call<None, Vector<float, 512>, Token, [](auto&, auto& logits, auto& token, auto&) noexcept { token = tinyattn::argmax(logits); }>;

// sample(logits, {.temperature = 0.7f, .top_p = 0.9f}, generator): of 512 tokens
using sample = Call<Vector<float, 512>, None, Token, [](auto& logits, auto&, auto& token, auto&) noexcept {
  Philox4x32 generator(123);
  auto& changed = const_cast<Vector<float, 512>&>(logits);  // firmware.cpp has a variable
  token = tinyattn::sample(changed, {.temperature = 0.7f, .top_p = 0.9f}, generator);
}>;

// backward(linear, x, output_gradient, input_gradient, gradient): x is [16, 32], the weight [32, 32], with a bias
using linear_backward =
    Call<Linear<32, 32>, Tokens, Tokens,
         [](auto& layer, auto& x, auto& out, auto& its) noexcept { backward(layer, x, its.output_gradient, out, its.gradient); },
         Backward<Linear<32, 32>>>;

// backward(layer, x, output_gradient, input_gradient, gradient, workspace): 16 tokens of 32 features, 4 heads, causal
using layer_backward = Call<SmallLayer, Tokens, Tokens,
                            [](auto& layer, auto& x, auto& out, auto& its) noexcept {
                              backward(layer, x, its.output_gradient, out, its.gradient, its.scratch);
                            },
                            Backward<SmallLayer, Tokens, Tokens, BackwardWorkspace<SmallLayer>>>;

// cross_entropy(logits, targets, gradient): logits are [16, 32]
using cross_entropy =
    Call<None, Tokens, Tokens,
         [](auto&, auto& logits, auto& out, auto& targets) noexcept { out(0, 0) += tinyattn::cross_entropy(logits, targets, out); },
         Vector<Token, 16>>;

// sgd_step(linear, gradient, settings): 256 weights
using sgd_step = Step<Sgd>;

// adamw_step(linear, gradient, state, settings): 256 weights
using adamw_step = Step<AdamW>;

// A step of a last layer, Linear<64, 10>: its forward pass, cross_entropy, backward, sgd_step, zero_grad; x is [1, 64]
using last_layer = Call<Linear<64, 10>, Matrix<float, 1, 64>, Matrix<float, 1, 10>,
                        [](auto& head, auto& x, auto& logits, auto& gradient) noexcept {
                          auto& model = const_cast<Linear<64, 10>&>(head);  // firmware.cpp has a variable
                          model.forward(x, logits);
                          tinyattn::cross_entropy(logits, Token{3}, logits);
                          backward(model, x, logits, no_gradient, gradient);
                          tinyattn::sgd_step(model, gradient, {.learning_rate = 0.03f});
                          zero_grad(gradient);
                        },
                        Linear<64, 10>>;

// A step of a model: training.backward(model, tokens, targets), clip_grad_norm, training.step by Sgd; 8 tokens of 8 features, one block
using learn = Call<Learner, Vector<Token, 8>, None,
                   [](auto& model, auto& tokens, auto&, auto& training) noexcept {
                     training.backward(model, tokens, tokens);
                     clip_grad_norm(training.gradient, 1.0f);
                     training.step(const_cast<Learner&>(model), {.learning_rate = 0.1f});  // firmware.cpp has a variable
                   },
                   Training<Learner, Sgd>>;

}  // namespace calls

using Measured = calls::TINYATTN_FOOTPRINT_CALL;
using Layer = Measured::Layer;
using Workspace = Measured::Workspace;
using Input = Measured::Input;
using Output = Measured::Output;

}  // namespace tinyattn::footprint

// The call that a firmware makes: layer.cpp defines it as a call of the library; without that file it
// does nothing. The two images differ by what the call adds.
extern "C" void attend(const tinyattn::footprint::Layer& layer, const tinyattn::footprint::Input& x, tinyattn::footprint::Output& out,
                       tinyattn::footprint::Workspace& workspace) noexcept;
