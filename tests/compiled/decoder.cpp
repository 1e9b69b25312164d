// SPDX-License-Identifier: MIT
//
// Compares a decoder described at run time with the LanguageModel of the same weights, bit for bit, on the port that the library chooses.
#include "described.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Returns uninitialized memory: `unwritten` reports a branch that depends on it before a call writes it.
std::unique_ptr<float[]> memory_for(std::size_t floats) { return std::make_unique_for_overwrite<float[]>(floats); }

template <LanguageModelConfig config>
void computes_the_same(Check& check) {
  using Model = LanguageModel<config>;
  constexpr std::size_t length = Model::context_length;
  static const Described<config> both;
  const auto workspace = std::make_unique_for_overwrite<typename Model::Workspace>();
  Vector<Token, length> tokens{};
  for (std::size_t i = 0; i < length; ++i) tokens(i) = static_cast<Token>(i * 7 % config.vocabulary);
  static Matrix<float, length, config.vocabulary> expected;
  if constexpr (has_int8_cache<config>) {
    const auto cache = std::make_unique<typename Model::Cache>();
    typename Model::Cache::Workspace scratch;
    for (std::size_t i = 0; i < length; ++i) {
      auto logits = row(expected, i);
      check.that(both.model.forward({&tokens(i), 1}, *cache, logits, scratch) == Status::ok);
      std::copy_n(logits.data(), config.vocabulary, &expected(i, 0));
    }
  } else {
    check.that(both.model.forward(tokens, expected, *workspace) == Status::ok);
  }
  for (const std::size_t prompt : {std::size_t{1}, length / 2, length}) {
    const auto cache = memory_for(cache_of<config>(&both.decoder)), scratch = memory_for(scratch_of<config>(&both.decoder));
    // Codes of an int8 cache that no token has written are multiplied by zero.
    if constexpr (has_int8_cache<config>) std::memset(cache.get(), 0xff, sizeof(float) * cache_of<config>(&both.decoder));
    Vector<float, config.vocabulary> logits{};
    const auto read = [&](std::size_t past, std::size_t count) {
      const Token* const next = tokens.data() + past;
      check.that(forward<config>(&both.decoder, past, next, count, cache.get(), logits.data(), scratch.get()) == TINYATTN_OK);
      check.same_bits(logits, row(expected, past + count - 1));
    };
    read(0, prompt);
    for (std::size_t past = prompt; past < length; ++past) read(past, 1);
  }
}

// A linear that has a weight of the other type only.
alignas(4) constexpr std::uint8_t some_codes[4] = {};
constexpr float some_floats[1] = {};
template <LanguageModelConfig config>
constexpr tinyattn_linear other_type =
    is_int8<config> ? tinyattn_linear{some_floats, nullptr, nullptr, nullptr} : tinyattn_linear{nullptr, nullptr, some_codes, some_floats};

// What must be refused, and must write nothing.
using Change = void (*)(tinyattn_decoder& decoder, tinyattn_block* blocks);
constexpr std::size_t largest = static_cast<std::size_t>(-1);

// Values of a decoder's sizes, each wrong by itself.
constexpr struct {
  std::size_t tinyattn_decoder::*size;
  std::initializer_list<std::size_t> wrong;
} wrong_sizes[] = {{&tinyattn_decoder::num_heads, {0, 3}},
                   {&tinyattn_decoder::num_kv_heads, {0, 3}},
                   {&tinyattn_decoder::d_model, {0, largest}},
                   {&tinyattn_decoder::d_hidden, {0, largest / 16}},
                   {&tinyattn_decoder::context_length, {0, largest}},
                   {&tinyattn_decoder::window, {largest}},
                   {&tinyattn_decoder::num_layers, {0, largest / 4}},
                   {&tinyattn_decoder::vocabulary, {0, 65537}}};

// Arguments that are missing, unknown or contradict each other, whatever the weights.
constexpr Change wrong_arguments[] = {
    [](auto& d, auto*) { d.blocks = nullptr; },
    [](auto& d, auto*) { d.cosines = nullptr; },
    [](auto& d, auto*) { d.sines = nullptr; },
    [](auto& d, auto*) { d.num_heads = d.num_kv_heads = 16; },  // a head of one feature has no pair to rotate
    [](auto& d, auto*) { d.activation = static_cast<tinyattn_activation>(opaque(kernel::num_activations)); },
    [](auto& d, auto*) { d.rotary = static_cast<tinyattn_rotary>(opaque(3)); },
    [](auto& d, auto*) {
      d.final_norm = {d.sines, nullptr, -1.0f};
    },
    [](auto& d, auto*) {
      d.head = {nullptr, d.sines, nullptr, nullptr};
    },
    [](auto&, auto* blocks) { blocks[2].attention_norm.weight = nullptr; },
    [](auto&, auto* blocks) { blocks[2].feed_forward_norm.epsilon = quiet_nan; }};

