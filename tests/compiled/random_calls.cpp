// SPDX-License-Identifier: MIT
//
// Random calls of the functions of tinyattn.h, valid and wild; calls.hpp says what each must do.
//
//     TINYATTN_PORT=avx2 random_calls [CALLS [FIRST]]
#include "calls.hpp"

namespace {

using namespace tinyattn::test;

// The macros contain no C-style cast, of which the compiler would warn here.
static_assert(TINYATTN_LAYER_SCRATCH(4, sizeof(int), 4) == TINYATTN_LAYER_SCRATCH(4u, 4, sizeof(int)));

std::size_t padded(std::size_t count) { return times(plus(count, TINYATTN_LANES - 1) / TINYATTN_LANES, TINYATTN_LANES); }
std::size_t attention_scratch(std::size_t tokens, std::size_t source_tokens) {
  return times(TINYATTN_QUERY_ROWS(tokens), padded(source_tokens));
}
std::size_t layer_scratch(std::size_t d_out, std::size_t kv_width, std::size_t tokens, std::size_t source_tokens) {
  const std::size_t floats = plus(times(kv_width, plus(padded(source_tokens), source_tokens)), times(d_out, TINYATTN_BLOCK_ROWS(tokens)));
  return plus(floats, attention_scratch(tokens, source_tokens));
}
std::size_t layer_scratch(std::size_t d_out, std::size_t tokens, std::size_t source_tokens) {
  return layer_scratch(d_out, d_out, tokens, source_tokens);
}

std::size_t linear_scratch(std::size_t rows, std::size_t in) {
  return times(TINYATTN_QUERY_ROWS(rows), plus(times(plus(in, 15) / 16, 16), 2));
}

template <auto function, bool transposes>
bool multiply(Call& call) {
  const std::size_t rows = call.size("rows"), inner = call.size("inner"), cols = call.size("cols");
  const Matrix a = call.input("a", rows, inner), out = call.output("out", rows, cols);
  const Matrix b = transposes ? call.input("b", cols, inner) : call.input("b", inner, cols);
  const auto expected = [&] {
    Matrix product{rows, cols};
    plain::matmul(a.view(), transposes ? b.view().transposed() : b.view(), product.view());
    return product;
  };
  return call.gives(out, expected, [&](Room& room, float* to) { return function(rows, inner, cols, room.input(a), room.input(b), to); });
}

float draw_scale(Call& call) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const bool is_wrong = call.is_wild && call.random.one_in(6);
  const float wrong = call.random.one_of({-0x1p-126f, -1.0f, -infinity, nan, -nan});
  call.refuse_if(is_wrong);
  return is_wrong ? wrong : call.random.one_of({-0.0f, 0.0f, 0x1p-127f, 0x1p-126f, 1e-3f, 0.35f, 1.0f, 3.0f, 1e30f, infinity});
}

bool softmax(Call& call) {
  const std::size_t rows = call.size("rows"), cols = call.size("cols");
  const float scale = draw_scale(call), spread = call.random.one_of({1.0f, 8.0f, 64.0f});
  call.note("bits of scale", __builtin_bit_cast(std::uint32_t, scale));
  const bool in_place = call.note("in place", call.random.one_in(3));
  Matrix m = call.input("m", rows, cols);
  const Matrix out = in_place ? m : call.output("out", rows, cols);
  for (float& score : m.elements) score = call.random.one_in(20) ? -infinity : score * spread;
  const auto expected = [&] {
    Matrix weights{rows, cols};
    plain::softmax(m.view(), scale, weights.view());
    return weights;
  };
  return call.gives(in_place ? m : out, expected,
                    [&](Room& room, float* to) { return tinyattn_softmax(rows, cols, scale, in_place ? to : room.input(m), to); });
}

// The elements of a tinyattn_mask as floats: flags are 0 or 1.
struct DrawnMask {
  int kind = TINYATTN_NO_MASK;
  bool one_row = false;
  Matrix elements = absent;
  std::unique_ptr<bool[]> flags = nullptr;

