# SPDX-License-Identifier: MIT
"""What is known of a module that was exported, and not written in its header: its Board."""
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..desk import ModuleBoard
from ..errors import ExportError
from .comparing import vocabulary_of
from .exporting import is_batch
from .signature import leaves, rebuilt

PRODUCTS = {  # {what PyTorch computes: its multiplications and additions}
    **dict.fromkeys(("mm", "bmm", "mv", "dot"), lambda a, b: a.numel() * (b.shape[-1] if b.dim() > 1 else 1)),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), lambda c, a, b: a.numel() * (b.shape[-1] if b.dim() > 1 else 1)),
    "linear": lambda x, weight, bias=None: x.numel() * weight.shape[0],
    "_scaled_dot_product_flash_attention_for_cpu": lambda q, k, v, *more: (q.numel() + v.shape[-1] * q.numel()
                                                                           // q.shape[-1]) * k.shape[-2],
    "mkldnn_rnn_layer": lambda x, w, u, *more: x.shape[0] * x.shape[1] * (w.numel() + u.numel()),
}


class Counter(TorchDispatchMode):
    """Counts the multiplications and additions of products."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result, name = function(*args, **(kwargs or {})), str(function).split(".")[1]
        if name == "convolution":
            self.count += result.numel() * args[1][0].numel()
        elif name in PRODUCTS:
            self.count += PRODUCTS[name](*args)
        return result


def multiply_adds(net, examples):
    """Returns how many multiplications and additions the products of a call take, or that this is unknown."""
    frozen = [parameter for parameter in net.parameters() if not parameter.requires_grad]
    try:
        for parameter in frozen:  # else an encoder is one step
            parameter.requires_grad_(parameter.is_floating_point())
        with Counter() as counter:
            net(*(example.clone() for example in examples))
        return counter.count
    except Exception:  # of any kind: PyTorch cannot watch what the module does
        return "unknown"
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)


def shapes_of(found, net, examples):
    """Returns where each output has its batch, as `placed` does. PyTorch tells by a batch of two; what a module of one
    input returns of each is joined along the first axis."""
    if not is_batch(examples, found.extents):
        return [(tuple(one.shape), 0, False) for one in found.wanted]
    try:
        pairs = [torch.cat([example, example]) if len(own) < example.dim() else example
                 for own, example in zip(found.extents, examples)]
        of_two = [tensor.detach() for _, tensor in leaves(net(*pairs))]
    except Exception:  # of any kind: the module takes no batch
        of_two = [None] * len(found.wanted)
    return [placed(*both) for both in zip(found.wanted, of_two)]


def placed(one, two):
    """Returns the shape of an output of one input, the axis of a batch or None, and whether that is joined with another
    axis, as view(-1, features) does. `two`: the output of twice that input."""
    shape = tuple(one.shape)
    if not shape or two is not None and two.shape == one.shape:
        return shape, None, False
    joined = [torch.cat((one, one), axis) for axis in range(one.dim())]
    axis = next((axis for axis, both in enumerate(joined) if two is not None and both.shape == two.shape
                 and torch.allclose(both, two, rtol=1e-3, atol=1e-5)), 0)
    return (shape[:axis] + shape[axis + 1:], axis, False) if shape[axis] == 1 else (shape, axis, True)


def difference(board, pairs):
    """Returns the largest difference of a board from PyTorch on some inputs."""
    return max((a - b).abs().max().item() for inputs, wanted in pairs
               for (_, a), b in zip(leaves(board(*inputs)), wanted))


def results(found, count):
    """Returns a function that yields the lines of what a Board computes."""
    def lines(board):
        yield f"multiply-adds: {count}, of the products"
        example, *drawn = found.checked
        largest = max(tensor.abs().max().item() for tensor in found.wanted)
        try:
            errors = [f"{difference(board, [example]):.2g} on the example"] + (
                [f"{difference(board, drawn):.2g} on {len(drawn)} drawn inputs"] if drawn else [])
            cost = ", which int8 costs" if "int8" in found.low.members.kinds.values() else ""
            yield f"largest difference from PyTorch: {', '.join(errors)}{cost}; the largest output is {largest:.2g}"
        except ExportError as error:
            yield f"difference from PyTorch: unknown, for {error}"
    return lines


def board_of(found, text, name, weights):
    """Returns the Board of a header."""
    board, (examples, _) = ModuleBoard(text, name, weights), found.checked[0]
    tracer, net = found.low.tracer, found.low.net
    board.inputs = [(name, *type) for name, (_, *type) in zip(tracer.examples, board.inputs)]
    board.vocabularies = [vocabulary_of(tracer, name) or 65536 for name in tracer.examples]
    board.shapes = shapes_of(found, net, examples)
    board.rebuilt = lambda tensors: rebuilt(found.result, iter(tensors))
    board.results = results(found, multiply_adds(net, examples))
    return board
