# SPDX-License-Identifier: MIT
"""Turns a traced graph into steps of C++, and into the members that they read."""
import math

import torch

from ..errors import ExportError, printable
from . import arithmetic, attention_layers, convolutions, tokens  # noqa: F401: they fill the tables
from . import attention, functions, fusion, layers, table, weighted
from .members import Layer, Members, member_name
from .program import Program
from .values import (TOKEN, Absent, Constant, Operand, Value, Rows, extents_of, numbered, operand_of, whole)

INDICES = "ijklmn"
OTHERS = "compute it before or after forward, or write it with what the table of ports/pytorch/README.md has"


class Lowering:
    def __init__(self, tracer, net, weights):
        self.title_of_module = type(tracer.original).__name__
        self.tracer, self.net, self.program = tracer, net, Program()
        self.members = Members(net, weights)
        self.values, self.copies, self.folded = {}, {}, {}
        self.node, self.title, self.called = None, None, None  # called: the name of the function

    # --- Values ---

    def refuse(self, what, instead=OTHERS):
        raise self.tracer.refused(self.node, what, instead)

    def module_of(self, node):
        return self.net.get_submodule(node.target)

    def name(self):
        """Returns a name for the result of the current step: that of its module, or of its function."""
        if self.title:
            return self.title
        if self.node.op != "call_module":
            return member_name(table.name_of(self.node).strip("_"))
        *outer, last = self.node.target.split(".")
        if last.isdigit():
            named = outer and not outer[-1].isdigit()
            last = f"{outer[-1]}_{last}" if named else type(self.module_of(self.node)).__name__.lower()
        return member_name(last)

    def value(self, argument):
        """Returns the Value of a node, or what else an argument of it is."""
        return torch.fx.node.map_arg(argument, lambda node: self.values[node])

    def constant(self, node):
        """Returns the Constant of a step that does not depend on the input."""
        sources = sorted({source.target for source in ancestors(node) if source.op in ("get_attr", "call_module")})
        name = sources[0] if len(sources) == 1 else node.name
        return Constant(self.tracer.value(node), name)

    def new(self, extents, shape, name=None):
        """Returns a new activation, whose elements lie in the order of the shape."""
        object = self.program.activation(name or self.name(), extents)
        return object, Value(object, numbered(shape))

    def call(self, function, *arguments, extents, in_place=(), name=None):
        """Adds a call of a function of the library, or of a Layer, whose last argument is its result: a new activation
        of these extents, which may lie where an Operand of `in_place` does. Returns that."""
        object = self.program.activation(name or self.name(), extents)
        start = [function, ".forward("] if isinstance(function, Layer) else [f"tinyattn::{function}("]
        separated = [part for argument in arguments for part in (argument, ", ")]
        return self.program.add(*start, *separated, whole(object), ");", writes=object,
                                in_place=[operand.object for operand in in_place if operand.stride is None])

    def check_present(self, value):
        if isinstance(value, Absent):
            self.refuse(f"{value.what} are a result that nothing here computes", value.instead)

    def check_floats(self, value):
        self.check_present(value)
        if isinstance(value, Value) and value.object.element == TOKEN:
            self.refuse("tokens are taken by an Embedding only", "look them up with torch.nn.Embedding first")
        if isinstance(value, Constant):
            object = self.members.tensor(value.tensor, value.name)
            return Value(object, numbered(value.shape))
        if not isinstance(value, Value):
            self.refuse("its first argument is no tensor", OTHERS)
        return value

    # --- Arguments in C++ ---

    def rows_of(self, value):
        """Returns the Operand of a value whose last axis has the features."""
        self.check_floats(value)
        operand = operand_of(value)
        if operand is None:
            return operand_of(self.copied(value))
        is_row = operand.stride is not None and operand.extents[0] == 1 and not value.is_whole()
        return operand_of(self.copied(value)) if is_row else operand

    def batch_of(self, value, view=None):
        """Returns the Operand of a value [batch, tokens, features]: an object of these extents, or one matrix."""
        view = value.view if view is None else view
        operand = operand_of(value, view)
        batch = tuple(extent for extent in view.shape[:-2] if extent != 1)
        extents = (*batch, *view.shape[-2:])
        if not batch and operand is not None:
            return operand
        if operand is not None and operand.stride is None and operand.object.extents == extents:
            return operand
        return whole(self.copied(Value(value.object, view), extents if batch else None).object)

    def elements_of(self, value):
        """Returns the Operand of a value for a function of each element, and the view of its result."""
        self.check_floats(value)
        if value.is_whole():
            return Operand(value.object, value.object.extents), value.view
        return self.rows_of(value), numbered(value.shape)

    def copied(self, value, extents=None):
        """Returns the value as an object of its own, in which elements lie in PyTorch's order."""
        extents = extents or extents_of(value.shape)
        key = (value.object, value.offset, value.view.shape, value.view.stride(), extents)
        if key in self.copies:
            return self.copies[key]
        object, result = self.new(extents, value.shape, "row" if len(value.axes()) < 2 else "copy")
        self.copy(value, object)
        self.copies[key] = result
        return result

    def copy(self, value, object):
        """Copies a value to an object of as many elements."""
        source, axes = value.object, value.axes()
        operand = operand_of(value)
        if operand and len(source.extents) == 2 and math.prod(operand.extents) == source.extents[1] and (
                value.offset % source.extents[1] == 0) and len(object.extents) == 1:
            row = value.offset // source.extents[1]
            return self.program.add("tinyattn::row(", whole(source), f", {row}, ", whole(object), ");", writes=object)
        if len(axes) == 2 and len(object.extents) == 2 and axes[0][1] == 1:
            matrix = value.view.reshape(*(extent for extent, _ in axes)).t()
            operand = operand_of(value, matrix)
            if operand:
                return self.program.add("tinyattn::transpose(", operand, ", ", whole(object), ");", writes=object)
        return self.copy_by_loops(value, object)

    def copy_by_loops(self, value, object):
        axes = merged(value.axes()) or [(1, 1)]
        text, to = [], 1
        terms_to, terms_from = [], [str(value.offset)] if value.offset else []
        for (extent, stride), index in reversed(list(zip(axes, INDICES))):
            terms_to.insert(0, product(to, index))
            terms_from.append(product(stride, index))
            to *= extent
        if len(axes) > len(INDICES):
            self.refuse("it moves elements in more than six dimensions", OTHERS)
        for depth, ((extent, _), index) in enumerate(zip(axes, INDICES)):
            text.append("  " * depth + f"for (std::size_t {index} = 0; {index} < {extent}; ++{index})\n")
        text += ["  " * len(axes), whole(object), f".elements[{' + '.join(terms_to)}] = ", whole(value.object),
                 f".elements[{' + '.join(terms_from)}];"]
        return self.program.add(*text, writes=object)

    def matrices_of(self, value, transposed=False):
        """Returns the Rows of a value [..., rows, cols]; of its transpose if that is asked for."""
        view = value.view.transpose(-1, -2) if transposed else value.view
        for candidate in (Value(value.object, view), None):
            candidate = candidate or self.copied(Value(value.object, view))
            view = candidate.view
            (rows, cols), (stride, unit) = view.shape[-2:], view.stride()[-2:]
            leading = merged([axis for axis in zip(view.shape[:-2], view.stride()[:-2]) if axis[0] != 1])
            if len(leading) <= 1 and (unit == 1 or cols == 1):
                count, step = leading[0] if leading else (1, 0)
                return Rows(candidate.object, count, step, rows, cols, stride if rows != 1 else cols, candidate.offset)
        return self.refuse("its axes are in an order for which there is no view", OTHERS)

    def elementwise(self, value, function, *more, operand=None):
        """Adds a function of each element of a value, of which `more` are the other arguments."""
        found, view = self.elements_of(value)
        operand = operand or found
        return Value(self.call(function, operand, *more, extents=operand.extents, in_place=[operand]), view)

    # --- The graph ---

    def run(self, graph, input_value):
        dependent = dependents(graph)
        constants = set(graph.nodes) - dependent
        fused = fusion.written_out(self.tracer, self.net, constants)
        absorbed = {node for found in fused.values() for node in found.inner}
        for node in graph.nodes:
            self.node = self.program.node = node
            self.title = fused[node].title if node in fused else None
            if node in absorbed:
                continue
            result = self.tracer.value(node) if node.op != "output" else None
            if isinstance(result, torch.Tensor) and 0 in result.shape:
                self.refuse(f"{table.title(node)} gives a tensor without elements", "leave it out")
            if node.op == "placeholder":
                self.values[node] = input_value
            elif node.op == "output":
                self.check_present(self.value(node.args[0]))
                return self.value(node.args[0])
            elif node not in dependent:
                self.values[node] = self.constant(node) if isinstance(result, torch.Tensor) else result
            else:
                self.values[node] = self.lowered(node, fused.get(node))
        raise ExportError("forward returns nothing")

    def lowered(self, node, whole):
        """Returns what a step that depends on the input becomes."""
        lower = layers.lower if node.op == "call_module" else functions.lower
        try:
            if isinstance(whole, fusion.Attention):
                return attention.written_out(self, whole)
            if isinstance(whole, fusion.RmsNorm):
                return weighted.written_norm(self, whole)
            return lower(self, node, self.value(node.args), self.value(node.kwargs))
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
            return self.refuse(f"{table.title(node)} has arguments that are not known here ({printable(error)})")


def product(factor, index):
    return index if factor == 1 else f"{factor} * {index}"


def merged(axes):
    """Joins neighbouring axes that are one in memory."""
    result = []
    for extent, stride in axes:
        if result and result[-1][1] == extent * stride:
            result[-1] = (result[-1][0] * extent, stride)
        else:
            result.append((extent, stride))
    return result


SHAPED = ("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "new_tensor")


def sources_of(arguments):
    """Returns the nodes in arguments."""
    sources = []
    torch.fx.node.map_arg(arguments, sources.append)
    return sources


def dependents(graph):
    """Returns the nodes that depend on the input, and not on its shape alone."""
    found = set()
    for node in graph.nodes:
        sources = node.all_input_nodes
        if node.op in ("call_function", "call_method") and table.name_of(node) in SHAPED:
            sources = sources_of((node.args[1:], node.kwargs))
        if node.op == "placeholder" or any(source in found for source in sources):
            found.add(node)
    return found


def ancestors(node):
    found, waiting = set(), [node]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.all_input_nodes
    return found
