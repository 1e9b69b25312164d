// Perceiver, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 19ceeea85a1c38d4b59427697d216aeb7549460db100d8b67ccdc420198ed482
// 3570 parameters, 14292 bytes.
#pragma once

#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/transformer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace perceiver {

inline constexpr tinyattn::AttentionConfig config_of_cross = {
    .d_in = 16,
    .d_out = 16,
    .context_length = 20,
    .num_heads = 2,
    .causal = false,
    .qkv_bias = true,
    .out_proj = true,
    .out_bias = true,
};

inline constexpr tinyattn::BlockConfig config_of_self_attention = {
    .attention =
        {
            .d_in = 16,
            .d_out = 16,
            .context_length = 4,
            .num_heads = 2,
            .causal = false,
            .qkv_bias = true,
            .out_bias = true,
        },
    .feed_forward =
        {
            .d_model = 16,
            .d_hidden = 32,
            .activation = tinyattn::Activation::relu,
            .gated = false,
            .bias = true,
        },
    .normalization = tinyattn::Normalization::layer,
    .norm_first = true,
};

struct Model {
  using Input = tinyattn::Matrix<float, 20, 3>;
  using Output = tinyattn::Vector<float, 2>;
  static constexpr std::size_t parameter_count = 3570;

  tinyattn::Linear<3, 16, true> input;
  tinyattn::MultiHeadAttention<config_of_cross> cross;
  tinyattn::LayerNorm<16> norm;
  tinyattn::TransformerBlock<config_of_self_attention> self_attention;
  tinyattn::Linear<16, 2, true> out_;
  tinyattn::Matrix<float, 4, 16> latents;
  tinyattn::Matrix<float, 4, 16> latents_2;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::MultiHeadAttention<config_of_cross>::Workspace scratch;
      tinyattn::TransformerBlock<config_of_self_attention>::Workspace scratch_2;
      tinyattn::Vector<float, 16> amax;
    };
    tinyattn::Matrix<float, 20, 16> input;
    tinyattn::Matrix<float, 4, 16> cross;
  };

  // Computes what Perceiver.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    input.forward(x, workspace.input);  // [20, 16]
    cross.forward(latents, workspace.input, workspace.input, workspace.cross,
                  tinyattn::begin_lifetime(workspace.scratch));  // [4, 16]
    tinyattn::add(workspace.cross, latents_2, workspace.cross);  // [4, 16]
    norm.forward(workspace.cross, workspace.cross);              // [4, 16]
    self_attention.forward(workspace.cross, workspace.cross,
                           tinyattn::begin_lifetime(workspace.scratch_2));         // [4, 16]
    tinyattn::largest(workspace.cross, tinyattn::begin_lifetime(workspace.amax));  // [16]
    out_.forward(workspace.amax, out);                                             // [2]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 14292 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, input) == 0 && sizeof(Model::input) == 256);
static_assert(offsetof(Model, cross) == 256 && sizeof(Model::cross) == 4352);
static_assert(offsetof(Model, norm) == 4608 && sizeof(Model::norm) == 132);
static_assert(offsetof(Model, self_attention) == 4740 && sizeof(Model::self_attention) == 8904);
static_assert(offsetof(Model, out_) == 13644 && sizeof(Model::out_) == 136);
static_assert(offsetof(Model, latents) == 13780 && sizeof(Model::latents) == 256);
static_assert(offsetof(Model, latents_2) == 14036 && sizeof(Model::latents_2) == 256);

// CRC-32 of perceiver.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x5577eb9e;

// Where perceiver.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  0x1.0ceffp-1f, -0x1.e8cbe8p-2f, -0x1.09355ap-4f, -0x1.11e828p-2f, -0x1.e1113ap-2f, -0x1.48e25ep-1f, -0x1.80276ap+0f, -0x1.f90572p-2f,
  0x1.d0f698p-2f, -0x1.9aaa6p-2f, -0x1.334db2p+0f, 0x1.248c6cp+0f, -0x1.15050ep-3f, 0x1.7864b6p-1f, 0x1.ff9ffp+0f, 0x1.b52784p-1f,
  -0x1.02b812p-2f, 0x1.7f8b42p+0f, 0x1.7090b8p+0f, 0x1.ec8c32p-2f, -0x1.931202p-1f, -0x1.46ade8p+0f, 0x1.89da1cp+0f, 0x1.73d1aep-1f,
  -0x1.1ef652p-7f, 0x1.d86fbp-1f, 0x1.a5d15cp+0f, -0x1.e242c6p-2f, 0x1.bd0496p-1f, -0x1.6afd8ep-2f, -0x1.4517fap+0f, 0x1.ccd58p+0f,
  0x1.19cef2p-1f, -0x1.0429fep+1f, 0x1.8b2aa6p-2f, 0x1.3fad88p+0f, 0x1.7738p-1f, -0x1.d48066p-3f, 0x1.ebf77ap-2f, 0x1.55620ep-2f,
  0x1.e76b8ep-1f, 0x1.9b1b02p-2f, 0x1.049c28p-3f, -0x1.596026p-3f, -0x1.06c56cp+0f, 0x1.2699d2p+1f, -0x1.c99354p-5f, 0x1.fdb0fap-2f,
  0x1.b3e01ep-3f, 0x1.f37bfep-5f, 0x1.e9837ap-2f, 0x1.13c7e8p+0f, 0x1.1a6c9ep-1f, -0x1.756c72p+0f, 0x1.0242d2p-3f, -0x1.32f6e6p-1f,
  0x1.5c85b6p+0f, -0x1.9f6f46p+0f, -0x1.077c66p-2f, -0x1.77ec2p-1f}};

inline constexpr Model::Output example_output = {{
  -0x1.b327fp-6f, 0x1.c4517p+0f}};
// clang-format on

// Returns the largest difference of what the model computes of example_input from what PyTorch
// computed; NaN if an output is not a number.
inline float example_error(const Model& model, Model::Workspace& workspace) noexcept {
  static Model::Output out;
  model.forward(example_input, out, workspace);
  float largest = 0.0f;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float difference = out.elements[i] - example_output.elements[i];
    const float error = difference < 0.0f ? -difference : difference;
    if (!(error <= largest)) largest = error;
    if (largest != largest) break;
  }
  return largest;
}

}  // namespace perceiver
