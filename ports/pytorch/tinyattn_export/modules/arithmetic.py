# SPDX-License-Identifier: MIT
"""Sums, differences, products and quotients: of two results of steps, or of one and a constant."""
import math

import torch

from . import attention
from .elementwise import mapped, number_of
from .layout import literal
from .table import lowers, name_of
from .values import Constant, Operand, Value, numbered, operand_of, whole

LARGEST = torch.finfo(torch.float32).max
NAMES = {"add": "add", "mul": "multiply", "sub": "subtract", "truediv": "divide"}
# Steps that tell a quotient from its neighbours: where there is one, nothing is multiplied by the inverse instead.
TO_WHOLE = set("floor ceil trunc round frac long int sign eq ne lt le gt ge floordiv floor_divide remainder fmod mod".split())
ROOTS = {0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}  # {exponent: a function of tinyattn}


def arithmetic(low, function, a, b):
    """Computes a function of two arguments, of which one may be a constant or a number."""
    if function in ("add", "multiply") and not isinstance(a, Value) or (
            function == "add" and isinstance(b, Value) and b.view.numel() > a.view.numel()):
        a, b = b, a
    if function == "subtract" and not isinstance(a, Value):
        return arithmetic(low, "add", low.elementwise(b, "multiply", "-1.0f"), a)
    a, b = (low.check_floats(each) if isinstance(each, Value) else each for each in (a, b))
    if function == "add" and low.tracer.value(low.node).dtype == torch.bool:
        return mapped(low, "logical_or", a, b)
    number = number_of(b)
    if isinstance(a, Value) and (number == 0 and function == "add" or number == 1 and function == "multiply"):
        return a
    if number is not None and abs(number) <= LARGEST and function != "divide":
        return low.elementwise(a, function, literal(number))
    found = None
    if number is None and isinstance(a, Value) and function != "divide":
        found = (with_constant if isinstance(b, Constant) else with_value)(low, function, a, b)
    return found or mapped(low, function, a, b)


def with_constant(low, function, a, b):
    """Returns the Value of a function whose second argument is a row, or has the shape of the first, or None."""
    if torch.broadcast_shapes(a.shape, b.shape) != a.shape or operand_of(a) is None and not a.is_whole():
        return None
    if function == "add" and (b.tensor == -math.inf).any():
        masked = attention.masked_fill(low, a, Constant(b.tensor == -math.inf, b.name), -math.inf)
        rest = Constant(b.tensor.masked_fill(b.tensor == -math.inf, 0.0), b.name)
        return arithmetic(low, "add", masked, rest) if rest.tensor.any() else masked
    operand, view = low.elements_of(a)
    full = b.tensor.float().expand(a.shape)
    if not torch.isfinite(full).all():
        low.refuse(f"{function} with a constant that holds infinity",
                   "give masks as attn_mask, or to masked_fill before softmax")
    ordered = full.permute(Value(operand.object, view).order()).reshape(operand.extents)
    row = ordered.reshape(-1, operand.extents[-1])
    if len(operand.extents) > 1 and torch.equal(row, row[:1].expand_as(row)):
        constant = whole(low.members.tensor(row[0], b.name))
        if function == "multiply" and follows_subtraction(low, operand):
            x, mean, _ = low.program.steps.pop().call[1]
            return Value(low.call("standardize", x, mean, constant, extents=operand.extents, in_place=[x],
                                  name="standardized"), view)
    elif b.tensor.numel() == full.numel():
        constant = whole(low.members.tensor(ordered, b.name, operand.extents))
    else:
        return None
    return low.elementwise(a, function, constant)


def follows_subtraction(low, operand):
    """Whether the last step has subtracted a row from all rows, and only the current step reads the result."""
    last = low.program.steps[-1] if low.program.steps else None
    if last is None or last.call[0] != "subtract" or last.writes is not operand.object:
        return False
    row = last.call[1][1]
    return (isinstance(row, Operand) and row.object.place == "member" and row.extents == operand.extents[-1:]
            and len(low.node.args[0].users) == 1)


def with_value(low, function, a, b):
    """Returns the Value of a function of two of one layout, or of one and a row, or None."""
    if a.shape == b.shape:
        if a.is_whole() and b.is_whole() and a.object.extents == b.object.extents and a.axes() == b.axes():
            (left, view), (right, _) = low.elements_of(a), low.elements_of(b)
        else:
            left, right, view = operand_of(a), operand_of(b), numbered(a.shape)
            if left is None or right is None or left.extents != right.extents:
                return None
        return Value(low.call(function, left, right, extents=left.extents, in_place=[left, right]), view)
    operand = operand_of(a)
    if operand and b.object.extents == a.shape[-1:] and b.is_whole() and b.shape[-1:] == a.shape[-1:]:
        if operand.extents[-1] != a.shape[-1]:
            operand = operand.with_columns(a.shape[-1])
        result = low.elementwise(a, function, whole(b.object), operand=operand)
        return Value(result.object, numbered(a.shape))
    return None


@lowers("add", "mul", "sub", "rsub")
def linear(low, input, other, alpha=1):
    name = low.called
    if name == "rsub":
        name, input, other = "sub", other, input
    if alpha != 1:
        other = arithmetic(low, "multiply", other, alpha) if isinstance(other, Value) else Constant(
            torch.as_tensor(other.tensor if isinstance(other, Constant) else other) * alpha, "other")
    return arithmetic(low, NAMES[name], input, other)


@lowers("truediv")
def divide(low, input, other, rounding_mode=None):
    if rounding_mode is not None:
        return mapped(low, rounding_mode, arithmetic(low, "divide", input, other))
    is_exact = not TO_WHOLE.isdisjoint(name_of(node) for node in low.tracer.graph.nodes if node.op.startswith("call_"))
    if number_of(other) and not is_exact:
        return arithmetic(low, "multiply", input, 1 / number_of(other))
    if isinstance(other, Constant) and isinstance(input, Value) and not is_exact and (
            1 / other.tensor.double()).isfinite().all():
        *outer, last = other.name.split(".")
        other = Constant((1 / other.tensor.double()).float(), ".".join([*outer, f"inverse_{last}"]))
        return arithmetic(low, "multiply", input, other)
    return arithmetic(low, "divide", input, other)


@lowers("pow", "float_power")
def power(low, input, exponent):
    number = number_of(exponent)
    if not isinstance(input, Value) or number not in (1, 2, 3, 4, *ROOTS):
        return mapped(low, "power", input, exponent)
    if number in (1, *ROOTS):
        return input if number == 1 else mapped(low, ROOTS[number], input)
    square = arithmetic(low, "multiply", input, input)
    return square if number == 2 else arithmetic(low, "multiply", square, input if number == 3 else square)
