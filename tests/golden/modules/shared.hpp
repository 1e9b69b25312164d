// SharedLayers, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 3186ed349956a72ed5bd30fad3f271315bf6e2a742edbcf6c36f7782bf1e1dc8
// 1440 parameters, 5768 bytes.
#pragma once

#include "tinyattn/linear.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/transformer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace shared {

inline constexpr tinyattn::BlockConfig config_of_block = {
    .attention =
        {
            .d_in = 12,
            .d_out = 12,
            .context_length = 8,
            .num_heads = 3,
            .causal = false,
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
    .norm_first = false,
};

struct Model {
  using Input = tinyattn::Matrix<float, 8, 12>;
  using Output = tinyattn::Matrix<float, 8, 12>;
  static constexpr std::size_t parameter_count = 1440;

  tinyattn::Linear<12, 12, true> mix;
  tinyattn::TransformerBlock<config_of_block> block;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    tinyattn::TransformerBlock<config_of_block>::Workspace scratch;
    tinyattn::Matrix<float, 8, 12> mix;
  };

  // Computes what SharedLayers.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    mix.forward(x, workspace.mix);                                   // [8, 12]
    block.forward(workspace.mix, workspace.mix, workspace.scratch);  // [8, 12]
    block.forward(workspace.mix, workspace.mix, workspace.scratch);  // [8, 12]
    block.forward(workspace.mix, workspace.mix, workspace.scratch);  // [8, 12]
    mix.forward(workspace.mix, out);                                 // [8, 12]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 5768 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, mix) == 0 && sizeof(Model::mix) == 624);
static_assert(offsetof(Model, block) == 624 && sizeof(Model::block) == 5144);

// CRC-32 of shared.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0xf62e48ee;

// Where shared.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.ef002ap-2f, -0x1.eb48acp-1f, 0x1.72444ap+0f, -0x1.17f9ccp+0f, 0x1.56e92p-4f, 0x1.3cdf52p+0f, 0x1.6e82b4p+0f, -0x1.59c15cp-2f,
  0x1.408062p-4f, 0x1.18d138p+0f, -0x1.190ebep-2f, 0x1.86fd74p-1f, -0x1.edb316p+0f, -0x1.6cfadep+0f, 0x1.2cba4cp-3f, -0x1.02991cp-2f,
  -0x1.4e5a92p-2f, -0x1.27e248p-1f, 0x1.1156ccp+0f, -0x1.fd49f6p-1f, 0x1.c0b0fep-2f, -0x1.daa89p-1f, 0x1.8fbccep-2f, 0x1.349724p-2f,
  0x1.3b0d26p-3f, -0x1.37c462p-1f, -0x1.956f26p-2f, -0x1.1b31e4p+0f, 0x1.1f2c06p+0f, 0x1.a8e02cp+0f, 0x1.eb775cp-4f, -0x1.3826f6p-1f,
  0x1.23d692p+0f, -0x1.98b7dap-1f, 0x1.108e18p-4f, 0x1.642d7ap-5f, -0x1.2210cp+0f, 0x1.7604c4p-1f, 0x1.9db77cp-1f, -0x1.aeb7f4p+0f,
  0x1.c2009ap+0f, -0x1.105536p+1f, -0x1.31aa7ap+0f, 0x1.2715ccp+0f, 0x1.70756ap-2f, -0x1.e58eb4p+0f, 0x1.7bbc26p-1f, 0x1.7f6cbcp-1f,
  -0x1.0a40dep-1f, 0x1.05858ep+1f, -0x1.cdb696p-1f, -0x1.c5e9c2p-1f, -0x1.d415e8p-2f, 0x1.e1cfcep-1f, 0x1.034556p+0f, 0x1.75b796p+0f,
  0x1.9fe78ep-1f, 0x1.d3b9d8p-1f, 0x1.4351dep-3f, 0x1.3f25bcp-1f, -0x1.7cfaecp-2f, -0x1.4b7efp+0f, -0x1.70fb62p-2f, -0x1.69549p-2f,
  0x1.1b5be8p-5f, -0x1.15b6b4p-1f, 0x1.271bfap-1f, -0x1.8115c4p-1f, 0x1.0359d2p-2f, 0x1.127e82p+0f, -0x1.9753a8p+0f, 0x1.354832p+0f,
  0x1.640034p+0f, 0x1.86cb54p-2f, -0x1.8efa54p+0f, 0x1.4710eep+0f, 0x1.7ba0e6p+0f, -0x1.1aa8f2p-1f, -0x1.c989fep-3f, -0x1.ae2b98p-4f,
  -0x1.831002p-3f, 0x1.577eaep-3f, 0x1.b8c39ap-1f, 0x1.131dbp-1f, -0x1.d772f6p-2f, -0x1.0c53c6p+0f, -0x1.ac0bc4p+0f, -0x1.ac4ecp-3f,
  -0x1.b784c4p-4f, -0x1.00d432p-6f, 0x1.f5aa8p-1f, -0x1.31ff02p-1f, 0x1.75305p-2f, -0x1.3910bcp+0f, 0x1.51331p-1f, -0x1.0ef556p+0f}};

