// SPDX-License-Identifier: MIT
//
// Kernels over ports of many widths, tiles and blocks: neither may show in a bit, and nothing is written beside an output.
#include <cstddef>
#include <utility>

#include "plain_heads.hpp"
#include "support/check.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/softmax.hpp"
#include "wide.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

// Widths of today's instruction sets, with tiles that do and do not divide sixteen columns.
using Four = Wide<4, 2, 3, true>;
using Eight = Wide<8, 1, 5, false>;
using Sixteen = Wide<16, 2, 2, false>;

using Input = kernel::RowMajor<const float, std::size_t>;
using InputColumns = kernel::ColumnMajor<const float, std::size_t>;
using Output = kernel::RowMajor<float, std::size_t>;

// With extents that are known at run time.
template <class Port, std::size_t Rows, std::size_t Inner, std::size_t Cols>
void check_product(Check& check) {
  const auto a = hidden(numbers<Matrix<float, Rows, Inner>>(Rows));
  const auto b = hidden(numbers<Matrix<float, Inner, Cols>>(Cols));
  const auto bias = hidden(numbers<Vector<float, Cols>>(Inner));
  const auto b_transposed = transpose(b);
  Guarded<Matrix<float, Rows, Cols>> out;
  const Input left{a.data(), Inner};
  const Output to{out.tensor.data(), Cols};
  kernel::matmul<Port>(kernel::Product{Rows, Inner, Cols, left, Input{b.data(), Cols}, kernel::Bias{bias.data()}, to});
  check.same_bits(out.tensor, plain_matmul(a, b, bias));
  out.tensor = {};
  kernel::matmul<Port>(kernel::Product{Rows, Inner, Cols, left, InputColumns{b_transposed.data(), Inner}, kernel::Zero{}, to});
  check.same_bits(out.tensor, plain_matmul(a, b));
  check.that(out.guards_hold());
}

// With extents that the compiler knows.
template <class Port, std::size_t Rows, std::size_t Inner, std::size_t Cols>
void check_fixed_product(Check& check) {
  const auto a = hidden(numbers<Matrix<float, Rows, Inner>>(Rows));
  const auto b = hidden(numbers<Matrix<float, Inner, Cols>>(Cols));
  Guarded<Matrix<float, Rows, Cols>> out;
  kernel::matmul<Port>(kernel::Product{kernel::Extent<Rows>{}, kernel::Extent<Inner>{}, kernel::Extent<Cols>{}, kernel::row_major(a, 0),
                                       kernel::row_major(b, 0), kernel::Zero{}, kernel::row_major(out.tensor, 0)});
  check.same_bits(out.tensor, plain_matmul(a, b));
  check.that(out.guards_hold());
}

template <class Port>
void check_products(Check& check) {
  check_product<Port, 1, 1, 1>(check);
  check_product<Port, 5, 3, 2>(check);
  check_product<Port, 2, 4, 7>(check);
  check_product<Port, 9, 2, 8>(check);
  check_product<Port, 3, 5, 9>(check);
  check_product<Port, 4, 9, 15>(check);
  check_product<Port, 7, 1, 16>(check);
  check_product<Port, 13, 6, 17>(check);
  check_product<Port, 6, 7, 33>(check);
  check_fixed_product<Port, 5, 2, 7>(check);
  check_fixed_product<Port, 4, 3, 17>(check);
}

template <class Port, std::size_t Length>
void check_row(Check& check) {
  constexpr std::size_t rows = 5;
  const auto scores = hidden(numbers<Matrix<float, rows, Length>>(Length));
  Guarded<Matrix<float, rows, Length>> out;
  const auto row_at = [&](std::size_t i) { return kernel::Row<false, kernel::Extent<Length>>{&scores(i, 0), &out.tensor(i, 0), {}}; };
  kernel::softmax_rows<Port>(rows, Length, row_at, 40.0f);
  check.same_bits(out.tensor, plain_softmax(scores, 40.0f, sees_everything));
  for (std::size_t i = 0; i < rows; ++i) kernel::normalize_row<Port>(row_at(i));
  check.same_bits(out.tensor, normalize(scores));
  for (std::size_t i = 0; i < rows; ++i) kernel::transform_row<Port>(row_at(i), [](auto x) { return kernel::exp<Port>(x); });
  for (std::size_t j = 0; j < Length; ++j) check.same_bits(out.tensor(0, j), exp(scores(0, j)));
  check.that(out.guards_hold());
}