  bool has_flags() const { return kind == TINYATTN_BLOCK_MASK || kind == TINYATTN_KEEP_MASK; }

  plain::Mask plain_mask(std::size_t tokens, std::size_t source_tokens) {
    if (kind == TINYATTN_CAUSAL) return plain::mask_of(tinyattn::Causal{}, tokens, source_tokens);
    if (kind == TINYATTN_CAUSAL_BOTTOM_RIGHT) return plain::mask_of(tinyattn::CausalBottomRight{}, tokens, source_tokens);
    const std::size_t row_step = one_row ? 0 : source_tokens;
    if (kind == TINYATTN_ADDITIVE_MASK) return {.addends = {elements.elements.data(), tokens, source_tokens, row_step}};
    if (!has_flags()) return {};
    flags = std::make_unique<bool[]>(elements.elements.size());
    std::copy(elements.elements.begin(), elements.elements.end(), flags.get());
    return {.flags = {flags.get(), tokens, source_tokens, row_step}, .keeps = kind == TINYATTN_KEEP_MASK};
  }
};

DrawnMask draw_mask(Call& call, std::size_t tokens, std::size_t source_tokens) {
  Random& random = call.random;
  DrawnMask mask{};
  mask.kind = static_cast<int>(random.below(TINYATTN_ADDITIVE_MASK + 1));
  if (call.is_wild && random.one_in(10)) {
    mask.kind = random.one_of({-1, 6, 7, 8, 256, INT32_MAX, INT32_MIN});
    call.refuse_if(true);
  }
  mask.one_row = random.one_in(3);
  call.note("mask", static_cast<unsigned>(mask.kind)), call.note("one_row", mask.one_row);
  const std::uint32_t rarity = random.one_of({1u, 2u, 4u, 16u});
  if (mask.has_flags() || mask.kind == TINYATTN_ADDITIVE_MASK)
    mask.elements = call.input("elements", mask.one_row ? 1 : tokens, source_tokens);
  for (float& element : mask.elements.elements) {
    const bool is_one = random.one_in(rarity);
    element = mask.has_flags() ? is_one : is_one ? -infinity : element;
  }
  return mask;
}

// Returns the mask of a call. Elements of the other type must not be accessed. `kind` is copied as bytes, since a caller in C may pass any
// value.
tinyattn_mask given(const DrawnMask& mask, Room& room) {
  Room forbidden(Pages::forbidden);
  tinyattn_mask result{TINYATTN_NO_MASK, mask.one_row, mask.has_flags() ? room.output<bool>(mask.elements) : forbidden.output<bool>({0, 0}),
                       mask.kind == TINYATTN_ADDITIVE_MASK ? room.input(mask.elements) : forbidden.input({0, 0})};
  static_assert(sizeof result.kind == sizeof mask.kind);
  std::memcpy(&result.kind, &mask.kind, sizeof mask.kind);
  return result;
}

bool attention(Call& call) {
  const std::size_t tokens = call.size("tokens"), source_tokens = call.size("source_tokens");
  const std::size_t key_dim = call.size("key_dim"), value_dim = call.size("value_dim");
  const Matrix query = call.input("query", tokens, key_dim), key = call.input("key", source_tokens, key_dim);
  const Matrix value = call.input("value", source_tokens, value_dim), out = call.output("out", tokens, value_dim);
  const Matrix scratch = call.scratch(attention_scratch(tokens, source_tokens));
  DrawnMask drawn = draw_mask(call, tokens, source_tokens);
  const bool no_mask = drawn.kind == TINYATTN_NO_MASK && call.random.one_in(2);
  const auto expected = [&] {
    Matrix context{tokens, value_dim};
    plain::attention(query.view(), key.view(), value.view(), drawn.plain_mask(tokens, source_tokens), {}, context.view());
    return context;
  };
  return call.gives(out, expected, [&](Room& room, float* to) {
    const tinyattn_mask mask = given(drawn, room);
    return tinyattn_attention(tokens, source_tokens, key_dim, value_dim, room.input(query), room.input(key), room.input(value),
                              no_mask ? nullptr : &mask, to, room.output(scratch));
  });
}

