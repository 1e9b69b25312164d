#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes gradients.hpp: what PyTorch's autograd computes in double, a line for each operation.

Needs PyTorch (Debian: python3-torch and libopenblas0). An operation is its name, the shapes of its parameters and of its inputs, and a
function of both. Parameters have the library's order and layout. They are drawn as torch.rand draws, from -1/2 to 1/2, after
torch.manual_seed(123); then come the inputs and the gradient of the output, from -1 to 1. gradients.cpp draws the same. Parameters whose
names begin with "layer." belong to a layer with adapters, and have no gradient.
"""

import sys

import torch
from models import (Dropout, attention, block, causal, encoder_layer, layer, layer_norm, linear, loss, model, of_block, of_layer,
                    of_linear, of_model, patterned, rms_norm)
from numbers_in_cpp import constant, write
from torch.nn import functional


def drawn(shape):
    return torch.rand(*shape) * 2 - 1


def gradients(parameters, inputs, function, precision=torch.double):
    """Returns the gradients of the inputs, then of the parameters, each in one row."""
    torch.manual_seed(123)
    named = {name: (drawn(shape) / 2).to(precision).requires_grad_(not name.startswith("layer.")) for name, shape in parameters.items()}
    given = [drawn(shape).to(precision).requires_grad_() for shape in inputs]
    out = function(named, *given).to(precision)
    tensors = [*given, *named.values()]
    found = iter(torch.autograd.grad(out, [tensor for tensor in tensors if tensor.requires_grad], drawn(out.shape).to(precision)))
    return [next(found) if tensor.requires_grad else torch.zeros_like(tensor) for tensor in tensors]


def distance(operation):
    """Returns how far float32 is from double: the largest difference, in units of the largest element of its tensor."""
    pairs = zip(gradients(*operation), gradients(*operation, torch.float), strict=True)
    return max((((exact - its).abs().max() / exact.abs().max()).item() for exact, its in pairs if exact.abs().max() > 1e-12), default=0)


RANK, SCALE = 3, 2


def with_adapters(layer_parameters):
    """Returns a layer's parameters, which are frozen, then the adapters of all its projections."""
    adapters = {}
    for name, shape in layer_parameters.items():
        if len(shape) == 2 and "embedding" not in name:
            adapters |= {f"{name}.A": (shape[0], RANK), f"{name}.B": (RANK, shape[1])}
    return {f"layer.{name}": shape for name, shape in layer_parameters.items()} | adapters


def adapted(p):
    """Returns a layer's parameters, each plus the product of its adapter."""
    frozen = {name.removeprefix("layer."): tensor for name, tensor in p.items() if name.startswith("layer.")}
    return {name: tensor + SCALE * p[f"{name}.A"] @ p[f"{name}.B"] if f"{name}.A" in p else tensor for name, tensor in frozen.items()}


def convolution(p, x, kernel, stride, padding):
    """A convolution over tokens as rows, with a weight [kernel * in, out]."""
    weight = p["weight"].unflatten(0, (kernel, x.shape[-1])).permute(2, 1, 0)
    return functional.conv1d(x.transpose(-1, -2), weight, p.get("bias"), stride, padding).transpose(-1, -2)


TARGETS = torch.tensor([16, 6, 65535, 3, 10, 0])
SHORT = {"d_in": 5, "d_out": 6}
LLAMA = {"vocabulary": 5, "d_model": 4, "d_hidden": 6, "layers": 2, "rms": True, "gated": True, "hidden_bias": False, "kv_width": 2}
AS_LLAMA = {"layers": 2, "activation": "silu", "heads": 2, "rotary": (False, 10000)}
GPT_2 = {"vocabulary": 7, "d_model": 4, "d_hidden": 5, "layers": 2, "context": 6, "qkv_bias": True}
AS_GPT_2 = {"layers": 2, "activation": "gelu_tanh", "heads": 2}


def dropped():
    return Dropout(weights=0.5, outputs=0.1)


