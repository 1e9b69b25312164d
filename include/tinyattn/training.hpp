// SPDX-License-Identifier: MIT
//
// Training: gradients of all layers, optimizers, adapters, and weights that survive a loss of
// power. A program that only infers does not include this header.
#pragma once

#include "tinyattn/backward/activation.hpp"
#include "tinyattn/backward/convolution.hpp"
#include "tinyattn/backward/embedding.hpp"
#include "tinyattn/backward/feed_forward.hpp"
#include "tinyattn/backward/gradient.hpp"
#include "tinyattn/backward/linear.hpp"
#include "tinyattn/backward/matmul.hpp"
#include "tinyattn/backward/multi_head_attention.hpp"
#include "tinyattn/backward/normalization.hpp"
#include "tinyattn/backward/pooling.hpp"
#include "tinyattn/backward/softmax.hpp"
#include "tinyattn/cross_entropy.hpp"
#include "tinyattn/optimizer.hpp"
