#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes what PyTorch computes (CPU, float32) as JSON, a line for each tensor: tables.json, the worked example of the specification
step by step; cases.json, attention of many shapes, each from a seed; dropout.json, the same in training mode; models.json, whole
models, each from a seed, of which only the outputs are kept; and ../golden/printed.json, the text that PyTorch prints of the worked
example.

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
    """Masks scores so that no token attends to a later one."""
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
    """Returns the outputs of some modules for INPUTS, next to each other; the modules are drawn from seed 123."""
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
    """Returns what PyTorch prints of each value."""
    return [f"{value.detach()!r}\n" for value in values]


def bits(*values):
    """Returns the same with a checksum, as the journey prints it: for values that are given, drawn, masked or counted, but not summed."""
    return [f"{text}crc32 {zlib.crc32(value.detach().contiguous().numpy()):08x}\n" for text, value in zip(digits(*values), values)]


def journey(t):
    """Returns what examples/journey prints, table by table."""
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
        *bits(t["v2.key.weight_out_in"][0, :2]),  # without a bias, the key would be drawn next
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


class RmsNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def turned(x, halves, base=10000):
    """Rotates pairs of features of each head by angles that grow with the position, as RoFormer; x is [heads, tokens, head_dim]."""
    tokens, dim = x.shape[1:]
    angles = torch.arange(tokens, dtype=torch.float64)[:, None] / base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    cosines, sines = angles.cos().float(), angles.sin().float()
    a, b = x.chunk(2, -1) if halves else (x[..., ::2], x[..., 1::2])
    pairs = a * cosines - b * sines, a * sines + b * cosines
    return torch.cat(pairs, -1) if halves else torch.stack(pairs, -1).flatten(-2)


