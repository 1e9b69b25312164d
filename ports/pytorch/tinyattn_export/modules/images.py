# SPDX-License-Identifier: MIT
"""Images as arguments: [..., height, width, features] in memory, whatever the order of PyTorch's axes."""
from .moves import is_copy
from .values import Operand, Value, operand_of, whole


def extents_of(view):
    return (*(extent for extent in view.shape[:-3] if extent != 1), *view.shape[-3:])


def has_order(value, view):
    """Whether an object is a tensor in the order of a view."""
    return Value(value.object, view).is_whole() and value.object.extents == extents_of(view) and (
        not is_copy(view, view.flatten()))


def tensor(low, value, view):
    """Returns a view [..., height, width, features] as a tensor of these extents."""
    if has_order(value, view):
        return whole(value.object)
    return whole(low.copied(Value(value.object, view), extents_of(view)).object)


def matrix(value, view):
    """Returns the view of one image as a matrix [height, width * features] that is not copied, or None."""
    height, width, features = view.shape[-3:]
    flat = view.reshape(height, width * features) if view.shape[:-3].numel() == 1 else None
    if flat is None or is_copy(view, flat):
        return None
    operand = operand_of(value, flat)
    if operand is None or len(operand.extents) == 2:
        return operand
    return Operand(operand.object, tuple(flat.shape), width * features, operand.offset)


def argument(low, value, view):
    """Returns a view as an argument of a Conv2d."""
    if has_order(value, view):
        return whole(value.object)
    return matrix(value, view) or tensor(low, value, view)