template <class Port, std::size_t... Lengths>
void check_rows(Check& check, std::index_sequence<Lengths...>) {
  (check_row<Port, Lengths>(check), ...);
}

template <class Port, std::size_t Tokens, std::size_t SourceTokens, std::size_t KeyDim, std::size_t ValueDim>
void check_attention(Check& check, const auto& mask, auto sees) {
  const auto query = hidden(numbers<Matrix<float, Tokens, KeyDim>>(1));
  const auto key = hidden(numbers<Matrix<float, SourceTokens, KeyDim>>(2));
  const auto value = hidden(numbers<Matrix<float, SourceTokens, ValueDim>>(3));
  const auto expected = plain_attention(query, key, value, sees);
  Guarded<Matrix<float, Tokens, ValueDim>> out;
  Guarded<Matrix<float, Tokens, SourceTokens>> weights;
  kernel::scaled_dot_product_attention<Port>(query, key, value, mask, out.tensor,
                                             kernel::CopyWeights<Tokens, SourceTokens>{weights.tensor.data()});
  check.same_bits(out.tensor, expected.context);
  check.same_bits(weights.tensor, expected.weights);
  check.that(out.guards_hold() && weights.guards_hold());
}

template <class Port>
void check_attentions(Check& check) {
  check_attention<Port, 9, 17, 3, 5>(check, NoMask{}, sees_everything);
  check_attention<Port, 18, 19, 4, 7>(check, Causal{}, sees_the_past);
  check_attention<Port, 6, 16, 2, 8>(check, CausalBottomRight{}, [](std::size_t i, std::size_t j) { return j <= i + 10; });
  const auto padding = hidden(vector<bool>({true, false, true, true, false, false, true}));
  check_attention<Port, 5, 7, 2, 3>(check, KeepMask{padding}, [&](std::size_t, std::size_t j) { return padding(j); });
}

constexpr AttentionConfig config{.d_in = 3, .d_out = 6, .context_length = 19, .num_heads = 2, .qkv_bias = true};
constexpr auto layer = filled<MultiHeadAttention<config>>(1);

template <class Port, std::size_t Tokens>
void check_layer(Check& check) {
  const auto x = hidden(numbers<Matrix<float, Tokens, 3>>(Tokens));
  using Workspace = kernel::HeadsWorkspace<Port, config.d_out, config.context_length>;
  Guarded<Workspace> workspace;
  const auto input = [](const auto& linear) { return kernel::projection(linear); };
  const kernel::Heads<config.num_heads, config.d_out / config.num_heads, Workspace, decltype(input(layer.query)),
                      decltype(input(layer.out_proj))>
      heads{input(layer.query), input(layer.key), input(layer.value), input(layer.out_proj), workspace.tensor};
  Guarded<Matrix<float, Tokens, config.d_out>> out;
  const std::size_t tokens = hidden(Tokens);
  heads.template project_source<Port>(tokens, kernel::row_major(x, 0), kernel::row_major(x, 0));
  heads.template forward<Port>(tokens, kernel::row_major(x, 0), kernel::row_major(out.tensor, 0), kernel::visible(Causal{}, tokens, tokens),
                               kernel::IgnoreWeights{});
  check.same_bits(out.tensor, plain_forward(layer, x).out);
  check.that(out.guards_hold() && workspace.guards_hold());
}

template <class Port>
void check_layers(Check& check) {
  check_layer<Port, 1>(check);
  check_layer<Port, 7>(check);
  check_layer<Port, 19>(check);
}

constexpr Test tests[] = {
    at_run_time("products",
                [](Check& check) {
                  check_products<Four>(check);
                  check_products<Eight>(check);
                  check_products<Sixteen>(check);
                }),
    at_run_time("rows",
                [](Check& check) {
                  constexpr std::index_sequence<1, 2, 3, 7, 8, 9, 15, 16, 17, 19, 31, 33> lengths;
                  check_rows<Four>(check, lengths);
                  check_rows<Eight>(check, lengths);
                  check_rows<Sixteen>(check, lengths);
                }),
    at_run_time("attention",
                [](Check& check) {
                  check_attentions<Four>(check);
                  check_attentions<Eight>(check);
                  check_attentions<Sixteen>(check);
                }),
    at_run_time("layers",
                [](Check& check) {
                  check_layers<Four>(check);
                  check_layers<Eight>(check);
                  check_layers<Sixteen>(check);
                }),
};

}  // namespace

int main() { return run(tests); }
