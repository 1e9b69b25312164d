// Autoencoder, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: f0d5241cb06f9eb976f4e7120305473355ef8761cd9224dad4dba0187a95cb45
// 1061 parameters, 4252 bytes.
#pragma once

#include "tinyattn/activation.hpp"
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

namespace anomalies {

inline constexpr tinyattn::BlockConfig config_of_attention = {
    .attention =
        {
            .d_in = 8,
            .d_out = 8,
            .context_length = 12,
            .num_heads = 2,
            .causal = false,
            .qkv_bias = true,
            .out_bias = true,
        },
    .feed_forward =
        {
            .d_model = 8,
            .d_hidden = 16,
            .activation = tinyattn::Activation::relu,
            .gated = false,
            .bias = true,
        },
    .normalization = tinyattn::Normalization::layer,
    .norm_first = true,
};

struct Model {
  struct Encoder {
    tinyattn::Linear<5, 16, true> _0;
    tinyattn::Linear<16, 8, true> _2;
  };

  struct Decoder {
    tinyattn::Linear<8, 16, true> _0;
    tinyattn::Linear<16, 5, true> _2;
  };

  using Input = tinyattn::Matrix<float, 12, 5>;
  using Output = tinyattn::Matrix<float, 12, 5>;
  static constexpr std::size_t parameter_count = 1061;

  Encoder encoder;
  tinyattn::TransformerBlock<config_of_attention> attention;
  Decoder decoder;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::TransformerBlock<config_of_attention>::Workspace scratch;
      tinyattn::Matrix<float, 12, 16> encoder_0;
    };
    tinyattn::Matrix<float, 12, 8> encoder_2;
  };

  // Computes what Autoencoder.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    encoder._0.forward(x, tinyattn::begin_lifetime(workspace.encoder_0));  // [12, 16]
    tinyattn::silu(workspace.encoder_0, workspace.encoder_0);              // [12, 16]
    encoder._2.forward(workspace.encoder_0, workspace.encoder_2);          // [12, 8]
    attention.forward(workspace.encoder_2, workspace.encoder_2,
                      tinyattn::begin_lifetime(workspace.scratch));  // [12, 8]
    decoder._0.forward(workspace.encoder_2,
                       tinyattn::begin_lifetime(workspace.encoder_0));  // [12, 16]
    tinyattn::silu(workspace.encoder_0, workspace.encoder_0);           // [12, 16]
    decoder._2.forward(workspace.encoder_0, out);                       // [12, 5]
    tinyattn::subtract(out, x, out);                                    // [12, 5]
    tinyattn::multiply(out, out, out);                                  // [12, 5]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 4252 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, encoder) == 0 && sizeof(Model::encoder) == 928);
static_assert(offsetof(Model, attention) == 928 && sizeof(Model::attention) == 2408);
static_assert(offsetof(Model, decoder) == 3336 && sizeof(Model::decoder) == 916);

// CRC-32 of anomalies.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x5b20d85f;

// Where anomalies.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.c4e268p-2f, 0x1.24f738p-3f, 0x1.5e3664p-1f, 0x1.bfc2ap+0f, 0x1.05522p+0f, 0x1.9a732ep-3f, 0x1.044ccep-1f, -0x1.2815a8p+1f,
  -0x1.143d0cp-4f, -0x1.d10c6ep-3f, -0x1.3c434ap-1f, 0x1.cde9cap-2f, -0x1.41f922p-1f, -0x1.2efae8p-3f, 0x1.bb030cp-1f, 0x1.018a8ap-3f,
  0x1.987528p+0f, -0x1.cee3acp-2f, -0x1.90478ap-2f, 0x1.e59a46p+0f, -0x1.dded64p-1f, 0x1.57439p-2f, -0x1.2a4512p+0f, 0x1.58b1e8p-2f,
  0x1.e55bc6p-1f, 0x1.f7357ep-1f, -0x1.b164f2p+0f, 0x1.a663acp+0f, 0x1.26a532p+0f, -0x1.aa90cp-1f, 0x1.e866f8p-8f, 0x1.9076aep-1f,
  -0x1.0e416p-1f, -0x1.d1a92cp+0f, 0x1.91a994p-5f, 0x1.0b465p-1f, -0x1.fca6f4p-1f, -0x1.d02ec8p-2f, -0x1.d873cep+0f, -0x1.8aa20cp-1f,
  0x1.d37608p-1f, 0x1.2ad9a8p-2f, -0x1.3c48f6p+0f, -0x1.238f3ep-1f, -0x1.768834p+0f, -0x1.c962a6p-1f, -0x1.6a4b3ep-3f, 0x1.791cf6p+0f,
  0x1.4eb072p-1f, 0x1.3e939ap-1f, -0x1.7ec2bap+0f, -0x1.6b6332p+0f, 0x1.370ba4p+0f, 0x1.3ddbecp-2f, -0x1.013b34p+1f, -0x1.88e3c6p-2f,
  0x1.520084p+1f, 0x1.dee914p-4f, 0x1.ef6b9cp-1f, 0x1.18fa9ap+0f}};

inline constexpr Model::Output example_output = {{
  0x1.a9659cp-4f, 0x1.5f518ap-7f, 0x1.57bc18p-6f, 0x1.218be2p+2f, 0x1.60da3ep+0f, 0x1.53a1bp-4f, 0x1.1ec70cp-2f, 0x1.f2a922p+2f,
  0x1.1cc544p-5f, 0x1.57441ep-7f, 0x1.1efe58p-2f, 0x1.a5dcep-3f, 0x1.3e5d4cp+0f, 0x1.1b92cap-6f, 0x1.f94e44p-1f, 0x1.5e6092p-5f,
  0x1.5070b6p+1f, 0x1.96c8b8p-1f, 0x1.7fc228p-7f, 0x1.1185f8p+2f, 0x1.63dd8cp-1f, 0x1.ad4dccp-4f, 0x1.66a594p+1f, 0x1.94c11cp-2f,
  0x1.243c9ep+0f, 0x1.258b76p+0f, 0x1.928118p+1f, 0x1.672dfep+0f, 0x1.1dcd0ep+1f, 0x1.c258f8p-2f, 0x1.a8ff64p-9f, 0x1.483b3ep-1f,
  0x1.bd8fb2p-1f, 0x1.4a5476p+1f, 0x1.e1ae3ep-6f, 0x1.6005d4p-2f, 0x1.fcf678p-1f, 0x1.900d66p-1f, 0x1.4747ep+1f, 0x1.b14224p-2f,
  0x1.f1132ep-1f, 0x1.7e230ep-4f, 0x1.69139ep+1f, 0x1.aa56c2p-4f, 0x1.c99666p+0f, 0x1.458962p-1f, 0x1.92f53ep-5f, 0x1.dc28bcp-1f,
  0x1.049b32p+0f, 0x1.37e1fp-1f, 0x1.0576f2p+1f, 0x1.1e4644p+1f, 0x1.fd4c48p-2f, 0x1.83fc3cp-2f, 0x1.b6483ep+1f, 0x1.5b6984p-4f,
  0x1.c72a58p+2f, 0x1.f23748p-4f, 0x1.9cc762p+0f, 0x1.a67b46p+0f}};
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

}  // namespace anomalies
