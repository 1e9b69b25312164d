// SPDX-License-Identifier: MIT
//
// Objects that firmware keeps as statics: constant-initialized, without a guard and without code before main; all zeros, so that flash
// holds no initial values. Only a generator's state is not zero.
#include "tinyattn/tinyattn.hpp"
#include "tinyattn/training.hpp"

using namespace tinyattn;

constexpr AttentionConfig heads{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 4, .qkv_bias = true, .num_kv_heads = 2};
constexpr FeedForwardConfig hidden{.d_model = 8, .d_hidden = 12, .activation = Activation::silu, .gated = true};
constexpr BlockConfig llama_block{.attention = heads, .feed_forward = hidden, .normalization = Normalization::rms};
constexpr BlockConfig gpt_block{.attention = heads, .feed_forward = {.d_model = 8, .d_hidden = 12}};
using Llama = LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = {.block = llama_block, .num_layers = 2}, .tied = false}>;
using Gpt = LanguageModel<LanguageModelConfig{.vocabulary = 9, .transformer = {.block = gpt_block, .num_layers = 2}}>;
using Layer = MultiHeadAttention<heads>;
using Stacked = StackedCausalAttention<3, 2, 6, 2>;
using View = MatrixView<float, 2, 3, 4>;

using Lora = Adapters<Gpt, LoraConfig{}>;
struct Parted {
  using Input = Matrix<float, 6, 8>;
  Layer layer{};
  Linear<8, 2> head{};
  using Parts = Parameters<&Parted::layer, &Parted::head>;
};

template <class... Objects>
struct Statics {
  template <class Object>
  static void* one() {
    static Object as_pages_write_it;
    static constinit Object object{};
    return &reinterpret_cast<char&>(object) < &reinterpret_cast<char&>(as_pages_write_it) ? static_cast<void*>(&object)
                                                                                          : &as_pages_write_it;
  }
  static constexpr void* (*each[])() = {one<Objects>...};
};

template <class Module>
using Cached = Statics<Module, typename Module::Workspace, typename Module::Cache, typename Module::Cache::Workspace>;

extern void* (*const* const objects[])() = {
    Cached<Llama>::each,
    Cached<Gpt>::each,
    Cached<Llama::Body>::each,
    Cached<Gpt::Body::Block>::each,
    Cached<Layer>::each,
    Statics<FeedForward<hidden>, FeedForward<hidden>::Workspace, Linear<3, 2>, Conv1d<Conv1dConfig{.in = 3, .out = 2, .kernel = 2}>,
            Gru<RecurrentConfig{.in = 3, .hidden = 2}>, Gru<RecurrentConfig{.in = 3, .hidden = 2}>::Workspace, Embedding<9, 4>,
            LayerNorm<3>, Matrix<float, 2, 3>, View, TokenView, Stacked>::each,
    Statics<Training<Llama, AdamW>, Training<Parted, SgdMomentum>, Lora, Training<Gpt, Sgd, Lora>, BackwardWorkspace<Layer>>::each};

constinit Gpt::Cache cache_of_gpt;
constinit Mt19937 mersenne_twister{1};
constinit Philox4x32 philox{1};
