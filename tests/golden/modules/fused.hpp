// FusedAttention, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 93729005386e9507cf1e6c07f1a63215878e8691bedc62ad5ae7379d4b77ccf1
// 1088 parameters, 4352 bytes.
#pragma once

#include "tinyattn/arithmetic.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/tensor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace fused {

struct Model {
  using Input = tinyattn::Matrix<float, 10, 16>;
  using Output = tinyattn::Matrix<float, 10, 16>;
  static constexpr std::size_t parameter_count = 1088;

  // clang-format off
  static constexpr tinyattn::BlockMask<10> scaled_dot_product_attention_mask{{{
    false, false, false, false, false, false, false, true, true, true}}};
  // clang-format on

  tinyattn::Linear<16, 48, true> qkv;
  tinyattn::Linear<16, 16, true> proj;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    tinyattn::Matrix<float, 10, 48> qkv;
    tinyattn::Matrix<float, 10, 16> scaled_dot_product_attention;
    tinyattn::Matrix<float, 10, 16> scaled_dot_product_attention_2;
  };

  // Computes what FusedAttention.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    qkv.forward(x, workspace.qkv);  // [10, 48]
    for (std::size_t i = 0; i < 4; ++i) {
      const auto query_of_head =
          tinyattn::MatrixView<float, 10, 4, 48>{workspace.qkv.data() + 4 * i};
      const auto key_of_head =
          tinyattn::MatrixView<float, 10, 4, 48>{workspace.qkv.data() + 16 + 4 * i};
      const auto value_of_head =
          tinyattn::MatrixView<float, 10, 4, 48>{workspace.qkv.data() + 32 + 4 * i};
      auto context_of_head = tinyattn::columns<4>(workspace.scaled_dot_product_attention, 4 * i);
      tinyattn::scaled_dot_product_attention(query_of_head, key_of_head, value_of_head,
                                             tinyattn::Causal{}, context_of_head);
    }  // [10, 16]
    for (std::size_t i = 0; i < 4; ++i) {
      const auto query_of_head =
          tinyattn::MatrixView<float, 10, 4, 48>{workspace.qkv.data() + 4 * i};
      const auto key_of_head =
          tinyattn::MatrixView<float, 10, 4, 48>{workspace.qkv.data() + 16 + 4 * i};
      const auto value_of_head =
          tinyattn::MatrixView<float, 10, 4, 48>{workspace.qkv.data() + 32 + 4 * i};
      auto context_of_head = tinyattn::columns<4>(workspace.scaled_dot_product_attention_2, 4 * i);
      tinyattn::scaled_dot_product_attention(query_of_head, key_of_head, value_of_head,
                                             scaled_dot_product_attention_mask, context_of_head);
    }  // [10, 16]
    tinyattn::add(workspace.scaled_dot_product_attention, workspace.scaled_dot_product_attention_2,
                  workspace.scaled_dot_product_attention);      // [10, 16]
    proj.forward(workspace.scaled_dot_product_attention, out);  // [10, 16]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 4352 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, qkv) == 0 && sizeof(Model::qkv) == 3264);
static_assert(offsetof(Model, proj) == 3264 && sizeof(Model::proj) == 1088);

// CRC-32 of fused.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x1d565046;

