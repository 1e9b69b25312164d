// SPDX-License-Identifier: MIT
//
// Layers that share scratch. A Workspace keeps nothing between calls, so layers that run one after
// another need only the largest of their Workspaces. Layers of one type can share one Workspace
// object; these two have different types of Workspace, and share its bytes.
#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>

#include "tinyattn/tinyattn.hpp"

using namespace tinyattn;

template <class... Workspaces>
class SharedScratch {
 public:
  // Creates a Workspace in these bytes, without writing to them. The one before it must not be used
  // again.
  template <class Workspace>
  Workspace& as() {
    static_assert((std::is_same_v<Workspace, Workspaces> || ...), "not one of those that share");
    return *::new (static_cast<void*>(bytes_)) Workspace;
  }

 private:
  alignas(Workspaces...) std::byte bytes_[std::max({sizeof(Workspaces)...})];
};

using Ear = MultiHeadAttention<AttentionConfig{
    .d_in = 4, .d_out = 8, .context_length = 10, .num_heads = 4}>;
using Eye = MultiHeadAttention<AttentionConfig{
    .d_in = 8, .d_out = 8, .context_length = 5, .num_heads = 2, .causal = false}>;

static SharedScratch<Ear::Workspace, Eye::Workspace> scratch;
static_assert(sizeof scratch == sizeof(Ear::Workspace), "no more than the larger one");

struct Senses {
  Matrix<float, 10, 8> heard;
  Matrix<float, 5, 8> seen;
};

static void perceive(const Ear& ear, const Matrix<float, 10, 4>& sound, const Eye& eye,
                     const Matrix<float, 5, 8>& image, Senses& out) {
  ear.forward(sound, out.heard, scratch.as<Ear::Workspace>());
  eye.forward(image, out.seen, scratch.as<Eye::Workspace>());
}

// --- What it shows ---
#include "claims.h"

int main() {
  static Ear ear;
  static Eye eye;
  Mt19937 generator(123);
  initialize(ear, generator);
  initialize(eye, generator);
  static const auto sound = rand<10, 4>(generator);
  static const auto image = rand<5, 8>(generator);

  static Senses shared, apart;
  perceive(ear, sound, eye, image, shared);
  static Ear::Workspace for_ear;
  static Eye::Workspace for_eye;
  ear.forward(sound, apart.heard, for_ear);
  eye.forward(image, apart.seen, for_eye);
  claim("the first layer computes what it does with scratch of its own",
        shared.heard == apart.heard);
  claim("the second one too", shared.seen == apart.seen);
  claim("both together take less RAM", sizeof scratch < sizeof for_ear + sizeof for_eye);
  return verdict();
}
