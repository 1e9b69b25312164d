# SPDX-License-Identifier: MIT
"""What only moves elements. PyTorch does it to the numbers of elements: if the result is a view of them, nothing is
moved; else what it has is copied, in pieces whose numbers rise evenly along each axis."""
import itertools
import operator

import torch
import torch.nn.functional as F

from . import tokens
from .elementwise import mapped, number_of, text_of
from .table import FUNCTIONS, lowers
from .values import (TOKEN, Constant, Operand, Strided, Value, arguments_in, extents_of, memory_of, numbered, places,
                     strided, whole)

MOVES = frozenset((
    "transpose permute reshape view flatten unflatten unsqueeze squeeze getitem select narrow chunk split tensor_split "
    "unbind t T mT H mH swapaxes swapdims movedim moveaxis view_as reshape_as expand expand_as unfold repeat tile flip "
    "roll rot90 fliplr flipud diagonal index_select gather take take_along_dim repeat_interleave ravel broadcast_to "
    "unsafe_chunk unsafe_split split_with_sizes atleast_1d atleast_2d atleast_3d hsplit vsplit pixel_shuffle "
    "pixel_unshuffle channel_shuffle").split())
RESHAPES = ("reshape", "flatten", "view", "reshape_as", "view_as")
SOURCE = 1 << 40  # between the numbers of two sources
MOST_PIECES = 16


@lowers(*MOVES)
def moved(low, input, *others, **kwargs):
    return move(low, low.called, input, others, kwargs)


def move(low, name, value, others, kwargs):
    low.check_present(value)
    if isinstance(value, tuple):  # an element of what returns several
        return value[others[0]]
    if name == "getitem" and isinstance(value, Constant) and isinstance(others[0], Value):
        rows = Constant(value.tensor.float().reshape(len(value.tensor), -1), value.name)
        found = FUNCTIONS["embedding"](low, others[0], rows)
        return move(low, "reshape", found, (*others[0].shape, *value.shape[1:]), {})
    others, kwargs = torch.fx.node.map_aggregate(
        (tuple(others), dict(kwargs)), lambda argument: tensor_of(low, argument))
    if not isinstance(value, Value):
        low.refuse(f"{name} is called on what does not depend on the input", "write it before")
    if any(isinstance(other, torch.dtype) for other in (*others, *kwargs.values())):
        low.refuse(f"{name} of the bits as another type", "all steps are of float32 here")
    moved = apply(name, value.view, others, kwargs)
    if name in RESHAPES and is_copy(value.view, moved) and len(value.axes()) > 2:
        object, result = low.new(extents_of(moved.shape), tuple(moved.shape), "copy")
        copy(low, value.view, [value], Value(object, numbered(value.shape)))
        return result
    if name in RESHAPES and is_copy(value.view, moved):
        value = low.copied(value)
        moved = apply(name, value.view, others, kwargs)
    return torch.fx.node.map_aggregate(moved, lambda view: wrapped(low, value, view))


def tensor_of(low, argument):
    """Returns the tensor of an argument: the numbers of the elements of a Value, if only its shape is asked for."""
    if isinstance(argument, Value) and low.called not in ("view_as", "reshape_as", "expand_as"):
        low.refuse("an index that depends on the input", "take a mask, x * (i == j), or torch.nn.Embedding for a table")
    if isinstance(argument, Constant):
        return argument.tensor
    return argument.view if isinstance(argument, Value) else argument


def apply(name, view, others, kwargs):
    if name == "getitem":
        return operator.getitem(view, *others)
    if name in ("view", "unflatten"):  # view refuses a permuted tensor, and reshape does not
        name = "reshape" if name == "view" else name
    if name in ("T", "mT", "H", "mH"):
        return getattr(view, name)
    kwargs = {key: value for key, value in kwargs.items() if key != "inplace"}
    function = getattr(view, name, None) or (lambda *rest, **more: getattr(torch, name)(view, *rest, **more))
    return function(*others, **kwargs)


def is_copy(view, moved):
    return memory_of(moved) != memory_of(view)


def wrapped(low, value, moved):
    if not is_copy(value.view, moved):
        return Value(value.object, moved)
    known = numbers_as_strided(moved)
    return Value(value.object, known) if known is not None else gathered(low, moved, [value])


def numbers_as_strided(moved):
    """Returns the view that has these numbers, or None if there is none, as of what is flipped."""
    strides = steps_of(moved)
    if strides is None or min(strides, default=0) < 0 or moved.numel() == 0:
        return None
    first = int(moved.flatten()[0])
    last = first + sum(step * (extent - 1) for step, extent in zip(strides, moved.shape))
    return torch.arange(last + 1).as_strided(moved.shape, strides, first)


