# SPDX-License-Identifier: MIT
"""GRU and LSTM, of one sequence, and their cells."""
import operator

import torch

from ..parts import Part, Place, initializer, linear_at
from . import moves, tokens
from .program import Scratch
from .table import lowers_module
from .tracing import torch_class
from .values import Constant, Value, numbered, whole
from .weighted import tensors_of

TENSORS = "weight_ih", "weight_hh", "bias_ih", "bias_hh"
CELLS = torch.nn.GRUCell, torch.nn.LSTMCell


def part_of(low, kind, weights, biases):
    """Returns the Part of a layer, of PyTorch's weight_ih and weight_hh, and of no biases or two."""
    def linear(i):
        tensors = {"weight": weights[i].detach(), **({"bias": biases[i].detach()} if biases else {})}
        return linear_at(tensors_of(tensors), Place("weight", "bias", False)).tree()
    inputs, hidden = weights[0].shape[1], weights[1].shape[1]
    config = low.members.with_weights({"in": inputs, "hidden": hidden, "bias": bool(biases)})
    return Part(f"::tinyattn::{kind}<::tinyattn::RecurrentConfig{initializer(config)}>", "tinyattn/recurrent.hpp",
                low.members.stored({"input": linear(0), "recurrent": linear(1)}),
                f"{kind}, {inputs} features to {hidden}{low.members.in_words()}", {}, set(), config=config)


def object_of(rows, hidden):
    """Returns the object, [hidden] or [2, hidden], that has nothing but these rows, or None."""
    object = getattr(rows[0], "object", None)
    are_rows = all(isinstance(row, Value) and row.object is object and row.offset == i * hidden
                   for i, row in enumerate(rows))
    return object if are_rows and object.extents == ((hidden,) if len(rows) == 1 else (2, hidden)) else None


def start(low, rows, hidden):
    """Returns a new state, [hidden] or [2, hidden], that holds rows, or zeros if these are None."""
    state = low.program.activation(f"{low.name()}_state", (hidden,) if len(rows) == 1 else (2, hidden))
    if all(row is None or isinstance(row, Constant) and not row.tensor.any() for row in rows):
        return low.program.add(whole(state), " = {};", writes=state, call=("copy", ("0.0f", whole(state))))
    rows = [low.check_floats(row) for row in rows]
    if object_of(rows, hidden):
        own = whole(rows[0].object)
        return low.program.add(whole(state), " = ", own, ";", writes=state, call=("copy", [own, whole(state)]))
    if len(rows) == 1:
        return low.copy(rows[0], state)
    copies = [whole(low.copied(row, (hidden,)).object) for row in rows]
    return low.program.call("concat_rows", *copies, whole(state), writes=state)


