// SPDX-License-Identifier: MIT
//
// Heads that share keys, features that turn, and calls with a cache. Large objects are static: a board has little stack.
#include "plain_model.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

constexpr AttentionConfig simple{.d_in = 12, .d_out = 12, .context_length = 20, .num_heads = 2};
constexpr AttentionConfig grouped{
    .d_in = 10, .d_out = 24, .context_length = 20, .num_heads = 6, .qkv_bias = true, .num_kv_heads = 2, .rotary = Rotary::interleaved};
constexpr AttentionConfig shared{.d_in = 12,
                                 .d_out = 12,
                                 .context_length = 20,
                                 .num_heads = 3,
                                 .out_proj = false,
                                 .num_kv_heads = 1,
                                 .rotary = Rotary::halves,
                                 .rotary_base = 500000};
constexpr AttentionConfig turned{.d_in = 5, .d_out = 8, .context_length = 19, .num_heads = 1, .rotary = Rotary::halves};
constexpr AttentionConfig tiny{.d_in = 1, .d_out = 1, .context_length = 5, .out_bias = false};
constexpr AttentionConfig wide{.d_in = 40, .d_out = 16, .context_length = 37, .num_heads = 4, .num_kv_heads = 2};

// Keys, values and their number, and nothing else; in a tiny one a vector of values.
template <AttentionConfig config, std::size_t KvHeads = config.num_heads>
constexpr bool cache_is_small = sizeof(typename MultiHeadAttention<config>::Cache) <= KvHeads*(config.d_out / config.num_heads) *
                                                                                              2 * config.context_length * sizeof(float) +
                                                                                          2 * sizeof(std::size_t);
static_assert(cache_is_small<simple> && cache_is_small<grouped, 2> && cache_is_small<shared, 1> && cache_is_small<turned>);

// At most eight rows of what is widest.
template <AttentionConfig config>
constexpr bool scratch_is_small = [] {
  std::size_t widest = config.context_length;
  for (const std::size_t width : {config.d_in, config.d_out}) widest = width > widest ? width : widest;
  return sizeof(typename MultiHeadAttention<config>::Cache::Workspace) <= 8 * widest * sizeof(float);
}();
static_assert(scratch_is_small<simple> && scratch_is_small<grouped> && scratch_is_small<shared> && scratch_is_small<wide> &&
              scratch_is_small<AttentionConfig{.d_in = 64, .d_out = 64, .context_length = 512, .num_heads = 4}> &&
              scratch_is_small<AttentionConfig{.d_in = 288, .d_out = 288, .context_length = 256, .num_heads = 6}> &&
              scratch_is_small<AttentionConfig{.d_in = 512, .d_out = 8, .context_length = 16}>);

// Of the projections; keys and values are as wide as their heads.
static_assert(MultiHeadAttention<grouped>::parameter_count == 10 * 24 + 24 + 2 * (10 * 8 + 8) + 24 * 24 + 24);
static_assert(MultiHeadAttention<shared>::parameter_count == 12 * 12 + 2 * 12 * 4);

template <AttentionConfig config>
struct Case {
  using Layer = MultiHeadAttention<config>;
  static constexpr std::size_t tokens = config.context_length;
  static constexpr auto x = numbers<Matrix<float, tokens, config.d_in>>(1);
  static inline Layer layer;
  static inline Matrix<float, tokens, config.d_out> expected;
  static inline Guarded<typename Layer::Workspace> workspace;

  static void prepare() {
    layer = filled<Layer>(2);
    expected = plain_forward(layer, x).out;
  }

  static void check_whole(Check& check) {
    prepare();
    poison(workspace.tensor.scratch);
    static Guarded<Matrix<float, tokens, config.d_out>> out;
    layer.forward(x, out.tensor, workspace.tensor);
    check.same_bits(out.tensor, expected);
    check.that(out.guards_hold() && workspace.guards_hold());
  }

  static void check_divided_at_every_token(Check& check) {
    prepare();
    check_divided(check, layer, x, expected);
  }
};

void for_each_case(auto body) {
  body(Case<simple>{});
  body(Case<grouped>{});
  body(Case<shared>{});
  body(Case<turned>{});
  body(Case<tiny>{});
  body(Case<wide>{});
}

// What a cache holds after `count` of the tokens.
template <class Layer>
auto cache_after(const Layer& layer, const auto& x, std::size_t count) {
  typename Layer::Cache cache{};
  typename Layer::Cache::Workspace scratch{};
  Matrix<float, 20, 12> out;
  static_cast<void>(layer.forward(x, count, cache, out, scratch));
  return cache;
}

