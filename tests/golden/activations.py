#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes activations.hpp: every activation of activation_list.h, and tanh and erf, as PyTorch computes them, and the gradients of the
activations and of the feed-forward layers that have them; and the functions of each element that catalogue/primitives.hpp lists, in double.
Needs PyTorch, as gradients.py.
"""
import pathlib
import re

import torch
from gradients import gradients, line
from models import ACTIVATIONS, feed_forward, of_feed_forward
from numbers_in_cpp import constant, write
from torch.nn import functional

X = torch.tensor([-9.0, -5.5, -3.25, -2.0, -1.0, -0.75, -0.5, -0.1, -1e-4, 0.0, 1e-4, 0.1, 0.5, 0.75, 1.0, 2.0, 3.25, 9.0])
POWERS = 2 ** (torch.arange(17) % 7)


OPERANDS = {
    "x": [-4.75, -0.625, 0.4375, 2.5, 20.25], "y": [2.5, -0.625, -3.0, 0.1875, 0.5], "z": [0.25, -2.0, 5.0, 0.0, 0.5],
    "positive": [0.0625, 0.75, 1.0, 2.75, 1000.25], "base": [2.5, -1.5, -3.0, 0.1875, 0.5], "exponent": [-3.0, 4.0, -2.0, 20.5, 0.5]}
# The operands of the lists of primitives.hpp, and functions that PyTorch calls otherwise.
LISTS = {"ONE": "x", "A_POSITIVE": "positive", "TWO": "xy", "THREE": "xyz"}
OTHERS = {
    "equal": torch.eq, "fma": lambda a, b, c: a * b + c, "select": lambda of, a, b: torch.where(of != 0, a, b),
    "leaky_relu": lambda a, slope: torch.where(a > 0, a, slope * a), "elu": lambda a, alpha: torch.where(a > 0, a, alpha * torch.expm1(a)),
    "celu": lambda a, alpha: torch.where(a > 0, a, alpha * torch.expm1(a / alpha))}


def elementwise():
    """Returns lines of the operands, and of every function of them."""
    operands = {name: torch.tensor(values, dtype=torch.double) for name, values in OPERANDS.items()}
    calls = [(name, function, ["x"]) for name, function in ACTIVATIONS.items()] + [("power", torch.pow, ["base", "exponent"])]
    lists = (pathlib.Path(__file__).parents[1] / "headers/catalogue/primitives.hpp").read_text(encoding="utf-8")
    for kind, text in re.findall(r"#define FUNCTIONS_OF_(\w+)\(use\)((?:.*\\\n)*.*)", lists):
        names = [LISTS[kind]] if LISTS[kind] in OPERANDS else list(LISTS[kind])
        calls += [(name, OTHERS.get(name) or getattr(torch, name, None) or getattr(functional, name), names)
                  for name in re.findall(r"use\((\w+)\)", text)]
    results = {name: function(*(operands[operand] for operand in names)).double() for name, function, names in calls}
    return [constant(f"elementwise_{name}", numbers, "Vector") for name, numbers in (operands | results).items()]


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
    write("activations.hpp", "Activations and their gradients, computed by PyTorch", __file__, "tinyattn/shape.hpp",
          reference=values + elementwise(), gradients_of=slopes)
