/* SPDX-License-Identifier: MIT
 *
 * The list of activations, for C99 and C++. The enumerations of both languages, the choice of a
 * kernel and the loops of tests follow from it; kernel/README.md says what a new one needs. */
#ifndef TINYATTN_ACTIVATION_LIST_H
#define TINYATTN_ACTIVATION_LIST_H

/* clang-format off */
/* Calls use(name, NAME, "formula") for every activation, in the order of their numbers, which start
 * at 0. A new activation comes last, so that the others keep theirs. */
#define TINYATTN_ACTIVATIONS(use)                                                      \
  use(relu, RELU, "x, or 0 if x is negative")                                          \
  use(gelu, GELU, "x (1 + erf(x / sqrt(2))) / 2: PyTorch's default")                   \
  use(gelu_tanh, GELU_TANH, "gelu by tanh: PyTorch's approximate='tanh', as in GPT-2") \
  use(silu, SILU, "x / (1 + e^-x)")
/* clang-format on */

/* The enumerator of an activation in C++. */
#define TINYATTN_ENUMERATOR_OF_CPP(name, NAME, formula) name,
/* The enumerator of an activation in C. */
#define TINYATTN_ENUMERATOR_OF_C(name, NAME, formula) TINYATTN_##NAME,

#endif