ATTENTION = {
    "attention_no_mask": ({}, [(5, 3), (7, 3), (7, 4)], lambda p, *x: attention(*x)),
    "attention_causal": ({}, [(2, 6, 4), (2, 6, 4), (2, 6, 3)], lambda p, *x: attention(*x, causal(6, 6))),
    "attention_causal_bottom_right": ({}, [(3, 3), (6, 3), (6, 2)], lambda p, *x: attention(*x, causal(3, 6, 3))),
    "attention_block_mask": ({}, [(5, 3), (7, 3), (7, 4)], lambda p, *x: attention(*x, patterned(5, 7))),
    "attention_keep_mask": ({}, [(2, 5, 3), (2, 7, 3), (2, 7, 4)], lambda p, *x: attention(*x, patterned(1, 7))),
    "attention_additive_mask": ({}, [(5, 3), (7, 3), (7, 4)], lambda p, *x: attention(*x, patterned(5, 7, adds=True))),
    "layer_one_head": (of_layer(**SHORT), [(5, 5)], lambda p, x: layer(p, x, mask=causal(5, 5))),
    "layer_biases": (of_layer(5, 6, qkv_bias=True, out_proj=False), [(6, 5)], lambda p, x: layer(p, x, heads=2, mask=causal(6, 6))),
    "layer_not_causal": (of_layer(**SHORT), [(2, 5, 5)], lambda p, x: layer(p, x, heads=2)),
    "layer_masked": (of_layer(**SHORT), [(6, 5)], lambda p, x: layer(p, x, heads=2, mask=patterned(6, 6))),
    "layer_of_some": (of_layer(**SHORT), [(2, 5, 5)],
                      lambda p, x: functional.pad(layer(p, x[:, :3], heads=2, mask=causal(3, 3)), (0, 0, 0, 2))),
    "layer_grouped": (of_layer(8, 8, kv_width=4), [(9, 8)],
                      lambda p, x: layer(p, x, heads=4, mask=causal(9, 9), rotary=(True, 10000))),
    "layer_halves": (of_layer(8, 8, kv_width=4, out_proj=False), [(5, 8)],
                     lambda p, x: layer(p, x, heads=2, mask=causal(5, 5), rotary=(False, 500))),
    "layer_window": (of_layer(8, 8, kv_width=4), [(9, 8)],
                     lambda p, x: layer(p, x, heads=4, mask=causal(9, 9, window=4), rotary=(True, 10000))),
    "layer_memory": (of_layer(**SHORT), [(2, 5, 5), (2, 7, 5)], lambda p, x, memory: layer(p, x, memory, heads=2)),
    "layer_cross": (of_layer(**SHORT), [(4, 5), (7, 5), (7, 5)],
                    lambda p, x, key, value: functional.pad(layer(p, x[:3], key[:5], value[:5], heads=2), (0, 0, 0, 1))),
    "layer_dropped": (of_layer(**SHORT, qkv_bias=True), [(2, 6, 5)],
                      lambda p, x: layer(p, x, heads=2, mask=causal(6, 6), dropout=dropped())),
}
MODELS = {
    "block_norm_last": (of_block(4, 5, qkv_bias=True), [(5, 4)],
                        lambda p, x: block(p, x, "gelu", norm_first=False, heads=2, mask=causal(5, 5))),
    "block_layer_first": (of_block(4, 5, qkv_bias=True), [(2, 5, 4)], lambda p, x: block(p, x, "gelu_tanh", heads=2, mask=causal(5, 5))),
    "block_rms_first": (of_block(4, 6, rms=True, gated=True, hidden_bias=False, kv_width=2), [(5, 4)],
                        lambda p, x: block(p, x, "silu", heads=2, mask=causal(5, 5), rotary=(False, 10000))),
    "block_rms_last": (of_block(4, 6, rms=True, gated=True), [(5, 4)],
                       lambda p, x: block(p, x, "relu", norm_first=False, heads=2, mask=causal(5, 5))),
    "block_dropped": (of_block(4, 5, qkv_bias=True), [(5, 4)],
                      lambda p, x: block(p, x, "gelu", heads=2, mask=causal(5, 5), dropout=dropped())),
    "encoder": ({name: shape for i in range(2) for name, shape in of_block(4, 5, f"{i}.", qkv_bias=True).items()}, [(5, 4)],
                lambda p, x: encoder_layer(p, encoder_layer(p, x, 2, "0."), 2, "1.")),
    "gpt_2": (of_model(**GPT_2), [], lambda p: model(p, 5, **AS_GPT_2)),
    "llama": (of_model(**LLAMA, tied=False), [], lambda p: model(p, 6, **AS_LLAMA)),
    "llama_tied": (of_model(**LLAMA), [], lambda p: model(p, 6, **AS_LLAMA)),
    "gpt_2_loss": (of_model(**GPT_2), [], lambda p: loss(p, 6, **AS_GPT_2)),
    "gpt_2_loss_dropped": (of_model(**GPT_2), [], lambda p: loss(p, 6, dropout=dropped(), **AS_GPT_2)),
    "llama_loss": (of_model(**LLAMA, tied=False, head_bias=True), [], lambda p: loss(p, 6, **AS_LLAMA)),
}
ADAPTED = {
    "adapted_linear": (with_adapters(of_linear(5, 7)), [(4, 5)], lambda p, x: linear(adapted(p), x)),
    "adapted_layer": (with_adapters(of_layer(6, 8)), [(5, 6)], lambda p, x: layer(adapted(p), x, heads=2, mask=causal(5, 5))),
    "adapted_block": (with_adapters(of_block(8, 12, gated=True)), [(5, 8)],
                      lambda p, x: block(adapted(p), x, "silu", heads=2, mask=causal(5, 5))),
    "adapted_loss": (with_adapters(of_model(11, 8, 12, layers=2, context=6, gated=True)), [],
                     lambda p: loss(adapted(p), 6, layers=2, activation="silu", heads=2)),
}
OPERATIONS = {
    "linear": (of_linear(5, 7), [(2, 3, 5)], linear),
    "linear_without_bias": (of_linear(17, 3, bias=False), [(4, 17)], linear),
    "layer_norm": ({"weight": (17,), "bias": (17,)}, [(2, 2, 17)], layer_norm),
    "rms_norm": ({"weight": (17,)}, [(3, 17)], rms_norm),
    "embedding": ({"weight": (5, 7)}, [], lambda p: functional.embedding(torch.tensor([3, 0, 3, 4, 0, 3]), p["weight"])),
    "conv1d": (of_linear(9, 4), [(2, 7, 3)], lambda p, x: convolution(p, x, 3, 1, 1)),
    "conv1d_with_stride": (of_linear(10, 3, bias=False), [(9, 2)], lambda p, x: convolution(p, x, 5, 2, 3)),
    "matmul": ({}, [(2, 3, 5), (5, 7)], lambda p, a, b: a @ b),
    "matmul_of_batches": ({}, [(2, 3, 5), (2, 5, 4)], lambda p, a, b: a @ b),
    "matmul_transposed": ({}, [(2, 3, 5), (7, 5)], lambda p, a, b: a @ b.transpose(-1, -2)),
    "add": ({}, [(3, 7), (7,)], lambda p, a, b: a + b),
    "multiply": ({}, [(3, 7), (1, 7)], lambda p, a, b: a * b),
    "multiply_of_one_shape": ({}, [(3, 7), (3, 7)], lambda p, a, b: a * b),
    "softmax": ({}, [(3, 17)], lambda p, x: torch.softmax(0.75 * x, -1)),
    "mean": ({}, [(2, 5, 7)], lambda p, x: x.mean(-2)),
    "largest": ({}, [(2, 5, 7)], lambda p, x: x.max(-2).values),
    "cross_entropy": ({}, [(6, 17)], lambda p, x: functional.cross_entropy(x, TARGETS, ignore_index=65535).reshape(1)),
    "standardize": ({}, [(3, 7)], lambda p, x: (x - 0.25) * (torch.arange(7) + 0.75)),
    **ATTENTION,
    **MODELS,
    **ADAPTED,
}


def line(name, tensors):
    numbers = torch.cat([tensor.flatten() for tensor in tensors])
    return constant(name, numbers.masked_fill(numbers.abs() < 2**-126, 0), "Vector")


if __name__ == "__main__":
    if sys.argv[1:] == ["distances"]:
        for its_name, its_operation in OPERATIONS.items():
            print(f"{its_name}: {distance(its_operation):.1e}")
        sys.exit()
    lines = [line(name, gradients(*operation)) for name, operation in OPERATIONS.items()]
    write("gradients.hpp", "Gradients computed by PyTorch in double", __file__, gradients_of=lines)
