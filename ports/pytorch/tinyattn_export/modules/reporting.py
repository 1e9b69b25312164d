# SPDX-License-Identifier: MIT
"""What is known of a module that was exported, and not written in its header: its Board."""
import itertools
import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..desk import MOST_TOKENS, ModuleBoard
from ..errors import ExportError
from . import lookups
from .checks import batch_axes
from .signature import leaves, rebuilt
from .table import name_of
from .values import Operand, Rows

PRODUCTS = {  # {what PyTorch computes: its multiplications and additions}
    **dict.fromkeys(("mm", "bmm", "mv", "dot"), lambda a, b: a.numel() * (b.shape[-1] if b.dim() > 1 else 1)),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), lambda c, a, b: a.numel() * (b.shape[-1] if b.dim() > 1 else 1)),
    "linear": lambda x, weight, bias=None: x.numel() * weight.shape[0],
    "_scaled_dot_product_flash_attention_for_cpu": lambda q, k, v, *more: (q.numel() + v.shape[-1] * q.numel()
                                                                           // q.shape[-1]) * k.shape[-2],
    "mkldnn_rnn_layer": lambda x, w, u, *more: x.shape[0] * x.shape[1] * (w.numel() + u.numel()),
}
ONLY_HERE = ("fft_rfft", "stft", "interpolate", "cumsum", "embedding")  # what may be a product here, and not in PyTorch

LOUD_AND_QUIET = (64, 1e-6)  # a batch may be mixed by its largest number


