// SPDX-License-Identifier: MIT
//
// Reductions over one axis, over several or over all: sums, means, variances, norms, the largest
// element, its index and more, under PyTorch's names where these are no others' here.
#pragma once

#include "tinyattn/detail/axes.hpp"
#include "tinyattn/functions.hpp"
#include "tinyattn/kernel/reduce.hpp"
#include "tinyattn/token.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// What is computed of the elements that are reduced to one: a kernel::Columns or LastAxis.
template <class Compute, class Result = float>
struct Reduction : Compute {
  using type = Result;
};

// A reduction by fold: from `start`, by a step for each element, and by one that merges two lanes.
constexpr auto folded(float start, const auto& step, const auto& merge) noexcept {
  return [=](const auto& elements)
             TINYATTN_INLINE_LAMBDA { return elements.fold(start, step, merge); };
}
constexpr auto folded(float start, const auto& step) noexcept { return folded(start, step, step); }

template <class Compute>
constexpr Reduction<Compute> reduction_of(Compute compute) noexcept {
  return {compute};
}

// The index of the first element that wins over all others; wins(x, best).
constexpr auto index_of(const auto& wins) noexcept {
  const auto find = [=](const auto& elements) TINYATTN_INLINE_LAMBDA {
    std::size_t index = 0, next = 0;
    float best = 0.0f;
    elements.for_each([&](auto x) TINYATTN_INLINE_LAMBDA {
      if (next == 0 || (best == best && (x.v != x.v || wins(x.v, best)))) {
        best = x.v;
        index = next;
      }
      ++next;
    });
    return static_cast<Token>(index);
  };
  return Reduction<decltype(find), Token>{find};
}

}  // namespace detail

namespace reduction {

// The sum, from +0.
inline constexpr auto sum = detail::reduction_of(detail::folded(0.0f, function::add));
// The product, from 1.
inline constexpr auto product = detail::reduction_of(detail::folded(1.0f, function::multiply));
// The sum times the float 1 / count.
inline constexpr auto mean = detail::reduction_of([](const auto& elements) TINYATTN_INLINE_LAMBDA {
  return sum(elements) * (1.0f / static_cast<float>(elements.count()));
});
// torch.amax: a NaN makes the result NaN.
inline constexpr auto largest =
    detail::reduction_of(detail::folded(-kernel::infinity, function::maximum));
// torch.amin, with a NaN likewise.
inline constexpr auto smallest =
    detail::reduction_of(detail::folded(kernel::infinity, function::minimum));

// The square root of the sum of squares, each an fma.
inline constexpr auto norm = detail::reduction_of([](const auto& elements) TINYATTN_INLINE_LAMBDA {
  return function::sqrt(elements.fold(
      0.0f, [](auto squares, auto x) TINYATTN_INLINE_LAMBDA { return multiply_add(x, x, squares); },
      function::add));
});
// The sum of absolute values.
inline constexpr auto absolute_sum = detail::reduction_of(detail::folded(
    0.0f, [](auto sizes, auto x) TINYATTN_INLINE_LAMBDA { return sizes + function::absolute(x); },
    function::add));
// The largest absolute value.
inline constexpr auto largest_magnitude = detail::reduction_of(detail::folded(
    0.0f,
    [](auto most, auto x)
        TINYATTN_INLINE_LAMBDA { return function::maximum(most, function::absolute(x)); },
    function::maximum));
// Whether any element is not 0: 1 or 0.
inline constexpr auto any = detail::reduction_of(detail::folded(0.0f, function::logical_or));
// Whether all are not 0: 1 or 0.
inline constexpr auto all = detail::reduction_of(detail::folded(1.0f, function::logical_and));

// log(sum of e^(x - most)) + most, in which `most` is the largest, or 0 if that is infinite.
inline constexpr auto log_sum_exp =
    detail::reduction_of([](const auto& elements) TINYATTN_INLINE_LAMBDA {
      const auto largest_x = largest(elements);
      const auto most = choose(function::absolute(largest_x) < kernel::infinity, largest_x,
                               if_nan(largest_x, largest_x, 0.0f));
      const auto step = [&](auto sum_of_exp, auto x) TINYATTN_INLINE_LAMBDA {
        return sum_of_exp + function::exp(x - decltype(x)(most.v));
      };
      return function::log(elements.fold(0.0f, step, function::add)) + most;
    });

// The index of the largest element, in row-major order of those that are reduced: the first of
// several; a NaN wins.
inline constexpr auto argmax =
    detail::index_of([](float x, float best) TINYATTN_INLINE_LAMBDA { return x > best; });
// The index of the smallest element, likewise.
inline constexpr auto argmin =
    detail::index_of([](float x, float best) TINYATTN_INLINE_LAMBDA { return x < best; });

// variance{correction}: the sum of the squares of the differences from the mean, each an fma, times
// 1 / (count - correction).
struct variance {              // NOLINT(readability-identifier-naming): as its kin
  using type = float;          // of the result
  std::size_t correction = 1;  // as PyTorch; 0 for the variance of a norm