// A linear with a weight of floats, or, if `scales` are there, with a row of codes for each output.
struct DrawnLinear {
  std::size_t in, out;
  bool is_int8;
  Matrix weight, scales, bias;

  bool is_there() const { return weight.is_there; }
};

std::size_t row_of_codes(std::size_t in) { return times(plus(in, 15) / 16, 16); }

DrawnLinear draw_linear(Call& call, bool is_int8, std::size_t in, std::size_t out, bool is_optional) {
  const bool is_there = !is_optional || !call.random.one_in(3);
  const auto draw = [&](const char* name, std::size_t rows, std::size_t cols) {
    return is_optional ? call.optional_input(name, rows, cols, is_there) : call.input(name, rows, cols);
  };
  DrawnLinear linear{in,
                     out,
                     is_int8,
                     is_int8 ? draw("codes", out, row_of_codes(in)) : draw("weight", in, out),
                     is_int8 ? draw("scales", 1, out) : absent,
                     call.optional_input("bias", 1, out, call.random.one_in(2))};
  if (is_int8) {
    call.refuse_if(in > 66311);
    for (float& code : linear.weight.elements) code = static_cast<float>(1 + call.random.below(255));
    for (float& scale : linear.scales.elements) scale = 0x1p-8f + 0x1p-24f * static_cast<float>(call.random.below(0x10000));
  }
  return linear;
}

// x . weight + bias with int8 weights, in doubles and in integers of 64 bits.
void project_int8(plain::Input x, const DrawnLinear& linear, plain::Output out) {
  int bits = 14;
  while (((std::size_t{1} << bits) - 1) * 127 * linear.in > 0x7fffffff) --bits;
  for (std::size_t i = 0; i < x.rows; ++i) {
    float largest = 0.0f;
    bool is_finite = true;
    for (std::size_t k = 0; k < x.cols; ++k) is_finite &= std::isfinite(x(i, k)), largest = std::max(largest, std::abs(x(i, k)));
    // The least power of two of which no element is more than 2^bits - 1 steps.
    int exponent = is_finite && largest >= 0x1p-64f ? std::ilogb(largest) - bits : 0;
    while (is_finite && std::nearbyint(std::ldexp(static_cast<double>(largest), -exponent)) > (1 << bits) - 1) ++exponent;
    const float step = !is_finite ? std::numeric_limits<float>::quiet_NaN() : largest < 0x1p-64f ? 0.0f : std::ldexp(1.0f, exponent);
    for (std::size_t j = 0; j < linear.out; ++j) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; is_finite && step != 0.0f && k < x.cols; ++k)
        sum += static_cast<std::int64_t>(std::nearbyint(std::ldexp(static_cast<double>(x(i, k)), -exponent))) *
               (static_cast<std::int64_t>(linear.weight.elements[j * row_of_codes(linear.in) + k]) - 128);
      const float scale = plain::product(linear.scales.elements[j], step), whole = static_cast<float>(sum);
      out(i, j) = linear.bias.is_there ? std::fma(whole, scale, linear.bias.elements[j]) : plain::product(whole, scale);
    }
  }
}

void project(plain::Input x, const DrawnLinear& linear, plain::Output out) {
  if (linear.is_int8)
    project_int8(x, linear, out);
  else
    plain::matmul(x, linear.weight.view(), out, linear.bias.view().first);
}

struct DrawnLayer {
  std::size_t d_in, d_out, num_heads, num_kv_heads;
  DrawnLinear query, key, value, out_proj;
  int rotary = TINYATTN_NO_ROTARY;
  Matrix cosines = absent, sines = absent;

