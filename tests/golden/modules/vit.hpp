// PatchViT, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 879f792b753801fb617fe9337f0124f1cf3318f5302e6937f38c6832d8751edf
// 3460 parameters, 13852 bytes.
#pragma once

#include "tinyattn/arithmetic.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/transformer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace vit {

inline constexpr tinyattn::TransformerConfig config_of_encoder = {
    .block =
        {
            .attention =
                {
                    .d_in = 16,
                    .d_out = 16,
                    .context_length = 6,
                    .num_heads = 2,
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
            .norm_first = true,
        },
    .num_layers = 1,
    .final_norm = true,
};

struct Model {
  using Input = tinyattn::Tensor<float, 1, 16, 24>;
  using Output = tinyattn::Vector<float, 4>;
  static constexpr std::size_t parameter_count = 3460;

  tinyattn::Linear<64, 16, true> patch;
  tinyattn::Transformer<config_of_encoder> encoder;
  tinyattn::Linear<16, 4, true> head;
  tinyattn::Matrix<float, 6, 16> pos;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Transformer<config_of_encoder>::Workspace scratch;
      tinyattn::Matrix<float, 6, 64> patch_patches;
      tinyattn::Vector<float, 16> mean;
    };
    tinyattn::Matrix<float, 6, 16> patch;
  };

  // Computes what PatchViT.forward computes of one input. x and out may not overlap.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    tinyattn::begin_lifetime(workspace.patch_patches);
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 8; ++k)
          for (std::size_t l = 0; l < 8; ++l)
            workspace.patch_patches.elements[192 * i + 64 * j + 8 * k + l] =
                x.elements[l + 24 * k + 8 * j + 192 * i];     // [6, 64]
    patch.forward(workspace.patch_patches, workspace.patch);  // [6, 16]
    tinyattn::add(workspace.patch, pos, workspace.patch);     // [6, 16]
    encoder.forward(workspace.patch, workspace.patch,
                    tinyattn::begin_lifetime(workspace.scratch));               // [6, 16]
    tinyattn::mean(workspace.patch, tinyattn::begin_lifetime(workspace.mean));  // [16]
    head.forward(workspace.mean, out);                                          // [4]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 13852 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, patch) == 0 && sizeof(Model::patch) == 4160);
static_assert(offsetof(Model, encoder) == 4160 && sizeof(Model::encoder) == 9036);
static_assert(offsetof(Model, head) == 13196 && sizeof(Model::head) == 272);
static_assert(offsetof(Model, pos) == 13468 && sizeof(Model::pos) == 384);

// CRC-32 of vit.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0xe619914b;

