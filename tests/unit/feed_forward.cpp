// SPDX-License-Identifier: MIT
//
// The feed-forward part of a block: an up projection, an activation or a gate, a down projection.
#include "catalogue/models.hpp"
#include "catalogue/operations.hpp"
#include "catalogue/twin.hpp"
#include "catalogue/workloads.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <Activation activation, bool gated, bool bias>
using Layer = FeedForward<FeedForwardConfig{.d_model = 5, .d_hidden = 7, .activation = activation, .gated = gated, .bias = bias}>;

using Plain = Layer<Activation::gelu, false, true>;
using Gated = Layer<Activation::silu, true, false>;
static_assert(Plain::parameter_count == 5 * 7 + 7 + 7 * 5 + 5 && Gated::parameter_count == 3 * 5 * 7);
static_assert(sizeof(Plain) == Plain::parameter_count * sizeof(float) && sizeof(Gated) == Gated::parameter_count * sizeof(float));
static_assert(FeedForwardConfig{.d_model = 1, .d_hidden = 1}.activation == Activation::gelu);

template <bool gated>
constexpr void with_each_activation(Check& check) {
  for_each_activation([&]<Activation activation>(const char*) { as_in_plain_loops<Forms<Layer<activation, gated, true>, 3, 5>>(check); });
}

constexpr Test tests[] = {
    everywhere("each activation, in every form of a call", with_each_activation<false>),
    everywhere("the same after a gate", with_each_activation<true>),
    at_run_time("rows around those that are computed at a time, with a gate and without",
                as_in_plain_loops<Forms<Plain, 1, 5>, Forms<Plain, 15, 5>, Forms<Plain, 17, 5>, Forms<Gated, 2, 5>, Forms<Gated, 16, 5>,
                                  Forms<Gated, 33, 5>>),
    at_run_time("weights of int8, in every form of a call",
                as_in_plain_loops<Forms<FeedForward<in_int8(gelu_part)>, 17, 12>, Forms<FeedForward<in_int8(gated_part)>, 2, 12>>),
};

}  // namespace

int main() { return run(tests); }
