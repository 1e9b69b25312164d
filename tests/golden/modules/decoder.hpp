// Decoder, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: f9aece4b7ed2a16991bf8edebc3c42fa25c63b6fd300761db699bed8999c3151
// 2592 parameters, 10376 bytes.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/embedding.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/token.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace decoder {

struct Model {
  struct CausalSelfAttention {
    tinyattn::Linear<16, 48, true> c_attn;
    tinyattn::Linear<16, 16, true> c_proj;
  };

  struct Mlp {
    tinyattn::Linear<16, 32, true> c_fc;
    tinyattn::Linear<32, 16, true> c_proj;
  };

  using Input = tinyattn::Vector<tinyattn::Token, 12>;
  using Output = tinyattn::Matrix<float, 12, 11>;
  static constexpr std::size_t parameter_count = 2592;

  tinyattn::Embedding<11, 16> wte;
  tinyattn::LayerNorm<16> ln_1;
  CausalSelfAttention attn;
  tinyattn::LayerNorm<16> ln_2;
  Mlp mlp;
  tinyattn::Matrix<float, 12, 16> wpe;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Matrix<float, 12, 48> c_attn;
      tinyattn::Matrix<float, 12, 32> c_fc;
      tinyattn::Matrix<float, 12, 16> c_proj;
    };
    tinyattn::Matrix<float, 12, 16> wte;
    tinyattn::Matrix<float, 12, 16> ln_1;
  };

  // Computes what Decoder.forward computes of one input. x and out may not overlap.
  // x has tokens below 11: others leave the result undefined.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    static_cast<void>(wte.forward(x, workspace.wte));                                 // [12, 16]
    tinyattn::add(workspace.wte, wpe, workspace.wte);                                 // [12, 16]
    ln_1.forward(workspace.wte, workspace.ln_1);                                      // [12, 16]
    attn.c_attn.forward(workspace.ln_1, tinyattn::begin_lifetime(workspace.c_attn));  // [12, 48]
    for (std::size_t i = 0; i < 4; ++i) {
      const auto query_of_head =
          tinyattn::MatrixView<float, 12, 4, 48>{workspace.c_attn.data() + 4 * i};
      const auto key_of_head =
          tinyattn::MatrixView<float, 12, 4, 48>{workspace.c_attn.data() + 16 + 4 * i};
      const auto value_of_head =
          tinyattn::MatrixView<float, 12, 4, 48>{workspace.c_attn.data() + 32 + 4 * i};
      auto context_of_head = tinyattn::columns<4>(workspace.ln_1, 4 * i);
      tinyattn::scaled_dot_product_attention(query_of_head, key_of_head, value_of_head,
                                             tinyattn::Causal{}, context_of_head);
    }                                                                                 // [12, 16]
    attn.c_proj.forward(workspace.ln_1, tinyattn::begin_lifetime(workspace.c_proj));  // [12, 16]
    tinyattn::add(workspace.wte, workspace.c_proj, workspace.wte);                    // [12, 16]
    ln_2.forward(workspace.wte, workspace.ln_1);                                      // [12, 16]
    mlp.c_fc.forward(workspace.ln_1, tinyattn::begin_lifetime(workspace.c_fc));       // [12, 32]
    tinyattn::gelu(workspace.c_fc, workspace.c_fc);                                   // [12, 32]
    mlp.c_proj.forward(workspace.c_fc, workspace.ln_1);                               // [12, 16]
    tinyattn::add(workspace.wte, workspace.ln_1, workspace.wte);                      // [12, 16]
    tinyattn::matmul_transposed(workspace.wte, wte.weight, out);                      // [12, 11]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 10376 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, wte) == 0 && sizeof(Model::wte) == 704);
static_assert(offsetof(Model, ln_1) == 704 && sizeof(Model::ln_1) == 132);
static_assert(offsetof(Model, attn) == 836 && sizeof(Model::attn) == 4352);
static_assert(offsetof(Model, ln_2) == 5188 && sizeof(Model::ln_2) == 132);
static_assert(offsetof(Model, mlp) == 5320 && sizeof(Model::mlp) == 4288);
static_assert(offsetof(Model, wpe) == 9608 && sizeof(Model::wpe) == 768);

// CRC-32 of decoder.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x97b135f1;

// Where decoder.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  2, 10, 1, 8, 3, 8, 5, 7, 9, 8, 4, 6}};