class Counter(TorchDispatchMode):
    """Counts the multiplications and additions of products."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result, name = function(*args, **(kwargs or {})), str(function).split(".")[1]
        if name == "convolution":
            self.count += result.numel() * args[1].numel() // args[1].shape[int(args[6])]
        elif name in PRODUCTS:
            self.count += PRODUCTS[name](*args)
        return result


def multiply_adds_here(steps):
    """Returns the multiplications and additions of products that are none in PyTorch."""
    count = 0
    for step in steps:
        if step.call[0] in ("matmul", "matmul_transposed") and name_of(step.node) in ONLY_HERE:
            x, *_, out = (each for each in step.call[1] if isinstance(each, (Operand, Rows)))
            count += (math.prod(out.extents) * x.extents[-1] if isinstance(x, Operand) else
                      out.count * out.rows * out.cols * x.cols)
    return count


def multiply_adds(net, examples, steps):
    """Returns how many multiplications and additions the products of a call take, or that this is unknown."""
    frozen = [parameter for parameter in net.parameters() if not parameter.requires_grad]
    try:
        for parameter in frozen:  # else an encoder is one step
            parameter.requires_grad_(parameter.is_floating_point())
        with Counter() as counter:
            net(*(example.clone() for example in examples))
        return counter.count + multiply_adds_here(steps)
    except Exception:  # of any kind: PyTorch cannot watch what the module does
        return "unknown"
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)


def batches_of(found, net):
    """Returns the axis of a batch of each input; where each output has it, as `place_in` does; and whether forward mixes
    what is in a batch. PyTorch tells by a batch of two; what a module of one input returns of each is joined along the
    first axis."""
    (examples, _), (others, _) = found.checked[0], found.checked[-1]
    usual = [usual_place(tuple(one.shape)) for one in found.wanted]
    own = [batch_axes(example) if len(extents) < example.dim() else [None]
           for extents, example in zip(found.extents, examples)]
    if not any(axis is not None for axis, *_ in own):
        return [0] * len(own), [(tuple(one.shape), 0, False) for one in found.wanted], False
    tried = [(axes, places_in(net, examples, others, axes, found.wanted)) for axes in itertools.product(*own)]
    axes, places = max(tried, key=lambda each: len(each[1]) - each[1].count(None))
    is_sure = places and None not in places  # that the second axis is a batch
    scaled = [[x * factor if x.is_floating_point() else x for x in others] for factor in LOUD_AND_QUIET]
    mixes = None in places or any(None in places_in(net, examples, each, axes, found.wanted) for each in scaled)
    return ([axis if axis and is_sure else None if axis else 0 for axis in axes],
            [place or other for place, other in zip(places or usual, usual)], mixes)


def usual_place(shape):
    return (shape[1:], 0, False) if shape[:1] == (1,) else (shape, 0 if shape else None, True)


def places_in(net, examples, others, axes, ones):
    """Returns where a batch of two along these axes of the inputs is in each output, or nothing."""
    each = [(one, one if axis is None else other, axis) for one, other, axis in zip(examples, others, axes)]
    of_others = results_of(net, [other for _, other, _ in each])
    of_two = results_of(net, [one if axis is None else torch.cat([one, other], axis) for one, other, axis in each])
    return [place_in(*outputs) for outputs in zip(ones, of_others, of_two)]


def results_of(net, inputs):
    """Returns what a module returns, or nothing."""
    try:
        return [tensor.detach().float() for _, tensor in leaves(net(*inputs))]
    except Exception:  # of any kind: the module takes no such batch
        return []


def is_near(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True)


def place_in(one, other, two):
    """Returns the shape of an output of one input; the axis of a batch, or None; and whether that is joined with another
    axis, as view(-1, features) does, or None if it is left out of a batch of one. Or returns None, if two inputs are
    mixed. `two`: the output of a batch of both."""
    shape = tuple(one.shape)
    for axis in range(one.dim() + 1):
        if axis < one.dim() and is_near(torch.cat((one, other), axis), two):
            return (shape[:axis] + shape[axis + 1:], axis, False) if shape[axis] == 1 else (shape, axis, True)
        if is_near(torch.stack((one, other), axis), two):  # squeeze has dropped it
            return shape, axis, None
    return (shape, None, False) if is_near(one, other) and is_near(one, two) else None


def difference(board, pairs):
    """Returns the largest difference of a board from PyTorch on some inputs."""
    return max((a.float() - b).abs().max().item() for inputs, wanted in pairs
               for (_, a), b in zip(leaves(board(*inputs)), wanted))


def results(found, count):
    """Returns a function that yields the lines of what a Board computes."""
    def lines(board):
        yield f"multiply-adds: {count}, of the products"
        if found.head:
            numbers = sum(parameter.numel() for parameter in found.low.net.get_submodule(found.head).parameters())
            yield f"training: {8 * numbers} bytes of RAM for a copy of the layer and its gradient, besides any momentum"
        example, *drawn = found.checked
        largest = max(tensor.abs().max().item() for tensor in found.wanted)
        try:
            errors = [f"{difference(board, [example]):.2g} on the example"] + (
                [f"{difference(board, drawn):.2g} on {len(drawn)} drawn inputs"] if drawn else [])
            has_int8 = any(part.matrices() for part in found.low.members.finished.values())
            cost = "" if "int8" not in found.low.members.kinds.values() else (
                ", which int8 costs" if has_int8 else "; no weights can be int8")
            yield f"largest difference from PyTorch: {', '.join(errors)}{cost}; the largest output is {largest:.2g}"
        except ExportError as error:
            yield f"difference from PyTorch: unknown, for {error}"
    return lines


def board_of(found, text, name, weights):
    """Returns the Board of a header."""
    board, (examples, _) = ModuleBoard(text, name, weights), found.checked[0]
    tracer, net = found.low.tracer, found.low.net
    board.inputs = [(name, *type) for name, (_, *type) in zip(tracer.examples, board.inputs)]
    if any(lookups.lookups(tracer.graph)):
        board.limits = [(MOST_TOKENS,)] * len(examples)  # check is exact
        board.check = lambda inputs: lookups.check(tracer, [
            x.view(example.shape).to(example.dtype) for x, example in zip(inputs, examples)])
    board.axes, board.shapes, board.mixes = batches_of(found, net)
    board.types = [(example.dtype,) for example in examples]
    board.dtypes = [tensor.dtype for _, tensor in leaves(found.result)]
    board.rebuilt = lambda tensors: rebuilt(found.result, iter(tensors))
    board.results = results(found, multiply_adds(net, examples, found.low.program.steps))
    return board
