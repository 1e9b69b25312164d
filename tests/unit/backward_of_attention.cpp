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
constexpr TransformerConfig dropped_blocks = {.block = dropped_block, .num_layers = 2};
constexpr LanguageModelConfig dropped_model = {.vocabulary = 7, .transformer = dropped_blocks};
constexpr BlockConfig small_block(DropoutRate of_weights, DropoutRate of_outputs, bool norm_first) {
  return {.attention = {.d_in = 2, .d_out = 2, .context_length = 3, .causal = false, .dropout = of_weights, .residual_dropout = of_outputs},
          .feed_forward = {.d_model = 2, .d_hidden = 2},
          .norm_first = norm_first};
}

constexpr LanguageModelConfig tiny = {
    .vocabulary = 3,
    .transformer = {.block = {.attention = {.d_in = 2, .d_out = 2, .context_length = 2}, .feed_forward = {.d_model = 2, .d_hidden = 2}},
                    .num_layers = 1}};

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

// --- Dropout ---

constexpr bool next_are_equal(Philox4x32 a, Philox4x32 b) { return uniform(a, 0.0f, 1.0f) == uniform(b, 0.0f, 1.0f); }

// Both passes of one form of a call, as in plain loops: forward in either workspace, backward by Training. Generators then stand where the
// twin's does. Rows from call.tokens on hold NaN.
template <class Module, class X>
constexpr void check_dropout(Check& check, plain::Call call, const auto&... form) {
  const auto module = drawn<Module>(1);
  auto x = drawn<X>(2), d_out = drawn<X>(3);
  X untouched;
  for (float& number : untouched.elements) number = 7.0f;
  X out = untouched, d_x = untouched;
  Module gradient{};
  Philox4x32 of_twin(123u);
  call.generator = &of_twin;
  for (std::size_t i = 0; i < plain::batch_of<X>; ++i) {
    const std::size_t tokens = call.tokens_of(plain::view(x));
    const plain::Output to = plain::view(d_x, i).first_rows(tokens);
    plain::copy(plain::view(x, i), to);
    plain::train(module, gradient, call, to, [&] {
      plain::copy(to, plain::view(out, i).first_rows(tokens));
      plain::copy(plain::view(d_out, i), to);
    });
    for (X* const m : {&x, &d_out})
      for (std::size_t row = tokens; row < plain::view(x).rows; ++row)
        for (std::size_t j = 0; j < plain::view(x).cols; ++j) plain::view(*m, i)(row, j) = quiet_nan;
  }
  Training<Module, Sgd> training;
  typename Module::Workspace of_inference;
  const auto check_forward = [&](auto& workspace) {
    Philox4x32 generator(opaque(123u));
    X its = untouched;
    static_cast<void>(module.forward(x, form..., its, workspace, generator));
    check.same_bits(its, out);
    check.that(next_are_equal(generator, of_twin));
  };
  check_forward(of_inference);
  check_forward(training.workspace);
  Philox4x32 generator(opaque(123u));
  X its = untouched;
  static_cast<void>(training.backward(module, x, form..., d_out, its, generator));
  check.same_bits(its, d_x);
  check.that(training.gradient == gradient);
  check.that(next_are_equal(generator, of_twin));
}
template <class Module, std::size_t Tokens, std::size_t DModel>
constexpr void check_dropout_in_each_form(Check& check) {
  using X = Matrix<float, Tokens, DModel>;
  using Mask = KeepMask<Tokens, Tokens>;
  check_dropout<Module, Tensor<float, 2, Tokens, DModel>>(check, {});
  check_dropout<Module, X>(check, {.mask = plain::mask_of(patterned<Mask>, Tokens, Tokens)}, patterned<Mask>);
  check_dropout<Module, X>(check, {.tokens = Tokens - 1}, opaque(Tokens - 1));
}

