// SPDX-License-Identifier: MIT
//
// Collects the outputs of a case, with names and shapes, wherever it is computed.
#pragma once

#include "catalogue/guarded.hpp"
#include "tinyattn/tensor.hpp"

#include <cstddef>

namespace tinyattn::test {

struct Output {
  const char* name;
  std::size_t extents[4];
  std::size_t rank;
  std::size_t size;
};

// Passes the outputs of a case to `receive(Output, elements)`, and records whether all guards hold.
template <class Receive>
class Named {
 public:
  explicit constexpr Named(Receive& receive) noexcept : receive_(receive) {}

  template <std::size_t... Extents>
  constexpr void take(const char* name, const Tensor<float, Extents...>& tensor) noexcept {
    receive_(Output{name, {Extents...}, sizeof...(Extents), tensor.size()}, tensor.data());
  }
  template <class TensorM>
  constexpr void take(const char* name, const Guarded<TensorM>& output) noexcept {
    take(name, output.tensor);
    check_guards(output);
  }
  constexpr void check_guards(const auto&... guarded) noexcept { guards_hold_ = (guards_hold_ && ... && guarded.guards_hold()); }
  constexpr bool guards_hold() const noexcept { return guards_hold_; }

 private:
  Receive& receive_;
  bool guards_hold_ = true;
};

// Keeps the outputs that the compiler computed.
class Recorded {
 public:
  constexpr void operator()(const Output& output, const float* elements) noexcept {
    outputs_[count_++] = output;
    for (std::size_t i = 0; i < output.size; ++i) elements_[size_++] = elements[i];
  }

  void replay(auto& receive) const {
    const float* elements = elements_;
    for (std::size_t i = 0; i < count_; elements += outputs_[i++].size) receive(outputs_[i], elements);
  }

 private:
  Output outputs_[64] = {};
  float elements_[2500] = {};
  std::size_t count_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tinyattn::test
