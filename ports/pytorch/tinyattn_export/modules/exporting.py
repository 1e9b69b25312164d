# SPDX-License-Identifier: MIT
"""From a module to the files: traces it, turns the graph into steps, and composes the header and the binary."""
import dataclasses

import torch

from ..desk import MOST_TOKENS, MOST_WHOLE
from ..errors import ExportError, listing, printable
from ..settings import WEIGHTS
from . import aliasing, comparing, convolutions, header, lookups, trainable, writing
from .checks import batch_axes, check_example, check_module, has_tokens, tensors_of
from .lowering import Lowering
from .members import is_in
from .signature import leaves
from .tracing import Alone, check, private, trace
from .values import FLOAT, TOKEN, Object, Value, is_row_major, numbered


MOST_LIMITS = 8
RETURNED = (torch.float32, torch.int64, torch.int32, torch.bool)  # as floats in C++


@dataclasses.dataclass
class Lowered:
    """A module as steps of C++."""

    low: Lowering
    inputs: list  # of Objects
    outputs: list
    result: object  # what forward returns: tensors in tuples, lists and dicts
    extents: list  # of the inputs
    checked: list = ()  # of (inputs, what PyTorch computes of them)
    vocabularies: list = ()  # below what each element of the inputs must be, if it is a token
    head: str = ""  # the path of the layer that a board may train
    features: Object = None  # what this reads, if there is one

    @property
    def wanted(self):
        return [tensor.detach().float() for _, tensor in leaves(self.result)]

    @property
    def limits(self):
        """{name of an input of tokens: what all of these, or each of a few, must be below}"""
        lists = {x.name: most.flatten().tolist() for x, most in zip(self.inputs, self.vocabularies) if x.element == TOKEN}
        return {name: max(most) if len(set(most)) == 1 or len(most) > MOST_LIMITS else ", ".join(map(str, most))
                for name, most in lists.items() if min(most) < MOST_TOKENS}


def output_shape(tensor, examples, extents):
    """Returns the extents of an output in C++: without the batch of one that an example had there."""
    axes = {batch_axes(example)[0] for own, example in zip(extents, examples) if len(own) < example.dim()}
    axis = next((axis for axis in (0, 1) if axis in axes and tensor.dim() > 1 + axis and tensor.shape[axis] == 1), None)
    return tuple(extent for i, extent in enumerate(tensor.shape) if i != axis) or (1,)


def lowered(tracer, net, examples, extents, weights, in_c=False, head=""):
    """Returns a module as Lowered. Without the step of its `head`, if it is to have one."""
    tracer.begin_anew(examples)
    low = Lowering(tracer, net, weights, in_c)
    low.folded = convolutions.fold_batch_norms(tracer)
    inputs = [Object(name, own, "input", TOKEN if has_tokens(example) else FLOAT)
              for name, own, example in zip(tracer.examples, extents, examples)]
    values = [Value(x, numbered(tuple(example.shape))) for x, example in zip(inputs, examples)]
    results = [value for _, value in leaves(low.run(tracer.graph, dict(zip(tracer.examples, values))))]
    found = Lowered(low, inputs, [], check(tracer, net, examples), extents)
    check_results(results, [tensor for _, tensor in leaves(found.result)])
    found.outputs = [Object(name, output_shape(tensor, examples, extents), "out")
                     for name, tensor in leaves(found.result)]
    if head:
        value, features = trainable.cut(low, head, results, found.outputs[0])
        found.head, found.features = head, features
        give(low, [value], [features])
    else:
        give(low, results, found.outputs)
    return found


def check_results(results, wanted):
    if not wanted:
        raise ExportError("forward returns nothing")
    for tensor in wanted:
        if tensor.dtype not in RETURNED:
            raise ExportError(f"forward returns a tensor of {tensor.dtype}: return float32, as .float() gives")
        if tensor.dtype != torch.float32 and (tensor.double().abs() > MOST_WHOLE).any():
            raise ExportError(f"forward returns a whole number above {MOST_WHOLE}, which floats do not hold: return less")
        if not torch.isfinite(tensor).all():
            raise ExportError("what PyTorch computes of the example is not finite: give another example")
    if not any(isinstance(result, Value) for result in results):
        raise ExportError("what forward returns does not depend on its input")


