# SPDX-License-Identifier: MIT
"""Convolutions, images as their arguments, and the batch norms that are folded into layers. Images are
[..., height, width, features] in memory, whatever the order of PyTorch's axes."""
import collections
import inspect

import torch

from ..convolutions import tree_of
from ..errors import within
from ..parts import Part, initializer
from .moves import assign, is_copy
from .table import lowers, name_of
from .values import Constant, Operand, Value, memory_of, numbered, operand_of, whole
from .weighted import linear, path_of, tensors_of


@lowers("conv_transpose1d", "conv_transpose2d")
def transposed(low, input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Adds a convolution of zeros between which the elements of the input lie."""
    if groups != 1 or not isinstance(weight, Constant):
        low.refuse("a transposed convolution of groups, or whose weight depends on the input", "take groups=1")
    value, rank, kernel = low.check_floats(input), weight.tensor.dim() - 2, weight.shape[2:]
    stride, padding, more, dilation = (spread(each, rank) for each in (stride, padding, output_padding, dilation))
    x = Value(value.object, value.view.movedim(-rank - 1, -1))  # [..., features]
    begins = [(size - 1) * step - edge for size, step, edge in zip(kernel, dilation, padding)]
    if min(begins) < 0:
        low.refuse(f"a padding of {max(padding)} for a kernel of {max(kernel)}", "take less padding")
    ends = [begin + (extent - 1) * step + 1 for begin, extent, step in zip(begins, x.shape[-rank - 1:-1], stride)]
    sizes = map(sum, zip(begins, ends, more))
    zeros = Constant(torch.zeros(*x.shape[:-rank - 1], *sizes, x.shape[-1]), "zeros")
    spaced = assign(low, zeros, (..., *map(slice, begins, ends, stride), slice(None)), x)
    flipped = Constant(weight.tensor.transpose(0, 1).flip(*range(2, rank + 2)), weight.name)
    return convolution(low, Value(spaced.object, spaced.view.movedim(-1, -rank - 1)), flipped, bias, dilation=dilation)


def spread(size, rank):
    """Returns a number for each dimension."""
    size = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    return size if len(size) == rank else size * rank


@lowers("conv1d", "conv2d")
def convolution(low, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if not isinstance(weight, Constant) or bias is not None and not isinstance(bias, Constant):
        low.refuse(f"the weight of {low.called} depends on the input", "take a parameter or a buffer")
    path, weight, bias = path_of(low, weight, "convolution"), weight.tensor, bias and bias.tensor
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
    operand = (tokens_argument if rank == 1 else image_argument)(low, value, view)
    member = low.members.layer(path, lambda: part_of(low, weight, bias, stride, padding, groups, dilation), weight,
                               bias, stride, padding, dilation)
    counts = [(extent + 2 * pad - size) // step + 1 for extent, pad, size, step in zip(
        view.shape[-rank - 1:-1], padding, reach, stride)]
    batch = tuple(extent for extent in view.shape[:-rank - 1] if extent != 1)
    object = low.call(member, operand, extents=(*batch, *counts, weight.shape[0]))
    result = numbered((*value.shape[:-rank - 1], *counts, weight.shape[0])).movedim(-1, -rank - 1)
    for axis, first in enumerate(excess):
        result = result.narrow(axis - rank, first, counts[axis] - first)
    return Value(object, result)


def size_of(numbers):
    """Returns a height and a width as C++ takes them: one number is both."""
    return numbers[0] if len(set(numbers)) == 1 else tuple(numbers)


def part_of(low, weight, bias, stride, padding, groups, dilation):
    outputs, inputs, *kernel = weight.shape
    config = {"in": inputs * groups, "out": outputs, "kernel": size_of(kernel), "stride": size_of(stride),
              "padding": size_of(padding), "bias": bias is not None}
    others = {"groups": groups, "dilation": size_of(dilation)}
    config = low.members.with_weights(config) | {name: number for name, number in others.items() if number != 1}
    kind = f"Conv{len(kernel)}d"
    with within(low.node.name):
        tensors = tensors_of({"weight": weight.detach(), **({} if bias is None else {"bias": bias.detach()})})
        tree = low.members.stored(tree_of(tensors["weight"], tensors.get("bias")), "convolution")
    return Part(f"::tinyattn::{kind}<::tinyattn::{kind}Config{initializer(config)}>", "tinyattn/convolution.hpp", tree,
                config=config)


def tokens_argument(low, value, view):
    """Returns a view [..., tokens, features] as an argument of a Conv1d, which takes no gaps between rows."""
    features = view.shape[-1]
    operand = low.batch_of(value, view) if view.dim() > 2 else operand_of(value, view) or low.rows_of(
        low.copied(Value(value.object, view)))
    if operand.extents[-1] != features or len(operand.extents) == 1:
        operand = operand.with_columns(features)
    if operand.stride not in (None, features):
        operand = operand_of(low.copied(Value(value.object, view)))
    return operand


def extents_of_images(view):
    return (*(extent for extent in view.shape[:-3] if extent != 1), *view.shape[-3:])


def has_order(value, view):
    """Whether an object is a tensor in the order of a view."""
    return Value(value.object, view).is_whole() and value.object.extents == extents_of_images(view) and (
        not is_copy(view, view.flatten()))


def image_tensor(low, value, view):
    """Returns a view [..., height, width, features] as a tensor of these extents."""
    if has_order(value, view):
        return whole(value.object)
    return whole(low.copied(Value(value.object, view), extents_of_images(view)).object)


def image_matrix(value, view):
    """Returns the view of one image as a matrix [height, width * features] that is not copied, or None."""
    height, width, features = view.shape[-3:]
    flat = view.reshape(height, width * features) if view.shape[:-3].numel() == 1 else None
    if flat is None or is_copy(view, flat):
        return None
    operand = operand_of(value, flat)
    if operand is None or len(operand.extents) == 2:
        return operand
    return Operand(operand.object, tuple(flat.shape), width * features, operand.offset)


def image_argument(low, value, view):
    """Returns a view as an argument of a Conv2d."""
    return (None if has_order(value, view) else image_matrix(value, view)) or image_tensor(low, value, view)


def cuts_patches(value, view, kernel, stride, padding, dilation, groups):
    """Whether a Conv2d is a Linear of patches: of one that does not overlap, of what is not an image in memory."""
    apart = kernel == stride != (1, 1) and not any(padding) and dilation == (1, 1) and groups == 1
    return apart and (view.shape[-1] == 1 or image_matrix(value, view) is None)


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


BATCH_NORM = ("running_mean", "running_var", "weight", "bias")


def scale_and_shift(mean, variance, weight, bias, eps):
    """Returns what a batch norm computes, x * scale + shift, in double."""
    scale = 1 / torch.sqrt(variance.double() + eps) * (1 if weight is None else weight.detach().double())
    return scale, -mean.double() * scale + (0 if bias is None else bias.detach().double())


AXES = {"linear": -1, "conv1d": 1, "conv2d": 1}  # of the outputs


def fold_batch_norms(tracer):
    """Returns {step: (weight, bias)} of the Linear and convolutions that a batch norm follows, with the norm in them,
    and {step of the norm: None}. A module that is called twice, and what has a result that is used elsewhere, is not
    folded."""
    def parameters(step):
        return [(tracer.module[step][0], each.target) for each in step.all_input_nodes if each.op == "get_attr"]
    uses, folded = collections.Counter(use for node in tracer.graph.nodes for use in parameters(node)), {}
    for node in tracer.graph.nodes:
        source = source_of(tracer, node) if node.target is torch.nn.functional.batch_norm else None
        if source is None or any(uses[use] != 1 for step in (source, node) for use in parameters(step)):
            continue
        norm = inspect.signature(node.target).bind(*node.args, **node.kwargs)
        norm.apply_defaults()
        norm, (weight, bias) = (torch.fx.node.map_arg(given, tracer.value) for given in (
            norm.arguments, (*source.args[1:3], None)[:2]))
        if norm["training"] or not isinstance(weight, torch.Tensor):
            continue
        scale, shift = scale_and_shift(*(norm[name] for name in BATCH_NORM), norm["eps"])
        shift = shift if bias is None else bias.detach().double() * scale + shift
        weight = weight.detach().double() * scale.view(-1, *[1] * (weight.dim() - 1))
        folded |= {source: tuple(Constant(each.float(), source.args[1].target) for each in (weight, shift)), node: None}
    return folded


def source_of(tracer, node):
    """Returns the Linear or convolution that a batch norm with running statistics follows, if the norm scales the
    outputs of that."""
    source = node.args[0]
    while source.target in ("transpose", "permute") and len(source.users) == 1:
        source = source.args[0]
    axis = AXES.get(name_of(source)) if source.op == "call_function" else None
    if axis is None or len(source.users) != 1 or source.kwargs:
        return None
    others = {each for step in (source, node) for each in step.all_input_nodes} - {source.args[0], node.args[0]}
    if any(each.op != "get_attr" for each in others):
        return None
    given, scaled = tracer.value(source), tracer.value(node.args[0])
    if axis == 1 and given.dim() != tracer.value(source.args[1]).dim():
        return None
    fits = given.shape[axis] == scaled.shape[1] and given.stride(axis) == scaled.stride(1)
    return source if fits and memory_of(given) == memory_of(scaled) else None
