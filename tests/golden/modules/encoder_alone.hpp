// TransformerEncoderLayer, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 0f64c4f4c640096251804b215b3a8801828936a5791f02bc46bbbebcfd746563
// 600 parameters, 2408 bytes.
#pragma once

#include "tinyattn/tensor.hpp"
#include "tinyattn/transformer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace encoder_alone {

inline constexpr tinyattn::BlockConfig config_of_layer = {
    .attention =
        {
            .d_in = 8,
            .d_out = 8,
            .context_length = 5,
            .num_heads = 2,
            .causal = false,
            .qkv_bias = true,
            .out_bias = true,
        },
    .feed_forward =
        {
            .d_model = 8,
            .d_hidden = 16,
            .activation = tinyattn::Activation::relu,
            .gated = false,
            .bias = true,
        },
    .normalization = tinyattn::Normalization::layer,
    .norm_first = false,
};

struct Model {
  using Input = tinyattn::Matrix<float, 5, 8>;
  using Output = tinyattn::Matrix<float, 5, 8>;
  static constexpr std::size_t parameter_count = 600;

  tinyattn::TransformerBlock<config_of_layer> layer;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    tinyattn::TransformerBlock<config_of_layer>::Workspace scratch;
  };

  // Computes what TransformerEncoderLayer.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    layer.forward(x, out, workspace.scratch);  // [5, 8]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 2408 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, layer) == 0 && sizeof(Model::layer) == 2408);

// CRC-32 of encoder_alone.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0xe3b4b2db;

// Where encoder_alone.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  0x1.e3b3a2p+0f, 0x1.0f3e3cp+1f, 0x1.6c1e36p-1f, 0x1.a82dc4p-1f, -0x1.fc36c6p-2f, 0x1.bcf34ap-5f, 0x1.bf1e3ep-3f, -0x1.334dep+0f,
  -0x1.32c3fcp-2f, 0x1.e8a5eep+0f, -0x1.5995f4p-2f, 0x1.2cf9aep-2f, 0x1.a372bp-1f, -0x1.adea66p-1f, -0x1.215a64p+0f, -0x1.e2cc3ap-1f,
  -0x1.198efp-1f, -0x1.4fe414p-4f, 0x1.89117ap+0f, -0x1.77869ap+0f, -0x1.a3e7a8p-1f, 0x1.a8e292p-2f, -0x1.96a3e8p-1f, -0x1.54d488p-1f,
  0x1.a8f5c4p-1f, 0x1.88a342p-1f, 0x1.882f2p-2f, 0x1.0c6d8cp+0f, 0x1.dca93ep+0f, 0x1.0c3302p+0f, 0x1.5fe44cp-2f, -0x1.0f17acp-1f,
  -0x1.0ba60cp-2f, -0x1.f63488p-4f, 0x1.36e6c2p-1f, -0x1.b086e2p-1f, -0x1.5a80a4p+0f, -0x1.85a64ap-1f, -0x1.6f090ep-1f, 0x1.c362c8p+0f}};

inline constexpr Model::Output example_output = {{
  0x1.2a3fd6p+0f, 0x1.c93bccp+0f, -0x1.833a22p-4f, -0x1.4d308ep-6f, -0x1.242356p+0f, -0x1.9aca1ap-1f, 0x1.2de5aap-2f, -0x1.300446p+0f,
  -0x1.de9716p-2f, 0x1.0789a8p+1f, -0x1.83cfdap-1f, 0x1.7a0234p-5f, 0x1.121ff8p+0f, -0x1.4156c6p+0f, -0x1.87037ap-2f, -0x1.41780ap-2f,
  -0x1.24621cp-1f, 0x1.5210e8p-1f, 0x1.b76c76p+0f, -0x1.f8e274p+0f, -0x1.38de12p-2f, 0x1.da60dap-2f, -0x1.b2b16cp-3f, 0x1.c4a0a6p-3f,
  -0x1.9a33c8p-4f, -0x1.5aa1eep-4f, 0x1.2242eap-4f, 0x1.b8d288p-2f, 0x1.e72418p+0f, 0x1.4632dap-3f, -0x1.83094ap-2f, -0x1.0019c8p+1f,
  -0x1.2ea8d2p-2f, -0x1.6f4adp-4f, 0x1.3aa412p-3f, -0x1.6ef24ap-1f, -0x1.4123e8p-1f, -0x1.191eep+0f, 0x1.28725p-2f, 0x1.312be4p+1f}};
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

}  // namespace encoder_alone
