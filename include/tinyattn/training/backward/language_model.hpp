// SPDX-License-Identifier: MIT
//
// The training passes of a language model, forward and backward: from tokens and targets to the
// loss and the gradients of all parameters.
#pragma once

#include "tinyattn/language_model.hpp"
#include "tinyattn/token.hpp"
#include "tinyattn/training/backward/transformer.hpp"
#include "tinyattn/training/cross_entropy.hpp"
#include "tinyattn/training/kernel/projection.hpp"
#include "tinyattn/training/kernel/row.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// The floats of a row of logits in scratch.
template <class Model>
inline constexpr std::size_t logits_row = kernel::room_of_scores<native_port>(Model::vocabulary);

}  // namespace detail

// All the scratch of the training passes of a language model, with what the forward pass keeps.
template <LanguageModelConfig config>
struct BackwardWorkspace<LanguageModel<config>>
    : detail::BlocksBackwardWorkspace<config.transformer.block, config.transformer.num_layers,
                                      detail::logits_row<LanguageModel<config>>,
                                      LanguageModel<config>::integer_width> {
  // As many rows of logits exist at a time as have room.
  static constexpr std::size_t logits_rows =
      kernel::minimum(BackwardWorkspace::tokens, BackwardWorkspace::scratch_floats /
                                                     detail::logits_row<LanguageModel<config>>);
};

namespace detail {

// Turns `rows` rows of x from features into their gradients, by those of their logits; adds to the
// gradient of the head.
template <class Port, LanguageModelConfig config>
constexpr void head_backward(const LanguageModel<config>& model, auto& gradient, std::size_t rows,
                             kernel::Dense d_logits, kernel::Output x) noexcept {
  constexpr std::size_t d_model = LanguageModel<config>::d_model, vocabulary = config.vocabulary;
  if constexpr (config.tied) {
    if constexpr (requires { gradient.token_embedding; })
      kernel::add_outer_product<Port>({vocabulary,
                                       rows,
                                       d_model,
                                       d_logits,
                                       x,
                                       {gradient.token_embedding.weight.data(), d_model}});
    if constexpr (config.weights == Weights::f32) {
      const kernel::Dense table{model.token_embedding.weight.data(), d_model};
      kernel::matmul<Port>(
          kernel::Product<>{rows, vocabulary, d_model, d_logits, table, nullptr, x});
    } else {
      kernel::project_backward<Port>(rows, d_model, vocabulary, d_logits,
                                     describe(model.token_embedding).weights, x);
    }
  } else {
    if constexpr (requires { gradient.head; })
      kernel::add_projection_gradient<Port>(rows, d_model, vocabulary, x, d_logits,
                                            projection_gradient(gradient.head));
    kernel::project_backward<Port>(rows, d_model, vocabulary, d_logits, describe(model.head).weight,
                                   x);
  }
}

// Runs both passes. d_logits_of(first, rows, x) returns the gradients of the logits of `rows` rows
// from row `first` on, whose features are x.
template <class Port, class Module>
constexpr void train_language_model(const Module& module, TokenView tokens, auto& gradient,
                                    auto& workspace, const auto& generator,
                                    const auto& d_logits_of) noexcept {
  using Model = BaseOf<Module>;
  const Model& model = base_of(module);
  constexpr std::size_t d_model = Model::d_model, most = BackwardWorkspace<Model>::logits_rows;
  const std::size_t count = tokens.size();
  const kernel::Output x = workspace.rows(workspace.d);
  constexpr NoMask mask;
  module.template embed<Port>(tokens.data(), count, 0, x);
  forward_kept<Port>(module.body(), count, mask, workspace, generator);
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t rows = kernel::minimum(most, count - first);
    const kernel::Output features = x.from(first, 0);
    head_backward<Port>(model, gradient, rows, d_logits_of(first, rows, features), features);
  }
  if constexpr (is_no_gradient<decltype(gradient)>)
    backward_kept<Port>(module.body(), gradient, count, mask, workspace, generator);
  else
    backward_kept<Port>(module.body(), gradient.transformer, count, mask, workspace, generator);
  if constexpr (requires { gradient.token_embedding; }) {
    kernel::Output positions{nullptr, d_model};
    if constexpr (Model::has_learned_positions)
      positions.data = gradient.position_embedding.weight.data();
    kernel::embed_backward<Port>({gradient.token_embedding.weight.data(), d_model}, positions,
                                 tokens.data(), count, 0, x);
  }
}

