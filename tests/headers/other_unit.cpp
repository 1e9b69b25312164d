// SPDX-License-Identifier: MIT
#include "other_unit.hpp"

#include "tinyattn/tinyattn.hpp"

tinyattn::Matrix<float, 2, 3> tinyattn::test::causal_attention_in_another_unit() { return causal_attention(inputs()); }
