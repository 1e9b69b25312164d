# SPDX-License-Identifier: MIT
"""How steps in C go through elements: by loops, or by walks of the compiled library."""
import math
import typing

from .values import TOKEN

COLUMNS = 98


class Place(typing.NamedTuple):
    """Elements of an array in C: those at offset + stride * index of the loops around, and then along its own axes."""

    name: str
    extents: tuple
    strides: tuple = None  # None: row-major
    offset: int = 0
    around: tuple = ()  # (stride, index)
    type: str = "float"

    def index(self, terms=()):
        text = "".join(f" {'-' if stride < 0 else '+'} {f'{abs(stride)} * ' if abs(stride) > 1 else ''}{name}"
                       for stride, name in (*self.around, *terms) if stride)
        return f"{self.offset}{text}" if self.offset or not text else text.removeprefix(" + ")

    def pointer(self, terms=()):
        index = self.index(terms)
        return self.name if index == "0" else f"{self.name} + {index}"

    def stride_of(self, axis):
        """Returns the stride of an axis, counted from the last, -1: 0 where elements are repeated."""
        if -axis > len(self.extents) or self.extents[axis] == 1:
            return 0
        return math.prod(self.extents[axis:][1:]) if self.strides is None else self.strides[axis]


def type_of(object):
    return "uint16_t" if object.element == TOKEN else "float"


def place_of(operand, name):
    """Returns the Place of an Operand."""
    strides = (operand.stride, 1) if isinstance(operand.stride, int) else operand.stride
    return Place(name, operand.extents, strides, operand.offset, type=type_of(operand.object))


def axes_of(first, *others):
    """Returns [(extent, its stride in each Place)] of Places that are repeated to the extents of the first. Axes that
    are one in memory are joined."""
    found = []
    for axis in range(-len(first.extents), 0):
        extent, strides = first.extents[axis], [place.stride_of(axis) for place in (first, *others)]
        if found and found[-1][1] == [extent * stride for stride in strides]:
            found[-1] = (found[-1][0] * extent, strides)
        elif extent != 1:
            found.append((extent, strides))
    return found or [(1, [0] * (1 + len(others)))]


def loop(index, count, body):
    """Returns the lines of a loop over others."""
    head = f"for (size_t {index} = 0; {index} < {count}; ++{index})"
    if len(body) == 1 and len(head) + len(body[0]) < COLUMNS:
        return [f"{head} {body[0]}"]
    is_one = len(body) == 1 or body[0].startswith("for (") and all(line.startswith((" ", "}")) for line in body[1:])
    lines = [f"  {line}" for line in body]
    return [head, *lines] if is_one else [f"{head} {{", *lines, "}"]


def for_each(text, *places, names="ijklmn", inner=0):
    """Returns loops over the elements of Places, which are repeated to the first: along all axes, or all but the
    innermost. `text` has these elements, or the pointers to them, as {0}, {1}, ..."""
    axes = axes_of(*places)
    axes = [(name, *axis) for name, axis in zip(names, axes[:len(axes) - inner])]
    terms = [[(strides[i], name) for name, _, strides in axes] for i in range(len(places))]
    lines = [text.format(*(place.pointer(own) if inner else f"{place.name}[{place.index(own)}]"
                           for place, own in zip(places, terms)))]
    for name, extent, _ in reversed(axes):
        lines = loop(name, extent, lines) if extent != 1 else lines
    return lines


def copy(source, target, names="ijklmn"):
    """Returns the loops that copy one Place to another."""
    extent, strides = axes_of(target, source)[-1]
    if strides != [1, 1] or source.type != target.type:
        return for_each("{0} = {1};", target, source, names=names)
    return for_each(f"memcpy({{0}}, {{1}}, {extent} * sizeof({source.type}));", target, source, names=names, inner=1)
