#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes what PyTorch computes (CPU, float32) as JSON, a line for each tensor: tables.json, the worked example of the specification
step by step; cases.json, attention of many shapes, each from a seed; dropout.json, the same in training mode; and
../golden/printed.json, the text that PyTorch prints of the worked example.

Needs PyTorch (Debian: python3-torch and libopenblas0). Every number has nine significant digits, so that it reads back as the same
float32. Every weight is drawn the way torch.nn.Linear draws it after torch.manual_seed(seed), in the order in which the modules are
built: query, key, value, output projection; a weight before its bias. Then come the inputs, and then what dropout draws.
"""
import json
import math
import pathlib
import re
import zlib

import torch
from torch import nn, softmax, tril, triu
from torch.nn import functional

INPUTS = torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64],
                       [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]])


def masked(scores):
    """No token sees a later one."""
    return scores.masked_fill(triu(torch.ones(scores.shape[-2:]), diagonal=1).bool(), -torch.inf)


class Attention(nn.Module):
    """Split-head attention as the specification states it; one head and no output projection give the simpler classes."""

    def __init__(self, d_in, d_out, num_heads=1, causal=True, qkv_bias=False, out_proj=True, out_bias=True,
                 dropout=0.0, residual_dropout=0.0):
        super().__init__()
        self.heads, self.causal = (num_heads, d_out // num_heads), causal
        self.query, self.key, self.value = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))
        self.out_proj = nn.Linear(d_out, d_out, bias=out_bias) if out_proj else nn.Identity()
        self.dropout, self.residual_dropout = nn.Dropout(dropout), nn.Dropout(residual_dropout)

    def forward(self, query, key, value):
        projected = self.query(query), self.key(key), self.value(value)
        q, k, v = (features.unflatten(-1, self.heads).transpose(0, 1) for features in projected)
        scores = q @ k.transpose(1, 2)
        weights = softmax((masked(scores) if self.causal else scores) / self.heads[1] ** 0.5, dim=-1)
        context = (self.dropout(weights) @ v).transpose(0, 1).flatten(1)
        return self.residual_dropout(self.out_proj(context)), weights


def context_of(modules, d_out=2, **settings):
    """Of the inputs, by that many modules, one behind the other; drawn from seed 123."""
    torch.manual_seed(123)
    return torch.cat([module(INPUTS, INPUTS, INPUTS)[0] for module in [Attention(3, d_out, **settings) for _ in range(modules)]], -1)


def dropped_out(weights):
    torch.manual_seed(123)
    return nn.Dropout(0.5)(weights)


def normalized(weights):
    return weights / weights.sum(-1, keepdim=True)


def activations(x):
    return {"activation.x": x, "activation.relu": functional.relu(x), "activation.gelu": functional.gelu(x),
            "activation.gelu_tanh": functional.gelu(x, approximate="tanh"), "activation.silu": functional.silu(x),
            "activation.tanh": torch.tanh(x), "activation.erf": torch.erf(x)}


def tables():
    simple = INPUTS @ INPUTS.T

    torch.manual_seed(123)
    w_query, w_key, w_value = (torch.rand(3, 2) for _ in range(3))
    queries, keys, values = INPUTS @ w_query, INPUTS @ w_key, INPUTS @ w_value
    scores = queries @ keys.T

    torch.manual_seed(789)
    v2 = Attention(3, 2, causal=False, out_proj=False)
    v2_context, (v2_weights,) = v2(INPUTS, INPUTS, INPUTS)
    v2_scores = v2.query(INPUTS) @ v2.key(INPUTS).T
    halved = softmax(v2_scores / 2 * 0.5, -1)
    causal = softmax(masked(v2_scores) / 2 ** 0.5, -1)

    fruit_q = torch.tensor([[1.0, 0.5, -0.3, 0.8]])
    fruit_k = torch.tensor([[0.9, 0.4, -0.2, 0.7], [0.8, 0.6, -0.1, 0.6], [-0.5, 0.2, 0.9, -0.4]])
    fruit_v = torch.tensor([[1.2, 0.3, 0.5, 0.9], [1.0, 0.4, 0.6, 0.8], [0.2, 0.9, 1.1, 0.1]])
    fruit_scores = fruit_q @ fruit_k.T
    return {
        "inputs": INPUTS,
        "simple.scores": simple,
        "simple.scores_of_token_2_normalized_by_sum": normalized(simple[1]),
        "simple.weights": softmax(simple, -1), "simple.context": softmax(simple, -1) @ INPUTS,
        "v1.seed": 123, "v1.w_query": w_query, "v1.w_key": w_key, "v1.w_value": w_value,
        "v1.keys": keys, "v1.values": values, "v1.query_of_token_2": queries[1],
        "v1.scores_of_token_2": scores[1], "v1.weights_of_token_2": softmax(scores[1] / 2 ** 0.5, -1),
        "v1.context": softmax(scores / 2 ** 0.5, -1) @ values,
        "v2.seed": 789, "v2.query.weight_out_in": v2.query.weight,
        "v2.key.weight_out_in": v2.key.weight, "v2.value.weight_out_in": v2.value.weight,
        "v2.scores": v2_scores, "v2.weights": v2_weights, "v2.context": v2_context,
        "causal.tril_of_ones": tril(torch.ones(6, 6)),
        "causal.weights_times_tril": tril(v2_weights), "causal.renormalized": normalized(tril(v2_weights)),
        "causal.scaled_by_half_over_d_k": halved, "causal.scaled_by_half_over_d_k.renormalized": normalized(tril(halved)),
        "causal.masked_scores": masked(v2_scores), "causal.weights": causal,
        "causal.additive_mask_4": masked(torch.zeros(4, 4)),
        "dropout.seed": 123, "dropout.rate": 0.5,
        "dropout.of_ones": dropped_out(torch.ones(6, 6)), "dropout.of_causal_weights": dropped_out(causal),
        "causal_attention.seed": 123, "causal_attention.context": context_of(1, out_proj=False),
        "causal_attention_without_its_mask.seed": 123,
        "causal_attention_without_its_mask.context": context_of(1, out_proj=False, causal=False),
        "wrapper.seed": 123, "wrapper.context": context_of(2, out_proj=False),
        "wrapper_without_its_mask.seed": 123, "wrapper_without_its_mask.context": context_of(2, out_proj=False, causal=False),
        "multi_head.seed": 123, "multi_head.num_heads": 2, "multi_head.context": context_of(1, num_heads=2),
        "fruit.q": fruit_q, "fruit.k": fruit_k, "fruit.v": fruit_v,
        "fruit.scores": fruit_scores, "fruit.weights_unscaled": softmax(fruit_scores, -1), "fruit.weights": softmax(fruit_scores / 2, -1),
        "fruit.context": softmax(fruit_scores / 2, -1) @ fruit_v,
        **activations(torch.tensor([-9.0, -5.5, -3.25, -2.0, -1.0, -0.75, -0.5, -0.1, -1e-4, 0.0, 1e-4, 0.1, 0.5, 0.75, 1.0, 2.0, 3.25, 9.0])),
    }


def digits(*values):
    """What PyTorch prints of each."""
    return [f"{value.detach()!r}\n" for value in values]


def bits(*values):
    """The same with a checksum, as the journey has it: where something is given, drawn, masked or counted, but not summed."""
    return [f"{text}crc32 {zlib.crc32(value.detach().contiguous().numpy()):08x}\n" for text, value in zip(digits(*values), values)]


def journey(t):
    """What examples/journey prints, table by table."""
    of_two = {name: torch.stack([t[f"{name}.context"]] * 2) for name in (
        "causal_attention", "causal_attention_without_its_mask", "wrapper", "multi_head")}
    causal_context = t["causal.weights"] @ INPUTS @ t["v2.value.weight_out_in"].T
    numbered = torch.arange(24.0).view(2, 12)
    return [
        *bits(INPUTS),
        *digits(t["simple.scores"][1], t["simple.scores_of_token_2_normalized_by_sum"], t["simple.weights"][1], t["simple.weights"][1],
                t["simple.context"][1], t["simple.scores"], t["simple.weights"], t["simple.context"]),
        *bits(t["v1.w_query"], t["v1.w_key"], t["v1.w_value"]),
        *digits(INPUTS @ t["v1.w_query"], t["v1.keys"], t["v1.values"], t["v1.query_of_token_2"], t["v1.scores_of_token_2"][1],
                t["v1.scores_of_token_2"], t["v1.weights_of_token_2"], t["v1.context"][1], t["v1.context"]),
        *bits(t["v2.query.weight_out_in"], t["v2.key.weight_out_in"], t["v2.value.weight_out_in"]),
        *digits(t["v2.scores"], t["v2.weights"], t["v2.context"]),
        *bits(t["v2.key.weight_out_in"][0, :2]),  # a bias is drawn where the layer without one goes on with the key
        *bits(t["causal.tril_of_ones"]), *digits(t["causal.weights_times_tril"], t["causal.renormalized"]),
        *digits(t["causal.scaled_by_half_over_d_k"], t["causal.scaled_by_half_over_d_k.renormalized"]),
        *digits(t["causal.masked_scores"], t["causal.weights"]), *bits(t["causal.additive_mask_4"]), *digits(of_two["multi_head"]),
        *bits(t["dropout.of_ones"]), *digits(t["dropout.of_causal_weights"]),
        *digits(of_two["causal_attention"], of_two["causal_attention_without_its_mask"], of_two["wrapper"]),
        *digits(t["wrapper_without_its_mask.context"], of_two["multi_head"]),
        *bits(t["fruit.q"], t["fruit.k"], t["fruit.v"]),
        *digits(t["fruit.scores"], t["fruit.weights_unscaled"], t["fruit.weights"], t["fruit.context"], t["fruit.context"][:, :2]),
        *bits(numbered, *numbered.split(4, -1)), *digits(context_of(1, d_out=12, num_heads=3, out_proj=False)[:, 4:8]),
        *digits(t["v2.weights"], t["causal.weights"], t["v2.context"], causal_context, (t["v2.context"] - causal_context).abs().mean()),
        *bits(triu(t["causal.weights"], diagonal=1).sum()), *digits(t["v2.weights"].sum(-1), t["causal.weights"].sum(-1)),
    ]


def case(tokens, d_in, d_out, num_heads, causal=True, qkv_bias=False, out_proj=True, out_bias=True, source_tokens=0, *, seed,
         dropout=0.0, residual_dropout=0.0):
    settings = locals()
    torch.manual_seed(seed)
    module = Attention(d_in, d_out, num_heads, causal, qkv_bias, out_proj, out_bias, dropout, residual_dropout)
    x = torch.rand(tokens, d_in) * 2 - 1
    memory = torch.rand(source_tokens, d_in) * 2 - 1 if source_tokens else x
    output, weights = module(x, memory, memory)
    return {**settings, "x": x, "weights": weights, "output": output, **({"memory": memory} if source_tokens else {})}


def plain(value):
    """A tensor as lists of numbers with nine digits."""
    if value.ndim:
        return [plain(part) for part in value]
    return "-inf" if value == -math.inf else float(f"{value.item():.9g}")


def write(name, values, indent=None):
    text = json.dumps(values, default=plain, indent=indent)
    lines = re.sub(r'(?<=\]), (?=")|, (?="[\w.]+": \[|\{)', ",\n", text)  # one begins before a tensor, and after it
    (pathlib.Path(__file__).parent / name).write_text(lines + "\n", encoding="utf-8")


worked_example = tables()
write("tables.json", worked_example)
write("../golden/printed.json", journey(worked_example), indent=0)
write("cases.json", [
    case(1, 4, 4, 1, seed=1),
    case(2, 3, 2, 2, seed=2),
    case(5, 8, 8, 2, seed=3, causal=False, out_bias=False),
    case(5, 8, 8, 2, seed=4, qkv_bias=True),
    case(7, 10, 6, 3, seed=5),
    case(10, 16, 16, 4, seed=6, out_bias=False),
    case(10, 16, 16, 4, seed=7, causal=False, qkv_bias=True, out_proj=False, out_bias=False),
    case(16, 12, 24, 3, seed=8, qkv_bias=True),
    case(17, 33, 15, 5, seed=9),
    case(4, 8, 8, 2, seed=10, causal=False, source_tokens=9),
    case(9, 20, 12, 4, seed=11, causal=False, qkv_bias=True, source_tokens=5),
    case(32, 64, 64, 4, seed=12),
])
write("dropout.json", [
    case(6, 3, 2, 2, seed=123, dropout=0.5),
    case(9, 8, 12, 3, seed=21, qkv_bias=True, dropout=0.1, residual_dropout=0.1),
    case(20, 16, 16, 4, seed=22, causal=False, out_bias=False, dropout=0.25, residual_dropout=0.3),
])