// Runs both passes with the cross-entropy of targets. Returns the mean over those that count, or
// NaN if a token or a target is unknown, or if there are too many; nothing is then changed.
template <class Module>
constexpr float train_on_targets(const Module& module, TokenView tokens, TokenView targets,
                                 auto& gradient, float factor, auto& workspace,
                                 auto&... generator) noexcept {
  using Model = BaseOf<Module>;
  constexpr std::size_t vocabulary = Model::vocabulary;
  const std::size_t count = tokens.size();
  if (count > Model::context_length || targets.size() != count) return __builtin_nanf("");
  const std::uint32_t num_targets = kernel::count_targets(targets.data(), count, vocabulary);
  if (num_targets == kernel::wrong_targets || !kernel::are_known(tokens.data(), count, vocabulary))
    return __builtin_nanf("");
  const auto before = skip_streams<typename Model::Body>(1, nth<0>(generator..., no_generator));
  return on_native_port([&](auto port) TINYATTN_INLINE_LAMBDA {
    using Port = decltype(port);
    using Single = typename Port::one_lane;
    const float share = kernel::share_of_target<Single>(num_targets);
    const float of_gradient = Single::mul(share, factor);
    float loss = 0.0f;
    train_language_model<Port>(
        module, tokens, gradient, workspace, before,
        [&](std::size_t first, std::size_t rows, kernel::Dense x) TINYATTN_INLINE_LAMBDA {
          const kernel::Output logits{workspace.scratch, logits_row<Model>};
          kernel::compute_logits<Port>(module.logits_head(), rows, x, logits,
                                       workspace.integers.parts());
          for (std::size_t i = 0; i < rows; ++i) {
            constexpr bool is_padded = true;
            float* const row = logits.at(i, 0);
            loss = Single::add(loss,
                               kernel::cross_entropy_row<Port, is_padded>(
                                   row, row, vocabulary, targets.data()[first + i], of_gradient));
          }
          return kernel::Dense(logits);
        });
    return num_targets == 0 ? __builtin_nanf("") : Single::mul(loss, share);
  });
}

// --- Forward with dropout ---

// The part of a model's workspace that its blocks take, and the one for the features of all tokens.
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

}  // namespace detail

// The backward pass of a language model for any loss, whose gradient by the logits is
// output_gradient, [T, vocabulary]: runs the forward pass, and adds to the gradients of all
// parameters. Tokens have no gradient: input_gradient is no_gradient. With a Philox4x32, as it
// stood before forward, there is dropout, as in a Transformer. If a token is not below the
// vocabulary, changes nothing and returns unknown_token.
template <LanguageModelConfig config, std::size_t Tokens, tensor_like OutputGradient,
          class Gradient, random_generator... Generator>
requires(config.weights == Weights::f32) constexpr Status
    backward(const LanguageModel<config>& model, const Vector<Token, Tokens>& tokens,
             const OutputGradient& output_gradient, const NoGradient& input_gradient,
             Gradient& gradient, BackwardWorkspace<LanguageModel<config>>& workspace,
             Generator&... generator) noexcept {
  constexpr bool fits = Tokens <= LanguageModel<config>::context_length;
  static_assert(fits, "more tokens than context_length");
  if constexpr (fits && detail::check_backward<LanguageModel<config>, OutputGradient,
                                               Matrix<float, Tokens, config.vocabulary>,
                                               const NoGradient, OutputGradient, Gradient>()) {
    static_cast<void>(input_gradient);
    if (!kernel::are_known(tokens.data(), Tokens, config.vocabulary)) return Status::unknown_token;
    const auto before = detail::skip_streams<typename LanguageModel<config>::Body>(
        1, detail::nth<0>(generator..., detail::no_generator));
    on_native_port([&](auto port) TINYATTN_INLINE_LAMBDA {
      detail::train_language_model<decltype(port)>(
          model, tokens, gradient, workspace, before,
          [&](std::size_t first, std::size_t, kernel::Dense)
              TINYATTN_INLINE_LAMBDA { return detail::input(output_gradient, 0).from(first, 0); });
    });
  }
  return Status::ok;
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