// Weights that are missing or of the other type.
constexpr Change wrong_floats[] = {
    [](auto& d, auto*) { d.token_embedding = nullptr; },           [](auto& d, auto*) { d.head = other_type<llama>; },
    [](auto&, auto* blocks) { blocks[1].query.weight = nullptr; }, [](auto&, auto* blocks) { blocks[1].key.weight = nullptr; },
    [](auto&, auto* blocks) { blocks[1].value.weight = nullptr; }, [](auto&, auto* blocks) { blocks[1].out_proj = other_type<llama>; },
    [](auto&, auto* blocks) { blocks[1].up.weight = nullptr; },    [](auto&, auto* blocks) { blocks[1].gate = other_type<llama>; },
    [](auto&, auto* blocks) { blocks[1].down.weight = nullptr; }};
constexpr Change wrong_int8[] = {[](auto& d, auto*) { d.token_codes = nullptr; },
                                 [](auto& d, auto*) { d.token_codes += 2; },  // not at a word
                                 [](auto& d, auto*) { d.token_scales = nullptr; },
                                 [](auto& d, auto*) { d.head = other_type<with_int8(llama)>; },
                                 [](auto&, auto* blocks) { blocks[1].query.codes = nullptr; },
                                 [](auto&, auto* blocks) { blocks[1].query.codes += 1; },
                                 [](auto&, auto* blocks) { blocks[1].key.codes = nullptr; },
                                 [](auto&, auto* blocks) { blocks[1].value.scales = nullptr; },
                                 [](auto&, auto* blocks) { blocks[1].out_proj = other_type<with_int8(llama)>; },
                                 [](auto&, auto* blocks) { blocks[1].out_proj.scales = nullptr; },
                                 [](auto&, auto* blocks) { blocks[1].up.codes = nullptr; },
                                 [](auto&, auto* blocks) { blocks[1].gate = other_type<with_int8(llama)>; },
                                 [](auto&, auto* blocks) { blocks[1].down.codes = nullptr; }};

template <LanguageModelConfig config>
void refuses(Check& check) {
  static const Described<config> both;
  const std::vector<float> untouched(cache_of<config>(&both.decoder), 5.0f);
  std::vector<float> cache = untouched, scratch(scratch_of<config>(&both.decoder));
  Vector<float, 19> logits = full<float, 19>(5.0f);
  const uint16_t known[] = {1, 2}, unknown[] = {1, 19};
  const auto forward = [&](const tinyattn_decoder* decoder, std::size_t past, const uint16_t* tokens, std::size_t count) {
    return test::forward<config>(decoder, past, tokens, count, cache.data(), logits.data(), scratch.data());
  };
  check.that(forward(&both.decoder, 19, known, 2) == TINYATTN_TOO_MANY_TOKENS);
  check.that(forward(&both.decoder, 21, known, 0) == TINYATTN_TOO_MANY_TOKENS);
  check.that(forward(&both.decoder, 0, unknown, 2) == TINYATTN_UNKNOWN_TOKEN);
  check.that(forward(&both.decoder, 0, nullptr, 2) == TINYATTN_BAD_ARGUMENT);
  check.that(forward(&both.decoder, 0, nullptr, 0) == TINYATTN_OK);
  check.that(forward(nullptr, 0, known, 2) == TINYATTN_BAD_ARGUMENT);
  check.that(cache_of<config>(nullptr) == 0 && scratch_of<config>(nullptr) == 0);
  for (const auto& [size, wrong] : wrong_sizes)
    for (const std::size_t value : wrong) {
      tinyattn_decoder decoder = both.decoder;
      decoder.*size = value;
      check.that(forward(&decoder, 0, known, 2) == TINYATTN_BAD_ARGUMENT);
      check.that(cache_of<config>(&decoder) == 0 && scratch_of<config>(&decoder) == 0);
    }
  if constexpr (has_int8_cache<config>) {
    tinyattn_decoder decoder = both.decoder;
    decoder.context_length = kernel::most_inputs + 1;
    check.that(forward(&decoder, 0, known, 2) == TINYATTN_BAD_ARGUMENT);
    check.that(cache_of<config>(&decoder) == 0 && scratch_of<config>(&decoder) == 0);
    const auto between_words = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(cache.data()) + 2);
    for (std::uint32_t* const wrong : {between_words, static_cast<std::uint32_t*>(nullptr)})
      check.that(tinyattn_decoder_forward_int8_cache(&both.decoder, 0, known, 2, wrong, logits.data(), scratch.data()) ==
                 TINYATTN_BAD_ARGUMENT);
  }
  const auto refuses_after = [&](const Change change) {
    auto blocks = both.blocks;
    tinyattn_decoder decoder = both.decoder;
    decoder.blocks = blocks.data();
    change(decoder, blocks.data());
    check.that(forward(&decoder, 0, known, 2) == TINYATTN_BAD_ARGUMENT);
  };
  std::for_each(std::begin(wrong_arguments), std::end(wrong_arguments), refuses_after);
  if constexpr (is_int8<config>)
    std::for_each(std::begin(wrong_int8), std::end(wrong_int8), refuses_after);
  else
    std::for_each(std::begin(wrong_floats), std::end(wrong_floats), refuses_after);
  check.same_bits(logits, full<float, 19>(5.0f));
  check.that(cache == untouched);
}

