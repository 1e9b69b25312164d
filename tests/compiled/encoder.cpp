// SPDX-License-Identifier: MIT
//
// Compares an encoder described at run time with the Transformer of the same weights, and layers with grouped heads and rotary positions
// with MultiHeadAttention, bit for bit, on the port that the library chooses.
#include "described.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr TransformerConfig of_pytorch = {
    .block = {.attention = {.d_in = 12, .d_out = 12, .context_length = 9, .num_heads = 3, .causal = false, .qkv_bias = true},
              .feed_forward = {.d_model = 12, .d_hidden = 21, .activation = Activation::relu},
              .norm_first = false},
    .num_layers = 2,
    .final_norm = false};
constexpr TransformerConfig rotating = llama.transformer;
// Several blocks of rows on every port.
constexpr TransformerConfig long_one = {
    .block = {.attention = {.d_in = 8, .d_out = 8, .context_length = 131, .num_heads = 4, .num_kv_heads = 1, .rotary = Rotary::interleaved},
              .feed_forward = {.d_model = 8, .d_hidden = 150, .activation = Activation::gelu}},
    .num_layers = 1};

constexpr TransformerConfig with_int8(TransformerConfig config) {
  config.block.attention.weights = config.block.feed_forward.weights = Weights::int8;
  return config;
}
template <auto config>
constexpr bool is_int8_config = config.weights == Weights::int8;

// A transformer with random weights, and its description for the C interface.
template <TransformerConfig config>
struct DescribedEncoder {
  static constexpr bool is_int8 = is_int8_config<config.block.attention>;

  Transformer<config> model = drawn<Transformer<config>>(11);
  EncoderInC<config> in_c{model};
  const tinyattn_encoder& encoder = in_c.encoder;
};

template <bool is_int8>
constexpr auto encode = is_int8 ? tinyattn_encoder_forward_int8 : tinyattn_encoder_forward;
template <bool is_int8>
constexpr auto scratch_of_encoder = is_int8 ? tinyattn_encoder_scratch_int8 : tinyattn_encoder_scratch;

// Scratch that nobody has written, with a guard after it.
struct GuardedScratch {
  explicit GuardedScratch(std::size_t size) : floats(std::make_unique_for_overwrite<float[]>(size + 1)), guard(&floats[size]) {
    *guard = 5.0f;
  }

  std::unique_ptr<float[]> floats;
  float* guard;
};

template <TransformerConfig config>
void computes_the_same(Check& check) {
  constexpr AttentionConfig attention = config.block.attention;
  constexpr std::size_t length = attention.context_length, width = attention.d_out, hidden = config.block.feed_forward.d_hidden;
  static const DescribedEncoder<config> both;
  const auto workspace = std::make_unique_for_overwrite<typename Transformer<config>::Workspace>();
  const auto x = drawn<Matrix<float, length, width>>(3);
  for (const std::size_t tokens : {std::size_t{0}, std::size_t{1}, length / 2, length}) {
    auto expected = full<float, length, width>(7.0f), actual = expected, in_place = expected;
    std::copy_n(x.data(), tokens * width, in_place.data());
    check.that(both.model.forward(x, tokens, expected, *workspace) == Status::ok);
    const std::size_t kv_width = width / attention.num_heads * (attention.num_kv_heads == 0 ? attention.num_heads : attention.num_kv_heads);
    const GuardedScratch scratch(both.is_int8 ? TINYATTN_ENCODER_SCRATCH_INT8(width, kv_width, hidden, tokens)
                                              : TINYATTN_ENCODER_SCRATCH(width, kv_width, hidden, tokens));
    check.that(encode<both.is_int8>(&both.encoder, x.data(), tokens, actual.data(), scratch.floats.get()) == TINYATTN_OK);
    check.that(encode<both.is_int8>(&both.encoder, in_place.data(), tokens, in_place.data(), scratch.floats.get()) == TINYATTN_OK);
    check.same_bits(actual, expected);
    check.same_bits(in_place, expected);
    check.that(*scratch.guard == 5.0f);
    if (tokens == length)
      check.that(scratch_of_encoder<both.is_int8>(&both.encoder) == static_cast<std::size_t>(scratch.guard - scratch.floats.get()));
  }
}

