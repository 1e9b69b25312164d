// GatedBlock, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: f6e73c0a19ec4604e12ee8a7b97d398606d9a59ee1acae3db7c898465623f947
// 1228 parameters, 4920 bytes.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/tensor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace gated {

struct Model {
  using Input = tinyattn::Matrix<float, 9, 12>;
  using Output = tinyattn::Matrix<float, 1, 12>;
  static constexpr std::size_t parameter_count = 1228;

  tinyattn::RmsNorm<12> norm1;
  tinyattn::Linear<12, 12, false> q;
  tinyattn::Linear<12, 12, false> k;
  tinyattn::Linear<12, 12, false> v;
  tinyattn::RmsNorm<12> norm2;
  tinyattn::Linear<12, 20, true> gate;
  tinyattn::Linear<12, 20, true> up;
  tinyattn::Linear<20, 12, true> down;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Matrix<float, 9, 20> gate;
      tinyattn::Matrix<float, 9, 12> norm;
      tinyattn::Vector<float, 12> row;
    };
    union {
      tinyattn::Matrix<float, 9, 20> up;
      tinyattn::Matrix<float, 9, 12> q;
    };
    union {
      tinyattn::Matrix<float, 9, 12> k;
      tinyattn::Vector<float, 12> row_2;
    };
    tinyattn::Matrix<float, 9, 12> v;
    tinyattn::Matrix<float, 9, 12> attention;
  };

  // Computes what GatedBlock.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    norm1.forward(x, tinyattn::begin_lifetime(workspace.norm));        // [9, 12]
    q.forward(workspace.norm, tinyattn::begin_lifetime(workspace.q));  // [9, 12]
    k.forward(workspace.norm, tinyattn::begin_lifetime(workspace.k));  // [9, 12]
    v.forward(workspace.norm, workspace.v);                            // [9, 12]
    tinyattn::scaled_dot_product_attention(workspace.q, workspace.k, workspace.v,
                                           tinyattn::Causal{}, workspace.attention);   // [9, 12]
    tinyattn::add(x, workspace.attention, workspace.attention);                        // [9, 12]
    norm2.forward(workspace.attention, workspace.k);                                   // [9, 12]
    gate.forward(workspace.k, tinyattn::begin_lifetime(workspace.gate));               // [9, 20]
    tinyattn::silu(workspace.gate, workspace.gate);                                    // [9, 20]
    up.forward(workspace.k, tinyattn::begin_lifetime(workspace.up));                   // [9, 20]
    tinyattn::multiply(workspace.gate, workspace.up, workspace.gate);                  // [9, 20]
    down.forward(workspace.gate, tinyattn::begin_lifetime(workspace.q));               // [9, 12]
    tinyattn::row(workspace.attention, 8, tinyattn::begin_lifetime(workspace.row));    // [12]
    tinyattn::row(workspace.q, 8, tinyattn::begin_lifetime(workspace.row_2));          // [12]
    tinyattn::add(workspace.row, workspace.row_2, workspace.row);                      // [12]
    for (std::size_t i = 0; i < 12; ++i) out.elements[i] = workspace.row.elements[i];  // [1, 12]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 4920 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, norm1) == 0 && sizeof(Model::norm1) == 52);
static_assert(offsetof(Model, q) == 52 && sizeof(Model::q) == 576);
static_assert(offsetof(Model, k) == 628 && sizeof(Model::k) == 576);
static_assert(offsetof(Model, v) == 1204 && sizeof(Model::v) == 576);
static_assert(offsetof(Model, norm2) == 1780 && sizeof(Model::norm2) == 52);
static_assert(offsetof(Model, gate) == 1832 && sizeof(Model::gate) == 1040);
static_assert(offsetof(Model, up) == 2872 && sizeof(Model::up) == 1040);
static_assert(offsetof(Model, down) == 3912 && sizeof(Model::down) == 1008);

// CRC-32 of gated.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x93273c07;

