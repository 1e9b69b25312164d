// SPDX-License-Identifier: MIT
//
// Cases with a cache that compare by themselves: a prompt in one call, in two or token by token has the same outputs; with a cache of
// floats also the outputs of a call without a cache.
#pragma once

#include "catalogue/models.hpp"

#include <cstddef>

namespace tinyattn::test {

template <AttentionConfig config>
constexpr bool keeps_floats(const MultiHeadAttention<config>&) noexcept {
  return config.cache == Weights::f32;
}
template <BlockConfig config>
constexpr bool keeps_floats(const TransformerBlock<config>&) noexcept {
  return config.attention.cache == Weights::f32;
}
template <TransformerConfig config>
constexpr bool keeps_floats(const Transformer<config>&) noexcept {
  return config.block.attention.cache == Weights::f32;
}

// Features, divided at every place: the first part in one call, the rest in another, or token by token.
template <class Module, std::size_t Tokens, std::size_t DIn, std::size_t DOut = DIn>
struct Divided : WithCache<Module, Tokens, DIn, DOut> {
  Matrix<float, Tokens, DOut> expected;

  constexpr void operator()(Draw& draw, Check& check) noexcept {
    this->draw_inputs(draw);
    auto& computed = this->out.tensor;
    if (keeps_floats(this->layer))
      this->layer.forward(this->x, computed, this->workspace.tensor);
    else
      check.that(this->forward_cached(Tokens, 1) == Status::ok);
    expected = computed;
    for (std::size_t cut = 0; cut <= Tokens; ++cut)
      for (const std::size_t step : {Tokens, std::size_t{1}}) {
        computed = {};
        check.that(this->forward_cached(cut, step) == Status::ok);
        check.same_bits(computed, expected);
      }
    check.that(this->out.guards_hold() && this->workspace.guards_hold() && this->cache.guards_hold() &&
               this->cache_workspace.guards_hold());
  }
};

// A text, divided in the same ways: compares the logits after each call's last token.
template <LanguageModelConfig config, std::size_t Tokens>
struct DividedText {
  using Model = LanguageModel<config>;

  Model model;
  Guarded<typename Model::Workspace> workspace;
  Guarded<typename Model::Cache> cache;
  Guarded<typename Model::Cache::Workspace> cache_workspace;
  Vector<Token, Tokens> tokens;
  Guarded<Matrix<float, Tokens, config.vocabulary>> logits;
  Guarded<Vector<float, config.vocabulary>> last;

  constexpr void operator()(Draw& draw, Check& check) noexcept {
    draw(model);
    for (Token& token : tokens.elements) token = static_cast<Token>(draw.word() % config.vocabulary);
    if (keeps_floats(model.transformer))
      check.that(model.forward(tokens, logits.tensor, workspace.tensor) == Status::ok);
    else
      read_one_by_one(check);
    for (std::size_t cut = 1; cut <= Tokens; ++cut)
      for (const std::size_t step : {Tokens, std::size_t{1}}) {
        cache.tensor.clear();
        read(check, 0, cut);
        for (std::size_t begin = cut; begin < Tokens; begin += step) read(check, begin, step < Tokens - begin ? step : Tokens - begin);
      }
    for (const bool holds : {workspace.guards_hold(), cache.guards_hold(), cache_workspace.guards_hold(), logits.guards_hold()})
      check.that(holds);
  }

 private:
  constexpr Status forward(std::size_t begin, std::size_t count) noexcept {
    return model.forward(TokenView(tokens.data() + begin, count), cache.tensor, last.tensor, cache_workspace.tensor);
  }
  constexpr void read_one_by_one(Check& check) noexcept {
    for (std::size_t i = 0; i < Tokens; ++i) {
      check.that(forward(i, 1) == Status::ok);
      for (std::size_t j = 0; j < config.vocabulary; ++j) logits.tensor(i, j) = last.tensor(j);
    }
  }
  constexpr void read(Check& check, std::size_t begin, std::size_t count) noexcept {
    check.that(forward(begin, count) == Status::ok && last.guards_hold());
    check.same_bits(last.tensor, row(logits.tensor, begin + count - 1));
  }
};

}  // namespace tinyattn::test
