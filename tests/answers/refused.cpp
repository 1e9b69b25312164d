// SPDX-License-Identifier: MIT
//
// What the functions of the compiled library refuse. A call is made correctly, then with one argument after the other wrong, and then
// correctly again. A wrong call returns an error and touches no array: meanwhile the arrays' pages cannot be accessed.
#include <sys/mman.h>

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "models.hpp"
#include "strided.hpp"
#include "support/check.hpp"

using namespace tinyattn::test;
using std::size_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

namespace {

constexpr size_t most_inputs = 66311;  // the longest row of int8 weights

// Arrays of zeros, each in a page of its own.
constexpr size_t page_size = 4096, num_pages = 512;
size_t num_arrays = 0;
char* pages() {
  static void* const first = mmap(nullptr, num_pages * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (first == MAP_FAILED || num_arrays > num_pages) __builtin_trap();
  return static_cast<char*>(first);
}
template <class Element = float>
Element* array() {
  return reinterpret_cast<Element*>(pages() + num_arrays++ * page_size);
}
void protect(int how) {
  if (mprotect(pages(), num_pages * page_size, how) != 0) __builtin_trap();
}

// A call whose arguments are variables, so that each can be made wrong.
template <class Call>
class Refused {
 public:
  Refused(Check& check, const Call& call) : check_(check), call_(call) {
    check_.equal(call_(), TINYATTN_OK);
    protect(PROT_NONE);
  }
  Refused(const Refused&) = delete;
  Refused& operator=(const Refused&) = delete;
  ~Refused() {
    protect(PROT_READ | PROT_WRITE);
    check_.equal(call_(), TINYATTN_OK);
  }

  // Expects an error with each of these values.
  template <class Argument>
  const Refused& when(Argument& argument, std::initializer_list<std::type_identity_t<Argument>> values,
                      tinyattn_status expected = TINYATTN_BAD_ARGUMENT, int line = __builtin_LINE()) const {
    const Argument right = argument;
    for (const Argument& value : values) {
      argument = value;
      check_.equal(call_(), expected, line);
    }
    argument = right;
    return *this;
  }
  const Refused& sizes(auto&... all) const { return (when(all, {0, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4, SIZE_MAX / 8}), ...); }
  const Refused& pointers(auto*&... all) const { return (when(all, {nullptr}), ...); }
  // The output in the place of each input.
  const Refused& in_place(auto* out, auto&... inputs) const { return (when(inputs, {out}), ...); }
  // Values that are no enumerator; C can store any number.
  const Refused& kinds(auto&... all) const { return (unknown(all), ...); }
  const Refused& weights(auto&... all) const { return (missing(all).other(all), ...); }
  const Refused& weights_if_any(auto&... all) const { return (other(all), ...); }

 private:
  const Refused& unknown(auto& kind) const {
    const auto right = kind;
    const unsigned number = 99;
    static_assert(sizeof number == sizeof kind);
    __builtin_memcpy(&kind, &number, sizeof number);
    check_.equal(call_(), TINYATTN_BAD_ARGUMENT);
    kind = right;
    return *this;
  }
  const Refused& missing(tinyattn_linear& linear) const { return when(linear, {{}}); }
  // Weights of the other type; codes that are not aligned to words or have no scales.
  const Refused& other(tinyattn_linear& linear) const {
    static_assert(alignof(float) == 4);
    if (linear.codes == nullptr) return when(linear, {{nullptr, nullptr, reinterpret_cast<const uint8_t*>(linear.weight), linear.weight}});
    when(linear, {{linear.scales, nullptr, nullptr, nullptr}});
    return when(linear.codes, {linear.codes + 1, linear.codes + 2}).when(linear.scales, {nullptr});
  }

  Check& check_;
  const Call call_;
};

template <class Element>
Element* between_words(Element* array) {
  return reinterpret_cast<Element*>(reinterpret_cast<char*>(array) + 2);
}

// Turns a function that returns 0 for wrong sizes into one that returns a status.
tinyattn_status status_of(size_t count) { return count == 0 ? TINYATTN_BAD_ARGUMENT : TINYATTN_OK; }

// The count must rise with `size` until it overflows: from there on it is 0, and not before `least`.
void rises(Check& check, size_t& size, const auto& count, size_t least = SIZE_MAX >> 16, int line = __builtin_LINE()) {
  const size_t right = size;
  size_t last = 1;
  for (size = 1; size != 0; size *= 2) {
    const size_t now = count();
    check.that(now == 0 ? size > least : last != 0 && now >= last, line);
    last = now;
  }
  size = SIZE_MAX;
  check.that(last == 0 && count() == 0, line);
  size = right;
}

tinyattn_linear linear_of(Kind kind) {
  if (kind == Kind::f32) return {array(), array(), nullptr, nullptr};
  return {nullptr, array(), array<uint8_t>(), array()};
}

// --- Operations ---

void products(Check& check) {
  for (const auto multiply : {tinyattn_matmul, tinyattn_matmul_transposed}) {
    size_t rows = 2, inner = 4, cols = 3;
    const float *a = array(), *b = array();
    float* out = array();
    const Refused refused(check, [&] { return multiply(rows, inner, cols, a, b, out); });
    refused.sizes(rows, inner, cols).pointers(a, b, out).in_place(out, a, b);
    // Only a overflows, or only b, or only out.
    refused.when(rows, {SIZE_MAX / 28}).when(inner, {SIZE_MAX / 20});
    inner = 1, refused.when(rows, {SIZE_MAX / 20});
  }
}

void rows(Check& check) {
  size_t rows = 2, cols = 3;
  float scale = 1.0f;
  const float *x = array(), *mean = array(), *deviation = array();
  float* out = array();
  tinyattn_norm norm{array(), array(), 1.0f};
  const tinyattn_norm* its_norm = &norm;
  tinyattn_activation activation = TINYATTN_SILU;
  for (const auto pool : {tinyattn_mean, tinyattn_largest})
    Refused(check, [&] { return pool(rows, cols, x, out); }).sizes(rows, cols).pointers(x, out);
  Refused(check, [&] { return tinyattn_softmax(rows, cols, scale, x, out); })
      .sizes(rows, cols)
      .pointers(x, out)
      .when(scale, {-0x1p-126f, -infinity, quiet_nan});
  Refused(check, [&] { return tinyattn_standardize(rows, cols, x, mean, deviation, out); })
      .sizes(rows, cols)
      .pointers(x, mean, deviation, out);
  Refused(check, [&] { return tinyattn_normalize(its_norm, rows, cols, x, out); })
      .sizes(rows, cols)
      .pointers(its_norm, norm.weight, x, out)
      .when(norm.epsilon, {-1.0f, quiet_nan});
  const auto activate = [&]() __attribute__((no_sanitize("undefined"))) { return tinyattn_activate(activation, cols, x, out); };
  Refused(check, activate).when(cols, {0, SIZE_MAX}).pointers(x, out).kinds(activation);
}

void strided(Check& check) {
  tinyattn_walk walk{2, {2, 3}, {{3, 1}, {3, 1}, {0, 1}, {9, 9}}};
  const tinyattn_walk* its_walk = &walk;
  const auto *function = &tinyattn_function_add, *of_three = &tinyattn_function_fma;
  const auto* reduction = &tinyattn_reduction_sum;
  const auto* index = &tinyattn_reduction_argmin;
  const float *a = array(), *b = array();
  float* out = array();
  auto* indices = array<uint16_t>();
  const auto refuses = [&](const auto& refused) {
    refused.pointers(its_walk, a).when(walk.axes, {0, TINYATTN_MAX_AXES + 1, SIZE_MAX}).sizes(walk.extents[0], walk.extents[1]);
    refused.when(walk.strides[1][1], {PTRDIFF_MAX, PTRDIFF_MIN, PTRDIFF_MAX / 8, -PTRDIFF_MAX / 8});
    refused.when(walk.strides[0][0], {PTRDIFF_MAX, PTRDIFF_MIN});
  };
  {
    const Refused refused(check, [&] { return tinyattn_elementwise(function, its_walk, a, b, nullptr, out); });
    refuses(refused);
    refused.pointers(function, b, out).when(function, {of_three}).in_place(out, b).when(walk.strides[0][0], {0});
  }
  refuses(Refused(check, [&] { return tinyattn_copy(its_walk, a, out); }));
  walk.strides[0][1] = 0;
  {
    const Refused refused(check, [&] { return tinyattn_reduce(reduction, its_walk, a, out); });
    refuses(refused);
    refused.pointers(reduction, out).in_place(out, a);
  }
  const Refused refused(check, [&] { return tinyattn_reduce_to_index(index, its_walk, a, indices); });
  refuses(refused);
  refused.pointers(index, indices).when(walk.extents[1], {65537});
}

void drawing(Check& check) {
  size_t count = 3;
  float* logits = array();
  auto* token = array<uint16_t>();
  auto* generator = array<tinyattn_philox>();
  tinyattn_sampling sampling{1.0f, 0, 1.0f};
  const tinyattn_sampling* its_sampling = &sampling;
  Refused(check, [&] { return tinyattn_argmax(count, logits, token); }).when(count, {0, 65537}).pointers(logits, token);
  Refused(check, [&] { return tinyattn_sample(its_sampling, count, logits, generator, token); })
      .when(count, {0, 65537})
      .pointers(its_sampling, logits, generator, token)
      .when(sampling.temperature, {-1.0f, quiet_nan})
      .when(sampling.top_p, {quiet_nan});
  static float many[65536];
  many[0] = quiet_nan, many[65535] = 1.0f;
  uint16_t last = 0;
  check.that(tinyattn_argmax(65536, many, &last) == TINYATTN_OK && last == 65535);
  sampling.top_k = 1, last = 0;
  check.that(tinyattn_sample(&sampling, 65536, many, generator, &last) == TINYATTN_OK && last == 65535);
}

// --- Linears, convolutions and attention ---

template <Kind kind>
void linears(Check& check) {
  size_t rows = 2, inputs = 3, outputs = 2;
  tinyattn_linear linear = linear_of(kind);
  const tinyattn_linear* its_linear = &linear;
  const tinyattn_linear_kind* its_kind = kind == Kind::int8 ? &tinyattn_linear_int8 : &tinyattn_linear_floats;
  const float* x = array();
  float *out = array(), *scratch = array();
  const Refused refused(check, [&] { return tinyattn_linear_forward(its_kind, its_linear, rows, inputs, outputs, x, out, scratch); });
  refused.sizes(rows, inputs, outputs).pointers(its_kind, its_linear, x, out).in_place(out, x).weights(linear);
  if (kind == Kind::int8) refused.when(inputs, {most_inputs + 1}).pointers(scratch);
  // Only x is too large, or only the weight, or only out.
  refused.when(rows, {SIZE_MAX / 20}).when(outputs, {SIZE_MAX / 20});
  inputs = 1, refused.when(rows, {SIZE_MAX / 12});
}

template <Kind kind>
void convolutions(Check& check) {
  constexpr bool is_int8 = kind == Kind::int8;
  tinyattn_convolution convolution{is_int8 ? &tinyattn_convolution_int8 : &tinyattn_convolution_floats, 8, 1, 3, 2, 1, linear_of(kind)};
  const tinyattn_convolution* its_convolution = &convolution;
  size_t tokens = 5;
  const float* x = array();
  float *out = array(), *scratch = array();
  const auto refuses_sizes = [&](const auto& refused) {
    refused.sizes(tokens)
        .pointers(its_convolution)
        .when(convolution.in, {0, SIZE_MAX / 2})
        .when(convolution.out, {0, SIZE_MAX / 8, SIZE_MAX / 100})
        .when(convolution.kernel, {0, 8, SIZE_MAX})
        .when(convolution.stride, {0})
        .when(convolution.padding, {3});
  };
  refuses_sizes(Refused(check, [&] { return status_of(tinyattn_conv1d_tokens(its_convolution, tokens)); }));
  const tinyattn_convolution wraps{nullptr, 8, 1, SIZE_MAX / 2 + 2, SIZE_MAX / 4 + 1, SIZE_MAX / 8 * 3 + 3, {}};  // 8 * kernel is 8
  check.equal(tinyattn_conv1d_tokens(&wraps, tokens), size_t{0});
  const Refused refused(check, [&] { return tinyattn_conv1d(its_convolution, tokens, x, out, scratch); });
  refuses_sizes(refused);
  refused.pointers(convolution.kind, x, out).in_place(out, x).weights(convolution.linear);
  if (is_int8) refused.pointers(scratch);
}

void attention(Check& check) {
  size_t tokens = 2, sources = 3, key_dim = 4, value_dim = 2;
  const float *query = array(), *key = array(), *value = array();
  tinyattn_mask mask{TINYATTN_KEEP_MASK, false, array<bool>(), nullptr};
  const tinyattn_mask* its_mask = &mask;
  float *out = array(), *scratch = array();
  const auto attend = [&] { return tinyattn_attention(tokens, sources, key_dim, value_dim, query, key, value, its_mask, out, scratch); };
  Refused(check, attend)
      .sizes(tokens, sources, key_dim, value_dim)
      .when(sources, {SIZE_MAX / 100})
      .pointers(query, key, value, out, scratch, mask.flags)
      .in_place(out, query, key, value)
      .when(mask.kind, {TINYATTN_ADDITIVE_MASK})
      .kinds(mask.kind);
  mask = {TINYATTN_BLOCK_MASK, false, mask.flags, nullptr};
  Refused(check, attend).pointers(mask.flags);
  its_mask = nullptr;
  check.equal(attend(), TINYATTN_OK);
}

void sizes_of_scratch(Check& check) {
  size_t tokens = 4, sources = 4;
  for (size_t* const size : {&tokens, &sources}) rises(check, *size, [&] { return tinyattn_attention_scratch(tokens, sources); });
  tinyattn_layer layer{};
  layer.kind = &tinyattn_layer_floats, layer.d_in = layer.d_out = 4, layer.num_heads = 1;
  const auto of_layer = [&] { return tinyattn_layer_scratch(&layer, tokens, sources); };
  constexpr size_t half_of_bits = size_t{1} << sizeof(size_t) * 4;  // a weight has d_out * d_out floats
  rises(check, layer.d_out, of_layer, half_of_bits / 4);
  for (const tinyattn_layer_kind* kind : {&tinyattn_layer_floats, &tinyattn_layer_int8})
    for (size_t* const size : {&tokens, &sources}) layer.kind = kind, rises(check, *size, of_layer);
  for (size_t* const size : {&layer.d_in, &layer.d_out}) {
    // With 32 bits, d_out * d_out elements may not be more than 2^29.
    const size_t most = size == &layer.d_in || sizeof(size_t) > 4 ? most_inputs : 23170;
    rises(check, *size, of_layer, most);
    Refused(check, [&] { return status_of(of_layer()); }).when(*size, {most}, TINYATTN_OK).when(*size, {most + 1});
  }
}

template <Kind kind>
void layers(Check& check) {
  constexpr bool is_int8 = kind == Kind::int8;
  tinyattn_layer layer{};
  layer.kind = is_int8 ? &tinyattn_layer_int8 : &tinyattn_layer_floats;
  layer.d_in = 3, layer.d_out = 4, layer.num_heads = 2, layer.num_kv_heads = 1, layer.rotary = TINYATTN_HALVES;
  for (auto* linear : {&layer.query, &layer.key, &layer.value, &layer.out_proj}) *linear = linear_of(kind);
  layer.cosines = array(), layer.sines = array();
  const tinyattn_layer* its_layer = &layer;
  size_t tokens = 2, sources = 3;
  const float *x = array(), *key = array(), *value = array();
  tinyattn_mask mask{TINYATTN_KEEP_MASK, false, array<bool>(), nullptr};
  float *out = array(), *scratch = array();
  const auto refuses = [&](const auto& refused) {
    refused.pointers(its_layer, layer.kind, x, out, scratch, layer.cosines, layer.sines)
        .when(tokens, {0}, TINYATTN_OK)
        .when(tokens, {SIZE_MAX, SIZE_MAX / 16})
        .in_place(out, x)
        .when(layer.d_in, {0, SIZE_MAX / 2})
        .when(layer.d_out, {0, 5, 6, SIZE_MAX - 1})
        .when(layer.num_heads, {0, 3})
        .when(layer.num_kv_heads, {3, 4})
        .kinds(layer.rotary)
        .weights(layer.query, layer.key, layer.value)
        .weights_if_any(layer.out_proj);
    if (!is_int8) return;
    const tinyattn_linear out_proj = layer.out_proj;
    tokens = 0, layer.out_proj = {};
    refused.when(layer.d_in, {most_inputs}, TINYATTN_OK).when(layer.d_in, {most_inputs + 1}).when(layer.d_out, {2 * most_inputs});
    tokens = 2, layer.out_proj = out_proj;
  };
  refuses(Refused(check, [&] { return tinyattn_forward(its_layer, tokens, x, out, scratch); }));
  const Refused refused(check, [&] { return tinyattn_cross_forward(its_layer, tokens, sources, x, key, value, &mask, out, scratch); });
  refuses(refused);
  refused.pointers(key, value, mask.flags).when(sources, {0, SIZE_MAX / 4, SIZE_MAX / 100}).in_place(out, key, value).kinds(mask.kind);
}

// --- Models ---

// A model's blocks, and the sizes that encoders and decoders share.
template <Kind kind, class Model>
struct ModelOf {
  tinyattn_block blocks[2] = {};
  Model model{};
  const Model* its_model = &model;

  explicit ModelOf(const auto* of_kind) {
    const tinyattn_norm norm{array(), array(), 1.0f};
    for (tinyattn_block& block : blocks) {
      block.attention_norm = block.feed_forward_norm = norm;
      for (auto* linear : {&block.query, &block.key, &block.value, &block.out_proj, &block.up, &block.gate, &block.down})
        *linear = linear_of(kind);
    }
    model.kind = of_kind;
    model.context_length = 5, model.d_model = 4, model.d_hidden = 3, model.num_layers = 2, model.num_heads = 2, model.num_kv_heads = 1;
    model.activation = TINYATTN_SILU, model.rotary = TINYATTN_HALVES, model.cosines = array(), model.sines = array();
    model.blocks = blocks, model.final_norm = norm;
  }

  // What functions of scratch and caches refuse, too.
  void refuses_sizes(const auto& refused) {
    refused.pointers(its_model, model.kind)
        .when(model.num_heads, {0, 3})
        .when(model.num_kv_heads, {3, 4})
        .when(model.d_model, {0, 5, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 16 + 1})
        .when(model.d_hidden, {0, SIZE_MAX, SIZE_MAX / 16})
        .when(model.context_length, {0, SIZE_MAX, SIZE_MAX / 64})
        .when(model.num_layers, {0});
    if (kind != Kind::f32) refused.when(model.d_model, {2 * most_inputs}).when(model.d_hidden, {most_inputs + 1});
    if constexpr (!requires { model.window; }) {
      refused.when(model.d_model, {size_t{4} << sizeof(size_t) * 4}).when(model.d_hidden, {SIZE_MAX / 1000});
    } else {
      refused.when(model.num_kv_heads, {0})
          .when(model.vocabulary, {0, 65537})
          .when(model.window, {SIZE_MAX})
          .when(model.num_layers, {SIZE_MAX / 4});
      if (kind == Kind::int8_cache) refused.when(model.context_length, {most_inputs + 1}).when(model.window, {most_inputs + 1});
    }
  }
  void refuses(const auto& refused) {
    refuses_sizes(refused);
    refused.pointers(model.blocks, model.cosines, model.sines)
        .when(model.d_model, {6})  // with heads of an odd number of features
        .kinds(model.rotary, model.activation)
        .when(model.final_norm.epsilon, {-1.0f});
    for (tinyattn_block& block : blocks)
      refused.pointers(block.attention_norm.weight, block.feed_forward_norm.weight)
          .when(block.attention_norm.epsilon, {quiet_nan})
          .when(block.feed_forward_norm.epsilon, {-1.0f})
          .weights(block.query, block.key, block.value, block.up, block.down)
          .weights_if_any(block.out_proj, block.gate);
  }
};

template <Kind kind>
void encoders(Check& check) {
  ModelOf<kind, tinyattn_encoder> of(kind == Kind::f32 ? &tinyattn_encoder_floats : &tinyattn_encoder_int8);
  size_t tokens = 2;
  const float* x = array();
  float *out = array(), *scratch = array();
  of.refuses_sizes(Refused(check, [&] { return status_of(tinyattn_encoder_scratch(of.its_model)); }));
  const Refused refused(check, [&] { return tinyattn_encoder_forward(of.its_model, x, tokens, out, scratch); });
  of.refuses(refused);
  refused.pointers(x, out, scratch).when(tokens, {6, SIZE_MAX}, TINYATTN_TOO_MANY_TOKENS).when(tokens, {0}, TINYATTN_OK);
}

// A decoder and the arguments of its calls.
template <Kind kind>
struct DecoderOf : ModelOf<kind, tinyattn_decoder> {
  size_t past = 0, count = 2;
  uint16_t* tokens = array<uint16_t>();
  float *cache = array(), *logits = array(), *scratch = array();
  tinyattn_linear embedding = linear_of(kind);

  DecoderOf() : ModelOf<kind, tinyattn_decoder>(decoder_kind<kind>) {
    auto& decoder = this->model;
    decoder.vocabulary = 3, decoder.head = linear_of(kind), decoder.speeds = array<uint64_t>();  // which count with a window only
    decoder.token_embedding = embedding.weight, decoder.token_codes = embedding.codes, decoder.token_scales = embedding.scales;
  }
  tinyattn_status forward() const { return tinyattn_decoder_forward(this->its_model, past, tokens, count, cache, logits, scratch); }
};

template <Kind kind>
void decoders(Check& check) {
  DecoderOf<kind> of;
  tinyattn_decoder& model = of.model;
  for (const auto count : {tinyattn_decoder_scratch, tinyattn_decoder_cache})
    of.refuses_sizes(Refused(check, [&] { return status_of(count(of.its_model)); }));
  {
    const Refused refused(check, [&] { return of.forward(); });
    of.refuses(refused);
    refused.pointers(of.tokens, of.cache, of.logits, of.scratch)
        .when(of.past, {4, 6, SIZE_MAX}, TINYATTN_TOO_MANY_TOKENS)
        .weights_if_any(model.head)
        .when(model.head, {{nullptr, model.head.bias, nullptr, nullptr}});
    of.past = 1, refused.when(of.count, {5, SIZE_MAX}, TINYATTN_TOO_MANY_TOKENS);
    of.count = 0, refused.when(of.past, {6}, TINYATTN_TOO_MANY_TOKENS).when(of.tokens, {nullptr}, TINYATTN_OK);
    of.past = 0, of.count = 2;
    if (kind == Kind::f32)
      refused.pointers(model.token_embedding);
    else
      refused.pointers(model.token_codes, model.token_scales).when(model.token_codes, {model.token_codes + 2});
    refused.when(of.cache, {between_words(of.cache)});
  }
  of.tokens[1] = 3;
  check.equal(of.forward(), TINYATTN_UNKNOWN_TOKEN);
  // A text ends with its context; with a window only where a table of positions ends, or at 2^28, where speeds end.
  const auto ends_after = [&](size_t last) {
    of.count = 1, of.past = last;
    check.equal(of.forward(), TINYATTN_OK);
    of.past = last + 1;
    check.equal(of.forward(), TINYATTN_TOO_MANY_TOKENS);
  };
  model.rotary = TINYATTN_NO_ROTARY;
  ends_after(4);
  model.window = 4;
  ends_after(SIZE_MAX - 1);
  model.rotary = TINYATTN_HALVES;
  ends_after((1u << 28) - 1);
  model.position_embedding = array();
  ends_after(4);
  model.position_embedding = nullptr, model.speeds = nullptr;
  ends_after(4);
}

template <Kind kind>
void texts(Check& check) {
  DecoderOf<kind> of;
  tinyattn_tokenizer tokenizer{3, nullptr, [](uint16_t, size_t* size) { return *size = 1, "a"; }};
  tinyattn_text text{};
  text.tokenizer = &tokenizer, text.cache = of.cache, text.logits = of.logits, text.scratch = of.scratch;
  tinyattn_generation options{};
  options.max_tokens = 1;
  tinyattn_text* its_text = &text;
  const tinyattn_generation* its_options = &options;
  auto* result = array<tinyattn_generation_result>();
  size_t num_puts = 0;
  tinyattn_put put = [](void* number, const char*, size_t) { return ++*static_cast<size_t*>(number) != 0; };
  const auto generate = [&] {
    const size_t past = text.past, puts = num_puts;
    const uint64_t stream = text.generator.stream;
    text.decoder = of.its_model;
    const tinyattn_status status = tinyattn_generate(its_text, its_options, of.tokens, of.count, put, &num_puts, result);
    check.that(status == TINYATTN_OK || (text.past == past && text.generator.stream == stream && num_puts == puts));
    return status;
  };
  {
    const Refused refused(check, generate);
    refused.pointers(its_text, its_options, of.tokens, put, result)
        .pointers(text.tokenizer, text.cache, text.logits, text.scratch, tokenizer.piece)
        .when(tokenizer.vocabulary, {4})
        .when(options.sampling.temperature, {-1.0f, quiet_nan})
        .when(options.sampling.top_p, {quiet_nan});
    refused.when(text.cache, {between_words(of.cache)});
    of.refuses(refused);
  }
  // A prompt for which there is no room is not read; a text ends where its positions do.
  const auto ends = [&](size_t past, size_t num_tokens, size_t past_after) {
    text.past = past;
    check.equal(generate(), TINYATTN_OK);
    check.that(result->end == TINYATTN_END_CONTEXT_FULL && result->num_tokens == num_tokens && text.past == past_after);
  };
  options.max_tokens = 3;
  ends(4, 0, 4);
  ends(2, 1, 5);
  of.model.window = 4;
  ends((1u << 28) - 3, 1, 1u << 28);
}

constexpr Test tests[] = {
    at_run_time("products", products),
    at_run_time("operations on rows", rows),
    at_run_time("functions of elements, reductions, copies", strided),
    at_run_time("drawing tokens", drawing),
    at_run_time("linears", linears<Kind::f32>),
    at_run_time("linears of int8", linears<Kind::int8>),
    at_run_time("convolutions", convolutions<Kind::f32>),
    at_run_time("convolutions of int8", convolutions<Kind::int8>),
    at_run_time("attention", attention),
    at_run_time("sizes of scratch", sizes_of_scratch),
    at_run_time("layers", layers<Kind::f32>),
    at_run_time("layers of int8", layers<Kind::int8>),
    at_run_time("encoders", encoders<Kind::f32>),
    at_run_time("encoders of int8", encoders<Kind::int8>),
    at_run_time("decoders", decoders<Kind::f32>),
    at_run_time("decoders of int8", decoders<Kind::int8>),
    at_run_time("decoders with a cache of int8", decoders<Kind::int8_cache>),
    at_run_time("texts", texts<Kind::f32>),
    at_run_time("texts of int8", texts<Kind::int8>),
    at_run_time("texts with a cache of int8", texts<Kind::int8_cache>),
};

}  // namespace

int main() { return run(tests); }