// What must be refused, and must write nothing.
using Change = void (*)(tinyattn_encoder& encoder, tinyattn_block* blocks);
constexpr std::size_t largest = static_cast<std::size_t>(-1);

constexpr struct {
  std::size_t tinyattn_encoder::*size;
  std::initializer_list<std::size_t> wrong;
} wrong_sizes[] = {{&tinyattn_encoder::num_heads, {0, 3}},
                   {&tinyattn_encoder::num_kv_heads, {3, 8}},
                   {&tinyattn_encoder::d_model, {0, largest, largest / 16}},
                   {&tinyattn_encoder::d_hidden, {0, largest, largest / 16}},
                   {&tinyattn_encoder::context_length, {0, largest, largest / 64}},
                   {&tinyattn_encoder::num_layers, {0}}};

constexpr Change wrong_arguments[] = {
    [](auto& e, auto*) { e.blocks = nullptr; },
    [](auto& e, auto*) { e.cosines = nullptr; },
    [](auto& e, auto*) { e.sines = nullptr; },
    [](auto& e, auto*) { e.num_heads = e.num_kv_heads = 16; },  // a head of one feature has no pair to rotate
    [](auto& e, auto*) { e.activation = static_cast<tinyattn_activation>(opaque(kernel::num_activations)); },
    [](auto& e, auto*) { e.rotary = static_cast<tinyattn_rotary>(opaque(3)); },
    [](auto& e, auto*) {
      e.final_norm = {e.sines, nullptr, -1.0f};
    },
    [](auto&, auto* blocks) { blocks[2].attention_norm.weight = nullptr; },
    [](auto&, auto* blocks) { blocks[2].feed_forward_norm.epsilon = quiet_nan; },
    [](auto&, auto* blocks) { blocks[1].key = {}; },
    [](auto&, auto* blocks) { blocks[2].down = {}; }};

template <TransformerConfig config>
void refuses(Check& check) {
  static const DescribedEncoder<config> both;
  auto x = drawn<Matrix<float, 2, 16>>(3), out = full<float, 2, 16>(5.0f);
  const GuardedScratch scratch(scratch_of_encoder<both.is_int8>(&both.encoder));
  const auto forward = [&](const tinyattn_encoder* encoder, const float* from, std::size_t tokens, float* to, float* floats) {
    return encode<both.is_int8>(encoder, from, tokens, to, floats);
  };
  const auto is_refused = [&](const tinyattn_encoder& encoder) {
    return forward(&encoder, x.data(), 2, out.data(), scratch.floats.get()) == TINYATTN_BAD_ARGUMENT;
  };
  check.that(forward(&both.encoder, x.data(), 21, out.data(), scratch.floats.get()) == TINYATTN_TOO_MANY_TOKENS);
  check.that(forward(&both.encoder, nullptr, 0, nullptr, nullptr) == TINYATTN_OK);
  check.that(forward(&both.encoder, nullptr, 2, out.data(), scratch.floats.get()) == TINYATTN_BAD_ARGUMENT);
  check.that(forward(&both.encoder, x.data(), 2, nullptr, scratch.floats.get()) == TINYATTN_BAD_ARGUMENT);
  check.that(forward(&both.encoder, x.data(), 2, out.data(), nullptr) == TINYATTN_BAD_ARGUMENT);
  check.that(forward(nullptr, x.data(), 0, out.data(), scratch.floats.get()) == TINYATTN_BAD_ARGUMENT);
  check.that(scratch_of_encoder<both.is_int8>(nullptr) == 0);
  for (const auto& [size, wrong] : wrong_sizes)
    for (const std::size_t value : wrong) {
      tinyattn_encoder encoder = both.encoder;
      encoder.*size = value;
      check.that(is_refused(encoder) && scratch_of_encoder<both.is_int8>(&encoder) == 0);
    }
  for (const Change change : wrong_arguments) {
    auto blocks = both.in_c.blocks;
    tinyattn_encoder encoder = both.encoder;
    encoder.blocks = blocks.data();
    change(encoder, blocks.data());
    check.that(is_refused(encoder));
  }
  // Weights of the other type.
  const DescribedEncoder<both.is_int8 ? rotating : with_int8(rotating)> other;
  check.that(is_refused(other.encoder));
  check.same_bits(out, full<float, 2, 16>(5.0f));
}

