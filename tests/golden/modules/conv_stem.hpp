// ConvStem, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 5eb6c6cf4baf12abff097679fbe1ef89fdacde9792c14b42e59c4ebb6a62823a
// 2943 parameters, 11780 bytes.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/convolution.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/transformer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace conv_stem {

inline constexpr tinyattn::Conv1dConfig config_of_0 = {
    .in = 4,
    .out = 8,
    .kernel = 5,
    .stride = 2,
    .padding = 2,
    .bias = true,
};

inline constexpr tinyattn::Conv1dConfig config_of_3 = {
    .in = 8,
    .out = 16,
    .kernel = 3,
    .stride = 1,
    .padding = 1,
    .bias = true,
};

inline constexpr tinyattn::TransformerConfig config_of_encoder = {
    .block =
        {
            .attention =
                {
                    .d_in = 16,
                    .d_out = 16,
                    .context_length = 15,
                    .num_heads = 4,
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
            .norm_first = false,
        },
    .num_layers = 1,
    .final_norm = false,
};

struct Model {
  struct Stem {
    tinyattn::Conv1d<config_of_0> _0;
    tinyattn::Conv1d<config_of_3> _3;
  };

  struct BatchNorm1d {
    tinyattn::Vector<float, 16> scale;
    tinyattn::Vector<float, 16> shift;
  };

  using Input = tinyattn::Matrix<float, 30, 4>;
  using Output = tinyattn::Vector<float, 7>;
  static constexpr std::size_t parameter_count = 2943;

  Stem stem;
  tinyattn::Transformer<config_of_encoder> encoder;
  tinyattn::Linear<16, 7, true> fc;
  BatchNorm1d bn;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Transformer<config_of_encoder>::Workspace scratch;
      tinyattn::Matrix<float, 15, 8> stem_0;
      tinyattn::Vector<float, 16> mean;
    };
    tinyattn::Matrix<float, 15, 16> stem_3;
  };

  // Computes what ConvStem.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    stem._0.forward(x, tinyattn::begin_lifetime(workspace.stem_0));  // [15, 8]
    tinyattn::relu(workspace.stem_0, workspace.stem_0);              // [15, 8]
    stem._3.forward(workspace.stem_0, workspace.stem_3);             // [15, 16]
    tinyattn::gelu(workspace.stem_3, workspace.stem_3);              // [15, 16]
    encoder.forward(workspace.stem_3, workspace.stem_3,
                    tinyattn::begin_lifetime(workspace.scratch));                // [15, 16]
    tinyattn::mean(workspace.stem_3, tinyattn::begin_lifetime(workspace.mean));  // [16]
    tinyattn::multiply(workspace.mean, bn.scale, workspace.mean);                // [16]
    tinyattn::add(workspace.mean, bn.shift, workspace.mean);                     // [16]
    fc.forward(workspace.mean, out);                                             // [7]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 11780 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, stem) == 0 && sizeof(Model::stem) == 2272);
static_assert(offsetof(Model, encoder) == 2272 && sizeof(Model::encoder) == 8904);
static_assert(offsetof(Model, fc) == 11176 && sizeof(Model::fc) == 476);
static_assert(offsetof(Model, bn) == 11652 && sizeof(Model::bn) == 128);

// CRC-32 of conv_stem.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0xbcb2dcd6;