// The loss of a training pass is that of the logits of forward, whose gradient leads backward to the gradient of Training.
template <LanguageModelConfig config, std::size_t Tokens>
constexpr void check_dropout_of_a_model(Check& check) {
  using Model = LanguageModel<config>;
  const auto model = drawn<Model>(1);
  auto tokens = some_tokens<Tokens>(config.vocabulary);
  const auto targets = some_targets<Tokens>(config.vocabulary);
  Training<Model, Sgd> training;
  typename Model::Workspace of_inference;
  Model gradient{};
  Philox4x32 after(opaque(123u)), replay = after;
  const Philox4x32 before = after;
  const float loss = training.backward(model, tokens, targets, 1.0f, after);
  Matrix<float, Tokens, config.vocabulary> logits;
  const auto check_forward = [&](auto& workspace) {
    Philox4x32 generator = before;
    check.that(model.forward(tokens, logits, workspace, generator) == Status::ok);
    check.same_bits(cross_entropy(logits, targets, logits), loss);
    check.that(next_are_equal(generator, after));
  };
  check_forward(of_inference);
  check_forward(training.workspace);
  check.that(backward(model, tokens, logits, no_gradient, gradient, training.workspace, replay) == Status::ok);
  check.that(gradient == training.gradient);
  check.that(next_are_equal(replay, after));
  tokens(0) = config.vocabulary;
  check.that(model.forward(tokens, logits, of_inference, replay) == Status::unknown_token);
  check.that(backward(model, tokens, logits, no_gradient, gradient, training.workspace, replay) == Status::unknown_token);
  check.that(next_are_equal(replay, after));
}

// --- What takes no part ---

// NaN in a key that every query masks, and in its value: no gradient has a trace of it, and theirs are 0.
template <class Mask>
void check_masked_key(Check& check) {
  Mask mask{};
  set_mask(mask, [](std::size_t i, std::size_t j) { return j == 4 || is_masked(i, j); });
  const auto query = drawn<Matrix<float, 5, 3>>(1);
  auto key = drawn<Matrix<float, 7, 3>>(2);
  auto value = drawn<Matrix<float, 7, 4>>(3);
  const auto d_out = drawn<Matrix<float, 5, 4>>(4);
  Matrix<float, 5, 3> d_query[2];
  Matrix<float, 7, 3> d_key[2];
  Matrix<float, 7, 4> d_value[2];
  for (std::size_t i = 0; i < 2; ++i) {
    scaled_dot_product_attention_backward(query, opaque(key), value, mask, d_out, d_query[i], d_key[i], d_value[i]);
    for (std::size_t j = 0; j < 3; ++j) key(4, j) = quiet_nan;
    for (std::size_t j = 0; j < 4; ++j) value(4, j) = quiet_nan;
  }
  check.same_bits(d_query[0], d_query[1]);
  check.same_bits(d_key[0], d_key[1]);
  check.same_bits(d_value[0], d_value[1]);
  check.same_bits(row(d_key[0], 4), zeros<float, 3>());
  check.same_bits(row(d_value[0], 4), zeros<float, 4>());
}

// The same of a layer: no weight has a trace of it.
template <class Mask>
void check_masked_memory(Check& check) {
  using Layer = MultiHeadAttention<not_causal>;
  Mask mask{};
  set_mask(mask, [](std::size_t i, std::size_t j) { return j == 4 || is_masked(i, j); });
  const auto layer = drawn<Layer>(1);
  const auto query = drawn<Matrix<float, 5, 5>>(2);
  const auto d_out = drawn<Matrix<float, 5, 6>>(3);
  auto memory = drawn<Matrix<float, 7, 5>>(4);
  Layer gradient[2] = {};
  Matrix<float, 7, 5> d_memory[2];
  BackwardWorkspace<Layer> workspace;
  for (std::size_t i = 0; i < 2; ++i) {
    backward(layer, query, opaque(memory), memory, mask, d_out, no_gradient, d_memory[i], d_memory[i], gradient[i], workspace);
    for (std::size_t j = 0; j < 5; ++j) memory(4, j) = quiet_nan;
  }
  check.that(gradient[0] == gradient[1]);
  check.same_bits(d_memory[0], d_memory[1]);
}

// NaN in a token that lies before the windows of others: their gradients have no trace of it.
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

