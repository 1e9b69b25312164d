# SPDX-License-Identifier: MIT
"""Convolutions, and the batch norms that are folded into layers."""
import torch

from ..convolutions import ConvolutionRequest
from . import arithmetic, images
from .moves import is_copy
from .table import lowers, lowers_module
from .values import Constant, Value, memory_of, numbered, operand_of
from .weighted import linear, part_of


@lowers_module("Conv1d", "Conv2d")
def convolution(low, module, input):
    if module.padding_mode != "zeros":
        low.refuse(f"padding_mode={module.padding_mode!r}", "take zeros, or join what is to be padded with torch.cat")
    weight, bias = low.folded.get(low.node.target, (module.weight, module.bias))
    return convolve(low, input, weight, bias, low.node.target, module.stride, module.padding, module.dilation,
                    module.groups)


@lowers("conv1d", "conv2d")
def function(low, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if not isinstance(weight, Constant) or bias is not None and not isinstance(bias, Constant):
        low.refuse(f"the weight of {low.called} depends on the input", "take a parameter or a buffer")
    name = weight.name.removesuffix(".weight") + ("" if weight.name.endswith(".weight") else "_convolution")
    return convolve(low, input, weight.tensor, None if bias is None else bias.tensor, name, stride, padding, dilation,
                    groups)


def spread(size, rank):
    """Returns a number for each dimension."""
    size = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    return size if len(size) == rank else size * rank


def convolve(low, input, weight, bias, path, stride, padding, dilation, groups):
    value, rank, kernel = low.check_floats(input), weight.dim() - 2, tuple(weight.shape[2:])
    stride, dilation = spread(stride, rank), spread(dilation, rank)
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, dilation)]
    excess = [(size - 1) % 2 if padding == "same" else 0 for size in reach]  # PyTorch pads one more on the right
    padding = ([size // 2 for size in reach] if padding == "same" else
               spread(0 if padding == "valid" else padding, rank))
    if any(pad >= size for pad, size in zip(padding, reach)):
        low.refuse(f"a padding of {max(padding)} for a kernel of {max(reach)}", "take a padding below kernel_size")
    view = value.view.movedim(-rank - 1, -1)  # [..., features]
    if rank == 2 and cuts_patches(value, view, kernel, stride, padding, dilation, groups):
        return patches(low, value, weight, bias, path)
    operand = (tokens_argument if rank == 1 else images.argument)(low, value, view)
    tensors = {"weight": weight.detach(), **({} if bias is None else {"bias": bias.detach()})}
    request = ConvolutionRequest("", stride, tuple(padding), low.members.weights, groups, dilation)
    member = low.members.layer(path, lambda: part_of(low, request, tensors), weight, bias, stride, padding, dilation)
    counts = [(extent + 2 * pad - size) // step + 1 for extent, pad, size, step in zip(
        view.shape[-rank - 1:-1], padding, reach, stride)]
    batch = tuple(extent for extent in view.shape[:-rank - 1] if extent != 1)
    object = low.call(member, operand, extents=(*batch, *counts, weight.shape[0]))
    result = numbered((*value.shape[:-rank - 1], *counts, weight.shape[0])).movedim(-1, -rank - 1)
    for axis, first in enumerate(excess):
        result = result.narrow(axis - rank, first, counts[axis] - first)
    return Value(object, result)


def tokens_argument(low, value, view):
    """Returns a view [..., tokens, features] as an argument of a Conv1d, which takes no gaps between rows."""
    features = view.shape[-1]
    operand = low.batch_of(value, view) if view.dim() > 2 else operand_of(value, view) or low.rows_of(
        low.copied(Value(value.object, view)))
    if operand.extents[-1] != features:
        operand = operand.with_columns(features)
    if operand.stride not in (None, features):
        operand = operand_of(low.copied(Value(value.object, view)))
    return operand


def cuts_patches(value, view, kernel, stride, padding, dilation, groups):
    """Whether a Conv2d is a Linear of patches: of one that does not overlap, of what is not an image in memory."""
    apart = kernel == stride != (1, 1) and not any(padding) and dilation == (1, 1) and groups == 1
    return apart and (view.shape[-1] == 1 or images.matrix(value, view) is None)


