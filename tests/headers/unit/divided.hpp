// SPDX-License-Identifier: MIT
//
// Cases with a cache that compare by themselves: a prompt in one call, in two or token by token has the outputs of a call without a cache.
#pragma once

#include "catalogue/models.hpp"

#include <cstddef>

namespace tinyattn::test {

// Features, divided at every place: the first part in one call, the rest in another, or token by token.
template <class Module, std::size_t Tokens, std::size_t DIn, std::size_t DOut = DIn>
struct Divided : WithCache<Module, Tokens, DIn, DOut> {
  Matrix<float, Tokens, DOut> expected;

  constexpr void operator()(Draw& draw, Check& check) noexcept {
    this->draw_inputs(draw);
    this->layer.forward(this->x, expected, this->workspace.tensor);
    check_divisions(check);
  }

  constexpr void check_divisions(Check& check) noexcept {
    auto& computed = this->out.tensor;
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
    check.that(model.forward(tokens, logits.tensor, workspace.tensor) == Status::ok);
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
  constexpr void read(Check& check, std::size_t begin, std::size_t count) noexcept {
    check.that(forward(begin, count) == Status::ok && last.guards_hold());
    check.same_bits(last.tensor, row(logits.tensor, begin + count - 1));
  }
};

}  // namespace tinyattn::test
