// SPDX-License-Identifier: MIT
//
// Checks of configurations: a static_assert diagnoses what is wrong.
#pragma once

#include "tinyattn/detail/attention_shape.hpp"
#include "tinyattn/detail/layer_checks.hpp"
#include "tinyattn/kernel/activation.hpp"

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE { namespace detail {

template <auto config>
consteval bool check_attention_config() noexcept {
  static_assert(config.num_heads != 0, "num_heads must not be zero");
  static_assert(
      config.head_dim != 0 || config.d_out % (config.num_heads == 0 ? 1 : config.num_heads) == 0,
      "d_out must be divisible by num_heads");
  static_assert(config.head_dim == 0 || config.out_proj,
                "a head_dim needs out_proj, which maps all heads to d_out");
  static_assert(config.num_heads % (config.num_kv_heads == 0 ? 1 : config.num_kv_heads) == 0,
                "num_heads must be divisible by num_kv_heads");
  static_assert(config.rotary <= decltype(config.rotary)::halves,
                "rotary must be Rotary::none, interleaved or halves");
  static_assert(config.rotary == decltype(config.rotary)::none || head_dim<config> % 2 == 0 ||
                    config.rotary_dim != 0,
                "head_dim must be even for rotary positions");
  static_assert(config.rotary_dim % 2 == 0 && config.rotary_dim <= head_dim<config>,
                "rotary_dim must be even, and at most head_dim");
  static_assert(config.rotary == decltype(config.rotary)::none || config.rotary_base != 0,
                "rotary_base must not be zero");
  static_assert(config.cache <= decltype(config.cache)::int8, "cache must be Weights::f32 or int8");
  static_assert(config.window == 0 || config.causal,
                "a window needs causal: a token sees itself and those before it");
  static_assert(config.bias_kv == 0 || (config.window == 0 && !has_int8_cache<config>),
                "a layer with bias_kv has no window, and keys and values of floats");
  static_assert(config.d_in != 0 && config.d_out != 0, "d_in and d_out must not be zero");
  static_assert(config.context_length != 0, "context_length must not be zero");
  static_assert(config.dropout.is_valid(), "dropout must lie in [0, 1]");
  static_assert(config.residual_dropout.is_valid(), "residual_dropout must lie in [0, 1]");
  static_assert(config.dropout.is_as_written() && config.residual_dropout.is_as_written(),
                "-fsingle-precision-constant changes the rate of dropout: compile without it, or "
                "take a rate like 0.125");
  return check_type_of_weights<config.weights>();
}

// Of what has no gradients, no adapters, and is not in the compiled library.
template <auto config>
consteval bool check_heads() noexcept {
  constexpr bool plain = !has_own_heads<config> && config.bias_kv == 0;
  static_assert(plain,
                "a layer with head_dim, rotary_dim, qk_norm or bias_kv is for inference by the "
                "headers: it is not trained, nor in the compiled library");
  return plain;
}
template <auto config>
consteval bool check_plain_block() noexcept {
  static_assert(!config.parallel, "a parallel block is not trained");
  return check_heads<config.attention>() && !config.parallel;
}

template <auto config>
consteval bool check_training() noexcept {
  constexpr bool floats = config.weights == decltype(config.weights)::f32;
  static_assert(floats, "a training pass needs weights of floats: int8 weights are not trained");
  static_assert(config.d_key == 0 && config.d_value == 0,
                "a training pass needs keys and values of d_in features: leave out d_key, d_value");
  return check_heads<config>() && floats;
}

template <auto config>
consteval bool check_feed_forward_config() noexcept {
  static_assert(config.d_model != 0 && config.d_hidden != 0,
                "d_model and d_hidden must not be zero");
  static_assert(static_cast<unsigned>(config.activation) < kernel::num_activations,
                "activation must be an enumerator of Activation");
  return check_type_of_weights<config.weights>();
}

template <auto config>
consteval bool check_block_config() noexcept {
  constexpr bool widths = config.feed_forward.d_model == config.attention.d_in &&
                          config.feed_forward.d_model == config.attention.d_out;
  static_assert(widths, "d_model must equal d_in and d_out");
  static_assert(config.attention.bias_kv == 0, "a layer of a block has no bias_kv");
  static_assert(config.normalization <= decltype(config.normalization)::rms,
                "normalization must be Normalization::layer or rms");
  return widths;
}

template <auto config>
consteval bool check_order_of_parts() noexcept {
  static_assert(config.norm_first || !config.parallel, "a parallel block needs norm_first");
  return check_block_config<config>();
}

template <auto config>
consteval bool check_decoder_config() noexcept {
  constexpr auto cross = config.cross_attention;
  constexpr bool widths = cross.d_in == config.attention.d_in && cross.d_out == cross.d_in;
  static_assert(widths, "d_model must equal d_in and d_out of cross_attention");
  static_assert(cross.d_key == cross.d_value, "a memory has one width, d_key and d_value");
  static_assert(
      !cross.causal && cross.rotary == decltype(cross.rotary)::none,
      "cross_attention is neither causal nor rotary: a token attends to the whole source");
  static_assert(cross.bias_kv == 0, "a layer of a block has no bias_kv");
  return widths && check_block_config<config>();
}

template <auto config>
consteval bool check_language_model_config() noexcept {
  static_assert(config.vocabulary != 0, "vocabulary must not be zero");
  static_assert(config.vocabulary <= 65536,
                "vocabulary must not exceed 65,536, which a Token counts");
  static_assert(config.positions <= decltype(config.positions)::sinusoidal,
                "positions must be Positions::none, learned or sinusoidal");
  static_assert(!config.tied || !config.head_bias, "a tied head has no bias");
  return check_type_of_weights<config.weights>();
}

}}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE::detail
