// Functional, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: e3f4b49b4d4326219d44d8ebdc49b3d140b74fea583b3a6f98e08192941f7ef4
// 480 parameters, 1924 bytes.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/tensor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace functional {

struct Model {
  using Input = tinyattn::Matrix<float, 7, 6>;
  using Output = tinyattn::Vector<float, 36>;
  static constexpr std::size_t parameter_count = 480;

  tinyattn::Linear<6, 24, true> w1_linear;
  tinyattn::Linear<24, 12, false> w2_linear;
  tinyattn::LayerNorm<12> layer_norm;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Matrix<float, 7, 24> linear;
      tinyattn::Vector<float, 24> cat;
    };
    tinyattn::Matrix<float, 7, 12> linear_2;
    tinyattn::Vector<float, 12> mean;
    tinyattn::Vector<float, 12> max;
    tinyattn::Vector<float, 12> row;
  };

  // Computes what Functional.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    w1_linear.forward(x, tinyattn::begin_lifetime(workspace.linear));  // [7, 24]
    tinyattn::relu(workspace.linear, workspace.linear);                // [7, 24]
    w2_linear.forward(workspace.linear, workspace.linear_2);           // [7, 12]
    layer_norm.forward(workspace.linear_2, workspace.linear_2);        // [7, 12]
    tinyattn::gelu_tanh(workspace.linear_2, workspace.linear_2);       // [7, 12]
    tinyattn::multiply(workspace.linear_2, 0.7f, workspace.linear_2);  // [7, 12]
    tinyattn::add(workspace.linear_2, 0.25f, workspace.linear_2);      // [7, 12]
    tinyattn::mean(workspace.linear_2, workspace.mean);                // [12]
    tinyattn::largest(workspace.linear_2, workspace.max);              // [12]
    tinyattn::row(workspace.linear_2, 6, workspace.row);               // [12]
    tinyattn::concat_columns(workspace.row, workspace.mean,
                             tinyattn::begin_lifetime(workspace.cat));  // [24]
    tinyattn::concat_columns(workspace.cat, workspace.max, out);        // [36]
    tinyattn::softmax(out, out);                                        // [36]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 1924 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, w1_linear) == 0 && sizeof(Model::w1_linear) == 672);
static_assert(offsetof(Model, w2_linear) == 672 && sizeof(Model::w2_linear) == 1152);
static_assert(offsetof(Model, layer_norm) == 1824 && sizeof(Model::layer_norm) == 100);

// CRC-32 of functional.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0xfee6284d;

// Where functional.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  0x1.e5201p-2f, 0x1.583cbep+0f, -0x1.d6c56ap-2f, -0x1.3b56b6p+0f, -0x1.d98608p+0f, 0x1.47e514p+0f, -0x1.a5ac1ep+0f, 0x1.bd8b3p-2f,
  -0x1.aebb38p+0f, 0x1.e1fd12p-1f, -0x1.1e218ap-3f, 0x1.06fd0ap+1f, 0x1.848aa6p+0f, -0x1.563248p-1f, -0x1.15d5dp-1f, 0x1.7d480ep-5f,
  0x1.4ddfd6p-1f, -0x1.75f368p-2f, -0x1.fb332cp-6f, -0x1.96288p-1f, 0x1.007dc2p-2f, 0x1.b49c78p+0f, 0x1.e8ccfcp-1f, -0x1.9a59b6p-2f,
  -0x1.a8115ap-2f, -0x1.e74816p+0f, 0x1.9ab3cap-1f, 0x1.030d92p-4f, 0x1.9a59b8p-2f, -0x1.4467dcp-2f, 0x1.d2b18p-3f, -0x1.1cb32ep-3f,
  -0x1.0e2568p+0f, 0x1.ea6dc6p-2f, 0x1.8ab2a2p+0f, -0x1.08f04cp+0f, -0x1.fdc886p-3f, 0x1.411aaap-1f, 0x1.08b944p+1f, 0x1.a5a80cp+0f,
  0x1.c1010ap-1f, -0x1.6993f2p+0f}};

inline constexpr Model::Output example_output = {{
  0x1.2b55a4p-6f, 0x1.0607a8p-6f, 0x1.d54e54p-7f, 0x1.00588ep-5f, 0x1.5ccef6p-6f, 0x1.5170fp-6f, 0x1.aa8efcp-6f, 0x1.9b68a8p-6f,
  0x1.0f89dap-5f, 0x1.1097c2p-6f, 0x1.62ae1p-5f, 0x1.074cc8p-6f, 0x1.1fb1a2p-6f, 0x1.5e8d1ap-6f, 0x1.fe8cc2p-7f, 0x1.d34ae8p-6f,
  0x1.8a5c22p-6f, 0x1.39f18ep-6f, 0x1.81d80ep-6f, 0x1.90cc24p-6f, 0x1.b64e54p-5f, 0x1.109a92p-6f, 0x1.d2b6dap-6f, 0x1.0068cap-6f,
  0x1.2b55a4p-6f, 0x1.1e5f16p-5f, 0x1.2164d4p-6f, 0x1.2c161ap-5f, 0x1.e5fa9p-6f, 0x1.64a3c8p-6f, 0x1.c42446p-6f, 0x1.bef378p-6f,
  0x1.1be01p-3f, 0x1.1900bcp-6f, 0x1.62ae1p-5f, 0x1.0ded4ap-6f}};
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

}  // namespace functional