  std::size_t kv_width() const { return kv_width_of(d_out, num_heads, num_kv_heads); }
  static std::size_t kv_width_of(std::size_t d_out, std::size_t num_heads, std::size_t num_kv_heads) {
    return num_heads == 0 || num_kv_heads == 0 ? d_out : times(d_out / num_heads, num_kv_heads);
  }
};

// Draws a layer. An output bias without an output weight has no effect.
DrawnLayer draw_layer(Call& call, bool is_int8) {
  const std::size_t num_heads = call.is_wild ? call.size("num_heads") : call.note("num_heads", 1 + call.random.below(4));
  const std::size_t d_in = call.size("d_in");
  std::size_t d_out = call.size("d_out");
  if (num_heads != 0 && (!call.is_wild || call.random.one_in(2))) d_out = times(num_heads, (d_out - 1) / num_heads + 1);
  call.note("rounded d_out", d_out);
  call.refuse_if(num_heads == 0 || d_out % num_heads != 0 || times(d_out, d_out) > most);
  const bool is_grouped = call.random.one_in(3);
  std::size_t num_kv_heads = is_grouped && !call.is_wild ? num_heads : 0;
  while (num_kv_heads > 1 && (num_heads % num_kv_heads != 0 || call.random.one_in(2))) --num_kv_heads;
  if (is_grouped && call.is_wild) num_kv_heads = call.size("num_kv_heads");
  call.note("key heads", num_kv_heads);
  call.refuse_if(num_heads != 0 && num_kv_heads != 0 && num_heads % num_kv_heads != 0);
  const std::size_t kv_width = DrawnLayer::kv_width_of(d_out, num_heads, num_kv_heads);
  const auto draw = [&](std::size_t in, std::size_t out, bool is_optional) { return draw_linear(call, is_int8, in, out, is_optional); };
  return {d_in,
          d_out,
          num_heads,
          num_kv_heads,
          draw(d_in, d_out, false),
          draw(d_in, kv_width, false),
          draw(d_in, kv_width, false),
          draw(d_out, d_out, true)};
}

// Draws how heads rotate, with tables for `positions` tokens.
void draw_rotary(Call& call, std::size_t positions, DrawnLayer& layer) {
  if (!call.random.one_in(3)) return;
  const std::size_t head_dim = layer.num_heads == 0 ? 1 : layer.d_out / layer.num_heads;
  if (!call.is_wild && head_dim % 2 != 0) return;
  layer.rotary = call.random.one_of<int>({TINYATTN_INTERLEAVED, TINYATTN_HALVES});
  if (call.is_wild && call.random.one_in(4)) layer.rotary = call.random.one_of({-1, 3, 256, INT32_MAX, INT32_MIN});
  call.note("rotary", static_cast<unsigned>(layer.rotary));
  call.refuse_if(head_dim % 2 != 0 || layer.rotary < 0 || layer.rotary > TINYATTN_HALVES);
  layer.cosines = call.input("cosines", positions, head_dim / 2);
  layer.sines = call.input("sines", positions, head_dim / 2);
}

tinyattn_linear given(const DrawnLinear& of, Room& room) {
  const float* const bias = room.input(of.bias);
  if (of.is_int8) return {nullptr, bias, room.output<std::uint8_t>(of.weight), room.input(of.scales)};
  return {room.input(of.weight), bias, nullptr, nullptr};
}
tinyattn_layer given(const DrawnLayer& layer, bool causal, Room& room) {
  tinyattn_layer to{layer.d_in,
                    layer.d_out,
                    layer.num_heads,
                    causal,
                    given(layer.query, room),
                    given(layer.key, room),
                    given(layer.value, room),
                    given(layer.out_proj, room),
                    layer.num_kv_heads,
                    TINYATTN_NO_ROTARY,
                    room.input(layer.cosines),
                    room.input(layer.sines)};
  std::memcpy(&to.rotary, &layer.rotary, sizeof layer.rotary);
  return to;
}

