// SPDX-License-Identifier: MIT
//
// The operations of tinyattn_operations.h on the port of this translation unit: rows of the
// headers, with strides that are known at run time. The way from row to row is one function for
// all.
#pragma once

#include "operations.hpp"
#include "tinyattn/elementwise.hpp"
#include "tinyattn/reduce.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace reduction {
inline constexpr variance variance_0{0}, variance_1{1};
inline constexpr deviation deviation_0{{0}}, deviation_1{{1}};
}  // namespace reduction

namespace library {

using namespace compiled;

using ElementsWalk = kernel::Walk<4, TINYATTN_MAX_AXES>;
using ComputeRow = void (*)(const ElementsWalk&, float* out, const float* const* terms) noexcept;

[[gnu::noinline]] inline void compute_rows(const ElementsCall& call, ComputeRow compute) noexcept {
  ElementsWalk walk;
  for (std::size_t axis = 0; axis < call.walk->axes; ++axis) {
    kernel::WalkedAxis<4> added{call.walk->extents[axis], {}};
    for (std::size_t o = 0; o <= call.operands; ++o) added.strides[o] = call.walk->strides[o][axis];
    walk.add(added);
  }
  kernel::for_each_row(walk, [&](const auto& at) TINYATTN_INLINE_LAMBDA {
    const float* terms[3];
    for (std::size_t o = 0; o < call.operands; ++o) terms[o] = call.terms[o] + at[o + 1];
    compute(walk, call.out + at[0], terms);
  });
}

template <const auto& of, std::size_t operands>
void compute(const ElementsCall& call) noexcept {
  compute_rows(call, [](const ElementsWalk& walk, float* out, const float* const* terms) noexcept {
    detail::compute_row<native_port>(of, walk, out, terms, std::make_index_sequence<operands>{});
  });
}

inline constexpr detail::Function same{[](auto x) TINYATTN_INLINE_LAMBDA { return x; }};

using ReducedWalk = kernel::Walk<1, TINYATTN_MAX_AXES>;
using KeptWalk = kernel::Walk<2, TINYATTN_MAX_AXES>;
template <class Result>
using ReduceRow = void (*)(const ReducedWalk&, const KeptWalk&, bool last, const float* x,
                           Result* out) noexcept;

template <class Result>
[[gnu::noinline]] void reduce_rows(const tinyattn_walk& all, const float* x, Result* out,
                                   ReduceRow<Result> reduce) noexcept {
  ReducedWalk reduced;
  KeptWalk kept;
  reduced.add({1, {0}}), kept.add({1, {0, 0}});
  for (std::size_t axis = 0; axis < all.axes; ++axis) {
    const std::ptrdiff_t of_out = all.strides[0][axis], of_x = all.strides[1][axis];
    if (of_out == 0)
      reduced.add({all.extents[axis], {of_x}});
    else
      kept.add({all.extents[axis], {of_out, of_x}});
  }
  const bool last = all.strides[0][all.axes - 1] == 0;
  kernel::for_each_row(kept, [&](const auto& at) TINYATTN_INLINE_LAMBDA {
    reduce(reduced, kept, last, x + at[1], out + at[0]);
  });
}

template <const auto& of, class Result = float>
void reduce(const tinyattn_walk& all, const float* x, Result* out) noexcept {
  reduce_rows<Result>(all, x, out,
                      [](const ReducedWalk& reduced, const KeptWalk& kept, bool last,
                         const float* from, Result* to) noexcept {
                        if (last)
                          detail::reduce_row<native_port, true>(of, reduced, kept, from, to);
                        else
                          detail::reduce_row<native_port, false>(of, reduced, kept, from, to);
                      });
}

static constexpr Primitives native_primitives = {
    .copy = compute<same, 1>,
    .argmax = reduce<reduction::argmax, std::uint16_t>,
    .argmin = reduce<reduction::argmin, std::uint16_t>,
#define TINYATTN_FUNCTION_OF(name, operands) .function_##name = compute<function::name, operands>,
#define TINYATTN_REDUCTION_OF(name) .reduction_##name = reduce<reduction::name>,
    TINYATTN_FUNCTIONS(TINYATTN_FUNCTION_OF) TINYATTN_REDUCTIONS(TINYATTN_REDUCTION_OF)
#undef TINYATTN_REDUCTION_OF
#undef TINYATTN_FUNCTION_OF
};

}  // namespace library

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