// Where fused.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.ce6a3p-7f, 0x1.c1c786p-1f, 0x1.75b706p-1f, -0x1.a166d4p-3f, 0x1.41c5b2p-2f, -0x1.2e834cp-3f, -0x1.2a6c26p-2f, -0x1.75d632p-3f,
  -0x1.a34d1ep-2f, -0x1.33afd6p-1f, -0x1.f6938cp-2f, 0x1.4b545p+0f, 0x1.6415fcp+0f, 0x1.2443ap-1f, -0x1.9cb536p-1f, 0x1.2acd1p-2f,
  0x1.8f166ap-2f, 0x1.e8186p-1f, -0x1.78a26ep-1f, 0x1.7eb028p+0f, 0x1.4f07bep-5f, -0x1.14e73p-2f, -0x1.047ca8p-1f, -0x1.b11afp-1f,
  0x1.511574p-2f, -0x1.a3db08p+0f, -0x1.4ea284p-3f, -0x1.11c0a4p+1f, -0x1.edaa02p-4f, 0x1.d581c8p-3f, -0x1.d1783cp-3f, -0x1.110bd2p-1f,
  0x1.75a8bep-4f, -0x1.b3143p-1f, -0x1.589dd4p-1f, 0x1.a45236p-2f, -0x1.73df62p+0f, 0x1.27d3e8p-5f, -0x1.1692dcp-5f, 0x1.d2f43ep+0f,
  -0x1.4b3d5ap-1f, -0x1.eab678p-4f, 0x1.2d6852p-1f, -0x1.faa994p-2f, 0x1.7b51b2p-1f, -0x1.e549a4p-4f, -0x1.d57f4cp+0f, -0x1.93a5c6p-2f,
  0x1.09438ep-1f, -0x1.bd640ap-6f, 0x1.bcd66cp-1f, 0x1.167ad2p-4f, -0x1.3f1dccp-2f, 0x1.7f568ap-6f, -0x1.82e5e4p-1f, -0x1.275f8ap-1f,
  -0x1.d28546p-2f, -0x1.c138b4p+0f, -0x1.041606p-1f, 0x1.84aaf2p-1f, -0x1.1e9698p-2f, 0x1.582696p-1f, -0x1.21ab48p-1f, -0x1.5732d4p-3f,
  0x1.6c7084p+0f, -0x1.1bd724p-1f, 0x1.4aa6eap-2f, 0x1.19af32p-1f, 0x1.204d36p-4f, -0x1.03f4bep+0f, 0x1.860dacp-2f, -0x1.46e28p-5f,
  0x1.ff197ep-2f, 0x1.1498ecp-1f, 0x1.024d8cp-1f, -0x1.46f54cp-4f, -0x1.621d3p-1f, -0x1.2ae79p+0f, -0x1.8e0ac2p-2f, 0x1.7f9cap+0f,
  -0x1.0721bp+0f, 0x1.a20c5ap-2f, 0x1.978846p-2f, -0x1.4f2bacp-5f, 0x1.37da18p-1f, 0x1.a2f7d2p-4f, -0x1.dd0b0cp-2f, 0x1.d4aec8p-1f,
  0x1.03c526p+0f, -0x1.0e35bep-1f, 0x1.d984dap-2f, -0x1.a11c14p-2f, 0x1.9ead94p+0f, 0x1.259312p+0f, -0x1.33ac08p-1f, -0x1.5052fcp-11f,
  0x1.833c9ep-2f, -0x1.d68eep-2f, -0x1.2be0f2p-1f, -0x1.1d6bf2p+1f, 0x1.3224cp-1f, -0x1.3d33c2p+0f, 0x1.b7fa5ap+0f, 0x1.d24e22p-2f,
  -0x1.26f976p+0f, 0x1.4a6392p+0f, -0x1.1a9a8cp-2f, -0x1.cfc6bep-1f, 0x1.1e1af2p-1f, -0x1.484192p+0f, -0x1.255e1ap-5f, 0x1.ecbc4ap-2f,
  -0x1.2ad604p-1f, -0x1.ee6354p-1f, -0x1.ae5ea2p-2f, 0x1.bd79fap-2f, 0x1.44b65cp-1f, -0x1.99c736p+0f, -0x1.84d7f8p-1f, 0x1.6e47e2p+1f,
  -0x1.00a938p-1f, -0x1.84dde4p-3f, -0x1.2da7a6p-2f, -0x1.2e5114p+0f, 0x1.45bf94p+0f, 0x1.61c6b2p-3f, 0x1.35cc9ep+1f, -0x1.5f13e4p-1f,
  0x1.a9b626p+0f, -0x1.6eb51ap+0f, 0x1.412e06p-1f, 0x1.c65f6cp-3f, 0x1.1eacep-1f, 0x1.e6a0eep-2f, 0x1.c38c3cp-1f, -0x1.c9e0b2p-3f,
  -0x1.273646p+0f, 0x1.0787a8p-2f, 0x1.770754p-2f, -0x1.785144p-3f, 0x1.605dc8p-1f, -0x1.66741ep-2f, -0x1.c361a2p-3f, -0x1.91897ap+0f,
  -0x1.986622p-1f, 0x1.25cb06p+0f, 0x1.df1014p-1f, 0x1.43ec06p-2f, -0x1.75ed1cp-3f, -0x1.c3261ep-2f, 0x1.00f54ap-1f, -0x1.8588ap-1f,
  0x1.dab6bcp+0f, -0x1.43f85cp+0f, -0x1.347ea2p+0f, 0x1.2edf7ap-1f, 0x1.6f61cap-1f, -0x1.6884dap-2f, -0x1.9899e6p-1f, 0x1.dc8134p-2f}};

