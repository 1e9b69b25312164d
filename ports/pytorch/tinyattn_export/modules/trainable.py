# SPDX-License-Identifier: MIT
"""The layer that a board may train: the Linear that forward calls last. The Model then has forward_features, which
computes what this layer reads, and forward calls both."""
import torch

from ..errors import ExportError
from .layout import Line
from .members import Layer
from .values import FLOAT, Object, is_row_major, listed

NAMES = ("Features", "forward_features")  # that a Model has besides


def kinds_of(kinds, path):
    """Returns how weights lie in flash if those of the layer at a path are to be trained."""
    if kinds.get(path) == "int8":
        raise ExportError(f"weights says int8 of {path}, which is trainable: only floats are trained")
    return {**kinds, path: "f32"}


def cut(low, path, results, out):
    """Leaves out the last step, which must be a call of the Linear at a path. Returns the Value that it reads, and the
    Object that takes this."""
    step = low.program.steps[-1] if low.program.steps else None
    low.node = step and step.node
    if not is_last(low, path, results, step):
        low.refuse(f"trainable names {path}, and a board trains only a Linear that forward calls once, last of all",
                   "let forward return its result, and nothing else read its weights")
    low.program.steps.pop()
    value = low.check_floats(low.values[(step.node.args or [step.node.kwargs["input"]])[0]])
    low.program.keep_what_is_read([value.object])
    return value, Object("features", (*out.extents[:-1], value.shape[-1]), "out", FLOAT)


def is_last(low, path, results, step):
    """Whether the last step calls a Linear, at this path, whose weights nothing else reads, and forward returns the
    result."""
    layer = low.net.get_submodule(path)
    calls = [other for other in low.program.steps if other.call[0] == Layer(path)]
    weight = layer._parameters.get("weight")
    owners = [module for module in low.net.modules() if any(each is weight for each in module._parameters.values())]
    users = {user for node in low.tracer.graph.nodes if node.op == "get_attr" and node.target.startswith(f"{path}.")
             for user in node.users}
    returned = len(results) == 1 and results[0].object is step.writes and results[0].is_whole() and (
        is_row_major(results[0].view))
    return type(layer) is torch.nn.Linear and calls == [step] and returned and step.node not in low.folded and (
        owners == [layer] and users <= {step.node})


def calls(found, head, place):
    """Returns the Lines of a forward that calls forward_features, whose result has a place in the workspace, and head."""
    inputs, (out,) = ", ".join(x.name for x in found.inputs), found.outputs
    return [Line(f"forward_features({inputs}, workspace.{place}, workspace);", f"[{listed(found.features.extents)}]"),
            Line(f"{head}.forward(workspace.{place}, {out.name});", f"[{listed(out.extents)}]")]
