// SPDX-License-Identifier: MIT
//
// Random calls of the compiled library with null pointers, sizes of 0 or about as large as a size
// can be, masks of no kind, scales below 0. Each is refused at once and touches no array: they all
// stand on a page where that is a crash. What makes sense after all is computed.
//
//     nonsense [CALLS [FIRST]]
#include <cmath>
#include <limits>

#include "calls.hpp"
#include "tinyattn/tinyattn.h"

namespace {

using namespace tinyattn::test;

// As many floats as can be addressed.
constexpr std::size_t most = PTRDIFF_MAX / sizeof(float);

// Sums and products that stay at the largest size where they would wrap.
constexpr std::size_t plus(std::size_t a, std::size_t b) {
  return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}
constexpr std::size_t times(std::size_t a, std::size_t b) {
  return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

std::size_t padded(std::size_t count) {
  return times(plus(count, TINYATTN_LANES - 1) / TINYATTN_LANES, TINYATTN_LANES);
}
std::size_t attention_scratch(std::size_t tokens, std::size_t source_tokens) {
  return times(TINYATTN_QUERY_ROWS(tokens), padded(source_tokens));
}
std::size_t layer_scratch(std::size_t d_out, std::size_t tokens, std::size_t source_tokens) {
  const std::size_t block = TINYATTN_BLOCK_ROWS(tokens);
  const std::size_t rows = plus(plus(padded(source_tokens), source_tokens), block);
  return plus(times(d_out, rows), attention_scratch(tokens, source_tokens));
}

// Mostly small; else 0, about a power of two, or about what can be addressed.
std::size_t draw_size(Random& random) {
  if (!random.one_in(6)) return 1 + random.below(8);
  const std::size_t near = random.below(5);
  const std::size_t power = std::size_t{1}
                            << random.below(std::numeric_limits<std::size_t>::digits);
  const std::size_t base = random.one_of({std::size_t{0}, power, most, most / 2, most / 4,
                                          most / 16, most / 7, std::size_t{PTRDIFF_MAX}, SIZE_MAX});
  return random.one_in(3) ? base : base + near - 2;  // may wrap: all sizes are fine here
}

// The arguments of one call, and what they come to.
class Arguments {
 public:
  explicit Arguments(Random& random) : random_(random) {}

  void refuse_if(bool nonsense) { is_nonsense_ |= nonsense; }

  // An array that is there; it may be larger than can be.
  bool has(std::size_t rows, std::size_t cols = 1) {
    const std::size_t count = times(rows, cols);
    is_nonsense_ |= count == 0 || count > most;
    fits_ &= count <= room;
    return true;
  }

  // An array that the call needs; it may not be there.
  bool needs(std::size_t rows, std::size_t cols = 1) {
    const bool is_there = has(rows, cols) && !random_.one_in(20);
    is_nonsense_ |= !is_there;
    return is_there;
  }

  // Where an array is, if it is there: on a forbidden page if nothing may touch it.
  float* at(bool is_there, std::size_t which) const {
    static Pages pages[4];
    if (!is_there) return nullptr;
    return is_nonsense_ || is_idle_ ? pages[which].forbidden<float>()
                                    : static_cast<float*>(pages[which].place(Pages::size, false));
  }

  void touch_nothing() { is_idle_ = true; }

  // Calls if that is safe: what is neither nonsense nor fits would need arrays of that size.
  bool hold(auto call) const {
    if (!is_nonsense_ && !fits_) return true;
    ++compared;
    return call() == (is_nonsense_ ? TINYATTN_BAD_ARGUMENT : TINYATTN_OK);
  }

 private:
  static constexpr std::size_t room = Pages::size / sizeof(float);

  Random& random_;
  bool is_nonsense_ = false, fits_ = true, is_idle_ = false;
};

// Inputs may share their memory; outputs and scratch have some of their own.
enum Kind { input, masking, output, scratch };

bool multiply(Random& random, auto operation) {
  const std::size_t rows = draw_size(random), inner = draw_size(random), cols = draw_size(random);
  Arguments arguments(random);
  const bool a = arguments.needs(rows, inner), b = arguments.needs(inner, cols);
  const bool out = arguments.needs(rows, cols);
  say("rows %zu, inner %zu, cols %zu, a %d, b %d, out %d", rows, inner, cols, a, b, out);
  return arguments.hold([&] {
    return operation(rows, inner, cols, arguments.at(a, input), arguments.at(b, input),
                     arguments.at(out, output));
  });
}

bool matmul(Random& random) { return multiply(random, tinyattn_matmul); }
bool matmul_transposed(Random& random) { return multiply(random, tinyattn_matmul_transposed); }

bool softmax(Random& random) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::size_t rows = draw_size(random), cols = draw_size(random);
  const float wrong = random.one_of({-0x1p-126f, -1.0f, -infinity, nan, -nan});
  const float scale = random.one_in(6) ? wrong : random.one_of({-0.0f, 0.0f, 1.0f, infinity});
  Arguments arguments(random);
  arguments.refuse_if(!(scale >= 0.0f));
  const bool m = arguments.needs(rows, cols), out = arguments.needs(rows, cols);
  const double shown = static_cast<double>(scale);
  say("rows %zu, cols %zu, scale %g, m %d, out %d", rows, cols, shown, m, out);
  return arguments.hold([&] {
    return tinyattn_softmax(rows, cols, scale, arguments.at(m, input), arguments.at(out, output));
  });
}

// A mask, whose kind need not be one, and whether its elements are there.
struct DrawnMask {
  int kind;
  bool one_row, flags, addends;
};

DrawnMask draw_mask(Random& random, Arguments& arguments, std::size_t tokens,
                    std::size_t source_tokens) {
  const int unknown = random.one_of({-1, 6, 7, 8, 256, INT32_MAX, INT32_MIN});
  DrawnMask mask{random.one_in(10) ? unknown : static_cast<int>(random.below(6)), random.one_in(2),
                 random.one_in(2), random.one_in(2)};
  arguments.refuse_if(mask.kind < TINYATTN_NO_MASK || mask.kind > TINYATTN_ADDITIVE_MASK);
  const std::size_t rows = mask.one_row ? 1 : tokens;
  if (mask.kind == TINYATTN_BLOCK_MASK || mask.kind == TINYATTN_KEEP_MASK)
    mask.flags = arguments.needs(rows, source_tokens);
  if (mask.kind == TINYATTN_ADDITIVE_MASK) mask.addends = arguments.needs(rows, source_tokens);
  return mask;
}

tinyattn_mask given(const DrawnMask& drawn, const Arguments& arguments) {
  tinyattn_mask mask{TINYATTN_NO_MASK, drawn.one_row, nullptr,
                     arguments.at(drawn.addends, masking)};
  mask.flags = reinterpret_cast<const bool*>(arguments.at(drawn.flags, masking));
  static_assert(sizeof mask.kind == sizeof drawn.kind);
  std::memcpy(&mask.kind, &drawn.kind, sizeof mask.kind);
  return mask;
}

bool attention(Random& random) {
  const std::size_t tokens = draw_size(random), source_tokens = draw_size(random);
  const std::size_t key_dim = draw_size(random), value_dim = draw_size(random);
  Arguments arguments(random);
  const bool query = arguments.needs(tokens, key_dim);
  const bool key = arguments.needs(source_tokens, key_dim);
  const bool value = arguments.needs(source_tokens, value_dim);
  const bool out = arguments.needs(tokens, value_dim);
  const bool room = arguments.needs(attention_scratch(tokens, source_tokens));
  const bool has_mask = random.one_in(2);
  const DrawnMask drawn =
      has_mask ? draw_mask(random, arguments, tokens, source_tokens) : DrawnMask{};
  say("tokens %zu, source_tokens %zu, key_dim %zu, value_dim %zu, query %d, key %d, value %d, "
      "mask %d: kind %d, one_row %d, flags %d, addends %d, out %d, scratch %d",
      tokens, source_tokens, key_dim, value_dim, query, key, value, has_mask, drawn.kind,
      drawn.one_row, drawn.flags, drawn.addends, out, room);
  const tinyattn_mask mask = given(drawn, arguments);
  return arguments.hold([&] {
    return tinyattn_attention(tokens, source_tokens, key_dim, value_dim, arguments.at(query, input),
                              arguments.at(key, input), arguments.at(value, input),
                              has_mask ? &mask : nullptr, arguments.at(out, output),
                              arguments.at(room, scratch));
  });
}

// A layer, and which of its arrays are there.
struct DrawnLayer {
  std::size_t d_in, d_out, num_heads;
  bool is_there = true, query = true, key = true, value = true, projection = true, bias = true;
};

DrawnLayer draw_layer(Random& random, Arguments& arguments) {
  DrawnLayer layer{draw_size(random), draw_size(random), draw_size(random)};
  if (random.one_in(2)) layer.d_out = times(layer.num_heads, 1 + random.below(3));
  layer.is_there = !random.one_in(30);
  layer.query = arguments.needs(layer.d_in, layer.d_out);
  layer.key = arguments.needs(layer.d_in, layer.d_out);
  layer.value = arguments.needs(layer.d_in, layer.d_out);
  layer.projection = random.one_in(2) && arguments.has(layer.d_out, layer.d_out);
  layer.bias = random.one_in(2);
  const bool has_heads = layer.num_heads != 0 && layer.d_out % layer.num_heads == 0;
  arguments.refuse_if(!layer.is_there || !has_heads);
  return layer;
}

tinyattn_layer given(const DrawnLayer& drawn, const Arguments& arguments) {
  const auto linear = [&](bool weight) {
    return tinyattn_linear{arguments.at(weight, input), arguments.at(drawn.bias, input)};
  };
  return {drawn.d_in,          drawn.d_out,       drawn.num_heads,     false,
          linear(drawn.query), linear(drawn.key), linear(drawn.value), linear(drawn.projection)};
}

// Without tokens, nothing but the layer has to make sense.
bool run_layer(Random& random, bool is_cross) {
  const std::size_t tokens = random.one_in(8) ? 0 : draw_size(random);
  const std::size_t source_tokens = is_cross ? draw_size(random) : tokens;
  Arguments arguments(random), ignored(random);
  const DrawnLayer drawn = draw_layer(random, arguments);
  if (tokens == 0) arguments.touch_nothing();
  Arguments& others = tokens == 0 ? ignored : arguments;
  const bool query = others.needs(tokens, drawn.d_in), in_place = random.one_in(8);
  const bool key = !is_cross || others.needs(source_tokens, drawn.d_in);
  const bool value = !is_cross || others.needs(source_tokens, drawn.d_in);
  const bool out = in_place ? query : others.needs(tokens, drawn.d_out);
  const bool room = others.needs(layer_scratch(drawn.d_out, tokens, source_tokens));
  others.refuse_if(in_place && drawn.d_out > drawn.d_in);
  const bool has_mask = is_cross && random.one_in(2);
  DrawnMask drawn_mask{};
  if (has_mask) drawn_mask = draw_mask(random, others, tokens, source_tokens);
  say("layer %d: d_in %zu, d_out %zu, num_heads %zu, weights %d %d %d %d, bias %d; tokens %zu, "
      "source_tokens %zu, inputs %d %d %d, mask %d: kind %d, one_row %d, flags %d, addends %d, "
      "out %d, in place %d, scratch %d",
      drawn.is_there, drawn.d_in, drawn.d_out, drawn.num_heads, drawn.query, drawn.key, drawn.value,
      drawn.projection, drawn.bias, tokens, source_tokens, query, key, value, has_mask,
      drawn_mask.kind, drawn_mask.one_row, drawn_mask.flags, drawn_mask.addends, out, in_place,
      room);
  const tinyattn_layer layer = given(drawn, arguments);
  const tinyattn_mask mask = given(drawn_mask, arguments);
  const tinyattn_layer* const to = drawn.is_there ? &layer : nullptr;
  const float *const x = arguments.at(query, input), *const k = arguments.at(key, input);
  float* const result = arguments.at(out, in_place ? input : output);
  float* const space = arguments.at(room, scratch);
  return arguments.hold([&] {
    if (!is_cross) return tinyattn_forward(to, tokens, x, result, space);
    return tinyattn_cross_forward(to, tokens, source_tokens, x, k, arguments.at(value, input),
                                  has_mask ? &mask : nullptr, result, space);
  });
}

bool forward(Random& random) { return run_layer(random, false); }
bool cross_forward(Random& random) { return run_layer(random, true); }

// As the macros count, or 0 if that is more than can be addressed; 0 may come a little earlier.
bool is_count(std::size_t actual, std::size_t exact, std::size_t largest_argument) {
  if (actual == exact) return exact <= most;
  return actual == 0 && (exact > most / 128 || largest_argument > most / 4);
}

bool sizes_of_scratch(Random& random) {
  const std::size_t d_out = draw_size(random), tokens = draw_size(random);
  const std::size_t source_tokens = draw_size(random);
  const std::size_t longest = tokens > source_tokens ? tokens : source_tokens;
  say("d_out %zu, tokens %zu, source_tokens %zu", d_out, tokens, source_tokens);
  ++compared;
  return is_count(tinyattn_attention_scratch(tokens, source_tokens),
                  attention_scratch(tokens, source_tokens), longest) &&
         is_count(tinyattn_layer_scratch(d_out, tokens, source_tokens),
                  layer_scratch(d_out, tokens, source_tokens), d_out > longest ? d_out : longest);
}

bool inverse_sqrt(Random& random) {
  const std::size_t head_dim = draw_size(random);
  say("head_dim %zu", head_dim);
  const auto inverse = static_cast<double>(tinyattn_inverse_sqrt(head_dim));
  ++compared;
  if (head_dim == 0) return inverse == 0;
  return std::abs(inverse * std::sqrt(static_cast<double>(head_dim)) - 1) < 0x1.0001p-24;
}

constexpr Operation operations[] = {
    {"tinyattn_matmul", matmul},
    {"tinyattn_matmul_transposed", matmul_transposed},
    {"tinyattn_softmax", softmax},
    {"tinyattn_attention", attention},
    {"tinyattn_forward", forward},
    {"tinyattn_cross_forward", cross_forward},
    {"tinyattn_attention_scratch, tinyattn_layer_scratch", sizes_of_scratch},
    {"tinyattn_inverse_sqrt", inverse_sqrt},
};

}  // namespace

int main(int argc, char** argv) { return run(operations, 1000, argc, argv); }
