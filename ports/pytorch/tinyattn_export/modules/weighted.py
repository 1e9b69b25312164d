# SPDX-License-Identifier: MIT
"""Linear, Embedding and norms, which a module calls as a layer or as a function, or writes out."""
import torch

from ..checkpoints import tensors_in as tensors_of
from ..errors import within
from ..matrices import EMBEDDING
from ..parts import LinearRequest, Part
from ..reader import Reader
from . import moves
from .members import Layer
from .table import Functions, lowers
from .values import TOKEN, Constant, Value, numbered, whole


def part_of(low, request, tensors):
    with within(low.node.name):
        return request.part(tensors_of(tensors))


def path_of(low, weight, kind):
    """Returns the path of a layer: that of its module, or else of its weight, if it has one."""
    name = weight.name if isinstance(weight, Constant) else low.name()
    return low.layer or (name.removesuffix(".weight") if name.endswith(".weight") else f"{name}_{kind}")


def linear(low, value, weight, bias, path):
    operand = low.rows_of(value)
    extents = (*operand.extents[:-1], weight.shape[0])
    weights = low.members.weights_at(path)
    if path in low.members.embeddings and bias is None and weights == "f32":  # tied
        object = low.program.activation(low.name(), extents)
        low.program.add("tinyattn::matmul_transposed(", operand, ", ", Layer(path), ".weight, ", whole(object), ");",
                        writes=object, call=("matmul_transposed", [operand, Layer(path), whole(object)]))
    else:
        path += "_tied" * (path in low.members.embeddings)
        tensors = {"weight": weight.detach(), **({} if bias is None else {"bias": bias.detach()})}
        request = LinearRequest("", weights=weights)
        object = low.call(low.members.layer(path, lambda: part_of(low, request, tensors), weight, bias), operand,
                          extents=extents)
    return Value(object, numbered((*value.shape[:-1], weight.shape[0])))


@lowers("embedding")
def embedding(low, input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
              sparse=False):
    if input.object.element != TOKEN:
        f = Functions(low)
        return f.matmul(f.one_hot(input, weight.shape[0]), weight)
    if not input.is_whole() or input.object.extents != (input.view.numel(),):
        object, flat = low.new((input.view.numel(),), input.shape, element=TOKEN)
        moves.copy(low, input.view, [input], flat)
        input = flat
    if max_norm is not None:
        low.refuse("an Embedding with max_norm", "renormalize the weight before the export")
    path = path_of(low, weight, "embedding")
    tree = low.members.stored({"weight": tensors_of({weight.name: weight.tensor})[weight.name].rows()}, EMBEDDING)
    low.members.embeddings.add(path)
    count, width = weight.shape
    part = Part(f"::tinyattn::Embedding<{count}, {width}{low.members.last_argument()}>", "tinyattn/embedding.hpp", tree)
    member = low.members.layer(path, lambda: part)
    extents = (input.view.numel(), width)
    object = low.program.activation(low.name(), extents)
    operands = whole(input.object), whole(object)
    low.program.add("static_cast<void>(", member, ".forward(", operands[0], ", ", operands[1], "));", writes=object,
                    call=(member, operands))
    return Value(object, numbered((*input.shape, width)))


@lowers("layer_norm")
def norm(low, input, normalized_shape, weight=None, bias=None, eps=1e-5, kind="LayerNorm"):
    value = low.check_floats(input)
    if len(normalized_shape) > 1:
        flat = moves.move(low, "flatten", value, (-len(normalized_shape),), {})
        weight, bias = (item and Constant(item.tensor.flatten(), item.name) for item in (weight, bias))
        normed = norm(low, flat, flat.shape[-1:], weight, bias, eps, kind)
        return moves.move(low, "reshape", normed, value.shape, {})
    width, path = normalized_shape[0], path_of(low, weight, "norm")
    weight, bias = (item and item.tensor for item in (weight, bias))
    operand = low.rows_of(value)
    weight = torch.ones(width) if weight is None else weight.detach()
    tensors = {f"{path}.weight": weight, **({} if bias is None else {f"{path}.bias": bias.detach()})}
    tree = Reader(tensors_of(tensors)).norm(path, width, "layer" if kind == "LayerNorm" else "rms",
                                            torch.tensor(eps, dtype=torch.float32).item())
    part = Part(f"::tinyattn::{kind}<{width}>", "tinyattn/normalization.hpp", tree)
    member = low.members.layer(path, lambda: part, kind, weight, bias, eps)
    return Value(low.call(member, operand, extents=operand.extents, in_place=[operand]), numbered(value.shape))


def written(low, found):
    """Computes an activation or a norm that the module writes out."""
    x = low.check_floats(low.values[found.x])
    if found.weight is None:
        return low.elementwise(x, found.function)
    *outer, last = found.name.split(".")  # a norm has the path of the module that has its weight
    weight = Constant(found.weight, ".".join([*outer, "weight"] if outer else [last]))
    return norm(low, x, x.shape[-1:], weight, Constant(found.bias, ""), found.epsilon, found.function)
