// PatchTST, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 780a754fd463fab46a95a96fd5aef9a19d95ea9bc0f8eaafed29a1550e124954
// 3382 parameters, 13536 bytes.
#pragma once

#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/transformer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace patch_tst {

inline constexpr tinyattn::BlockConfig config_of_layer = {
    .attention =
        {
            .d_in = 16,
            .d_out = 16,
            .context_length = 7,
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
};

struct Model {
  using Input = tinyattn::Matrix<float, 32, 3>;
  using Output = tinyattn::Matrix<float, 6, 3>;
  static constexpr std::size_t parameter_count = 3382;

  tinyattn::Linear<8, 16, true> embedding;
  tinyattn::TransformerBlock<config_of_layer> layer;
  tinyattn::Linear<112, 6, true> head;
  tinyattn::Tensor<float, 3, 7, 16> position;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::TransformerBlock<config_of_layer>::Workspace scratch;
      tinyattn::Tensor<float, 3, 7, 8> copy;
      tinyattn::Matrix<float, 3, 6> head;
    };
    tinyattn::Tensor<float, 3, 7, 16> embedding;
  };

  // Computes what PatchTST.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    tinyattn::begin_lifetime(workspace.copy);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 7; ++j)
        for (std::size_t k = 0; k < 8; ++k)
          workspace.copy.elements[56 * i + 8 * j + k] =
              x.elements[3 * k + 12 * j + i];                           // [3, 7, 8]
    embedding.forward(workspace.copy, workspace.embedding);             // [3, 7, 16]
    tinyattn::add(workspace.embedding, position, workspace.embedding);  // [3, 7, 16]
    layer.forward(workspace.embedding, workspace.embedding,
                  tinyattn::begin_lifetime(workspace.scratch));  // [3, 7, 16]
    head.forward(tinyattn::MatrixView<const float, 3, 112, 112>{workspace.embedding.data()},
                 tinyattn::begin_lifetime(workspace.head));  // [3, 6]
    tinyattn::transpose(workspace.head, out);                // [6, 3]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 13536 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, embedding) == 0 && sizeof(Model::embedding) == 576);
static_assert(offsetof(Model, layer) == 576 && sizeof(Model::layer) == 8904);
static_assert(offsetof(Model, head) == 9480 && sizeof(Model::head) == 2712);
static_assert(offsetof(Model, position) == 12192 && sizeof(Model::position) == 1344);

// CRC-32 of patch_tst.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x3a8e8ab8;

// Where patch_tst.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  0x1.4b445ep-1f, -0x1.15d97ap-2f, 0x1.e19516p-1f, -0x1.e0004p-2f, 0x1.69980ap+1f, 0x1.21411ep+0f, 0x1.adb47cp-3f, 0x1.8f297cp-1f,
  -0x1.1733cep+0f, -0x1.c7e9c6p-4f, 0x1.f4e1f6p-2f, -0x1.5eef4ap-3f, -0x1.611432p+0f, 0x1.f56456p-1f, -0x1.a37beep-2f, 0x1.89c2a4p+0f,
  0x1.b1a386p-1f, 0x1.8cf3a8p-1f, -0x1.6fc0c4p-3f, 0x1.f9d154p-4f, 0x1.5f84e4p-3f, -0x1.ed28d8p-4f, -0x1.4c7f7cp-1f, 0x1.15f16p-2f,
  0x1.4732a4p+0f, 0x1.5b7e52p-1f, 0x1.0be30ap+0f, -0x1.79989ap+0f, -0x1.d06cp-2f, -0x1.4c938ep+0f, -0x1.6f7634p+1f, 0x1.28d624p-3f,
  -0x1.c94934p-5f, -0x1.e0a236p-1f, -0x1.229e2ep-2f, 0x1.98fa8ap-4f, -0x1.a20e3ep-4f, -0x1.85dba6p+0f, -0x1.28f0a4p+0f, 0x1.211ad8p+1f,
  -0x1.4c4f7p-1f, -0x1.526c14p-1f, -0x1.38d2eap-3f, -0x1.e0dc32p-3f, 0x1.260a2ep-2f, -0x1.ebd108p-1f, -0x1.9cd98p-2f, -0x1.7867acp-1f,
  0x1.305ccap-1f, 0x1.1d8b5cp+0f, -0x1.b5294cp-2f, 0x1.95876p-1f, 0x1.b22d7ep-2f, 0x1.418dfap-1f, -0x1.1157f8p-1f, 0x1.52c652p+0f,
  0x1.df996ap+0f, 0x1.73138ep-5f, 0x1.35e686p+0f, 0x1.3bd26p+0f, 0x1.837828p-2f, -0x1.1421f6p+1f, 0x1.3846cp+0f, -0x1.98b722p+0f,
  -0x1.e4274ep-2f, 0x1.27046ap-3f, 0x1.e42f82p-2f, -0x1.31c10cp+0f, 0x1.9ae8eep-1f, 0x1.11f022p-2f, -0x1.1133fep+0f, -0x1.2f3cd6p-1f,
  -0x1.4e1c2ap-1f, -0x1.32362ep+1f, -0x1.db44c8p-1f, -0x1.8d4f16p-6f, 0x1.909d1cp-4f, 0x1.3a4e48p-2f, -0x1.7dc70cp-2f, 0x1.baa282p-3f,
  -0x1.366a14p+0f, -0x1.6949fap-3f, 0x1.53fc04p-2f, 0x1.424612p-9f, -0x1.5d3386p-1f, -0x1.e89918p-1f, -0x1.d23714p-1f, -0x1.93c472p-1f,
  -0x1.92589p-1f, -0x1.15e72ep+0f, -0x1.d55b5p+0f, 0x1.69cad2p-1f, 0x1.55da7p-2f, 0x1.32e6dcp-7f, 0x1.7e1d6ep-3f, -0x1.1dfb64p-1f}};

inline constexpr Model::Output example_output = {{
  0x1.a50646p-1f, -0x1.881a08p-3f, -0x1.f1a8acp-3f, 0x1.ec120cp-5f, -0x1.2e43fep-1f, -0x1.0bf9e6p-1f, 0x1.3a0994p-1f, 0x1.1a86ap-1f,
  0x1.3fd52ap-1f, 0x1.7deecp-7f, 0x1.56011cp+0f, 0x1.4c1ecep-1f, -0x1.723d4ep-1f, -0x1.3a82aep-1f, -0x1.dbcb16p-1f, -0x1.b4bad4p+0f,
  -0x1.cc52aep-1f, -0x1.73ee46p-1f}};
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

}  // namespace patch_tst