// Rotates the heads of each row by its number.
void rotate(const DrawnLayer& layer, plain::Output x) {
  const std::size_t dim = layer.d_out / layer.num_heads, pairs = dim / 2;
  if (layer.rotary == TINYATTN_NO_ROTARY) return;
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t j = 0; j < x.cols / 2; ++j) {
      const std::size_t i = j % pairs, head = j / pairs * dim;
      float& a = x(r, head + (layer.rotary == TINYATTN_HALVES ? i : 2 * i));
      float& b = x(r, head + (layer.rotary == TINYATTN_HALVES ? i + pairs : 2 * i + 1));
      const float first = a, cosine = layer.cosines.view()(r, i), sine = layer.sines.view()(r, i);
      a = std::fma(first, cosine, -plain::product(b, sine));
      b = std::fma(first, sine, plain::product(b, cosine));
    }
}

void compute(const DrawnLayer& layer, plain::Input x, plain::Input key_input, plain::Input value_input, const plain::Mask& mask,
             plain::Output out) {
  const std::size_t dim = layer.d_out / layer.num_heads;
  const std::size_t group = layer.d_out / layer.kv_width();
  Matrix query{x.rows, layer.d_out}, key{key_input.rows, layer.kv_width()}, value = key, context = query;
  project(x, layer.query, query.view());
  project(key_input, layer.key, key.view());
  rotate(layer, query.view());
  rotate(layer, key.view());
  project(value_input, layer.value, value.view());
  const bool has_output = layer.out_proj.is_there();
  for (std::size_t head = 0; head < layer.num_heads; ++head) {
    const auto of_head = [&](auto m) { return m.columns(head * dim, dim); };
    const auto of_key_head = [&](auto m) { return m.columns(head / group * dim, dim); };
    plain::attention(of_head(query.view()), of_key_head(key.view()), of_key_head(value.view()), mask, {},
                     of_head(has_output ? context.view() : out));
  }
  if (has_output) project(context.view(), layer.out_proj, out);
}

// The same array may be the input of queries, keys and values. The output may overwrite it if output rows are not longer. Without tokens
// only the layer has to make sense.
template <bool is_cross, bool is_int8 = false>
bool forward(Call& call) {
  Random& random = call.random;
  const std::size_t tokens = random.one_in(8) ? call.note("tokens", 0) : call.size("tokens");
  const bool is_self = !is_cross || call.note("one input", random.one_in(4));
  const std::size_t source_tokens = is_self ? tokens : call.size("source_tokens");
  DrawnLayer drawn_layer = draw_layer(call, is_int8);
  draw_rotary(call, tokens == 0 ? 1 : std::max(tokens, source_tokens), drawn_layer);
  const std::size_t d_in = drawn_layer.d_in, d_out = drawn_layer.d_out;
  const bool has_layer = call.note("layer", !call.is_wild || !random.one_in(30));
  call.refuse_if(!has_layer);
  if (tokens == 0) call.do_nothing();
  const bool in_place = call.note("in place", (call.is_wild || d_out <= d_in) && random.one_in(call.is_wild ? 8 : 2));
  call.refuse_if(in_place && d_out > d_in);
  const Matrix x = call.input("x", tokens, d_in);
  const Matrix key = is_self ? x : call.input("key", source_tokens, d_in), value = is_self ? x : call.input("value", source_tokens, d_in);
  const Matrix out = in_place ? x : call.output("out", tokens, d_out);
  const std::size_t integers = is_int8 ? linear_scratch(tokens, std::max(d_in, d_out)) : 0;
  const Matrix scratch = call.scratch(plus(layer_scratch(d_out, drawn_layer.kv_width(), tokens, source_tokens), integers));
  DrawnMask drawn = is_cross ? draw_mask(call, tokens, source_tokens) : DrawnMask{};
  const bool is_causal = call.note("causal", random.one_in(2));
  const bool no_mask = drawn.kind == TINYATTN_NO_MASK && random.one_in(2);
  const auto expected = [&] {
    plain::Mask mask = drawn.plain_mask(tokens, source_tokens);
    mask.is_causal = is_causal;
    Matrix result{tokens, d_out};
    compute(drawn_layer, x.view(), key.view(), value.view(), mask, result.view());
    return result;
  };
  return call.gives(out, expected, [&](Room& room, float* to) {
    const tinyattn_layer all = given(drawn_layer, is_causal, room);
    const tinyattn_layer* const layer = has_layer ? &all : nullptr;
    const tinyattn_mask mask = given(drawn, room);
    const float* const from = in_place ? to : room.input(x);
    float* const space = room.output(scratch);
    if (!is_cross) return (is_int8 ? tinyattn_forward_int8 : tinyattn_forward)(layer, tokens, from, to, space);
    return (is_int8 ? tinyattn_cross_forward_int8 : tinyattn_cross_forward)(
        layer, tokens, source_tokens, from, is_self ? from : room.input(key), is_self ? from : room.input(value), no_mask ? nullptr : &mask,
        to, space);
  });
}

