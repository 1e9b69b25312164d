// SPDX-License-Identifier: MIT
//
// Backward passes of attention, its layers, blocks and models: as in plain loops, as finite differences, and what takes no part.
// golden/gradients.cpp has PyTorch's.
#include "catalogue/gradients_of_attention.hpp"
#include "catalogue/workloads.hpp"
#include "checks_of_gradients.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr TransformerConfig two_blocks = {.block = norm_last, .num_layers = 2, .final_norm = true};
constexpr AttentionConfig square = {.d_in = 12, .d_out = 12, .context_length = 5, .num_heads = 2, .causal = false, .num_kv_heads = 1};
constexpr BlockConfig dropped_block = {
    .attention = {.d_in = 12, .d_out = 12, .context_length = 7, .num_heads = 2, .dropout = 0.5, .residual_dropout = 0.1},
    .feed_forward = gelu_part};
constexpr LanguageModelConfig dropped_model = {.vocabulary = 7, .transformer = {.block = dropped_block, .num_layers = 2}};

// --- The function ---

// Each gradient alone, and that of the query in its place.
template <class Mask>
constexpr void check_function(Check& check, const Mask& mask) {
  const auto query = drawn<Matrix<float, 5, 3>>(1);
  const auto key = drawn<Matrix<float, 7, 3>>(2);
  const auto value = drawn<Matrix<float, 7, 4>>(3);
  const auto d_out = drawn<Matrix<float, 5, 4>>(4);
  Matrix<float, 5, 3> d_query, query_alone, both = query;
  Matrix<float, 7, 3> d_key, key_alone;
  Matrix<float, 7, 4> d_value, value_alone;
  const auto call = [&](const auto& from, auto&... gradients) {
    scaled_dot_product_attention_backward(from, key, value, mask, opaque(d_out), gradients...);
  };
  call(query, d_query, d_key, d_value);
  call(query, query_alone, no_gradient, no_gradient);
  call(query, no_gradient, key_alone, no_gradient);
  call(query, no_gradient, no_gradient, value_alone);
  call(both, both, no_gradient, no_gradient);
  check.same_bits(query_alone, d_query);
  check.same_bits(key_alone, d_key);
  check.same_bits(value_alone, d_value);
  check.same_bits(both, d_query);
}

// --- Cross-attention ---

