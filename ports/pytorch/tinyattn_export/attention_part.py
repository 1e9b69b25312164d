# SPDX-License-Identifier: MIT
"""An attention layer out of a file: found, checked, and put together as a tinyattn::MultiHeadAttention."""
import dataclasses

from . import leftovers, matrices, search
from .layouts import INPUTS
from .part import Part, flag, source
from .refusal import Refusal, shown


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


def check_attention(found, inputs, out, num_heads):
    shapes = {role: str(linear.weight) for role, linear in inputs.items()}
    if len(set(shapes.values())) > 1:
        said = ", ".join(f"{shown(found.inputs[role][0].weight)} gives {shape}" for role, shape in shapes.items())
        raise Refusal(f"query, key and value must have the same shape, in x out, and {said}")
    width = inputs["query"].weight.d_out
    if found.heads not in (0, num_heads):
        raise Refusal(f"the file has {found.heads} stacked head{'s' * (found.heads > 1)}, not {num_heads}")
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


def attention_part(weights, prefix, num_heads, context_length, causal, mapping, ignore):
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
