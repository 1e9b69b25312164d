// SPDX-License-Identifier: MIT
//
// Convolutions over tokens and images, with groups and a dilation, and pools over windows, next to plain loops; sizes, PyTorch's layout,
// the order in which initialize draws.
#include "tinyattn/convolution.hpp"
#include "tinyattn/pooling.hpp"

#include "forms.hpp"

namespace tinyattn::test { namespace {

constexpr Conv1dConfig config = {.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 1};
constexpr Conv1dConfig without_bias = {.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 1, .bias = false};
constexpr Conv1dConfig in_int8 = {.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 1, .weights = Weights::int8};
constexpr Conv1dConfig dilated = {.in = 2, .out = 3, .kernel = 3, .stride = 2, .padding = 2, .dilation = 2};
constexpr Conv2dConfig of_images = {.in = 4, .out = 2, .kernel = {2, 3}, .bias = false, .groups = 2};
using Layer = Conv1d<config>;

static_assert(Layer::parameter_count == 21 && sizeof(Layer) == 21 * sizeof(float) && Layer::parameter_bytes == sizeof(Layer));
static_assert(sizeof(Conv1d<without_bias>) == 18 * sizeof(float) && Conv1d<in_int8>::parameter_bytes == 3 * 16 + 3 * 4 + 3 * 4);
static_assert(std::is_aggregate_v<Layer> && std::is_trivially_copyable_v<Layer>);

// Output lengths as torch.nn.Conv1d has them.
static_assert(Layer::tokens_after(5) == 3 && Layer::tokens_after(6) == 3 && Layer::tokens_after(1) == 1 && Layer::tokens_after(0) == 0);
static_assert(Conv1d<Conv1dConfig{.in = 1, .out = 1, .kernel = 4, .stride = 3}>::tokens_after(10) == 3);
static_assert(Conv1d<dilated>::tokens_after(6) == 3);

// Temporaries as layers: in a constant expression the compiler compares the bias's address with null.
constexpr Tensor<float, 1, 1, 2> difference{{-1.0f, 1.0f}};
constexpr Conv1dConfig of_difference = {.in = 1, .out = 1, .kernel = 2};
static_assert(from_torch<of_difference>(difference, vector<float>({0.5f}))(matrix<float>({{1.0f}, {4.0f}, {2.0f}})) ==
              matrix<float>({{3.5f}, {-1.5f}}));

// Calls visit(y, x, position) for every element of window (i, j) that lies in an image, in rising order. Positions are those of the kernel.
template <auto c>
constexpr void for_each_in_window(Size2d image, std::size_t i, std::size_t j, auto visit) {
  const Size2d kernel = c.kernel, stride = c.stride, padding = c.padding, dilation = c.dilation;
  for (std::size_t k = 0; k < kernel.height * kernel.width; ++k) {
    const std::size_t y = i * stride.height + k / kernel.width * dilation.height - padding.height;
    const std::size_t x = j * stride.width + k % kernel.width * dilation.width - padding.width;
    if (y < image.height && x < image.width) visit(y, x, k);
  }
}

// A weight of an output, as a float.
constexpr float weight_at(const auto& layer, std::size_t k, std::size_t o) {
  if constexpr (requires { layer.weight.code; })
    return static_cast<float>(layer.weight.code[o * layer.weight.row_size + k] - 128) * layer.weight.scale[o];
  else
    return layer.weight(k, o);
}

// Output o of window (i, j): a sum of products; with int8 weights, unless depthwise, that of a Linear of what is in the window.
template <auto c, class Layer>
constexpr float convolved(const Layer& layer, const auto& image, std::size_t i, std::size_t j, std::size_t o) {
  constexpr std::size_t in = Layer::group_in;
  const std::size_t first = o / (c.out / c.groups) * in;
  Vector<float, Layer::width> window{};
  float sum = 0.0f;
  if constexpr (c.bias) sum = layer.bias(o);
  for_each_in_window<c>({image.extent(0), image.extent(1)}, i, j, [&](std::size_t y, std::size_t x, std::size_t k) {
    for (std::size_t f = 0; f < in; ++f) {
      window(k * in + f) = image(y, x, first + f);
      sum = fma(image(y, x, first + f), weight_at(layer, k * in + f, o), sum);
    }
  });
  if constexpr (c.weights == Weights::int8 && !(in == 1 && c.in == c.out)) {
    Linear<Layer::width, 1, true, Weights::int8> linear{};
    for (std::size_t k = 0; k < layer.weight.row_size; ++k) linear.weight.code[k] = layer.weight.code[o * layer.weight.row_size + k];
    linear.weight.scale[0] = layer.weight.scale[o];
    if constexpr (c.bias) linear.bias(0) = layer.bias(o);
    return linear(window)(0);
  }
  return sum;
}

template <Conv2dConfig c, std::size_t Height, std::size_t Width>
constexpr void check_images(Check& check) {
  const auto layer = drawn<Conv2d<c>>(1);
  const auto x = drawn<Tensor<float, Height, Width, c.in>>(2);
  const auto out = layer(opaque(x));
  for (std::size_t i = 0; i < out.extent(0); ++i)
    for (std::size_t j = 0; j < out.extent(1); ++j)
      for (std::size_t o = 0; o < c.out; ++o) check.same_bits(out(i, j, o), convolved<c>(layer, x, i, j, o));
  check_output(check, out, [&](auto& to) { layer.forward(MatrixView<const float, Height, Width * c.in, Width * c.in>{x.data()}, to); });
  Tensor<float, 2, Height, Width, c.in> twice{};
  for (std::size_t i = 0; i < twice.size(); ++i) twice.elements[i] = x.elements[i % x.size()];
  Guarded<std::remove_cvref_t<decltype(layer(twice))>> both;
  layer.forward(twice, both.tensor);
  check.that(both.guards_hold());
  for (std::size_t i = 0; i < both.tensor.size(); ++i) check.same_bits(both.tensor.elements[i], out.elements[i % out.size()]);
}

// The same of a Conv1d, which is a Conv2d of one row. An input view has no gaps; an output view may have.
template <Conv1dConfig c, std::size_t Count>
constexpr void check_tokens(Check& check) {
  constexpr Conv2dConfig of_a_row{.in = c.in,
                                  .out = c.out,
                                  .kernel = {1, c.kernel},
                                  .stride = {1, c.stride},
                                  .padding = {0, c.padding},
                                  .bias = c.bias,
                                  .weights = c.weights,
                                  .groups = c.groups,
                                  .dilation = {1, c.dilation}};
  const auto layer = drawn<Conv1d<c>>(1);
  const auto row = drawn<Tensor<float, 1, Count, c.in>>(2);
  const auto x = drawn<Matrix<float, Count, c.in>>(2);
  const auto out = layer(opaque(x));
  for (std::size_t i = 0; i < out.extent(0); ++i)
    for (std::size_t o = 0; o < c.out; ++o) check.same_bits(out(i, o), convolved<of_a_row>(layer, row, 0, i, o));
  check_output(check, stack(out, out), [&](auto& to) { layer.forward(stack(x, x), to); });
  check_output(check, widened(out, 1), [&](auto& wide) {
    auto to = columns<c.out>(wide, 1);
    layer.forward(MatrixView<const float, Count, c.in, c.in>{x.data()}, to);
  });
}

// Checks that initialize draws the weights in the order of PyTorch's layout, and then the biases, uniform within the bound.
constexpr void check_drawn(Check& check, auto layer, float bound) {
  Mt19937 generator(opaque(5u)), same(5);
  initialize(layer, generator);
  for (std::size_t o = 0; o < layer.weight.extent(1); ++o)
    for (std::size_t f = 0; f < layer.group_in; ++f)
      for (std::size_t k = 0; k < layer.positions; ++k)
        check.same_bits(layer.weight(layer.group_in * k + f, o), uniform(same, -bound, bound));
  if constexpr (requires { layer.bias(0); })
    for (const float element : layer.bias.elements) check.same_bits(element, uniform(same, -bound, bound));
}

template <PoolConfig c, std::size_t Height, std::size_t Width, std::size_t Features>
constexpr void check_pools(Check& check) {
  auto x = drawn<Tensor<float, Height, Width, Features>>(3);
  if (!std::is_constant_evaluated()) x(Height / 2, Width - 1, 0) = quiet_nan;
  const auto most = max_pool2d<c>(opaque(x));
  auto mean = most;
  if constexpr (c.dilation.width == 1) mean = avg_pool2d<c>(opaque(x));
  for (std::size_t i = 0; i < most.extent(0); ++i)
    for (std::size_t j = 0; j < most.extent(1); ++j)
      for (std::size_t f = 0; f < Features; ++f) {
        float largest = -infinity, sum = -0.0f, count = 0.0f;
        for_each_in_window<c>({Height, Width}, i, j, [&](std::size_t y, std::size_t z, std::size_t) {
          const float element = x(y, z, f);
          largest = element != element || element > largest ? element : largest;
          sum += element;
          count += 1.0f;
        });
        check.same_bits(most(i, j, f), largest);
        if (c.dilation.width == 1) check.same_bits(mean(i, j, f), sum * (1.0f / (c.count_include_pad ? 6.0f : count)));
      }
}

constexpr Test tests[] = {
    everywhere("convolutions over images",
               [](Check& check) {
                 constexpr Conv2dConfig padded{.in = 3, .out = 5, .kernel = 3, .padding = 1};
                 constexpr Conv2dConfig depthwise{.in = 5, .out = 5, .kernel = {2, 3}, .stride = 2, .padding = 1, .groups = 5};
                 constexpr Conv2dConfig grouped{
                     .in = 4, .out = 6, .kernel = {2, 1}, .stride = {1, 2}, .padding = {1, 0}, .groups = 2, .dilation = {2, 3}};
                 constexpr Conv2dConfig alone{.in = 1, .out = 2, .kernel = 2, .padding = 3, .bias = false, .dilation = 4};
                 check_images<padded, 3, 4>(check);
                 check_images<depthwise, 3, 5>(check);
                 check_images<grouped, 4, 3>(check);
                 check_images<alone, 2, 1>(check);
                 check_images<detail::with_weights(padded, Weights::int8), 3, 4>(check);
                 check_images<detail::with_weights(depthwise, Weights::int8), 3, 5>(check);
                 check_images<detail::with_weights(grouped, Weights::int8), 4, 3>(check);
               }),
    at_run_time("convolutions of vectors and tiles, and what is left of them",
                [](Check& check) {
                  constexpr Conv2dConfig wide{.in = 17, .out = 37, .kernel = 3, .stride = 2, .padding = 1};
                  constexpr Conv2dConfig depthwise{.in = 37, .out = 37, .kernel = 3, .padding = 1, .groups = 37};
                  check_images<wide, 9, 11>(check);
                  check_images<depthwise, 5, 6>(check);
                  check_images<detail::with_weights(wide, Weights::int8), 9, 11>(check);
                  check_images<detail::with_weights(depthwise, Weights::int8), 5, 6>(check);
                }),
    everywhere("convolutions over tokens",
               each_of<check_tokens<config, 5>, check_tokens<without_bias, 2>, check_tokens<in_int8, 5>,
                       check_tokens<Conv1dConfig{.in = 3, .out = 5, .kernel = 4, .stride = 1, .padding = 2}, 1>,
                       check_tokens<Conv1dConfig{.in = 1, .out = 9, .kernel = 3, .stride = 5}, 14>,
                       check_tokens<Conv1dConfig{.in = 5, .out = 5, .kernel = 3, .padding = 1, .groups = 5}, 4>, check_tokens<dilated, 6>,
                       check_tokens<detail::with_weights(dilated, Weights::int8), 6>>),
    everywhere("from_torch takes a weight as [out, in, kernel]; parameters have PyTorch's names",
               [](Check& check) {
                 const auto weight = drawn<Tensor<float, 3, 2, 3>>(1);
                 const auto bias = drawn<Vector<float, 3>>(2);
                 const auto layer = from_torch<config>(opaque(weight), bias);
                 for (std::size_t i = 0; i < 18; ++i) check.same_bits(layer.weight(2 * (i % 3) + i / 3 % 2, i / 6), weight.elements[i]);
                 check.same_bits(layer.bias, bias);
                 check.that(layer == from_torch<config>(weight, bias));
                 check.that(layer != from_torch<config>(weight, vector<float>({1.0f, 2.0f, 3.0f})));
                 check.same_bits(from_torch<without_bias>(opaque(weight)).weight, layer.weight);
                 const auto images = drawn<Tensor<float, 2, 2, 2, 3>>(1);
                 const auto permuted = from_torch<of_images>(opaque(images)).weight;
                 for (std::size_t i = 0; i < 24; ++i) check.same_bits(permuted(2 * (i % 6) + i / 6 % 2, i / 12), images.elements[i]);
                 std::size_t count = 0;
                 for_each_parameter(layer, [&](const char* name, const auto&) { check.that(name[0] == (count++ == 0 ? 'w' : 'b')); });
               }),
    everywhere("weights are quantized as those of a Linear",
               [](Check& check) {
                 const auto layer = drawn<Layer>(4);
                 check.that(quantize(opaque(layer)).weight == quantize(Linear<6, 3>{layer.weight, layer.bias}).weight);
                 const auto image = drawn<Conv2d<of_images>>(4);
                 check.that(quantize(opaque(image)).weight == quantize(Linear<12, 2, false>{image.weight}).weight);
               }),
    everywhere("the weight is drawn before its bias, in the order of PyTorch's layout",
               [](Check& check) {
                 check_drawn(check, Layer{}, 0.4082482904638630163662140f);  // 1 / sqrt(6)
                 check_drawn(check, Conv1d<without_bias>{}, 0.4082482904638630163662140f);
                 check_drawn(check, Conv2d<of_images>{}, 0.2886751345948128822545744f);  // 1 / sqrt(12)
               }),
    at_run_time("what the kernel has outside of x is not read: a NaN there does not leak",
                [](Check& check) {
                  auto layer = drawn<Layer>(4);
                  for (std::size_t k = 0; k < 2; ++k) layer.weight(k, 0) = quiet_nan;
                  const auto out = layer(opaque(drawn<Matrix<float, 5, 2>>(3)));
                  check.that(out(0, 0) == out(0, 0) && out(1, 0) != out(1, 0));
                }),
    everywhere("pools",
               [](Check& check) {
                 check_pools<PoolConfig{.kernel = {2, 3}, .stride = 1}, 3, 4, 5>(check);
                 check_pools<PoolConfig{.kernel = {3, 2}, .padding = 1, .count_include_pad = false}, 5, 4, 2>(check);
                 check_pools<PoolConfig{.kernel = 2, .ceil_mode = true, .count_include_pad = false}, 3, 5, 1>(check);
                 check_pools<PoolConfig{.kernel = 2, .stride = 1, .padding = 1, .dilation = 4}, 3, 3, 17>(check);
                 const auto x = drawn<Matrix<float, 6, 5>>(1);
                 const auto ending = avg_pool1d<PoolConfig{.kernel = 4, .padding = 1, .ceil_mode = true}>(opaque(x));
                 check.same_bits(ending(1, 2), (x(3, 2) + x(4, 2) + x(5, 2)) * 0.25f);
                 check.same_bits(row(adaptive_avg_pool1d<1>(opaque(x)), 0), mean(x));
                 const auto wide = widened(x, 1);
                 check_output(check, adaptive_max_pool1d<4>(x), [&](auto& out) { adaptive_max_pool1d<4>(columns<5>(wide, 1), out); });
                 check.same_bits(adaptive_max_pool1d<4>(x)(1, 3), x(1, 3) < x(2, 3) ? x(2, 3) : x(1, 3));
                 const auto image = drawn<Tensor<float, 2, 3, 4, 2>>(2);
                 const auto halves = adaptive_avg_pool2d<Size2d{2, 1}>(opaque(image));
                 const auto lower = mean(MatrixView<const float, 8, 2, 2>{image.data() + 32});
                 for (std::size_t f = 0; f < 2; ++f) check.same_bits(halves(1, 1, 0, f), lower(f));
               }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