inline constexpr Model::Output example_output = {{
  -0x1.d946fp+2f, 0x1.e5b4a8p+2f, 0x1.2443fap+4f, 0x1.ed63b6p+0f, 0x1.237542p+2f, 0x1.045486p+2f, 0x1.e1facep-3f, 0x1.41b7b4p-1f,
  0x1.e9c1f8p+2f, -0x1.00b00ap+2f, -0x1.1c31fp+3f, -0x1.7607ep+0f, -0x1.bc388p+1f, -0x1.c049dep+2f, -0x1.d3f18ep+1f, -0x1.5eb02p+1f,
  0x1.3d68d2p+3f, 0x1.20a00ep+3f, -0x1.402dc8p+3f, -0x1.b327aep-3f, -0x1.cadc42p+0f, 0x1.50779ep+3f, -0x1.9bb7e2p+1f, 0x1.41f1f6p+4f,
  0x1.f1ddf6p+2f, -0x1.60677ap+2f, 0x1.a6deaap+3f, 0x1.a1589ap+2f, -0x1.3838fap+2f, -0x1.be4f38p+3f, 0x1.fab4eep+1f, 0x1.19aaa2p+2f,
  -0x1.fc5baap+2f, 0x1.519e4ep-7f, -0x1.d57532p+1f, -0x1.55905cp+1f, -0x1.20f4ep+3f, -0x1.b713ccp+0f, 0x1.06844cp-1f, -0x1.d23d9ap+0f,
  0x1.9c53cp+2f, 0x1.e8421ap+3f, 0x1.c61522p+2f, -0x1.079a48p+3f, 0x1.4c47d2p+2f, -0x1.a2ab8cp+1f, -0x1.cb59e6p+1f, 0x1.58ea42p+3f,
  -0x1.696bb8p+0f, -0x1.96f0a4p+3f, -0x1.9eb632p+2f, 0x1.1e723p+3f, -0x1.0b5ab2p+3f, -0x1.d1796ep+1f, -0x1.86892p-1f, -0x1.dea962p+1f,
  0x1.460452p+3f, 0x1.164d6ep+4f, -0x1.4254a8p+1f, 0x1.eec87ap+2f, 0x1.63f23p+3f, 0x1.8c4e04p+2f, -0x1.fc3d12p+0f, 0x1.7bae24p+4f,
  0x1.58c4f4p+2f, -0x1.5efcap+3f, 0x1.1ad9acp+1f, 0x1.c0d458p+2f, 0x1.e4b8f6p+0f, -0x1.210c0cp+3f, -0x1.d400f2p+1f, 0x1.04881cp+4f,
  0x1.4d1038p+3f, -0x1.df748ap-3f, 0x1.c41686p-4f, -0x1.d75a38p-3f, -0x1.9aa7fap+1f, 0x1.600986p+2f, -0x1.7573d4p+2f, -0x1.12d7a2p+2f,
  0x1.9174ecp+0f, -0x1.502a9ep+3f, -0x1.8c5d98p+2f, -0x1.f5a57p+1f, 0x1.4aafe4p+4f, -0x1.7933bcp+2f, -0x1.590548p-1f, -0x1.06d5a2p+3f,
  0x1.7264eep+0f, 0x1.e73e88p-1f, -0x1.a89762p+3f, -0x1.1000bp+2f, 0x1.4cdd6ep+1f, -0x1.81e1ep+2f, -0x1.110324p+2f, 0x1.f26866p-4f,
  0x1.ad2a94p-1f, 0x1.08355cp+4f, -0x1.870f5ep-6f, -0x1.29775ep+2f, 0x1.c01264p+1f, 0x1.f669fp+2f, -0x1.a8feb2p+2f, 0x1.1ec91p+2f,
  0x1.f4e542p+2f, 0x1.d47b3p+2f, -0x1.39ae04p+1f, 0x1.1c56aep+4f, 0x1.c4307ap+2f, -0x1.44a308p+2f, -0x1.c2691ap+0f, 0x1.a2374ap+2f,
  0x1.0dcf72p+2f, 0x1.24f7c8p+0f, 0x1.631834p+4f, -0x1.46cfd4p+3f, -0x1.127c4ap+3f, -0x1.c4b52p+1f, -0x1.b12706p+0f, -0x1.4bbff2p+0f,
  -0x1.5b23fp+2f, -0x1.68473ep+1f, 0x1.752a4cp+2f, 0x1.383e66p+3f, -0x1.0a294ap+2f, -0x1.fac078p-1f, 0x1.b0dcf8p+3f, 0x1.f3b418p+3f,
  -0x1.a5f43ep+1f, 0x1.fadb38p+2f, -0x1.119722p+1f, -0x1.56e1bp-5f}};
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

}  // namespace decoder
