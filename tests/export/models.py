#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Attention layers of PyTorch in every layout that the exporter knows; writes their weights, and cases.json: how to export each, an
input, and PyTorch's output.

    models.py                                              those in data/
    models.py FOLDER D_IN D_OUT NUM_HEADS TOKENS SEED      others, as .pt too, and headers from memory

Needs PyTorch (Debian: python3-torch).
"""
import json
import math
import pathlib
import sys
import types
import typing

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "ports" / "pytorch"))

import export


def upper(tokens):
    return torch.triu(torch.ones(tokens, tokens), diagonal=1)


class Attention(nn.Module):
    """Scaled dot-product attention of heads that are groups of columns."""

    def __init__(self, shape, biases, projected):
        super().__init__()
        widths = (shape.d_in,) * 3 + (shape.d_out,) * projected
        self.linears = nn.ModuleList(nn.Linear(width, shape.d_out, bias) for width, bias in zip(widths, biases))

    def forward(self, x, num_heads, causal):
        query, key, value = (linear(x).view(len(x), num_heads, -1).transpose(0, 1) for linear in self.linears[:3])
        scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
        if causal:
            scores = scores.masked_fill(upper(len(x)).bool(), -torch.inf)
        context = (torch.softmax(scores, dim=-1) @ value).transpose(0, 1).flatten(1)
        return self.linears[3](context) if len(self.linears) > 3 else context


# How the layouts store such a layer, of which they get the state of each Linear: query, key, value and, if there is one, the projection.
def named(names, states):
    return {f"{name}.{key}": tensor for name, state in zip(names.split(), states) for key, tensor in state.items()}


def fused(states):
    return [{key: torch.cat([state[key] for state in states[:3]]) for key in states[0]}, *states[3:]]


def in_by_out(states):
    return [{key: tensor.t() for key, tensor in state.items()} for state in states]


def with_mask(names):
    """With the buffer that LLMs-from-scratch registers."""
    return lambda states, shape: {**named(names, states), "mask": upper(shape.tokens)}


def parameters(states, _):
    """Bare matrices, multiplied from the right."""
    return {name: state["weight"].T for name, state in zip(("W_query", "W_key", "W_value"), states)}


def multihead_attention(states, _):
    projections, out = fused(states)
    return {**{f"in_proj_{key}": tensor for key, tensor in projections.items()}, **named("out_proj", [out])}


def nanogpt(states, shape):
    lower = torch.ones(1, 1, shape.tokens, shape.tokens, dtype=torch.uint8).tril()
    return {**named("c_attn c_proj", fused(states)), "bias": lower, "masked_bias": torch.tensor(-1e4)}


def gpt2(states, shape):
    """The second layer, beside what else a GPT-2 has."""
    norm, own = nn.LayerNorm(shape.d_out).state_dict(), {**nanogpt(states, shape), **named("c_attn c_proj", in_by_out(fused(states)))}
    other = {name: torch.ones_like(tensor) for name, tensor in own.items()}
    layers = {f"h.{i}.attn.{name}": tensor for i, layer in enumerate((other, own)) for name, tensor in layer.items()}
    return {"wte.weight": torch.rand(7, shape.d_out), **layers, **named("h.0.ln_1 h.1.ln_1 ln_f", [norm] * 3)}


def stacked_heads(states, shape):
    tensors = named("proj", states[3:])
    for head in range(shape.num_heads):
        for role, state in zip(("query", "key", "value"), states):
            tensors[f"heads.{head}.{role}.weight"] = state["weight"].chunk(shape.num_heads)[head]
        tensors[f"heads.{head}.tril"] = torch.ones(shape.tokens, shape.tokens).tril()
    return tensors


W, PROJ, ALL, NONE = "W_query W_key W_value out_proj", "q_proj k_proj v_proj o_proj", (True,) * 4, (False,) * 4
MAP = "--map query=ask.weight key=match.weight value=give.weight.T out=mix.weight --causal"


class Case(typing.NamedTuple):
    layout: object  # the tensors by name, from the states and the shape
    arguments: str = "--causal"
    biases: tuple = (False, False, False, True)
    dtype: torch.dtype = torch.float32  # of the numbers in the file
    square: bool = True  # d_in is d_out
    one_head: bool = False
    projected: bool = True


CASES = {
    "w_query": Case(with_mask(W), square=False),
    "w_query_float16": Case(with_mask(W), biases=ALL, dtype=torch.float16, square=False),
    "w_query_without_projection": Case(with_mask(W), square=False, one_head=True, projected=False),
    "w_query_parameters": Case(parameters, "--no-causal", square=False, one_head=True, projected=False),
    "wq_bfloat16": Case(lambda states, _: named("wq wk wv wo", states), biases=NONE, dtype=torch.bfloat16),
    "q_proj_key_without_bias": Case(lambda states, _: named(PROJ, states), biases=(True, False, True, True)),
    "q_proj_float64": Case(lambda states, _: named(PROJ, states), "--no-causal", ALL, torch.float64),
    "multihead_attention": Case(multihead_attention, "--no-causal", ALL),
    "multihead_attention_without_bias": Case(multihead_attention, biases=NONE),
    "gpt2": Case(gpt2, "--prefix h.1.attn. --causal", ALL),
    "nanogpt": Case(nanogpt, biases=ALL),
    "qkv": Case(lambda states, _: named("qkv proj", fused(states)), "--no-causal", ALL),
    "stacked_heads": Case(stacked_heads),
    "mapped": Case(lambda states, _: named("ask match give mix", [*states[:2], *in_by_out(states[2:3]), states[3]]), MAP,
                   (True, True, True, False), square=False),
}


def nine_digits(matrix):
    """Enough to read back the same float32."""
    return [[float(f"{value:.9g}") for value in row] for row in matrix.tolist()]


def output(case, model, state, x, num_heads):
    causal = "--causal" in case.arguments
    if case.layout is not multihead_attention:
        return model(x, num_heads, causal)
    own = nn.MultiheadAttention(x.shape[1], num_heads, bias="in_proj_bias" in state)
    own.load_state_dict(state)
    return own(x, x, x, attn_mask=upper(len(x)).bool() if causal else None, need_weights=False)[0]


def write(folder, d_in, d_out, num_heads, tokens, seed, other_ways):
    torch.set_grad_enabled(False)
    cases = []
    for number, (name, case) in enumerate(CASES.items()):
        torch.manual_seed(seed + number)
        shape = types.SimpleNamespace(d_in=d_out if case.square else d_in, d_out=d_out, tokens=tokens,
                                      num_heads=1 if case.one_head else num_heads)
        model = Attention(shape, case.biases, case.projected).to(case.dtype).float()
        tensors = case.layout([linear.state_dict() for linear in model.linears], shape)
        state = {key: (tensor.to(case.dtype) if tensor.is_floating_point() else tensor).contiguous() for key, tensor in tensors.items()}
        x = torch.randn(tokens, shape.d_in)
        arguments = ["--num-heads", str(shape.num_heads), "--context-length", str(tokens), *case.arguments.split()]
        computed = {"arguments": arguments, "input": nine_digits(x), "output": nine_digits(output(case, model, state, x, shape.num_heads))}
        cases.append(f'"{name}": {json.dumps(computed)}')
        export.write_safetensors(folder / f"{name}.safetensors", state)
        if other_ways:
            torch.save(state, folder / f"{name}.pt")
            request = export.requested(export.arguments(["-", "-o", "-", *arguments]))
            export.write(folder / f"{name}.memory.hpp", export.of_state_dict(state, f"{name}.safetensors"), "model", request)
    (folder / "cases.json").write_text("{\n" + ",\n".join(cases) + "\n}\n", encoding="utf-8")


if len(sys.argv) == 1:
    write(HERE / "data", d_in=6, d_out=8, num_heads=2, tokens=5, seed=2026, other_ways=False)
else:
    write(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:]), other_ways=True)
