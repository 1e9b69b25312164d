// SPDX-License-Identifier: MIT
//
// Layers by the compiled library: the bits of the headers, in every form.
#include <type_traits>

#include "masks.hpp"
#include "plain_layer.hpp"
#include "tinyattn/compiled.hpp"

namespace {

using namespace tinyattn;
using namespace tinyattn::test;

// A layer called both ways: the same status if the call has token counts, and the same output, also where a call must not write.
template <class Out, class Layer>
void check_both_ways(Check& check, const Layer& layer, const auto&... inputs) {
  static typename Layer::Workspace workspace;
  static Guarded<compiled::Workspace<Layer>> compiled_workspace;
  Guarded<Out> expected;
  Guarded<Out> out;
  const auto by_headers = [&] { return layer.forward(inputs..., expected.tensor, workspace); };
  const auto by_library = [&] { return compiled::forward(layer, inputs..., out.tensor, compiled_workspace.tensor); };
  if constexpr (std::is_void_v<decltype(by_headers())>) {
    by_headers();
    by_library();
  } else {
    check.that(by_headers() == by_library());
  }
  check.same_bits(out.tensor, expected.tensor);
  check.that(out.guards_hold() && compiled_workspace.guards_hold());
}

template <AttentionConfig config, std::size_t Tokens>
void check_layer(Check& check) {
  static const auto layer = filled<MultiHeadAttention<config>>(10);
  const auto x = hidden(numbers<Matrix<float, Tokens, config.d_in>>(11));
  const auto check_call = [&](const auto&... more) { check_both_ways<Matrix<float, Tokens, config.d_out>>(check, layer, x, more...); };
  check_call();
  check_call(BlockMask{drawn_flags<Tokens, Tokens>(12)});
  check_call(AdditiveMask{drawn_addends<Tokens>(13)});
  for (std::size_t count = 0; count <= Tokens + 1; ++count) {
    check_call(count);
    check_call(count, CausalBottomRight{});
  }
}

template <AttentionConfig config, std::size_t Tokens, std::size_t SourceTokens>
void check_cross(Check& check) {
  static const auto layer = filled<MultiHeadAttention<config>>(10);
  const auto query_input = hidden(numbers<Tensor<float, 2, Tokens, config.d_in>>(11));
  const auto key_input = hidden(numbers<Tensor<float, 2, SourceTokens, config.d_in>>(12));
  const auto value_input = hidden(numbers<Tensor<float, 2, SourceTokens, config.d_in>>(13));
  const auto check_call = [&](const auto&... more) {
    check_both_ways<Tensor<float, 2, Tokens, config.d_out>>(check, layer, query_input, key_input, value_input, more...);
  };
  check_call();
  check_call(CausalBottomRight{});
  const KeepMask keep{row(drawn_flags<1, SourceTokens>(14), 0)};
  for (std::size_t count = 0; count <= Tokens; ++count) {
    for (std::size_t source_count = 0; source_count <= SourceTokens + 1; ++source_count) {
      check_call(count, source_count);
      check_call(count, source_count, keep);
    }
  }
}

constexpr AttentionConfig small{.d_in = 3, .d_out = 4, .context_length = 7, .num_heads = 2};
constexpr AttentionConfig biased{.d_in = 5, .d_out = 9, .context_length = 6, .num_heads = 3, .causal = false, .qkv_bias = true};
constexpr AttentionConfig without_projection{.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 1, .out_proj = false};
constexpr AttentionConfig without_out_bias{.d_in = 4, .d_out = 6, .context_length = 9, .num_heads = 1, .out_bias = false};

constexpr Test tests[] = {
    at_run_time("layers with and without biases, projection and a causal mask",
                [](Check& check) {
                  check_layer<small, 7>(check);
                  check_layer<biased, 6>(check);
                  check_layer<without_projection, 5>(check);
                  check_layer<without_out_bias, 9>(check);
                }),
    at_run_time("cross-attention, in batches",
                [](Check& check) {
                  check_cross<biased, 6, 4>(check);
                  check_cross<small, 2, 5>(check);
                  check_cross<small, 5, 2>(check);
                }),
    at_run_time("the output may be the input",
                [](Check& check) {
                  using Layer = MultiHeadAttention<without_projection>;
                  const auto layer = filled<Layer>(10);
                  const auto x = numbers<Matrix<float, 6, 8>>(14);
                  compiled::Workspace<Layer> workspace;
                  check_in_place(check, layer(x), x, [&](auto& m) { compiled::forward(layer, m, m, workspace); });
                }),
};

}  // namespace

int main() { return run(tests); }