  // For kernels: of the elements that are reduced to one.
  TINYATTN_ALWAYS_INLINE constexpr auto operator()(const auto& elements) const noexcept {
    const auto middle = mean(elements);
    const auto step = [&](auto squares, auto x) TINYATTN_INLINE_LAMBDA {
      const auto difference = x - decltype(x)(middle.v);
      return multiply_add(difference, difference, squares);
    };
    const std::size_t count = elements.count();
    return elements.fold(0.0f, step, function::add) *
           (count > correction ? 1.0f / static_cast<float>(count - correction) : kernel::infinity);
  }
};
// deviation{correction}: its square root.
struct deviation : variance {  // NOLINT(readability-identifier-naming): as its kin
  // For kernels: of the elements that are reduced to one.
  TINYATTN_ALWAYS_INLINE constexpr auto operator()(const auto& elements) const noexcept {
    return function::sqrt(variance::operator()(elements));
  }
};

}  // namespace reduction

namespace detail {

// Which axes of x are reduced: those given, or all.
template <class TensorX, std::size_t... Reduced>
struct Kept {
  static constexpr std::size_t rank = Axes<TensorX>::rank;
  static constexpr bool is_reduced(std::size_t axis) noexcept {
    return sizeof...(Reduced) == 0 || ((axis == Reduced) || ...);
  }
  static constexpr std::size_t count() noexcept {
    std::size_t kept = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) kept += !is_reduced(axis);
    return kept;
  }
  // The axis of x that is kept as axis `index` of the result.
  static constexpr std::size_t axis(std::size_t index) noexcept {
    std::size_t axis = 0;
    for (; axis + 1 < rank && (is_reduced(axis) || index-- != 0); ++axis) continue;
    return axis;
  }
  template <class Element, std::size_t... Index>
  static auto without(std::index_sequence<Index...>)
      -> Tensor<Element, Axes<TensorX>::extents[axis(Index)]...>;
  template <class Element>
  static auto result() {
    if constexpr (count() == 0)
      return Tensor<Element, 1>{};
    else
      return decltype(without<Element>(std::make_index_sequence<count()>{})){};
  }
};

// Whether Out has 1 at reduced axes and the extents of x at others, or lacks the reduced
// axes.
template <class Out, class TensorX, std::size_t... Reduced>
consteval bool fits_reduced() noexcept {
  using KeptAxes = Kept<TensorX, Reduced...>;
  using Without = Axes<decltype(KeptAxes::template result<float>())>;
  constexpr std::size_t rank = Axes<Out>::rank;
  bool has_ones = rank == KeptAxes::rank, lacks_them = rank == Without::rank;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::size_t extent = Axes<Out>::extents[axis];
    has_ones =
        has_ones && extent == (KeptAxes::is_reduced(axis) ? 1 : Axes<TensorX>::extents[axis]);
    lacks_them = lacks_them && extent == Without::extents[axis];
  }
  return has_ones || lacks_them;
}

// A static_assert diagnoses wrong axes, or a wrong x or out; the caller then computes nothing.
template <class Result, class Out, class TensorX, std::size_t... Reduced>
consteval bool check_reduced() noexcept {
  constexpr bool axes = ((Reduced < Axes<TensorX>::rank) && ...);
  constexpr bool writable = is_writable<Out, Result>;
  static_assert(axes, "an axis of reduce<axes...> must be below the rank of x");
  static_assert(writable, "out must hold floats, or Tokens of argmax and argmin, and not be const");
  if constexpr (axes && writable) {
    constexpr bool fits = fits_reduced<Out, TensorX, Reduced...>();
    static_assert(fits, "out must have the extents of x, and 1 at reduced axes or none of these");
    return fits && check_floats<TensorX>();
  } else {
    return false;
  }
}

