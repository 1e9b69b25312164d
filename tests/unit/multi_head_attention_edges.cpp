// SPDX-License-Identifier: MIT
//
// NaN and infinity in every parameter and input of an attention layer, and an output that is the input, whatever the form of the call.
#include "plain_heads.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Layer =
    MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 2, .causal = false, .qkv_bias = true}>;
using Causing = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 2}>;
using Bare = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 2, .out_proj = false}>;
using Stacked = StackedCausalAttention<4, 3, 9, 2>;

constexpr auto causing = filled<Causing>(1);
constexpr auto bare = filled<Bare>(2);
constexpr Stacked stacked{{filled<Stacked::Head>(3), filled<Stacked::Head>(4)}};

// Nine tokens: more than a block of rows, whatever the port that computes floats one by one.
constexpr auto x = numbers<Matrix<float, 9, 4>>(5);
constexpr auto other_x = numbers<Matrix<float, 9, 4>>(6);
constexpr auto memory = numbers<Matrix<float, 3, 4>>(7);

Layer layer;

void check_forward(Check& check, const Matrix<float, 3, 4>& input) {
  check.same_bits(layer(hidden(input)), plain_forward(layer, input).out);
}

// Each element of a tensor in turn becomes NaN, then infinite.
template <std::size_t... Extents>
void check_poisoned(Check& check, Tensor<float, Extents...>& tensor, const Matrix<float, 3, 4>& input) {
  for (float& element : tensor.elements) {
    const float before = element;
    for (const float poison : {quiet_nan, infinity, -infinity}) {
      element = poison;
      check_forward(check, input);
    }
    element = before;
  }
}

template <std::size_t In, std::size_t Out>
void check_poisoned(Check& check, Linear<In, Out, true>& linear, const Matrix<float, 3, 4>& input) {
  check_poisoned(check, linear.weight, input);
  check_poisoned(check, linear.bias, input);
}

template <class Attention>
void check_in_place(Check& check, const Attention& attention) {
  typename Attention::Workspace workspace{};
  auto in_place = hidden(x);
  attention.forward(in_place, in_place, workspace);
  check.same_bits(in_place, plain_forward(attention, x).out);
  auto batch = hidden(stack(x, other_x));
  attention.forward(batch, batch, workspace);
  check.same_bits(batch, stack(plain_forward(attention, x).out, plain_forward(attention, other_x).out));
}

constexpr Test tests[] = {
    at_run_time("NaN and infinity in every weight and bias: as in plain loops",
                [](Check& check) {
                  layer = filled<Layer>(8);
                  check_poisoned(check, layer.query, memory);
                  check_poisoned(check, layer.key, memory);
                  check_poisoned(check, layer.value, memory);
                  check_poisoned(check, layer.out_proj, memory);
                }),
    at_run_time("NaN and infinity in every input: as in plain loops",
                [](Check& check) {
                  layer = filled<Layer>(8);
                  auto input = hidden(memory);
                  check_poisoned(check, input, input);
                }),
    at_run_time("the output may be the input, over several blocks and items",
                [](Check& check) {
                  layer = filled<Layer>(8);
                  check_in_place(check, layer);
                  check_in_place(check, causing);
                  check_in_place(check, bare);
                }),
    at_run_time("under a mask the output may be the input",
                [](Check& check) {
                  Causing::Workspace workspace{};
                  const auto sees = [](std::size_t i, std::size_t j) { return j <= i && j != 1; };
                  auto padding = zeros<bool, 9>();
                  padding(1) = true;
                  auto in_place = hidden(x);
                  causing.forward(in_place, BlockMask{padding}, in_place, workspace);
                  check.same_bits(in_place, plain_forward(causing, x, x, x, sees).out);
                }),
    at_run_time("with a token count the output may be the input, over several blocks",
                [](Check& check) {
                  Bare::Workspace workspace{};
                  auto in_place = hidden(x);
                  check.that(bare.forward(in_place, hidden(std::size_t{7}), in_place, workspace) == Status::ok);
                  check.same_bits(plain_rows<7>(in_place, 0), plain_forward(bare, plain_rows<7>(x, 0)).out);
                  check.same_bits(plain_rows<2>(in_place, 7), plain_rows<2>(x, 7));
                }),
    at_run_time("in cross-attention the output may be the input of the queries",
                [](Check& check) {
                  Bare::Workspace workspace{};
                  auto in_place = hidden(x);
                  bare.forward(in_place, memory, memory, in_place, workspace);
                  check.same_bits(in_place, plain_forward(bare, x, memory, memory, sees_the_past).out);
                }),
    everywhere("stacked heads write nothing beside their output",
               [](Check& check) {
                 Guarded<Stacked::Workspace> workspace;
                 Guarded<Matrix<float, 3, 6>> out;
                 stacked.forward(hidden(memory), out.tensor, workspace.tensor);
                 check.same_bits(out.tensor, stacked(memory));
                 check.that(out.guards_hold() && workspace.guards_hold());
               }),
};

}  // namespace

int main() { return run(tests); }
