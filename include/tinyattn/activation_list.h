/* SPDX-License-Identifier: MIT
 *
 * The list of activations, for C99 and C++. The enumerations of both languages, the choice of a
 * kernel and the loops of tests follow from it; kernel/README.md says what a new one needs. */
#ifndef TINYATTN_ACTIVATION_LIST_H
#define TINYATTN_ACTIVATION_LIST_H

/* clang-format off */
/* Calls use(name, NAME, "formula") for every activation, in the order of their numbers, which start
 * at 0. A new activation comes last, so that the others keep theirs. The last words of a formula are
 * the maximum error over all floats, in units in the last place (ulp) of the result. */
#define TINYATTN_ACTIVATIONS(use)                                                              \
  use(relu, RELU, "x, or 0 if x is negative. Exact")                                           \
  use(gelu, GELU, "x (1 + erf(x / sqrt(2))) / 2: PyTorch's default. 3.5 ulp, 6.4 below 0")     \
  use(gelu_tanh, GELU_TANH, "gelu by tanh: PyTorch's 'tanh', as in GPT-2. 2 ulp, 4.1 below 0") \
  use(silu, SILU, "x / (1 + e^-x). 1.7 ulp, 3.6 below 0")
/* clang-format on */

/* The enumerator of an activation in C++. */
#define TINYATTN_ENUMERATOR_OF_CPP(name, NAME, formula) name,
/* The enumerator of an activation in C. */
#define TINYATTN_ENUMERATOR_OF_C(name, NAME, formula) TINYATTN_##NAME,

#endif