# --- What is copied ---


def steps_of(numbers):
    """Returns by how much numbers rise along each axis, or None if they do not rise evenly, or have several sources."""
    first = numbers[(0,) * numbers.dim()]
    steps = [int(numbers[(0,) * axis + (1,) + (0,) * (numbers.dim() - axis - 1)] - first) if extent > 1 else 0
             for axis, extent in enumerate(numbers.shape)]
    one = numbers.div(SOURCE, rounding_mode="floor").unique().numel() == 1
    return steps if one and torch.equal(places(numbers.shape, steps, int(first)), numbers) else None


def cuts(numbers, axis):
    """Returns where numbers cease to rise evenly along an axis: the beginnings of pieces, and the end."""
    slices = numbers.movedim(axis, 0).reshape(numbers.shape[axis], -1)
    rise = [each[0].item() if (each == each[0]).all() and abs(each[0]) < SOURCE / 2 else None
            for each in slices.diff(dim=0)]
    found = [0]
    while found[-1] < len(slices):
        begin, end = found[-1], found[-1] + 1
        if rise[begin:end] not in ([], [None]) and rise[end:end + 1] in ([], [None], rise[begin:end]):
            while end < len(slices) and rise[end - 1] == rise[begin]:
                end += 1
        found.append(end)
    return found


def pieces(numbers, place=()):
    """Yields (where a piece begins, its numbers, by how much they rise along each axis)."""
    place = place or (0,) * numbers.dim()
    steps = steps_of(numbers)
    if steps is not None:
        yield place, numbers, steps
        return
    axis, found = min(((axis, cuts(numbers, axis)) for axis in range(numbers.dim())),
                      key=lambda item: (len(item[1]) == 2, len(item[1])))
    for begin, end in zip(found, found[1:]):
        inner = (*place[:axis], place[axis] + begin, *place[axis + 1:])
        yield from pieces(numbers.narrow(axis, begin, end - begin), inner)


def gathered(low, numbers, sources, element=None):
    """Returns a new Value with the elements of these numbers."""
    if all(isinstance(source, Value) and source.object.element == TOKEN for source in sources):
        element = element or TOKEN
    object, result = low.new(extents_of(numbers.shape), tuple(numbers.shape), element=element)
    most = MOST_PIECES + 2 * len(sources)
    if len(list(itertools.islice(pieces(numbers), most + 1))) > most:
        return by_table(low, numbers, sources, object, result)
    copy(low, numbers, sources, result)
    return result


def copy(low, numbers, sources, result):
    """Adds the steps that copy the elements of these numbers to those of a Value."""
    for place, to, rise_to in pieces(result.view):
        part = numbers[tuple(slice(begin, begin + extent) for begin, extent in zip(place, to.shape))]
        for inner, of, rise in pieces(part):
            source, first = divmod(int(of.flatten()[0]), SOURCE)
            axes = [axis for axis, extent in enumerate(of.shape) if extent != 1] or list(range(of.dim()))[-1:]
            extents, rise, steps = ([each[axis] for axis in axes] or [1] for each in (of.shape, rise, rise_to))
            begin = int(to.flatten()[0]) + sum(index * step for index, step in zip(inner, rise_to))
            target = as_row(strided(result.object, extents, steps, begin, is_written=True))
            source = sources[source]
            if isinstance(source, Value):
                source = strided(source.object, extents, rise, first)
                source = as_row(source) if len(target.extents) > 1 else source
            low.program.call("copy", source, target, writes=result.object)


def as_row(operand):
    """Returns a view of elements in a row as one of a matrix."""
    if not isinstance(operand, Strided) or operand.stride != (1,):
        return operand
    (cols,) = operand.extents
    return Operand(operand.object, (1, cols), cols, operand.offset, operand.is_written)


def by_table(low, numbers, sources, object, result):
    if len(sources) > 1 or sources[0].object.size > 65536:
        low.refuse(f"{low.called} moves elements one by one", "take slices, or join a few tensors")
    table = low.members.mask("tinyattn::Tensor<std::uint16_t, ", numbers.flatten(), f"{low.name()}_order")
    low.program.add(f"for (std::size_t i = 0; i < {numbers.numel()}; ++i)\n  ", whole(object), ".elements[i] = ",
                    whole(sources[0].object), f".elements[{table}.elements[i]];", writes=object,
                    call=("gather", [whole(sources[0].object), table, strided(object, [numbers.numel()], [1], 0)]))
    return result


