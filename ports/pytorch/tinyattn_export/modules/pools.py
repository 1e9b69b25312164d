# SPDX-License-Identifier: MIT
"""Pools over windows of tokens and of images, whose features come last in memory."""
from . import images
from .convolutions import spread
from ..convolutions import size_of
from .moves import is_copy
from .reductions import reduced
from .table import lowers
from .values import Value, numbered

MOVING = ("kernel_size", "stride", "padding", "ceil_mode")
POOLS = {  # {module: (function, what the module gives it)}
    **{f"MaxPool{rank}d": (f"max_pool{rank}d", *MOVING, "dilation", "return_indices") for rank in (1, 2)},
    "AvgPool1d": ("avg_pool1d", *MOVING, "count_include_pad"),
    "AvgPool2d": ("avg_pool2d", *MOVING, "count_include_pad", "divisor_override"),
    **{f"Adaptive{kind}Pool{rank}d": (f"adaptive_{kind.lower()}_pool{rank}d", "output_size")
       for kind in ("Avg", "Max") for rank in (1, 2)},
}


@lowers("max_pool1d", "max_pool2d")
def moving(low, input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, count_include_pad=True):
    rank = int(low.called[-2])
    kernel, stride, padding, dilation = (spread(size, rank) for size in (
        kernel_size, stride or kernel_size, padding, dilation))
    members = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    usual = {"stride": kernel, "padding": (0,) * rank, "dilation": (1,) * rank}
    config = {name: size_of(size) for name, size in members.items() if size != usual.get(name)}
    if ceil_mode:
        config["ceil_mode"] = True
    if not count_include_pad and any(padding):
        config["count_include_pad"] = False
    return pool(low, input, rank, low.members.config(low.name(), "tinyattn::PoolConfig", config))


@lowers("avg_pool1d")
def average(low, input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return moving(low, input, kernel_size, stride, padding, 1, ceil_mode, count_include_pad)


@lowers("avg_pool2d")
def average_of_images(low, input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
                      divisor_override=None):
    if divisor_override is not None:
        low.refuse("avg_pool2d with divisor_override", "multiply the means by a number")
    return moving(low, input, kernel_size, stride, padding, 1, ceil_mode, count_include_pad)


@lowers("adaptive_avg_pool1d", "adaptive_max_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool2d")
def adaptive(low, input, output_size, return_indices=False):
    rank, value = int(low.called[-2]), low.check_floats(input)
    sizes = [size or extent for size, extent in zip(spread(output_size, rank), value.shape[-rank:])]
    flat = value.view.flatten(-rank)
    if set(sizes) == {1} and not is_copy(value.view, flat):
        pooled = reduced(low, "mean" if "avg" in low.called else "largest", Value(value.object, flat), -1, True)
        return pooled if rank == 1 else Value(pooled.object, pooled.view.unsqueeze(-1))
    size = size_of(sizes)
    return pool(low, value, rank, f"tinyattn::Size2d{{{size[0]}, {size[1]}}}" if isinstance(size, tuple) else size)


def pool(low, input, rank, argument):
    """Adds a call of a pool with an argument of its template."""
    value = low.check_floats(input)
    view = value.view.movedim(-rank - 1, -1)
    operand = low.batch_of(value, view) if rank == 1 else images.tensor(low, value, view)
    shape = low.tracer.value(low.node).shape
    counts = (*shape[-rank:], view.shape[-1])
    batch = tuple(extent for extent in view.shape[:-rank - 1] if extent != 1)
    object = low.call(f"{low.called}<{argument}>", operand, extents=(*batch, *counts))
    return Value(object, numbered((*shape[:-rank - 1], *counts)).movedim(-1, -rank - 1))