def read(low, kind, path, tensors, operand, state, needs_out):
    """Adds the step of a layer that goes on from a state. Returns its result, if that is needed, and the Values of the
    rows of its state."""
    biases = [tensor for tensor in tensors[2:] if tensor is not None]
    member = low.members.layer(path, lambda: part_of(low, kind, tensors[:2], biases))
    hidden = tensors[1].shape[1]
    out = low.program.activation(low.name(), (*operand.extents[:-1], hidden)) if needs_out else None
    more = [whole(out)] if needs_out else []
    low.program.call(member, operand, whole(state), *more, Scratch(member.path), writes=out or state)
    return out, [Value(state, view) for view in numbered((state.size // hidden, hidden))]


def sequence(low, value, axis, rank, tokens):
    """Returns the Value without the axis of a batch of one, if it has one, and whether it has."""
    value = low.check_floats(value)
    if value.view.dim() < rank:
        return value, False
    if value.shape[axis] != 1:
        low.refuse(f"a batch of {value.shape[axis]} {tokens}", "export one of them; with batch_first=True the tokens of "
                   "a sequence are the second dimension of [1, tokens, features], else they are the first")
    return Value(value.object, value.view.select(axis, 0)), True


def row_of(state, layer):
    """Returns what a layer begins with, [hidden], of [num_layers, 1, hidden]; None is zeros."""
    if isinstance(state, Constant):
        return Constant(state.tensor[layer].reshape(-1), state.name)
    row = state and (state[layer] if isinstance(state, tuple) else Value(state.object, state.view[layer]))
    return row and Value(row.object, row.view[0] if row.view.dim() == 2 else row.view)


def elements(nodes, index):
    """Returns the steps that take an element of what steps return."""
    return [user for node in nodes for user in node.users if user.target is operator.getitem and user.args[1] == index]


def stacked(low, nodes, rows, batched):
    """Returns [num_layers, 1, hidden], of a row of each layer: a tuple if `nodes`, which return it, take its rows."""
    rows = [Value(row.object, row.view.unsqueeze(0)) for row in rows]
    users = [user for node in nodes for user in node.users]
    if len(rows) > 1 and all(user.target is operator.getitem and isinstance(user.args[1], int) for user in users):
        return tuple(row if batched else Value(row.object, row.view[0]) for row in rows)
    found = tokens.join(low, rows, 0)
    return Value(found.object, found.view.unsqueeze(1) if batched else found.view)


def layers(low, kind, module, input, states, nodes):
    """Returns the result, and for each of `nodes`, lists of steps, the last states of the layers."""
    if module.proj_size:
        low.refuse(f"proj_size of {kind.upper()}", "put a Linear behind the layer")
    axis = 0 if module.batch_first else 1
    value, batched = sequence(low, input, axis, 3, "sequences")
    ends, hidden, directions = [], module.hidden_size, ("", "_reverse")[:1 + module.bidirectional]
    is_read = any(user.target is not operator.getitem or user.args[1] == 0 for user in low.node.users)
    for layer in range(module.num_layers):
        outs, is_needed = [], is_read or layer + 1 < module.num_layers
        for direction in directions:
            tensors = [getattr(module, f"{name}_l{layer}{direction}", None) for name in TENSORS]
            is_alone = module.num_layers == len(directions) == 1
            path = low.node.target + ("" if is_alone else f".layer{layer}{direction}")
            state = start(low, [row_of(state, len(ends)) for state in states], hidden)
            source = moves.joined(low, lambda numbers: numbers.flip(0), [value]) if direction else value
            out, end = read(low, kind, path, tensors, low.rows_of(source), state, is_needed)
            outs.append(out and Value(out, numbered((value.shape[0], hidden))))
            ends.append(end)
        value = outs[0] if len(outs) < 2 or None in outs else moves.joined(
            low, lambda forth, back: torch.cat((forth, back.flip(0)), 1), outs)
    result = value and Value(value.object, value.view.unsqueeze(axis) if batched else value.view)
    return result, [stacked(low, own, rows, batched) for own, rows in zip(nodes, zip(*ends))]


@lowers_module("GRU", "LSTM")
def recurrent(low, module, input, hx=None):
    last = elements([low.node], 1)
    if torch_class(module) is torch.nn.GRU:
        result, (hidden,) = layers(low, "Gru", module, input, [hx], [last])
        return result, hidden
    nodes = [elements(last, 0), elements(last, 1)]
    result, states = layers(low, "Lstm", module, input, hx or (None, None), nodes)
    return result, tuple(states)


def may_overwrite(low):
    """Whether this call of a cell is the only step that reads the state that another call left."""
    nodes = [node for node in low.node.all_input_nodes if node is not low.node.args[0]]
    origins = {node.args[0] if node.target is operator.getitem else node for node in nodes}
    readers = {user for node in (*nodes, *origins) for user in node.users}.difference(nodes)
    return readers == {low.node} and len(origins) == 1 and all(
        origin.op == "call_module" and torch_class(low.module_of(origin)) in CELLS for origin in origins)


@lowers_module("GRUCell", "LSTMCell")
def cell(low, module, input, hx=None):
    is_lstm = torch_class(module) is torch.nn.LSTMCell
    value, batched = sequence(low, input, 0, 2, "tokens")
    rows = [row_of(state, 0) if batched or state is None else state
            for state in ((hx or (None, None)) if is_lstm else (hx,))]
    state = may_overwrite(low) and object_of(rows, module.hidden_size) or start(low, rows, module.hidden_size)
    tensors = [getattr(module, name) for name in TENSORS]
    _, rows = read(low, "Lstm" if is_lstm else "Gru", low.node.target, tensors, low.rows_of(value), state, False)
    rows = tuple(Value(row.object, row.view.unsqueeze(0)) if batched else row for row in rows)
    return rows if is_lstm else rows[0]
