#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes gradients.hpp: what PyTorch's autograd computes in double, a line for each operation.

Needs PyTorch (Debian: python3-torch and libopenblas0). An operation is its name, the shapes of its parameters and of its inputs, and a
function of both. Parameters have the library's order and layout. They are drawn as torch.rand draws, from -1/2 to 1/2, after
torch.manual_seed(123); then come the inputs and the gradient of the output, from -1 to 1. gradients.cpp draws the same. Parameters whose
names begin with "layer." are those of a layer with adapters, and have no gradient.
"""

import pathlib

import torch
from torch.nn import functional


def drawn(shape):
    return torch.rand(*shape) * 2 - 1


def gradients(parameters, inputs, function):
    """Returns the gradients of the inputs, then of the parameters, each in one row."""
    torch.manual_seed(123)
    named = {name: (drawn(shape) / 2).double().requires_grad_(not name.startswith("layer.")) for name, shape in parameters.items()}
    given = [drawn(shape).double().requires_grad_() for shape in inputs]
    out = function(named, *given)
    wanted = [tensor for tensor in [*given, *named.values()] if tensor.requires_grad]
    found = iter(torch.autograd.grad(out, wanted, drawn(out.shape).double()))
    return [next(found) if tensor.requires_grad else torch.zeros_like(tensor) for tensor in [*given, *named.values()]]


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


RANK, SCALE = 3, 2


def of_adapters(layer):
    """Returns the parameters of a layer, then those of the adapters of its projections: of all whose names are in ADAPTED."""
    frozen = {f"layer.{name}": shape for name, shape in layer.items()}
    adapters = {}
    for name, shape in layer.items():
        if len(shape) == 2 and name.endswith("weight") and "embedding" not in name:
            adapters |= {f"{name}.A": (shape[0], RANK), f"{name}.B": (RANK, shape[1])}
    return frozen | adapters


def merged(p):
    """Returns the parameters of a layer with the products of its adapters."""
    return {name.removeprefix("layer."): weight + SCALE * p[f"{name.removeprefix('layer.')}.A"] @ p[f"{name.removeprefix('layer.')}.B"]
            if f"{name.removeprefix('layer.')}.A" in p else weight for name, weight in p.items() if name.startswith("layer.")}


def attention(p, x, num_heads, name=""):
    """Causal self-attention."""
    query, key, value = (linear(p, x, f"{name}{part}.").unflatten(-1, (num_heads, -1)).transpose(0, 1) for part in ("query", "key", "value"))
    scores = query @ key.transpose(1, 2) / key.shape[-1] ** 0.5
    weights = scores.masked_fill(torch.ones_like(scores).triu(1) == 1, float("-inf")).softmax(-1)
    return linear(p, (weights @ value).transpose(0, 1).flatten(-2), f"{name}out_proj.")


def of_attention(d_in, d_out, name=""):
    return {**{f"{name}{part}.weight": (d_in, d_out) for part in ("query", "key", "value")}, **of_linear(d_out, d_out, f"{name}out_proj.")}


def block(p, x, num_heads, name=""):
    x = x + attention(p, layer_norm(p, x, f"{name}attention_norm."), num_heads, f"{name}attention.")
    return x + feed_forward(p, layer_norm(p, x, f"{name}feed_forward_norm."), "silu", f"{name}feed_forward.")


def of_norm(d_model, name):
    return {f"{name}weight": (d_model,), f"{name}bias": (d_model,)}


def of_block(d_model, d_hidden, name=""):
    return {**of_norm(d_model, f"{name}attention_norm."), **of_attention(d_model, d_model, f"{name}attention."),
            **of_norm(d_model, f"{name}feed_forward_norm."), **of_feed_forward(d_model, d_hidden, gated=True, name=f"{name}feed_forward.")}


# Of AdaptedLoss in catalogue/adapters.hpp.
VOCABULARY, TOKENS = 11, torch.tensor([(3 * i + i // 2) % 11 for i in range(7)])


def of_language_model(d_model, d_hidden, num_layers):
    blocks = {}
    for i in range(num_layers):
        blocks |= of_block(d_model, d_hidden, f"blocks.{i}.")
    return {"token_embedding.weight": (VOCABULARY, d_model), "position_embedding.weight": (6, d_model), **blocks,
            **of_norm(d_model, "final_norm.")}


def loss(p, num_layers):
    """The loss of a language model with a tied head."""
    x = p["token_embedding.weight"][TOKENS[:-1]] + p["position_embedding.weight"]
    for i in range(num_layers):
        x = block(p, x, 2, f"blocks.{i}.")
    logits = layer_norm(p, x, "final_norm.") @ p["token_embedding.weight"].T
    return functional.cross_entropy(logits, TOKENS[1:]).reshape(1)


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
    "adapted_linear": (of_adapters(of_linear(5, 7)), [(4, 5)], lambda p, x: linear(merged(p), x)),
    "adapted_attention": (of_adapters(of_attention(6, 8)), [(5, 6)], lambda p, x: attention(merged(p), x, 2)),
    "adapted_block": (of_adapters(of_block(8, 12)), [(5, 8)], lambda p, x: block(merged(p), x, 2)),
    "adapted_loss": (of_adapters(of_language_model(8, 12, 2)), [], lambda p: loss(merged(p), 2)),
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
