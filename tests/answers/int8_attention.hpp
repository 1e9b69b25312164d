// SPDX-License-Identifier: MIT
//
// Drawn calls of attention layers over keys and values of int8, without a cache: with masks, windows, rotary positions, and with weights
// that are taken or dropped.
#pragma once

#include "attention_gradients.hpp"
#include "tinyattn/kernel/int8/layer.hpp"

namespace tinyattn::test {

// Self-attention, one memory for keys and values, or separate inputs. Features may be NaN or large; there may be room for more tokens than
// the call has, and keys in a context long enough that sums have room for fewer bits.
inline void int8_attention(Call& call) {
  Random& random = call.random;
  const bool drops = random.one_in(4), takes = !drops && random.one_in(3);
  const Size inputs = drops ? 1 : 1 + random.below(3), tokens = random.size(40), sources = inputs == 1 ? tokens : random.size(40);
  const Size heads = 1 + random.below(4), head_dim = random.size(heads > 2 ? 10 : 40), d_in = random.size(20), index = random.below(2),
             window = draw_window(call, tokens), room = std::max(tokens, sources) + random.below(9);
  const Numbers which = random.one_in(4) ? Numbers::special : Numbers::small;
  const DrawnLayer layer = draw_layer(call, d_in, heads, head_dim, room, false, random.one_in(2));
  plain::Mask mask = draw_mask_of_layer(call, tokens, sources, window);
  mask.int8_context = window != 0 ? window : room + (random.one_in(3) ? random.below(3000) : 0);
  const Rows query = draw_input(call, tokens, d_in, draw_gap(call), which);
  const Rows key = inputs == 1 ? query : draw_input(call, sources, d_in, 0, which);
  const Rows value = inputs == 3 ? draw_input(call, sources, d_in, draw_gap(call), which) : key;
  const Result out = draw_result(call, tokens, layer.d_out, draw_gap(call));
  const Result weights = takes ? draw_result(call, heads * tokens, sources) : Result{};
  const Size kv_heads = layer.kv() / head_dim, block_rows = 1 + random.below(5), integer_rows = 1 + random.below(4);
  float* const floats = call.garbage(block_rows * layer.d_out + sources);
  const auto bytes = [&](Size count) { return reinterpret_cast<std::uint8_t*>(call.garbage((count + 3) / 4)); };
  const kernel::Int8Cached cache{bytes(kv_heads * room * kernel::padded_to_eight(head_dim)),
                                 bytes(layer.kv() * kernel::padded_to_eight(room)), bytes(kv_heads * room), bytes(kv_heads * room), room};
  auto* const q = reinterpret_cast<std::int32_t*>(call.garbage(kernel::int8_cache_scratch(head_dim, sources + 7)));
  Philox4x32 generator(random.below(1000));
  by_kernel(call, [&] {
    const kernel::BatchElement element{index, tokens, sources, query, key, value, out.of_kernel};
    const kernel::Int8Scratch scratch = kernel::int8_parts_of(floats, layer.d_out, cache, mask.int8_context, block_rows, {q, integer_rows});
    with_mask(mask, sources, [&](const auto& under) {
      const auto forward = [&](const auto& take) {
        kernel::forward<Port, kernel::CallShape{}>(layer.by_table(), scratch, element, under, take);
      };
      if (drops)
        forward(kernel::drop_weights(Rates::dropout_rate, [&](Size matrix, Size i, float* row, Size end) {
          WeightsReplay{generator, tokens}.drop<Port>(row, end, matrix, i);
        }));
      else if (takes)
        forward([&](Size matrix, Size i, const float* row, Size end) {
          float* const to = weights.of_kernel.from((matrix - index * heads) * tokens + i).first;
          for (Size j = 0; j < sources; ++j) to[j] = j < end ? row[j] : 0.0f;
        });
      else
        forward(kernel::IgnoreWeights{});
    });
  });
  by_twin([&] {
    const plain::OneDropout dropout(Rates::dropout_rate, drops ? &generator : nullptr, (index + 1) * heads * tokens, tokens);
    const plain::Input factors = dropout;
    const plain::Matrix cosines(room, head_dim / 2), sines(room, head_dim / 2);
    plain::forward(layer.plainly(layer.rotation.plainly(cosines, sines)), query, key, value, mask, out.of_twin, weights.of_twin,
                   {drops ? factors.rows_from(index * heads * tokens) : factors, {}});
  });
  gives(call, out, weights);
}

}  // namespace tinyattn::test
