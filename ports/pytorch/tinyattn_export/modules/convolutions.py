# SPDX-License-Identifier: MIT
"""Convolutions, what pools their results, and the batch norms that are folded into layers."""
import torch

from ..convolutions import Conv1dRequest
from . import arithmetic
from .moves import is_copy
from .table import lowers_module
from .values import Constant, Value, memory_of, numbered, operand_of
from .weighted import linear, part_of


@lowers_module("Conv1d")
def conv1d(low, module, input):
    value = low.check_floats(input)
    check_convolution(low, module)
    (kernel,), (stride,) = module.kernel_size, module.stride
    padding = module.padding
    if padding == "same":
        if kernel % 2 == 0:
            low.refuse("padding='same' with an even kernel", "give the padding as a number")
        padding = (kernel - 1) // 2
    padding = 0 if padding == "valid" else padding if isinstance(padding, int) else padding[0]
    view = value.view.transpose(-1, -2)  # [..., tokens, features], as Conv1d takes them
    operand = low.batch_of(value, view) if view.dim() > 2 else operand_of(value, view) or low.rows_of(
        low.copied(Value(value.object, view)))
    if operand.extents[-1] != module.in_channels:
        operand = operand.with_columns(module.in_channels)
    if operand.stride not in (None, module.in_channels):  # Conv1d takes no gaps between rows
        operand = operand_of(low.copied(Value(value.object, view)))
    if padding >= kernel:
        low.refuse(f"a padding of {padding} for a kernel of {kernel}", "take a padding below kernel_size")
    weight, bias = low.folded.get(low.node.target, (module.weight, module.bias))
    tensors = {"weight": weight.detach(), **({} if bias is None else {"bias": bias.detach()})}
    storage = low.members.weights

    def make():
        return part_of(low, Conv1dRequest("", stride=stride, padding=padding, weights=storage), tensors)

    member = low.members.layer(low.node.target, make)
    tokens = (view.shape[-2] + 2 * padding - kernel) // stride + 1
    batch = operand.extents[:-2] if len(operand.extents) > 2 else ()
    extents = (*batch, tokens, module.out_channels)
    object = low.call(member, operand, extents=extents)
    return Value(object, numbered((*value.shape[:-2], tokens, module.out_channels)).transpose(-1, -2))


def check_convolution(low, module):
    if module.groups != 1 or any(step != 1 for step in module.dilation):
        low.refuse("a convolution with groups or a dilation", "take groups=1 and dilation=1")
    if module.padding_mode != "zeros":
        low.refuse(f"padding_mode={module.padding_mode!r}", "take zeros, or join what is to be padded with torch.cat")


@lowers_module("Conv2d")
def conv2d(low, module, input):
    value = low.check_floats(input)
    check_convolution(low, module)
    if tuple(module.kernel_size) != tuple(module.stride) or module.padding not in ((0, 0), "valid", 0):
        low.refuse("a Conv2d whose kernel is not its stride, or with padding", "cut patches that do not overlap, "
                   "or convolve along one dimension with Conv1d")
    (height, width), view = module.kernel_size, value.view
    rows, cols = view.shape[-2] // height, view.shape[-1] // width
    view = view[..., :rows * height, :cols * width].unflatten(-2, (rows, height)).unflatten(-1, (cols, width))
    view = view.reshape(module.in_channels, rows, height, cols, width).permute(1, 3, 0, 2, 4)
    size = module.in_channels * height * width
    flat = view.reshape(rows * cols, size)
    if is_copy(view, flat):
        object, patches = low.new((rows * cols, size), (rows * cols, size), f"{low.name()}_patches")
        low.copy_by_loops(Value(value.object, view), object)
    else:
        patches = Value(value.object, flat)
    weight = module.weight.reshape(module.out_channels, size)
    result = linear(low, patches, weight, module.bias, low.node.target)
    channels_first = result.view.t().reshape(module.out_channels, rows, cols)
    channels_first = channels_first.reshape(*value.shape[:-3], module.out_channels, rows, cols)
    return Value(result.object, channels_first)


def scale_and_shift(module):
    """Returns what BatchNorm1d computes, x * scale + shift, in double."""
    scale = 1 / torch.sqrt(module.running_var.double() + module.eps)
    if module.weight is not None:
        scale = scale * module.weight.detach().double()
    shift = -module.running_mean.double() * scale
    return scale, shift + module.bias.detach().double() if module.bias is not None else shift


@lowers_module("BatchNorm1d")
def batch_norm(low, module, input):
    value = low.check_floats(input)
    if low.node.target in low.folded:
        return value
    if module.running_mean is None:
        low.refuse("BatchNorm1d without running statistics", "train with track_running_stats=True")
    scale, shift = (part.float() for part in scale_and_shift(module))
    shape = (-1, 1) if len(value.shape) == 3 else (-1,)
    scaled = arithmetic.with_constant(low, "multiply", value, Constant(scale.view(shape), f"{low.node.target}.scale"))
    return arithmetic.with_constant(low, "add", scaled, Constant(shift.view(shape), f"{low.node.target}.shift"))


def fold_batch_norms(tracer, net):
    """Returns {path: (weight, bias)} of the Linear and Conv1d layers that a BatchNorm1d follows, with the norm in them,
    and {path of the norm: None}. What is called twice, or whose result is used elsewhere, is not folded."""
    calls, folded = {}, {}
    for node in tracer.graph.nodes:
        if node.op == "call_module":
            calls.setdefault(node.target, []).append(node)
    for path, nodes in calls.items():
        module = net.get_submodule(path)
        if len(nodes) != 1 or not isinstance(module, torch.nn.BatchNorm1d) or module.running_mean is None:
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
    """Returns the node of the Linear or Conv1d that a norm follows, if the features that it scales are its outputs."""
    source = node.args[0]
    while source.target in ("transpose", "permute") and len(source.users) == 1:
        source = source.args[0]
    if source.op != "call_module" or len(source.users) != 1:
        return None
    layer, given, scaled = net.get_submodule(source.target), tracer.value(source), tracer.value(node.args[0])
    axis = {torch.nn.Linear: -1, torch.nn.Conv1d: 1}.get(type(layer))
    if axis is None or axis == 1 and given.dim() != 3:
        return None
    fits = given.shape[axis] == scaled.shape[1] and given.stride(axis) == scaled.stride(1)
    return source if fits and memory_of(given) == memory_of(scaled) else None
