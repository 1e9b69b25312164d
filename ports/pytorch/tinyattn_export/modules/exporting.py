# SPDX-License-Identifier: MIT
"""From a module to the files: traces it, turns the graph into steps, and composes the header and the binary."""
import torch

from ..errors import ExportError
from ..settings import WEIGHTS
from . import aliasing, comparing, convolutions, header, writing
from .checks import check_example, check_module, has_tokens
from .lowering import Lowering
from .tracing import check, private, trace
from .values import FLOAT, TOKEN, Object, Value, is_row_major, numbered


def output_shape(shape, example, extents):
    """Returns the extents of the output in C++: without the batch that was in front of the example."""
    had_batch = len(extents) < example.dim() and len(shape) > 1 and shape[0] == 1
    return tuple(shape[1:] if had_batch else shape) or (1,)


def lowered(tracer, net, example, extents, weights):
    """Returns the Lowering of a module, the Objects of its input and its output, and what PyTorch computes."""
    tracer.begin_anew(example)
    low = Lowering(tracer, net, weights)
    low.folded = convolutions.fold_batch_norms(tracer, net)
    x = Object("x", extents, "input", TOKEN if has_tokens(example) else FLOAT)
    result = low.run(tracer.graph, Value(x, numbered(tuple(example.shape))))
    wanted = check(tracer, net, example)
    if not torch.isfinite(wanted).all():
        raise ExportError("what PyTorch computes of the example is not finite: give another example")
    if not isinstance(result, Value):
        raise ExportError("what forward returns does not depend on its input")
    out = Object("out", output_shape(wanted.shape, example, extents), "out")
    give(low, result, out)
    return low, x, out, wanted


def checked(net, example, weights):
    """Returns what `lowered` does, after a comparison with PyTorch of what it returns for weights of floats."""
    extents, own = check_example(example), private(net, example)
    tracer = trace(own, example)
    steps = comparing.steps_of(tracer)
    aliasing.resolve(tracer)
    aliasing.remove_unused(tracer.graph)
    found = lowered(tracer, own, example, extents, "f32")
    comparing.check_export(steps, net, example, *found)
    return found if weights == "f32" else lowered(tracer, own, example, extents, weights)


def give(low, result, out):
    """Lets the last step write to `out`."""
    low.program.compute_in_place()
    object = result.object.resolved()
    fits = object.extents == out.extents or len(object.extents) == 2  # else there is no view of `out`
    if object.place == "activation" and result.is_whole() and is_row_major(result.view) and fits:
        object.same_as = out
    else:
        low.copy(result, out)


def files(net, example, path, name, binary, weights):
    """Returns {path: content} of the header and, if it is asked for, the binary."""
    if weights not in WEIGHTS:
        raise ExportError(f"weights must be one of {', '.join(WEIGHTS)}")
    check_module(net)
    low, x, out, wanted = checked(net, example, weights)
    structs = writing.Structs(low.net, low.members.finished)
    if binary is not None and not structs.parts:
        raise ExportError("the module has no weights, which a binary would hold")
    slots = low.program.slots(lambda layer: f"{structs.types[layer]}::Workspace")
    model = writing.model(structs, low, slots, x, out)
    text = header.compose(net, name, structs, model, (x, example), (out, wanted), binary)
    content = {path: text.encode()}
    if binary is not None:
        content[binary] = structs.content()
    return content