def patches(low, value, weight, bias, path):
    outputs, inputs, height, width = weight.shape
    view = value.view
    rows, cols = view.shape[-2] // height, view.shape[-1] // width
    view = view[..., :rows * height, :cols * width].unflatten(-2, (rows, height)).unflatten(-1, (cols, width))
    view = view.reshape(inputs, rows, height, cols, width).permute(1, 3, 0, 2, 4)
    size = inputs * height * width
    flat = view.reshape(rows * cols, size)
    if is_copy(view, flat):
        object, cut = low.new((rows * cols, size), (rows * cols, size), f"{low.name()}_patches")
        low.copy_by_loops(Value(value.object, view), object)
    else:
        cut = Value(value.object, flat)
    result = linear(low, cut, weight.reshape(outputs, size), bias, path)
    channels_first = result.view.t().reshape(*value.shape[:-3], outputs, rows, cols)
    return Value(result.object, channels_first)


def scale_and_shift(module):
    """Returns what a BatchNorm computes, x * scale + shift, in double."""
    scale = 1 / torch.sqrt(module.running_var.double() + module.eps)
    if module.weight is not None:
        scale = scale * module.weight.detach().double()
    shift = -module.running_mean.double() * scale
    return scale, shift + module.bias.detach().double() if module.bias is not None else shift


@lowers_module("BatchNorm1d", "BatchNorm2d")
def batch_norm(low, module, input):
    value = low.check_floats(input)
    if low.node.target in low.folded:
        return value
    if module.running_mean is None:
        low.refuse(f"{type(module).__name__} without running statistics", "train with track_running_stats=True")
    scale, shift = (part.float() for part in scale_and_shift(module))
    shape = (-1, *[1] * (len(value.shape) - 2))
    scaled = arithmetic.arithmetic(low, "multiply", value, Constant(scale.view(shape), f"{low.node.target}.scale"))
    return arithmetic.arithmetic(low, "add", scaled, Constant(shift.view(shape), f"{low.node.target}.shift"))


NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d)


def fold_batch_norms(tracer, net):
    """Returns {path: (weight, bias)} of the Linear and convolutions that a BatchNorm follows, with the norm in them,
    and {path of the norm: None}. What is called twice, or whose result is used elsewhere, is not folded."""
    calls, folded = {}, {}
    for node in tracer.graph.nodes:
        if node.op == "call_module":
            calls.setdefault(node.target, []).append(node)
    for path, nodes in calls.items():
        module = net.get_submodule(path)
        if len(nodes) != 1 or not isinstance(module, NORMS) or module.running_mean is None:
            continue
        layer = source_of(tracer, nodes[0], net)
        if layer is None or len(calls[layer.target]) != 1:
            continue
        scale, shift = scale_and_shift(module)
        of_layer = net.get_submodule(layer.target)
        weight = of_layer.weight.detach().double() * scale.view(-1, *[1] * (of_layer.weight.dim() - 1))
        bias = shift if of_layer.bias is None else of_layer.bias.detach().double() * scale + shift
        folded.update({layer.target: (weight.float(), bias.float()), path: None})
    return folded


def source_of(tracer, node, net):
    """Returns the node of the Linear or convolution that a norm follows, if it scales the outputs of that."""
    source = node.args[0]
    while source.target in ("transpose", "permute") and len(source.users) == 1:
        source = source.args[0]
    if source.op != "call_module" or len(source.users) != 1:
        return None
    layer, given, scaled = net.get_submodule(source.target), tracer.value(source), tracer.value(node.args[0])
    axis = {torch.nn.Linear: -1, torch.nn.Conv1d: 1, torch.nn.Conv2d: 1}.get(type(layer))
    if axis is None or axis == 1 and given.dim() != layer.weight.dim():
        return None
    fits = given.shape[axis] == scaled.shape[1] and given.stride(axis) == scaled.stride(1)
    return source if fits and memory_of(given) == memory_of(scaled) else None
