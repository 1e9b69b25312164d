// Gestures, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 90a26a24380cd5833ad12817e539f7f88d756cf3d89b558ab4819ccdade0569c
// 4943 parameters, 19792 bytes.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/tensor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace gestures {

inline constexpr tinyattn::AttentionConfig config_of_attention = {
    .d_in = 16,
    .d_out = 16,
    .context_length = 17,
    .num_heads = 2,
    .causal = false,
    .qkv_bias = true,
    .out_proj = true,
    .out_bias = true,
};

struct Model {
  struct Mlp {
    tinyattn::Linear<16, 32, true> _0;
    tinyattn::Linear<32, 16, true> _3;
  };

  struct Block {
    tinyattn::LayerNorm<16> norm1;
    tinyattn::MultiHeadAttention<config_of_attention> attention;
    tinyattn::LayerNorm<16> norm2;
    Mlp mlp;
  };

  using Input = tinyattn::Matrix<float, 16, 6>;
  using Output = tinyattn::Vector<float, 3>;
  static constexpr std::size_t parameter_count = 4943;

  tinyattn::Linear<6, 16, true> embed;
  Block blocks[2];
  tinyattn::LayerNorm<16> norm;
  tinyattn::Linear<16, 3, true> head;
  tinyattn::Vector<float, 6> mean;
  tinyattn::Vector<float, 6> inverse_std;
  tinyattn::Vector<float, 16> cls;
  tinyattn::Matrix<float, 17, 16> positions;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::MultiHeadAttention<config_of_attention>::Workspace scratch;
      tinyattn::Matrix<float, 17, 32> mlp_0;
      tinyattn::Matrix<float, 16, 16> embed;
      tinyattn::Vector<float, 16> row;
    };
    union {
      tinyattn::Matrix<float, 17, 16> cat;
      tinyattn::Matrix<float, 16, 6> standardized;
    };
    tinyattn::Matrix<float, 17, 16> norm1;
  };

  // Computes what Gestures.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    tinyattn::standardize(x, mean, inverse_std,
                          tinyattn::begin_lifetime(workspace.standardized));           // [16, 6]
    embed.forward(workspace.standardized, tinyattn::begin_lifetime(workspace.embed));  // [16, 16]
    tinyattn::concat_rows(cls, workspace.embed,
                          tinyattn::begin_lifetime(workspace.cat));  // [17, 16]
    tinyattn::add(workspace.cat, positions, workspace.cat);          // [17, 16]
    for (const Block& block : blocks) {
      block.norm1.forward(workspace.cat, workspace.norm1);  // [17, 16]
      block.attention.forward(workspace.norm1, workspace.norm1,
                              tinyattn::begin_lifetime(workspace.scratch));              // [17, 16]
      tinyattn::add(workspace.cat, workspace.norm1, workspace.cat);                      // [17, 16]
      block.norm2.forward(workspace.cat, workspace.norm1);                               // [17, 16]
      block.mlp._0.forward(workspace.norm1, tinyattn::begin_lifetime(workspace.mlp_0));  // [17, 32]
      tinyattn::gelu(workspace.mlp_0, workspace.mlp_0);                                  // [17, 32]
      block.mlp._3.forward(workspace.mlp_0, workspace.norm1);                            // [17, 16]
      tinyattn::add(workspace.cat, workspace.norm1, workspace.cat);                      // [17, 16]
    }
    norm.forward(workspace.cat, workspace.cat);                                // [17, 16]
    tinyattn::row(workspace.cat, 0, tinyattn::begin_lifetime(workspace.row));  // [16]
    head.forward(workspace.row, out);                                          // [3]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 19792 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, embed) == 0 && sizeof(Model::embed) == 448);
