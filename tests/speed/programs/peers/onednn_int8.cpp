// SPDX-License-Identifier: MIT
//
// int8 products by oneDNN's inner product: inputs from 0 to 255, 8-bit weights, float outputs with a bias and one scale. Weights are in the
// layout that it asks for.
#include "../operations.hpp"
#include "../row.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdint>
#include <unordered_map>

namespace tinyattn::bench {

namespace {

template <class>
struct Product;

template <std::size_t Rows, std::size_t Inner, std::size_t Cols>
struct Product<Linear<Rows, Inner, Cols>> {
  using Kind = dnnl::memory::data_type;
  using Layout = dnnl::memory::format_tag;

  void prepare() {
    engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    stream = dnnl::stream(engine);
    const dnnl::memory::desc x({Rows, Inner}, Kind::u8, Layout::ab), weight({Cols, Inner}, Kind::s8, Layout::any);
    const dnnl::memory::desc bias({Cols}, Kind::f32, Layout::a), out({Rows, Cols}, Kind::f32, Layout::ab);
    dnnl::primitive_attr scale;
    scale.set_output_scales(0, {0.0001f});
    const dnnl::inner_product_forward::primitive_desc chosen({dnnl::prop_kind::forward_inference, x, weight, bias, out}, scale, engine);
    product = dnnl::inner_product_forward(chosen);
    operands = {{DNNL_ARG_SRC, filled(x)},
                {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc())},
                {DNNL_ARG_BIAS, dnnl::memory(bias, engine)},
                {DNNL_ARG_DST, dnnl::memory(out, engine)}};
  }

  void compute() {
    product.execute(stream, operands);
    stream.wait();
  }

 private:
  // Random bytes, also where the layout has more than weights: values do not affect the time.
  dnnl::memory filled(const dnnl::memory::desc& shape) {
    dnnl::memory memory(shape, engine);
    Philox4x32 generator(Inner);
    auto* const first = static_cast<std::int8_t*>(memory.get_data_handle());
    for (std::size_t i = 0; i < shape.get_size(); ++i) first[i] = static_cast<std::int8_t>(uniform(generator, 0.0f, 127.0f));
    return memory;
  }

  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::inner_product_forward product;
  std::unordered_map<int, dnnl::memory> operands;
};

struct OneDnn {
  static void compute(auto& operands) { operands.compute(); }
};

}  // namespace

const Row row = RowBy<OneDnn, Product<TINYATTN_BENCH_OPERATION>>::row;

}  // namespace tinyattn::bench
