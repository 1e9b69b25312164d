#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes activations.hpp: every activation of activation_list.h, and tanh and erf, as PyTorch computes them, and the gradients of the
activations and of the feed-forward layers that have them. Needs PyTorch, as gradients.py.
"""

import pathlib

import torch
from gradients import gradients, line
from models import ACTIVATIONS, feed_forward, of_feed_forward

X = torch.tensor([-9.0, -5.5, -3.25, -2.0, -1.0, -0.75, -0.5, -0.1, -1e-4, 0.0, 1e-4, 0.1, 0.5, 0.75, 1.0, 2.0, 3.25, 9.0])
POWERS = 2 ** (torch.arange(17) % 7)
HEADER = """\
// SPDX-License-Identifier: MIT
//
// Activations and their gradients, computed by PyTorch. Written by activations.py: change that, not this.
#pragma once

#include "tinyattn/shape.hpp"

// clang-format off
namespace tinyattn::reference {{
{}
}}  // namespace tinyattn::reference

namespace tinyattn::gradients_of {{
{}
}}  // namespace tinyattn::gradients_of
"""


def operations(name, function):
    """Yields the names of operations, and what gradients.py calls one."""
    yield f"feed_forward_{name}", (of_feed_forward(5, 7), [(3, 5)], lambda p, x: feed_forward(p, x, name))
    yield f"gated_{name}", (of_feed_forward(5, 7, gated=True, bias=False), [(3, 5)], lambda p, x: feed_forward(p, x, name))
    yield name, ({}, [(3, 17)], lambda p, x: function(x))
    yield f"far_{name}", ({}, [(3, 17)], lambda p, x: function(POWERS * x) / POWERS)


if __name__ == "__main__":
    functions = {"x": torch.clone, **ACTIVATIONS, "tanh": torch.tanh, "erf": torch.erf}
    values = [line(f"activation_{name}", [function(X)]) for name, function in functions.items()]
    slopes = [line(name, gradients(*operation)) for activation in ACTIVATIONS.items() for name, operation in operations(*activation)]
    (pathlib.Path(__file__).parent / "activations.hpp").write_text(HEADER.format("\n".join(values), "\n".join(slopes)), encoding="utf-8")
