// SPDX-License-Identifier: MIT
//
// The forms of a call: each computes the same bits and writes nothing outside of its outputs. Which bits those are, tests by hand and the
// committed CRCs say.
#pragma once

#include "catalogue/draw.hpp"
#include "catalogue/guarded.hpp"

#include <cstddef>
#include <type_traits>

namespace tinyattn::test {

// Returns a wider matrix that holds m in its columns from `first` on.
template <std::size_t Rows, std::size_t Cols>
constexpr auto widened(const Matrix<float, Rows, Cols>& m, std::size_t first) noexcept {
  auto wide = full<float, Rows, Cols + 3>(Guarded<float>::untouched);
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j) wide(i, first + j) = m(i, j);
  return wide;
}

// Checks the forms of an operation on matrices: call(x) returns the result, call(x, out) writes it; of a matrix, a batch, a view, and into
// a view.
template <std::size_t Rows, std::size_t Cols>
constexpr void check_matrix_forms(Check& check, const Matrix<float, Rows, Cols>& x, auto call) {
  const auto expected = call(opaque(x));
  check_output(check, expected, [&](auto& out) { call(x, out); });
  const auto other = drawn<Matrix<float, Rows, Cols>>(77);
  check_output(check, stack(expected, call(other)), [&](auto& out) { call(stack(x, other), out); });
  const auto wide_x = widened(x, 2);
  check_output(check, expected, [&](auto& out) { call(columns<Cols>(wide_x, 2), out); });
  check_output(check, widened(expected, 1), [&](auto& wide) {
    auto out = columns<decltype(expected)::extent(1)>(wide, 1);
    call(columns<Cols>(wide_x, 2), out);
  });
}

// Also of a vector.
template <std::size_t Rows, std::size_t Cols>
constexpr void check_row_forms(Check& check, const Matrix<float, Rows, Cols>& x, auto call) {
  check_matrix_forms(check, x, call);
  check_output(check, row(call(x), Rows - 1), [&](auto& out) { call(row(x, Rows - 1), out); });
}

// Also in place.
template <std::size_t Rows, std::size_t Cols>
constexpr void check_forms_in_place(Check& check, const Matrix<float, Rows, Cols>& x, auto call) {
  check_row_forms(check, x, call);
  check_in_place(check, call(x), x, [&](auto& both) { call(both, both); });
}

constexpr auto call(const auto& module) noexcept {
  return [&module](const auto& x, auto&... out) {
    if constexpr (sizeof...(out) == 0)
      return module(x);
    else
      module.forward(x, out...);
  };
}

// Checks the forms of a layer, block or transformer: into an output, by value, of a batch, of views, in place.
template <class Module, std::size_t Rows, std::size_t Cols>
constexpr auto check_layer_forms(Check& check, const Module& module, const Matrix<float, Rows, Cols>& x, auto& out, auto& workspace) {
  constexpr std::size_t out_cols = std::remove_cvref_t<decltype(out)>::extent(1);
  module.forward(opaque(x), out, workspace);
  const auto expected = out;
  Tensor<float, 2, Rows, out_cols> of_batch{};
  module.forward(stack(x, x), of_batch, workspace);
  check.same_bits(of_batch, stack(expected, expected));
  if constexpr (requires { module(x); }) {
    check.same_bits(module(opaque(x)), expected);
    check.same_bits(module(stack(x, x)), of_batch);
  }
  const auto wide_x = widened(x, 2);
  check_output(check, widened(expected, 1), [&](auto& wide) {
    auto to = columns<out_cols>(wide, 1);
    module.forward(columns<Cols>(wide_x, 2), to, workspace);
  });
  if constexpr (Cols == out_cols) check_in_place(check, expected, x, [&](auto& both) { module.forward(both, both, workspace); });
}

template <std::size_t Keys>
constexpr KeepMask<Keys> first_keys(std::size_t count) noexcept {
  KeepMask<Keys> mask{};
  for (std::size_t j = 0; j < Keys; ++j) mask.tensor(j) = j < count;
  return mask;
}
// Returns m with all rows from `count` on replaced.
template <std::size_t Rows, std::size_t Cols>
constexpr Matrix<float, Rows, Cols> with_rest(Matrix<float, Rows, Cols> m, std::size_t count, float rest) noexcept {
  for (std::size_t i = count * Cols; i < m.size(); ++i) m.elements[i] = rest;
  return m;
}

// Checks forward with every count of tokens from 0 to one too many, where later rows are neither read nor written; also in place.
template <class Module, std::size_t Rows, std::size_t Cols>
constexpr void check_counts(Check& check, const Module& module, const Matrix<float, Rows, Cols>& x, auto& out, auto& workspace) {
  using Out = std::remove_cvref_t<decltype(out)>;
  for (std::size_t count = 0; count <= Rows + 1; ++count) {
    const auto given = std::is_constant_evaluated() ? x : with_rest(x, count, quiet_nan);
    module.forward(x, first_keys<Rows>(count), out, workspace);
    const Out expected = with_rest(out, count <= Rows ? count : 0, Guarded<Out>::untouched);
    check_output(check, expected, [&](auto& to) {
      check.that(module.forward(given, opaque(count), to, workspace) == (count <= Rows ? Status::ok : Status::too_many_tokens));
    });
    if constexpr (Cols == Out::extent(1)) {
      if (count > Rows) continue;
      Out in_place = x;
      for (std::size_t i = 0; i < count * Cols; ++i) in_place.elements[i] = expected.elements[i];
      check_in_place(check, in_place, x, [&](auto& both) { static_cast<void>(module.forward(both, opaque(count), both, workspace)); });
    }
  }
}

}  // namespace tinyattn::test