bool linear_int8(Call& call) {
  const std::size_t rows = call.size("rows"), in = call.size("in"), out_features = call.size("out_features");
  const DrawnLinear linear = draw_linear(call, true, in, out_features, false);
  const Matrix x = call.input("x", rows, in), out = call.output("out", rows, out_features);
  const Matrix scratch = call.scratch(linear_scratch(rows, in));
  const auto expected = [&] {
    Matrix result{rows, out_features};
    project(x.view(), linear, result.view());
    return result;
  };
  return call.gives(out, expected, [&](Room& room, float* to) {
    const tinyattn_linear described = given(linear, room);
    return tinyattn_linear_forward_int8(&described, rows, in, out_features, room.input(x), to, room.output(scratch));
  });
}

struct DrawnConvolution {
  std::size_t in, out, kernel, stride, padding;

  // The number of tokens of the result, 0 if there is none.
  std::size_t rows(std::size_t tokens) const {
    const std::size_t padded = plus(tokens, times(2, padding));
    return stride == 0 || padding >= kernel || padded < kernel || tokens == 0 ? 0 : (padded - kernel) / stride + 1;
  }
  std::size_t width() const { return times(kernel, in); }
};

DrawnConvolution draw_convolution(Call& call) {
  const auto size = [&](const char* name, std::uint32_t bound) {
    return call.is_wild ? call.size(name) : call.note(name, 1 + call.random.below(bound));
  };
  DrawnConvolution drawn{size("in", 20), size("out", 40), size("kernel", 6), size("stride", 8), 0};
  drawn.padding = size("padding", static_cast<std::uint32_t>(call.is_wild ? 1 : drawn.kernel));
  if (!call.is_wild || (drawn.padding != 0 && call.random.one_in(2))) call.note("one less", --drawn.padding);
  return drawn;
}

