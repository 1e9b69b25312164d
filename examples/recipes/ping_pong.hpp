// SPDX-License-Identifier: MIT
//
// Two windows of samples: an interrupt fills one while the main loop works on the other. Neither
// waits for the other, and neither masks interrupts.
#pragma once

#include <atomic>
#include <cstddef>

#include "tinyattn/tensor.hpp"

template <std::size_t Tokens, std::size_t Width>
class PingPong {
 public:
  using Window = tinyattn::Matrix<float, Tokens, Width>;

  // For the interrupt: appends a sample. If a window becomes full while the main loop still uses
  // the other one, its samples are dropped, and it is filled again.
  void put(const tinyattn::Vector<float, Width>& sample) {
    for (std::size_t j = 0; j < Width; ++j) windows_[filling_](count_, j) = sample(j);
    if (++count_ < Tokens) return;
    count_ = 0;
    if (full_.load(std::memory_order_acquire) != none) {
      lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    full_.store(filling_, std::memory_order_release);
    filling_ = 1 - filling_;
  }

  // For the main loop: returns a full window, which does not change until release(), or null.
  const Window* take() const {
    const unsigned full = full_.load(std::memory_order_acquire);
    return full == none ? nullptr : &windows_[full];
  }
  void release() { full_.store(none, std::memory_order_release); }

  unsigned lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned none = 2;
  static_assert(std::atomic<unsigned>::is_always_lock_free);

  Window windows_[2]{};
  std::atomic<unsigned> full_{none}, lost_{0};
  unsigned filling_ = 0;   // for the interrupt only
  std::size_t count_ = 0;  // likewise
};
