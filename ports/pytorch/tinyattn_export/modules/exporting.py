# SPDX-License-Identifier: MIT
"""From a module to the files: traces it, turns the graph into steps, and composes the header and the binary."""
import copy

from ..errors import ExportError
from ..settings import STORAGES
from . import aliasing, convolutions, header, writing
from .checks import check_example, check_module, has_tokens
from .lowering import Lowering
from .tracing import Alone, check, is_leaf, trace
from .values import FLOAT, TOKEN, Object, Value, is_row_major, numbered


def output_shape(shape, example, extents):
    """Returns the extents of the output in C++: without the batch that was in front of the example."""
    had_batch = len(extents) < example.dim() and len(shape) > 1 and shape[0] == 1
    return tuple(shape[1:] if had_batch else shape) or (1,)


def lowered(net, example, weights):
    """Returns the Lowering of a module, the Objects of its input and its output, and what PyTorch computes."""
    extents = check_example(example)
    tracer = trace(net, example)
    aliasing.resolve(tracer, net)
    aliasing.remove_unused(tracer.graph)
    tracer.begin_anew(example)
    low = Lowering(tracer, net, weights)
    low.folded = convolutions.fold_batch_norms(tracer, net)
    x = Object("x", extents, "input", TOKEN if has_tokens(example) else FLOAT)
    result = low.run(tracer.graph, Value(x, numbered(tuple(example.shape))))
    wanted = check(tracer, net, example)
    if not isinstance(result, Value):
        raise ExportError("what forward returns does not depend on its input")
    out = Object("out", output_shape(wanted.shape, example, extents), "out")
    give(low, result, out)
    return low, x, out, wanted


def give(low, result, out):
    """Lets the last step write to `out`."""
    low.program.compute_in_place()
    object = result.object.resolved()
    fits = object.extents == out.extents or len(object.extents) == 2  # else there is no view of `out`
    if object.place == "activation" and result.is_whole() and is_row_major(result.view) and fits:
        object.same_as = out
    else:
        low.copy(result, out)


def private(net):
    """Returns a copy of a module, which may change when it runs; or the module itself, if it cannot be copied."""
    try:
        return copy.deepcopy(net)
    except Exception:  # of any kind: it is the user's module
        return net


def files(net, example, path, name, binary, weights):
    """Returns {path: content} of the header and, if it is asked for, the binary."""
    if weights not in STORAGES:
        raise ExportError(f"weights must be one of {', '.join(STORAGES)}")
    check_module(net)
    traced = private(net)
    low, x, out, wanted = lowered(Alone(traced).train(net.training) if is_leaf(net) else traced, example, weights)
    structs = writing.Structs(low.net, low.members.finish())
    if binary is not None and not structs.parts:
        raise ExportError("the module has no weights, which a binary would hold")
    slots = low.program.slots(lambda layer: f"{structs.types[layer]}::Workspace")
    model = writing.model(structs, low, slots, x, out)
    text = header.compose(net, name, structs, model, (x, example), (out, wanted), binary)
    content = {path: text.encode()}
    if binary is not None:
        content[binary] = structs.content()
    return content
