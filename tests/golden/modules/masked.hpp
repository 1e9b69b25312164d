// Masked, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 51b9f78eac5e3528e8f9d91afb6ef3bba8f0234b1af6a2154a792adee91c4915
// 3192 parameters, 12784 bytes.
#pragma once

#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/transformer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace masked {

inline constexpr tinyattn::TransformerConfig config_of_encoder = {
    .block =
        {
            .attention =
                {
                    .d_in = 12,
                    .d_out = 12,
                    .context_length = 9,
                    .num_heads = 2,
                    .causal = true,
                    .qkv_bias = true,
                    .out_bias = true,
                },
            .feed_forward =
                {
                    .d_model = 12,
                    .d_hidden = 24,
                    .activation = tinyattn::Activation::relu,
                    .gated = false,
                    .bias = true,
                },
            .normalization = tinyattn::Normalization::layer,
            .norm_first = true,
        },
    .num_layers = 2,
    .final_norm = false,
};

inline constexpr tinyattn::AttentionConfig config_of_last = {
    .d_in = 12,
    .d_out = 12,
    .context_length = 9,
    .num_heads = 3,
    .causal = false,
    .qkv_bias = true,
    .out_proj = true,
    .out_bias = true,
};

struct Model {
  using Input = tinyattn::Matrix<float, 9, 12>;
  using Output = tinyattn::Matrix<float, 4, 12>;
  static constexpr std::size_t parameter_count = 3192;

  // clang-format off
  static constexpr tinyattn::BlockMask<9> last_mask{{{
    false, false, false, false, false, false, false, true, true}}};
  // clang-format on

  tinyattn::Transformer<config_of_encoder> encoder;
  tinyattn::MultiHeadAttention<config_of_last> last;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Transformer<config_of_encoder>::Workspace scratch;
      tinyattn::MultiHeadAttention<config_of_last>::Workspace scratch_2;
    };
    tinyattn::Matrix<float, 9, 12> encoder;
    tinyattn::Matrix<float, 9, 12> last;
  };

  // Computes what Masked.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    encoder.forward(x, workspace.encoder, tinyattn::begin_lifetime(workspace.scratch));  // [9, 12]
    last.forward(workspace.encoder, last_mask, workspace.last,
                 tinyattn::begin_lifetime(workspace.scratch_2));          // [9, 12]
    tinyattn::add(workspace.encoder, workspace.last, workspace.encoder);  // [9, 12]
    for (std::size_t i = 0; i < 48; ++i)
      out.elements[i] = workspace.encoder.elements[24 + i];  // [4, 12]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 12784 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, encoder) == 0 && sizeof(Model::encoder) == 10288);
static_assert(offsetof(Model, last) == 10288 && sizeof(Model::last) == 2496);

// CRC-32 of masked.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x7072fa26;

