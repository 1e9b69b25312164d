// SPDX-License-Identifier: MIT
//
// Makes the call between two functions that tests/speed/programs/counter.cpp knows. Weights and
// input are random: zeros would be cheap where float arithmetic is a function of integers.
#include "layers.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

using namespace tinyattn::footprint;

extern "C" {
[[gnu::noinline]] void count_begin() { asm volatile(""); }
[[gnu::noinline]] void count_end() { asm volatile(""); }
}

namespace {

std::uint32_t state = 123;

// Random floats from -1 to 1, of a magnitude of at least 1/2, made from bits.
template <class Object>
void fill(Object& object) {
  if constexpr (sizeof(Object) % sizeof(float) == 0)
    for (std::size_t i = 0; i < sizeof object; i += sizeof state) {
      state = state * 1664525u + 1013904223u;
      const std::uint32_t bits = 0x3f000000u | (state & 0x807fffffu);
      std::memcpy(reinterpret_cast<char*>(&object) + i, &bits, sizeof bits);
    }
}

template <class Call>
void prepare(typename Call::Layer& layer, typename Call::Input& x) {
  fill(layer);
  if constexpr (requires { x.elements[0]; })
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x.elements[0])>, float>) fill(x);
  if constexpr (requires { Call::prepare(layer); }) Call::prepare(layer);
}

}  // namespace

void attend(const Layer& layer, const Input& x, Output& out, Workspace& workspace) noexcept {
  prepare<Measured>(const_cast<Layer&>(layer),
                    const_cast<Input&>(x));  // firmware.cpp has them as variables
  count_begin();
  Measured::call(layer, x, out, workspace);
  count_end();
}
