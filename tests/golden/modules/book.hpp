// BookAttention, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: e3ac7c4f2ced5bf5deb736ec24c5adbc9fe3afbaa7dbcbb9b592c7d9b4a19c89
// 36 parameters, 144 bytes.
#pragma once

#include "tinyattn/attention.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/tensor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace book {

struct Model {
  using Input = tinyattn::Matrix<float, 6, 3>;
  using Output = tinyattn::Matrix<float, 6, 4>;
  static constexpr std::size_t parameter_count = 36;

  tinyattn::Linear<3, 4, false> W_query;
  tinyattn::Linear<3, 4, false> W_value;
  tinyattn::Matrix<float, 3, 4> W_key;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    tinyattn::Matrix<float, 6, 4> matmul;
    tinyattn::Matrix<float, 6, 4> W_query;
    tinyattn::Matrix<float, 6, 4> W_value;
  };

  // Computes what BookAttention.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    tinyattn::matmul(x, W_key, workspace.matmul);  // [6, 4]
    W_query.forward(x, workspace.W_query);         // [6, 4]
    W_value.forward(x, workspace.W_value);         // [6, 4]
    tinyattn::scaled_dot_product_attention(workspace.W_query, workspace.matmul, workspace.W_value,
                                           tinyattn::Causal{}, out);  // [6, 4]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 144 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, W_query) == 0 && sizeof(Model::W_query) == 48);
static_assert(offsetof(Model, W_value) == 48 && sizeof(Model::W_value) == 48);
static_assert(offsetof(Model, W_key) == 96 && sizeof(Model::W_key) == 48);

// CRC-32 of book.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x8dad797d;

// Where book.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.02872ep-2f, 0x1.d2a29cp-1f, 0x1.7ad504p-1f, -0x1.4fb8bap-1f, -0x1.686948p-1f, 0x1.1ddb56p-3f, -0x1.b9a398p-1f, 0x1.4bcb74p+0f,
  0x1.64e9cap-3f, -0x1.ae06cap-1f, -0x1.3f0bbap+1f, -0x1.aea8dap+0f, 0x1.bd43fep-1f, -0x1.60d05ap-1f, -0x1.4344fp+0f, -0x1.6e7c9p-1f,
  -0x1.b24d6ap+0f, 0x1.254b68p-3f}};

inline constexpr Model::Output example_output = {{
  0x1.a5fb3cp-3f, 0x1.05b68cp+0f, -0x1.d4e72cp-8f, -0x1.7c2cecp-2f, 0x1.129f9cp-2f, 0x1.a172b8p-2f, 0x1.0fc6ccp-3f, -0x1.50dd7p-6f,
  0x1.35d77cp-2f, 0x1.c2f514p-1f, 0x1.9135e2p-3f, -0x1.42ad5p-4f, 0x1.17d81ep-2f, 0x1.231fbp-3f, 0x1.2e2bap-2f, 0x1.1fca8ep-2f,
  0x1.9dfab4p-3f, 0x1.8b5a84p-2f, 0x1.ab4b7ap-3f, 0x1.d3651p-4f, 0x1.21dfecp-3f, -0x1.10fe3ap+0f, 0x1.75012ep-2f, 0x1.88f2dap-1f}};
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

}  // namespace book
