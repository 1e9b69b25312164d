// SPDX-License-Identifier: MIT
//
// Drawn backward passes of attention, of its layers and of blocks, with masks, windows, rotary positions and dropout.
#pragma once

#include "gradients.hpp"
#include "plain_attention_backward.hpp"
#include "tinyattn/training.hpp"
#include "tinyattn/training/kernel/block.hpp"

namespace tinyattn::test {

struct Rates {
  static constexpr DropoutRate dropout_rate = 0.25, residual_dropout_rate = 0.1;
};
using WeightsReplay = tinyattn::detail::WeightsReplay<Rates>;
using BlockDropout = tinyattn::detail::BlockDropout<Rates>;

inline kernel::Mask described(const plain::Mask& mask, Size keys) {
  const kernel::Mask all{keys, std::min(mask.diagonal, static_cast<std::ptrdiff_t>(keys))};
  if (mask.addends.first != nullptr) return kernel::with_addends(all, mask.addends.first, mask.addends.row_step);
  return mask.flags.first == nullptr ? all : kernel::with_flags(all, mask.flags.first, mask.keeps, mask.flags.row_step);
}
// A drawn mask; a layer may be causal, and with a window always is.
inline plain::Mask draw_mask_of_layer(Call& call, Size tokens, Size sources, Size window) {
  plain::Mask mask = call.random.one_in(2) ? draw_mask(call, tokens, sources).plain : plain::Mask{};
  mask.is_causal = window != 0 || call.random.one_in(2);
  mask.window = window;
  return mask;
}
// Calls use(mask) with the kernels' form of the mask.
inline void with_mask(const plain::Mask& mask, Size keys, auto use) {
  const kernel::Mask all = described(mask, keys);
  if (mask.window != 0)
    use(kernel::and_window(all, mask.window));
  else
    use(mask.is_causal ? kernel::and_causal(all) : all);
}
inline Size draw_window(Call& call, Size tokens) { return call.random.one_in(3) ? 1 + call.random.below(tokens) : 0; }

// One head, with query blocks of any height. A key that no query attends to may be NaN. With dropout there are as many keys as queries.
inline void attention_gradients(Call& call) {
  Random& random = call.random;
  const bool drops = random.one_in(3);
  const Size tokens = random.size(), sources = drops ? tokens : random.size(), widest = random.one_of({8u, 20u, 70u});
  const Size key_dim = random.size(widest), value_dim = random.size(widest);
  const Size height = std::min({tokens, 1 + random.below(16), kernel::backward_rows<Port>}), index = random.below(4);
  const Rows query = draw_input(call, tokens, key_dim, 0, Numbers::special),
             d_out = draw_input(call, tokens, value_dim, draw_gap(call), Numbers::special);
  const Rows key = draw_input(call, sources, key_dim, draw_gap(call), Numbers::special);
  const Rows value = draw_input(call, sources, value_dim, draw_gap(call), Numbers::special);
  const plain::Mask mask = draw_mask_of_layer(call, tokens, sources, draw_window(call, tokens));
  for (Size j = 0; j < sources; ++j) {
    bool is_attended = false;
    for (Size i = 0; i < tokens; ++i) is_attended = is_attended || mask.attends(i, j);
    if (is_attended) continue;
    std::fill_n(key.from(j).first, key_dim, quiet_nan);
    std::fill_n(value.from(j).first, value_dim, quiet_nan);
  }
  const Result d_query = draw_result(call, tokens, key_dim, draw_gap(call));
  const Result d_key = draw_wanted(call, sources, key_dim, draw_gap(call)), d_value = draw_wanted(call, sources, value_dim, draw_gap(call));
  const Size row_size = kernel::room_of_scores<Port>(sources);
  const kernel::Output weights{call.garbage(height * row_size), row_size}, d_scores{call.garbage(height * row_size), row_size};
  Philox4x32 generator(random.below(1000));
  plain::copy(query, d_query.of_kernel);
  by_kernel(call, [&] {
    const kernel::AttentionBackward all{tokens, height,          key_dim,           value_dim, index,    d_query.of_kernel,           key,
                                        value,  d_key.of_kernel, d_value.of_kernel, weights,   d_scores, plain::inverse_sqrt(key_dim)};
    const auto backward = [&](const auto& under, const auto& dropout) {
      kernel::attend_backward<Port>(
          all, under, dropout, [&](const kernel::QueryBlock& block, kernel::Output) -> kernel::Dense { return d_out.from(block.first); });
    };
    with_mask(mask, sources, [&](const auto& under) {
      if (drops)
        backward(under, WeightsReplay{generator, tokens});
      else
        backward(under, kernel::NoReplay{});
    });
  });
  by_twin([&] {
    const plain::OneDropout dropout(Rates::dropout_rate, drops ? &generator : nullptr, (index + 1) * tokens, sources);
    const plain::Input factors = dropout;
    plain::attention_backward(query, key, value, mask, d_out, d_query.of_twin, d_key.of_twin, d_value.of_twin,
                              drops ? factors.rows_from(index * tokens) : factors);
  });
  gives(call, d_query, d_key, d_value);
}

// --- Layers ---

struct GradientsOfLayer {
  Gradient query, key, value, output;

