// SPDX-License-Identifier: MIT
//
// Reductions over tokens: every form of a call, counts, NaN and signed zeros.
#include "tinyattn/pooling.hpp"

#include "catalogue/operations.hpp"
#include "forms.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

static_assert(mean(matrix<float>({{1.0f, 4.0f}, {3.0f, -8.0f}})) == vector<float>({2.0f, -2.0f}));

constexpr Test tests[] = {
    everywhere("in each form",
               [](Check& check) {
                 const auto check_one = [&](auto reduce) {
                   const auto x = drawn<Matrix<float, 5, 17>>(1), other = drawn<Matrix<float, 5, 17>>(2);
                   const auto wide_x = widened(x, 1);
                   const auto expected = reduce(opaque(x));
                   check_output(check, expected, [&](auto& out) { reduce(x, out); });
                   check_output(check, expected, [&](auto& out) { reduce(columns<17>(wide_x, 1), out); });
                   check_output(check, stack(expected, reduce(other)), [&](auto& out) { reduce(stack(x, other), out); });
                 };
                 check_one(call_mean);
                 check_one(call_largest);
               }),
    everywhere("a count of tokens is from 1 to the rows of x; after an error `out` is as it was",
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
    at_run_time("largest: a NaN of either sign wins, and +0 is more than -0",
                [](Check& check) {
                  for (const float value : {quiet_nan, -quiet_nan}) {
                    const auto out = largest(opaque(matrix<float>({{infinity, 0.0f}, {value, -0.0f}, {-infinity, -0.0f}})));
                    check.same_bits(out, vector<float>({quiet_nan, 0.0f}));
                  }
                }),
};

}  // namespace

int main() { return run(tests); }