// Where vit.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  -0x1.276bd4p-5f, 0x1.836bcap-3f, -0x1.883536p-1f, -0x1.7baafcp-1f, 0x1.ada2dcp+0f, 0x1.0784f6p-6f, 0x1.8e9612p-1f, 0x1.5822cap+0f,
  -0x1.24383cp+0f, -0x1.532342p-1f, 0x1.3c7566p-1f, 0x1.9e58c6p-3f, -0x1.d05292p-2f, 0x1.b33728p-2f, 0x1.2ec992p+0f, -0x1.f909d2p-4f,
  -0x1.c9c2eap-3f, 0x1.cf8f78p+0f, -0x1.42f928p-2f, -0x1.30012ep+0f, -0x1.3b49aap-1f, 0x1.a8bd1cp+0f, 0x1.1e664ap-2f, 0x1.d37538p-1f,
  0x1.311decp-1f, 0x1.e36a02p+0f, -0x1.2877c8p-2f, 0x1.03e8d8p-2f, -0x1.64f10ep-4f, 0x1.4fa8cep-1f, 0x1.1ef95ap-5f, 0x1.282b68p-2f,
  0x1.776614p-2f, 0x1.f87bd8p-3f, -0x1.05effp+1f, 0x1.127564p+0f, -0x1.c23a2p-2f, 0x1.c01ddcp-2f, -0x1.714c3cp-5f, -0x1.3bc9cap-6f,
  0x1.12052cp-1f, 0x1.4d54d8p-1f, 0x1.c15ccap-1f, -0x1.29dbdcp+1f, -0x1.b53866p-7f, 0x1.814ebep-2f, -0x1.eabc96p-1f, -0x1.2d0f5cp+0f,
  -0x1.2cc5aap-1f, 0x1.f58046p-2f, 0x1.50072ep-4f, 0x1.bcda94p+0f, -0x1.60e8aep-3f, 0x1.1ebc84p-3f, -0x1.f23bp-2f, -0x1.12df9ap+0f,
  -0x1.7a30c8p+0f, -0x1.3d3276p-1f, -0x1.f30e94p-2f, -0x1.881db2p-4f, 0x1.05c8ccp+0f, 0x1.4cf97ep-3f, -0x1.2c2d84p-3f, -0x1.e705dp+0f,
  -0x1.11f404p-1f, -0x1.851f38p+0f, 0x1.16b60ep+0f, -0x1.a6b9cap-2f, 0x1.ed73ep-1f, 0x1.fa18e2p-3f, -0x1.764036p-1f, 0x1.a7c56ep-2f,
  0x1.3a4808p-1f, -0x1.d28a1ap-4f, -0x1.9ec234p-2f, -0x1.7f54a2p+0f, -0x1.35c7ap+0f, -0x1.cb150ap-7f, -0x1.51b87ep+0f, -0x1.6eea0ep-1f,
  -0x1.c350f4p+0f, -0x1.5da9eep-1f, -0x1.991282p-1f, -0x1.6ba9f6p-1f, -0x1.c62024p-6f, -0x1.ae4c9cp-3f, -0x1.2221dp-1f, -0x1.457ef2p+0f,
  -0x1.df590ep-2f, 0x1.edda88p-4f, -0x1.29688ep+0f, -0x1.374a6cp+0f, -0x1.c5e6f6p-2f, -0x1.ad8746p-1f, -0x1.4081ep-4f, -0x1.585f66p+0f,
  0x1.97619p-2f, 0x1.731554p-1f, 0x1.3905fap-1f, 0x1.fc7e16p+0f, -0x1.54eb72p+0f, 0x1.e9fee2p+0f, -0x1.49c2c2p+0f, -0x1.2dd12ap-1f,
  0x1.6690f6p-2f, 0x1.0f27e8p-1f, -0x1.eae234p-1f, -0x1.1f4d9ap-1f, 0x1.6de75ap-1f, -0x1.330c1p-1f, 0x1.e70406p-3f, 0x1.4f2592p-3f,
  -0x1.fc1484p-4f, 0x1.0cc654p-1f, -0x1.171652p-1f, 0x1.a3cc48p-3f, 0x1.ad8a2ap-2f, -0x1.347cd2p-5f, 0x1.e73b2cp-3f, 0x1.1ad962p+0f,
  -0x1.b3ab32p-1f, 0x1.1603fep+1f, -0x1.06962ap-2f, -0x1.5aa882p-1f, 0x1.113674p+1f, 0x1.0d7ae4p-3f, 0x1.9d420ap+0f, -0x1.ccabc2p-4f,
  -0x1.dcbbf2p-5f, 0x1.c0067ep-1f, -0x1.469368p+1f, -0x1.1618d6p+0f, 0x1.2c3efp+0f, 0x1.83471cp-2f, -0x1.222218p-4f, -0x1.966702p-1f,
  0x1.6cefb8p+0f, 0x1.2f8ef6p+0f, -0x1.a500a8p-3f, -0x1.f9c616p-1f, -0x1.102f22p+0f, -0x1.e6a258p-1f, 0x1.14303p+0f, -0x1.f4eda4p-1f,
  0x1.9a9e84p-2f, -0x1.217fd2p+0f, 0x1.840eap-2f, -0x1.ab67fep-3f, 0x1.6c4974p+0f, 0x1.8bde1p-2f, -0x1.530b42p-1f, 0x1.180482p+0f,
  0x1.2db382p+0f, -0x1.178668p-1f, 0x1.49b5e4p-2f, -0x1.2a8104p-1f, -0x1.0ca8p+0f, 0x1.cc01e8p+0f, -0x1.b2f44ap-2f, -0x1.fdaf5ap-2f,
  0x1.a6c0f8p+0f, 0x1.c069c8p+0f, 0x1.dfdca4p-3f, 0x1.cc7ddep+0f, 0x1.c7d4d8p-5f, 0x1.6fab4cp-5f, -0x1.fa3e02p-2f, -0x1.6eb04p-1f,
  -0x1.09439cp-1f, 0x1.2cb16cp+0f, 0x1.5924e4p-2f, -0x1.fd006cp-2f, 0x1.28f71cp-2f, 0x1.73ca74p-2f, -0x1.e7b948p-2f, 0x1.adcfaap-1f,
  0x1.5ca53ep+0f, -0x1.6df216p-1f, 0x1.00744ep-1f, -0x1.2c034ap-3f, 0x1.e33256p-3f, 0x1.5a6142p+1f, 0x1.456bf6p-1f, 0x1.a13ef8p-1f,
  -0x1.804104p-2f, 0x1.36d7c2p-1f, -0x1.82112p-3f, -0x1.0e8d44p+0f, -0x1.123de8p+0f, -0x1.8a353p+0f, -0x1.00f806p-1f, -0x1.5f7b9p-1f,
  0x1.43adc2p+0f, -0x1.3842ep-1f, -0x1.40969p-2f, -0x1.3b117p-3f, 0x1.058d2ep-1f, -0x1.623accp-1f, -0x1.52dep-2f, 0x1.1458f8p+0f,
  -0x1.355884p-2f, -0x1.09a432p-1f, -0x1.80cb5ep-4f, -0x1.2701b8p-1f, 0x1.3bf87p-2f, -0x1.a834b8p+0f, -0x1.6dab82p-5f, 0x1.13924cp-1f,
  -0x1.1614dcp+1f, -0x1.43613p-1f, 0x1.94a7cep-2f, 0x1.1b271ap-1f, -0x1.5ff696p+0f, 0x1.83ab1p-2f, -0x1.bac4ap-2f, -0x1.e1bde4p-4f,
  0x1.74259ap+0f, 0x1.a7a7b6p-3f, -0x1.f72b46p-1f, -0x1.0fc2dap+0f, -0x1.677afep-2f, -0x1.1d98f6p-4f, 0x1.c15f4ap+0f, -0x1.cc6246p-5f,
  -0x1.a5e2e4p-1f, 0x1.812a44p-3f, -0x1.427fc8p+0f, 0x1.bf9748p-2f, 0x1.448fbp+0f, 0x1.55c27ap+0f, 0x1.357914p+0f, 0x1.90c7cp-1f,
  -0x1.04f8cep+0f, -0x1.df1932p-1f, -0x1.72f8c8p-2f, 0x1.390544p-1f, -0x1.f9351ep-2f, -0x1.249bbap+1f, -0x1.35865ep-4f, 0x1.a6e932p-1f,
  -0x1.dbcba8p+0f, -0x1.32300ap+1f, -0x1.1bcb7ap+1f, 0x1.a8923cp-2f, 0x1.2d2728p-1f, -0x1.e3ed7ep-1f, -0x1.34ae8ap-2f, -0x1.e6b32cp-1f,
  -0x1.95fb1cp-1f, -0x1.2481bep-4f, 0x1.b2d294p-4f, -0x1.52bc56p-2f, 0x1.75e7dep-3f, 0x1.c51cf8p-1f, -0x1.a7ba06p-3f, 0x1.60d33cp-1f,
  0x1.872508p+0f, -0x1.dd0e18p-4f, -0x1.29d07ap-2f, 0x1.d4bafcp+0f, 0x1.e7808ap-4f, 0x1.9dd70cp-1f, 0x1.57ae8ep-1f, -0x1.a70cfp-2f,
  0x1.37ddfcp+0f, 0x1.1dd336p-2f, 0x1.597a3cp-1f, 0x1.e95bbcp-1f, 0x1.1e9444p-1f, 0x1.c9cd82p-2f, 0x1.afa77p+0f, 0x1.6d488ap-1f,
  0x1.aeebdep-8f, 0x1.5a1722p+0f, -0x1.3c2462p-1f, 0x1.7b2b8ep+0f, -0x1.60798ep-3f, 0x1.86aabap-3f, 0x1.78a222p-3f, 0x1.d61adp-1f,
  -0x1.962124p+0f, 0x1.ae25f8p-1f, 0x1.c1dbacp-6f, -0x1.a6a8bcp+0f, -0x1.188fdp+1f, -0x1.6725d4p-6f, 0x1.5c8ee6p+1f, 0x1.ddcddcp-1f,
  -0x1.48f772p+0f, 0x1.08d502p+1f, -0x1.5bb492p+0f, 0x1.a248b4p+1f, -0x1.ff7ab4p-1f, -0x1.79875ep-3f, -0x1.f53628p-7f, 0x1.1d10e4p-6f,
  -0x1.3fdafp+0f, 0x1.7aef94p-2f, 0x1.96e7d6p-1f, -0x1.9d45f4p-3f, 0x1.eb92a8p-3f, 0x1.45518ap+0f, 0x1.716e1ep+0f, -0x1.f4fec2p-3f,
  0x1.321a4ap-1f, -0x1.7c87d8p-3f, 0x1.86ec3p-1f, -0x1.c9598cp-1f, 0x1.c38008p-5f, 0x1.0b9ap+0f, -0x1.7248c6p-3f, -0x1.52f258p+0f,
  -0x1.097cdep-3f, 0x1.9754p-3f, -0x1.1af69p+1f, 0x1.0ed63ap-3f, 0x1.e5fcf6p+0f, 0x1.fa8864p-2f, -0x1.6ddc3p+0f, 0x1.08088ep+0f,
  0x1.c583ccp-2f, 0x1.1520ccp+0f, -0x1.ed708p-1f, -0x1.0a0554p-2f, -0x1.ef527cp-1f, -0x1.e0a8b8p-1f, 0x1.ca288p-2f, -0x1.a06578p+0f,
  0x1.344086p-4f, 0x1.e8ccd4p-3f, -0x1.5ef69p-1f, -0x1.4aaeap-1f, -0x1.6ee7fep+0f, -0x1.5319e2p-1f, -0x1.4bfc5ap-2f, 0x1.0167d2p-1f,
  0x1.94cad2p-1f, 0x1.94abe4p+0f, -0x1.eec594p-3f, -0x1.09af46p+0f, 0x1.8dec7ap+0f, -0x1.003a06p+0f, -0x1.2c3e3ep+0f, 0x1.0da618p+0f,
  0x1.0e1f2cp-1f, 0x1.67b1eep+0f, -0x1.cd73d2p-1f, 0x1.499092p+1f, -0x1.dd9766p-4f, 0x1.ced51ap-4f, 0x1.69e07cp+1f, -0x1.8b8a1ap-2f,
  0x1.267bcep-7f, 0x1.f3d82cp-2f, -0x1.da5ee6p-2f, -0x1.06e5ep-10f, -0x1.0f5466p-1f, -0x1.5594p-1f, 0x1.7e7a68p-2f, -0x1.1f6edp+0f,
  0x1.aba246p-2f, 0x1.323af8p-1f, 0x1.75864ap+0f, -0x1.c3b32cp+0f, 0x1.ab9e06p-1f, 0x1.9dfc7ep-1f, -0x1.c624d2p-1f, -0x1.0d8ca6p+1f,
  -0x1.4cb91ep+0f, -0x1.bfb2acp-2f, 0x1.e996cap-1f, -0x1.cd7db6p-1f, 0x1.be967ap-5f, -0x1.500c1ap-8f, -0x1.31e0a8p-4f, -0x1.ddebcap-1f,
  -0x1.c98c6ap-2f, 0x1.0dbc3ap-1f, -0x1.32fef4p-1f, -0x1.89bb8p-2f, 0x1.0def9p-2f, -0x1.3d0e64p-1f, 0x1.17d5dap-2f, 0x1.0dec2p+0f}};

inline constexpr Model::Output example_output = {{
  0x1.0a102cp-2f, -0x1.de5f84p-3f, -0x1.dbd73p-3f, 0x1.3e36aep-2f}};
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

}  // namespace vit
