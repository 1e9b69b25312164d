# SPDX-License-Identifier: MIT
"""Reductions over tokens, and what joins tokens or features."""
from .table import lowers, name_of
from .values import Absent, Constant, Operand, Value, extents_of, numbered, operand_of, whole


@lowers("mean", "amax")
def pool(low, input, dim=None, keepdim=False):
    return pool_over(low, input, dim, keepdim, {"mean": "mean", "amax": "largest"}[low.called])


@lowers("max")
def maximum(low, input, dim=None, keepdim=False):
    if dim is None or isinstance(dim, (Constant, Value)):
        low.refuse("max without dim, or of two tensors", "amax(dim=1) is the largest over tokens")
    return (pool_over(low, input, dim, keepdim, "largest"),
            Absent("the places of the largest", "find them after forward, with tinyattn::argmax"))


def pool_over(low, value, dim, keepdim, function):
    low.check_floats(value)
    dim = dim[0] if isinstance(dim, (tuple, list)) and len(dim) == 1 else dim
    if not isinstance(dim, int):
        low.refuse(f"{name_of(low.node)} over {'all' if dim is None else 'several'} dimensions",
                   "take one dimension, that of the tokens")
    rank = value.view.dim()
    dim %= rank
    view = value.view.unsqueeze(0).movedim(dim + 1, -1).transpose(-1, -2) if rank == 1 else value.view.movedim(dim, -1)
    if rank > 1:
        view = view.transpose(-1, -2)  # [..., tokens, features]
    operand = matrix_with_rows(low, value, view)
    object = low.call(function, operand, extents=(*operand.extents[:-2], operand.extents[-1]))
    shape = [extent for axis, extent in enumerate(value.shape) if axis != dim]
    result = numbered(tuple(shape))
    return Value(object, result.unsqueeze(dim) if keepdim else result)


def matrix_with_rows(low, value, view):
    """Returns the Operand [..., tokens, features] of a view, which keeps its two last axes."""
    batch = [extent for extent in view.shape[:-2] if extent != 1]
    extents = (*batch, *view.shape[-2:])
    operand = operand_of(value, view)
    if operand is not None and operand.stride is None and operand.object.extents == extents:
        return operand
    if not batch:
        matrix = view.reshape(extents) if view.shape[:-2].numel() == 1 else view
        axes = list(zip(matrix.shape, matrix.stride()))
        if axes[1][0] == 1 or axes[1][1] == 1:
            stride = axes[0][1] if axes[0][0] != 1 else axes[1][0]
            return Operand(value.object, extents, stride, view.storage_offset())
    return whole(low.copied(Value(value.object, view), extents).object)


@lowers("adaptive_avg_pool1d", "adaptive_max_pool1d")
def adaptive_pool(low, input, output_size):
    if output_size not in (1, (1,), [1]):
        low.refuse(f"{low.called} to {output_size} tokens", "pool to one token")
    return pool_over(low, input, -1, True, "mean" if "avg" in low.called else "largest")


@lowers("cat", "concat", "concatenate")
def cat(low, tensors, dim=0):
    return join(low, list(tensors), dim)


@lowers("stack")
def stack(low, tensors, dim=0):
    unsqueezed = [Value(value.object, value.view.unsqueeze(dim)) if isinstance(value, Value) else
                  Constant(value.tensor.unsqueeze(dim), value.name) for value in tensors]
    return join(low, unsqueezed, dim)


def join(low, values, dim):
    if len(values) == 1:
        return values[0]
    model = next(value for value in values if isinstance(value, Value))
    rank = model.view.dim()
    dim %= rank
    order = model.order() if model.is_whole() else list(range(rank))
    sizes = [[extent for axis, extent in enumerate(value.shape) if axis != dim] for value in values]
    if any(size != sizes[0] for size in sizes):
        low.refuse("cat of tensors of other shapes", "make their shapes equal")
    before = [model.shape[axis] for axis in order[:order.index(dim)] if model.shape[axis] != 1]
    after = [axis for axis in order[order.index(dim) + 1:] if model.shape[axis] != 1]
    if before and after or len(before) > 1 or len(after) > 1:
        low.refuse(f"cat along dimension {dim} of {rank}", "join tokens, dim=1, or features, dim=-1")
    function = "concat_rows" if after else "concat_columns"
    operands = [joined_operand(low, value, order) for value in values]
    result, sizes = operands[0], [value.shape[dim] for value in values]
    for i in range(1, len(operands)):
        total = sum(sizes[:i + 1])
        extents = (total, model.shape[after[0]]) if after else (*before, total)
        result = whole(low.call(function, result, operands[i], extents=extents))
    shape = list(model.shape)
    shape[dim] = sum(sizes)
    back = [order.index(axis) for axis in range(rank)]
    return Value(result.object, numbered([shape[axis] for axis in order]).permute(back))


def joined_operand(low, value, order):
    """Returns the Operand of one of several that are joined: a Vector, if it is one row."""
    if isinstance(value, Constant):
        tensor = value.tensor.float().permute(order)
        return whole(low.members.tensor(tensor, value.name, extents_of(tensor.shape)))
    value = Value(value.object, value.view.permute(order))
    operand = low.rows_of(value)
    return whole(low.copied(value).object) if len(operand.extents) == 2 and operand.extents[0] == 1 else operand