// Rows from a count on hold NaN: the gradients are those of the first rows alone, and what lies after them stays. Too many change nothing.
template <class Module, std::size_t DIn, std::size_t DOut = DIn>
void check_counts(Check& check) {
  constexpr std::size_t count = 3;
  static Module module, before, gradient, of_few;
  static BackwardWorkspace<Module> workspace;
  const auto few = drawn<Matrix<float, count, DIn>>(1);
  const auto few_d = drawn<Matrix<float, count, DOut>>(2);
  Draw draw;
  draw(module, before);
  gradient = of_few = before;
  auto x = full<float, 5, DIn>(quiet_nan), d_x = full<float, 5, DIn>(7.0f);
  auto d_out = full<float, 5, DOut>(quiet_nan);
  for (std::size_t i = 0; i < few.size(); ++i) x.elements[i] = few.elements[i];
  for (std::size_t i = 0; i < few_d.size(); ++i) d_out.elements[i] = few_d.elements[i];
  Matrix<float, count, DIn> d_few;
  static_cast<void>(backward(module, few, few_d, d_few, of_few, workspace));
  check.that(backward(module, x, opaque(std::size_t{6}), d_out, d_x, gradient, workspace) == Status::too_many_tokens);
  check.that(backward(module, x, opaque(std::size_t{0}), d_out, d_x, gradient, workspace) == Status::ok);
  check.that(gradient == before);
  check.same_bits(d_x, full<float, 5, DIn>(7.0f));
  check.that(backward(module, x, opaque(count), d_out, d_x, gradient, workspace) == Status::ok);
  check.that(gradient == of_few);
  for (std::size_t i = 0; i < d_x.size(); ++i) check.same_bits(d_x.elements[i], i < d_few.size() ? d_few.elements[i] : 7.0f);
}

// The same of a memory, of which no rows may count.
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