inline constexpr Model::Output example_output = {{
  -0x1.cf74b8p-3f, -0x1.37f056p-2f, 0x1.0261bcp-2f, -0x1.2f42a2p-3f, 0x1.394e88p-2f, 0x1.467334p-1f, 0x1.3bc718p-1f, 0x1.bcab5p-3f,
  0x1.77a7fap-2f, 0x1.faff7p-5f, 0x1.f2eb9p-2f, -0x1.7f3c18p-1f, -0x1.5a9a5ep-1f, -0x1.30c99cp-1f, -0x1.66d62p-5f, -0x1.33650cp-3f,
  -0x1.5c06fp-3f, -0x1.878bfp-4f, 0x1.499ba8p-3f, -0x1.10174cp-3f, 0x1.41f2b8p-2f, 0x1.171ca4p-1f, 0x1.89ce34p-2f, 0x1.b94d82p-3f,
  0x1.8d5d78p-3f, 0x1.517784p-3f, 0x1.ee028ep-2f, -0x1.602e54p-1f, -0x1.50c38ep-1f, -0x1.05670ep-1f, -0x1.b07678p-4f, -0x1.37ddd8p-3f,
  -0x1.28f3c8p-3f, -0x1.25898p-7f, 0x1.951898p-3f, -0x1.63a3dap-3f, 0x1.6dcaeep-2f, 0x1.6efb3cp-2f, 0x1.b146fcp-3f, 0x1.317422p-3f,
  0x1.b08792p-4f, 0x1.eabebp-5f, 0x1.c94e5p-2f, -0x1.14cf58p-1f, -0x1.3b588ep-1f, -0x1.0afa7ap-1f, -0x1.496dp-3f, -0x1.78692p-4f,
  -0x1.54064p-3f, -0x1.b71e6p-5f, 0x1.2166a2p-2f, -0x1.171866p-3f, 0x1.96ecf4p-2f, 0x1.479e78p-2f, 0x1.c53b0cp-3f, 0x1.e5a37cp-4f,
  0x1.0ebc24p-3f, 0x1.a88758p-5f, 0x1.910eb6p-2f, -0x1.3e505cp-1f, -0x1.46d088p-1f, -0x1.0222bcp-1f, -0x1.bc83d8p-4f, -0x1.12524p-3f,
  -0x1.85c7e8p-4f, 0x1.a39p-5f, 0x1.97735p-3f, -0x1.733cdcp-4f, 0x1.77126p-2f, 0x1.1ec5fep-2f, 0x1.52cc4ap-3f, 0x1.79fde2p-3f,
  0x1.17e0f6p-3f, 0x1.14261p-5f, 0x1.7ef7c6p-2f, -0x1.f3de82p-2f, -0x1.1f2b8cp-1f, -0x1.b7bd54p-2f, -0x1.563f28p-4f, -0x1.31c2cp-4f,
  -0x1.6638p-3f, 0x1.326dbp-6f, 0x1.6b57fcp-2f, -0x1.aabceep-3f, 0x1.403038p-2f, 0x1.3f3af4p-2f, 0x1.16ca74p-2f, 0x1.1b8168p-3f,
  0x1.010ddp-3f, -0x1.ed8a4p-8f, 0x1.4a3a7cp-2f, -0x1.370974p-1f, -0x1.19609p-1f, -0x1.00fe9ap-1f, -0x1.4eaa48p-4f, -0x1.c28fcp-4f,
  -0x1.6048d8p-3f, 0x1.509b28p-4f, 0x1.3b48e4p-2f, -0x1.9c5134p-3f, 0x1.1b607cp-2f, 0x1.36757cp-2f, 0x1.edc982p-3f, 0x1.cbe5c6p-3f,
  0x1.ecc1bp-4f, 0x1.5099dp-6f, 0x1.81865p-2f, -0x1.0b043p-1f, -0x1.f5aa8p-2f, -0x1.f49dbp-2f, -0x1.a27868p-4f, -0x1.05746p-4f,
  -0x1.dd5f8cp-3f, 0x1.a5777cp-4f, 0x1.1c791cp-1f, -0x1.b340eap-2f, 0x1.b83402p-3f, 0x1.dce73p-3f, 0x1.4029f4p-2f, 0x1.5bb2cp-3f,
  -0x1.9f1dp-7f, 0x1.d2208p-8f, 0x1.876f1ep-2f, -0x1.70acdp-1f, -0x1.f54974p-2f, -0x1.0a0176p-1f, -0x1.1b156p-3f, -0x1.76019p-3f,
  -0x1.01912p-3f, 0x1.185c2cp-4f, 0x1.8062a8p-2f, -0x1.0f18f4p-2f, 0x1.869a2p-3f, 0x1.14c8p-2f, 0x1.1047ecp-2f, 0x1.eb8f0cp-3f,
  0x1.9347fp-5f, -0x1.a9ab9p-6f, 0x1.92ec36p-2f, -0x1.1bd608p-1f, -0x1.f4e66p-2f, -0x1.d1fa58p-2f, -0x1.c459f8p-4f, -0x1.b1ef6p-4f,
  -0x1.61c598p-3f, 0x1.8066ep-7f, 0x1.59c9d8p-2f, -0x1.fe070cp-3f, 0x1.bbe454p-3f, 0x1.7262e8p-2f, 0x1.5b0ceap-2f, 0x1.08ef38p-2f,
  0x1.b3fcbp-4f, -0x1.dcdbcp-8f, 0x1.b77eep-2f, -0x1.423a6p-1f, -0x1.13227p-1f, -0x1.ce964p-2f, -0x1.7a95p-4f, -0x1.24b228p-3f}};
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

}  // namespace fused
