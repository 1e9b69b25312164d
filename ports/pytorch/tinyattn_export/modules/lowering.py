# SPDX-License-Identifier: MIT
"""Turns a traced graph into steps of C++, and into the members that they read."""
import dataclasses
import math

import torch

from ..errors import ExportError, printable
from . import arithmetic, attention_layers, composed, convolutions, decoder_layers, pools  # noqa: F401: they fill tables
from . import attention, functions, fusion, moves, recurrent, spectra, table, tracing, weighted  # noqa: F401
from .members import Members, is_in, member_name
from .program import Program
from .signature import leaves, rebuilt
from .values import (FLOAT, TOKEN, Absent, Constant, Operand, Rows, Value, arguments_in, extents_of, numbered,
                     operand_of, strided, whole)


class Lowering:
    def __init__(self, tracer, net, weights, in_c=False):
        self.title_of_module = type(tracer.original).__name__
        self.tracer, self.net, self.program, self.in_c = tracer, net, Program(), in_c
        self.members = Members(weights)
        self.values, self.copies, self.folded = {}, {}, {}
        self.node, self.title, self.called = None, None, None  # called: the name of the function

    # --- Values ---

    def refuse(self, what, instead=table.OTHERS):
        raise self.tracer.refused(self.node, what, instead)

    def module_of(self, node):
        return self.net.get_submodule(node.target)

    @property
    def layer(self):
        """The path of the module of torch.nn that the current step is, or is in; else None."""
        return self.layer_of(self.node)

    def layer_of(self, node):
        path = self.tracer.module[node][0]
        return path if tracing.is_of_torch(self.net.get_submodule(path)) else None

    def name(self):
        """Returns a name for the result of the current step: that of its module, or of its function."""
        if self.title:
            return self.title
        if not self.layer:
            return member_name(table.name_of(self.node).strip("_"))
        *outer, last = self.layer.split(".")
        if last.isdigit():
            named = outer and not outer[-1].isdigit()
            last = f"{outer[-1]}_{last}" if named else type(self.net.get_submodule(self.layer)).__name__.lower()
        return member_name(last)

    def value(self, argument):
        """Returns the Value of a node, or what else an argument of it is."""
        return torch.fx.node.map_arg(argument, lambda node: self.values[node])

    def constant(self, node):
        """Returns the Constant of a step that does not depend on the input. It is named after the only layer of
        torch.nn, parameter or buffer that it is made of, if there is only one."""
        steps = ancestors(node)
        sources = {self.layer_of(step) for step in steps if step.op != "get_attr"} - {None}
        sources |= {step.target for step in steps if step.op == "get_attr" and not any(
            is_in(step.target, layer) for layer in sources)}
        name = sources.pop() if len(sources) == 1 else (self.layer or node.name).lower().replace(".", "_")
        return Constant(self.tracer.value(node), name)

    def new(self, extents, shape, name=None, element=None):
        """Returns a new activation, whose elements lie in the order of the shape."""
        object = self.program.activation(name or self.name(), extents, element)
        return object, Value(object, numbered(shape))

    def call(self, function, *arguments, extents, in_place=(), name=None, element=None):
        """Adds a call of a function of the library, or of a Layer, whose last argument is its result: a new activation
        of these extents, which may lie where an Operand of `in_place` does. Returns that."""
        object = self.program.activation(name or self.name(), extents, element)
        return self.program.call(function, *arguments, whole(object), writes=object,
                                 in_place=[operand.object for operand in in_place if operand.stride is None])

    def check_present(self, value):
        if isinstance(value, Absent):
            self.refuse(f"{value.what} are a result that nothing here computes", value.instead)

    def check_floats(self, value, tokens=False):
        """Returns a Value of floats of an argument. Tokens become floats, unless they may be left."""
        self.check_present(value)
        if isinstance(value, Value) and value.object.element == TOKEN and not tokens:
            key = (value.object, value.view.shape, value.view.stride(), value.offset, FLOAT)
            if key not in self.copies:
                self.copies[key] = moves.gathered(self, value.view.clone(), [value], FLOAT)
            return self.copies[key]
        if isinstance(value, Constant):
            object = self.members.tensor(value.tensor, value.name)
            return Value(object, numbered(value.shape))
        if not isinstance(value, Value):
            self.refuse("its first argument is no tensor")
        return value

    # --- Arguments in C++ ---

    def rows_of(self, value):
        """Returns the Operand of a value whose last axis has the features."""
        value = self.check_floats(value)
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
        return whole(self.copied(Value(value.object, view), extents).object)

    def elements_of(self, value):
        """Returns the Operand of a value for a function of each element, and the view of its result."""
        value = self.check_floats(value)
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
        source, axes, operand = value.object, value.axes(), operand_of(value)
        call = "copy", [strided(source, value.shape, value.view.stride(), value.offset),
                        strided(object, value.shape, numbered(value.shape).stride(), 0)]
        if operand and len(source.extents) == 2 and math.prod(operand.extents) == source.extents[1] and (
                value.offset % source.extents[1] == 0) and len(object.extents) == 1:
            row = value.offset // source.extents[1]
            return self.program.add("tinyattn::row(", whole(source), f", {row}, ", whole(object), ");", writes=object,
                                    call=call)
        if len(axes) == 2 and len(object.extents) == 2 and axes[0][1] == 1:
            matrix = value.view.reshape(*(extent for extent, _ in axes)).t()
            operand = operand_of(value, matrix)
            if operand:
                return self.program.add("tinyattn::transpose(", operand, ", ", whole(object), ");", writes=object,
                                        call=call)
        return self.copy_by_loops(value, object)

    def copy_by_loops(self, value, object):
        axes = merged(value.axes()) or [(1, 1)]
        if len(axes) > 1:
            return moves.copy(self, value.view, [value], Value(object, numbered(value.shape)))
        (extent, stride), = axes
        start = f"{value.offset} + " if value.offset else ""
        place = f"{start}{'i' if stride == 1 else f'{stride} * i'}"
        return self.program.add(f"for (std::size_t i = 0; i < {extent}; ++i)\n  ", whole(object), ".elements[i] = ",
                                whole(value.object), f".elements[{place}];", writes=object,
                                call=("copy", [strided(value.object, [extent], [stride], value.offset),
                                               strided(object, [extent], [1], 0)]))

    def matrices_of(self, value, transposed=False, leading=None):
        """Returns the Rows of a value [..., rows, cols], or of its transpose, repeated for leading axes."""
        view = value.view.transpose(-1, -2) if transposed else value.view
        for candidate in (Value(value.object, view), None):
            candidate = candidate or self.copied(Value(value.object, view))
            view = candidate.view
            (rows, cols), (stride, unit) = view.shape[-2:], view.stride()[-2:]
            if unit == 1 or cols == 1:
                repeated = view if leading is None else view.expand(*leading, rows, cols)
                axes = merged([axis for axis in zip(repeated.shape[:-2], repeated.stride()) if axis[0] != 1])
                return Rows(candidate.object, tuple(axes), rows, cols, stride if rows != 1 else cols, candidate.offset)
        return self.refuse("its axes are in an order for which there is no view")

    def elementwise(self, value, function, *more, operand=None):
        """Adds a function of each element of a value, of which `more` are the other arguments."""
        found, view = self.elements_of(value)
        operand = operand or found
        return Value(self.call(function, operand, *more, extents=operand.extents, in_place=[operand]), view)

    # --- The graph ---

    def run(self, graph, inputs):
        """Returns what the output is, and adds its steps. `inputs`: {name: Value}."""
        dependent = dependents(graph)
        constants = set(graph.nodes) - dependent
        fused = fusion.written_out(self.tracer, constants)
        absorbed = {node for found in fused.values() for node in found.inner}
        for node in graph.nodes:
            self.node = self.program.node = node
            self.members.current = self.tracer.module[node][0]
            self.title = fused[node].title if node in fused else None
            if node in absorbed:
                continue
            result = self.result_of(node)
            if isinstance(result, torch.Tensor) and 0 in result.shape:
                self.refuse(f"{table.title(node)} gives a tensor without elements", "leave it out")
            if node.op == "placeholder":
                self.values[node] = typed(inputs[node.target], result)
            elif node.op == "output":
                return self.returned(self.value(node.args[0]))
            elif node not in dependent:
                self.values[node] = self.constant(node) if isinstance(result, torch.Tensor) else result
            elif isinstance(node.target, type) and issubclass(node.target, tuple):  # a named tuple
                self.values[node] = self.value(node.args)
            else:
                self.values[node] = typed(self.lowered(node, fused.get(node)), result)
        raise ExportError("forward returns nothing")

    def result_of(self, node):
        """Returns what PyTorch computes of a step, once more."""
        try:
            return self.tracer.value(node) if node.op != "output" else None
        except Exception as error:  # of any kind: it is the user's module
            return self.refuse(f"{table.title(node)} cannot be computed once more ({printable(error)})")

    def returned(self, result):
        """Returns what forward returns, and leaves out the steps whose results nothing reads."""
        values = [value for _, value in leaves(result)]
        for i, value in enumerate(values):
            self.check_present(value)
            if isinstance(value, Value):
                values[i] = self.check_floats(value)
        self.program.keep_what_is_read([value.object for value in values if isinstance(value, Value)])
        return rebuilt(result, iter(values))

    def lowered(self, node, whole):
        """Returns what a step that depends on the input becomes."""
        try:
            if isinstance(whole, fusion.Attention):
                return attention.written_out(self, whole)
            if whole:
                return weighted.written(self, whole)
            args, kwargs = self.value((node.args, node.kwargs))
            if node.op == "call_module":
                return table.of_module(self, tracing.torch_class(self.module_of(node)), args, kwargs)
            if node in self.folded:  # a layer with a batch norm, or the norm
                if not self.folded[node]:
                    return self.check_floats(args[0])
                args = (args[0], *self.folded[node], *args[3:])
            name = table.name_of(node)
            if name == "getattr":  # as of y.mT
                name, args = args[1], args[:1]
            return table.named(self, node, name, args, kwargs)
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
            return self.refuse(f"{table.title(node)} has arguments that are not known here ({printable(error)})")


