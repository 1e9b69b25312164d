# SPDX-License-Identifier: MIT
"""What functions and methods of tensors become. Arithmetic, and what is over tokens, have files of their own."""
import functools

import torch

from ..settings import ACTIVATION_FUNCTIONS, activation_of
from . import attention, composed, moves, weighted
from .elementwise import mapped
from .table import FUNCTIONS, call, lowers, name_of, title
from .values import Complex, Constant, Value, numbered, operand_of

SAME = frozenset(("contiguous clone detach to float double half bfloat16 type identity cpu long int bool "
                  "type_as requires_grad requires_grad_").split())
INSTEAD = {
    **dict.fromkeys(("sort", "argsort", "topk"), "choose after forward"), "median": "compute it after forward",
    "interpolate": "resample before forward", "batch_norm": "call torch.nn.BatchNorm1d",
    "pack_padded_sequence": "give the layer one sequence of the example's length",
}


def lower(low, node, args, kwargs):
    name = name_of(node)
    return named(low, node, args[1], args[:1], {}) if name == "getattr" else named(low, node, name, args, kwargs)


def named(low, node, name, args, kwargs):
    """Returns what a function or method of this name becomes."""
    if node.target is torch.nn.functional.unfold:
        low.refuse("there is nothing for torch.nn.functional.unfold", "a Conv2d whose kernel is its stride takes "
                   "patches")
    if any(isinstance(each, Complex) for each in args):
        return FUNCTIONS["of_complex"](low, name, *args, **kwargs)
    low.called = name
    if name in moves.MOVES:
        return moves.move(low, name, args[0], args[1:], kwargs)
    if name in SAME:
        return converted(low, node, args[0])
    if name not in FUNCTIONS:
        low.refuse(f"there is nothing for {title(node)}", INSTEAD.get(name, "compute it before or after forward, or "
                                                                     "write it with what the table of "
                                                                     "ports/pytorch/README.md has"))
    return call(low, title(node), functools.partial(FUNCTIONS[name], low), args, kwargs)


def converted(low, node, input):
    """Returns a value as another type. A boolean is 1 or 0."""
    wanted, given = low.tracer.value(node), getattr(input, "dtype", None)
    wanted = wanted.dtype if isinstance(wanted, torch.Tensor) else given
    if wanted not in (given, torch.float32, torch.int64, torch.int32, torch.bool):
        low.refuse(f"{title(node)} to {wanted}", "all steps are of float32 here")
    if given is not None and wanted == torch.bool != given:
        return mapped(low, "not_equal", input, 0)
    return mapped(low, "trunc", input) if given == torch.float32 and not wanted.is_floating_point else input


@lowers(*ACTIVATION_FUNCTIONS)
def activation(low, input, inplace=False, approximate="none"):
    return low.elementwise(input, activation_of(low.called, {"approximate": approximate}))


@lowers(*"dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout".split())
def dropout(low, input, p=0.5, training=True, inplace=False):
    if training and p:
        low.refuse("dropout in training draws random numbers",
                   "give training=self.training, and call .eval() before the export")
    return input


@lowers("softmax")
def softmax(low, input, dim=None, dtype=None, _stacklevel=None):
    if dtype not in (None, torch.float32):
        low.refuse("softmax in another type", "leave dtype out")
    input = low.check_floats(input)
    if input.view.dim() == 0 or dim is None:
        low.refuse("softmax without dim", "give dim=-1")
    return softmax_over(low, input, dim)


def softmax_over(low, value, dim):
    view = value.view.movedim(dim, -1)
    operand = operand_of(value, view)
    if operand is None:
        value = low.copied(Value(value.object, view))
        view, operand = value.view, operand_of(value)
    object = low.call("softmax", operand, extents=operand.extents, in_place=[operand])
    return Value(object, numbered(tuple(view.shape)).movedim(-1, dim))


@lowers("layer_norm")
def layer_norm(low, input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return weighted.norm(low, input, normalized_shape, weight, bias, eps)


@lowers("rms_norm")
def rms_norm(low, input, normalized_shape, weight=None, eps=None):
    epsilon = torch.finfo(torch.float32).eps if eps is None else eps
    return weighted.norm(low, input, normalized_shape, weight, None, epsilon, "RmsNorm")


@lowers("linear")
def linear(low, input, weight, bias=None):
    if not isinstance(weight, Constant) or bias is not None and not isinstance(bias, Constant) or not isinstance(
            input, Value):
        f = composed.Functions(low)
        result = f.matmul(input, f.transpose(weight, -1, -2) if len(weight.shape) > 1 else weight)
        return result if bias is None else f.add(result, bias)
    name = weight.name.removesuffix(".weight") + ("" if weight.name.endswith(".weight") else "_linear")
    return weighted.linear(low, input, weight.tensor, None if bias is None else bias.tensor, name)


@lowers("scaled_dot_product_attention")
def scaled_dot_product_attention(low, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    if dropout_p:
        low.refuse("dropout of attention weights", "give dropout_p=0.0 unless self.training")
    return attention.scaled_dot_product(low, query, key, value, attn_mask, is_causal, scale, enable_gqa)
