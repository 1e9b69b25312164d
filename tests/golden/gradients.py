#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes gradients.hpp: what PyTorch's autograd computes in double, a line for each operation.

Needs PyTorch (Debian: python3-torch and libopenblas0). An operation is its name, the shapes of its parameters and of its inputs, and a
function of both. Parameters have the library's order and layout. They are drawn as torch.rand draws, from -1/2 to 1/2, after
torch.manual_seed(123); then come the inputs and the gradient of the output, from -1 to 1. gradients.cpp draws the same.
"""

import pathlib

import torch
from torch.nn import functional


def drawn(shape):
    return torch.rand(*shape) * 2 - 1


def gradients(parameters, inputs, function):
    """Returns the gradients of the inputs, then of the parameters, each in one row."""
    torch.manual_seed(123)
    named = {name: (drawn(shape) / 2).double().requires_grad_() for name, shape in parameters.items()}
    given = [drawn(shape).double().requires_grad_() for shape in inputs]
    out = function(named, *given)
    return torch.autograd.grad(out, [*given, *named.values()], drawn(out.shape).double())


def linear(p, x, name=""):
    return x @ p[f"{name}weight"] + p.get(f"{name}bias", 0)


def of_linear(d_in, d_out, name="", bias=True):
    return {f"{name}weight": (d_in, d_out), **({f"{name}bias": (d_out,)} if bias else {})}


def layer_norm(p, x, name=""):
    return functional.layer_norm(x, x.shape[-1:], p[f"{name}weight"], p[f"{name}bias"])


def rms_norm(p, x, name=""):
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * p[f"{name}weight"]


ACTIVATIONS = {"relu": functional.relu, "gelu": functional.gelu, "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
               "silu": functional.silu}

# Some do not count: some_targets of catalogue/cross_entropy.hpp.
TARGETS = torch.tensor([16, 6, 65535, 3, 10, 0])


def feed_forward(p, x, activation, name=""):
    up = linear(p, x, f"{name}up.")
    activated = ACTIVATIONS[activation](linear(p, x, f"{name}gate.")) * up if f"{name}gate.weight" in p else ACTIVATIONS[activation](up)
    return linear(p, activated, f"{name}down.")


def of_feed_forward(d_model, d_hidden, gated=False, bias=True, name=""):
    gate = of_linear(d_model, d_hidden, f"{name}gate.", bias) if gated else {}
    return {**of_linear(d_model, d_hidden, f"{name}up.", bias), **gate, **of_linear(d_hidden, d_model, f"{name}down.", bias)}


def convolution(p, x, kernel, stride, padding):
    """Of tokens as rows, with a weight [kernel * in, out]."""
    weight = p["weight"].unflatten(0, (kernel, x.shape[-1])).permute(2, 1, 0)
    return functional.conv1d(x.transpose(-1, -2), weight, p.get("bias"), stride, padding).transpose(-1, -2)


OPERATIONS = {
    "linear": (of_linear(5, 7), [(2, 3, 5)], linear),
    "linear_without_bias": (of_linear(17, 3, bias=False), [(4, 17)], linear),
    "layer_norm": ({"weight": (17,), "bias": (17,)}, [(2, 2, 17)], layer_norm),
    "rms_norm": ({"weight": (17,)}, [(3, 17)], rms_norm),
    **{f"feed_forward_{name}": (of_feed_forward(5, 7), [(3, 5)], lambda p, x, name=name: feed_forward(p, x, name))
       for name in ACTIVATIONS},
    **{f"gated_{name}": (of_feed_forward(5, 7, gated=True, bias=False), [(3, 5)], lambda p, x, name=name: feed_forward(p, x, name))
       for name in ACTIVATIONS},
    "embedding": ({"weight": (5, 7)}, [], lambda p: functional.embedding(torch.tensor([3, 0, 3, 4, 0, 3]), p["weight"])),
    "conv1d": (of_linear(9, 4), [(2, 7, 3)], lambda p, x: convolution(p, x, 3, 1, 1)),
    "conv1d_with_stride": (of_linear(10, 3, bias=False), [(9, 2)], lambda p, x: convolution(p, x, 5, 2, 3)),
    "matmul": ({}, [(2, 3, 5), (5, 7)], lambda p, a, b: a @ b),
    "matmul_of_batches": ({}, [(2, 3, 5), (2, 5, 4)], lambda p, a, b: a @ b),
    "matmul_transposed": ({}, [(2, 3, 5), (7, 5)], lambda p, a, b: a @ b.transpose(-1, -2)),
    "softmax": ({}, [(3, 17)], lambda p, x: torch.softmax(0.75 * x, -1)),
    **{name: ({}, [(3, 17)], lambda p, x, name=name: ACTIVATIONS[name](x)) for name in ACTIVATIONS},
    "mean": ({}, [(2, 5, 7)], lambda p, x: x.mean(-2)),
    "largest": ({}, [(2, 5, 7)], lambda p, x: x.max(-2).values),
    "cross_entropy": ({}, [(6, 17)], lambda p, x: functional.cross_entropy(x, TARGETS, ignore_index=65535).reshape(1)),
    "standardize": ({}, [(3, 7)], lambda p, x: (x - 0.25) * (torch.arange(7) + 0.75)),
}

HEADER = """\
// SPDX-License-Identifier: MIT
//
// Gradients computed by PyTorch in double. Written by gradients.py: change that, not this.
#pragma once

#include "tinyattn/tensor.hpp"

namespace tinyattn::gradients_of {{

// clang-format off
{}
}}  // namespace tinyattn::gradients_of
"""


def line(name, tensors):
    numbers = [f"{value:.9g}" for tensor in tensors for value in tensor.flatten().tolist()]
    return f"inline constexpr Vector<float, {len(numbers)}> {name}{{{{{', '.join(f'{float(number)}f' for number in numbers)}}}}};"


if __name__ == "__main__":
    lines = [line(name, gradients(*operation)) for name, operation in OPERATIONS.items()]
    (pathlib.Path(__file__).parent / "gradients.hpp").write_text(HEADER.format("\n".join(lines)), encoding="utf-8")