void ends_with_its_positions(Check& check) {
  static const Described<with_window(llama, 7)> both;
  tinyattn_decoder decoder = both.decoder;
  const auto cache = memory_for(tinyattn_decoder_cache(&decoder)), scratch = memory_for(tinyattn_decoder_scratch(&decoder));
  std::fill_n(cache.get(), tinyattn_decoder_cache(&decoder), 0.0f);
  Vector<float, 19> logits{};
  const uint16_t token = 1;
  const auto forward = [&](std::size_t past) {
    return tinyattn_decoder_forward(&decoder, past, &token, 1, cache.get(), logits.data(), scratch.get());
  };
  check.that(forward((1u << 28) - 1) == TINYATTN_OK && forward(1u << 28) == TINYATTN_TOO_MANY_TOKENS);
  decoder.rotary = TINYATTN_NO_ROTARY;
  check.that(forward(largest - 1) == TINYATTN_OK);
  decoder.rotary = TINYATTN_HALVES;
  decoder.cosines = decoder.sines = detail::sinusoids<20, 4, 500>.cosines;  // a table of 20 positions
  decoder.speeds = nullptr;
  check.that(forward(19) == TINYATTN_OK && forward(20) == TINYATTN_TOO_MANY_TOKENS);
  decoder.cosines = nullptr;
  check.that(forward(0) == TINYATTN_BAD_ARGUMENT);
}

void draws_the_same(Check& check) {
  tinyattn_philox generator = {5, 0};
  Philox4x32 expected_generator(5);
  Philox4x32 numbers(9);
  for (std::size_t turn = 0; turn < 200; ++turn) {
    Vector<float, 37> logits{};
    for (float& logit : logits.elements) logit = uniform(numbers, -6.0f, 6.0f);
    for (std::size_t i = turn % 5; i < 37; i += 5) logits(i) = i % 2 == 0 ? quiet_nan : -infinity;
    const Vector<float, 37> given = logits;
    Vector<float, 37> expected = logits;
    const float temperature = turn % 6 == 5 ? infinity : 0.25f * static_cast<float>(turn % 5);
    const Sampling how = {temperature, turn % 7, turn % 3 == 0 ? 1.0f : 0.8f};
    const tinyattn_sampling in_c = {how.temperature, how.top_k, how.top_p};
    uint16_t token = 0;
    check.that(tinyattn_sample(&in_c, 37, logits.data(), &generator, &token) == TINYATTN_OK);
    check.that(token == sample(expected, how, expected_generator) && given(token) > -infinity);
    check.same_bits(logits, expected);
  }
}

// The first token has a probability of .999. The others share the rest evenly, as far as the 24 bits of a uniform number can tell them
// apart.
void unlikely_tokens_are_drawn(Check& check) {
  constexpr std::size_t count = 65536;
  constexpr float share_of_first = 0.999f;
  static std::array<float, count> logits;
  const tinyattn_sampling how = {1.0f, 0, 1.0f};
  for (uint64_t stream = 0, draws = 0; draws < 20; ++stream) {
    Philox4x32 numbers(11, stream);
    const float u = uniform(numbers, 0.0f, 1.0f);
    if (u < share_of_first + 1e-5f) continue;
    ++draws;
    logits.fill(0.0f);
    logits[0] = 17.9971f;  // the logarithm of .999 / (.001 / 65535)
    tinyattn_philox generator = {11, stream};
    uint16_t token = 0;
    check.that(tinyattn_sample(&how, count, logits.data(), &generator, &token) == TINYATTN_OK);
    check.near(static_cast<float>(token) / count, (u - share_of_first) / (1.0f - share_of_first), 0.005f);
  }
}

void parts_compute_the_same(Check& check) {
  const auto x = drawn<Matrix<float, 3, 21>>(3);
  const auto check_norm = [&](const auto& norm) {
    const tinyattn_norm in_c = described(describe(norm));
    check_output(check, norm(x), [&](auto& out) { check.that(tinyattn_normalize(&in_c, 3, 21, x.data(), out.data()) == TINYATTN_OK); });
  };
  check_norm(drawn<LayerNorm<21>>(4));
  check_norm(drawn<RmsNorm<21>>(5));
  check_output(check, gelu(x),
               [&](auto& out) { check.that(tinyattn_activate(TINYATTN_GELU, x.size(), x.data(), out.data()) == TINYATTN_OK); });
}

