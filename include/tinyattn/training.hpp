// SPDX-License-Identifier: MIT
//
// Training: gradients of all layers, optimizers, adapters, and weights that survive a loss of
// power. A program that only infers does not include this header.
#pragma once

#include "tinyattn/backward/gradient.hpp"
#include "tinyattn/backward/linear.hpp"
#include "tinyattn/optimizer.hpp"
