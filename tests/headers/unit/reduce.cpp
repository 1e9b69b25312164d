// SPDX-License-Identifier: MIT
//
// Reductions next to plain loops in double, over each set of axes; forms of `out`; NaN and infinity. And counts of tokens in pooling.hpp.
#include "tinyattn/reduce.hpp"

#include "exact.hpp"
#include "forms.hpp"
#include "tinyattn/pooling.hpp"

namespace tinyattn::test { namespace {

// What is reduced to one element, in row-major order.
struct Elements {
  double x[3 * 4 * 18];
  std::size_t count = 0;
};
constexpr double square_root(double of) {
  double root = 1.0;
  for (int i = 0; i < 40; ++i) root = 0.5 * (root + of / root);
  return root;
}
constexpr double folded(const Elements& of, double start, auto step) {
  for (std::size_t i = 0; i < of.count; ++i) start = step(start, of.x[i]);
  return start;
}
constexpr double size_of(double x) { return x < 0 ? -x : x; }
constexpr double count_of(const Elements& of) { return static_cast<double>(of.count); }
constexpr double sum_of(const Elements& of) {
  return folded(of, 0, [](double sum, double x) { return sum + x; });
}
constexpr double variance_of(const Elements& of, double correction) {
  const double mean = sum_of(of) / count_of(of);
  return folded(of, 0, [=](double sum, double x) { return sum + (x - mean) * (x - mean); }) / (count_of(of) - correction);
}
constexpr double index_of(const Elements& of, auto wins) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < of.count; ++i) best = wins(of.x[i], of.x[best]) ? i : best;
  return static_cast<double>(best);
}

// Compares reduce<axes...> of x with plain(Elements), for each element of the result.
template <std::size_t... Axes>
constexpr void check_axes(Check& check, const auto& x, auto reduction, auto plain) {
  const auto out = reduce<Axes...>(reduction, opaque(x));
  constexpr auto is_reduced = [](std::size_t axis) { return sizeof...(Axes) == 0 || ((axis == Axes) || ...); };
  std::size_t at = 0, index[3] = {};
  const auto kept_extent = [&](std::size_t axis) { return is_reduced(axis) ? 1 : x.extent(axis); };
  for (index[0] = 0; index[0] < kept_extent(0); ++index[0])
    for (index[1] = 0; index[1] < kept_extent(1); ++index[1])
      for (index[2] = 0; index[2] < kept_extent(2); ++index[2]) {
        Elements of{};
        for (std::size_t i = 0; i < x.extent(0); ++i)
          for (std::size_t j = 0; j < x.extent(1); ++j)
            for (std::size_t k = 0; k < x.extent(2); ++k)
              if ((is_reduced(0) || i == index[0]) && (is_reduced(1) || j == index[1]) && (is_reduced(2) || k == index[2]))
                of.x[of.count++] = static_cast<double>(x(i, j, k));
        const double expected = plain(of);
        check.near(static_cast<float>(out.elements[at++]), static_cast<float>(expected), 2e-6f * static_cast<float>(1 + size_of(expected)));
      }
  check.that(at == out.size());
}

constexpr void check_each_set(Check& check, const auto& x, auto reduction, auto plain) {
  check_axes<>(check, x, reduction, plain), check_axes<0>(check, x, reduction, plain), check_axes<1>(check, x, reduction, plain);
  check_axes<2>(check, x, reduction, plain), check_axes<0, 1>(check, x, reduction, plain), check_axes<0, 2>(check, x, reduction, plain);
  check_axes<1, 2>(check, x, reduction, plain);
}

constexpr void check_reductions(Check& check, const auto& x) {
  const auto with = [&](auto reduction, auto plain) { check_each_set(check, x, reduction, plain); };
  with(reduction::sum, sum_of);
  with(reduction::mean, [](const Elements& of) { return sum_of(of) / count_of(of); });
  with(reduction::product, [](const Elements& of) { return folded(of, 1, [](double p, double v) { return p * v; }); });
  with(reduction::largest, [](const Elements& of) { return folded(of, -9, [](double m, double v) { return m < v ? v : m; }); });
  with(reduction::smallest, [](const Elements& of) { return folded(of, 9, [](double m, double v) { return v < m ? v : m; }); });
  with(reduction::variance{}, [](const Elements& of) { return variance_of(of, 1); });
  with(reduction::deviation{0}, [](const Elements& of) { return square_root(variance_of(of, 0)); });
  with(reduction::norm, [](const Elements& of) { return square_root(folded(of, 0, [](double s, double v) { return s + v * v; })); });
  with(reduction::absolute_sum, [](const Elements& of) { return folded(of, 0, [](double s, double v) { return s + size_of(v); }); });
  with(reduction::largest_magnitude,
       [](const Elements& of) { return folded(of, 0, [](double m, double v) { return m < size_of(v) ? size_of(v) : m; }); });
  with(reduction::log_sum_exp,
       [](const Elements& of) { return exact_log(folded(of, 0, [](double s, double v) { return s + exact_exp(v); })); });
  with(reduction::any, [](const Elements& of) { return folded(of, 0, [](double a, double v) { return a != 0 || v != 0; }); });
  with(reduction::all, [](const Elements& of) { return folded(of, 1, [](double a, double v) { return a != 0 && v != 0; }); });
  with(reduction::argmax, [](const Elements& of) { return index_of(of, [](double v, double best) { return v > best; }); });
  with(reduction::argmin, [](const Elements& of) { return index_of(of, [](double v, double best) { return v < best; }); });
}