using Small = MultiHeadAttention<AttentionConfig{
    .d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2, .num_kv_heads = 1, .rotary = Rotary::halves}>;

constexpr Test tests[] = {
    at_run_time("heads that share keys, features that turn: one call, in the bits of plain loops",
                [](Check& check) { for_each_case([&](auto c) { c.check_whole(check); }); }),
    at_run_time("a prompt in one call, in two or token by token: the bits of one call for all; too many: nothing is written",
                [](Check& check) { for_each_case([&](auto c) { c.check_divided_at_every_token(check); }); }),
    everywhere("token by token in the compiler; the output may be the input",
               [](Check& check) {
                 const auto layer = filled<Small>(3);
                 const auto x = hidden(numbers<Matrix<float, 3, 4>>(4));
                 const auto expected = plain_forward(layer, x).out;
                 Small::Cache cache{};
                 Small::Cache::Workspace scratch{};
                 for (std::size_t i = 0; i < 3; ++i) {
                   auto token = plain_rows<1>(x, i);
                   check.that(layer.forward(token, cache, token, scratch) == Status::ok);
                   check.same_bits(token, plain_rows<1>(expected, i));
                 }
                 check.equal(cache.size(), std::size_t{3});
                 cache.clear();
                 auto all = x;
                 check.that(layer.forward(all, cache, all, scratch) == Status::ok);
                 check.same_bits(all, expected);
               }),
    at_run_time("a NaN in a later token, or one that a cache has forgotten, does not leak",
                [](Check& check) {
                  Case<simple>::prepare();
                  const auto& layer = Case<simple>::layer;
                  auto x = Case<simple>::x;
                  for (std::size_t j = 0; j < 12; ++j) x(9, j) = quiet_nan;
                  auto cache = cache_after(layer, x, 20);
                  cache.clear();
                  static MultiHeadAttention<simple>::Cache::Workspace scratch;
                  static Matrix<float, 20, 12> out;
                  check.that(layer.forward(x, 9, cache, out, scratch) == Status::ok);
                  check.same_bits(plain_rows<9>(out, 0), plain_rows<9>(Case<simple>::expected, 0));
                  const MatrixView<const float, 1, 12, 12> poisoned{x.data() + 9 * 12};
                  Matrix<float, 1, 12> last;
                  check.that(layer.forward(poisoned, cache, last, scratch) == Status::ok);
                  for (const float element : last.elements) check.that(element != element);
                }),
    at_run_time("no tokens are fine, with a full cache too",
                [](Check& check) {
                  Case<simple>::prepare();
                  auto cache = cache_after(Case<simple>::layer, Case<simple>::x, 20);
                  static MultiHeadAttention<simple>::Cache::Workspace scratch;
                  Guarded<Matrix<float, 20, 12>> out;
                  check.that(Case<simple>::layer.forward(Case<simple>::x, 0, cache, out.tensor, scratch) == Status::ok);
                  for (const float element : out.tensor.elements) check.equal(element, out.untouched);
                  check.equal(cache.size(), std::size_t{20});
                }),
    at_run_time("heads that share keys in every other call: with a mask, a count, weights, from another input, in training",
                [](Check& check) {
                  using C = Case<grouped>;
                  C::prepare();
                  static const auto reference = plain_forward(C::layer, C::x);
                  static Matrix<float, 20, 24> out;
                  static Tensor<float, 6, 20, 20> weights;
                  auto& scratch = C::workspace.tensor;
                  C::layer.forward_with_weights(C::x, out, weights, scratch);
                  check.same_bits(out, reference.out);
                  check.same_bits(weights, reference.weights);
                  C::layer.forward(C::x, BlockMask{triu(ones<bool, 20, 20>(), 1)}, out, scratch);
                  check.same_bits(out, reference.out);
                  out = {};
                  check.that(C::layer.forward(C::x, 7, out, scratch) == Status::ok);
                  check.same_bits(plain_rows<7>(out, 0), plain_rows<7>(reference.out, 0));
                  Mt19937 generator(1);
                  C::layer.forward(C::x, out, scratch, generator);
                  check.same_bits(out, reference.out);
                  const auto memory = numbers<Matrix<float, 20, 10>>(9);
                  C::layer.forward(C::x, memory, memory, out, scratch);
                  check.same_bits(out, plain_forward(C::layer, C::x, memory, memory, sees_the_past).out);
                  Tensor<float, 2, 20, 24> both;
                  C::layer.forward(stack(C::x, memory), both, scratch);
                  check.same_bits(both, stack(reference.out, plain_forward(C::layer, memory).out));
                }),
};

}  // namespace

int main() { return run(tests); }
