# SPDX-License-Identifier: MIT
"""What modules write out although there is a function: softmax(mask(q @ k^T / sqrt(d))) @ v is scaled dot-product
attention, and x * rsqrt(mean(x^2) + epsilon) * weight is an RmsNorm."""
import dataclasses
import math

import torch

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


def kind(node, net):
    """Returns the name of what a step computes, or nothing if it has an option that changes this."""
    if node.kwargs.get("alpha", 1) != 1 or node.kwargs.get("rounding_mode"):
        return ""
    if node.op == "call_module":
        return type(net.get_submodule(node.target)).__name__.lower()
    return name_of(node) if node.op in ("call_function", "call_method") else node.op


def argument(node, position, *names):
    if len(node.args) > position:
        return node.args[position]
    return next((node.kwargs[name] for name in names if name in node.kwargs), None)


def is_last_axis(node, net, rank):
    dim = net.get_submodule(node.target).dim if node.op == "call_module" else argument(node, 1, "dim")
    return dim in (-1, rank - 1)


def number(value, tracer, constants):
    """Returns an argument as a number, or None if it is none, or depends on the input."""
    if isinstance(value, torch.fx.Node):
        value = tracer.value(value) if value in constants else None
    value = value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value
    return value if isinstance(value, (int, float)) else None


def is_for_all_heads(mask):
    matrices = mask.reshape(-1, *mask.shape[-2:])
    return mask.dim() < 3 or torch.equal(matrices, matrices[:1].expand_as(matrices))


def attention_of(tracer, net, node, constants):
    """Returns the Attention whose last product is this node, or None."""
    if kind(node, net) not in ("matmul", "bmm") or not isinstance(argument(node, 1, "other", "mat2"), torch.fx.Node):
        return None
    inner, mask, filled, scale, at, softmax = [], None, False, 1.0, node.args[0], False
    while isinstance(at, torch.fx.Node) and len(at.users) == 1 and at.args:
        what, other = kind(at, net), argument(at, 1, "other", "mask")
        inner.append(at)
        if what in ("dropout", "contiguous", "float"):
            pass
        elif what == "softmax" and not softmax and is_last_axis(at, net, tracer.value(at).dim()):
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
            factor = scale * tracer.value(at.args[0]).shape[-1]**0.5
            return Attention(at.args[0], other, node.args[1], mask, filled, factor, inner)
        else:
            return None
        at = at.args[0]
    return None


@dataclasses.dataclass
class RmsNorm:
    x: torch.fx.Node
    weight: torch.fx.Node  # a constant
    epsilon: float
    inner: list
    title = "norm"


def mean_of_squares(node, net, tracer):
    """Returns x if a node is the mean of x^2 over its last axis, and the nodes inside."""
    if kind(node, net) != "mean" or not argument(node, 2, "keepdim"):
        return None, []
    dim, square = argument(node, 1, "dim"), node.args[0]
    is_last = dim in (-1, tracer.value(node).dim() - 1, (-1,), [-1])
    what, exponent = kind(square, net), argument(square, 1, "exponent")
    is_square = what == "square" or what == "pow" and exponent == 2 or what == "mul" and exponent is square.args[0]
    return (square.args[0], [node, square]) if is_last and is_square else (None, [])


def norm_of(tracer, net, node, constants):
    """Returns the RmsNorm whose last product is this node, or None."""
    if kind(node, net) != "mul" or len(node.args) != 2:
        return None
    weight, scaled = node.args if node.args[0] in constants else reversed(node.args)
    passed = []
    while isinstance(scaled, torch.fx.Node) and kind(scaled, net) in ("type_as", "to", "float"):
        passed.append(scaled)
        scaled = scaled.args[0]
    if weight not in constants or not isinstance(scaled, torch.fx.Node) or kind(scaled, net) != "mul":
        return None
    factors = [side for side in scaled.args if isinstance(side, torch.fx.Node)]
    root = next((side for side in factors if kind(side, net) == "rsqrt"), None)
    added = root.args[0] if root else None
    epsilon = number(argument(added, 1, "other"), tracer, constants) if added and kind(added, net) == "add" else None
    if epsilon is None:
        return None
    x, inner = mean_of_squares(added.args[0], net, tracer)
    others = [side for side in scaled.args if side is not root]
    inner = [*passed, scaled, root, added, *inner]
    if x is None or others != [x] or any(len(inside.users) != 1 for inside in inner):
        return None
    return RmsNorm(x, weight, epsilon, inner) if scales_features(tracer.value(weight), tracer.value(x)) else None


def scales_features(weight, x):
    """Whether a weight has a number for each feature, or one for all."""
    return weight.dim() <= x.dim() and weight.shape[-1:].numel() == weight.numel() in (1, x.shape[-1])


def written_out(tracer, net, constants):
    """Returns {node: what it is the last step of}, an Attention or an RmsNorm."""
    found = {node: attention_of(tracer, net, node, constants) or norm_of(tracer, net, node, constants)
             for node in tracer.graph.nodes}
    return {node: whole for node, whole in found.items() if whole}
