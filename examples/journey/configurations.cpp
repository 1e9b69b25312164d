// SPDX-License-Identifier: MIT
//
// What a layer costs. The compiler knows all these numbers, so a firmware can check them against budgets by static_assert.
#include "stages.hpp"

namespace journey {
namespace {

struct Cost {
  std::size_t d_out, num_heads, head_dim, parameters, tokens, scratch;
};

// Returns the cost of a layer as in the notes: square, without biases in the three matrices and the projection.
template <std::size_t Width, std::size_t NumHeads, std::size_t Tokens>
constexpr Cost cost_of_square_layer() {
  constexpr tinyattn::AttentionConfig config = {
      .d_in = Width, .d_out = Width, .context_length = Tokens, .num_heads = NumHeads, .out_bias = false};
  using Layer = tinyattn::MultiHeadAttention<config>;
  return {Width, NumHeads, Layer::head_dim, Layer::parameter_count, Tokens, sizeof(typename Layer::Workspace)};
}

constexpr Cost costs[] = {cost_of_square_layer<64, 4, 32>(), cost_of_square_layer<256, 8, 256>(), cost_of_square_layer<512, 8, 512>()};

static_assert(costs[0].parameters == 16'384 && costs[1].parameters == 262'144 && costs[2].parameters == 1'048'576);

void print_column(std::size_t value, std::size_t width) { print_right_aligned(integer(value, 1, true), width); }

void print_parameters() {
  print("\n  d_out  num_heads  head_dim  parameters     KB\n");
  for (const Cost& cost : costs) {
    print_column(cost.d_out, 7);
    print_column(cost.num_heads, 11);
    print_column(cost.head_dim, 10);
    print_column(cost.parameters, 12);
    print_column(cost.parameters * sizeof(float) / 1024, 7);
    print("\n");
  }
}

// A port chooses how many rows of queries it works on at a time, so the scratch differs a little between machines.
void print_scratch() {
  print("\nScratch, sizeof(Workspace), grows with the tokens and never with their square:\n");
  for (const Cost& cost : costs) {
    print("board:");
    print_column(cost.d_out, 6);
    print(" wide,");
    print_column(cost.tokens, 6);
    print(" tokens");
    print_column(cost.scratch, 12);
    print(" bytes\n");
  }
}

void print_own_layer() {
  constexpr tinyattn::AttentionConfig config = {.d_in = d_in, .d_out = d_out, .context_length = num_tokens, .num_heads = 2};
  using Layer = tinyattn::MultiHeadAttention<config>;
  print("\nThe two split heads of stage 6: ", Layer::parameter_count, " parameters, ", sizeof(Layer), " bytes of weights\n");
  print("board: its sizeof(Workspace) is ", sizeof(Layer::Workspace), " bytes\n");
}

}  // namespace

void configurations(Report& report) {
  report.stage("Configurations",
               "   Wider layers, from 64 features in 4 heads to 512 in 8. All numbers are constants:\n"
               "   nothing is run to find them.");
  print_parameters();
  print_scratch();
  print_own_layer();
}

}  // namespace journey