// Each gradient alone; those of inputs that are one tensor; and each in the place of an input, or of the output's gradient.
constexpr void check_cross(Check& check) {
  using Layer = MultiHeadAttention<square>;
  using X = Matrix<float, 5, 12>;
  const auto layer = drawn<Layer>(1), before = drawn<Layer>(2);
  const auto query = drawn<X>(3), key = drawn<X>(4), value = drawn<X>(5), d_out = drawn<X>(6);
  BackwardWorkspace<Layer> workspace;
  Layer gradient = before;
  X d_query, d_key, d_value, query_alone, key_alone, value_alone;
  backward(layer, query, key, value, opaque(d_out), d_query, d_key, d_value, gradient, workspace);
  backward(layer, query, key, value, opaque(d_out), query_alone, no_gradient, no_gradient, no_gradient, workspace);
  backward(layer, query, key, value, opaque(d_out), no_gradient, key_alone, no_gradient, no_gradient, workspace);
  backward(layer, query, key, value, opaque(d_out), no_gradient, no_gradient, value_alone, no_gradient, workspace);
  check.same_bits(query_alone, d_query);
  check.same_bits(key_alone, d_key);
  check.same_bits(value_alone, d_value);
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

constexpr Test tests[] = {
    everywhere(
        "attention under each mask, as in plain loops",
        as_in_loops<OneHeadGradient<patterned<NoMask>, 3, 5, 2, 3>, OneHeadGradient<with_a_masked_query<AdditiveMask<3, 4>>, 3, 4, 2, 1>>),
    at_run_time(
        "attention under each mask, as in plain loops",
        as_in_loops<OneHeadGradient<patterned<NoMask>, 5, 7, 3, 4>, OneHeadGradient<patterned<Causal>, 6, 6, 4, 3, 2>,
                    OneHeadGradient<patterned<CausalBottomRight>, 7, 4, 3, 2>, OneHeadGradient<patterned<CausalBottomRight>, 3, 6, 3, 2>,
                    OneHeadGradient<with_a_masked_query<BlockMask<5, 7>>, 5, 7, 3, 4>,
                    OneHeadGradient<patterned<KeepMask<7>>, 5, 7, 3, 4, 2>,
                    OneHeadGradient<with_a_masked_query<AdditiveMask<5, 7>>, 5, 7, 3, 4>>),
    everywhere("small layers, as in plain loops", as_in_loops<LayerGradient<grouped, 3>>),
    at_run_time(
        "layers, as in plain loops",
        as_in_loops<LayerGradient<one_head, 5>, LayerGradient<wide_heads, 6>, LayerGradient<not_causal, 2, 5>, LayerGradient<causal, 17>,
                    LayerGradient<grouped, 9>, LayerGradient<halves, 5>, LayerGradient<with_window(grouped, 4), 9>,
                    LayerGradient<with_window(halves, 1), 5>, Masked<with_a_masked_query<BlockMask<6, 6>>, LayerGradient<causal, 6>>,
                    Masked<with_a_masked_query<AdditiveMask<9, 9>>, LayerGradient<with_window(grouped, 4), 9>>>),
    at_run_time("counted tokens, cross-attention and dropout, as in plain loops",
                as_in_loops<OfFirst<3, LayerGradient<grouped, 2, 5>>, OfFirst<0, LayerGradient<causal, 2>>,
                            Dropped<LayerGradient<training, 2, 6>>, MemoryGradient<not_causal, patterned<NoMask>, 5, 7, 2>,
                            MemoryGradient<not_causal, with_a_masked_query<KeepMask<5, 7>>, 5, 7>, CrossGradient<not_causal, 3, 5, 4, 7>,
                            CrossGradient<not_causal, 3, 0, 4, 7>, CrossGradient<grouped, 4, 2, 4, 7>>),
    at_run_time(
        "blocks, as in plain loops",
        as_in_loops<BlockGradient<norm_last, 5>, BlockGradient<rms_first, 2, 9>, BlockGradient<layer_first, 3>,
                    TransformerGradient<two_blocks, 2, 4>, OfFirst<2, BlockGradient<norm_last, 2, 3>>,
                    Masked<with_a_masked_query<KeepMask<5, 5>>, BlockGradient<norm_last, 5>>, Dropped<BlockGradient<dropped_block, 2, 7>>>),
    at_run_time("models, as in plain loops", as_in_loops<TextGradient<gpt_2, 5>, TextGradient<llama, 7>, LossGradient<gpt_2, 4>,
                                                         LossGradient<llama, 6>, LossGradient<dropped_model, 7, true>>),
    at_run_time(
        "attention and layers, as differences of forward passes",
        as_differences<OneHeadGradient<patterned<AdditiveMask<3, 4>>, 3, 4, 2, 3>, LayerGradient<causal, 3>, LayerGradient<grouped, 3>,
                       Dropped<LayerGradient<training, 4>>, MemoryGradient<not_causal, patterned<NoMask>, 3, 4>>),
    at_run_time("blocks and models, as differences of forward passes",
                as_differences<BlockGradient<norm_last, 3>, BlockGradient<rms_first, 3>, TextGradient<gpt_2, 3>, LossGradient<llama, 4>>),
    everywhere("the function: only the gradients that are wanted, and in place",
               [](Check& check) {
                 check_function(check, NoMask{});
                 check_function(check, patterned<BlockMask<5, 7>>);
               }),
    at_run_time("cross-attention: only the gradients that are wanted, and in place", check_cross),
    at_run_time("a gradient that is not wanted changes no other; a batch is its elements one after the other; in place",
                [](Check& check) {
                  check_module<MultiHeadAttention<causal>, Matrix<float, 4, 5>, Matrix<float, 4, 6>>(check);
                  check_module<MultiHeadAttention<grouped>, Matrix<float, 4, 12>>(check);
                  check_module<TransformerBlock<norm_last>, Matrix<float, 4, 12>>(check);
                  check_module<TransformerBlock<rms_first>, Matrix<float, 4, 12>>(check);
                  check_module<Transformer<two_blocks>, Matrix<float, 4, 12>>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
