// SPDX-License-Identifier: MIT
//
// Random calls of the compiled library between pages that nobody may touch: each array lies flush
// against the page behind it, then against the page before it. Every bit is that of plain loops.
//
//     TINYATTN_PORT=avx2 random_calls [CALLS [FIRST]]
#include <algorithm>
#include <bit>

#include "calls.hpp"
#include "plain.hpp"

namespace {

using namespace tinyattn::test;

// Small, near the sizes of vectors, tiles and blocks, or any.
std::size_t draw_size(Random& random) {
  if (random.one_in(3)) return 1 + random.below(8);
  if (random.one_in(2))
    return random.one_of({4u, 8u, 16u, 32u, 48u, 64u, 96u}) + random.below(3) - 1;
  return 1 + random.below(70);
}

// Between 2^-7 and 2, with every bit of a float: no result is subnormal.
float draw_number(Random& random) {
  const auto mantissa = static_cast<float>(0x800000u + random.below(0x800000u));
  const float magnitude = std::ldexp(mantissa, -23 - static_cast<int>(random.below(8)));
  return random.one_in(2) ? magnitude : -magnitude;
}

// Of some arrays, a few elements are anything.
Numbers draw_numbers(Random& random, std::size_t count) {
  constexpr float largest = std::numeric_limits<float>::max();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Numbers numbers(count);
  for (float& number : numbers) number = draw_number(random);
  if (random.one_in(4))
    for (std::size_t left = 1 + random.below(4); left != 0; --left)
      numbers[random.below(static_cast<std::uint32_t>(count))] =
          random.one_of({nan, infinity, -infinity, 0.0f, -0.0f, 1e30f, -largest, largest});
  return numbers;
}

Matrix draw_matrix(Random& random, std::size_t rows, std::size_t cols) {
  return {rows, cols, draw_numbers(random, rows * cols)};
}

// The arrays of one call.
class Room {
 public:
  explicit Room(bool at_end) : at_end_(at_end) {}

  // None if there are no numbers.
  float* hold(const Numbers& numbers) {
    if (numbers.empty()) return nullptr;
    float* const array = place(numbers.size(), 0.0f);
    std::copy(numbers.begin(), numbers.end(), array);
    return array;
  }
  // The same; must not change.
  const float* input(const Numbers& numbers) {
    const float* const array = hold(numbers);
    if (array != nullptr) inputs_.push_back({array, &numbers});
    return array;
  }
  const bool* flags(const std::vector<unsigned char>& flags) {
    void* const array = next().place(flags.size(), at_end_);
    if (!flags.empty()) std::memcpy(array, flags.data(), flags.size());
    return flags.empty() ? nullptr : static_cast<const bool*>(array);
  }
  float* output(std::size_t count) { return place(count, 42.0f); }
  float* scratch(std::size_t count) {
    return place(count, std::numeric_limits<float>::quiet_NaN());
  }

  bool inputs_hold() const {
    return std::all_of(inputs_.begin(), inputs_.end(), [](const auto& input) {
      const auto& [array, numbers] = input;
      return std::memcmp(array, numbers->data(), numbers->size() * sizeof(float)) == 0;
    });
  }

 private:
  Pages& next() {
    static std::array<Pages, 16> all;
    return all.at(used_++);
  }
  float* place(std::size_t count, float start) {
    auto* const array = static_cast<float*>(next().place(count * sizeof(float), at_end_));
    std::fill_n(array, count, start);
    return array;
  }

