# SPDX-License-Identifier: MIT
"""What only moves elements: PyTorch does it to the view of a value."""
import operator

import torch

from .values import Constant, Value, memory_of

MOVES = frozenset((
    "transpose permute reshape view flatten unflatten unsqueeze squeeze getitem select narrow chunk split tensor_split "
    "unbind t T mT H swapaxes swapdims movedim moveaxis view_as reshape_as expand expand_as unfold").split())


def move(low, name, value, others, kwargs):
    low.check_present(value)
    if isinstance(value, tuple):  # an element of what returns several
        return value[others[0]]
    if not isinstance(value, Value):
        low.refuse(f"{name} is called on what does not depend on the input", "write it before")
    others = torch.fx.node.map_aggregate(tuple(others), tensor_of)
    if any(isinstance(other, torch.dtype) for other in (*others, *kwargs.values())):
        low.refuse(f"{name} of the bits as another type", "all steps are of float32 here")
    moved = apply(low, name, value.view, others, kwargs)
    if is_copy(value.view, moved):
        if name not in ("reshape", "flatten", "view", "reshape_as", "view_as"):
            low.refuse(f"{name} takes elements one by one", "take a slice, or join several with torch.cat")
        value = low.copied(value)
        moved = apply(low, name, value.view, others, kwargs)
    return wrapped(value, moved)


def tensor_of(argument):
    """Returns the numbers of the elements of a Value, or what else an argument is."""
    if isinstance(argument, Constant):
        return argument.tensor
    return argument.view if isinstance(argument, Value) else argument


def apply(low, name, view, others, kwargs):
    if name == "getitem":
        return operator.getitem(view, *others)
    if name in ("view", "unflatten"):  # view refuses a permuted tensor, and reshape does not
        name = "reshape" if name == "view" else name
    if name in ("T", "mT", "H"):
        return getattr(view, name)
    kwargs = {key: value for key, value in kwargs.items() if key != "inplace"}
    function = getattr(view, name, None) or (lambda *rest, **more: getattr(torch, name)(view, *rest, **more))
    return function(*others, **kwargs)


def is_copy(view, moved):
    first = moved[0] if isinstance(moved, (tuple, list)) else moved
    return memory_of(first) != memory_of(view)


def wrapped(value, moved):
    if isinstance(moved, (tuple, list)):
        return tuple(Value(value.object, view) for view in moved)
    return Value(value.object, moved)