// A convolution is a product of rows that are copied here, with zeros where x has no token.
template <bool is_int8>
bool convolution(Call& call) {
  const DrawnConvolution drawn = draw_convolution(call);
  const std::size_t least = drawn.kernel > times(2, drawn.padding) ? drawn.kernel - 2 * drawn.padding : 1;
  const std::size_t tokens = call.is_wild ? call.size("tokens") : call.note("tokens", least + call.random.below(40));
  const std::size_t rows = drawn.rows(tokens);
  const bool is_there = call.note("convolution", !call.is_wild || !call.random.one_in(30));
  call.refuse_if(!is_there || rows == 0);
  const DrawnLinear linear = draw_linear(call, is_int8, drawn.width(), drawn.out, false);
  const Matrix x = call.input("x", tokens, drawn.in), out = call.output("out", rows, drawn.out);
  const Matrix scratch = is_int8 ? call.scratch(plus(drawn.width(), linear_scratch(rows, drawn.width()))) : absent;
  const auto expected = [&] {
    Matrix unfolded{rows, drawn.width()}, result{rows, drawn.out};
    for (std::size_t i = 0; i < unfolded.elements.size(); ++i) {
      const std::size_t token = i / drawn.width() * drawn.stride + i % drawn.width() / drawn.in;
      if (token >= drawn.padding && token - drawn.padding < tokens)
        unfolded.elements[i] = x.elements[(token - drawn.padding) * drawn.in + i % drawn.in];
    }
    project(unfolded.view(), linear, result.view());
    return result;
  };
  // A product with a zero of the padding would make NaN of an infinite weight.
  const auto is_finite = [](float element) { return std::isfinite(element); };
  if (!is_int8 && drawn.padding != 0 && !std::all_of(linear.weight.elements.begin(), linear.weight.elements.end(), is_finite)) return true;
  return call.gives(out, expected, [&](Room& room, float* to) {
    const tinyattn_convolution all = {drawn.in, drawn.out, drawn.kernel, drawn.stride, drawn.padding, given(linear, room)};
    const tinyattn_convolution* const layer = is_there ? &all : nullptr;
    if (is_int8) return tinyattn_conv1d_int8(layer, tokens, room.input(x), to, room.output(scratch));
    return tinyattn_conv1d(layer, tokens, room.input(x), to);
  });
}

bool convolved_tokens(Call& call) {
  const DrawnConvolution drawn = draw_convolution(call);
  const std::size_t tokens = call.size("tokens"), rows = drawn.rows(tokens);
  const bool is_valid = times(drawn.width(), drawn.out) <= most && times(tokens, drawn.in) <= most && times(rows, drawn.out) <= most &&
                        drawn.in != 0 && drawn.out != 0;
  const tinyattn_convolution described = {drawn.in, drawn.out, drawn.kernel, drawn.stride, drawn.padding, {}};
  const std::size_t actual = tinyattn_conv1d_tokens(&described, tokens);
  ++(actual == 0 ? refused : computed);
  return actual == (is_valid ? rows : 0) && tinyattn_conv1d_tokens(nullptr, tokens) == 0;
}

template <auto function, auto plainly>
bool reduce(Call& call) {
  const std::size_t tokens = call.size("tokens"), features = call.size("features");
  const Matrix x = call.input("x", tokens, features), out = call.output("out", 1, features);
  const auto expected = [&] {
    Matrix result{1, features};
    plainly(x.view(), result.view());
    return result;
  };
  return call.gives(out, expected, [&](Room& room, float* to) { return function(tokens, features, room.input(x), to); });
}

bool standardize(Call& call) {
  const std::size_t rows = call.size("rows"), features = call.size("features");
  const bool in_place = call.note("in place", call.random.one_in(3));
  const Matrix x = call.input("x", rows, features), mean = call.input("mean", 1, features);
  const Matrix inverse_deviation = call.input("inverse_deviation", 1, features), out = in_place ? x : call.output("out", rows, features);
  const auto expected = [&] {
    Matrix result{rows, features};
    plain::standardize(x.view(), mean.elements.data(), inverse_deviation.elements.data(), result.view());
    return result;
  };
  return call.gives(out, expected, [&](Room& room, float* to) {
    return tinyattn_standardize(rows, features, in_place ? to : room.input(x), room.input(mean), room.input(inverse_deviation), to);
  });
}

// Returns whether a function counts as its macro does. It returns 0 if there are more floats than can be addressed, or already a little
// below that.
bool is_count(std::size_t actual, std::size_t exact, std::size_t macro, std::size_t largest_argument) {
  ++(actual == 0 ? refused : computed);
  if (actual == exact) return exact <= most && macro == exact;
  return actual == 0 && (exact > most / 128 || largest_argument > most / 4);
}

