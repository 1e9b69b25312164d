// SPDX-License-Identifier: MIT
//
// Token counts: known at run time, nought and too many; and what a causal layer owes to a longer sequence. Large objects are static: a
// board has little stack.
#include <type_traits>
#include <utility>

#include "plain_layer.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Count = std::size_t;
using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 5, .num_heads = 2, .qkv_bias = true}>;
using Square = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .causal = false}>;
using Causing = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2}>;
using Bare = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 9, .num_heads = 2, .out_proj = false}>;
using Long = MultiHeadAttention<AttentionConfig{.d_in = 6, .d_out = 8, .context_length = 67, .num_heads = 2}>;

constexpr auto layer = filled<Layer>(1);
constexpr auto square = filled<Square>(2);
constexpr auto x = numbers<Matrix<float, 5, 3>>(3);
constexpr auto wide_x = numbers<Matrix<float, 5, 4>>(4);
constexpr auto plain_x = plain_forward(layer, x).out;
constexpr auto memory = numbers<Matrix<float, 4, 4>>(8);

Long long_layer;
Long::Workspace workspace;
Matrix<float, 67, 8> long_out;

// The first `Tokens` rows of a long sequence, alone.
template <std::size_t Tokens>
void check_prefix(Check& check, const Matrix<float, 67, 6>& sequence) {
  static Matrix<float, Tokens, 8> out;
  long_layer.forward(plain_rows<Tokens>(sequence, 0), out, workspace);
  check.same_bits(out, plain_rows<Tokens>(long_out, 0));
}

// The call says `status`; the first `count` rows of its output are those of `expected`, and nothing else is written.
template <std::size_t Rows, std::size_t Cols>
constexpr void check_rows(Check& check, Status status, std::size_t count, Matrix<float, Rows, Cols> expected, const auto& attention,
                          const auto&... inputs) {
  typename std::remove_cvref_t<decltype(attention)>::Workspace scratch{};
  for (std::size_t i = count * Cols; i < expected.size(); ++i) expected.data()[i] = Guarded<float>::untouched;
  check_output(check, expected, [&](auto& out) { check.that(attention.forward(hidden(inputs)..., out, scratch) == status); });
}

// What a layer without a mask of its own makes of the first `source` tokens that `sees` shows as well.
constexpr auto plain_square(const auto& keys, std::size_t source, auto sees) {
  return plain_forward(square, wide_x, keys, keys, [=](std::size_t i, std::size_t j) { return j < source && sees(i, j); }).out;
}