static_assert(offsetof(Model, blocks) == 448 && sizeof(Model::blocks) == 17808);
static_assert(offsetof(Model, norm) == 18256 && sizeof(Model::norm) == 132);
static_assert(offsetof(Model, head) == 18388 && sizeof(Model::head) == 204);
static_assert(offsetof(Model, mean) == 18592 && sizeof(Model::mean) == 24);
static_assert(offsetof(Model, inverse_std) == 18616 && sizeof(Model::inverse_std) == 24);
static_assert(offsetof(Model, cls) == 18640 && sizeof(Model::cls) == 64);
static_assert(offsetof(Model, positions) == 18704 && sizeof(Model::positions) == 1088);

// CRC-32 of gestures.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0xc8db2f04;

// Where gestures.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.04ed94p+1f, 0x1.71a9f4p-6f, 0x1.bb04e6p+0f, 0x1.fab426p-2f, 0x1.e0612ep-2f, -0x1.94281cp-1f, 0x1.2ad6ap-1f, 0x1.a53606p-4f,
  0x1.76d748p+0f, 0x1.6020eep-2f, 0x1.6b40bep-2f, 0x1.f49f5ap-1f, 0x1.0326d6p-1f, -0x1.1ab52ap+0f, 0x1.24c4e8p-1f, -0x1.c74998p-1f,
  0x1.21b558p+0f, 0x1.d56808p-1f, 0x1.40eb28p-1f, 0x1.0aaacep-1f, 0x1.04977ap-1f, 0x1.2caadcp-2f, 0x1.0ea26ap-1f, -0x1.62d34p-1f,
  0x1.b8466p-6f, -0x1.8b82d6p-1f, 0x1.59255ap-7f, 0x1.b730f2p-1f, 0x1.96f9fap+0f, 0x1.0423ep-2f, 0x1.d90788p-3f, -0x1.db5af8p-1f,
  -0x1.299cbap-1f, -0x1.f6de4ap-1f, -0x1.5fbd24p-1f, 0x1.06a362p-4f, -0x1.07b3acp+0f, -0x1.762348p-4f, 0x1.1eb26ap-1f, -0x1.f5908ap+0f,
  -0x1.302476p-1f, -0x1.db0ca6p-3f, 0x1.0c8cb4p-2f, 0x1.06713cp-4f, -0x1.7b2b8ap-5f, 0x1.362422p-1f, -0x1.87c0ecp-3f, 0x1.4990e2p+0f,
  -0x1.014f24p-3f, -0x1.30ef5p+0f, -0x1.75747p+0f, -0x1.c0d28cp-2f, -0x1.4171e6p-9f, -0x1.4bb9c2p-1f, 0x1.f8af8ep-4f, 0x1.b746aap-3f,
  -0x1.505c3ep-5f, 0x1.a40a36p-2f, 0x1.908a8cp-2f, -0x1.f576a4p-1f, 0x1.77ac22p-3f, -0x1.fa4dd4p-2f, 0x1.829b3ep-1f, 0x1.0f09e6p-1f,
  -0x1.872ee8p-6f, 0x1.03f5f2p-4f, -0x1.66832p-1f, 0x1.9485e8p-3f, -0x1.1b44dcp-1f, 0x1.85a006p+0f, -0x1.6c01e2p-1f, 0x1.49ff66p-1f,
  -0x1.64f37p-1f, -0x1.401986p-2f, 0x1.752048p-1f, 0x1.a58decp-2f, -0x1.bd7f4ep-3f, -0x1.c1aaacp-1f, 0x1.b9328ep-5f, -0x1.0852f6p+0f,
  -0x1.9e463p+0f, -0x1.73348cp+1f, 0x1.2872e8p-1f, -0x1.5a92ecp-1f, 0x1.37a4d4p+0f, -0x1.3a7a04p-1f, -0x1.5d444p+1f, 0x1.8db3c4p-1f,
  0x1.3f9e04p-1f, 0x1.c8e5fcp-1f, -0x1.79fa8ep-4f, -0x1.c77c8ep-2f, -0x1.83fabcp-1f, -0x1.d2cbf2p-3f, 0x1.22612cp-1f, 0x1.ae3e52p-7f}};

inline constexpr Model::Output example_output = {{
  -0x1.f52876p-1f, -0x1.7e4a5p-1f, -0x1.2b619p-5f}};
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

}  // namespace gestures