// Where masked.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.7b377ep-2f, -0x1.a8b736p-2f, 0x1.361558p-4f, -0x1.4ebfe4p+0f, 0x1.48b118p-2f, 0x1.7bb28cp+0f, -0x1.0417aep+0f, -0x1.df9ed6p-6f,
  -0x1.b75d44p-1f, 0x1.fe69f6p+0f, -0x1.920282p-2f, 0x1.19f616p+0f, -0x1.545d5p-3f, 0x1.adc0d6p-1f, -0x1.625d54p-1f, 0x1.1f873p+0f,
  0x1.e6b45cp-3f, -0x1.680dc8p-2f, 0x1.80a6a6p+1f, 0x1.27f714p-2f, -0x1.4d59bcp+1f, -0x1.c27fb2p-1f, 0x1.880d8ap-2f, -0x1.215b68p-2f,
  0x1.fa20e6p-3f, -0x1.03f648p-2f, 0x1.0de434p-1f, -0x1.3d765ep-1f, -0x1.b3842cp+0f, -0x1.94a602p-1f, -0x1.077d4p+0f, -0x1.9dc45ap-2f,
  0x1.bd0f8cp-1f, 0x1.545068p-1f, -0x1.388f68p-1f, -0x1.a43592p-2f, -0x1.0e8634p-2f, -0x1.3b42fep+0f, -0x1.2b83f6p+1f, -0x1.1f7862p-8f,
  0x1.2e43a2p-4f, 0x1.fb12f8p-2f, 0x1.b17222p-1f, -0x1.5a657p-1f, 0x1.3242b6p+0f, -0x1.44f474p-1f, -0x1.242c2cp-5f, -0x1.12ac3cp-1f,
  0x1.d04ea2p-4f, -0x1.2621fcp-2f, -0x1.93961cp-3f, -0x1.5e0006p-2f, -0x1.d020c6p+0f, 0x1.5f1896p+0f, 0x1.563fe8p-1f, 0x1.9251cap+1f,
  -0x1.12e95cp+0f, 0x1.39410cp-5f, -0x1.9a940ap-1f, -0x1.2dd37ap-1f, 0x1.395034p-1f, 0x1.b7310ap-2f, -0x1.6c85fep-1f, -0x1.1104d4p+1f,
  -0x1.e4773cp-1f, 0x1.1d177cp-2f, 0x1.06eadcp-4f, -0x1.250ddap+0f, -0x1.10874p-1f, 0x1.163a28p+0f, 0x1.ca1ccap-3f, -0x1.3f919cp-5f,
  0x1.f77bf2p-3f, -0x1.dcd5fp+0f, 0x1.2de7aap-4f, -0x1.5fb1fcp-1f, -0x1.d5118p+0f, -0x1.95d512p-2f, 0x1.2d9136p-1f, 0x1.6ef5cap-1f,
  -0x1.171e54p+0f, 0x1.9c8dp+1f, 0x1.fc2204p-2f, 0x1.210b8cp+0f, -0x1.a62302p+0f, -0x1.cedbcep+0f, -0x1.6dbdf6p-1f, -0x1.2ecf3ep+1f,
  -0x1.542cdep+0f, -0x1.95967ap-4f, -0x1.cdad24p-2f, 0x1.1ebac8p-2f, -0x1.79bdd2p-2f, -0x1.20aaecp+0f, -0x1.3e5f9ap+0f, 0x1.1cab1ap+0f,
  -0x1.d82e62p+0f, 0x1.4f0f5p-1f, -0x1.e57dp+0f, 0x1.859e1cp-1f, -0x1.1ff65ap-5f, -0x1.5e69bep-2f, 0x1.c55914p-1f, 0x1.099db6p+1f,
  0x1.06de54p+0f, -0x1.a7e12cp-1f, 0x1.f93f0ap-2f, -0x1.0e962ep+0f}};

inline constexpr Model::Output example_output = {{
  -0x1.79cfccp-1f, 0x1.64ac1ap-1f, 0x1.0cabeep-4f, -0x1.37ae74p+1f, -0x1.ec312cp+1f, -0x1.1e93acp+1f, -0x1.38338cp-2f, -0x1.0aacdcp-2f,
  0x1.14be5ap+0f, -0x1.6eab5p-5f, 0x1.780ae8p-3f, -0x1.cf8686p-2f, 0x1.32584ap+0f, -0x1.9d2724p-1f, -0x1.1c0158p+1f, -0x1.cefdcap-1f,
  -0x1.0eccfcp+0f, 0x1.11fd4p-4f, -0x1.c4c896p-2f, -0x1.f0379ep-1f, 0x1.bc038cp+0f, -0x1.5c10fap+0f, -0x1.9355ep-1f, -0x1.7e54ep-4f,
  0x1.0b2f68p-1f, -0x1.b417ecp-2f, 0x1.0db4c8p-4f, -0x1.181e0ep-1f, -0x1.57c6c6p+1f, 0x1.a6da2p-3f, 0x1.aa651p-1f, 0x1.5e2598p+1f,
  -0x1.029a8p+0f, -0x1.637f8p-7f, -0x1.94cdb6p-1f, -0x1.e72382p-2f, 0x1.23b8eap+0f, 0x1.8032aep+0f, -0x1.c3d998p-1f, -0x1.69e4p+1f,
  -0x1.76158ep+0f, -0x1.61dce4p+0f, -0x1.e4bb3p-3f, -0x1.0cf62cp+0f, -0x1.af80bp+0f, -0x1.3e81e4p-4f, 0x1.ab4908p-3f, 0x1.9ee272p-2f}};
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

}  // namespace masked
