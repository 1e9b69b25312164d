# SPDX-License-Identifier: MIT
"""What functions and methods of tensors become. Arithmetic, and what is over tokens, have files of their own."""
import torch

from . import attention, moves, weighted
from .table import FUNCTIONS, lowers, name_of, title
from .values import Constant, Value, numbered, operand_of

SAME = frozenset("contiguous clone detach to float double half bfloat16 type identity requires_grad_ cpu".split())
INSTEAD = {
    "einsum": "write it with transpose and matmul",
    "tanh": "ReLU, GELU and SiLU are the activations here", "sigmoid": "compute it of the logits after forward",
    "log_softmax": "compute softmax; the largest logit is the same", "argmax": "call tinyattn::argmax of the output",
    "rsqrt": "write the norm as torch.nn.LayerNorm or torch.nn.RMSNorm", "sort": "sort after forward",
    "topk": "choose after forward", "max_pool1d": "write x.unfold(2, kernel, stride).amax(dim=-1)",
    "avg_pool1d": "write x.unfold(2, kernel, stride).mean(dim=-1)",
    "batch_norm": "call torch.nn.BatchNorm1d", "setitem": "join what is to be written with torch.cat",
    **dict.fromkeys(("gt", "lt", "ge", "le", "eq", "ne", "where", "isnan"),
                    "make masks of constants, and choose between values after forward"),
    "repeat_interleave": "enable_gqa=True shares keys, and expand with reshape repeats heads",
    "interpolate": "resample before forward", "pad": "join zeros with torch.cat, or the padding of Conv1d",
}


def lower(low, node, args):
    name = name_of(node)
    if name == "getattr":
        name, args = args.args[1], type(args)(args.args[:1], {})
    return named(low, node, name, args)


def named(low, node, name, args):
    """Returns what a function or method of this name becomes."""
    if node.target is torch.nn.functional.unfold:
        low.refuse("there is nothing for torch.nn.functional.unfold", "a Conv2d whose kernel is its stride takes "
                   "patches")
    if name in moves.MOVES:
        return moves.move(low, node, name, args)
    if name in SAME:
        value, wanted = args.take("input", "self"), low.tracer.value(node)
        if isinstance(wanted, torch.Tensor) and wanted.dtype not in (torch.float32, torch.int64, torch.int32):
            low.refuse(f"{title(node)} to {wanted.dtype}", "all steps are of float32 here")
        return value
    if name not in FUNCTIONS:
        low.refuse(f"there is nothing for {title(node)}", INSTEAD.get(name, "compute it before or after forward, or "
                                                                     "write it with what the table of "
                                                                     "ports/pytorch/README.md has"))
    args.name = name
    result = FUNCTIONS[name](low, args)
    if args.rest():
        low.refuse(f"{title(node)} has an argument that is not known here, {args.rest()[0]}", "leave it out")
    return result


@lowers("relu", "silu")
def activation(low, args):
    value = args.take("input")
    args.take("inplace")
    return low.elementwise(value, args.name)


@lowers("gelu")
def gelu(low, args):
    value, approximate = args.take("input"), args.take("approximate", default="none")
    return low.elementwise(value, "gelu_tanh" if approximate == "tanh" else "gelu")


@lowers("dropout", "dropout1d", "alpha_dropout", "feature_dropout")
def dropout(low, args):
    value, rate = args.take("input"), args.take("p", default=0.5)
    training = args.take("training", default=True)
    args.take("inplace")
    if training and rate:
        low.refuse("dropout in training draws random numbers",
                   "give training=self.training, and call .eval() before the export")
    return value


@lowers("softmax")
def softmax(low, args):
    value = args.take("input")
    dim = args.take("dim")
    args.drop("_stacklevel")
    if args.take("dtype") not in (None, torch.float32):
        low.refuse("softmax in another type", "leave dtype out")
    return softmax_over(low, value, dim)


def softmax_over(low, value, dim):
    low.check_floats(value)
    if dim is None:
        low.refuse("softmax without dim", "give dim=-1")
    view = value.view.movedim(dim, -1)
    operand = operand_of(value, view)
    if operand is None:
        value = low.copied(Value(value.object, view))
        view, operand = value.view, operand_of(value)
    object = low.call("softmax", operand, extents=operand.extents, in_place=[operand])
    return Value(object, numbered(tuple(view.shape)).movedim(-1, dim))


@lowers("layer_norm")
def layer_norm(low, args):
    value, shape = args.take("input"), args.take("normalized_shape")
    weight, bias, epsilon = args.take("weight"), args.take("bias"), args.take("eps", default=1e-5)
    return weighted.norm(low, value, shape, weight, bias, epsilon, weighted.path_of_norm(low, weight))


@lowers("rms_norm")
def rms_norm(low, args):
    value, shape, weight, epsilon = map(args.take, ("input", "normalized_shape", "weight", "eps"))
    return weighted.rms_norm_of(low, value, shape, weight, epsilon, weighted.path_of_norm(low, weight))


@lowers("linear")
def linear(low, args):
    value, weight, bias = args.take("input"), args.take("weight"), args.take("bias")
    if not isinstance(weight, Constant) or bias is not None and not isinstance(bias, Constant):
        low.refuse("the weight of linear depends on the input", "write x @ y for two results of steps")
    name = weight.name.removesuffix(".weight") + ("" if weight.name.endswith(".weight") else "_linear")
    return weighted.linear(low, value, weight.tensor, None if bias is None else bias.tensor, name)


@lowers("matmul", "bmm", "mm")
def matmul(low, args):
    a, b = args.take("input"), args.take("other", "mat2")
    return attention.product(low, a, b)


@lowers("masked_fill")
def masked_fill(low, args):
    value, mask, number = args.take("input"), args.take("mask"), args.take("value")
    return attention.masked_fill(low, value, mask, number)


@lowers("scaled_dot_product_attention")
def scaled_dot_product_attention(low, args):
    query, key, value = args.take("query"), args.take("key"), args.take("value")
    mask, rate = args.take("attn_mask"), args.take("dropout_p", default=0.0)
    causal, scale = args.take("is_causal", default=False), args.take("scale")
    shares_keys = args.take("enable_gqa", default=False)
    if rate:
        low.refuse("dropout of attention weights", "give dropout_p=0.0 unless self.training")
    return attention.scaled_dot_product(low, query, key, value, mask, causal, scale, shares_keys)
