// SPDX-License-Identifier: MIT
//
// Operations by CMSIS-NN, from the folder that --cmsis-nn names. Those of int8 have inputs, weights and outputs of 8 bits, and one scale
// for all outputs.
#include "../operations.hpp"
#include "../row.hpp"

#include <arm_nnfunctions.h>
#include <arm_nnsupportfunctions.h>

#include <cstdint>

namespace tinyattn::bench {

namespace {

constexpr cmsis_nn_per_tensor_quant_params scale{.multiplier = 1 << 30, .shift = -10};
constexpr cmsis_nn_activation any{-128, 127};
constexpr std::int32_t input_offset = 5, output_offset = -3;

void fill_codes(auto&... arrays) {
  Philox4x32 generator(0);
  const auto fill_one = [&](auto& array) {
    for (auto& code : array) code = static_cast<std::int8_t>(uniform(generator, -127.0f, 127.0f));
  };
  (fill_one(arrays), ...);
}

void check(arm_cmsis_nn_status status) {
  if (status != ARM_CMSIS_NN_SUCCESS) __builtin_trap();
}

// [rows, inner] . [cols, inner]ᵀ
template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
void multiply(const std::int8_t* x, const std::int8_t* weight, std::int32_t* sums, const std::int32_t* bias, std::int8_t* out) {
  const cmsis_nn_context context{.buf = sums, .size = Cols * sizeof *sums};
  const cmsis_nn_fc_params params{.input_offset = input_offset, .filter_offset = 0, .output_offset = output_offset, .activation = any};
  const cmsis_nn_dims input{Rows, 1, 1, Inner}, filter{Inner, 1, 1, Cols}, one_row{1, 1, 1, Cols}, output{Rows, 1, 1, Cols};
  check(arm_fully_connected_s8(&context, &params, &scale, &input, x, &filter, weight, &one_row, bias, &output, out));
}

template <class>
struct Measured;

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
struct Measured<Linear<Rows, Inner, Cols>> {
  alignas(64) std::int8_t x[Rows * Inner];
  alignas(64) std::int8_t weight[Cols * Inner];
  alignas(64) std::int8_t out[Rows * Cols];
  std::int32_t bias[Cols];
  std::int32_t sums[Cols];  // of weights; Helium's product needs them

  void prepare() {
    fill_codes(x, weight, bias);
    check(arm_vector_sum_s8(sums, Inner, Cols, weight, input_offset, 0, bias));
  }
  void compute() { multiply<Rows, Inner, Cols>(x, weight, sums, bias, out); }
};

template <std::size_t Rows, std::size_t Cols>
struct Measured<Softmax<Rows, Cols>> : Softmax<Rows, Cols> {
  void compute() { check(arm_softmax_f32(this->scores.data(), Rows, Cols, this->out.data())); }
};

// Attention as a careful user composes it: heads are projected one by one, so that their rows are dense, and values are projected
// transposed; a query's scores end with its own key.
template <std::size_t Tokens, std::size_t DIn, std::size_t DOut, std::size_t NumHeads>
struct Measured<Attention<Tokens, DIn, DOut, NumHeads>> {
  static constexpr std::size_t dim = DOut / NumHeads;

  alignas(64) std::int8_t x[Tokens * DIn], weight[3][DOut * DIn], output[DOut * DOut], out[Tokens * DOut];
  alignas(64) std::int8_t query[Tokens * dim], key[Tokens * dim], value[dim * Tokens], weights[Tokens], context[Tokens * DOut];
  std::int32_t bias[DOut], sums[3][DOut], output_sums[DOut], sums_of_x[Tokens], sums_of_keys[Tokens], sums_of_values[dim];

  void prepare() {
    fill_codes(x, weight[0], weight[1], weight[2], output, bias);
    for (std::size_t i = 0; i < 3; ++i) check(arm_vector_sum_s8(sums[i], DIn, DOut, weight[i], input_offset, 0, nullptr));
    check(arm_vector_sum_s8(output_sums, DOut, DOut, output, input_offset, 0, bias));
  }

  void compute() {
    add_columns(sums_of_x, DIn, Tokens, x);
    for (std::size_t head = 0; head < NumHeads; ++head) {
      const std::size_t first = head * dim;
      multiply<Tokens, DIn, dim>(x, weight[0] + first * DIn, sums[0] + first, nullptr, query);
      multiply<Tokens, DIn, dim>(x, weight[1] + first * DIn, sums[1] + first, nullptr, key);
      multiply<dim, DIn, Tokens>(weight[2] + first * DIn, x, sums_of_x, nullptr, value);
      add_columns(sums_of_keys, dim, Tokens, key);
      add_columns(sums_of_values, Tokens, dim, value);
      for (std::size_t i = 0; i < Tokens; ++i) attend(i, context + i * DOut + first);
    }
    multiply<Tokens, DOut, DOut>(context, output, output_sums, bias, out);
  }

 private:
  static void add_columns(std::int32_t* to, std::size_t inner, std::size_t cols, const std::int8_t* matrix) {
#ifdef ARM_MATH_MVEI
    check(arm_vector_sum_s8(to, static_cast<std::int32_t>(inner), static_cast<std::int32_t>(cols), matrix, input_offset, 0, nullptr));
#else
    static_cast<void>(to), static_cast<void>(inner), static_cast<void>(cols), static_cast<void>(matrix);
#endif
  }

  static void multiply_row(const std::int8_t* row, const std::int8_t* matrix, const std::int32_t* its_sums, std::size_t inner,
                           std::size_t cols, std::int8_t* to) {
    check(arm_nn_vec_mat_mult_t_s8(row, matrix, its_sums, nullptr, to, input_offset, output_offset, scale.multiplier, scale.shift,
                                   static_cast<std::int32_t>(inner), static_cast<std::int32_t>(cols), any.min, any.max, 1, 0));
  }

  void attend(std::size_t i, std::int8_t* to) {
    constexpr std::int32_t multiplier = 1 << 30, shift = 24, least = -248;
    const std::size_t keys = i + 1;
    multiply_row(query + i * dim, key, sums_of_keys, dim, keys, weights);
    arm_softmax_s8(weights, 1, static_cast<std::int32_t>(keys), multiplier, shift, least, weights);
    for (std::size_t j = keys; j < Tokens; ++j) weights[j] = -128;
    multiply_row(weights, value, sums_of_values, Tokens, dim, to);
  }
};

struct CmsisNn {
  static void compute(auto& operands) { operands.compute(); }
};

}  // namespace

const Row row = RowBy<CmsisNn, Measured<TINYATTN_BENCH_OPERATION>>::row;

}  // namespace tinyattn::bench
