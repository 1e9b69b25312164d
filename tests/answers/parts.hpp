// SPDX-License-Identifier: MIT
//
// Drawn parts of layers and models as the compiled library takes them, and their form for plain loops.
#pragma once

#include "call.hpp"
#include "tinyattn/kernel/rotary.hpp"

namespace tinyattn::test {

// Weights are floats or int8; caches may be int8, too.
enum class Kind { f32, int8, int8_cache };

inline Size row_of_codes(Size inputs) { return (inputs + 15) / 16 * 16; }

inline tinyattn_linear draw_linear(Call& call, Kind kind, Size inputs, Size outputs, Numbers which = Numbers::small) {
  const float* const bias = call.random.one_in(2) ? call.input(outputs, which) : nullptr;
  if (kind == Kind::f32) return {call.input(inputs * outputs, which == Numbers::large ? Numbers::small : which), bias, nullptr, nullptr};
  const auto* const codes = call.elements<std::uint8_t>(outputs * row_of_codes(inputs), [&] { return 1 + call.random.below(255); });
  const float* const scales =
      call.elements<float>(outputs, [&] { return 0x1p-8f + 0x1p-24f * static_cast<float>(call.random.below(0x10000)); });
  return {nullptr, bias, codes, scales};
}
inline plain::Linear plainly(const tinyattn_linear& linear, Size inputs, Size outputs) {
  if (linear.codes != nullptr) return {{}, linear.bias, {linear.codes, outputs, inputs, row_of_codes(inputs)}, linear.scales};
  if (linear.weight != nullptr) return {matrix(linear.weight, inputs, outputs), linear.bias};
  return {};
}

inline tinyattn_norm draw_norm(Call& call, Size dim) {
  return {call.input(dim), call.random.one_in(2) ? call.input(dim) : nullptr, call.random.one_of({0.0f, 1e-5f, 1e-2f})};
}
inline plain::Norm plainly(const tinyattn_norm& norm) { return {norm.weight, norm.bias, norm.epsilon}; }

// Heads whose features together do not exceed the largest size: one wide head, or several.
struct Heads {
  Size count, dim;
};
inline Heads draw_heads(Random& random) {
  const Size count = random.size(8), most = random.largest_size() / count;
  return {count, random.one_in(2) ? std::min<Size>(most, random.one_of({2u, 4u, 8u, 64u})) : random.size(most)};
}

struct DrawnMask {
  tinyattn_mask mask;
  plain::Mask plain;
};
inline DrawnMask draw_mask(Call& call, Size tokens, Size sources) {
  Random& random = call.random;
  const auto kind = static_cast<tinyattn_mask_kind>(random.below(TINYATTN_ADDITIVE_MASK + 1));
  const bool one_row = random.one_in(3);
  const Size count = (one_row ? 1 : tokens) * sources, step = one_row ? 0 : sources, rarity = random.one_of({1u, 2u, 4u, 16u});
  if (kind == TINYATTN_CAUSAL) return {{kind, false, nullptr, nullptr}, plain::Mask{.diagonal = 0}};
  if (kind == TINYATTN_CAUSAL_BOTTOM_RIGHT)
    return {{kind, false, nullptr, nullptr},
            plain::Mask{.diagonal = static_cast<std::ptrdiff_t>(sources) - static_cast<std::ptrdiff_t>(tokens)}};
  if (kind == TINYATTN_ADDITIVE_MASK) {
    float* const addends = call.input(count);
    for (Size i = 0; i < count; ++i) addends[i] = random.one_in(rarity) ? -infinity : addends[i];
    return {{kind, one_row, nullptr, addends}, {.addends = {addends, tokens, sources, step}}};
  }
  if (kind == TINYATTN_NO_MASK) return {{kind, false, nullptr, nullptr}, {}};
  const bool* const flags = call.elements<bool>(count, [&] { return random.one_in(rarity); });
  return {{kind, one_row, flags, nullptr}, {.flags = {flags, tokens, sources, step}, .keeps = kind == TINYATTN_KEEP_MASK}};
}

// Rotary positions: from a table, or from speeds, which have no last position.
struct DrawnRotation {
  tinyattn_rotary rotary = TINYATTN_NO_ROTARY;
  const float *cosines = nullptr, *sines = nullptr;
  const std::uint64_t* speeds = nullptr;

  plain::Rotation plainly() const { return {cosines, sines, rotary == TINYATTN_INTERLEAVED}; }
  // Computes the tables if there are speeds.
  plain::Rotation plainly(plain::Output table_of_cosines, plain::Output table_of_sines) const {
    if (speeds == nullptr) return plainly();
    for (Size p = 0; p < table_of_sines.rows; ++p)
      for (Size i = 0; i < table_of_sines.cols; ++i) {
        const auto at = kernel::cosine_and_sine_of<port::scalar>(static_cast<std::uint32_t>(p * speeds[i] >> 32));
        table_of_cosines(p, i) = at.cosine, table_of_sines(p, i) = at.sine;
      }
    return {table_of_cosines.first, table_of_sines.first, rotary == TINYATTN_INTERLEAVED};
  }
};
// The attention of a layer or a block.
inline plain::Layer plainly(const auto& of, Size d_in, Size d_out, Size heads, Size kv_heads, const plain::Rotation& rotation) {
  const Size kv = d_out / heads * kv_heads;
  const plain::Linear key = plainly(of.key, d_in, kv), value = plainly(of.value, d_in, kv);
  return {heads, kv_heads, plainly(of.query, d_in, d_out), key, value, plainly(of.out_proj, d_out, d_out), rotation};
}
inline DrawnRotation draw_rotation(Call& call, Size positions, Size head_dim, bool by_speeds = false) {
  DrawnRotation drawn;
  if (head_dim % 2 != 0 || call.random.one_in(2)) return drawn;
  const Size pairs = head_dim / 2;
  drawn.rotary = call.random.one_of({TINYATTN_INTERLEAVED, TINYATTN_HALVES});
  if (!by_speeds) {
    drawn.cosines = call.input(positions * pairs);
    drawn.sines = call.input(positions * pairs);
    return drawn;
  }
  drawn.speeds = call.elements<std::uint64_t>(
      pairs, [&] { return std::uint64_t{call.random.below(0x7fffffff)} << 32 | call.random.below(0x7fffffff); });
  return drawn;
}

}  // namespace tinyattn::test