// Where conv_stem.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.8880dp-6f, 0x1.1cd7fep+1f, -0x1.3995b2p-3f, 0x1.5dee18p-3f, -0x1.1ca266p-1f, -0x1.780596p+0f, 0x1.31c19ep+1f, 0x1.99efbp-1f,
  0x1.8c964p-3f, -0x1.39627cp-1f, -0x1.caa8f4p-4f, -0x1.28f84ep-3f, -0x1.9837aap-1f, 0x1.c2cc4p-1f, 0x1.237448p-5f, 0x1.3a75dcp+0f,
  -0x1.2e9d12p+0f, 0x1.dfed18p-1f, -0x1.0e9de4p+0f, -0x1.10ca7ep+0f, -0x1.44dc7p-3f, -0x1.9f8a26p-1f, -0x1.4f0e7ap-3f, -0x1.3f2f92p+0f,
  0x1.b9faeap-1f, -0x1.be52b2p-2f, -0x1.ed71eep-4f, 0x1.091788p-2f, -0x1.ab9862p-2f, -0x1.8c9af8p+0f, -0x1.201d9ep+0f, 0x1.b727fep-2f,
  0x1.da3762p-4f, 0x1.e737e8p-1f, -0x1.ea0928p-1f, 0x1.2ed764p+0f, 0x1.3bd38cp-1f, -0x1.503a68p+1f, 0x1.81257cp-1f, 0x1.e52896p-1f,
  0x1.7a722ap-2f, 0x1.15677ep-1f, -0x1.04e1f8p+1f, -0x1.21bb46p+1f, 0x1.c3f2bp-1f, 0x1.db0332p-2f, 0x1.47e082p-1f, 0x1.a7481ep-1f,
  0x1.b2cde8p-1f, -0x1.125d1cp-4f, 0x1.0d734ep-1f, -0x1.ebde5p-4f, 0x1.28d07ep+0f, -0x1.02cc1cp+1f, -0x1.b850a4p+0f, -0x1.75dabcp-2f,
  0x1.8fce6p+0f, -0x1.48c836p-1f, 0x1.b4a628p-2f, -0x1.2c7596p+0f, -0x1.a1aa32p+0f, 0x1.50bd7ep+0f, 0x1.490e74p-1f, 0x1.84f136p-3f,
  0x1.28ece2p+0f, -0x1.1b097p+0f, -0x1.57cfdap-1f, 0x1.ae7688p-2f, -0x1.44b1p+0f, -0x1.005e74p-1f, -0x1.4062b4p+0f, 0x1.56fa26p-1f,
  -0x1.74a3a4p+1f, 0x1.9f0a8p+0f, -0x1.3127c4p-1f, 0x1.10a498p-1f, -0x1.2b4f3cp-1f, -0x1.4721e4p-3f, 0x1.93f228p-1f, -0x1.34621cp-1f,
  0x1.def67p-3f, -0x1.352822p-2f, 0x1.3f599cp-1f, 0x1.bf7e0ap-3f, -0x1.3bc644p+0f, 0x1.6d7cbap+0f, -0x1.7b28acp-1f, 0x1.3eb748p-2f,
  -0x1.88414cp-1f, 0x1.00226ep-2f, -0x1.fda1a4p-3f, -0x1.5cd072p-2f, 0x1.11a4f2p-2f, -0x1.4b41eep-4f, 0x1.a090ap-3f, 0x1.c14e2cp-1f,
  0x1.84b86ep+0f, 0x1.424d52p+0f, -0x1.8f6812p-1f, 0x1.6dd7e2p-3f, 0x1.7fed36p-2f, -0x1.ef338ep-2f, -0x1.2a67f8p-1f, 0x1.7288d8p-1f,
  0x1.581326p-3f, 0x1.0c8ceep+0f, -0x1.61d63ap-1f, 0x1.776688p-4f, 0x1.b8693ep-3f, 0x1.be3ddcp-5f, -0x1.4c118p+0f, -0x1.f9293p+0f,
  -0x1.baaac4p-2f, -0x1.0b5e6ap-2f, -0x1.3850b2p-1f, -0x1.b05ce2p-1f, -0x1.36e2bp+0f, 0x1.1d8666p+0f, 0x1.de68acp-1f, -0x1.59d1a6p-1f}};

inline constexpr Model::Output example_output = {{
  -0x1.222b6ap+0f, 0x1.36e744p-4f, -0x1.f3a374p-2f, 0x1.358374p-3f, -0x1.22d116p-2f, 0x1.0769p-3f, 0x1.152884p-3f}};
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

}  // namespace conv_stem