// The walks through the elements that one result is made of, and through results.
template <class TensorX, std::size_t... Reduced>
consteval auto walk_through_reduced() noexcept {
  kernel::Walk<1, Axes<TensorX>::rank> walk;
  for (std::size_t axis = 0; axis < Axes<TensorX>::rank; ++axis)
    if (Kept<TensorX, Reduced...>::is_reduced(axis))
      walk.add({Axes<TensorX>::extents[axis], {Axes<TensorX>::stride(axis)}});
  return walk;
}
template <class Out, class TensorX, std::size_t... Reduced>
consteval auto walk_through_kept() noexcept {
  constexpr bool same_rank = Axes<Out>::rank == Axes<TensorX>::rank;
  kernel::Walk<2, Axes<TensorX>::rank + 1> walk;
  walk.add({1, {0, 0}});
  for (std::size_t axis = 0, kept = 0; axis < Axes<TensorX>::rank; ++axis)
    if (!Kept<TensorX, Reduced...>::is_reduced(axis))
      walk.add({Axes<TensorX>::extents[axis],
                {Axes<Out>::stride(same_rank ? axis : kept++), Axes<TensorX>::stride(axis)}});
  return walk;
}

// Computes a row of results: side by side in vectors, or one by one.
template <class Port, bool last, class Of>
constexpr void reduce_row(const Of& of, const auto& walk, const auto& kept, const float* x,
                          typename Of::type* out) noexcept {
  using Single = typename Port::one_lane;
  using Walked = std::remove_cvref_t<decltype(walk)>;
  constexpr bool is_number = std::is_same_v<typename Of::type, float>;
  const auto& row = kept.innermost();
  if constexpr (is_number && !last && Port::lanes > 1)
    if (kept.has_vectors() && row.strides[1] == 1)
      return kernel::for_each_vector<Port>(row.extent, [&](auto at) TINYATTN_INLINE_LAMBDA {
        at.store(out, of(kernel::Columns<Port, Walked, decltype(at)>{walk, x, at}).v);
      });
  for (std::size_t i = 0; i < row.extent; ++i) {
    const kernel::Columns<Single, Walked> elements{
        walk, x + kernel::offset(i, row.strides[1]), {0}};
    auto& to = out[kernel::offset(i, row.strides[0])];
    if constexpr (!is_number)
      to = of(elements);
    else if constexpr (last)
      to = of(kernel::LastAxis<Port, Walked>{elements}).v;
    else
      to = of(elements).v;
  }
}

template <std::size_t... Reduced>
constexpr void reduce_axes(const auto& of, const auto& x, auto& out) noexcept {
  using TensorX = std::remove_cvref_t<decltype(x)>;
  using Out = std::remove_cvref_t<decltype(out)>;
  using Result = std::remove_cvref_t<decltype(*out.data())>;
  constexpr auto walk = walk_through_reduced<TensorX, Reduced...>();
  constexpr auto kept = walk_through_kept<Out, TensorX, Reduced...>();
  constexpr bool last = Kept<TensorX, Reduced...>::is_reduced(Axes<TensorX>::rank - 1);
  static_assert(std::is_same_v<Result, float> || walk.elements() <= 65536,
                "an index among more than 65,536 elements is no Token");
  on_native_port([&](auto port) {
    kernel::for_each_row<kept>([&](const auto& at) TINYATTN_INLINE_LAMBDA {
      reduce_row<decltype(port), last>(of, kernel::ConstantWalk<walk>{},
                                       kernel::ConstantWalk<kept>{}, x.data() + at[1],
                                       out.data() + at[0]);
    });
  });
}

}  // namespace detail

// out = one element for all of x that differ only in their indices of the given axes, counted from
// 0; without axes, for all of x:
//
//   reduce<0, 2>(reduction::mean, x, out);       out has 1 at these axes of x, or lacks them
//   auto v = reduce<1>(reduction::variance{0}, x);          lacks them; Vector<float, 1> of no axes
//
// x and out are tensors or views, which may not overlap. Sums over the last axis, and over it and
// others, go in sixteen lanes; sums over others alone in rising order.
template <std::size_t... Axes, class Of, detail::strided TensorX, class... Out>
requires(sizeof...(Out) <= 1 &&
         (detail::strided<Out> && ...)) constexpr auto reduce(const Of& of, const TensorX& x,
                                                              Out&&... out) noexcept {
  using Result = decltype(detail::Kept<TensorX, Axes...>::template result<typename Of::type>());
  return detail::into<Result>(
      [&](auto& to) TINYATTN_INLINE_LAMBDA {
        using To = std::remove_reference_t<decltype(to)>;
        if constexpr (detail::check_reduced<typename Of::type, To, TensorX, Axes...>())
          detail::reduce_axes<Axes...>(of, x, to);
      },
      out...);
}

template <std::size_t... Axes, class First>
constexpr detail::Diagnosed reduce(const First&, const detail::Anything&, ...) noexcept {
  static_assert(detail::no_such_call<First>,
                "reduce<axes...> takes (reduction, x) or (reduction, x, out): tensors or views of "
                "float, and an out that is not const");
  return {};
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
