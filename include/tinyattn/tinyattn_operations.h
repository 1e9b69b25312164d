/* SPDX-License-Identifier: MIT
 *
 * Functions of each element, reductions and copies in the compiled library, for C99 and C++: what
 * elementwise.hpp, reduce.hpp and strided.hpp are in C++, with their bits. The rules of tinyattn.h
 * for arguments hold here too. Link with libtinyattn, or compile src/library.cpp. */
#ifndef TINYATTN_TINYATTN_OPERATIONS_H
#define TINYATTN_TINYATTN_OPERATIONS_H

#include "tinyattn/tinyattn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum number of axes. */
#define TINYATTN_MAX_AXES 6

/* How a call goes through its arrays: along each axis, how many elements there are, and how far
 * apart neighbours are in `out`, strides[0], and in each operand. A stride of 0 repeats an element,
 * one below 0 goes back: a pointer is to the element whose indices are all 0. Matrices a [3, 4] and
 * out [3, 4], and a row [4] that is repeated:
 *
 *   const tinyattn_walk walk = {2, {3, 4}, {{4, 1}, {4, 1}, {0, 1}}}; */
typedef struct tinyattn_walk {
  size_t axes;                             /* 1 to TINYATTN_MAX_AXES, the innermost last */
  size_t extents[TINYATTN_MAX_AXES];       /* at least 1 */
  ptrdiff_t strides[4][TINYATTN_MAX_AXES]; /* of out, then of the operands; of others ignored */
} tinyattn_walk;

/* A function of one to three elements, as a table: what a call names is what a linker takes. */
typedef struct tinyattn_function tinyattn_function;

/* clang-format off */
/* Calls use(name, count of operands) for each function. functions.hpp says what it computes of its
 * operands, in their order: fma(a, b, c), select(condition, a, b). */
#define TINYATTN_FUNCTIONS(use)                                                                   \
  use(negative, 1) use(square, 1) use(reciprocal, 1) use(absolute, 1) use(sign, 1) use(isnan, 1)  \
  use(logical_not, 1) use(round, 1) use(floor, 1) use(ceil, 1) use(trunc, 1) use(exp, 1)          \
  use(expm1, 1) use(log, 1) use(log2, 1) use(log10, 1) use(log1p, 1) use(sqrt, 1) use(rsqrt, 1)   \
  use(sin, 1) use(cos, 1) use(tanh, 1) use(erf, 1) use(sigmoid, 1) use(relu, 1) use(gelu, 1)      \
  use(gelu_tanh, 1) use(silu, 1) use(softplus, 1) use(logsigmoid, 1) use(softsign, 1)             \
  use(mish, 1) use(selu, 1) use(hardsigmoid, 1) use(hardswish, 1)                                 \
  use(add, 2) use(subtract, 2) use(multiply, 2) use(divide, 2) use(minimum, 2) use(maximum, 2)    \
  use(remainder, 2) use(floor_divide, 2) use(power, 2) use(less, 2) use(less_equal, 2)            \
  use(greater, 2) use(greater_equal, 2) use(equal, 2) use(not_equal, 2) use(logical_and, 2)       \
  use(logical_or, 2) use(leaky_relu, 2) use(elu, 2) use(celu, 2)                                  \
  use(fma, 3) use(lerp, 3) use(clamp, 3) use(select, 3)
/* clang-format on */

/* The functions: tinyattn_function_negative, ..., tinyattn_function_select. */
#define TINYATTN_DECLARE_FUNCTION(name, operands) \
  TINYATTN_TABLE extern const tinyattn_function tinyattn_function_##name;
TINYATTN_FUNCTIONS(TINYATTN_DECLARE_FUNCTION)
#undef TINYATTN_DECLARE_FUNCTION

/* out = function(a, b, c) of each element. Operands that the function does not take are ignored,
 * as are their strides. `out` may be an operand that has its strides; along an axis of more than
 * one element it has no stride of 0. */
TINYATTN_API tinyattn_status tinyattn_elementwise(const tinyattn_function* function,
                                                  const tinyattn_walk* walk, const float* a,
                                                  const float* b, const float* c, float* out);

/* out = from, element by element; strides[1] are those of `from`. `out` may not overlap it. */
TINYATTN_API tinyattn_status tinyattn_copy(const tinyattn_walk* walk, const float* from,
                                           float* out);

/* A reduction to one float, as a table. */
typedef struct tinyattn_reduction tinyattn_reduction;

/* clang-format off */
/* Calls use(name) for each reduction: reduce.hpp says what each computes. variance_1 has the
 * correction 1, PyTorch's default; variance_0 is that of a norm. */
#define TINYATTN_REDUCTIONS(use)                                                            \
  use(sum) use(product) use(mean) use(largest) use(smallest) use(norm) use(absolute_sum)    \
  use(largest_magnitude) use(any) use(all) use(log_sum_exp)                                 \
  use(variance_0) use(variance_1) use(deviation_0) use(deviation_1)
/* clang-format on */

/* The reductions: tinyattn_reduction_sum, ..., tinyattn_reduction_deviation_1. */
#define TINYATTN_DECLARE_REDUCTION(name) \
  TINYATTN_TABLE extern const tinyattn_reduction tinyattn_reduction_##name;
TINYATTN_REDUCTIONS(TINYATTN_DECLARE_REDUCTION)
#undef TINYATTN_DECLARE_REDUCTION

/* out = one element for all of x that differ only in their indices of the axes along which `out`
 * has the stride 0; strides[1] are those of x. Rows of x [3, 4] become out [3]:
 *
 *   const tinyattn_walk walk = {2, {3, 4}, {{1, 0}, {4, 1}}};
 *
 * `out` may not overlap x. The last axis decides, also if it has one element, whether elements are
 * folded in sixteen lanes, which is if it is reduced, or in rising order. An axis of one element
 * that is to be kept has any stride but 0. */
TINYATTN_API tinyattn_status tinyattn_reduce(const tinyattn_reduction* reduction,
                                             const tinyattn_walk* walk, const float* x, float* out);

/* A reduction to an index. */
typedef struct tinyattn_index_reduction tinyattn_index_reduction;
/* That of the largest element, the first of several; a NaN wins. */
TINYATTN_TABLE extern const tinyattn_index_reduction tinyattn_reduction_argmax;
/* That of the smallest. */
TINYATTN_TABLE extern const tinyattn_index_reduction tinyattn_reduction_argmin;

/* The same to an index in row-major order of the axes that are reduced, which have at most 65536
 * elements. */
TINYATTN_API tinyattn_status tinyattn_reduce_to_index(const tinyattn_index_reduction* reduction,
                                                      const tinyattn_walk* walk, const float* x,
                                                      uint16_t* out);

#ifdef __cplusplus
}
#endif

#endif
