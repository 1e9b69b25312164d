# SPDX-License-Identifier: MIT
"""What modules write out although there is a function: softmax(mask(q @ k^T / sqrt(d))) @ v is scaled dot-product
attention; recognizing.py finds activations and norms."""
import dataclasses
import math

import torch

from . import recognizing
from .table import name_of


@dataclasses.dataclass
class Attention:
    query: torch.fx.Node
    key: torch.fx.Node  # transposed
    value: torch.fx.Node
    mask: object  # a node of constants, or None
    is_filled: bool  # by masked_fill: true = masked; else the mask is added
    factor: float  # of the queries, before they are divided by the root of their width
    inner: list  # the nodes that it replaces, besides the product with the values
    title = "attention"


def kind(node):
    """Returns the name of what a step computes, or nothing if it has an option that changes this."""
    if node.kwargs.get("alpha", 1) != 1 or node.kwargs.get("rounding_mode"):
        return ""
    return name_of(node) if node.op in ("call_function", "call_method") else node.op


def argument(node, position, *names):
    if len(node.args) > position:
        return node.args[position]
    return next((node.kwargs[name] for name in names if name in node.kwargs), None)


def number(value, tracer, constants):
    """Returns an argument as a number, or None if it is none, or depends on the input."""
    if isinstance(value, torch.fx.Node):
        value = tracer.value(value) if value in constants else None
    value = value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value
    return value if isinstance(value, (int, float)) else None


def is_for_all_heads(mask):
    matrices = mask.reshape(-1, *mask.shape[-2:])
    return mask.dim() < 3 or torch.equal(matrices, matrices[:1].expand_as(matrices))


def attention_of(tracer, node, constants):
    """Returns the Attention whose last product is this node, or None."""
    if kind(node) not in ("matmul", "bmm") or not isinstance(argument(node, 1, "other", "mat2"), torch.fx.Node):
        return None
    inner, mask, filled, scale, at, softmax = [], None, False, 1.0, node.args[0], False
    while isinstance(at, torch.fx.Node) and len(at.users) == 1 and at.args:
        what, other = kind(at), argument(at, 1, "other", "mask")
        inner.append(at)
        if what in ("dropout", "contiguous", "float"):
            pass
        elif what == "softmax" and not softmax and argument(at, 1, "dim") in (-1, tracer.value(at).dim() - 1):
            softmax = True
        elif not softmax:
            return None
        elif what == "masked_fill" and mask is None and other in constants and number(
                argument(at, 2, "value"), tracer, constants) == -math.inf:
            mask, filled = other, True
        elif what == "add" and mask is None and other in constants and scale == 1.0:
            mask = other
        elif what in ("mul", "truediv") and number(other, tracer, constants):
            factor = number(other, tracer, constants)
            scale *= factor if what == "mul" else 1 / factor
        elif what in ("matmul", "bmm"):
            if other in constants or mask is not None and not is_for_all_heads(tracer.value(mask)):
                return None
            leading = [tracer.value(each).shape[:-2] for each in (at.args[0], other, node.args[1])]
            if leading[0] != torch.broadcast_shapes(*leading) or tracer.value(at.args[0]).dim() < 2:
                return None
            factor = scale * tracer.value(at.args[0]).shape[-1]**0.5
            return Attention(at.args[0], other, node.args[1], mask, filled, factor, inner)
        else:
            return None
        at = at.args[0]
    return None


def written_out(tracer, constants):
    """Returns {node: what it is the last step of}, an Attention or what is Written."""
    found = {node: attention_of(tracer, node, constants) or recognizing.recognized(tracer, node, constants)
             for node in tracer.graph.nodes}
    return {node: whole for node, whole in found.items() if whole}
