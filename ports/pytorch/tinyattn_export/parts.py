# SPDX-License-Identifier: MIT
"""What a header can hold: an attention layer, a Linear layer, a tensor. Each of the last three functions asks for one, and gives a
function that takes it out of a file's weights.
"""
import functools

from . import matrices
from .attention_part import attention_part
from .layouts import Place
from .part import Part, flag, source
from .refusal import Refusal, shown
from .tensors import extents

LARGEST_COUNT = 2**31 - 1  # of heads or tokens: more fits into no target's memory


def linear_part(weights, prefix, transposed):
    tensors = weights.tensors
    start = next((start for start in (prefix, prefix + ".") if start + "weight" in tensors), None)
    if start is None:
        raise Refusal(f"there is no {shown(prefix.rstrip('.') + '.weight')}, the weight of a Linear layer")
    place = Place(start + "weight", start + "bias", transposed)
    linear = matrices.linear_of(tensors, place)
    d_in, d_out, bias = linear.weight.d_in, linear.weight.d_out, linear.bias is not None
    return Part(f"::tinyattn::Linear<{d_in}, {d_out}, {flag(bias)}>", "tinyattn/linear.hpp", linear.tree(),
                f"Linear, {d_in} features to {d_out}, {'with' if bias else 'without'} bias", {"linear": source(tensors, [place])})


def tensor_part(weights, name):
    tensor = weights.tensors.get(name)
    if tensor is None:
        raise Refusal(f"there is no {shown(name)}")
    shape = tensor.shape or (1,)
    if 0 in shape:
        raise Refusal(f"{shown(name)} is {extents(shape)}: an extent must not be zero")
    values = tensor.values()
    rows = [values[first:first + shape[-1]] for first in range(0, len(values), shape[-1])]
    return Part(f"::tinyattn::Tensor<float, {', '.join(map(str, shape))}>", "tinyattn/tensor.hpp", rows, f"tensor, {extents(shape)}",
                {"tensor": str(tensor)})


def check_count(name, value):
    if type(value) is not int or not 0 < value <= LARGEST_COUNT:
        raise Refusal(f"{name} must be a number from 1 to {LARGEST_COUNT}")


def attention(prefix="", *, num_heads, context_length, causal, mapping=None, ignore=()):
    """A MultiHeadAttention. `mapping` names tensors of a layout that is not known, `ignore` those that may be left out."""
    check_count("num_heads", num_heads)
    check_count("context_length", context_length)
    if type(causal) is not bool:
        raise Refusal("causal must be true or false")
    return functools.partial(attention_part, prefix=prefix, num_heads=num_heads, context_length=context_length, causal=causal,
                             mapping=mapping, ignore=ignore)


def linear(prefix, transposed=False):
    """A Linear from prefix.weight and, if there is one, prefix.bias; transposed: the file stores in x out."""
    return functools.partial(linear_part, prefix=prefix, transposed=transposed)


def tensor(name):
    """A Tensor with the extents that it has in the file."""
    return functools.partial(tensor_part, name=name)