def typed(value, result):
    """Returns a Value with the type that the result of a step has in PyTorch."""
    if isinstance(value, tuple) and isinstance(result, (tuple, list)):
        return tuple(map(typed, value, result))
    is_typed = isinstance(value, Value) and isinstance(result, torch.Tensor)
    return dataclasses.replace(value, dtype=result.dtype) if is_typed else value


def merged(axes):
    """Joins neighbouring axes that are one in memory."""
    result = []
    for extent, stride in axes:
        if result and result[-1][1] == extent * stride:
            result[-1] = (result[-1][0] * extent, stride)
        else:
            result.append((extent, stride))
    return result


SHAPED_AS = ("expand_as", "view_as", "reshape_as", "type_as")
SHAPED = ("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "new_tensor")


def dependents(graph, written=()):
    """Returns the nodes that depend on the input, and not on its shape alone, or on what is written in place."""
    found = {node for node in written if isinstance(node, torch.fx.Node)}
    for node in graph.nodes:
        name = table.name_of(node) if node.op in ("call_function", "call_method") else ""
        arguments = node.args[:1] if name in SHAPED_AS else (node.args[1 if name in SHAPED else 0:], node.kwargs)
        sources = {each for each in arguments_in(arguments) if isinstance(each, torch.fx.Node)}
        if node.op == "placeholder" or sources & found:
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
