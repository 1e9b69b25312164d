# SPDX-License-Identifier: MIT
"""Pools over windows of tokens and of images, whose features come last in memory."""
import math

from .convolutions import image_tensor, size_of, spread
from .moves import is_copy
from .reductions import reduced
from .table import lowers
from .values import Rows, Value, numbered


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
    return pool(low, input, rank, low.members.config(low.name(), "tinyattn::PoolConfig", config), config)


@lowers("avg_pool1d", "avg_pool2d")
def average(low, input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
            divisor_override=None):
    if divisor_override is not None:
        low.refuse("avg_pool2d with divisor_override", "multiply the means by a number")
    return moving(low, input, kernel_size, stride, padding, 1, ceil_mode, count_include_pad)


@lowers("adaptive_avg_pool1d", "adaptive_max_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool2d")
def adaptive(low, input, output_size, return_indices=False):
    rank, value = int(low.called[-2]), low.check_floats(input)
    sizes = [size or extent for size, extent in zip(spread(output_size, rank), value.shape[-rank:])]
    flat = value.view.flatten(-rank)
    if rank == 2 and value.shape[-2] == 1 != sizes[0]:
        low.refuse(f"a pool of an image of one row to {sizes[0]}", "repeat the row with expand")
    if set(sizes) == {1} and not is_copy(value.view, flat):
        pooled = reduced(low, "mean" if "avg" in low.called else "largest", Value(value.object, flat), -1, True)
        return pooled if rank == 1 else Value(pooled.object, pooled.view.unsqueeze(-1))
    size = size_of(sizes)
    return pool(low, value, rank, f"tinyattn::Size2d{{{size[0]}, {size[1]}}}" if isinstance(size, tuple) else size)


def pool(low, input, rank, argument, config=None):
    """Adds a call of a pool with an argument of its template. In C it is a mean or a maximum over tokens of each
    window that a PoolConfig says, if these are in x."""
    value = low.check_floats(input)
    view = value.view.movedim(-rank - 1, -1)
    operand = low.batch_of(value, view) if rank == 1 else image_tensor(low, value, view)
    if len(operand.extents) == 1:  # one token
        operand = operand.with_columns(view.shape[-1])
    shape = low.tracer.value(low.node).shape
    counts = (*shape[-rank:], view.shape[-1])
    batch = tuple(extent for extent in view.shape[:-rank - 1] if extent != 1)
    object = low.call(f"{low.called}<{argument}>", operand, extents=(*batch, *counts))
    only_in_cpp = " and ".join(name for name in config or () if name not in ("kernel", "stride"))
    if rank == 1 and only_in_cpp:
        low.program.steps[-1].call = f"{low.called} with {only_in_cpp}", low.program.steps[-1].call[1]
    elif rank == 1 and config:
        width, kernel = counts[1], config["kernel"]
        stride = width if operand.stride is None else operand.stride
        leading = [(math.prod(batch), view.shape[-2] * width)] * bool(batch)
        windows = Rows(operand.object, (*leading, (counts[0], config.get("stride", kernel) * stride)), kernel, width,
                       stride, operand.offset)
        low.program.steps[-1].call = "mean" if "avg" in low.called else "largest", [
            windows, Rows(object, ((windows.count, width),), 1, width, width, 0)]
    return Value(object, numbered((*shape[:-rank - 1], *counts)).movedim(-1, -rank - 1))
