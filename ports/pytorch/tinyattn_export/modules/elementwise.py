# SPDX-License-Identifier: MIT
"""Functions of each element, whose operands are repeated for each other as PyTorch broadcasts them."""
import math

import torch

from .layout import literal
from .table import lowers
from .values import Constant, Value, numbered, numbered_in, strided

LIBRARY = {  # {name in PyTorch: name in tinyattn::function, where it is another}
    "abs": "absolute", "absolute": "absolute", "truediv": "divide", "pow": "power", "lt": "less", "gt": "greater",
    "le": "less_equal", "ge": "greater_equal", "eq": "equal", "ne": "not_equal", "and": "logical_and",
    "bitwise_and": "logical_and", "or": "logical_or", "bitwise_or": "logical_or", "xor": "not_equal",
    "logical_xor": "not_equal", "bitwise_xor": "not_equal", "invert": "logical_not", "bitwise_not": "logical_not",
    "log_sigmoid": "logsigmoid", "floordiv": "floor_divide", "mod": "remainder", "fix": "trunc", "sgn": "sign",
    "special_expit": "sigmoid", "special_erf": "erf", "special_log1p": "log1p", "special_expm1": "expm1"}
NAMED = ("exp log log2 log10 log1p expm1 sqrt rsqrt tanh sigmoid erf sign reciprocal floor ceil trunc round sin cos "
         "logsigmoid logical_not isnan hardswish hardsigmoid mish softsign minimum maximum less less_equal greater "
         "greater_equal not_equal logical_and logical_or remainder floor_divide").split()
BITS = ("and", "or", "xor", "invert", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")


def number_of(argument):
    """Returns an argument as a number, or None if it is none."""
    if isinstance(argument, Constant) and argument.tensor.numel() == 1:
        return float(argument.tensor.item())
    return float(argument) if isinstance(argument, (bool, int, float)) else None


def text_of(low, number):
    if math.isnan(number):
        low.refuse("a step with a NaN", "take a number")
    infinity = "std::numeric_limits<float>::infinity()"
    return literal(number) if abs(number) <= torch.finfo(torch.float32).max else "-" * (number < 0) + infinity


def mapped(low, function, *arguments):
    """Computes a function of tinyattn of each element of Values, Constants and numbers."""
    numbers = [number_of(argument) for argument in arguments]
    values = [low.check_floats(argument) if number is None else None for argument, number in zip(arguments, numbers)]
    shapes = [argument.shape for argument in (*values, *arguments) if hasattr(argument, "shape")]
    shape = torch.broadcast_shapes(*shapes)
    full = [value for value in values if value is not None]
    if all(value.is_whole() and value.view.stride() == full[0].view.stride() and value.shape == shape
           and value.object.extents == full[0].object.extents for value in full):
        view, extents = full[0].view.view(shape), full[0].object.extents
        operands = [strided(value.object, extents, numbered(extents).stride(), 0) for value in full]
    else:
        whole = (value.order() for value in full if value.shape == shape and value.is_whole())
        order = next(whole, list(range(len(shape))))
        view = numbered_in(order, shape)
        axes = [axis for axis in order if shape[axis] != 1] or order[-1:]
        extents = tuple(shape[axis] for axis in axes) or (1,)
        operands = [along(value, axes, len(shape)) for value in full]
    waiting = iter(operands)
    texts = [next(waiting) if number is None else text_of(low, number) for number in numbers]
    in_place = [operand for operand in operands if operand.extents == extents]
    object = low.call("elementwise", f"tinyattn::function::{function}", *texts, extents=extents, in_place=in_place)
    return Value(object, view)


def along(value, axes, rank):
    """Returns the operand of a value that is repeated to a rank, with these axes."""
    view = value.view[(None,) * (rank - value.view.dim())]
    sizes, strides = ([getter[axis] for axis in axes] or [1] for getter in (view.shape, view.stride()))
    while len(sizes) > 1 and sizes[0] == 1 and value.object.extents != tuple(sizes):
        sizes, strides = sizes[1:], strides[1:]
    return strided(value.object, tuple(sizes), tuple(strides), value.offset)


@lowers(*NAMED, *LIBRARY)
def function(low, input, other=None, inplace=False, rounding_mode=None):
    if low.called in BITS and low.tracer.value(low.node).dtype != torch.bool:
        low.refuse(f"{low.called} of the bits of integers", "compute it of booleans")
    arguments = [argument for argument in (input, other) if argument is not None]
    result = mapped(low, LIBRARY.get(low.called, low.called), *arguments)
    return result if rounding_mode is None else mapped(low, rounding_mode, result)


@lowers("where")
def where(low, condition, input=None, other=None):
    if input is None or other is None:
        low.refuse("where with one argument", "give what it chooses between")
    if low.node.op == "call_method" and low.node.target == "where":
        condition, input = input, condition
    return mapped(low, "select", condition, input, other)


@lowers("clamp", "clip", "hardtanh", "clamp_min", "clamp_max")
def clamp(low, input, min=None, max=None, min_val=-1.0, max_val=1.0, inplace=False):
    if low.called == "hardtanh":
        min, max = min_val if min is None else min, max_val if max is None else max
    if low.called == "clamp_max":
        min, max = None, max if min is None else min
    if min is not None and max is not None:
        return mapped(low, "clamp", input, min, max)
    return mapped(low, "maximum" if max is None else "minimum", input, min if max is None else max)
