// SPDX-License-Identifier: MIT
//
// Parts of a workspace that share memory, one after the other, in the compiler as at run time.
#include "tinyattn/lifetime.hpp"

#include <type_traits>

#include "catalogue/draw.hpp"
#include "tinyattn/arithmetic.hpp"

using namespace tinyattn;
using namespace tinyattn::test;

namespace {

using Layer = MultiHeadAttention<AttentionConfig{.d_in = 3, .d_out = 3, .context_length = 2, .num_heads = 1}>;

struct Workspace {
  Matrix<float, 2, 3> kept;
  union {
    Matrix<float, 2, 3> sum;
    Vector<float, 3> last;
    Layer::Workspace layer;
  };
};

// Trivial constructors: beginning a member's lifetime, or the whole's, costs no code.
static_assert(std::is_trivially_default_constructible_v<Layer::Workspace> && std::is_trivially_default_constructible_v<Workspace>);
static_assert(std::is_same_v<decltype(begin_lifetime(std::declval<Workspace&>().last)), Vector<float, 3>&>);

constexpr auto inputs = matrix<float>({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});

// Writes each member through pointers, and reads it before the next one begins. A layer of zeros outputs zeros.
constexpr Vector<float, 3> use(const Layer& layer, Workspace& workspace) noexcept {
  layer.forward(inputs, workspace.kept, begin_lifetime(workspace.layer));
  auto& sum = begin_lifetime(workspace.sum);
  add(workspace.kept, inputs, sum);
  add(sum, sum, workspace.kept);
  auto& last = begin_lifetime(workspace.last);
  row(workspace.kept, 1, last);
  return last;
}

constexpr Test tests[] = {
    everywhere("members of a union, one after the other",
               [](Check& check) {
                 const Layer layer{};
                 Workspace workspace;
                 for (int call = 0; call < 2; ++call) check.equal(use(opaque(layer), workspace), vector<float>({8.0f, 10.0f, 12.0f}));
               }),
    everywhere("what begins is the member itself",
               [](Check& check) {
                 Workspace workspace{};
                 check.that(&begin_lifetime(workspace.last) == &workspace.last);
               }),
};

}  // namespace

int main() { return run(tests); }
