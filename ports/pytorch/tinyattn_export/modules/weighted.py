# SPDX-License-Identifier: MIT
"""Linear and norms, which a module calls as a layer or as a function, or writes out."""
import torch

from ..checkpoints import of_state_dict
from ..errors import within
from ..parts import LinearRequest, Part
from . import moves
from .members import Layer
from .values import Constant, Value, numbered, whole


def tensors_of(tensors):
    return of_state_dict(tensors, "").tensors


def part_of(low, request, tensors):
    with within(low.node.name):
        return request.part(tensors_of(tensors))


def rows_of(tensor, name):
    (item,) = tensors_of({name: tensor}).values()
    values, width = item.values(), tensor.shape[-1]
    return [values[first:first + width] for first in range(0, len(values), width)]


def linear(low, value, weight, bias, path):
    operand = low.rows_of(value)
    extents = (*operand.extents[:-1], weight.shape[0])
    weights = low.members.weights_at(path)
    if path in low.members.embeddings and bias is None and weights == "f32":  # tied
        object = low.program.activation(low.name(), extents)
        low.program.add("tinyattn::matmul_transposed(", operand, ", ", Layer(path), ".weight, ", whole(object), ");",
                        writes=object)
    else:
        path += "_tied" * (path in low.members.embeddings)
        tensors = {"weight": weight.detach(), **({} if bias is None else {"bias": bias.detach()})}
        request = LinearRequest("", weights=weights)
        object = low.call(low.members.layer(path, lambda: part_of(low, request, tensors), weight, bias), operand,
                          extents=extents)
    return Value(object, numbered((*value.shape[:-1], weight.shape[0])))


def path_of_norm(low, weight):
    """Returns the path of a norm: that of its module, or else of its weight, if it has one."""
    if low.node.op == "call_module":
        return low.node.target
    name = weight.name if isinstance(weight, Constant) else low.name()
    return name.removesuffix(".weight") if name.endswith(".weight") else f"{name}_norm"


def norm(low, value, shape, weight, bias, epsilon, kind="LayerNorm"):
    value = low.check_floats(value)
    if len(shape) > 1:
        flat = moves.move(low, "flatten", value, (-len(shape),), {})
        weight, bias = (Constant(item.flatten(), "") if isinstance(item, torch.Tensor)
                        else Constant(item.tensor.flatten(), item.name)
                        if item is not None else None for item in (weight, bias))
        normed = norm(low, flat, flat.shape[-1:], weight, bias, epsilon, kind)
        return moves.move(low, "reshape", normed, value.shape, {})
    width, path = shape[0], path_of_norm(low, weight)
    weight, bias = (item.tensor if isinstance(item, Constant) else item for item in (weight, bias))
    operand = low.rows_of(value)
    weight = torch.ones(width) if weight is None else weight.detach()
    tree = {"weight": rows_of(weight.reshape(1, -1), f"{path}.weight")}
    if kind == "LayerNorm":
        bias_or_zeros = torch.zeros(width) if bias is None else bias.detach()
        tree["bias"] = rows_of(bias_or_zeros.reshape(1, -1), f"{path}.bias")
    tree["epsilon"] = torch.tensor(epsilon, dtype=torch.float32).item() or -0.0
    part = Part(f"::tinyattn::{kind}<{width}>", "tinyattn/normalization.hpp", tree, f"{kind}, {width} features", {},
                set())
    member = low.members.layer(path, lambda: part, kind, weight, bias, epsilon)
    return Value(low.call(member, operand, extents=operand.extents, in_place=[operand]), numbered(value.shape))


def written(low, found):
    """Computes an activation or a norm that the module writes out."""
    x = low.check_floats(low.values[found.x])
    if found.weight is None:
        return low.elementwise(x, found.function)
    *outer, last = found.name.split(".")  # a norm has the path of the module that has its weight
    weight = Constant(found.weight, ".".join([*outer, "weight"] if outer else [last]))
    return norm(low, x, x.shape[-1:], weight, Constant(found.bias, ""), found.epsilon, found.function)