template <AttentionConfig config>
void rotates_the_same(Check& check) {
  using Layer = MultiHeadAttention<config>;
  constexpr std::size_t length = config.context_length;
  static const auto layer = drawn<Layer>(5);
  tinyattn_layer same{};
  same.d_in = config.d_in;
  same.d_out = config.d_out;
  same.num_heads = config.num_heads;
  same.num_kv_heads = config.num_kv_heads;
  same.causal = config.causal;
  same.query = described(layer.query);
  same.key = described(layer.key);
  same.value = described(layer.value);
  same.out_proj = described(layer.out_proj);
  describe_rotary_to<config>(same);
  const auto x = drawn<Matrix<float, length, config.d_in>>(3);
  const auto workspace = std::make_unique_for_overwrite<typename Layer::Workspace>();
  const auto scratch = std::make_unique_for_overwrite<typename Layer::Workspace>();
  const auto floats = reinterpret_cast<float*>(scratch.get());
  constexpr auto forward = is_int8_config<config> ? tinyattn_forward_int8 : tinyattn_forward;
  constexpr auto cross_forward = is_int8_config<config> ? tinyattn_cross_forward_int8 : tinyattn_cross_forward;
  Matrix<float, length, config.d_out> expected{}, actual{};
  layer.forward(x, expected, *workspace);
  check.that(forward(&same, length, x.data(), actual.data(), floats) == TINYATTN_OK);
  check.same_bits(actual, expected);
  check.that(layer.forward(x, x, x, 3, length, NoMask{}, expected, *workspace) == Status::ok);
  check.that(cross_forward(&same, 3, length, x.data(), x.data(), x.data(), nullptr, actual.data(), floats) == TINYATTN_OK);
  check.same_bits(actual, expected);
  const auto is_refused = [&](auto change) {
    tinyattn_layer wrong = same;
    change(wrong);
    return forward(&wrong, length, x.data(), actual.data(), floats) == TINYATTN_BAD_ARGUMENT;
  };
  check.that(is_refused([](auto& wrong) { wrong.num_kv_heads = 3; }) && is_refused([](auto& wrong) { wrong.num_kv_heads = 8; }));
  check.that(is_refused([](auto& wrong) { wrong.rotary = static_cast<tinyattn_rotary>(opaque(3)); }));
  check.that(is_refused([](auto& wrong) { wrong.cosines = nullptr; }) && is_refused([](auto& wrong) { wrong.sines = nullptr; }));
  check.that(is_refused([](auto& wrong) { wrong.num_heads = wrong.num_kv_heads = wrong.d_out; }));
  check.same_bits(actual, expected);
}

constexpr AttentionConfig in_halves = llama_attention;
constexpr AttentionConfig interleaved = {
    .d_in = 5, .d_out = 24, .context_length = 70, .num_heads = 4, .causal = false, .num_kv_heads = 1, .rotary = Rotary::interleaved};
constexpr AttentionConfig int8_weights(AttentionConfig config) {
  config.weights = Weights::int8;
  return config;
}

constexpr Test tests[] = {
    at_run_time("an encoder as torch.nn.TransformerEncoder", computes_the_same<of_pytorch>),
    at_run_time("an encoder with grouped heads, rotary positions, a gate and RMS norms", computes_the_same<rotating>),
    at_run_time("an encoder of many tokens", computes_the_same<long_one>),
    at_run_time("the same with int8 weights",
                [](Check& check) {
                  computes_the_same<with_int8(of_pytorch)>(check);
                  computes_the_same<with_int8(rotating)>(check);
                  computes_the_same<with_int8(long_one)>(check);
                }),
    at_run_time("an encoder that makes no sense is refused, and nothing is written", refuses<rotating>),
    at_run_time("the same with int8 weights", refuses<with_int8(rotating)>),
    at_run_time("layers with grouped heads and rotary positions",
                [](Check& check) {
                  rotates_the_same<in_halves>(check);
                  rotates_the_same<interleaved>(check);
                }),
    at_run_time("the same layers with int8 weights",
                [](Check& check) {
                  rotates_the_same<int8_weights(in_halves)>(check);
                  rotates_the_same<int8_weights(interleaved)>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
