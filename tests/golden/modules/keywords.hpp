// KeywordTransformer, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: d8f69038bf5313abc916b942b17fa22f270de5b7d1cd8d2f6a99d2a220486c52
// 4965 parameters, 19880 bytes.
#pragma once

#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/transformer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace keywords {

inline constexpr tinyattn::TransformerConfig config_of_encoder = {
    .block =
        {
            .attention =
                {
                    .d_in = 16,
                    .d_out = 16,
                    .context_length = 13,
                    .num_heads = 4,
                    .causal = false,
                    .qkv_bias = true,
                    .out_bias = true,
                },
            .feed_forward =
                {
                    .d_model = 16,
                    .d_hidden = 32,
                    .activation = tinyattn::Activation::gelu,
                    .gated = false,
                    .bias = true,
                },
            .normalization = tinyattn::Normalization::layer,
            .norm_first = false,
        },
    .num_layers = 2,
    .final_norm = false,
};

struct Model {
  struct Head {
    tinyattn::LayerNorm<16> _0;
    tinyattn::Linear<16, 5, true> _1;
  };

  using Input = tinyattn::Matrix<float, 12, 10>;
  using Output = tinyattn::Vector<float, 5>;
  static constexpr std::size_t parameter_count = 4965;

  tinyattn::Linear<10, 16, true> project;
  tinyattn::Transformer<config_of_encoder> encoder;
  Head head;
  tinyattn::Vector<float, 16> cls_token;
  tinyattn::Matrix<float, 13, 16> pos_embedding;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Transformer<config_of_encoder>::Workspace scratch;
      tinyattn::Matrix<float, 12, 16> project;
      tinyattn::Vector<float, 16> row;
    };
    tinyattn::Matrix<float, 13, 16> cat;
  };

  // Computes what KeywordTransformer.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    project.forward(x, tinyattn::begin_lifetime(workspace.project));     // [12, 16]
    tinyattn::concat_rows(cls_token, workspace.project, workspace.cat);  // [13, 16]
    tinyattn::add(workspace.cat, pos_embedding, workspace.cat);          // [13, 16]
    encoder.forward(workspace.cat, workspace.cat,
                    tinyattn::begin_lifetime(workspace.scratch));              // [13, 16]
    tinyattn::row(workspace.cat, 0, tinyattn::begin_lifetime(workspace.row));  // [16]
    head._0.forward(workspace.row, workspace.row);                             // [16]
    head._1.forward(workspace.row, out);                                       // [5]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 19880 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, project) == 0 && sizeof(Model::project) == 704);
static_assert(offsetof(Model, encoder) == 704 && sizeof(Model::encoder) == 17808);
static_assert(offsetof(Model, head) == 18512 && sizeof(Model::head) == 472);
static_assert(offsetof(Model, cls_token) == 18984 && sizeof(Model::cls_token) == 64);
static_assert(offsetof(Model, pos_embedding) == 19048 && sizeof(Model::pos_embedding) == 832);

// CRC-32 of keywords.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0xf404c20a;

// Where keywords.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.cdffacp+0f, -0x1.9b063cp-8f, 0x1.2ae2d4p+0f, 0x1.3d9b14p-1f, -0x1.976a76p-2f, -0x1.d2e9aep-6f, -0x1.4bd90ep+0f, -0x1.319de6p-1f,
  0x1.1f318p+0f, -0x1.674f7ap+0f, -0x1.a71792p-1f, 0x1.e1a232p-2f, -0x1.44a24ep-1f, -0x1.bc0d9cp-1f, 0x1.400c2ep+0f, 0x1.a5b39ep+0f,
  0x1.00545cp-11f, 0x1.2fcf3ap+1f, -0x1.4ade5p+0f, -0x1.e43adcp-4f, -0x1.9c27bcp-1f, 0x1.698ccap-2f, -0x1.0fbf84p-2f, 0x1.609864p+0f,
  -0x1.ffa74p-2f, 0x1.1a5f8p-2f, -0x1.d9dcccp+0f, -0x1.0fdb36p-2f, -0x1.4282f4p-1f, -0x1.069a0ap-1f, 0x1.405cfep-1f, 0x1.bc4d18p+0f,
  0x1.ec29fep-3f, 0x1.7d9ad8p-1f, 0x1.cfc318p+0f, 0x1.018692p+0f, 0x1.4e46d8p-1f, 0x1.04f67ep-3f, 0x1.924e36p-3f, 0x1.90c7d2p-2f,
  -0x1.806ap+0f, 0x1.10b9aap-2f, 0x1.d5c6d2p-1f, -0x1.4aefd6p-1f, 0x1.188242p+0f, 0x1.ed0ed6p+0f, 0x1.c23cd4p-1f, -0x1.0a7562p+0f,
  0x1.5c5084p+0f, -0x1.014994p+0f, -0x1.904454p-4f, -0x1.f709aap-3f, -0x1.bfd556p-2f, 0x1.4fda6cp+1f, 0x1.4aee56p-1f, -0x1.bfc23p-1f,
  -0x1.b00cb8p+0f, -0x1.fab756p+0f, 0x1.b5a5acp+0f, -0x1.275436p+0f, -0x1.8f5968p-1f, -0x1.ded304p-1f, -0x1.aa573cp-1f, -0x1.8564fcp-1f,
  0x1.b72898p-1f, -0x1.65e8b2p+0f, -0x1.850dc4p-2f, -0x1.2d142ap+1f, 0x1.087de8p+0f, -0x1.77010cp-3f, 0x1.75576p+0f, -0x1.ce3d92p-4f,
  0x1.d15e66p-1f, 0x1.052916p-2f, -0x1.923d14p-1f, -0x1.a11f98p+0f, 0x1.740388p-1f, 0x1.05768ep+0f, 0x1.fb46bep-3f, 0x1.aa0a96p+0f,
  -0x1.9b1ce2p-4f, -0x1.9dc24p-5f, 0x1.51cc46p-2f, -0x1.77fd08p-1f, 0x1.85adfep+1f, 0x1.30a2dep-5f, 0x1.53c70cp-1f, -0x1.d3d5eap+0f,
  0x1.b2d5eap+0f, -0x1.77ff34p-1f, 0x1.5dee42p+0f, -0x1.9fd23ap-3f, 0x1.1f3b06p+0f, -0x1.0a6018p-1f, 0x1.151e9ap-1f, 0x1.778de2p-1f,
  0x1.f18b26p-1f, -0x1.3c7f9p-3f, 0x1.1774bcp+0f, -0x1.54f96ap+1f, -0x1.054d1ep-3f, -0x1.5a6632p-5f, 0x1.d264bcp-1f, -0x1.539a62p-1f,
  -0x1.17d3aep+1f, -0x1.b97a32p-2f, 0x1.edd3b8p-1f, -0x1.415102p-2f, 0x1.6f410cp-1f, 0x1.66f72ep-1f, -0x1.ff7526p-5f, -0x1.155d7p+0f,
  -0x1.4770bp-3f, -0x1.68801ap+0f, 0x1.113cb8p-1f, 0x1.f6a612p-2f, -0x1.4a7854p-2f, 0x1.4b8c4cp-4f, 0x1.3eba8p-3f, 0x1.01eeaep-2f}};

inline constexpr Model::Output example_output = {{
  0x1.6181ep-4f, -0x1.854c2ep-3f, -0x1.c11f36p-2f, 0x1.b35b2ap-2f, -0x1.b464a2p-3f}};
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

}  // namespace keywords
