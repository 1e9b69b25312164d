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
  using Output = tinyattn::Vector<float, 120>;
  static constexpr std::size_t parameter_count = 480;

  tinyattn::Linear<6, 24, true> w1_linear;
  tinyattn::Linear<24, 12, false> w2_linear;
  tinyattn::LayerNorm<12> gain_norm;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Matrix<float, 7, 24> linear;
      tinyattn::Vector<float, 108> cat_2;
      tinyattn::Vector<float, 84> row;
    };
    union {
      tinyattn::Vector<float, 96> cat;
      tinyattn::Matrix<float, 7, 12> linear_2;
    };
    tinyattn::Vector<float, 12> mean;
    tinyattn::Vector<float, 12> max;
    tinyattn::Vector<float, 12> row_2;
  };

  // Computes what Functional.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    w1_linear.forward(x, tinyattn::begin_lifetime(workspace.linear));                   // [7, 24]
    tinyattn::relu(workspace.linear, workspace.linear);                                 // [7, 24]
    w2_linear.forward(workspace.linear, tinyattn::begin_lifetime(workspace.linear_2));  // [7, 12]
    gain_norm.forward(workspace.linear_2, workspace.linear_2);                          // [7, 12]
    tinyattn::gelu_tanh(workspace.linear_2, workspace.linear_2);                        // [7, 12]
    tinyattn::multiply(workspace.linear_2, 0.7f, workspace.linear_2);                   // [7, 12]
    tinyattn::add(workspace.linear_2, 0.25f, workspace.linear_2);                       // [7, 12]
    tinyattn::mean(workspace.linear_2, workspace.mean);                                 // [12]
    tinyattn::largest(workspace.linear_2, workspace.max);                               // [12]
    tinyattn::begin_lifetime(workspace.row);
    for (std::size_t i = 0; i < 84; ++i)
      workspace.row.elements[i] = workspace.linear_2.elements[i];  // [84]
    tinyattn::row(workspace.linear_2, 6, workspace.row_2);         // [12]
    tinyattn::concat_columns(workspace.row, workspace.row_2,
                             tinyattn::begin_lifetime(workspace.cat));  // [96]
    tinyattn::concat_columns(workspace.cat, workspace.mean,
                             tinyattn::begin_lifetime(workspace.cat_2));  // [108]
    tinyattn::concat_columns(workspace.cat_2, workspace.max, out);        // [120]
    tinyattn::softmax(out, out);                                          // [120]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 1924 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, w1_linear) == 0 && sizeof(Model::w1_linear) == 672);
static_assert(offsetof(Model, w2_linear) == 672 && sizeof(Model::w2_linear) == 1152);
static_assert(offsetof(Model, gain_norm) == 1824 && sizeof(Model::gain_norm) == 100);

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
  0x1.645e68p-8f, 0x1.717462p-7f, 0x1.388c36p-8f, 0x1.05e78ep-7f, 0x1.ce911cp-8f, 0x1.3bca7cp-8f, 0x1.d1548p-8f, 0x1.204fa4p-7f,
  0x1.5e8f72p-7f, 0x1.6913dep-8f, 0x1.0baae8p-7f, 0x1.4ef5a2p-8f, 0x1.6983fap-8f, 0x1.c29c3p-8f, 0x1.3967a6p-8f, 0x1.832606p-7f,
  0x1.148e3ap-7f, 0x1.6b3e06p-8f, 0x1.8e937p-8f, 0x1.030d4ap-7f, 0x1.39e3dp-6f, 0x1.65463cp-8f, 0x1.53c9acp-7f, 0x1.5c3d3ap-8f,
  0x1.6c9e5cp-8f, 0x1.373e2p-7f, 0x1.45b5bcp-8f, 0x1.5daa48p-7f, 0x1.f5f9b6p-8f, 0x1.8ed32ep-8f, 0x1.1d56p-7f, 0x1.029b84p-7f,
  0x1.9eae2p-7f, 0x1.5e9c54p-8f, 0x1.92a918p-8f, 0x1.39555ep-8f, 0x1.769e42p-8f, 0x1.7d5294p-8f, 0x1.48d8bap-8f, 0x1.39eap-7f,
  0x1.0c3c3ap-7f, 0x1.cc1c06p-8f, 0x1.e97b8ep-8f, 0x1.e7473ap-8f, 0x1.c3b17cp-6f, 0x1.58cae4p-8f, 0x1.5dc54cp-7f, 0x1.441344p-8f,
  0x1.7983fep-8f, 0x1.882206p-8f, 0x1.755a9ap-8f, 0x1.6a52dep-7f, 0x1.c5ed6ep-8f, 0x1.b84c12p-8f, 0x1.23a8cep-7f, 0x1.06dbb2p-7f,
  0x1.b4f0c6p-7f, 0x1.4eb5eap-8f, 0x1.73e04cp-7f, 0x1.3f5d8cp-8f, 0x1.7a3b1ep-8f, 0x1.715c56p-8f, 0x1.625dcap-8f, 0x1.5318c2p-8f,
  0x1.397c84p-7f, 0x1.bb2a7p-8f, 0x1.c7659ap-8f, 0x1.d66a5cp-8f, 0x1.6e3bf6p-5f, 0x1.6a874cp-8f, 0x1.9b5f32p-8f, 0x1.515642p-8f,
  0x1.822dbap-8f, 0x1.520d1p-8f, 0x1.2ebb3ep-8f, 0x1.4ab7cep-7f, 0x1.c2019p-8f, 0x1.b35746p-8f, 0x1.13281cp-7f, 0x1.096258p-7f,
  0x1.5e517ap-7f, 0x1.5fadb2p-8f, 0x1.c994bep-7f, 0x1.53b084p-8f, 0x1.822dbap-8f, 0x1.520d1p-8f, 0x1.2ebb3ep-8f, 0x1.4ab7cep-7f,
  0x1.c2019p-8f, 0x1.b35746p-8f, 0x1.13281cp-7f, 0x1.096258p-7f, 0x1.5e517ap-7f, 0x1.5fadb2p-8f, 0x1.c994bep-7f, 0x1.53b084p-8f,
  0x1.732926p-8f, 0x1.c44122p-8f, 0x1.495616p-8f, 0x1.2d6ec4p-7f, 0x1.fcc5eap-8f, 0x1.9506aep-8f, 0x1.f1c95ap-8f, 0x1.028a06p-7f,
  0x1.1abc08p-6f, 0x1.5fb152p-8f, 0x1.2d0f42p-7f, 0x1.4acccp-8f, 0x1.822dbap-8f, 0x1.717462p-7f, 0x1.755a9ap-8f, 0x1.832606p-7f,
  0x1.397c84p-7f, 0x1.cc1c06p-8f, 0x1.23a8cep-7f, 0x1.204fa4p-7f, 0x1.6e3bf6p-5f, 0x1.6a874cp-8f, 0x1.c994bep-7f, 0x1.5c3d3ap-8f}};
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