  operator kernel::LayerGradient() const { return {query, key, value, output}; }
  plain::LayerGradient of_twin() const { return {query.of_twin(), key.of_twin(), value.of_twin(), output.of_twin()}; }
};
inline void gives(Call& call, const GradientsOfLayer& gradients) {
  gives(call, gradients.query, gradients.key, gradients.value, gradients.output);
}

struct DrawnLayer {
  Size d_in, d_out, heads, head_dim, group;
  tinyattn_linear query, key, value, out_proj;
  DrawnRotation rotation;

  Size kv() const { return d_out / group; }
  plain::Layer plainly(const plain::Rotation& by) const { return test::plainly(*this, d_in, d_out, heads, heads / group, by); }
  plain::Layer plainly() const { return plainly(rotation.plainly()); }
  kernel::Layer<> without_groups() const {
    const kernel::Projection<> its_query = projection(query), its_key = projection(key), its_value = projection(value);
    return {d_in, d_out, heads, head_dim, plain::inverse_sqrt(head_dim), its_query, its_key, its_value, projection(out_proj)};
  }
  kernel::GroupedLayer<> by_table() const {
    const bool is_interleaved = rotation.rotary == TINYATTN_INTERLEAVED;
    return {without_groups(), group, kernel::rotation_of(rotation.cosines, rotation.sines, is_interleaved, head_dim)};
  }
  kernel::GroupedLayer<const float*, kernel::EndlessRotation> by_speeds() const {
    const bool is_interleaved = rotation.rotary == TINYATTN_INTERLEAVED;
    return {without_groups(), group, kernel::endless_rotation_of(rotation.speeds, is_interleaved, head_dim)};
  }
};
inline DrawnLayer draw_layer(Call& call, Size d_in, Size heads, Size head_dim, Size positions, bool by_speeds, bool has_output) {
  const Size d_out = heads * head_dim, group = call.random.divisor(heads), kv = d_out / group;
  const tinyattn_linear query = draw_linear(call, Kind::f32, d_in, d_out), key = draw_linear(call, Kind::f32, d_in, kv);
  const tinyattn_linear value = draw_linear(call, Kind::f32, d_in, kv);
  const tinyattn_linear output = has_output ? draw_linear(call, Kind::f32, d_out, d_out) : tinyattn_linear{};
  return {d_in, d_out, heads, head_dim, group, query, key, value, output, draw_rotation(call, positions, head_dim, by_speeds)};
}
inline GradientsOfLayer draw_gradients(Call& call, const DrawnLayer& layer) {
  const Gradient query = draw_gradients(call, layer.d_in, layer.d_out), key = draw_gradients(call, layer.d_in, layer.kv());
  const Gradient value = draw_gradients(call, layer.d_in, layer.kv());
  return {query, key, value, layer.out_proj.weight == nullptr ? Gradient{} : draw_gradients(call, layer.d_out, layer.d_out)};
}

// Self-attention, one memory for keys and values, or separate inputs; the first input's gradient may accumulate. Dropout only in
// self-attention. The scratch is sized for a context that the call may not fill.
inline void layer_gradients(Call& call) {
  Random& random = call.random;
  const bool drops = random.one_in(4);
  const Size inputs = drops ? 1 : 1 + random.below(3), tokens = random.size(40), sources = inputs == 1 ? tokens : random.size(40);
  const Size heads = 1 + random.below(6), head_dim = random.size(heads > 2 ? 10 : 40), index = random.below(3),
             window = draw_window(call, tokens);
  const bool is_square = random.one_in(2), has_output = random.one_in(2), goes_on = random.one_in(3);
  const Size d_in = is_square ? heads * head_dim : random.size(40), context = std::max(tokens, sources) + random.below(4);
  const DrawnLayer layer = draw_layer(call, d_in, heads, head_dim, context, window != 0 && !drops, has_output);
  const plain::Mask mask = draw_mask_of_layer(call, tokens, sources, window);
  Rows query = draw_input(call, tokens, d_in, draw_gap(call)), d_out = draw_input(call, tokens, layer.d_out, draw_gap(call));
  const plain::Input plain_query = query, plain_d_out = d_out;
  const Rows source = draw_input(call, sources, d_in), third = inputs == 3 ? draw_input(call, sources, d_in, draw_gap(call)) : source;
  const GradientsOfLayer gradient = draw_gradients(call, layer);
  const Result d_query = draw_wanted(call, tokens, d_in, draw_gap(call));
  const Result d_key = inputs == 1 ? d_query : draw_wanted(call, sources, d_in);
  const Result d_value = inputs == 3 ? draw_wanted(call, sources, d_in, draw_gap(call)) : d_key;
  if (!goes_on) draw_place(call, d_query, query, is_square ? &d_out : nullptr);
  const Rows key = inputs == 1 ? query : source, value = inputs == 1 ? query : third;
  float* const scratch = call.garbage(kernel::layer_backward_scratch<Port>(layer.d_out, layer.kv(), head_dim, context));
  Philox4x32 generator(random.below(1000));
  by_kernel(call, [&] {
    const kernel::BackwardElement element{
        index, tokens, sources, query, key, value, d_out, d_query.of_kernel, d_key.of_kernel, d_value.of_kernel, goes_on};
    const auto parts = kernel::layer_backward_parts<Port>(scratch, layer.d_out, layer.kv(), head_dim, context);
    const auto backward = [&](const auto& of_kernel, const auto& under, const auto& dropout) {
      kernel::layer_backward<Port>(of_kernel, gradient, parts, element, under, dropout);
    };
    with_mask(mask, sources, [&]<class Mask>(const Mask& under) {
      if (drops) return backward(layer.by_table(), under, WeightsReplay{generator, tokens});
      if constexpr (std::is_same_v<Mask, kernel::Band>) {
        if (layer.rotation.speeds != nullptr) return backward(layer.by_speeds(), under, kernel::NoReplay{});
      } else if (layer.group == 1 && layer.rotation.cosines == nullptr) {
        return backward(layer.without_groups(), under, kernel::NoReplay{});
      }
      backward(layer.by_table(), under, kernel::NoReplay{});
    });
  });
  by_twin([&] {
    const plain::OneDropout dropout(Rates::dropout_rate, drops ? &generator : nullptr, (index + 1) * heads * tokens, tokens);
    const plain::Input factors = dropout;
    if (!goes_on) plain::clear(d_query.of_twin);
    if (inputs > 1) plain::clear(d_key.of_twin);
    if (inputs > 2) plain::clear(d_value.of_twin);
    const plain::Matrix cosines(context, head_dim / 2), sines(context, head_dim / 2);
    plain::layer_backward(layer.plainly(layer.rotation.plainly(cosines, sines)), plain_query, inputs == 1 ? plain_query : source,
                          inputs == 1 ? plain_query : third, mask, plain_d_out, d_query.of_twin, d_key.of_twin, d_value.of_twin,
                          gradient.of_twin(), drops ? factors.rows_from(index * heads * tokens) : factors);
  });
  gives(call, gradient, d_query);
  if (inputs > 1) gives(call, d_key);
  if (inputs > 2) gives(call, d_value);
}

// --- Blocks ---

// Forward and backward through a block, with and without dropout. The feed-forward part takes any number of rows at a time, and shares its
// scratch with attention, as in a workspace.
inline void block_gradients(Call& call) {
  Random& random = call.random;
  const bool drops = random.one_in(2), norm_first = random.one_in(2), is_gated = random.one_in(2);
  const Size tokens = random.size(40), heads = 1 + random.below(4), head_dim = 1 + random.below(8), d_model = heads * head_dim;
  const Size d_hidden = random.size(20), hidden_rows = 1 + random.below(tokens), context = tokens + random.below(4);
  const DrawnLayer layer = draw_layer(call, d_model, heads, head_dim, context, false, true);
  const tinyattn_norm first_norm = draw_norm(call, d_model), second_norm = draw_norm(call, d_model);
  const Activation activation = call.activation();
  const tinyattn_linear up = draw_linear(call, Kind::f32, d_model, d_hidden), down = draw_linear(call, Kind::f32, d_hidden, d_model);
  const tinyattn_linear gate = is_gated ? draw_linear(call, Kind::f32, d_model, d_hidden) : tinyattn_linear{};
  const plain::Mask mask = draw_mask_of_layer(call, tokens, tokens, 0);
  const Rows x = draw_input(call, tokens, d_model), d_out = draw_input(call, tokens, d_model);
  const GradientsOfLayer of_layer = draw_gradients(call, layer);
  const Gradient of_first = draw_gradients(call, 1, d_model, first_norm.bias != nullptr);
  const Gradient of_second = draw_gradients(call, 1, d_model, second_norm.bias != nullptr);
  const Gradient of_up = draw_gradients(call, d_model, d_hidden), of_down = draw_gradients(call, d_hidden, d_model);
  const Gradient of_gate = is_gated ? draw_gradients(call, d_model, d_hidden) : Gradient{};
  const Result out = draw_result(call, tokens, d_model), d_x = draw_result(call, tokens, d_model);
  const Size block_rows = kernel::block_rows<Port>(context), query_rows = std::min(block_rows, Port::query_rows);
  const Size of_attention = std::max(kernel::layer_scratch(d_model, layer.kv(), context, context),
                                     kernel::layer_backward_scratch<Port>(d_model, layer.kv(), head_dim, context));
  float* const scratch = call.garbage(std::max(of_attention, kernel::hidden_backward_scratch(hidden_rows, d_hidden, is_gated)));
  float *const row = call.garbage(d_model), *const input = call.garbage(tokens * d_model), *const part_of = call.garbage(tokens * d_model);
  const kernel::Output kept[] = {{call.garbage(tokens * d_model), d_model}, {call.garbage(tokens * d_model), d_model}};
  Philox4x32 generator(random.below(1000));
  plain::copy(x, out.of_kernel);
  plain::copy(d_out, d_x.of_kernel);
  by_kernel(call, [&] {
    using FeedForward = kernel::FeedForward<>;
    const kernel::Block<kernel::GroupedLayer<>, FeedForward> block{
        described(first_norm, d_model), layer.by_table(), described(second_norm, d_model),
        FeedForward{d_model, d_hidden, activation, projection(up), projection(gate), projection(down)}, norm_first};
    const kernel::BlockGradient gradient{of_first, of_layer, of_second, {of_up, of_gate, of_down}};
    const kernel::BlockScratch<> forward_parts{
        {part_of, d_model}, kernel::parts_of(scratch, d_model, layer.kv(), context, block_rows, query_rows), scratch, hidden_rows};
    const kernel::BlockBackwardScratch<> backward_parts{
        {input, d_model}, {part_of, d_model}, row, kernel::layer_backward_parts<Port>(scratch, d_model, layer.kv(), head_dim, context),
        scratch,          hidden_rows};
    const kernel::Mask all = described(mask, tokens), under = mask.is_causal ? kernel::and_causal(all) : all;
    const auto both_passes = [&](const auto& dropout) {
      kernel::forward_block_kept<Port>(block, forward_parts, tokens, out.of_kernel, kept, under, dropout);
      kernel::block_backward<Port>(block, gradient, backward_parts, tokens, kept, d_x.of_kernel, under, dropout,
                                   [&](kernel::Output to) { kernel::copy_rows<Port>(tokens, d_model, x, to); });
    };
    if (drops)
      both_passes(BlockDropout(generator, 0, tokens));
    else
      both_passes(kernel::NoDropout{});
  });
  by_twin([&] {
    const plain::Block block{
        plainly(first_norm), layer.plainly(), plainly(second_norm),
        plain::Hidden{plainly(up, d_model, d_hidden), plainly(gate, d_model, d_hidden), plainly(down, d_hidden, d_model), activation},
        norm_first};
    const plain::BlockGradient gradient{
        of_first.of_twin(), of_layer.of_twin(), of_second.of_twin(), {of_up.of_twin(), of_gate.of_twin(), of_down.of_twin()}};
    const plain::BlockDropout dropout(Rates::dropout_rate, Rates::residual_dropout_rate, drops ? &generator : nullptr, heads, tokens,
                                      d_model);
    plain::copy(x, d_x.of_twin);
    plain::train(block, gradient, mask, dropout, d_x.of_twin, [&] {
      plain::copy(d_x.of_twin, out.of_twin);
      plain::copy(d_out, d_x.of_twin);
    });
  });
  gives(call, of_layer, of_first, of_second, of_up, of_gate, of_down, out, d_x);
}

}  // namespace tinyattn::test