def numbered_sources(low, sources):
    """Returns the numbers of the elements of Values, Constants and numbers, and what has these elements."""
    numbers, shapes = [number_of(source) for source in sources], [getattr(source, "shape", ()) for source in sources]
    sources = [low.check_floats(source, tokens=True) if number is None else text_of(low, number)
               for source, number in zip(sources, numbers)]
    views = [source.view if isinstance(source, Value) else torch.zeros(shape, dtype=torch.int64)
             for source, shape in zip(sources, shapes)]
    return [view + i * SOURCE for i, view in enumerate(views)], sources


def joined(low, function, sources):
    """Returns the Value of a function that moves the elements of several Values, Constants and numbers."""
    numbers, sources = numbered_sources(low, sources)
    return gathered(low, function(*numbers), sources)


@lowers("setitem")
def assign(low, input, key, value):
    if isinstance(key, Value) and key.dtype == torch.bool and getattr(value, "shape", ()) == ():
        mask = Value(key.object, key.view.view(*key.shape, *[1] * (len(input.shape) - len(key.shape))))
        return mapped(low, "select", mask, value, input)
    if any(isinstance(each, Value) for each in arguments_in((key,))):
        low.refuse("a place that depends on the input", "take torch.where, or masked_fill")
    key = torch.fx.node.map_aggregate(key, lambda each: each.tensor if isinstance(each, Constant) else each)
    result = overwritten(low, input)
    target = Value(result.object, result.view[key])
    (numbers,), sources = numbered_sources(low, [value])
    copy(low, numbers.expand(target.shape), sources, target)
    return result


def overwritten(low, input):
    """Returns a copy of a Value or a Constant, which may lie where the Value does."""
    if isinstance(input, Constant) and (input.tensor == input.tensor.flatten()[0]).all():
        object, result = low.new(extents_of(input.shape), input.shape)
        number = text_of(low, float(input.tensor.flatten()[0]))
        low.program.call("copy", number, whole(object), writes=object)
        return result
    input = low.check_floats(input)
    if not input.is_whole():
        return gathered(low, input.view.clone(), [input])
    object = low.program.activation(low.name(), input.object.extents)
    low.program.call("copy", whole(input.object), whole(object), writes=object, in_place=[input.object])
    return Value(object, input.view)


@lowers("pad")
def pad(low, input, pad, mode="constant", value=None):
    if mode == "constant" and sum(map(any, zip(pad[::2], pad[1::2]))) > 1 and min(pad) >= 0:
        return framed(low, low.check_floats(input), pad, value or 0.0)
    if mode == "constant":
        return joined(low, lambda numbers, zero: F.pad(numbers - zero, pad) + zero, [input, value or 0.0])
    return joined(low, lambda numbers: F.pad(numbers.double(), pad, mode).long(), [input])


def framed(low, value, pad, number):
    """Pads several axes: a constant that the value is written into."""
    order = value.order() if value.is_whole() else list(range(len(value.shape)))
    begins = [*pad[::2], *[0] * len(value.shape)][len(value.shape) - 1::-1]
    frame = torch.full(F.pad(value.view, pad).permute(order).shape, number)
    inner = tuple(slice(begins[axis], begins[axis] + value.shape[axis]) for axis in order)
    result = assign(low, Constant(frame, "frame"), inner, Value(value.object, value.view.permute(order)))
    return Value(result.object, result.view.permute([order.index(axis) for axis in range(len(order))]))


@lowers("tril", "triu")
def triangle(low, input, diagonal=0):
    is_kept = getattr(torch.ones(input.shape), low.called)(diagonal).bool()
    return joined(low, lambda numbers, zero: torch.where(is_kept, numbers, zero), [input, 0.0])


@lowers("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack")
def cat(low, tensors, dim=None):
    function = {"concat": "cat", "concatenate": "cat"}.get(low.called, low.called)
    along = {} if function not in ("cat", "stack") else {"dim": dim or 0}
    views = list(tensors) if function != "stack" else [
        Value(each.object, each.view.unsqueeze(dim or 0)) if isinstance(each, Value) else
        Constant(each.tensor.unsqueeze(dim or 0), each.name) for each in tensors]
    found = tokens.join(low, views, dim or 0) if along else None
    if found:
        return found
    return joined(low, lambda *parts: getattr(torch, function)(parts, **along), list(tensors))
