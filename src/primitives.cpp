// SPDX-License-Identifier: MIT
//
// The functions of tinyattn_operations.h: check the arguments, then call what the function or the
// reduction names. A unit of its own, so that firmware without them need not compile it.
#ifndef TINYATTN_PRIMITIVES_UNIT
#define TINYATTN_PRIMITIVES_UNIT

#include "arguments.hpp"
#include "dispatch.hpp"
#ifndef TINYATTN_PORTS
#include "primitive_operations.hpp"
#endif

#include <cstddef>
#include <cstdint>

using namespace tinyattn::compiled;

namespace {

// Whether `out` and so many operands are within memory, and their elements can be counted.
bool is_valid(const tinyattn_walk* walk, size_t operands) noexcept {
  if (walk == nullptr || walk->axes == 0 || walk->axes > TINYATTN_MAX_AXES) return false;
  size_t elements = 1, distances[4] = {};  // from the first element to the last
  for (size_t axis = 0; axis < walk->axes; ++axis) {
    const size_t extent = walk->extents[axis];
    if (!is_matrix(elements, extent)) return false;
    elements *= extent;
    for (size_t array = 0; array <= operands; ++array) {
      const ptrdiff_t stride = walk->strides[array][axis];
      const size_t step =
          stride < 0 ? 0 - static_cast<size_t>(stride) : static_cast<size_t>(stride);
      if (step != 0 && extent - 1 > (most_floats - 1 - distances[array]) / step) return false;
      distances[array] += (extent - 1) * step;
    }
  }
  return true;
}

// Whether `out` may be where it is: it repeats no element, and is an operand only with its strides.
bool is_valid(const ElementsCall& call) noexcept {
  if (!is_valid(call.walk, call.operands) || call.out == nullptr) return false;
  const auto& [axes, extents, strides] = *call.walk;
  for (size_t axis = 0; axis < axes; ++axis)
    if (extents[axis] != 1 && strides[0][axis] == 0) return false;
  for (size_t o = 0; o < call.operands; ++o) {
    if (call.terms[o] == nullptr) return false;
    for (size_t axis = 0; axis < axes && call.terms[o] == call.out; ++axis)
      if (extents[axis] != 1 && strides[o + 1][axis] != strides[0][axis]) return false;
  }
  return true;
}

template <class Result>
tinyattn_status reduce(const auto* reduction, const tinyattn_walk* walk, const float* x,
                       Result* out) noexcept {
  if (reduction == nullptr || !is_valid(walk, 1) || !are_valid(x, out))
    return TINYATTN_BAD_ARGUMENT;
  size_t elements = 1;
  for (size_t axis = 0; axis < walk->axes; ++axis)
    if (walk->strides[0][axis] == 0) elements *= walk->extents[axis];
  if (static_cast<const void*>(out) == x || (sizeof(Result) == 2 && elements > 65536))
    return TINYATTN_BAD_ARGUMENT;
  reduction->reduce(*walk, x, out);
  return TINYATTN_OK;
}

#ifdef TINYATTN_PORTS
template <auto operation>
inline constexpr auto primitive = call_chosen<operation>(operation);
#else
template <auto operation>
inline constexpr auto primitive = tinyattn::library::native_primitives.*operation;
#endif

constexpr tinyattn_function same = {1, primitive<&Primitives::copy>};

}  // namespace

#define TINYATTN_FUNCTION_OF(name, operands)                    \
  const tinyattn_function tinyattn_function_##name = {operands, \
                                                      primitive<&Primitives::function_##name>};
#define TINYATTN_REDUCTION_OF(name) \
  const tinyattn_reduction tinyattn_reduction_##name = {primitive<&Primitives::reduction_##name>};
TINYATTN_FUNCTIONS(TINYATTN_FUNCTION_OF)
TINYATTN_REDUCTIONS(TINYATTN_REDUCTION_OF)
#undef TINYATTN_REDUCTION_OF
#undef TINYATTN_FUNCTION_OF
const tinyattn_index_reduction tinyattn_reduction_argmax = {primitive<&Primitives::argmax>};
const tinyattn_index_reduction tinyattn_reduction_argmin = {primitive<&Primitives::argmin>};

tinyattn_status tinyattn_elementwise(const tinyattn_function* function, const tinyattn_walk* walk,
                                     const float* a, const float* b, const float* c, float* out) {
  if (function == nullptr) return TINYATTN_BAD_ARGUMENT;
  const ElementsCall call{walk, function->operands, {a, b, c}, out};
  if (!is_valid(call)) return TINYATTN_BAD_ARGUMENT;
  function->compute(call);
  return TINYATTN_OK;
}

tinyattn_status tinyattn_copy(const tinyattn_walk* walk, const float* from, float* out) {
  return tinyattn_elementwise(&same, walk, from, nullptr, nullptr, out);
}

tinyattn_status tinyattn_reduce(const tinyattn_reduction* reduction, const tinyattn_walk* walk,
                                const float* x, float* out) {
  return reduce(reduction, walk, x, out);
}

tinyattn_status tinyattn_reduce_to_index(const tinyattn_index_reduction* reduction,
                                         const tinyattn_walk* walk, const float* x, uint16_t* out) {
  return reduce(reduction, walk, x, out);
}

#endif
