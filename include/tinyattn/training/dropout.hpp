// SPDX-License-Identifier: MIT
//
// The training passes of blocks and models: forward with dropout, which a backward pass replays.
// forward of the modules calls what is here.
#pragma once

#include "tinyattn/training/backward/language_model.hpp"
#include "tinyattn/training/backward/transformer.hpp"

#include <cstddef>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

// The part for blocks of the workspace of a model, and the features of all tokens.
TINYATTN_ALWAYS_INLINE constexpr auto& part_for_blocks(auto& workspace) noexcept {
  if constexpr (requires { workspace.transformer; })
    return workspace.transformer;
  else
    return workspace;
}
TINYATTN_ALWAYS_INLINE constexpr kernel::Output features_of(auto& workspace) noexcept {
  if constexpr (requires { workspace.features; })
    return {workspace.features.data(), part_for_blocks(workspace).d_model};
  else
    return workspace.rows(workspace.d);
}

// A static_assert diagnoses int8 weights, which are not trained, a workspace that is not the
// module's, and a generator that cannot be replayed.
template <class Module, class Blocks, class Workspace, class Generator>
consteval bool check_forward_with_dropout() noexcept {
  using OfTraining = BackwardWorkspace<BaseOf<Module>>;
  constexpr bool fits = std::is_base_of_v<typename Module::Workspace, Workspace> ||
                        std::is_base_of_v<OfTraining, Workspace>;
  static_assert(fits,
                "a training pass takes the Workspace of the module, or its BackwardWorkspace");
  if constexpr (made_of_blocks<Blocks>)
    return check_replay<Generator>() && fits;
  else
    return check_training<config_of_blocks<Blocks>.attention>();
}

// Computes x = module(x) for the first `tokens` rows.
template <class Port, class Module>
constexpr void forward_dropped(const Module& module, std::size_t tokens, kernel::Output x,
                               const auto& mask, const auto& scratch,
                               const Philox4x32& generator) noexcept {
  constexpr AttentionConfig attention = config_of_blocks<Module>.attention;
  for (std::size_t l = 0; l < Module::num_blocks; ++l)
    kernel::forward_block_kept<Port>(
        describe(blocks_of(module)[l]), scratch, tokens, x,
        {kernel::KeepsNothing{}, kernel::KeepsNothing{}},
        with_mask_of<attention>(kernel_mask(mask, tokens, tokens)),
        dropout_of_block<MultiHeadAttention<attention>>(generator, l, tokens));
  apply_final_norm<Port>(module, tokens, x);
}

// The same for every batch element, from x to `out`.
template <class Module, class TensorX>
constexpr void forward_dropped_rows(const Module& module, std::size_t tokens, const TensorX& x,
                                    const auto& mask, auto& out, auto& workspace,
                                    auto& generator) noexcept {
  const Philox4x32 before = skip_streams<Module>(LayoutOf<TensorX>::batch, generator);
  on_native_port([&](auto port) {
    using Port = decltype(port);
    for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i) {
      const kernel::Output rows = output(out, i);
      copy_features<Port>(tokens, config_of_blocks<Module>.feed_forward.d_model, input(x, i), rows);
      forward_dropped<Port>(module, tokens, rows, mask, workspace.parts(),
                            stream_after(before, i * streams_of<Module>));
    }
  });
}

// Of a TransformerBlock or a Transformer: of all rows, with a mask, or of the first num_tokens.
template <class Module, class TensorX, class MaskOrCount, class Out, class Workspace,
          class Generator>
constexpr auto forward_with_dropout(WithDropout, const Module& module, const TensorX& x,
                                    const MaskOrCount& mask_or_count, Out& out,
                                    Workspace& workspace, Generator& generator) noexcept {
  constexpr bool has_count = std::is_convertible_v<MaskOrCount, std::size_t>;
  using Mask = std::conditional_t<has_count, NoMask, MaskOrCount>;
  if constexpr (check_forward_with_dropout<Module, Module, Workspace, Generator>())
    if constexpr (check_layer<config_of_blocks<Module>.attention, TensorX, TensorX, TensorX, Out,
                              has_count>() &&
                  check_mask_of<Mask, TensorX, TensorX>()) {
      constexpr std::size_t rows = LayoutOf<TensorX>::rows;
      if constexpr (has_count) {
        const auto num_tokens = static_cast<std::size_t>(mask_or_count);
        if (num_tokens > kernel::minimum(BackwardWorkspace<BaseOf<Module>>::tokens, rows))
          return Status::too_many_tokens;
        forward_dropped_rows(module, num_tokens, x, NoMask{}, out, workspace, generator);
      } else {
        forward_dropped_rows(module, rows, x, mask_or_count, out, workspace, generator);
      }
    }
  if constexpr (has_count) return Status::ok;
}

// Of a LanguageModel.
template <class Module, std::size_t Tokens, class Logits, class Workspace, class Generator>
constexpr Status forward_with_dropout(WithDropout, const Module& module,
                                      const Vector<Token, Tokens>& tokens, Logits& logits,
                                      Workspace& workspace, Generator& generator) noexcept {
  using Model = BaseOf<Module>;
  using Body = std::remove_cvref_t<decltype(module.body())>;
  constexpr bool fits = Tokens <= Model::context_length;
  static_assert(fits, "more tokens than context_length");
  if constexpr (fits && check_forward_with_dropout<Module, Body, Workspace, Generator>())
    if constexpr (check_logits<Model::vocabulary, Tokens, Logits>()) {
      if (!kernel::are_known(tokens.data(), Tokens, Model::vocabulary))
        return Status::unknown_token;
      const Philox4x32 before = skip_streams<Body>(1, generator);
      on_native_port([&](auto port) {
        using Port = decltype(port);
        const kernel::Output x = features_of(workspace);
        auto& of_blocks = part_for_blocks(workspace);
        module.template embed<Port>(tokens.data(), Tokens, 0, x);
        forward_dropped<Port>(module.body(), Tokens, x, NoMask{}, of_blocks.parts(), before);
        kernel::compute_logits<Port>(module.logits_head(), Tokens, x, output(logits, 0),
                                     of_blocks.integers.parts());
      });
    }
  return Status::ok;
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail

TINYATTN_END
