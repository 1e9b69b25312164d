# SPDX-License-Identifier: MIT
"""Steps that write in place: later steps must read the result, and no view of what it overwrote. And steps whose result
nobody reads."""
import contextlib

import torch

from . import table
from .table import title
from .values import memory_of, places


def resolve(tracer):
    """Makes each later step read the result of a step in place. Raises an ExportError if a view of what is overwritten
    is read later, or if a parameter is overwritten."""
    nodes = list(tracer.graph.nodes)
    for i, node in enumerate(nodes):
        target = node.args[0] if node.args and table.writes_in_place(node) else None
        if not isinstance(target, torch.fx.Node):
            continue
        if target.op == "get_attr":
            raise tracer.refused(node, f"{title(node)} writes to {target.target}, a parameter or a buffer",
                                 "compute it into a tensor of its own")
        check_views(tracer, nodes, i)
        for later in nodes[i + 1:]:
            later.replace_input_with(target, node)


def check_views(tracer, nodes, i):
    node, memory = nodes[i], storage(tracer.value(nodes[i].args[0]))
    end = next((j for j, later in enumerate(nodes) if gives_back(later, node)), len(nodes))
    for other in nodes[:i]:
        if other is not node.args[0] and storage(tracer.value(other)) == memory and overlaps(
                tracer, node, other) and any(
                user in nodes[i + 1:end] for user in other.users):
            raise tracer.refused(node, f"{title(node)} writes in place to what {other.name}, which is read later, is "
                                 "a view of", "write it without the underscore, or with = instead of +=")


def gives_back(user, node):
    """Whether a step is the last of y[key] += z, which writes the result of the first to where it was."""
    return table.writes_in_place(user) and table.name_of(user) == "setitem" and user.args[2] is node


def overlaps(tracer, node, other):
    """Whether a step writes to elements of the result of another one: y[key] = z to those of the key."""
    written, read = (places(tensor.shape, tensor.stride(), tensor.storage_offset())
                     for tensor in (tracer.value(node.args[0]), tracer.value(other)))
    with contextlib.suppress(TypeError, IndexError):  # of a key that depends on the input
        written = written[node.args[1]] if table.name_of(node) == "setitem" else written
    return bool(torch.isin(written, read).any())


def storage(value):
    return memory_of(value) if isinstance(value, torch.Tensor) else None


def remove_unused(graph):
    for node in reversed(list(graph.nodes)):
        if not node.users and node.op not in ("placeholder", "output"):
            graph.erase_node(node)