constexpr Test tests[] = {
    everywhere("over each set of axes, in the compiler", [](Check& check) { check_reductions(check, drawn<Tensor<float, 2, 2, 3>>(1)); }),
    at_run_time("over each set of axes",
                [](Check& check) {
                  auto x = drawn<Tensor<float, 3, 4, 18>>(1);
                  check_reductions(check, x);
                  for (std::size_t i = 0; i < x.size(); i += 3) x.elements[i] = 0.0f;
                  check_reductions(check, x);
                }),
    everywhere("into an out that keeps the axes, into a view, of a view",
               [](Check& check) {
                 const auto x = opaque(drawn<Tensor<float, 2, 3, 17>>(1));
                 const auto sums = reduce<1>(reduction::sum, x);
                 check_output(check, Tensor<float, 2, 1, 17>{}, [&](auto& out) {
                   reduce<1>(reduction::sum, x, out);
                   for (std::size_t i = 0; i < 34; ++i) out.elements[i] -= sums.elements[i];
                 });
                 check_output(check, transpose(sums), [&](auto& out) {
                   reduce<1>(reduction::sum, x, StridedView<float, Extents<2, 17>, Strides<1, 2>>{out.data()});
                 });
                 using Turned = StridedView<const float, Extents<17, 3, 2>, Strides<1, 17, 51>>;
                 check.same_bits(reduce<1>(reduction::sum, Turned{x.data()}), transpose(sums));
                 using Repeated = StridedView<const float, Extents<3, 17>, Strides<1, 0>>;
                 check.same_bits(reduce<0>(reduction::largest, Repeated{x.data()})(16),
                                 reduce(reduction::largest, StridedView<const float, Extents<3>, Strides<1>>{x.data()})(0));
                 check_output(check, vector({reduce<0, 1, 2>(reduction::sum, x)(0)}), [&](auto& out) { reduce(reduction::sum, x, out); });
               }),
    everywhere("sums over the last axis go in sixteen lanes, others in rising order",
               [](Check& check) {
                 const auto x = opaque(drawn<Matrix<float, 3, 17>>(1));
                 float lane = x(0, 0), rising = 0.0f;
                 lane += x(0, 16);
                 const float pairs[] = {lane + x(0, 8),    x(0, 4) + x(0, 12), x(0, 2) + x(0, 10), x(0, 6) + x(0, 14),
                                        x(0, 1) + x(0, 9), x(0, 5) + x(0, 13), x(0, 3) + x(0, 11), x(0, 7) + x(0, 15)};
                 const float fours[] = {pairs[0] + pairs[1], pairs[2] + pairs[3], pairs[4] + pairs[5], pairs[6] + pairs[7]};
                 check.same_bits(reduce<1>(reduction::sum, x)(0), (fours[0] + fours[1]) + (fours[2] + fours[3]));
                 for (std::size_t i = 0; i < 3; ++i) rising += x(i, 5);
                 check.same_bits(reduce<0>(reduction::sum, x)(5), rising);
               }),
    everywhere("mean and largest over tokens: a count is from 1 to the rows of x; after an error `out` is as it was",
               [](Check& check) {
                 const auto x = matrix<float>({{1.0f, -2.0f}, {3.0f, -6.0f}, {8.0f, 5.0f}});
                 auto out = vector<float>({7.0f, 7.0f});
                 for (const std::size_t count : {std::size_t{0}, std::size_t{4}, static_cast<std::size_t>(-1)}) {
                   const Status status = count == 0 ? Status::no_tokens : Status::too_many_tokens;
                   check.that(mean(x, opaque(count), out) == status && largest(x, opaque(count), out) == status);
                 }
                 check.same_bits(out, vector<float>({7.0f, 7.0f}));
                 check.that(mean(x, opaque(std::size_t{2}), out) == Status::ok);
                 check.same_bits(out, vector<float>({2.0f, -4.0f}));
                 check.that(largest(x, opaque(std::size_t{3}), out) == Status::ok);
                 check.same_bits(out, vector<float>({8.0f, 5.0f}));
               }),
    at_run_time(
        "NaN and infinity",
        [](Check& check) {
          const auto x = opaque(matrix<float>({{1.0f, quiet_nan, infinity}, {-infinity, -infinity, -infinity}, {3.0f, infinity, 3.0f}}));
          check.same_bits(reduce<1>(reduction::largest, x), vector({quiet_nan, -infinity, infinity}));
          check.same_bits(reduce<0>(reduction::smallest, x), vector({-infinity, quiet_nan, -infinity}));
          check.same_bits(reduce<1>(reduction::log_sum_exp, x), vector({quiet_nan, -infinity, infinity}));
          check.equal(reduce<1>(reduction::argmax, x), Vector<Token, 3>{1, 0, 1});
          check.equal(reduce<1>(reduction::argmin, x), Vector<Token, 3>{1, 0, 0});
          check.same_bits(reduce<0>(reduction::variance{3}, matrix<float>({{1.0f, 2.0f}, {1.0f, 3.0f}})), vector({quiet_nan, infinity}));
        }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
