# SPDX-License-Identifier: MIT
"""What the steps of a graph pass on: an object in C++, and how its elements lie in the tensor of PyTorch.

The view of an object is a tensor of PyTorch that has the number of each element. All that only moves elements, such as
transpose, reshape and slices, is done to it by PyTorch itself; its strides then say how the object is to be read."""
import dataclasses
import math

import torch
import torch.fx

FLOAT, TOKEN = "float", "tinyattn::Token"


@dataclasses.dataclass(eq=False)
class Object:
    """A tensor in C++."""

    name: str
    extents: tuple
    place: str  # input, member, activation or out
    element: str = FLOAT
    same_as: "Object" = None  # the object whose memory it takes, since a step computes in place

    def resolved(self):
        return self.same_as.resolved() if self.same_as else self

    @property
    def size(self):
        return math.prod(self.extents)

    @property
    def type(self):
        names = {1: "Vector", 2: "Matrix"}
        return f"tinyattn::{names.get(len(self.extents), 'Tensor')}<{self.element}, {listed(self.extents)}>"


def listed(numbers):
    return ", ".join(map(str, numbers))


def numbers_of(tensor):
    """Returns the elements of an example as numbers of C++."""
    return (tensor.float() if tensor.dtype == torch.bool else tensor).flatten().tolist()


def extents_of(shape):
    """Returns the extents in C++ of a tensor: without axes of size 1, but always with the last axis."""
    *leading, last = shape or (1,)
    return (*(extent for extent in leading if extent != 1), last)


@dataclasses.dataclass(frozen=True, eq=False)
class Value:
    object: Object
    view: torch.Tensor  # of the numbers of elements
    dtype: torch.dtype = None  # in PyTorch, if it is known

    @property
    def shape(self):
        return tuple(self.view.shape)

    @property
    def offset(self):
        return self.view.storage_offset()

    def axes(self):
        """Returns [(extent, stride)] of the axes that are not of size 1."""
        return [(extent, stride) for extent, stride in zip(self.view.shape, self.view.stride()) if extent != 1]

    def order(self):
        """Returns the axes in the order in which they lie in memory."""
        strides, shape = self.view.stride(), self.view.shape
        return sorted(range(self.view.dim()), key=lambda axis: -strides[axis] if shape[axis] != 1 else -math.inf)

    def is_whole(self):
        """Whether it has every element of the object once."""
        ordered = self.view.permute(self.order())
        return self.offset == 0 and self.view.numel() == self.object.size and is_row_major(ordered)


def is_row_major(view):
    expected = 1
    for extent, stride in reversed(list(zip(view.shape, view.stride()))):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def memory_of(tensor):
    """Returns the address of the storage of a tensor."""
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr()


def numbered(shape):
    """Returns the view of an object whose elements lie in the order of this shape."""
    return torch.arange(math.prod(shape)).view(shape)


def numbered_in(order, shape):
    """Returns the view of an object whose elements lie in the order of these axes of the shape."""
    return numbered([shape[axis] for axis in order]).permute([order.index(axis) for axis in range(len(shape))])


def places(extents, strides, first=0):
    """Returns where the elements of a view lie, whose strides may be negative."""
    steps = [torch.arange(extent).mul(stride).view(-1, *[1] * (len(extents) - axis - 1))
             for axis, (extent, stride) in enumerate(zip(extents, strides))]
    return sum(steps, torch.tensor(first)).expand(tuple(extents))


@dataclasses.dataclass(frozen=True)
class Constant:
    """A tensor that does not depend on the input."""

    tensor: torch.Tensor
    name: str  # of the parameter or buffer that it is made of

    @property
    def shape(self):
        return tuple(self.tensor.shape)


@dataclasses.dataclass
class Complex:
    """Complex numbers: two Values."""

    real: Value
    imag: Value

    def each(self, function):
        return Complex(function(self.real), function(self.imag))


@dataclasses.dataclass(frozen=True)
class Absent:
    """One of the results of a module that has several, which must not be used."""

    what: str
    instead: str


