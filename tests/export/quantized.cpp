// SPDX-License-Identifier: MIT
//
// Compares a model that was exported with int8 weights with what quantize makes of the same model with floats. -DPARAMETERS=N: the number
// of its weights and biases that the exporter reports.
#include <type_traits>

#include "codes.hpp"
#include "floats.hpp"

namespace {

constexpr const auto& wanted = floats::model;
constexpr const auto& found = codes::model;
using Found = std::remove_cvref_t<decltype(found)>;
static_assert(Found::parameter_count == PARAMETERS && Found::parameter_bytes < 4 * PARAMETERS);
static_assert(tinyattn::quantize(wanted.head) == found.head);

template <class WantedBlock, class FoundBlock>
bool is_same(const WantedBlock& floats, const FoundBlock& codes) {
  using tinyattn::quantize;
  return quantize(floats.attention.query) == codes.attention.query && quantize(floats.attention.key) == codes.attention.key &&
         quantize(floats.attention.value) == codes.attention.value && quantize(floats.attention.out_proj) == codes.attention.out_proj &&
         quantize(floats.feed_forward.up) == codes.feed_forward.up && quantize(floats.feed_forward.gate) == codes.feed_forward.gate &&
         quantize(floats.feed_forward.down) == codes.feed_forward.down && floats.attention_norm == codes.attention_norm &&
         floats.feed_forward_norm == codes.feed_forward_norm;
}

}  // namespace

int main() {
  const bool same = tinyattn::quantize(wanted.token_embedding) == found.token_embedding && tinyattn::quantize(wanted.head) == found.head &&
                    is_same(wanted.transformer.blocks[0], found.transformer.blocks[0]) &&
                    is_same(wanted.transformer.blocks[1], found.transformer.blocks[1]);
  return same ? 0 : 1;
}
