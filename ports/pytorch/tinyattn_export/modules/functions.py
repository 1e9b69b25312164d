# SPDX-License-Identifier: MIT
"""What functions and methods of tensors become. Arithmetic, and what is over tokens, have files of their own."""
import torch

from ..settings import ACTIVATION_FUNCTIONS, activation_of
from . import attention, small_numbers, weighted
from .elementwise import mapped
from .table import Functions, lowers, title
from .values import Constant, Value, numbered, operand_of


@lowers(*("contiguous clone detach to float double half bfloat16 type identity cpu long int bool type_as requires_grad "
          "requires_grad_").split())
def converted(low, input, *others, **more):
    """Returns a value as another type. A boolean is 1 or 0."""
    wanted, given = low.tracer.value(low.node), getattr(input, "dtype", None)
    wanted = wanted.dtype if isinstance(wanted, torch.Tensor) else given
    if wanted not in (given, torch.float32, torch.int64, torch.int32, torch.bool):
        low.refuse(f"{title(low.node)} to {wanted}", "all steps are of float32 here")
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
    value = low.check_floats(input)
    if value.view.dim() == 0 or dim is None:
        low.refuse("softmax without dim", "give dim=-1")
    if small_numbers.matter(low.tracer, low.node):
        f = Functions(low)
        return f.exp(f.log_softmax(value, dim))
    view = value.view.movedim(dim, -1)
    operand = operand_of(value, view)
    if operand is None:
        value = low.copied(Value(value.object, view))
        view, operand = value.view, operand_of(value)
    object = low.call("softmax", operand, extents=operand.extents, in_place=[operand])
    return Value(object, numbered(tuple(view.shape)).movedim(-1, dim))


@lowers("rms_norm")
def rms_norm(low, input, normalized_shape, weight=None, eps=None):
    epsilon = torch.finfo(torch.float32).eps if eps is None else eps
    return weighted.norm(low, input, normalized_shape, weight, None, epsilon, "RmsNorm")


@lowers("linear")
def linear(low, input, weight, bias=None):
    if not isinstance(weight, Constant) or bias is not None and not isinstance(bias, Constant) or not isinstance(
            input, Value):
        f = Functions(low)
        result = f.matmul(input, f.transpose(weight, -1, -2) if len(weight.shape) > 1 else weight)
        return result if bias is None else f.add(result, bias)
    path = weighted.path_of(low, weight, "linear")
    return weighted.linear(low, input, weight.tensor, bias and bias.tensor, path)


@lowers("scaled_dot_product_attention")
def scaled_dot_product_attention(low, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    if dropout_p:
        low.refuse("dropout of attention weights", "give dropout_p=0.0 unless self.training")
    return attention.scaled_dot_product(low, query, key, value, attn_mask, is_causal, scale, enable_gqa)
