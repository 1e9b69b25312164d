// SPDX-License-Identifier: MIT
//
// tinyattn: attention and whole models in static arrays, for inference. Includes all headers of
// inference except tokenizer*.hpp, generate.hpp, lifetime.hpp, compiled*.hpp and tinyattn*.h; each
// header can also be included alone. Those of training are included by training.hpp.
#pragma once

#include "tinyattn/activation.hpp"
#include "tinyattn/arithmetic.hpp"
#include "tinyattn/attention.hpp"
#include "tinyattn/attention_config.hpp"
#include "tinyattn/convolution.hpp"
#include "tinyattn/dropout.hpp"
#include "tinyattn/embedding.hpp"
#include "tinyattn/feed_forward.hpp"
#include "tinyattn/language_model.hpp"
#include "tinyattn/linear.hpp"
#include "tinyattn/mask.hpp"
#include "tinyattn/math.hpp"
#include "tinyattn/matmul.hpp"
#include "tinyattn/multi_head_attention.hpp"
#include "tinyattn/normalization.hpp"
#include "tinyattn/parameters.hpp"
#include "tinyattn/pooling.hpp"
#include "tinyattn/positions.hpp"
#include "tinyattn/randn.hpp"
#include "tinyattn/random.hpp"
#include "tinyattn/sampling.hpp"
#include "tinyattn/softmax.hpp"
#include "tinyattn/status.hpp"
#include "tinyattn/tensor.hpp"
#include "tinyattn/token.hpp"
#include "tinyattn/transformer.hpp"
#include "tinyattn/version.h"
#include "tinyattn/weights.hpp"
