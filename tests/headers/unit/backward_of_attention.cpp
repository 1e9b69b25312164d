// SPDX-License-Identifier: MIT
//
// Forms of backward passes of attention, its layers, blocks and transformers; masked and missing tokens. golden/gradients.cpp compares with
// PyTorch, answers/ with plain loops; dropout is in training.cpp.
#include "catalogue/gradients_of_attention.hpp"
#include "catalogue/workloads.hpp"
#include "checks_of_gradients.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr TransformerConfig two_blocks = {.block = norm_last, .num_layers = 2, .final_norm = true};
constexpr AttentionConfig square = {.d_in = 12, .d_out = 12, .context_length = 5, .num_heads = 2, .causal = false, .num_kv_heads = 1};

// Checks the three gradients of call(query, d_out, d_query, d_key, d_value): each alone, and d_query in the place of the query.
template <class Query, class Key, class Value>
constexpr void check_alone(Check& check, const Query& query, const Key&, const Value&, auto call) {
  Query d_query, both = query;
  Key d_key, key_alone;
  Value d_value, value_alone;
  call(query, d_query, d_key, d_value);
  call(both, both, no_gradient, no_gradient);
  call(query, no_gradient, key_alone, no_gradient);
  call(query, no_gradient, no_gradient, value_alone);
  check.same_bits(both, d_query);
  check.same_bits(key_alone, d_key);
  check.same_bits(value_alone, d_value);
}

template <class Mask>
constexpr void check_function(Check& check, const Mask& mask) {
  const auto key = drawn<Matrix<float, 7, 3>>(2);
  const auto value = drawn<Matrix<float, 7, 4>>(3);
  const auto d_out = drawn<Matrix<float, 5, 4>>(4);
  check_alone(check, drawn<Matrix<float, 5, 3>>(1), key, value, [&](const auto& query, auto&... gradients) {
    scaled_dot_product_attention_backward(query, key, value, mask, opaque(d_out), gradients...);
  });
}

// The same for cross-attention, also with each gradient in the place of any input, or of d_out.
constexpr void check_cross(Check& check) {
  using Layer = MultiHeadAttention<square>;
  using X = Matrix<float, 5, 12>;
  const auto layer = drawn<Layer>(1), before = drawn<Layer>(2);
  const auto query = drawn<X>(3), key = drawn<X>(4), value = drawn<X>(5), d_out = drawn<X>(6);
  BackwardWorkspace<Layer> workspace;
  check_alone(check, query, key, value, [&](const auto& from, auto&... gradients) {
    backward(layer, from, key, value, opaque(d_out), gradients..., no_gradient, workspace);
  });
  Layer gradient = before;
  X d_query, d_key, d_value;
  backward(layer, query, key, value, d_out, d_query, d_key, d_value, gradient, workspace);
  const auto check_in_place = [&](std::size_t of_query, std::size_t of_key, std::size_t of_value) {
    X tensors[] = {query, key, value, d_out, {}, {}, {}};
    Layer its = before;
    backward(layer, tensors[0], tensors[1], tensors[2], tensors[3], tensors[of_query], tensors[of_key], tensors[of_value], its, workspace);
    check.that(its == gradient);
    check.same_bits(tensors[of_query], d_query);
    check.same_bits(tensors[of_key], d_key);
    check.same_bits(tensors[of_value], d_value);
  };
  for (std::size_t i = 0; i < 4; ++i) {
    check_in_place(i, 5, 6);
    check_in_place(4, i, 6);
    check_in_place(4, 5, i);
  }
  check_in_place(1, 2, 0);
}

// Stacked heads: each has the gradient of its columns; their gradients of the input add up.
constexpr void check_stacked_heads(Check& check) {
  using Stacked = StackedCausalAttention<3, 2, 4, 3>;
  const auto stacked = drawn<Stacked>(1);
  const auto x = drawn<Matrix<float, 4, 3>>(2);
  const auto d_out = drawn<Matrix<float, 4, 6>>(3);
  Stacked gradient{}, expected{};
  Matrix<float, 4, 3> d_x, of_head, sum{};
  BackwardWorkspace<Stacked> workspace;
  BackwardWorkspace<CausalAttention<3, 2, 4>> of_one;
  backward(stacked, opaque(x), d_out, d_x, gradient, workspace);
  for (std::size_t head = 0; head < 3; ++head) {
    backward(stacked.heads[head], x, multiply(columns<2>(d_out, 2 * head), 1.0f), of_head, expected.heads[head], of_one);
    sum = add(sum, of_head);
  }
  check.that(gradient == expected);
  check.near(d_x, sum, 1e-6f);
}

// --- What takes no part ---

// NaN in a key that every query masks, and in its value, leaves no trace in any gradient of the function or a layer.
template <class Mask>
void check_masked_key(Check& check) {
  using Layer = MultiHeadAttention<not_causal>;
  Mask mask{};
  set_mask(mask, [](std::size_t i, std::size_t j) { return j == 4 || is_masked(i, j); });
  const auto layer = drawn<Layer>(1);
  const auto query = drawn<Matrix<float, 5, 5>>(2), d_out = drawn<Matrix<float, 5, 5>>(3);
  const auto d_layer = drawn<Matrix<float, 5, 6>>(4);
  auto memory = drawn<Matrix<float, 7, 5>>(5);
  Matrix<float, 5, 5> d_query[2];
  Matrix<float, 7, 5> d_key[2], d_value[2], d_memory[2];
  Layer gradient[2] = {};
  BackwardWorkspace<Layer> workspace;
  for (std::size_t i = 0; i < 2; ++i) {
    scaled_dot_product_attention_backward(query, opaque(memory), memory, mask, d_out, d_query[i], d_key[i], d_value[i]);
    backward(layer, query, memory, memory, mask, d_layer, no_gradient, d_memory[i], d_memory[i], gradient[i], workspace);
    for (std::size_t j = 0; j < 5; ++j) memory(4, j) = quiet_nan;
  }
  check.same_bits(d_query[0], d_query[1]);
  check.same_bits(d_key[0], d_key[1]);
  check.same_bits(d_value[0], d_value[1]);
  check.same_bits(d_memory[0], d_memory[1]);
  check.that(gradient[0] == gradient[1]);
  for (const auto& d : {d_key[0], d_value[0]}) check.same_bits(row(d, 4), zeros<float, 5>());
}

