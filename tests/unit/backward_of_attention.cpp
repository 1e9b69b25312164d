// SPDX-License-Identifier: MIT
//
// Backward passes of attention, layers, blocks and models: as in plain loops, and as finite differences.
#include "catalogue/gradients_of_attention.hpp"
#include "catalogue/twin.hpp"
#include "catalogue/workloads.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

template <class... Operations>
constexpr void as_in_loops(Check& check) {
  as_in_plain_loops<Gradients<Operations>...>(check);
}

constexpr Test tests[] = {
    at_run_time(
        "attention, as in plain loops",
        as_in_loops<OneHeadGradient<patterned<NoMask>, 5, 7, 3, 4>, OneHeadGradient<patterned<Causal>, 6, 6, 4, 3, 2>,
                    OneHeadGradient<patterned<CausalBottomRight>, 7, 4, 3, 2>, OneHeadGradient<patterned<CausalBottomRight>, 3, 6, 3, 2>,
                    OneHeadGradient<with_a_masked_query<BlockMask<5, 7>>, 5, 7, 3, 4>,
                    OneHeadGradient<patterned<KeepMask<7>>, 5, 7, 3, 4, 2>,
                    OneHeadGradient<with_a_masked_query<AdditiveMask<5, 7>>, 5, 7, 3, 4>>),
    at_run_time(
        "layers, as in plain loops",
        as_in_loops<LayerGradient<one_head, 5>, LayerGradient<wide_heads, 6>, LayerGradient<not_causal, 2, 5>, LayerGradient<causal, 17>,
                    LayerGradient<grouped, 9>, LayerGradient<halves, 5>, LayerGradient<with_window(grouped, 4), 9>,
                    Masked<with_a_masked_query<BlockMask<6, 6>>, LayerGradient<causal, 6>>, OfFirst<3, LayerGradient<grouped, 2, 5>>,
                    OfFirst<0, LayerGradient<causal, 2>>, Dropped<LayerGradient<training, 2, 6>>,
                    MemoryGradient<not_causal, patterned<NoMask>, 5, 7, 2>,
                    MemoryGradient<not_causal, with_a_masked_query<KeepMask<5, 7>>, 5, 7>, CrossGradient<not_causal, 3, 5, 4, 7>,
                    CrossGradient<not_causal, 3, 0, 4, 7>, CrossGradient<grouped, 4, 2, 4, 7>>),
    at_run_time("blocks, as in plain loops",
                as_in_loops<BlockGradient<norm_last, 5>, BlockGradient<rms_first, 2, 9>, BlockGradient<layer_first, 3>>),
    at_run_time("models, as in plain loops",
                as_in_loops<TextGradient<gpt_2, 5>, TextGradient<llama, 7>, LossGradient<gpt_2, 4>, LossGradient<llama, 6>>),
};

}  // namespace

int main() { return run(tests); }