bool sizes_of_scratch(Call& call) {
  const std::size_t d_out = call.size("d_out"), tokens = call.size("tokens"), source_tokens = call.size("source_tokens");
  return is_count(tinyattn_attention_scratch(tokens, source_tokens), attention_scratch(tokens, source_tokens),
                  TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens), std::max(tokens, source_tokens)) &&
         is_count(tinyattn_layer_scratch(d_out, tokens, source_tokens), layer_scratch(d_out, tokens, source_tokens),
                  TINYATTN_LAYER_SCRATCH(d_out, tokens, source_tokens), std::max({d_out, tokens, source_tokens}));
}

bool sizes_of_scratch_int8(Call& call) {
  const std::size_t d_in = call.size("d_in"), d_out = call.size("d_out");
  const std::size_t tokens = call.size("tokens"), source_tokens = call.size("source_tokens");
  const std::size_t actual = tinyattn_layer_scratch_int8(d_in, d_out, tokens, source_tokens);
  if (std::max(d_in, d_out) > 66311) return ++refused, actual == 0;
  return is_count(actual, plus(layer_scratch(d_out, tokens, source_tokens), linear_scratch(tokens, std::max(d_in, d_out))),
                  TINYATTN_LAYER_SCRATCH_INT8(d_in, d_out, tokens, source_tokens), std::max(tokens, source_tokens));
}

struct Operation {
  const char* name;
  bool (*holds)(Call& call);
};

constexpr Operation operations[] = {
    {"tinyattn_matmul", multiply<tinyattn_matmul, false>},
    {"tinyattn_matmul_transposed", multiply<tinyattn_matmul_transposed, true>},
    {"tinyattn_softmax", softmax},
    {"tinyattn_attention", attention},
    {"tinyattn_forward", forward<false>},
    {"tinyattn_cross_forward", forward<true>},
    {"tinyattn_attention_scratch, tinyattn_layer_scratch", sizes_of_scratch},
    {"tinyattn_forward_int8", forward<false, true>},
    {"tinyattn_cross_forward_int8", forward<true, true>},
    {"tinyattn_linear_forward_int8", linear_int8},
    {"tinyattn_layer_scratch_int8", sizes_of_scratch_int8},
    {"tinyattn_conv1d", convolution<false>},
    {"tinyattn_conv1d_int8", convolution<true>},
    {"tinyattn_conv1d_tokens", convolved_tokens},
    {"tinyattn_mean", reduce<tinyattn_mean, plain::mean>},
    {"tinyattn_largest", reduce<tinyattn_largest, plain::largest>},
    {"tinyattn_standardize", standardize},
};

bool hold(const Operation& operation, unsigned long long first, unsigned long long count) {
  computed = refused = 0;
  for (unsigned long long number = first; number < first + count; ++number) {
    Random random(number);
    Call call(random);
    if (operation.holds(call)) continue;
    std::printf("# call %llu:%s\n", number, this_call);
    return false;
  }
  std::printf("# %zu calls computed, %zu refused\n", computed, refused);
  return computed != 0 && refused != 0;
}

[[noreturn]] void give_up(int signal) {
  for (const char* text : {signal == SIGALRM ? "Bail out! no return:" : "Bail out! crash:", static_cast<const char*>(this_call), "\n"})
    if (write(1, text, std::strlen(text)) < 0) break;
  _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const wanted = std::getenv("TINYATTN_PORT");
  if (wanted != nullptr && std::strcmp(wanted, tinyattn_port()) != 0) {
    std::printf("1..1\nok 1 - random calls # SKIP this processor lacks %s\n", wanted);
    return 0;
  }
  const auto count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500, first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  for (const int number : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(number, give_up);
  std::printf("1..%zu\n", std::size(operations));
  int number = 0, failures = 0;
  for (const Operation& operation : operations) {
    const bool holds = hold(operation, first, count);
    failures += !holds;
    std::printf("%s %d - %s\n", holds ? "ok" : "not ok", ++number, operation.name);
    std::fflush(stdout);
  }
  return failures;
}