// NaN in a token that a window has left behind leaves no trace in the gradients of the tokens after it.
void check_window(Check& check) {
  using Layer = MultiHeadAttention<with_window(grouped, 4)>;
  const auto layer = drawn<Layer>(1);
  auto x = drawn<Matrix<float, 9, 12>>(2);
  const auto d_out = drawn<Matrix<float, 9, 12>>(3);
  Matrix<float, 9, 12> d_x[2];
  BackwardWorkspace<Layer> workspace;
  for (auto& d : d_x) {
    backward(layer, opaque(x), d_out, d, no_gradient, workspace);
    for (std::size_t j = 0; j < 12; ++j) x(0, j) = quiet_nan;
  }
  for (std::size_t i = 4; i < 9; ++i) check.same_bits(row(d_x[0], i), row(d_x[1], i));
}

// Rows after the count hold NaN: gradients equal a call with the first rows alone, and later rows stay. Too large a count changes nothing.
void check_counts(Check& check) {
  using Layer = MultiHeadAttention<causal>;
  const auto layer = drawn<Layer>(1), before = drawn<Layer>(2);
  const auto few = drawn<Matrix<float, 3, 5>>(3);
  const auto few_d = drawn<Matrix<float, 3, 6>>(4);
  const auto x = concat_rows(few, full<float, 2, 5>(quiet_nan)), untouched = full<float, 5, 5>(7.0f);
  const auto d_out = concat_rows(few_d, full<float, 2, 6>(quiet_nan));
  Layer gradient = before, of_few = before;
  Matrix<float, 3, 5> d_few;
  Matrix<float, 5, 5> d_x = untouched;
  BackwardWorkspace<Layer> workspace;
  backward(layer, few, few_d, d_few, of_few, workspace);
  check.that(backward(layer, x, opaque(std::size_t{6}), d_out, d_x, gradient, workspace) == Status::too_many_tokens);
  check.that(backward(layer, x, opaque(std::size_t{0}), d_out, d_x, gradient, workspace) == Status::ok);
  check.that(gradient == before);
  check.same_bits(d_x, untouched);
  check.that(backward(layer, x, opaque(std::size_t{3}), d_out, d_x, gradient, workspace) == Status::ok);
  check.that(gradient == of_few);
  check.same_bits(d_x, concat_rows(d_few, full<float, 2, 5>(7.0f)));
}

// The same for the count of a memory's rows, which may be 0.
void check_counts_of_a_memory(Check& check) {
  using Layer = MultiHeadAttention<not_causal>;
  const auto layer = drawn<Layer>(1), before = drawn<Layer>(2);
  const auto query = drawn<Matrix<float, 3, 5>>(3);
  const auto d_out = drawn<Matrix<float, 3, 6>>(4);
  const auto memory = full<float, 4, 5>(quiet_nan);
  BackwardWorkspace<Layer> workspace;
  Layer gradient = before;
  Matrix<float, 3, 5> d_query;
  auto d_memory = full<float, 4, 5>(7.0f);
  const auto call = [&](std::size_t tokens, std::size_t source_tokens) {
    return backward(layer, query, memory, memory, opaque(tokens), opaque(source_tokens), NoMask{}, d_out, d_query, d_memory, d_memory,
                    gradient, workspace);
  };
  check.that(call(4, 0) == Status::too_many_tokens && call(3, 5) == Status::too_many_tokens);
  check.that(gradient == before);
  check.that(call(3, 0) == Status::ok);
  check.same_bits(d_query, zeros<float, 3, 5>());
  check.same_bits(d_memory, full<float, 4, 5>(7.0f));
  check.that(gradient.query == before.query && gradient.key == before.key && gradient.value == before.value);
  check.that(gradient.out_proj.weight == before.out_proj.weight && gradient.out_proj.bias != before.out_proj.bias);
}

constexpr Test tests[] = {
    everywhere("the function: only the gradients that are wanted, and in place",
               [](Check& check) {
                 check_function(check, NoMask{});
                 check_function(check, patterned<BlockMask<5, 7>>);
               }),
    at_run_time("cross-attention: only the gradients that are wanted, and in place", check_cross),
    at_run_time("heads that are stacked", check_stacked_heads),
    at_run_time(
        "a gradient that is not wanted changes no other; a batch is its elements one after the other; in place",
        each_of<check_module<LayerGradient<causal, 4>>, check_module<LayerGradient<grouped, 4>>, check_module<BlockGradient<norm_last, 4>>,
                check_module<BlockGradient<rms_first, 4>>, check_module<TransformerGradient<two_blocks, 4>>>),
    at_run_time(
        "NaN in a masked key leaves no trace",
        each_of<check_masked_key<KeepMask<5, 7>>, check_masked_key<BlockMask<7>>, check_masked_key<AdditiveMask<5, 7>>, check_window>),
    at_run_time("NaN after a number of tokens leaves no trace", each_of<check_counts, check_counts_of_a_memory>),
};

}  // namespace

int main() { return run(tests); }
