// SPDX-License-Identifier: MIT
//
// What "split heads" means: which features belong to which head, and that nothing is copied, reshaped or transposed for it.
#include "stages.hpp"

namespace journey {
namespace {

constexpr std::size_t features = 12;
constexpr std::size_t num_heads = 3;
constexpr std::size_t head_dim = features / num_heads;

template <class View>
auto copied(const View& view) {
  tinyattn::Matrix<float, View::extent(0), View::extent(1)> out{};
  for (std::size_t i = 0; i < out.extent(0); ++i)
    for (std::size_t j = 0; j < out.extent(1); ++j) out(i, j) = view(i, j);
  return out;
}

void who_owns_what(Report& report) {
  tinyattn::Matrix<float, 2, features> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  report.table("x", "arange(24).view(2, 12)", "Two tokens of twelve features, each the number of its place.", x);
  report.table("head_0", "x[:, 0:4]", "Features 0-3 ...", copied(tinyattn::columns<head_dim>(x, 0)));
  report.table("head_1", "x[:, 4:8]", "... 4-7 ...", copied(tinyattn::columns<head_dim>(x, 4)));
  report.table("head_2", "x[:, 8:12]", "... and 8-11: what x.view(2, 3, 4).transpose(0, 1) gives in PyTorch.",
               copied(tinyattn::columns<head_dim>(x, 8)));
}

// Compares one layer of three heads with three calls of attention, each on the columns of its head.
void one_layer_is_three_views(Report& report) {
  constexpr tinyattn::AttentionConfig config = {
      .d_in = d_in, .d_out = features, .context_length = num_tokens, .num_heads = num_heads, .out_proj = false};
  using ThreeHeads = tinyattn::MultiHeadAttention<config>;
  static ThreeHeads layer;
  static ThreeHeads::Workspace workspace;
  static tinyattn::Matrix<float, num_tokens, features> together;
  initialize(layer, manual_seed(123));
  layer.forward(inputs, together, workspace);

  const auto queries = layer.query(inputs);
  const auto keys = layer.key(inputs);
  const auto values = layer.value(inputs);
  bool same = true;
  for (std::size_t first = 0; first < features; first += head_dim) {
    using tinyattn::columns;
    const auto head = scaled_dot_product_attention(columns<head_dim>(queries, first), columns<head_dim>(keys, first),
                                                   columns<head_dim>(values, first), tinyattn::Causal{});
    same = same && head == copied(columns<head_dim>(together, first));
    if (first == head_dim)
      report.table("context_of_head_1", "attention(queries[:, 4:8], keys[:, 4:8], values[:, 4:8], Causal{})",
                   "The second of three heads over the six tokens, from seed 123.", head);
  }
  report.same_bits("Three heads by hand and the layer MultiHeadAttention(3, 12, num_heads=3)", same);
}

}  // namespace

void head_splitting(Report& report) {
  report.stage("Head splitting",
               "   Twelve features in three heads. A head is a view: it starts four floats further on, and\n"
               "   its rows are still twelve floats apart. No element moves.");
  who_owns_what(report);
  one_layer_is_three_views(report);
}

}  // namespace journey