// Where gated.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  0x1.23252cp-5f, 0x1.4a673p+0f, -0x1.9bd38ap+0f, -0x1.852c84p-1f, -0x1.986622p-1f, 0x1.25cb06p+0f, 0x1.df1014p-1f, 0x1.43ec06p-2f,
  0x1.1a06a2p-1f, 0x1.b55a6ep+0f, 0x1.f9abdap+0f, 0x1.6c0b6ap+0f, 0x1.dab6bcp+0f, -0x1.43f85cp+0f, -0x1.347ea2p+0f, 0x1.2edf7ap-1f,
  -0x1.3a66d6p-1f, 0x1.8ecad8p-1f, -0x1.b8f8fp+0f, -0x1.398cd8p-1f, 0x1.6ae99cp-2f, 0x1.b6d364p-1f, -0x1.bbe078p+0f, 0x1.5a242ap-3f,
  -0x1.1ba81cp-1f, -0x1.1fac76p+0f, -0x1.a93f8cp-1f, -0x1.a90be8p-1f, -0x1.72c28p-3f, -0x1.17c44ap-2f, -0x1.f5daep-2f, -0x1.34e26cp+0f,
  -0x1.1e6b98p+0f, -0x1.17e6eep+0f, 0x1.d82b2ap-3f, 0x1.001cd6p-2f, -0x1.972ed2p-1f, -0x1.42bd64p+0f, -0x1.caf208p+0f, 0x1.93dbfcp+0f,
  0x1.2a86e4p+0f, -0x1.1f8558p+0f, -0x1.fb6e38p-5f, -0x1.011c8cp+0f, -0x1.731a7cp+0f, -0x1.85743ap-7f, -0x1.213d2ap-4f, 0x1.c1e6b6p-3f,
  0x1.807bfap+1f, -0x1.3dfp+0f, 0x1.fd93dap-1f, -0x1.53b1fap-1f, 0x1.bfc17p-2f, 0x1.861054p-6f, -0x1.ec51dcp-2f, 0x1.1b514ap+1f,
  -0x1.8c3a16p-2f, 0x1.4084cp+0f, 0x1.bf28aep-1f, -0x1.7328f4p+0f, -0x1.247338p-1f, 0x1.3eb61p+0f, -0x1.f62ac6p-4f, -0x1.37f938p+0f,
  0x1.060b96p-1f, 0x1.b5cc04p-7f, 0x1.069ddap+0f, -0x1.f9ea26p-3f, -0x1.010e9p-4f, -0x1.190954p-2f, 0x1.14f22cp-1f, -0x1.1b336ep+0f,
  -0x1.a991ccp-1f, 0x1.31478ap+1f, 0x1.458a78p-1f, 0x1.f57b16p+0f, 0x1.cf95ap-2f, -0x1.188236p+1f, 0x1.824f7cp-3f, 0x1.ed05cap-1f,
  0x1.453582p-1f, -0x1.eca194p-1f, 0x1.b50e4ep-1f, -0x1.43367ap-2f, 0x1.1735b6p-4f, 0x1.4811b2p-2f, 0x1.01c144p+0f, 0x1.85a476p-1f,
  0x1.f1a976p-3f, 0x1.bf1248p-1f, 0x1.01d718p+0f, 0x1.97cd8ap-1f, -0x1.eaf01ep+0f, 0x1.8447a8p-2f, 0x1.551724p+1f, -0x1.d72f38p-2f,
  0x1.310f2ep-3f, -0x1.82f35cp-2f, 0x1.391a5cp-1f, -0x1.cecbd2p-4f, -0x1.c79e1ap-1f, -0x1.2dab7ap-1f, 0x1.485268p+0f, 0x1.8b01bp-2f,
  -0x1.96e1acp-1f, -0x1.f13bc4p-2f, -0x1.488978p+1f, 0x1.8ee636p+0f}};

inline constexpr Model::Output example_output = {{
  -0x1.6488c8p-6f, -0x1.b994b4p-5f, 0x1.d5e83cp-2f, -0x1.9f5604p-3f, -0x1.5555b6p-1f, -0x1.72082ep-2f, 0x1.c74944p-1f, 0x1.b19bdcp-1f,
  -0x1.0d08a6p-2f, -0x1.1430eap-1f, -0x1.82dbb2p+1f, 0x1.17f898p+1f}};
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

}  // namespace gated
