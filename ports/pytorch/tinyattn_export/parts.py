# SPDX-License-Identifier: MIT
"""What a header can hold: an attention layer, a Linear layer, a tensor. Each function below asks for one, and gives a function that
takes it out of a file's weights.
"""
import dataclasses
import functools

from . import leftovers, matrices, search
from .layouts import INPUTS, Place
from .refusal import Refusal, shown
from .tensors import extents


@dataclasses.dataclass(frozen=True)
class Part:
    """One object of the header."""

    type: str  # in C++
    header: str  # of tinyattn, that has the type
    tree: object  # members in the order of the type: a dict of trees, or a list of rows
    summary: str
    sources: dict  # what each member is made of
    remarks: list = dataclasses.field(default_factory=list)

    def rows(self):
        """All numbers, in the order in which they lie in memory."""
        def of(tree):
            return [row for member in tree.values() for row in of(member)] if isinstance(tree, dict) else tree
        return of(self.tree)

    @property
    def parameter_count(self):
        return sum(map(len, self.rows()))


def flag(value):
    return "true" if value else "false"


def config(inputs, out, num_heads, context_length, causal):
    query = inputs["query"]
    return (f"::tinyattn::AttentionConfig{{.d_in = {query.weight.d_in}, .d_out = {query.weight.d_out}, .context_length = {context_length}, "
            f".num_heads = {num_heads}, .causal = {flag(causal)}, .qkv_bias = {flag(query.bias is not None)}, "
            f".out_proj = {flag(out)}, .out_bias = {flag(out and out.bias is not None)}}}")


def summary(inputs, out, num_heads, context_length, causal):
    query = inputs["query"]
    projection = ("an output projection " + ("with" if out.bias is not None else "without") + " bias") if out else "no output projection"
    return (f"attention, {query.weight.d_in} features to {query.weight.d_out}, {num_heads} {'head' if num_heads == 1 else 'heads'}, "
            f"{'causal' if causal else 'not causal'}, at most {context_length} tokens, queries, keys and values "
            f"{'with' if query.bias is not None else 'without'} bias, {projection}")


def source(tensors, places):
    """What a Linear layer is made of, for people."""
    said = []
    for place in places:
        block = f", part {place.block + 1} of {place.blocks}" if place.blocks > 1 else ""
        stored = ", stored in x out" if place.in_by_out else ""
        said.append(f"{tensors[place.weight]}{stored}{block}" + (f" and {tensors[place.bias]}" if place.bias in tensors else ""))
    return "; ".join(said)


def check_attention(found, inputs, out, num_heads):
    shapes = {role: str(linear.weight) for role, linear in inputs.items()}
    if len(set(shapes.values())) > 1:
        said = ", ".join(f"{shown(found.inputs[role][0].weight)} gives {shape}" for role, shape in shapes.items())
        raise Refusal(f"query, key and value must have the same shape, in x out, and {said}")
    width = inputs["query"].weight.d_out
    if len(found.inputs["query"]) not in (1, num_heads):
        raise Refusal(f"the file has {len(found.inputs['query'])} stacked heads, not {num_heads}")
    if width % num_heads:
        raise Refusal(f"{width} outputs cannot be divided among {num_heads} heads")
    if out and str(out.weight) != f"{width} x {width}":
        raise Refusal(f"{shown(found.out.weight)} has the wrong shape, {out.weight} in x out: the heads have {width} outputs together, "
                      f"and their projection is {width} x {width}")


def fill_biases(inputs):
    """All three have a bias, or none. A bias of zeros changes nothing."""
    without = [role for role, linear in inputs.items() if linear.bias is None]
    if len(without) in (0, len(inputs)):
        return inputs, []
    filled = {role: dataclasses.replace(linear, bias=matrices.zeros(linear.weight.d_out)) if role in without else linear
              for role, linear in inputs.items()}
    return filled, [f"{' and '.join(without)} without a bias: filled with zeros, since others have one"]


def attention_of(weights, prefix, num_heads, context_length, causal, mapping, ignore):
    tensors = weights.tensors
    found = search.find(tensors, prefix, mapping)
    remarks = leftovers.remarks(tensors, found, ignore)
    inputs = {role: matrices.side_by_side([matrices.linear_of(tensors, place) for place in found.inputs[role]]) for role in INPUTS}
    out = matrices.linear_of(tensors, found.out) if found.out else None
    check_attention(found, inputs, out, num_heads)
    inputs, filled = fill_biases(inputs)
    linears = {**inputs, **({"out_proj": out} if out else {})}
    places = {**found.inputs, **({"out_proj": [found.out]} if out else {})}
    return Part(
        type=f"::tinyattn::MultiHeadAttention<{config(inputs, out, num_heads, context_length, causal)}>",
        header="tinyattn/multi_head_attention.hpp",
        tree={role: linear.tree() for role, linear in linears.items()},
        summary=summary(inputs, out, num_heads, context_length, causal),
        sources={role: source(tensors, places[role]) for role in places},
        remarks=[f"layout: {found.title}" + (f", at {shown(found.prefix)}" if found.prefix else ""), *filled, *remarks])


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


def attention(prefix="", num_heads=1, context_length=1024, causal=True, mapping=None, ignore=()):
    """A MultiHeadAttention. `mapping` names tensors of a layout that is not known, `ignore` those that may be left out."""
    if num_heads < 1 or context_length < 1:
        raise Refusal("num_heads and context_length must not be zero")
    return functools.partial(attention_of, prefix=prefix, num_heads=num_heads, context_length=context_length, causal=causal,
                             mapping=mapping, ignore=ignore)


def linear(prefix, transposed=False):
    """A Linear from prefix.weight and, if there is one, prefix.bias; transposed: the file stores in x out."""
    return functools.partial(linear_part, prefix=prefix, transposed=transposed)


def tensor(name):
    """A Tensor with the extents that it has in the file."""
    return functools.partial(tensor_part, name=name)
