// SPDX-License-Identifier: MIT
//
// The backward pass of transformers. Of the forward pass, which it runs first, it keeps two inputs
// for each block; everything else is computed again.
#pragma once

#include "tinyattn/training/detail/backward_call.hpp"
#include "tinyattn/training/detail/blocks.hpp"
#include "tinyattn/transformer.hpp"

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// Turns d, the gradient of the output of a transformer's final norm, into that of its input.
template <class Port, TransformerConfig config>
constexpr void final_norm_backward(const Transformer<config>& transformer, auto& gradient,
                                   std::size_t tokens, auto& workspace) noexcept {
  if constexpr (config.final_norm) {
    kernel::NormGradient of_norm;
    if constexpr (requires { gradient.final_norm; }) of_norm = norm_gradient(gradient.final_norm);
    const kernel::Output last = workspace.rows(workspace.input);
    write_input_of_block<Port>(transformer.blocks, config.num_layers, tokens, workspace, last);
    kernel::norm_rows_backward<Port>(describe(transformer.final_norm), of_norm, tokens, last,
                                     workspace.rows(workspace.d), workspace.row);
  }
}
template <class Port, BlockConfig config>
constexpr void final_norm_backward(const TransformerBlock<config>&, auto&, std::size_t,
                                   auto&) noexcept {}

// The two passes of a module over the first `tokens` rows: the first computes d = module(d), the
// second turns d from the gradient of the output into that of the input.
template <class Port>
constexpr void forward_kept(const auto& module, std::size_t tokens, const auto& mask,
                            auto& workspace, const auto& generator) noexcept {
  forward_blocks_kept<Port>(blocks_of(module), tokens, mask, workspace, generator);
  apply_final_norm<Port>(module, tokens, workspace.rows(workspace.d));
}
template <class Port>
constexpr void backward_kept(const auto& module, auto& gradient, std::size_t tokens,
                             const auto& mask, auto& workspace, const auto& generator) noexcept {
  final_norm_backward<Port>(base_of(module), gradient, tokens, workspace);
  blocks_backward<Port>(
      blocks_of(module),
      [&](std::size_t l) TINYATTN_INLINE_LAMBDA {
        if constexpr (requires { gradient.blocks; })
          return block_gradient(gradient.blocks[l]);
        else
          return static_cast<void>(l), block_gradient(gradient);
      },
      tokens, mask, workspace, generator);
}

// The configuration of the blocks of a TransformerBlock or a Transformer, and their number.
template <class Module>
struct BlocksOf {};
template <BlockConfig config>
struct BlocksOf<TransformerBlock<config>> {
  static constexpr BlockConfig block = config;
  static constexpr std::size_t layers = 1;
  static constexpr bool is_trained = config.attention.weights == Weights::f32;
};
template <TransformerConfig config>
struct BlocksOf<Transformer<config>> {
  static constexpr BlockConfig block = config.block;
  static constexpr std::size_t layers = config.num_layers;
  static constexpr bool is_trained = block.attention.weights == Weights::f32;
};
template <class Module>
concept made_of_blocks = requires {
  requires BlocksOf<Module>::is_trained;
};

// The streams that one text takes from the generator of a dropout.
template <class Module>
inline constexpr std::size_t streams_of =
    BlockDropout<MultiHeadAttention<BlocksOf<Module>::block.attention>>::streams*
        BlocksOf<Module>::layers;

// Returns the generator of batch element `index`.
template <class Module>
constexpr NoGenerator generator_of(const NoGenerator& none, std::size_t) noexcept {
  return none;
}
template <class Module>
constexpr Philox4x32 generator_of(const Philox4x32& generator, std::size_t index) noexcept {
  return stream_after(generator, index * streams_of<Module>);
}

// Returns the generator of a pass over `texts` texts as it stands before it; then it stands after
// the streams of the pass.
template <class Module>
constexpr NoGenerator take_streams(std::size_t) noexcept {
  return {};
}
template <class Module, class Generator>
constexpr auto take_streams(std::size_t texts, Generator& generator) noexcept {
  if constexpr (check_replay<Generator>()) {
    const Philox4x32 before = generator;
    generator = stream_after(generator, texts * streams_of<Module>);
    return before;
  } else {
    return NoGenerator{};
  }
}

// The same of a call, which may have a generator.
template <class Module, class Said>
constexpr auto take_streams_of(std::size_t texts, auto&... arguments) noexcept {
  if constexpr (Said::has_generator)
    return take_streams<Module>(texts, nth<Said::generator>(arguments...));
  else
    return take_streams<Module>(texts);
}

// Runs both passes over the first `tokens` rows of every batch element of x.
template <class Module, class TensorX>
constexpr void train_blocks(const Module& module, std::size_t tokens, const TensorX& x,
                            const auto& mask, const auto& output_gradient, auto& input_gradient,
                            auto& gradient, auto& workspace, const auto& generator) noexcept {
  constexpr std::size_t d_model = BlocksOf<Module>::block.feed_forward.d_model;
  on_native_port([&](auto port) TINYATTN_INLINE_LAMBDA {
    using Port = decltype(port);
    const kernel::Output d = workspace.rows(workspace.d);
    for (std::size_t i = 0; i < LayoutOf<TensorX>::batch; ++i) {
      const auto of_element = generator_of<Module>(generator, i);
      kernel::copy_rows<Port>(tokens, d_model, input(x, i), d);
      forward_kept<Port>(module, tokens, mask, workspace, of_element);
      kernel::copy_rows<Port>(tokens, d_model, input(output_gradient, i), d);
      backward_kept<Port>(module, gradient, tokens, mask, workspace, of_element);
      if constexpr (!is_no_gradient<decltype(input_gradient)>)
        kernel::copy_rows<Port>(tokens, d_model, d, output(input_gradient, i));
    }
  });
}

