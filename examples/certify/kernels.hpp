// SPDX-License-Identifier: MIT
//
// The kernels whose cycles are counted: rows of tests/speed/costs/calls.hpp, by whose names the tables of the project have them, with the
// same numbers. Each has its arguments in memory that is given.
#pragma once

#include "certify.h"
#include "tinyattn/tinyattn.hpp"

#include <cstddef>
#include <cstdint>
#include <new>

namespace certify {

using namespace tinyattn;

struct Kernel {
  const char* name;
  void (*draw)(void* memory);  // the arguments
  void (*compute)(void* memory);
};

struct Nothing {};

inline void fill(auto&, auto&) {}
template <std::size_t... Extents>
void fill(Philox4x32& generator, Tensor<float, Extents...>& tensor) {
  for (float& element : tensor.elements) element = uniform(generator, -1.0f, 1.0f);
}
void fill_all(Philox4x32& generator, auto& object) {
  if constexpr (requires { object.elements; })
    fill(generator, object);
  else if constexpr (requires { for_each_parameter(object, [](const char*, auto&) {}); })
    for_each_parameter(object, [&](const char*, auto& tensor) { fill(generator, tensor); });
}

template <class Layer, class Input, class Output, auto compute>
struct Call {
  Layer layer;
  Input x;
  Output out;

  static constexpr Kernel named(const char* name) {
    static_assert(sizeof(Call) <= TINYATTN_CERTIFY_LEAST);
    return {name,
            [](void* memory) {
              Call& call = *new (memory) Call;
              Philox4x32 generator(123);
              fill_all(generator, call.layer);
              fill_all(generator, call.x);
            },
            [](void* memory) {
              Call& call = *static_cast<Call*>(memory);
              compute(call.layer, call.x, call.out);
            }};
  }
};

using Square = Matrix<float, 32, 32>;
using Tokens = Matrix<float, 16, 32>;
using Logits = Vector<float, 512>;

inline constexpr auto forward = [](auto& layer, auto& x, auto& out) { static_cast<void>(layer.forward(x, out)); };

inline constexpr Kernel nothing = Call<Nothing, Nothing, Nothing, [](auto&, auto&, auto&) {}>::named("nothing");

inline constexpr Kernel kernels[] = {
    Call<Square, Tokens, Tokens, [](auto& b, auto& a, auto& out) { matmul(a, b, out); }>::named("matmul"),
    Call<Nothing, Square, Square, [](auto&, auto& m, auto& out) { softmax(m, out); }>::named("softmax"),
    Call<Nothing, Square, Square, [](auto&, auto& m, auto& out) { gelu(m, out); }>::named("gelu"),
    Call<Nothing, Tokens, Tokens, [](auto&, auto& x, auto& out) { scaled_dot_product_attention(x, x, x, NoMask{}, out); }>::named(
        "unmasked"),
    Call<LayerNorm<32>, Tokens, Tokens, forward>::named("layer_norm"),
    Call<Linear<32, 32>, Tokens, Tokens, forward>::named("linear"),
    Call<Linear<32, 32, true, Weights::int8>, Tokens, Tokens, forward>::named("linear_int8"),
    Call<Logits, Nothing, Token,
         [](auto& logits, auto&, auto& token) {
           Philox4x32 generator(123);
           token = sample(logits, {.temperature = 0.7f, .top_p = 0.9f}, generator);
         }>::named("sample"),
};
inline constexpr std::size_t num_kernels = sizeof kernels / sizeof *kernels;

}  // namespace certify
