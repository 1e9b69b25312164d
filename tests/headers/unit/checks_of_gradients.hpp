// SPDX-License-Identifier: MIT
//
// Checks every form of a backward pass.
#pragma once

#include "catalogue/gradients.hpp"

namespace tinyattn::test {

// Returns the d_x of backward(x, d_out, d_x), and checks it in the place of x and, if shapes match, of d_out.
template <class X, class Out>
constexpr X in_each_place(Check& check, const X& x, const Out& d_out, auto backward) {
  const X input = opaque(x);
  X d_x, both = x;
  backward(input, d_out, d_x);
  backward(both, d_out, both);
  check.same_bits(both, d_x);
  if constexpr (std::is_same_v<X, Out>) {
    both = d_out;
    backward(x, both, both);
    check.same_bits(both, d_x);
  }
  return d_x;
}

// Checks that d_x is the same in each place; that an unwanted gradient changes no other; that a batch gives its elements' gradients, one
// after the other; and that a matrix gives its rows' if rows are independent.
template <class Operation, bool is_by_rows = false>
constexpr void check_module(Check& check) {
  using Module = typename Operation::Module;
  const auto module = drawn<Module>(1), before = drawn<Module>(2);
  const auto x = drawn<typename Operation::Input>(3), more_x = drawn<typename Operation::Input>(4);
  const auto d_out = drawn<typename Operation::Output>(5), more_d_out = drawn<typename Operation::Output>(6);
  Module gradient = before, together = before;
  Operation::backward(module, x, d_out, no_gradient, gradient);
  const auto d_x = in_each_place(check, x, d_out, [&](const auto& from, const auto& d, auto& to) {
    Module its = before;
    Operation::backward(module, from, d, to, its);
    check.that(its == gradient);
  });
  auto alone = x, more_d_x = x;
  Operation::backward(module, x, d_out, alone, no_gradient);
  check.same_bits(alone, d_x);
  Operation::backward(module, more_x, more_d_out, more_d_x, gradient);
  auto batch = stack(x, more_x);
  Operation::backward(module, batch, stack(d_out, more_d_out), batch, together);
  check.that(together == gradient);
  check.same_bits(batch, stack(d_x, more_d_x));
  if constexpr (is_by_rows) {
    auto rows = concat_rows(x, more_x);
    together = before;
    Operation::backward(module, rows, concat_rows(d_out, more_d_out), rows, together);
    check.that(together == gradient);
    check.same_bits(rows, concat_rows(d_x, more_d_x));
  }
}

}  // namespace tinyattn::test
