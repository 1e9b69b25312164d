// GPTModel, a torch.nn.Module,
// written by tinyattn's ports/pytorch/export.py. Do not edit: export again.
//
// SHA-256 of its state_dict: 12783e6ce53d6decba564645851f007f86686b9e03de9bc334883f9ceca3675a
// 16080 parameters, 64340 bytes.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/embedding.hpp"
#include "tinyattn/lifetime.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/token.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace gpt {

struct Model {
  struct MultiHeadAttention {
    tinyattn::Linear<24, 24, false> W_key;
    tinyattn::Linear<24, 24, false> W_query;
    tinyattn::Linear<24, 24, false> W_value;
    tinyattn::Linear<24, 24, true> out_proj;
  };

  struct Layers {
    tinyattn::Linear<24, 96, true> _0;
    tinyattn::Linear<96, 24, true> _2;
  };

  struct FeedForward {
    Layers layers;
  };

  struct TransformerBlock {
    tinyattn::LayerNorm<24> norm1;
    MultiHeadAttention att;
    tinyattn::LayerNorm<24> norm2;
    FeedForward ff;
  };

  using Input = tinyattn::Vector<tinyattn::Token, 14>;
  using Output = tinyattn::Matrix<float, 14, 29>;
  static constexpr std::size_t parameter_count = 16080;

  tinyattn::Embedding<29, 24> tok_emb;
  TransformerBlock trf_blocks[2];
  tinyattn::LayerNorm<24> final_norm;
  tinyattn::Linear<24, 29, false> out_head;
  tinyattn::Matrix<float, 14, 24> pos_emb;

  // All the scratch of a call, activations included. Members of a union are not alive together.
  struct Workspace {
    union {
      tinyattn::Matrix<float, 14, 96> layers_0;
      tinyattn::Matrix<float, 14, 24> norm;
    };
    tinyattn::Matrix<float, 14, 24> tok_emb;
    tinyattn::Matrix<float, 14, 24> W_key;
    tinyattn::Matrix<float, 14, 24> W_query;
    tinyattn::Matrix<float, 14, 24> W_value;
  };

  // Computes what GPTModel.forward computes of one input. x and out may not overlap.
  // x has tokens below 29: others leave the result undefined.
  constexpr void forward(const Input& x, Output& out, Workspace& workspace) const noexcept {
    static_cast<void>(tok_emb.forward(x, workspace.tok_emb));      // [14, 24]
    tinyattn::add(workspace.tok_emb, pos_emb, workspace.tok_emb);  // [14, 24]
    for (const TransformerBlock& trf_block : trf_blocks) {
      trf_block.norm1.forward(workspace.tok_emb,
                              tinyattn::begin_lifetime(workspace.norm));  // [14, 24]
      trf_block.att.W_key.forward(workspace.norm, workspace.W_key);       // [14, 24]
      trf_block.att.W_query.forward(workspace.norm, workspace.W_query);   // [14, 24]
      trf_block.att.W_value.forward(workspace.norm, workspace.W_value);   // [14, 24]
      for (std::size_t i = 0; i < 2; ++i) {
        const auto query_of_head = tinyattn::columns<12>(workspace.W_query, 12 * i);
        const auto key_of_head = tinyattn::columns<12>(workspace.W_key, 12 * i);
        const auto value_of_head = tinyattn::columns<12>(workspace.W_value, 12 * i);
        auto context_of_head = tinyattn::columns<12>(workspace.norm, 12 * i);
        tinyattn::scaled_dot_product_attention(query_of_head, key_of_head, value_of_head,
                                               tinyattn::Causal{}, context_of_head);
      }                                                                      // [14, 24]
      trf_block.att.out_proj.forward(workspace.norm, workspace.W_key);       // [14, 24]
      tinyattn::add(workspace.W_key, workspace.tok_emb, workspace.tok_emb);  // [14, 24]
      trf_block.norm2.forward(workspace.tok_emb, workspace.W_key);           // [14, 24]
      trf_block.ff.layers._0.forward(workspace.W_key,
                                     tinyattn::begin_lifetime(workspace.layers_0));  // [14, 96]
      tinyattn::gelu_tanh(workspace.layers_0, workspace.layers_0);                   // [14, 96]
      trf_block.ff.layers._2.forward(workspace.layers_0, workspace.W_key);           // [14, 24]
      tinyattn::add(workspace.W_key, workspace.tok_emb, workspace.tok_emb);          // [14, 24]
    }
    final_norm.forward(workspace.tok_emb, workspace.tok_emb);  // [14, 24]
    out_head.forward(workspace.tok_emb, out);                  // [14, 29]
  }
};