inline constexpr Model::Output example_output = {{
  0x1.bd7516p-4f, -0x1.667a2cp-4f, -0x1.a5365cp-2f, -0x1.69f17ep-1f, 0x1.23586cp+0f, 0x1.5cdf42p-3f, -0x1.dad05cp-3f, -0x1.11593p-2f,
  -0x1.4a17cep-1f, 0x1.7d8352p-4f, -0x1.e73d38p-2f, 0x1.502886p+0f, -0x1.2a1688p-3f, -0x1.59fe76p-2f, -0x1.05f4dcp-1f, -0x1.6d5ab8p-5f,
  0x1.2e9f8cp-2f, -0x1.2a9688p-1f, 0x1.58f12p-1f, -0x1.3e692ep-2f, -0x1.e2defp-2f, 0x1.e8f6d2p-1f, 0x1.919ae8p-1f, 0x1.a21abep+0f,
  0x1.88f276p-1f, 0x1.71377p-6f, -0x1.8dea88p-2f, -0x1.76263cp-1f, 0x1.b6a314p-1f, -0x1.477c84p-2f, -0x1.c3d66p-1f, 0x1.8a421cp-2f,
  -0x1.467334p-2f, 0x1.e29044p-4f, 0x1.7704e8p-1f, 0x1.e8905ep-1f, 0x1.21a51ap-1f, -0x1.7eda54p-4f, -0x1.09b39p-5f, 0x1.da4164p-2f,
  -0x1.63008ep-2f, -0x1.d1f79cp-1f, 0x1.1268b6p-3f, 0x1.a45248p-3f, -0x1.6c10aap-2f, 0x1.8e2cc4p-1f, 0x1.57fb5p+0f, 0x1.aa9c54p-1f,
  0x1.572fdp-1f, -0x1.408d3cp-2f, -0x1.173034p-2f, -0x1.7bbdd4p-1f, 0x1.ba153p-1f, 0x1.6e7e54p-4f, -0x1.2d9a8p+0f, 0x1.aae6ap-6f,
  -0x1.46ce3ap-4f, -0x1.5a9d4ep-5f, 0x1.503a0ap-1f, 0x1.1d5ccep-1f, -0x1.f0eb3ep-2f, -0x1.935c8p-1f, -0x1.11b3dep-3f, -0x1.d7ef5ep-4f,
  0x1.157e48p-4f, 0x1.763676p-2f, -0x1.15eb98p-2f, -0x1.2a1578p-2f, -0x1.32c496p-4f, 0x1.e1b234p-2f, -0x1.0d765p-7f, 0x1.42ea8ep-1f,
  0x1.a2b31ap-1f, -0x1.b6250ep-3f, -0x1.566afp-5f, -0x1.faa54p-3f, 0x1.d314c6p-2f, -0x1.7c55e4p-3f, -0x1.0cbf68p+0f, 0x1.6ee8ep-3f,
  0x1.7419p-11f, 0x1.7b4c6cp-2f, 0x1.4c9064p-1f, 0x1.59914p-2f, 0x1.2218c4p-1f, -0x1.9d54p-11f, -0x1.2d808ep-1f, -0x1.79ffcp-3f,
  0x1.cefb2p-3f, -0x1.e8cbd2p-1f, 0x1.489fa4p-4f, 0x1.5301f8p-2f, -0x1.36639cp-1f, 0x1.af4cc4p-1f, 0x1.5bdabap+0f, 0x1.6b0de6p+0f}};
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

}  // namespace shared