// Texts that are refused, and targets of which none counts, change nothing.
void check_texts(Check& check) {
  using Model = LanguageModel<gpt_2>;
  static Training<Model, Sgd> training;
  static Model model, before;
  Draw draw;
  draw(model, before);
  training.gradient = before;
  const auto refused = [&](TokenView tokens, TokenView targets) {
    const float loss = training.backward(model, tokens, targets);
    check.that(loss != loss);
    check.that(training.gradient == before);
  };
  refused(vector<Token>({1, 7}), vector<Token>({1, 2}));
  refused(vector<Token>({1, 2}), vector<Token>({1, 7}));
  refused(vector<Token>({1, 2}), vector<Token>({1, 2, 3}));
  refused(vector<Token>({1, 2, 3, 4, 5, 6}), vector<Token>({1, 2, 3, 4, 5, 6}));
  refused(vector<Token>({1, 2}), vector<Token>({ignore_index, ignore_index}));
  refused({}, {});
  const float loss = training.backward(model, vector<Token>({1, 2}), vector<Token>({ignore_index, 2}));
  check.that(loss > 0.0f && training.gradient != before);
  const auto d_logits = drawn<Matrix<float, 2, 7>>(1);
  training.gradient = before;
  check.that(backward(model, vector<Token>({1, 7}), d_logits, no_gradient, training.gradient, training.workspace) == Status::unknown_token);
  check.that(training.gradient == before);
  check.that(backward(model, vector<Token>({1, 6}), d_logits, no_gradient, no_gradient, training.workspace) == Status::ok);
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
                            Dropped<LayerGradient<training, 2, 6>>, DroppedUnder<patterned<KeepMask<6, 6>>, LayerGradient<training, 6>>,
                            MemoryGradient<not_causal, patterned<NoMask>, 5, 7, 2>,
                            MemoryGradient<not_causal, with_a_masked_query<KeepMask<5, 7>>, 5, 7>, CrossGradient<not_causal, 3, 5, 4, 7>,
                            CrossGradient<not_causal, 3, 0, 4, 7>, CrossGradient<grouped, 4, 2, 4, 7>>),
    at_run_time(
        "blocks, as in plain loops",
        as_in_loops<BlockGradient<norm_last, 5>, BlockGradient<rms_first, 2, 9>, BlockGradient<layer_first, 3>,
                    TransformerGradient<two_blocks, 2, 4>, OfFirst<2, BlockGradient<norm_last, 2, 3>>,
                    Masked<with_a_masked_query<KeepMask<5, 5>>, BlockGradient<norm_last, 5>>, Dropped<BlockGradient<dropped_block, 2, 7>>>),
    at_run_time("models, as in plain loops", as_in_loops<TextGradient<gpt_2, 5>, TextGradient<llama, 7>, LossGradient<gpt_2, 4>,
                                                         LossGradient<llama, 6>, LossGradient<dropped_model, 7, true>>),
    everywhere("two steps of AdamW, as in plain loops", as_in_plain_loops<TrainingSteps<tiny, 2, false, AdamW>>),
    at_run_time(
        "attention and layers, as differences of forward passes",
        as_differences<OneHeadGradient<patterned<AdditiveMask<3, 4>>, 3, 4, 2, 3>, LayerGradient<causal, 3>, LayerGradient<grouped, 3>,
                       OfBlocks<StackedCausalAttention<3, 2, 4, 3>, Tensor<float, 2, 4, 3>, Tensor<float, 2, 4, 6>>,
                       Dropped<LayerGradient<training, 4>>, DroppedUnder<with_a_masked_query<KeepMask<4, 4>>, LayerGradient<training, 4>>,
                       MemoryGradient<not_causal, patterned<NoMask>, 3, 4>>),
    at_run_time("blocks and models, as differences of forward passes",
                as_differences<Dropped<BlockGradient<dropped_block, 2, 3>>, BlockGradient<norm_last, 3>, BlockGradient<rms_first, 3>,
                               TextGradient<gpt_2, 3>, LossGradient<llama, 4>>),
    everywhere("dropout of small blocks, as in plain loops",
               [](Check& check) {
                 using X = Matrix<float, 3, 2>;
                 check_dropout<TransformerBlock<small_block(0.5, 0.25, true)>, X>(check, {});
                 check_dropout<TransformerBlock<small_block(0, 0.5, false)>, X>(check, {});
               }),
    at_run_time("dropout in each form of a call, as in plain loops",
                [](Check& check) {
                  check_dropout_in_each_form<TransformerBlock<dropped_block>, 7, 12>(check);
                  check_dropout_in_each_form<Transformer<dropped_blocks>, 6, 12>(check);
                  check_dropout_in_each_form<TransformerBlock<small_block(0.5, 0, false)>, 3, 2>(check);
                  check_dropout_in_each_form<TransformerBlock<small_block(1, 0.5, true)>, 3, 2>(check);
                  check_dropout_in_each_form<TransformerBlock<small_block(0, 0, true)>, 3, 2>(check);
                }),
    at_run_time("dropout of models: forward has the loss of Training", check_dropout_of_a_model<dropped_model, 7>),
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
    at_run_time("NaN in a masked key leaves no trace",
                [](Check& check) {
                  check_masked_key<KeepMask<5, 7>>(check);
                  check_masked_memory<KeepMask<5, 7>>(check);
                  check_masked_key<BlockMask<7>>(check);
                  check_masked_memory<BlockMask<7>>(check);
                  check_masked_key<AdditiveMask<5, 7>>(check);
                  check_masked_memory<AdditiveMask<5, 7>>(check);
                  check_window(check);
                }),
    at_run_time("NaN after a number of tokens leaves no trace",
                [](Check& check) {
                  check_counts<MultiHeadAttention<causal>, 5, 6>(check);
                  check_counts<MultiHeadAttention<grouped>, 12>(check);
                  check_counts<TransformerBlock<norm_last>, 12>(check);
                  check_counts<TransformerBlock<rms_first>, 12>(check);
                  check_counts<Transformer<two_blocks>, 12>(check);
                  check_counts_of_a_memory(check);
                }),
    at_run_time("texts and targets that do not count", check_texts),
};

}  // namespace

int main() { return run(tests); }