static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<Model> && std::is_trivially_copyable_v<Model>);
static_assert(sizeof(Model) == 64340 && alignof(Model) == alignof(float), "no padding");
static_assert(offsetof(Model, tok_emb) == 0 && sizeof(Model::tok_emb) == 2784);
static_assert(offsetof(Model, trf_blocks) == 2784 && sizeof(Model::trf_blocks) == 57232);
static_assert(offsetof(Model, final_norm) == 60016 && sizeof(Model::final_norm) == 196);
static_assert(offsetof(Model, out_head) == 60212 && sizeof(Model::out_head) == 2784);
static_assert(offsetof(Model, pos_emb) == 62996 && sizeof(Model::pos_emb) == 1344);

// CRC-32 of gpt.bin, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = 0x880b85c1;

// Where gpt.bin lies in flash, at a multiple of four; nothing is copied.
inline const Model& weights(const void* address) noexcept {
  return *static_cast<const Model*>(address);
}

// clang-format off
inline constexpr Model::Input example_input = {{
  22, 10, 7, 1, 17, 14, 6, 1, 8, 17, 26, 1, 21, 7}};

inline constexpr Model::Output example_output = {{
  -0x1.99dcfep+0f, 0x1.85629ep+2f, 0x1.4ca13p+2f, 0x1.82ff62p+0f, -0x1.696ee2p+0f, -0x1.c5873p+1f, 0x1.ae59p-2f, -0x1.c78532p-1f,
  -0x1.4ccf3ap+1f, -0x1.8b0d94p+1f, 0x1.d65f32p+2f, -0x1.0a4a9ap+0f, -0x1.ce73aap+0f, -0x1.a75e6p+1f, -0x1.fc59b8p+0f, -0x1.067cccp+1f,
  -0x1.0d96ecp+0f, 0x1.023c1p-1f, -0x1.2ba472p+1f, -0x1.0b561p+1f, 0x1.69d46p+0f, 0x1.4a0abap+2f, -0x1.617f5p+0f, -0x1.e00648p+2f,
  -0x1.c73e8ap+1f, -0x1.0dd472p+0f, -0x1.0d7268p+2f, -0x1.39a022p+1f, -0x1.94b834p+0f, -0x1.7705dp-2f, 0x1.a05b2ap+0f, -0x1.3722cep+1f,
  -0x1.19e13p-5f, -0x1.f7dd4ap+1f, -0x1.f89c58p+0f, -0x1.77be66p+0f, 0x1.507322p+3f, -0x1.c62a6ep+1f, -0x1.d0a386p-1f, -0x1.1f2df4p+1f,
  0x1.00fe52p+2f, -0x1.c2af5p+0f, -0x1.178338p+1f, -0x1.f6597cp-1f, -0x1.08660ap+0f, -0x1.e84d02p-1f, 0x1.f78796p-2f, -0x1.261072p+1f,
  -0x1.66595ap+0f, -0x1.04a62ap-1f, -0x1.1a5798p+0f, 0x1.b395e2p+1f, 0x1.3ee3f4p+0f, 0x1.b2da46p-1f, -0x1.2961dcp+2f, -0x1.905e3ep+1f,
  -0x1.773046p-6f, -0x1.a5ea1p+0f, -0x1.7324e8p+1f, 0x1.38838ep+3f, -0x1.714e3p-3f, 0x1.46589ap+1f, -0x1.e1c908p+1f, -0x1.274cbcp+2f,
  0x1.d670a4p-3f, 0x1.cd49e8p+0f, -0x1.fc4d4p+2f, -0x1.c96058p-2f, -0x1.712a4p+1f, -0x1.08c5eep+1f, -0x1.711ea6p+1f, -0x1.67b7cep+2f,
  0x1.400d48p+0f, 0x1.07bbf4p-1f, 0x1.30b462p+1f, 0x1.74b804p-5f, -0x1.3f2448p+1f, -0x1.2ca102p+1f, 0x1.9ee7b6p+1f, 0x1.3fdaaap+1f,
  -0x1.b6bc9ap+0f, -0x1.7c2d08p+1f, -0x1.3249cap+1f, -0x1.9c0d74p+2f, -0x1.677a7ep-1f, 0x1.2df0fep-1f, -0x1.457f6p+1f, -0x1.f12beap+0f,
  0x1.4d1984p+0f, -0x1.f77a78p-2f, -0x1.5558e4p-3f, -0x1.4b9e8p-5f, -0x1.ee714cp+1f, -0x1.09e89ap+2f, -0x1.2acee8p+1f, 0x1.10ad24p-1f,
  0x1.392c3ap+2f, 0x1.2f657ap+2f, -0x1.8fd814p-1f, -0x1.37c796p+1f, -0x1.5f1ca2p-3f, -0x1.b8e03ep-2f, -0x1.9f390ep+1f, 0x1.c82b18p-3f,
  0x1.6e4c1ep+2f, -0x1.8622eep+1f, -0x1.8c90d4p+0f, 0x1.888bb6p+2f, 0x1.66172ap+2f, -0x1.4e77f4p+1f, -0x1.18c1acp+2f, -0x1.6ecb04p+1f,
  0x1.d052fp-3f, -0x1.ae794ep+1f, -0x1.8618d2p-3f, -0x1.215c74p+1f, -0x1.97367ep-1f, 0x1.1f0fe4p+1f, -0x1.e85be8p+1f, 0x1.02e6a4p+0f,
  -0x1.180494p+2f, -0x1.191d6p+2f, -0x1.0d834cp+1f, -0x1.44f98ap+1f, -0x1.f51c08p+0f, -0x1.010b2ep+2f, -0x1.29b93ap+0f, -0x1.c8c12p-1f,
  -0x1.32de36p+1f, -0x1.d8276cp+1f, 0x1.46c1dep+3f, 0x1.f7c824p-1f, 0x1.98bc7cp+1f, -0x1.34e136p-2f, -0x1.08cff6p+1f, -0x1.02b008p+1f,
  0x1.a9fe1cp+1f, -0x1.c9ef0ep+0f, 0x1.74bdbcp+0f, -0x1.badb0ep-2f, 0x1.7ac4a8p+0f, -0x1.5fd41cp-3f, 0x1.b8584ap+1f, -0x1.f3c0fcp+1f,
  -0x1.37810cp+1f, 0x1.67bf4p-5f, 0x1.e2dc6p+0f, -0x1.a0c052p-2f, -0x1.5c8798p+0f, -0x1.120864p+1f, -0x1.19a79cp+0f, 0x1.4388bcp+3f,
  0x1.1fd926p+0f, -0x1.654a7p+1f, 0x1.8f2a9ep-2f, -0x1.1ef7a4p+2f, 0x1.fcc61ap-1f, -0x1.0d2b06p+0f, -0x1.e2a696p+0f, 0x1.5a19e8p+1f,
  -0x1.51aa68p+1f, -0x1.24a93p-1f, 0x1.7a848ap+0f, -0x1.4cf37ep-1f, -0x1.2892b4p-1f, -0x1.a1ddc4p+1f, 0x1.5482aap-2f, 0x1.a30e6ap-2f,
  0x1.7e559ap+1f, -0x1.eb2d1ap+0f, -0x1.249906p+1f, -0x1.f09ab8p+0f, 0x1.249abcp+1f, -0x1.99f65p+0f, -0x1.912598p+0f, 0x1.550608p+3f,
  0x1.2f6246p+2f, 0x1.7f877ep-6f, -0x1.d3c442p+1f, -0x1.808dfp+2f, 0x1.93ec04p-2f, 0x1.47ce74p+1f, -0x1.e0d29ap+2f, -0x1.3bc438p-2f,
  0x1.eeb35cp-4f, -0x1.a6b03ep-2f, -0x1.2ae442p+1f, -0x1.1cb42ap+2f, 0x1.4f56b8p-2f, -0x1.a2ea3ap-2f, -0x1.731836p+0f, 0x1.ae1aep+1f,
  -0x1.10b31cp+1f, -0x1.059cep+1f, 0x1.263c9cp-2f, 0x1.67a642p+1f, -0x1.925a5cp+1f, -0x1.5b47bep+2f, -0x1.b496f6p+1f, -0x1.654ba4p+2f,
  -0x1.1efa14p+1f, -0x1.213102p+1f, -0x1.b43f72p+0f, -0x1.7394e6p-1f, -0x1.8592b8p+2f, -0x1.889c94p-1f, 0x1.80139ap+0f, 0x1.0eb14ep+2f,
  0x1.e02dcap+1f, -0x1.16b582p-1f, -0x1.bd944ap+0f, 0x1.425ff2p+3f, -0x1.26f386p+1f, 0x1.50936ep+2f, -0x1.5511aap+1f, 0x1.76efbp+0f,
  0x1.802e1ap+0f, -0x1.c0f26ep-1f, 0x1.048432p+1f, 0x1.669bacp-2f, 0x1.d4981ep-1f, 0x1.162f56p+0f, 0x1.4930bcp+0f, -0x1.dda458p+1f,
  0x1.dcd118p+1f, 0x1.17b556p+0f, -0x1.bcb614p+0f, -0x1.4b3a62p-2f, 0x1.91cb34p+1f, -0x1.29c18p+0f, -0x1.8418e2p+0f, 0x1.8594bp+0f,
  0x1.c105eep-1f, 0x1.4f9428p+0f, -0x1.9199c4p-1f, -0x1.56b6b2p-2f, 0x1.bff8bp-1f, -0x1.9067ap+1f, -0x1.d1ca26p-1f, 0x1.d30a2cp+0f,
  0x1.5dc504p-8f, 0x1.392b5ap-3f, -0x1.62c64ep-3f, 0x1.63313cp-3f, -0x1.da227ap-1f, 0x1.181422p+0f, 0x1.13681p-1f, -0x1.b29b98p+0f,
  0x1.66f2f8p-2f, 0x1.4949fcp+3f, -0x1.d925b2p-2f, -0x1.5b3c08p-1f, 0x1.533ef8p+0f, 0x1.9793eap+1f, -0x1.28547cp+2f, -0x1.f5329cp+0f,
  -0x1.64067ep-1f, -0x1.440d86p+1f, -0x1.c78ef6p+0f, 0x1.7f8486p-3f, -0x1.446316p-1f, 0x1.8acecep-3f, 0x1.64ee34p-1f, -0x1.bd168ap+0f,
  -0x1.399ab4p+0f, -0x1.5ddbfep-4f, -0x1.e0d2b2p+1f, -0x1.6cd90ep+1f, -0x1.d66e38p+1f, -0x1.94775cp+0f, -0x1.841f76p-1f, -0x1.e69ff2p+1f,
  -0x1.90a544p+0f, 0x1.c059p-1f, -0x1.2891f4p-1f, 0x1.49caa6p+1f, 0x1.b005dap+0f, 0x1.75affp-2f, -0x1.64dc8ep+0f, 0x1.17e56p+0f,
  0x1.2b6f08p-1f, 0x1.30f97ep+1f, -0x1.58ce96p+1f, 0x1.ec6948p-4f, 0x1.69fd0ep+1f, 0x1.4b0beap+0f, 0x1.3dfd6cp+1f, 0x1.28bb7p+3f,
  0x1.c9c3aap-2f, 0x1.62741cp-1f, -0x1.2b5bfp+0f, 0x1.35fd36p+3f, 0x1.e39cb2p+2f, 0x1.1b07ccp+1f, -0x1.0544bp+0f, -0x1.f4fc9ep+1f,
  0x1.ac5c7ap+0f, -0x1.0e82d6p-1f, -0x1.a1e272p+2f, -0x1.70b55cp-3f, 0x1.f3371ep-1f, -0x1.63eb4cp+0f, -0x1.08443cp+0f, -0x1.c2cf76p+1f,
  -0x1.16e182p+1f, -0x1.59be46p+0f, -0x1.f68578p+0f, 0x1.9434bap-1f, -0x1.ed8f66p-1f, -0x1.9d5dcap+0f, 0x1.ca2cap-4f, 0x1.8b8878p+1f,
  -0x1.9840ep+1f, -0x1.5b35cp+2f, -0x1.2126bcp+2f, -0x1.c4e116p+1f, -0x1.270408p+1f, -0x1.f2c9f6p-1f, -0x1.b3a5f4p-1f, -0x1.6137bcp+2f,
  -0x1.dc182ap+1f, -0x1.338b3ap+1f, 0x1.fb41a2p+1f, -0x1.6dde8cp+1f, -0x1.79e1c4p+1f, -0x1.f353f2p-1f, -0x1.a2a7f2p+1f, 0x1.efebfep+1f,
  -0x1.e504ecp+0f, 0x1.04f352p+2f, 0x1.c39a4cp+1f, -0x1.60932ap+1f, -0x1.10b9cp+2f, 0x1.ea156p+1f, -0x1.e4a59ap+1f, 0x1.06984p+2f,
  0x1.f71b34p+1f, -0x1.6d0332p+1f, -0x1.4bea44p+1f, 0x1.3f73a4p-1f, 0x1.d92fb8p+1f, 0x1.95ed68p-3f, -0x1.bdbbe4p+1f, -0x1.a418fcp+1f,
  0x1.f9b62ap+1f, -0x1.7a9e14p+0f, -0x1.671ac4p+1f, -0x1.671c8ep+1f, -0x1.cf85dap-3f, 0x1.1983a8p+0f, -0x1.036e12p+2f, 0x1.270856p-2f,
  -0x1.deb64p+1f, -0x1.07fbfep-2f, -0x1.0aa068p+1f, 0x1.3a2382p+3f, -0x1.a8804ap+0f, -0x1.d95dd4p-2f, -0x1.1b89cep+1f, 0x1.fbee4ap-1f,
  -0x1.76a0dp-1f, -0x1.886c54p+1f, -0x1.9e4e6ep+0f, 0x1.fc7afp+1f, 0x1.35109p-1f, 0x1.dbf8d6p-2f, -0x1.44ea4ep+0f, 0x1.9900f6p-3f,
  -0x1.d35d8ap-3f, -0x1.3c8acp-3f, -0x1.26c14ep-2f, 0x1.a8f5d4p+0f, 0x1.207ac2p-3f, -0x1.3d1e88p+2f, -0x1.dbd6f8p+0f, -0x1.949b08p-1f,
  -0x1.ec58b2p-2f, -0x1.f2928ap-3f, -0x1.72b212p+1f, -0x1.afb4a4p+0f, 0x1.0e2158p+0f, -0x1.e0819p+0f, -0x1.1edd14p-2f, -0x1.e72894p-2f,
  0x1.2472c6p+3f, 0x1.f10abep+0f, -0x1.942178p+1f, -0x1.cfd9f2p-1f, 0x1.19edd8p+2f, 0x1.c3862p-3f, -0x1.109634p+1f, -0x1.7a89d2p+0f,
  -0x1.4a6f3ap-1f, 0x1.53815ap-4f, 0x1.bcb67p+0f, -0x1.42a9a6p-1f, 0x1.1aa84ep-3f, -0x1.bb103cp+1f, 0x1.427082p+0f, 0x1.0c93aap-1f,
  0x1.24d45ep+1f, 0x1.c50adp-2f, -0x1.af84d8p-1f, -0x1.ff133ep+0f, -0x1.882e5cp-1f, -0x1.667e14p-3f}};
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

}  // namespace gpt
