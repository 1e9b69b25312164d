// SPDX-License-Identifier: MIT
//
// The parameters of models by name: their order and sizes, and what a configuration omits.
#include "tinyattn/parameters.hpp"

#include <string_view>
#include <type_traits>

#include "catalogue/attention.hpp"

namespace tinyattn::test { namespace {

constexpr LanguageModelConfig like_gpt2 = {
    .vocabulary = 5,
    .transformer = {.block = {.attention = {.d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2, .qkv_bias = true},
                              .feed_forward = {.d_model = 4, .d_hidden = 6}},
                    .num_layers = 1}};
constexpr LanguageModelConfig like_llama = {
    .vocabulary = 5,
    .transformer =
        {.block = {.attention = {.d_in = 4, .d_out = 4, .context_length = 3, .num_heads = 2, .out_bias = false, .num_kv_heads = 1},
                   .feed_forward = {.d_model = 4, .d_hidden = 6, .gated = true, .bias = false},
                   .normalization = Normalization::rms},
         .num_layers = 11},
    .positions = Positions::none,
    .tied = false};
struct Parameter {
  std::string_view name;
  std::size_t size;
};

// Checks the names, sizes and order of a model's parameters, except in blocks after the first. A name that begins with a dot is in the
// first block.
template <class Module>
constexpr void check_first_block(Check& check, Module& module, std::initializer_list<Parameter> expected) {
  constexpr std::string_view blocks = "transformer.blocks.", first = "transformer.blocks.0.";
  const Parameter* next = expected.begin();
  std::size_t count = 0, bytes = 0;
  for_each_parameter(module, [&](const char* name, auto& tensor) {
    static_assert(std::is_const_v<Module> == std::is_const_v<std::remove_reference_t<decltype(tensor)>>);
    count += tensor.size();
    bytes += sizeof(tensor);
    std::string_view path = name;
    if (path.starts_with(first))
      path.remove_prefix(first.size() - 1);
    else if (path.starts_with(blocks))
      return;
    check.that(next != expected.end() && next->name == path && next->size == tensor.size());
    ++next;
  });
  check.that(next == expected.end() && count == Module::parameter_count && bytes == Module::parameter_bytes);
}

template <LanguageModelConfig config>
constexpr void check_llama(Check& check) {
  const LanguageModel<config> model{};
  check_first_block(check, model,
                    {{"token_embedding.weight", 20},
                     {".attention_norm.weight", 4},
                     {".attention.query.weight", 16},
                     {".attention.key.weight", 8},
                     {".attention.value.weight", 8},
                     {".attention.out_proj.weight", 16},
                     {".feed_forward_norm.weight", 4},
                     {".feed_forward.up.weight", 24},
                     {".feed_forward.gate.weight", 24},
                     {".feed_forward.down.weight", 24},
                     {"transformer.final_norm.weight", 4},
                     {"head.weight", 20}});
  std::string_view last;
  for_each_parameter(model.transformer, [&](std::string_view name, auto&) {
    if (name.starts_with("blocks.")) last = name;
  });
  check.that(last == "blocks.10.feed_forward.down.weight");
}

constexpr Test tests[] = {
    everywhere("a GPT-2, with biases and learned positions; its head is tied",
               [](Check& check) {
                 LanguageModel<like_gpt2> model{};
                 check_first_block(
                     check, model,
                     {{"token_embedding.weight", 20},       {"position_embedding.weight", 12},  {".attention_norm.weight", 4},
                      {".attention_norm.bias", 4},          {".attention.query.weight", 16},    {".attention.query.bias", 4},
                      {".attention.key.weight", 16},        {".attention.key.bias", 4},         {".attention.value.weight", 16},
                      {".attention.value.bias", 4},         {".attention.out_proj.weight", 16}, {".attention.out_proj.bias", 4},
                      {".feed_forward_norm.weight", 4},     {".feed_forward_norm.bias", 4},     {".feed_forward.up.weight", 24},
                      {".feed_forward.up.bias", 6},         {".feed_forward.down.weight", 24},  {".feed_forward.down.bias", 4},
                      {"transformer.final_norm.weight", 4}, {"transformer.final_norm.bias", 4}});
               }),
    everywhere("a Llama that is constant, with a gate, a shared key head and eleven blocks, without biases", check_llama<like_llama>),
    everywhere("the same with weights of int8", check_llama<in_int8(like_llama)>),
    everywhere("heads with weights of their own, and what is written to them",
               [](Check& check) {
                 StackedCausalAttention<3, 2, 4, 2> heads{};
                 float next = 0.0f;
                 for_each_parameter(heads, [&](const char*, auto& tensor) { tensor.elements[0] = next += 1.0f; });
                 check.that(next == 6.0f && heads.heads[0].query.weight(0, 0) == 1.0f && heads.heads[1].value.weight(0, 0) == 6.0f);
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