void parts_refuse(Check& check) {
  static float many[65537] = {};
  static const auto untouched = full<float, 4>(5.0f);
  Vector<float, 4> out = untouched;
  const float x[4] = {};
  uint16_t token = 9;
  tinyattn_philox generator = {5, 7};
  const auto no_activation = static_cast<tinyattn_activation>(opaque(kernel::num_activations));
  const tinyattn_norm norm = {x, nullptr, 1.0f}, no_weight = {nullptr, nullptr, 1.0f}, below_zero = {x, nullptr, -1.0f};
  const tinyattn_sampling all = {1.0f, 0, 1.0f}, cold = {-1.0f, 0, 1.0f}, no_temperature = {quiet_nan, 0, 1.0f},
                          no_share = {1.0f, 0, quiet_nan};
  const tinyattn_status refused[] = {
      tinyattn_normalize(&no_weight, 1, 4, x, out.data()),
      tinyattn_normalize(&below_zero, 1, 4, x, out.data()),
      tinyattn_normalize(nullptr, 1, 4, x, out.data()),
      tinyattn_normalize(&norm, 0, 4, x, out.data()),
      tinyattn_normalize(&norm, 1, 4, nullptr, out.data()),
      tinyattn_activate(no_activation, 4, x, out.data()),
      tinyattn_activate(TINYATTN_RELU, 0, x, out.data()),
      tinyattn_activate(TINYATTN_RELU, 4, nullptr, out.data()),
      tinyattn_sample(&cold, 4, out.data(), &generator, &token),
      tinyattn_sample(&no_temperature, 4, out.data(), &generator, &token),
      tinyattn_sample(&no_share, 4, out.data(), &generator, &token),
      tinyattn_sample(nullptr, 4, out.data(), &generator, &token),
      tinyattn_sample(&all, 0, out.data(), &generator, &token),
      tinyattn_sample(&all, 65537, many, &generator, &token),
      tinyattn_sample(&all, 4, nullptr, &generator, &token),
      tinyattn_sample(&all, 4, out.data(), nullptr, &token),
      tinyattn_argmax(0, x, &token),
      tinyattn_argmax(65537, many, &token),
      tinyattn_argmax(4, nullptr, &token),
      tinyattn_argmax(4, x, nullptr),
  };
  for (const tinyattn_status status : refused) check.equal(status, TINYATTN_BAD_ARGUMENT);
  check.that(token == 9 && generator.stream == 7);
  check.same_bits(out, untouched);
  many[65535] = 1.0f;
  many[0] = quiet_nan;
  check.that(tinyattn_argmax(65536, many, &token) == TINYATTN_OK && token == 65535);
}

constexpr Test tests[] = {
    at_run_time("a decoder as GPT-2, however its prompt is divided", computes_the_same<gpt_2>),
    at_run_time("a decoder as Llama, with grouped heads and rotary positions", computes_the_same<llama>),
    at_run_time("a decoder as GPT-2 with int8 weights", computes_the_same<with_int8(gpt_2)>),
    at_run_time("a decoder as Llama with int8 weights", computes_the_same<with_int8(llama)>),
    at_run_time("a decoder as GPT-2 with an int8 cache", computes_the_same<with_int8_cache(gpt_2)>),
    at_run_time("a decoder as Llama with an int8 cache", computes_the_same<with_int8_cache(llama)>),
    at_run_time("a decoder as GPT-2 with a window", computes_the_same<with_window(gpt_2, 5)>),
    at_run_time("a decoder as Llama with a window, and int8 weights or an int8 cache",
                [](Check& check) {
                  computes_the_same<with_window(llama, 7)>(check);
                  computes_the_same<with_int8(with_window(llama, 16))>(check);
                  computes_the_same<with_int8_cache(with_window(llama, 4))>(check);
                }),
    at_run_time("a window ends with its positions", ends_with_its_positions),
    at_run_time("what makes no sense is refused, and nothing is written", refuses<llama>),
    at_run_time("the same with int8 weights", refuses<with_int8(llama)>),
    at_run_time("the same with an int8 cache", refuses<with_int8_cache(llama)>),
    at_run_time("tokens are drawn as sample draws them", draws_the_same),
    at_run_time("tokens that are unlikely each and not together are drawn", unlikely_tokens_are_drawn),
    at_run_time("norms and activations", parts_compute_the_same),
    at_run_time("parts refuse what makes no sense", parts_refuse),
};

}  // namespace

int main() { return run(tests); }
