// SPDX-License-Identifier: MIT
//
// Products of int8 by CMSIS-NN, from the folder that --cmsis-nn names: inputs, weights and outputs of 8 bits, one scale for all outputs.
#include "../operations.hpp"
#include "../row.hpp"

#include <arm_nnfunctions.h>
#include <arm_nnsupportfunctions.h>

#include <cstdint>

namespace tinyattn::bench {

namespace {

template <class>
struct Product;

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
struct Product<Linear<Rows, Inner, Cols>> {
  alignas(64) std::int8_t x[Rows * Inner];
  alignas(64) std::int8_t weight[Cols * Inner];
  alignas(64) std::int8_t out[Rows * Cols];
  std::int32_t bias[Cols];
  std::int32_t sums[Cols];  // of weights; Helium's product needs them

  void prepare() {
    Philox4x32 generator(Inner);
    for (auto& element : x) element = static_cast<std::int8_t>(uniform(generator, -127.0f, 127.0f));
    for (auto& element : weight) element = static_cast<std::int8_t>(uniform(generator, -127.0f, 127.0f));
    for (auto& element : bias) element = static_cast<std::int32_t>(uniform(generator, -9999.0f, 9999.0f));
    if (arm_vector_sum_s8(sums, Inner, Cols, weight, offset, 0, bias) != ARM_CMSIS_NN_SUCCESS) __builtin_trap();
  }

  void compute() {
    const cmsis_nn_context context{.buf = sums, .size = sizeof sums};
    const cmsis_nn_fc_params params{.input_offset = offset, .filter_offset = 0, .output_offset = -3, .activation = {-128, 127}};
    const cmsis_nn_per_tensor_quant_params scale{.multiplier = 1 << 30, .shift = -10};
    const cmsis_nn_dims input{Rows, 1, 1, Inner}, filter{Inner, 1, 1, Cols}, one_row{1, 1, 1, Cols}, output{Rows, 1, 1, Cols};
    if (arm_fully_connected_s8(&context, &params, &scale, &input, x, &filter, weight, &one_row, bias, &output, out) != ARM_CMSIS_NN_SUCCESS)
      __builtin_trap();
  }

 private:
  static constexpr std::int32_t offset = 5;  // of inputs
};

struct CmsisNn {
  static void compute(auto& operands) { operands.compute(); }
};

}  // namespace

const Row row = RowBy<CmsisNn, Product<TINYATTN_BENCH_OPERATION>>::row;

}  // namespace tinyattn::bench
