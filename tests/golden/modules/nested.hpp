// Sequential, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 95e3f48ae7500e20576d457228b141fb4ec7828927078bc94056f8a863eeba96
// 723 parameters, 2892 bytes.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/tensor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace nested {

struct Model {
  using Input = tinyattn::Matrix<float, 4, 6>;
  using Output = tinyattn::Vector<float, 3>;
  static constexpr std::size_t parameter_count = 723;

  tinyattn::Linear<24, 16, true> _1[1];
  tinyattn::Linear<16, 16, true> _2[1];
  tinyattn::Linear<16, 3, true> _3;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Matrix<float, 1, 16> linear;
      tinyattn::Matrix<float, 1, 3> linear_3;
    };
    tinyattn::Matrix<float, 1, 16> linear_2;
  };

  // Computes what Sequential.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    tinyattn::MatrixView<float, 1, 3, 3> out_1_by_3{out.data()};
    _1[0].forward(tinyattn::MatrixView<const float, 1, 24, 24>{x.data()},
                  tinyattn::begin_lifetime(workspace.linear));                      // [1, 16]
    tinyattn::relu(workspace.linear, workspace.linear);                             // [1, 16]
    _2[0].forward(tinyattn::columns<16>(workspace.linear, 0), workspace.linear_2);  // [1, 16]
    tinyattn::relu(workspace.linear_2, workspace.linear_2);                         // [1, 16]
    _3.forward(tinyattn::columns<16>(workspace.linear_2, 0),
               tinyattn::begin_lifetime(workspace.linear_3));                    // [1, 3]
    tinyattn::softmax(tinyattn::columns<3>(workspace.linear_3, 0), out_1_by_3);  // [1, 3]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 2892 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, _1) == 0 && sizeof(Model::_1) == 1600);
static_assert(offsetof(Model, _2) == 1600 && sizeof(Model::_2) == 1088);
static_assert(offsetof(Model, _3) == 2688 && sizeof(Model::_3) == 204);

// CRC-32 of nested.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x3b5a4b5a;

// Where nested.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  0x1.43f56ap-1f, -0x1.13928cp-1f, -0x1.0c9af8p-3f, 0x1.d14966p-2f, 0x1.ec42ccp-1f, 0x1.40b59cp-1f, -0x1.67a45cp-1f, 0x1.659f8cp-5f,
  -0x1.af5cbcp+0f, 0x1.131914p+0f, 0x1.87b432p-1f, 0x1.302f92p-1f, -0x1.22f18cp+1f, 0x1.22a5dep+0f, -0x1.5e207cp+0f, 0x1.0eba8ap-1f,
  0x1.351ae6p+0f, -0x1.f9936cp-2f, -0x1.53800ep-1f, -0x1.5b73c8p-1f, -0x1.7d3014p+0f, -0x1.9fa246p-1f, -0x1.67649ep+0f, 0x1.5e3ea4p-2f}};

inline constexpr Model::Output example_output = {{
  0x1.822646p-2f, 0x1.37b348p-2f, 0x1.46267p-2f}};
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

}  // namespace nested