// A static_assert diagnoses wrong types of a call; the caller then computes nothing.
template <class Module, class TensorX, class Mask, class OutputGradient, class InputGradient,
          class Gradient, bool counted_at_run_time = false>
consteval bool check_blocks_backward() noexcept {
  if constexpr (check_layer<BlocksOf<Module>::block.attention, TensorX, TensorX, TensorX,
                            Like<TensorX>, counted_at_run_time>() &&
                check_mask_of<Mask, TensorX, TensorX>())
    return check_backward<Module, OutputGradient, Like<TensorX>, InputGradient, TensorX,
                          Gradient>();
  else
    return false;
}

// Whether the arguments after a module made of blocks are a call of its backward pass.
template <class Module, class... Arguments>
consteval bool is_backward_of_blocks() noexcept {
  using Said = BackwardCall<Arguments...>;
  return is_backward<Module, Arguments...>() && Said::num_inputs == 1 &&
         !(Said::has_counts && Said::has_mask);
}

template <class... Types>
constexpr auto backward_of_blocks(const auto& module, auto&... arguments) noexcept {
  using Said = BackwardCall<Types...>;
  using Module = std::remove_cvref_t<decltype(module)>;
  using TensorX = ArgumentAt<0, Types...>;
  const auto& x = nth<0>(arguments...);
  decltype(auto) mask = mask_of<Said>(arguments...);
  const std::size_t tokens = rows_of<Said, 0, Said::tokens>(arguments...);
  auto& d_x = nth<Said::d_query>(arguments...);
  auto& gradient = nth<Said::gradient>(arguments...);
  auto& workspace = nth<Said::workspace>(arguments...);
  constexpr bool fits =
      check_blocks_backward<Module, TensorX, std::remove_cvref_t<decltype(mask)>,
                            ArgumentAt<Said::d_out, Types...>, decltype(d_x),
                            std::remove_reference_t<decltype(gradient)>, Said::has_counts>();
  const auto run = [&] {
    train_blocks(module, tokens, x, mask, nth<Said::d_out>(arguments...), d_x, gradient, workspace,
                 take_streams_of<Module, Said>(LayoutOf<TensorX>::batch, arguments...));
  };
  if constexpr (Said::has_counts) {
    if constexpr (fits) {
      constexpr std::size_t most = BackwardWorkspace<BaseOf<Module>>::tokens;
      if (tokens > kernel::minimum(most, LayoutOf<TensorX>::rows)) return Status::too_many_tokens;
      run();
    }
    return Status::ok;
  } else if constexpr (fits) {
    run();
  }
}

// The same for a Training, which has the gradient and the workspace: a generator follows them.
template <class Module, class... Arguments>
consteval bool is_backward_by_training() noexcept {
  if constexpr (!made_of_blocks<Module> || sizeof...(Arguments) < 3) {
    return false;
  } else {
    using Gradient = typename Trained<Module>::Gradient;
    using Workspace = BackwardWorkspace<BaseOf<Module>>;
    using Said = Call<1, Arguments...>;
    return []<std::size_t... before>(std::index_sequence<before...>) {
      if constexpr (Said::has_generator)
        return is_backward_of_blocks<Module, WrittenAt<before, Arguments...>..., Gradient&,
                                     Workspace&, WrittenAt<sizeof...(before), Arguments...>>();
      else
        return is_backward_of_blocks<Module, Arguments..., Gradient&, Workspace&>();
    }
    (std::make_index_sequence<sizeof...(Arguments) - (Said::has_generator ? 1 : 0)>{});
  }
}
template <class... Types>
constexpr auto backward_by_training(const auto& module, auto& gradient, auto& workspace,
                                    auto&... arguments) noexcept {
  if constexpr (!Call<1, Types...>::has_generator)
    return backward(module, arguments..., gradient, workspace);
  else
    return [&]<std::size_t... before>(std::index_sequence<before...>) {
      return backward(module, nth<before>(arguments...)..., gradient, workspace,
                      nth<sizeof...(before)>(arguments...));
    }
  (std::make_index_sequence<sizeof...(Types) - 1>{});
}

}  // namespace detail

// All the scratch of the passes of a block, with what the forward pass keeps.
template <BlockConfig config>
struct BackwardWorkspace<TransformerBlock<config>> : detail::BlocksBackwardWorkspace<config, 1> {};
// The same of a transformer.
template <TransformerConfig config>
struct BackwardWorkspace<Transformer<config>>
    : detail::BlocksBackwardWorkspace<config.block, config.num_layers> {};

// The backward pass of a TransformerBlock or a Transformer, which runs the forward pass first: adds
// to the gradients of all parameters, and writes that of x.
//
//   backward(module, x, output_gradient, input_gradient, gradient, workspace)
//
// x and both gradients are [..., tokens, d_model]; input_gradient may be x or output_gradient.
// Either of input_gradient and gradient may be no_gradient. After x there may be the mask of the
// forward pass, or num_tokens: other rows are then neither read nor written; if there are too many,
// changes nothing and returns too_many_tokens, else ok.
//
// With a Philox4x32 after the workspace, as it stood before forward, there is dropout at the rates
// of AttentionConfig. It takes streams for one batch element after the other: in each block for the
// attention weights, the outputs of attention, and those of the feed-forward part.
template <detail::made_of_blocks Module, class... Arguments>
requires(detail::is_backward_of_blocks<Module, Arguments...>()) constexpr auto backward(
    const Module& module, Arguments&&... arguments) noexcept {
  return detail::backward_of_blocks<Arguments...>(module, arguments...);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
