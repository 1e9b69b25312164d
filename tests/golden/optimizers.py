#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes optimizers.hpp: a layer after 1,000 steps of PyTorch's optimizers (CPU, float32). Needs python3-torch.

Gradients are multiples of 2^-16 from a generator that optimizers.cpp has, too, so that both sides have the same.
"""
import torch
from numbers_in_cpp import constant, write

STEPS, IN, OUT = 1000, 3, 7

# The optimizer, its settings in PyTorch and here, and the norm to which gradients are clipped, or 0.
CASES = {
    "sgd": (torch.optim.SGD, {"lr": 0.001}, 0),
    "decayed": (torch.optim.SGD, {"lr": 0.001, "weight_decay": 0.5}, 0),
    "momentum": (torch.optim.SGD, {"lr": 0.0002, "momentum": 0.9, "weight_decay": 0.1}, 0),
    "adamw": (torch.optim.AdamW, {}, 0),
    "clipped": (torch.optim.AdamW, {"lr": 0.0005, "betas": (0.95, 0.99), "eps": 1e-6, "weight_decay": 0.1}, 1),
}


class Generator:
    """x' = 1664525 x + 1013904223, of which the upper 16 bits are a number from -1/2 up to 1/2."""

    def __init__(self):
        self.state = 1

    def draw(self, count):
        numbers = []
        for _ in range(count):
            self.state = (self.state * 1664525 + 1013904223) % 2**32
            numbers.append((self.state // 2**16 - 2**15) / 2**16)
        return numbers


def trained(optimizer_class, settings, max_norm):
    """Returns the layer after all steps, [in, out] and then [out] as one row, and the sum of all norms before clipping."""
    generator, norms = Generator(), 0.0
    shapes = [(IN, OUT), (OUT,)]
    parameters = [torch.nn.Parameter(torch.tensor(generator.draw(IN * OUT if len(shape) == 2 else OUT)).reshape(shape)) for shape in shapes]
    optimizer = optimizer_class(parameters, **settings)
    for _ in range(STEPS):
        for parameter in parameters:
            drift = (torch.arange(parameter.numel()) % 5 - 2) / 8
            parameter.grad = (torch.tensor(generator.draw(parameter.numel())) + drift).reshape(parameter.shape)
        if max_norm:
            norms += torch.nn.utils.clip_grad_norm_(parameters, max_norm).item()
        optimizer.step()
    return torch.cat([parameter.detach().flatten() for parameter in parameters]), norms


lines = []
for case, (optimizer, its_settings, norm) in CASES.items():
    weights, sum_of_norms = trained(optimizer, its_settings, norm)
    lines.append(constant(case, weights))
    if norm:
        lines.append(f"inline constexpr double sum_of_norms = {sum_of_norms!r};")
write("optimizers.hpp", "Weights after 1,000 steps of PyTorch's optimizers", __file__, reference=lines)