  struct Input {
    const float* array;
    const Numbers* numbers;
  };
  bool at_end_;
  std::size_t used_ = 0;
  std::vector<Input> inputs_ = {};
};

// All NaNs are one.
bool same_bits(const float* actual, const Numbers& expected) {
  const auto bits = [](float x) { return x != x ? 0x7fc00000u : std::bit_cast<std::uint32_t>(x); };
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (bits(actual[i]) != bits(expected[i])) return false;
  return true;
}

// call(room, out) makes the call. If it works in place, `replaced` is what the output was before.
bool gives(const Matrix& expected, const Numbers& replaced, auto call) {
  for (const bool at_end : {false, true}) {
    Room room(at_end);
    float* const out =
        replaced.empty() ? room.output(expected.elements.size()) : room.hold(replaced);
    if (call(room, out) != TINYATTN_OK) return false;
    if (!same_bits(out, expected.elements) || !room.inputs_hold()) return false;
  }
  ++compared;
  return true;
}

bool multiply(Random& random, bool transposes) {
  const std::size_t rows = draw_size(random), inner = draw_size(random), cols = draw_size(random);
  const Matrix a = draw_matrix(random, rows, inner), b = draw_matrix(random, inner, cols);
  const Matrix given = transposes ? transposed(b) : b;
  const auto multiply = transposes ? tinyattn_matmul_transposed : tinyattn_matmul;
  say("rows %zu, inner %zu, cols %zu", rows, inner, cols);
  return gives(plain_product(a, b), {}, [&](Room& room, float* out) {
    return multiply(rows, inner, cols, room.input(a.elements), room.input(given.elements), out);
  });
}

bool matmul(Random& random) { return multiply(random, false); }
bool matmul_transposed(Random& random) { return multiply(random, true); }

bool softmax(Random& random) {
  Matrix m = draw_matrix(random, draw_size(random), draw_size(random));
  const float spread = random.one_of({1.0f, 8.0f, 64.0f});
  for (float& score : m.elements) score = random.one_in(20) ? -infinity : score * spread;
  const float scale =
      random.one_of({0.0f, 0x1p-127f, 0x1p-126f, 1e-3f, 0.35f, 1.0f, 3.0f, 1e30f, infinity});
  const bool in_place = random.one_in(3);
  Matrix expected{m.rows, m.cols, {}};
  for (auto row = m.elements.begin(); row != m.elements.end();
       row += static_cast<std::ptrdiff_t>(m.cols)) {
    const Numbers scores(row, row + static_cast<std::ptrdiff_t>(m.cols));
    const Numbers weights = plain_softmax(scores, std::vector<bool>(m.cols, true), scale);
    expected.elements.insert(expected.elements.end(), weights.begin(), weights.end());
  }
  const double shown = static_cast<double>(scale);
  say("rows %zu, cols %zu, scale %g, in place %d", m.rows, m.cols, shown, in_place);
  return gives(expected, in_place ? m.elements : Numbers{}, [&](Room& room, float* out) {
    return tinyattn_softmax(m.rows, m.cols, scale, in_place ? out : room.input(m.elements), out);
  });
}

PlainMask draw_mask(Random& random, std::size_t tokens, std::size_t source_tokens) {
  PlainMask mask{tokens, source_tokens};
  mask.kind = static_cast<tinyattn_mask_kind>(random.below(TINYATTN_ADDITIVE_MASK + 1));
  mask.one_row = random.one_in(3);
  const std::size_t count = mask.one_row ? source_tokens : tokens * source_tokens;
  const std::uint32_t rarity = random.one_of({1u, 2u, 4u, 16u});
  if (mask.kind == TINYATTN_BLOCK_MASK || mask.kind == TINYATTN_KEEP_MASK) {
    mask.flags.resize(count);
    for (unsigned char& flag : mask.flags) flag = random.one_in(rarity);
  } else if (mask.kind == TINYATTN_ADDITIVE_MASK) {
    mask.addends = draw_numbers(random, count);
    for (float& addend : mask.addends) addend = random.one_in(rarity) ? -infinity : addend;
  }
  return mask;
}

tinyattn_mask given(const PlainMask& mask, Room& room) {
  return {mask.kind, mask.one_row, room.flags(mask.flags), room.input(mask.addends)};
}

bool attention(Random& random) {
  const std::size_t tokens = draw_size(random), source_tokens = draw_size(random);
  const Matrix query = draw_matrix(random, tokens, draw_size(random));
  const Matrix key = draw_matrix(random, source_tokens, query.cols);
  const Matrix value = draw_matrix(random, source_tokens, draw_size(random));
  const PlainMask plain = draw_mask(random, tokens, source_tokens);
  const bool no_mask = plain.kind == TINYATTN_NO_MASK && random.one_in(2);
  say("tokens %zu, source_tokens %zu, key_dim %zu, value_dim %zu, mask %d, one_row %d", tokens,
      source_tokens, query.cols, value.cols, static_cast<int>(plain.kind), plain.one_row);
  return gives(plain_attention(query, key, value, plain), {}, [&](Room& room, float* out) {
    const tinyattn_mask mask = given(plain, room);
    const float* const q = room.input(query.elements);
    const float* const k = room.input(key.elements);
    const float* const v = room.input(value.elements);
    float* const scratch = room.scratch(TINYATTN_ATTENTION_SCRATCH(tokens, source_tokens));
    return tinyattn_attention(tokens, source_tokens, query.cols, value.cols, q, k, v,
                              no_mask ? nullptr : &mask, out, scratch);
  });
}

PlainLinear draw_linear(Random& random, std::size_t in, std::size_t out) {
  PlainLinear linear{draw_matrix(random, in, out)};
  if (random.one_in(2)) linear.bias = draw_numbers(random, out);
  return linear;
}

// A bias without a weight is none.
PlainLayer draw_layer(Random& random, std::size_t d_in, std::size_t d_out, std::size_t num_heads) {
  PlainLayer layer{num_heads, draw_linear(random, d_in, d_out), draw_linear(random, d_in, d_out),
                   draw_linear(random, d_in, d_out), draw_linear(random, d_out, d_out)};
  if (random.one_in(3)) layer.out_proj.weight = {0, 0};
  return layer;
}

tinyattn_layer given(const PlainLayer& layer, bool causal, Room& room) {
  const auto linear = [&](const PlainLinear& of) {
    return tinyattn_linear{room.input(of.weight.elements), room.input(of.bias)};
  };
  const auto& [d_in, d_out, weight] = layer.query.weight;
  return {d_in,
          d_out,
          layer.num_heads,
          causal,
          linear(layer.query),
          linear(layer.key),
          linear(layer.value),
          linear(layer.out_proj)};
}

// In place where that is allowed. With `is_self`, one input is the queries', keys' and values'.
bool layer_gives(Random& random, bool is_self, PlainMask plain, auto call) {
  const std::size_t num_heads = 1 + random.below(4), d_in = draw_size(random);
  const std::size_t head_dim = (draw_size(random) + num_heads - 1) / num_heads;
  const std::size_t d_out = num_heads * head_dim;
  const PlainLayer plain_layer = draw_layer(random, d_in, d_out, num_heads);
  plain.layer_is_causal = random.one_in(2);
  const bool in_place = d_out <= d_in && random.one_in(2);
  std::array<Matrix, 3> inputs{draw_matrix(random, plain.tokens, d_in),
                               draw_matrix(random, plain.source_tokens, d_in),
                               draw_matrix(random, plain.source_tokens, d_in)};
  if (is_self) inputs[1] = inputs[2] = inputs[0];
  say("d_in %zu, d_out %zu, num_heads %zu, causal %d, projection %d, tokens %zu, source_tokens "
      "%zu, "
      "mask %d, one_row %d, one input %d, in place %d",
      d_in, d_out, num_heads, plain.layer_is_causal, !plain_layer.out_proj.weight.elements.empty(),
      plain.tokens, plain.source_tokens, static_cast<int>(plain.kind), plain.one_row, is_self,
      in_place);
  const Numbers replaced = in_place ? inputs[0].elements : Numbers{};
  return gives(plain_layer(inputs, plain), replaced, [&](Room& room, float* out) {
    const tinyattn_layer layer = given(plain_layer, plain.layer_is_causal, room);
    const tinyattn_mask mask = given(plain, room);
    const float* const x = in_place ? out : room.input(inputs[0].elements);
    const float* const key = is_self ? x : room.input(inputs[1].elements);
    const float* const value = is_self ? x : room.input(inputs[2].elements);
    const std::size_t tokens = plain.tokens, source_tokens = plain.source_tokens;
    float* const scratch = room.scratch(TINYATTN_LAYER_SCRATCH(d_out, tokens, source_tokens));
    return call(layer, x, key, value, mask, out, scratch);
  });
}

bool forward(Random& random) {
  const std::size_t tokens = draw_size(random);
  const auto call = [&](const auto& layer, auto* x, auto*, auto*, const auto&, auto* out,
                        auto* scratch) {
    return tinyattn_forward(&layer, tokens, x, out, scratch);
  };
  return layer_gives(random, true, {tokens, tokens}, call);
}

bool cross_forward(Random& random) {
  const bool is_self = random.one_in(4);
  const std::size_t tokens = draw_size(random);
  const std::size_t source_tokens = is_self ? tokens : draw_size(random);
  const PlainMask plain = draw_mask(random, tokens, source_tokens);
  const bool no_mask = plain.kind == TINYATTN_NO_MASK && random.one_in(2);
  const auto call = [&](const auto& layer, auto* query, auto* key, auto* value, const auto& mask,
                        auto* out, auto* scratch) {
    return tinyattn_cross_forward(&layer, tokens, source_tokens, query, key, value,
                                  no_mask ? nullptr : &mask, out, scratch);
  };
  return layer_gives(random, is_self, plain, call);
}

constexpr Operation operations[] = {
    {"tinyattn_matmul", matmul},   {"tinyattn_matmul_transposed", matmul_transposed},
    {"tinyattn_softmax", softmax}, {"tinyattn_attention", attention},
    {"tinyattn_forward", forward}, {"tinyattn_cross_forward", cross_forward},
};

}  // namespace

int main(int argc, char** argv) {
  const char* const wanted = std::getenv("TINYATTN_PORT");
  if (wanted != nullptr && std::strcmp(wanted, tinyattn_port()) != 0) {
    std::printf("1..1\nok 1 - random calls # SKIP this processor lacks %s\n", wanted);
    return 0;
  }
  return run(operations, 300, argc, argv);
}
