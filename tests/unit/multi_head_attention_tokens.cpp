// SPDX-License-Identifier: MIT
//
// Token counts: known at run time, nought and too many; and what a causal layer owes to a longer sequence. Large objects are static: a
// board has little stack.
#include "plain_heads.hpp"
#include "support/check.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 4, .context_length = 5, .num_heads = 2, .qkv_bias = true}>;
using Square = MultiHeadAttention<AttentionConfig{.d_in = 4, .d_out = 4, .context_length = 5, .num_heads = 2, .causal = false}>;
using Long = MultiHeadAttention<AttentionConfig{.d_in = 6, .d_out = 8, .context_length = 67, .num_heads = 2}>;

constexpr auto layer = filled<Layer>(1);
constexpr auto square = filled<Square>(2);
constexpr auto x = numbers<Matrix<float, 5, 3>>(3);
constexpr auto wide_x = numbers<Matrix<float, 5, 4>>(4);

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

constexpr float untouched = Guarded<Matrix<float, 5, 4>>::untouched;

constexpr Test tests[] = {
    everywhere("the first num_tokens rows, and the others of the output left alone",
               [](Check& check) {
                 Layer::Workspace scratch{};
                 Guarded<Matrix<float, 5, 4>> out;
                 check.that(layer.forward(hidden(x), hidden(std::size_t{3}), out.tensor, scratch) == Status::ok);
                 check.same_bits(plain_rows<3>(out.tensor, 0), plain_forward(layer, plain_rows<3>(x, 0)).out);
                 check.same_bits(plain_rows<2>(out.tensor, 3), full<float, 2, 4>(untouched));
                 check.that(out.guards_hold());
               }),
    at_run_time("every count from one to all, causal or not",
                [](Check& check) {
                  Layer::Workspace scratch{};
                  Square::Workspace square_scratch{};
                  for (std::size_t count = 1; count <= 5; ++count) {
                    Matrix<float, 5, 4> out{};
                    check.that(layer.forward(hidden(x), count, out, scratch) == Status::ok);
                    for (std::size_t i = 0; i < count; ++i) check.same_bits(row(out, i), row(layer(x), i));
                    const auto sees = [=](std::size_t, std::size_t j) { return j < count; };
                    const auto plain = plain_forward(square, wide_x, wide_x, wide_x, sees).out;
                    check.that(square.forward(hidden(wide_x), count, out, square_scratch) == Status::ok);
                    for (std::size_t i = 0; i < count; ++i) check.same_bits(row(out, i), row(plain, i));
                  }
                }),
    everywhere("no tokens: ok, and nothing is written",
               [](Check& check) {
                 Layer::Workspace scratch{};
                 Guarded<Matrix<float, 5, 4>> out;
                 check.that(layer.forward(x, hidden(std::size_t{0}), out.tensor, scratch) == Status::ok);
                 check.same_bits(out.tensor, full<float, 5, 4>(untouched));
                 check.that(out.guards_hold());
               }),
    everywhere("too many tokens: said so, and nothing is written",
               [](Check& check) {
                 Layer::Workspace scratch{};
                 Guarded<Matrix<float, 5, 4>> out;
                 check.that(layer.forward(x, hidden(std::size_t{6}), out.tensor, scratch) == Status::too_many_tokens);
                 check.that(layer.forward(x, hidden(static_cast<std::size_t>(-1)), out.tensor, scratch) == Status::too_many_tokens);
                 check.same_bits(out.tensor, full<float, 5, 4>(untouched));
                 check.that(out.guards_hold());
               }),
    everywhere("more tokens than the input has rows are too many as well",
               [](Check& check) {
                 Layer::Workspace scratch{};
                 Guarded<Matrix<float, 2, 4>> out;
                 check.that(layer.forward(plain_rows<2>(x, 0), hidden(std::size_t{3}), out.tensor, scratch) == Status::too_many_tokens);
                 check.same_bits(out.tensor, full<float, 2, 4>(untouched));
                 check.that(layer.forward(plain_rows<2>(x, 0), hidden(std::size_t{2}), out.tensor, scratch) == Status::ok);
                 check.same_bits(out.tensor, layer(plain_rows<2>(x, 0)));
               }),
    at_run_time("an input longer than context_length, of which fewer rows are used",
                [](Check& check) {
                  Layer::Workspace scratch{};
                  const auto nine = numbers<Matrix<float, 9, 3>>(5);
                  Guarded<Matrix<float, 9, 4>> out;
                  check.that(layer.forward(hidden(nine), hidden(std::size_t{6}), out.tensor, scratch) == Status::too_many_tokens);
                  check.same_bits(out.tensor, full<float, 9, 4>(untouched));
                  check.that(layer.forward(hidden(nine), hidden(std::size_t{5}), out.tensor, scratch) == Status::ok);
                  check.same_bits(plain_rows<5>(out.tensor, 0), layer(plain_rows<5>(nine, 0)));
                  check.same_bits(plain_rows<4>(out.tensor, 5), full<float, 4, 4>(untouched));
                }),
    at_run_time("rows beyond num_tokens are not looked at",
                [](Check& check) {
                  Square::Workspace scratch{};
                  auto poisoned = hidden(wide_x);
                  for (std::size_t i = 0; i < 4; ++i) poisoned(3, i) = poisoned(4, i) = quiet_nan;
                  Matrix<float, 5, 4> out{};
                  check.that(square.forward(poisoned, hidden(std::size_t{3}), out, scratch) == Status::ok);
                  check.same_bits(plain_rows<3>(out, 0), square(plain_rows<3>(wide_x, 0)));
                }),
    everywhere("a token count with a mask: its first rows and columns count",
               [](Check& check) {
                 Square::Workspace scratch{};
                 const auto blocks = triu(ones<bool, 5, 5>(), 1);
                 for (std::size_t count : {std::size_t{1}, std::size_t{3}}) {
                   Guarded<Matrix<float, 5, 4>> out;
                   check.that(square.forward(hidden(wide_x), count, BlockMask{blocks}, out.tensor, scratch) == Status::ok);
                   const auto sees = [=](std::size_t i, std::size_t j) { return j < count && !blocks(i, j); };
                   const auto plain = plain_forward(square, wide_x, wide_x, wide_x, sees).out;
                   for (std::size_t i = 0; i < 5; ++i)
                     check.same_bits(row(out.tensor, i), i < count ? row(plain, i) : full<float, 4>(untouched));
                   check.that(out.guards_hold());
                 }
               }),
    everywhere("cross-attention with two counts, and a mask that asks for both",
               [](Check& check) {
                 Square::Workspace scratch{};
                 const auto memory = numbers<Matrix<float, 4, 4>>(8);
                 Guarded<Matrix<float, 5, 4>> out;
                 check.that(square.forward(hidden(wide_x), memory, memory, 2, 3, CausalBottomRight{}, out.tensor, scratch) == Status::ok);
                 const auto sees = [](std::size_t i, std::size_t j) { return j < 3 && j <= i + 1; };
                 const auto plain = plain_forward(square, wide_x, memory, memory, sees).out;
                 check.same_bits(plain_rows<2>(out.tensor, 0), plain_rows<2>(plain, 0));
                 check.same_bits(plain_rows<3>(out.tensor, 2), full<float, 3, 4>(untouched));
                 check.that(square.forward(hidden(wide_x), memory, memory, 6, 3, out.tensor, scratch) == Status::too_many_tokens);
                 check.that(square.forward(hidden(wide_x), memory, memory, 5, 5, out.tensor, scratch) == Status::too_many_tokens);
               }),
    everywhere("without a source token the contexts are zeros",
               [](Check& check) {
                 Square::Workspace scratch{};
                 Matrix<float, 5, 4> out{};
                 check.that(square.forward(hidden(wide_x), wide_x, wide_x, 5, 0, out, scratch) == Status::ok);
                 const auto nothing = [](std::size_t, std::size_t) { return false; };
                 check.same_bits(out, plain_forward(square, wide_x, wide_x, wide_x, nothing).out);
               }),
    everywhere("with a token count the output may be the input, too",
               [](Check& check) {
                 Square::Workspace scratch{};
                 auto in_place = hidden(wide_x);
                 check.that(square.forward(in_place, hidden(std::size_t{3}), in_place, scratch) == Status::ok);
                 check.same_bits(plain_rows<3>(in_place, 0), square(plain_rows<3>(wide_x, 0)));
                 check.same_bits(plain_rows<2>(in_place, 3), plain_rows<2>(wide_x, 3));
               }),
    at_run_time("a batch: the first num_tokens rows of each item",
                [](Check& check) {
                  Layer::Workspace scratch{};
                  const auto other = numbers<Matrix<float, 5, 3>>(6);
                  Guarded<Tensor<float, 2, 5, 4>> out;
                  check.that(layer.forward(hidden(stack(x, other)), hidden(std::size_t{4}), out.tensor, scratch) == Status::ok);
                  check.same_bits(plain_rows<4>(item(out.tensor, 0), 0), layer(plain_rows<4>(x, 0)));
                  check.same_bits(plain_rows<4>(item(out.tensor, 1), 0), layer(plain_rows<4>(other, 0)));
                  check.same_bits(plain_rows<1>(item(out.tensor, 1), 4), full<float, 1, 4>(untouched));
                  check.that(out.guards_hold());
                }),
    at_run_time("causal: a row does not change when the sequence goes on, wherever a block of rows ends",
                [](Check& check) {
                  static Matrix<float, 67, 6> sequence;
                  sequence = numbers<Matrix<float, 67, 6>>(7);
                  long_layer = filled<Long>(8);
                  long_layer.forward(sequence, long_out, workspace);
                  check_prefix<1>(check, sequence);
                  check_prefix<2>(check, sequence);
                  check_prefix<3>(check, sequence);
                  check_prefix<7>(check, sequence);
                  check_prefix<16>(check, sequence);
                  check_prefix<33>(check, sequence);
                  check_prefix<66>(check, sequence);
                  static Matrix<float, 67, 8> out;
                  for (std::size_t count = 1; count <= 67; ++count) {
                    check.that(long_layer.forward(sequence, count, out, workspace) == Status::ok);
                    check.same_bits(row(out, count - 1), row(long_out, count - 1));
                  }
                }),
};

}  // namespace

int main() { return run(tests); }