class Block(nn.Module):
    """A block with the attention of this file and two norms: as GPT-2, or, gated and with fewer key heads, as Llama."""

    def __init__(self, d_model, d_hidden, num_heads, num_kv_heads, norm, activation, gated, bias, rotary):
        super().__init__()
        self.heads, self.kv_heads, self.rotary = num_heads, num_kv_heads, rotary
        self.norms = nn.ModuleList([norm(d_model), norm(d_model)])
        kv_width = d_model // num_heads * num_kv_heads
        self.query, self.key, self.value = (nn.Linear(d_model, width, bias=bias) for width in (d_model, kv_width, kv_width))
        self.out_proj, self.up = nn.Linear(d_model, d_model, bias=bias), nn.Linear(d_model, d_hidden, bias=bias)
        self.gate = nn.Linear(d_model, d_hidden, bias=bias) if gated else None
        self.down, self.activation = nn.Linear(d_hidden, d_model, bias=bias), activation

    def attention(self, x):
        q, k, v = (projected.unflatten(-1, (heads, -1)).transpose(0, 1) for projected, heads in (
            (self.query(x), self.heads), (self.key(x), self.kv_heads), (self.value(x), self.kv_heads)))
        if self.rotary != "none":
            q, k = turned(q, self.rotary == "halves"), turned(k, self.rotary == "halves")
        k, v = (part.repeat_interleave(self.heads // self.kv_heads, 0) for part in (k, v))
        weights = softmax(masked(q @ k.transpose(1, 2)) / q.shape[-1] ** 0.5, dim=-1)
        return self.out_proj((weights @ v).transpose(0, 1).flatten(1))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        y = self.norms[1](x)
        return x + self.down(self.activation(self.gate(y)) * self.up(y) if self.gate else self.activation(self.up(y)))


def scrambled_norms(module):
    """Draws weights and biases of norms, which PyTorch sets to 1 and 0, after all else; each weight before its bias."""
    for norm in module.modules():
        if isinstance(norm, (nn.LayerNorm, RmsNorm)):
            for parameter in norm.parameters():
                nn.init.uniform_(parameter, -1, 1)


def language_model(tokens, vocabulary, layers, *, seed, tied, **of_block):
    """Returns the logits of a text. Draws blocks, head unless it is tied, norms, embedding, and learned positions unless rotary."""
    torch.manual_seed(seed)
    d_model, norm = of_block["d_model"], of_block["norm"]
    blocks = nn.Sequential(*(Block(**of_block) for _ in range(layers)))
    head = None if tied else nn.Linear(d_model, vocabulary, bias=False)
    body = nn.Sequential(blocks, norm(d_model))
    scrambled_norms(body)
    embedding = torch.rand(vocabulary, d_model) * 2 - 1
    x = embedding[tokens] + (torch.rand(len(tokens), d_model) * 2 - 1 if of_block["rotary"] == "none" else 0)
    return body(x) @ (embedding if tied else head.weight).T


def encoder_layer(tokens, d_model, num_heads, d_hidden, norm_first, activation, *, seed):
    """Draws weights as Linear does, in the order of Attention and then of the feed-forward part; then norms, then x."""
    torch.manual_seed(seed)
    layer = nn.TransformerEncoderLayer(d_model, num_heads, d_hidden, dropout=0.0, activation=activation, norm_first=norm_first).train()
    torch.manual_seed(seed)
    query, key, value, out_proj = (nn.Linear(d_model, d_model) for _ in range(4))
    layer.self_attn.in_proj_weight = nn.Parameter(torch.cat([part.weight for part in (query, key, value)]))
    layer.self_attn.in_proj_bias = nn.Parameter(torch.cat([part.bias for part in (query, key, value)]))
    layer.self_attn.out_proj.load_state_dict(out_proj.state_dict())
    layer.linear1, layer.linear2 = nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)
    scrambled_norms(layer)
    return layer((torch.rand(tokens, d_model) * 2 - 1)[:, None])[:, 0]


def layer_norm(rows, dim, *, seed):
    torch.manual_seed(seed)
    norm = nn.LayerNorm(dim)
    scrambled_norms(norm)
    return norm(torch.rand(rows, dim) * 2 - 1)


def models():
    """Returns the content of models.json. ../golden/models.cpp reads it, and has the same shapes."""
    text = [3, 1, 4, 1, 5, 9, 2, 6]
    gelu_tanh = nn.GELU(approximate="tanh")
    gpt = {"d_model": 16, "d_hidden": 64, "num_heads": 4, "num_kv_heads": 4, "norm": nn.LayerNorm, "activation": gelu_tanh,
           "gated": False, "bias": True, "rotary": "none"}
    llama = {"d_model": 16, "d_hidden": 24, "num_heads": 4, "num_kv_heads": 2, "norm": RmsNorm, "activation": nn.SiLU(),
             "gated": True, "bias": False}
    return {
        "layer_norm": layer_norm(3, 20, seed=31),
        "encoder.last_relu": encoder_layer(5, 12, 3, 20, False, "relu", seed=32),
        "encoder.first_relu": encoder_layer(5, 12, 3, 20, True, "relu", seed=33),
        "encoder.last_gelu": encoder_layer(5, 12, 3, 20, False, "gelu", seed=34),
        "encoder.first_gelu": encoder_layer(5, 12, 3, 20, True, "gelu", seed=35),
        "gpt": language_model(text, 11, 2, seed=36, tied=True, **gpt),
        "llama.halves": language_model(text, 11, 2, seed=37, tied=False, rotary="halves", **llama),
        "llama.interleaved": language_model(text, 11, 3, seed=38, tied=True, rotary="interleaved", **llama),
    }


def plain(value):
    """Returns a tensor as lists of numbers with nine digits."""
    if value.ndim:
        return [plain(part) for part in value]
    return "-inf" if value == -math.inf else float(f"{value.item():.9g}")


def write(name, values, indent=None):
    text = json.dumps(values, default=plain, indent=indent)
    lines = re.sub(r'(?<=\]), (?=")|, (?="[\w.]+": \[|\{)', ",\n", text)  # a line break before and after each tensor
    (pathlib.Path(__file__).parent / name).write_text(lines + "\n", encoding="utf-8")


worked_example = tables()
write("tables.json", worked_example)
write("../golden/printed.json", journey(worked_example), indent=0)
write("models.json", models())
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
