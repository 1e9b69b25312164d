// SPDX-License-Identifier: MIT
//
// Every kernel over a port.
#pragma once

#include "attention.hpp"
#include "products.hpp"
#include "rows.hpp"
#include "transposes.hpp"

namespace tinyattn::test {

template <class Port>
void check_kernels(Check& check) {
  check_products_of_any_shape<Port>(check);
  check_products_of_fixed_shapes<Port>(check);
  check_rows<Port>(check);
  check_transposes<Port>(check);
  check_attention_with_each_mask<Port>(check);
  check_heads<Port>(check);
}

}  // namespace tinyattn::test