@dataclasses.dataclass(frozen=True)
class Operand:
    """A value as an argument in C++: an object, or a view of a matrix in it."""

    object: Object
    extents: tuple
    stride: int = None  # of the rows of a view; None: the object itself
    offset: int = 0
    is_written: bool = False

    def with_columns(self, cols):
        """Returns the same elements as rows of so many columns."""
        return Operand(self.object, (math.prod(self.extents) // cols, cols), cols, self.offset)

    def text(self, name):
        if self.stride is None:
            return name
        rows, cols = self.extents
        if self.object.resolved().extents == (rows, self.stride) and self.offset < self.stride:
            return f"tinyattn::columns<{cols}>({name}, {self.offset})"
        return view_text(name, self.object.element, rows, cols, self.stride, str(self.offset or ""),
                         not self.is_written)


def view_text(name, element, rows, cols, stride, start, constant):
    """Returns a view in C++, whose first element is at `start`."""
    first = f"{name}.data() + {start}" if start else f"{name}.data()"
    return f"tinyattn::MatrixView<{'const ' if constant else ''}{element}, {rows}, {cols}, {stride}>{{{first}}}"


@dataclasses.dataclass(frozen=True)
class Strided(Operand):
    """A view of any rank: `stride` has that of each axis."""

    def text(self, name):
        first = f"&{name}.elements[{self.offset}]" if self.offset else f"{name}.data()"
        return (f"tinyattn::StridedView<{'' if self.is_written else 'const '}{self.object.element}, "
                f"tinyattn::Extents<{listed(self.extents)}>, tinyattn::Strides<{listed(self.stride)}>>{{{first}}}")


@dataclasses.dataclass(frozen=True)
class Addends(Operand):
    """A mask of attention that depends on the input: what is added to the scores of each key."""

    def text(self, name):
        return f"tinyattn::AdditiveMask{{{name}}}"


def strided(object, extents, strides, offset, is_written=False):
    """Returns the Operand of elements of an object: the object itself, a view of a matrix, or one of any rank."""
    extents, strides = tuple(extents), tuple(strides)
    if offset == 0 and object.extents == extents and strides == numbered(extents).stride():
        return whole(object)
    if len(extents) == 2 and strides[1] == 1 and strides[0] >= extents[1]:
        return Operand(object, extents, strides[0], offset, is_written)
    return Strided(object, extents, strides, offset, is_written)


def arguments_in(arguments):
    """Returns what is in nested tuples, lists and dicts."""
    found = []
    torch.fx.node.map_aggregate(arguments, found.append)
    return found


def whole(object):
    return Operand(object, object.extents)


def operand_of(value, view=None):
    """Returns the Operand of a value whose last axis is contiguous and whose other axes have one stride, or None."""
    object, view = value.object, value.view if view is None else view
    axes = [(extent, stride) for extent, stride in zip(view.shape, view.stride())]
    cols, unit = axes[-1] if axes else (1, 1)
    rows = [(extent, stride) for extent, stride in axes[:-1] if extent != 1]
    if cols != 1 and unit != 1:
        return None
    whole = tuple(extent for extent, _ in rows) + (cols,)
    offset = view.storage_offset()
    if offset == 0 and is_row_major(view) and view.numel() == object.size and object.extents == whole:
        return Operand(object, whole)
    count, stride = 1, cols
    for extent, step in reversed(rows):
        if count == 1:
            stride = step
        elif step != stride * count:
            return None
        count *= extent
    return Operand(object, (count, cols), stride, offset)


@dataclasses.dataclass(frozen=True)
class Rows:
    """A matrix in each element of a loop."""

    object: Object
    leading: tuple  # (extent, stride) of the axes of the loop; a stride of 0 repeats a matrix
    rows: int
    cols: int
    stride: int
    offset: int

    @property
    def count(self):
        return math.prod(extent for extent, _ in self.leading)

    @property
    def step(self):
        return self.leading[-1][1] if self.leading else 0

    def terms(self, index):
        """Returns (stride, index of an axis) of each axis of the loop along which matrices differ."""
        inner, terms = 1, []
        for extent, stride in reversed(self.leading):
            if stride:
                place = index if inner == 1 else f"({index} / {inner})"
                terms.insert(0, (stride, place if extent * inner == self.count else f"({place} % {extent})"))
            inner *= extent
        return terms

    def view(self, name, index):
        """Returns the matrix at an index in C++."""
        terms = [f"{stride} * {place}" for stride, place in self.terms(index)]
        distinct = math.prod(extent for extent, stride in self.leading if stride)
        shift = " + ".join(terms)
        if (self.object.extents == (self.rows, self.stride) and self.offset == 0 and len(terms) == 1
                and distinct * self.cols == self.stride):
            return f"tinyattn::columns<{self.cols}>({name}, {shift})"
        start = " + ".join([str(self.offset)] * bool(self.offset) + terms)
        constant = self.object.place not in ("activation", "out")
        return view_text(name, FLOAT, self.rows, self.cols, self.stride, start, constant)