def checked(net, examples, weights, head):
    """Returns what `lowered` does, after a comparison with PyTorch of what it returns for weights of floats."""
    extents, own = [check_example(example) for example in examples], private(net, examples)
    tracer = trace(own, examples)
    steps = comparing.steps_of(tracer)
    aliasing.resolve(tracer)
    aliasing.remove_unused(tracer.graph)
    found = lowered(tracer, own, examples, extents, {})
    vocabularies = lookups.vocabularies_of(tracer, examples)
    inputs = comparing.check_export(steps, net, examples, found, vocabularies)
    if "int8" in weights.values() or head:
        if isinstance(own, Alone):
            weights = {f"layer.{name}".rstrip("."): kind for name, kind in weights.items()}
            head = head and f"layer.{head}"
        found = lowered(tracer, own, examples, extents, weights, head=head)
        check_use(weights, found.low.members.finished, ("", "layer") if isinstance(own, Alone) else ("",))
    found.checked, found.vocabularies = inputs, vocabularies
    return found


def kinds_of(net, weights):
    """Returns {name of a module: how its weights lie in flash}. The name "" is the whole module."""
    kinds = weights if isinstance(weights, dict) else {"": weights}
    for name, kind in kinds.items():
        if kind not in WEIGHTS:
            raise ExportError(f"weights must be one of {', '.join(WEIGHTS)}, or such for names of modules")
        check_name(net, "weights", name)
    return kinds


def check_name(net, what, name):
    if name not in dict(net.named_modules(remove_duplicate=False)):
        raise ExportError(f"{what} names {printable(name)}, and there is no such module: "
                          f"there are {listing(name for name, _ in net.named_modules() if name) or 'none'}")


def check_use(kinds, parts, whole):
    """Raises an ExportError if what is said of a module has no effect, unless it is said of the whole."""
    for name, kind in kinds.items():
        layer = next((path for path in parts if path != name and is_in(name, path)), None)
        if layer:
            layer = 'the module, which is' if layer in whole else f'{layer},'
            raise ExportError(f"weights names {name.rpartition('.')[2]}, which is in {layer} a layer that has one kind "
                              "of weights: choose for that")
        has_int8 = any(is_in(path, name) and part.matrices() for path, part in parts.items())
        if kind == "int8" and name not in whole and not has_int8:
            raise ExportError(f"weights says int8 of {name}, which has no weights that can be int8")


def give(low, results, outputs):
    """Lets the steps write to the outputs: the last step of each, or a copy."""
    low.program.compute_in_place([value.object for value in results if isinstance(value, Value)])
    for value, out in zip(results, outputs):
        value = low.check_floats(value)
        object = value.object.resolved()
        fits = object.extents == out.extents or len(object.extents) == 2 and len(outputs) == 1 and (  # as a view
            low.in_c or all(step.takes_views() for step in low.program.steps if object in step.objects()))
        if object.place == "activation" and value.is_whole() and is_row_major(value.view) and fits:
            object.same_as = out
        else:
            low.copy(value, out)


def again(found):
    """Returns the same, lowered once more for C: steps and names are changed when they are written."""
    other = lowered(found.low.tracer, found.low.net, found.checked[0][0], found.extents, found.low.members.kinds, True)
    other.checked, other.vocabularies = found.checked, found.vocabularies
    return other


def files(net, example, path, name, binary, weights, head):
    """Returns {path: content} of the header and, if it is asked for, the binary; and the module as Lowered."""
    check_module(net)
    kinds = kinds_of(net, weights)
    if head is not None:
        check_name(net, "trainable", head or None)
        kinds = trainable.kinds_of(kinds, head)
    inputs = tensors_of(example)
    examples = tuple(tensor for _, tensor in leaves(inputs))
    others = any(not isinstance(item, torch.Tensor) for item in inputs)
    found = checked(Alone(net, inputs).train(net.training) if others else net, examples, kinds, head)
    structs = writing.Structs(found.low.net, found.low.members, trainable.NAMES if head else ())
    if binary is not None and not structs.parts:
        raise ExportError("the module has no weights, which a binary would hold")
    slots = found.low.program.slots(lambda layer: f"{structs.types[layer]}::Workspace")
    model = writing.model(structs, found, slots)
    content = {path: header.compose(net, name, structs, model, found, binary).encode()}
    if binary is not None:
        content[binary] = structs.content()
    return content, found
