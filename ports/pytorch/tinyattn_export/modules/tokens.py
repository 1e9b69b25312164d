# SPDX-License-Identifier: MIT
"""What joins tokens or features: by functions of their own where these fit."""
from .values import TOKEN, Constant, Value, extents_of, memory_of, numbered_in, whole


def join(low, values, dim):
    if len(values) == 1:
        return values[0]
    model = next(value for value in values if isinstance(value, Value))
    if any(isinstance(value, Value) and value.object.element == TOKEN or len(value.shape) != len(model.shape)
           for value in values):
        return None
    dim %= model.view.dim()
    order = model.order() if model.is_whole() else list(range(model.view.dim()))
    before = [model.shape[axis] for axis in order[:order.index(dim)] if model.shape[axis] != 1]
    after = [axis for axis in order[order.index(dim) + 1:] if model.shape[axis] != 1]
    if before and after or len(before) > 1 or len(after) > 1:
        return None
    function = "concat_rows" if after else "concat_columns"
    operands = [joined_operand(low, value, order, model.shape[after[0]] if after else value.shape[dim])
                for value in values]
    result, sizes = operands[0], [value.shape[dim] for value in values]
    for i in range(1, len(operands)):
        total = sum(sizes[:i + 1])
        extents = (total, model.shape[after[0]]) if after else (*before, total)
        result = whole(low.call(function, result, operands[i], extents=extents))
    shape = list(model.shape)
    shape[dim] = sum(sizes)
    return Value(result.object, numbered_in(order, shape))


def joined_operand(low, value, order, width):
    """Returns the Operand of one of several that are joined, with rows of this width: a Vector, if it is one row."""
    if isinstance(value, Constant):
        tensor = value.tensor.float().permute(order)
        return whole(low.members.tensor(tensor, value.name, extents_of(tensor.reshape(-1, width).shape)))
    value = Value(value.object, value.view.permute(order))
    if memory_of(value.view.reshape(-1, width)) != memory_of(value.view):
        value = low.copied(value, extents_of(value.view.reshape(-1, width).shape))
    value = Value(value.object, value.view.reshape(-1, width))
    operand = low.rows_of(value)
    return whole(low.copied(value).object) if len(operand.extents) == 2 and operand.extents[0] == 1 else operand