constexpr Test tests[] = {
    everywhere("the first num_tokens rows, and the others of the output left alone; no tokens: ok, and nothing is written",
               [](Check& check) {
                 for (const std::size_t count : {Count{0}, Count{3}}) check_rows(check, Status::ok, count, plain_x, layer, x, count);
               }),
    at_run_time("every count from one to all, causal or not, and rows beyond it are not looked at",
                [](Check& check) {
                  for (std::size_t count = 1; count <= 5; ++count) {
                    auto poisoned_x = x;
                    auto poisoned_wide_x = wide_x;
                    for (std::size_t i = 3 * count; i < x.size(); ++i) poisoned_x.data()[i] = quiet_nan;
                    for (std::size_t i = 4 * count; i < wide_x.size(); ++i) poisoned_wide_x.data()[i] = quiet_nan;
                    check_rows(check, Status::ok, count, plain_x, layer, poisoned_x, count);
                    check_rows(check, Status::ok, count, plain_square(wide_x, count, sees_everything), square, poisoned_wide_x, count);
                  }
                }),
    everywhere("too many tokens: said so, and nothing is written",
               [](Check& check) {
                 check_rows(check, Status::too_many_tokens, 0, plain_x, layer, x, Count{6});
                 check_rows(check, Status::too_many_tokens, 0, plain_x, layer, x, static_cast<Count>(-1));
                 check_rows(check, Status::too_many_tokens, 0, plain_x, square, wide_x, memory, memory, Count{6}, Count{3});
                 check_rows(check, Status::too_many_tokens, 0, plain_x, square, wide_x, memory, memory, Count{5}, Count{5});
                 // More than the input has rows are too many as well.
                 const auto two = plain_rows<2>(x, 0);
                 check_rows(check, Status::too_many_tokens, 0, Matrix<float, 2, 4>{}, layer, two, Count{3});
                 check_rows(check, Status::ok, 2, plain_forward(layer, two).out, layer, two, Count{2});
               }),
    at_run_time("an input longer than context_length, of which fewer rows are used",
                [](Check& check) {
                  const auto nine = numbers<Matrix<float, 9, 3>>(5);
                  check_rows(check, Status::too_many_tokens, 0, Matrix<float, 9, 4>{}, layer, nine, Count{6});
                  check_rows(check, Status::ok, 5, plain_forward(layer, nine).out, layer, nine, Count{5});
                }),
    everywhere("a token count with a mask: its first rows and columns count",
               [](Check& check) {
                 const BlockMask blocks{triu(ones<bool, 5, 5>(), 1)};
                 for (const std::size_t count : {Count{1}, Count{3}})
                   check_rows(check, Status::ok, count, plain_square(wide_x, count, sees_the_past), square, wide_x, count, blocks);
               }),
    everywhere("cross-attention with two counts, also nought, and a mask that asks for both",
               [](Check& check) {
                 const auto one_more = [](std::size_t i, std::size_t j) { return j <= i + 1; };
                 check_rows(check, Status::ok, 2, plain_square(memory, 3, one_more), square, wide_x, memory, memory, Count{2}, Count{3},
                            CausalBottomRight{});
                 // Without a source token the contexts are zeros.
                 check_rows(check, Status::ok, 5, plain_square(memory, 0, one_more), square, wide_x, memory, memory, Count{5}, Count{0});
               }),
    at_run_time("with a token count the output may be the input, over several blocks too",
                [](Check& check) {
                  const auto check_counted = [&]<class Attention>(const Attention& attention, const auto& input, Count count) {
                    auto expected = attention(input);
                    typename Attention::Workspace scratch{};
                    for (std::size_t i = count * 4; i < input.size(); ++i) expected.data()[i] = input.data()[i];
                    check_in_place(check, expected, input,
                                   [&](auto& m) { check.that(attention.forward(m, count, m, scratch) == Status::ok); });
                  };
                  check_counted(filled<Causing>(2), wide_x, 3);
                  check_counted(filled<Bare>(2), numbers<Matrix<float, 9, 4>>(5), 7);
                }),
    at_run_time("a batch: the first num_tokens rows of each item",
                [](Check& check) {
                  const auto other = numbers<Matrix<float, 5, 3>>(6);
                  auto expected = stack(plain_forward(layer, x).out, plain_forward(layer, other).out);
                  for (std::size_t j = 0; j < 4; ++j) expected(0, 4, j) = expected(1, 4, j) = Guarded<float>::untouched;
                  Layer::Workspace scratch{};
                  check_output(check, expected, [&](auto& out) {
                    check.that(layer.forward(hidden(stack(x, other)), hidden(Count{4}), out, scratch) == Status::ok);
                  });
                }),
    at_run_time("causal: a row does not change when the sequence goes on, wherever a block of rows ends",
                [](Check& check) {
                  static Matrix<float, 67, 6> sequence;
                  sequence = numbers<Matrix<float, 67, 6>>(7);
                  long_layer = filled<Long>(8);
                  long_layer.forward(sequence, long_out, workspace);
                  [&]<std::size_t... Tokens>(std::index_sequence<Tokens...>) { (check_prefix<Tokens>(check, sequence), ...); }
                  (std::index_sequence<1, 2, 3, 7, 16, 33, 66>{});
                  static Matrix<float, 67, 8> out;
                  for (std::size_t count = 1; count <= 67; ++count) {
                    check.that(long_layer.forward(sequence, count, out, workspace) == Status::ok);
                    check.same_bits(row(out, count - 1), row(long_out, count - 1));
                  }
                }),
};

}  // namespace

int main() { return run(tests); }
