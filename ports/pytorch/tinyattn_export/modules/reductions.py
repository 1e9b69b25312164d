# SPDX-License-Identifier: MIT
"""Reductions over one axis, several or all: over tokens by functions of their own."""
import math

from .elementwise import mapped
from .table import lowers
from .values import TOKEN, Constant, Value, numbered, operand_of, strided

REDUCTIONS = {  # {name in PyTorch: name in tinyattn::reduction}
    "sum": "sum", "mean": "mean", "amax": "largest", "amin": "smallest", "prod": "product", "any": "any", "all": "all",
    "logsumexp": "log_sum_exp"}
NORMS = {1: "absolute_sum", 2: "norm", "fro": "norm", None: "norm", math.inf: "largest_magnitude"}


def pooled(low, function, value, dim, keepdim):
    """Returns the Value of a function over tokens, or None if these and their features are no matrix in memory."""
    dim = dim[0] if isinstance(dim, (tuple, list)) and len(dim) == 1 else dim
    if not isinstance(dim, int) or value.view.dim() < 2:
        return None
    view = value.view.movedim(dim, -1).transpose(-1, -2)  # [..., tokens, features]
    operand = operand_of(value, view)
    extents = (*(extent for extent in view.shape[:-2] if extent != 1), *view.shape[-2:])
    if operand is None or operand.extents != extents or len(extents) > 2 and operand.stride is not None:
        return None
    object = low.call(function, operand, extents=(*extents[:-2], extents[-1]))
    result = numbered(tuple(view.transpose(-1, -2).shape[:-1]))
    return Value(object, result.unsqueeze(dim) if keepdim else result)


def reduced(low, operation, value, dim=None, keepdim=False, element=None):
    """Reduces one axis, several, or all, and returns the Value."""
    value = low.check_floats(value)
    found = pooled(low, operation, value, dim, keepdim) if operation in ("mean", "largest") else None
    if found:
        return found
    rank, shape = max(value.view.dim(), 1), value.shape or (1,)
    dims = range(rank) if dim is None or dim == () else [dim] if isinstance(dim, int) else dim
    dims = {axis % rank for axis in dims}
    view = value.view.view(shape) if value.view.dim() == 0 else value.view
    order = value.order() if value.is_whole() and element != TOKEN and value.view.dim() else range(rank)
    several = any(shape[axis] != 1 for axis in dims)
    axes = [axis for axis in order if shape[axis] != 1 or axis in dims and not several]
    sizes, strides = (tuple(getter[axis] for axis in axes) for getter in (view.shape, view.stride()))
    places = [place for place, axis in enumerate(axes) if axis in dims]
    kept = [axis for axis in order if axis not in dims or keepdim]
    extents = tuple(1 if axis in dims else shape[axis] for axis in axes if keepdim or axis not in dims) or (1,)
    object = low.call(f"reduce<{', '.join(map(str, places))}>", f"tinyattn::reduction::{operation}",
                      strided(value.object, sizes, strides, value.offset), extents=extents, element=element)
    result = numbered([1 if axis in dims else shape[axis] for axis in kept]).permute(
        [kept.index(axis) for axis in sorted(kept)])
    return Value(object, result if value.view.dim() else result.view(()))


@lowers(*REDUCTIONS)
def reduction(low, input, dim=None, keepdim=False, dtype=None):
    return reduced(low, REDUCTIONS[low.called], input, dim, keepdim)


@lowers("var", "std", "var_mean", "std_mean")
def variance(low, input, dim=None, unbiased=True, keepdim=False, correction=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    correction = int(unbiased) if correction is None else correction
    kind = "variance" if low.called.startswith("var") else "deviation"
    spread = reduced(low, f"{kind}{{{correction}}}", input, dim, keepdim)
    return (spread, reduced(low, "mean", input, dim, keepdim)) if low.called.endswith("_mean") else spread


@lowers("argmax", "argmin")
def place(low, input, dim=None, keepdim=False):
    return reduced(low, low.called, input, dim, keepdim, TOKEN)


@lowers("max", "min")
def extreme(low, input, dim=None, keepdim=False, other=None):
    other = dim if isinstance(dim, (Constant, Value)) else other
    if other is not None:
        return mapped(low, f"{low.called}imum", input, other)
    values = reduced(low, {"max": "largest", "min": "smallest"}[low.called], input, dim, keepdim)
    return values if dim is None else (values, reduced(low, f"arg{low.called}", input, dim, keepdim, TOKEN))
