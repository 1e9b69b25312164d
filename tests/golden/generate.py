#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes what PyTorch computes (CPU, float32): values.hpp, a line for each tensor, with the worked example of the specification step by
step, and attention of many shapes; and printed.json, the text that PyTorch prints of the worked example.

Needs PyTorch (Debian: python3-torch and libopenblas0). Every weight is drawn the way torch.nn.Linear draws it after
torch.manual_seed(seed), in the order in which the modules are built: query, key, value, output projection; a weight before its bias. Then
come the inputs, and then what dropout draws.
"""
import json
import pathlib
import zlib

import torch
from numbers_in_cpp import constant, literals, write
from torch import nn, softmax, tril, triu

INPUTS = torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64],
                       [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]])


def drawn(*shape):
    return torch.rand(*shape) * 2 - 1


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


# --- The worked example ---

def context_of(modules, d_out=2, **settings):
    """Returns the outputs of some modules for INPUTS, next to each other; the modules are drawn from seed 123."""
    torch.manual_seed(123)
    return torch.cat([module(INPUTS, INPUTS, INPUTS)[0] for module in [Attention(3, d_out, **settings) for _ in range(modules)]], -1)


def dropped_out(weights):
    torch.manual_seed(123)
    return nn.Dropout(0.5)(weights)


def normalized(weights):
    return weights / weights.sum(-1, keepdim=True)


def worked_example():
    """Returns the tables of examples/journey in their order: names for those that values.hpp has too, numbers for the others."""
    simple = INPUTS @ INPUTS.T
    simple_weights = softmax(simple, -1)

    torch.manual_seed(123)
    w_query, w_key, w_value = (torch.rand(3, 2) for _ in range(3))
    queries, keys, values = INPUTS @ w_query, INPUTS @ w_key, INPUTS @ w_value
    scores = queries @ keys.T
    context = softmax(scores / 2 ** 0.5, -1) @ values

    torch.manual_seed(789)
    v2 = Attention(3, 2, causal=False, out_proj=False)
    v2_context, (v2_weights,) = v2(INPUTS, INPUTS, INPUTS)
    v2_scores = v2.query(INPUTS) @ v2.key(INPUTS).T
    halved = softmax(v2_scores / 2 * 0.5, -1)
    causal = softmax(masked(v2_scores) / 2 ** 0.5, -1)
    causal_context = causal @ INPUTS @ v2.value.weight.T
    split = context_of(1, num_heads=2)

    fruit_q = torch.tensor([[1.0, 0.5, -0.3, 0.8]])
    fruit_k = torch.tensor([[0.9, 0.4, -0.2, 0.7], [0.8, 0.6, -0.1, 0.6], [-0.5, 0.2, 0.9, -0.4]])
    fruit_v = torch.tensor([[1.2, 0.3, 0.5, 0.9], [1.0, 0.4, 0.6, 0.8], [0.2, 0.9, 1.1, 0.1]])
    fruit_scores = fruit_q @ fruit_k.T
    fruit_context = softmax(fruit_scores / 2, -1) @ fruit_v
    numbered = torch.arange(24.0).view(2, 12)
    return [
        *bits(inputs=INPUTS), *digits(simple[1]), *digits(simple_normalized=normalized(simple[1])),
        *digits(*[simple_weights[1]] * 2, (simple_weights @ INPUTS)[1]),
        *digits(simple_scores=simple, simple_weights=simple_weights, simple_context=simple_weights @ INPUTS),
        *bits(v1_w_query=w_query, v1_w_key=w_key, v1_w_value=w_value), *digits(queries), *digits(v1_keys=keys, v1_values=values),
        *digits(v1_query_of_token_2=queries[1]), *digits(scores[1, 1]), *digits(v1_scores_of_token_2=scores[1]),
        *digits(v1_weights_of_token_2=softmax(scores[1] / 2 ** 0.5, -1)), *digits(context[1]), *digits(v1_context=context),
        *bits(v2_query=v2.query.weight, v2_key=v2.key.weight, v2_value=v2.value.weight),
        *digits(v2_scores=v2_scores, v2_weights=v2_weights, v2_context=v2_context),
        *bits(v2.key.weight[0, :2]),  # without a bias, the key would be drawn next
        *bits(tril_of_ones=tril(torch.ones(6, 6))), *digits(tril_of_weights=tril(v2_weights), renormalized=normalized(tril(v2_weights))),
        *digits(halved=halved, halved_renormalized=normalized(tril(halved)), masked_scores=masked(v2_scores), causal_weights=causal),
        *bits(causal_mask_4=masked(torch.zeros(4, 4))), *digits(of_two(split)),
        *bits(dropout_of_ones=dropped_out(torch.ones(6, 6))), *digits(dropout_of_causal_weights=dropped_out(causal)),
        *digits(causal_attention=of_two(context_of(1, out_proj=False)),
                self_attention=of_two(context_of(1, out_proj=False, causal=False)),
                stacked_heads=of_two(context_of(2, out_proj=False)), two_heads=context_of(2, out_proj=False, causal=False),
                split_heads=of_two(split)),
        *bits(fruit_q=fruit_q, fruit_k=fruit_k, fruit_v=fruit_v),
        *digits(fruit_scores=fruit_scores, fruit_weights_unscaled=softmax(fruit_scores, -1),
                fruit_weights=softmax(fruit_scores / 2, -1), fruit_context=fruit_context),
        *digits(fruit_context[:, :2]),
        *bits(numbered, *numbered.split(4, -1)), *digits(context_of(1, d_out=12, num_heads=3, out_proj=False)[:, 4:8]),
        *digits(v2_weights, causal, v2_context, causal_context, (v2_context - causal_context).abs().mean()),
        *bits(triu(causal, diagonal=1).sum()), *digits(v2_weights.sum(-1), causal.sum(-1)),
    ]


def of_two(context):
    return torch.stack([context, context])


def digits(*unnamed, **named):
    """Returns name, value and what PyTorch prints of it."""
    return [(name, value, f"{value.detach()!r}\n") for name, value in [*((None, value) for value in unnamed), *named.items()]]


def bits(*unnamed, **named):
    """Returns the same with a checksum, as the journey prints it: for values that are given, drawn, masked or counted, but not summed."""
    return [(name, value, f"{text}crc32 {zlib.crc32(value.detach().contiguous().numpy()):08x}\n")
            for name, value, text in digits(*unnamed, **named)]


# --- Over tokens: a convolution whose first and last row have padding, reductions, and samples that are scaled ---

def over_tokens():
    torch.manual_seed(123)
    module = nn.Conv1d(3, 4, 3, stride=2, padding=1)
    mean, inverse_deviation = INPUTS.mean(0), INPUTS.std(0).reciprocal()
    return {"conv1d_weight": module.weight, "conv1d_bias": module.bias, "conv1d_out": module(INPUTS.T).T, "mean_of_inputs": mean,
            "largest_of_inputs": INPUTS.amax(0), "inverse_deviation": inverse_deviation,
            "standardized": (INPUTS - mean) * inverse_deviation}


def recurrent(kind):
    torch.manual_seed(123)
    module = getattr(nn, kind.upper())(3, 4)
    return {f"{kind}_{name}": tensor for name, tensor in [*module.named_parameters(), ("out", module(INPUTS)[0])]}


def biased():
    torch.manual_seed(123)
    module, mask = nn.MultiheadAttention(3, 3, bias=False, add_bias_kv=True, add_zero_attn=True), torch.rand(3, 6, 6)
    out, weights = module(INPUTS, INPUTS, INPUTS, attn_mask=mask, average_attn_weights=False)
    query, key, value = module.in_proj_weight.chunk(3)
    tensors = {"query": query, "key": key, "value": value, "projection": module.out_proj.weight, "k": module.bias_k[0],
               "v": module.bias_v[0], "mask": mask, "out": out, "weights": weights}
    return {f"biased_{name}": tensor for name, tensor in tensors.items()}


# --- Normal numbers: a multiple of sixteen, and another number, of which the last sixteen are drawn again ---

def normal():
    torch.manual_seed(123)
    return {"normal_32": torch.randn(32), "normal_37": torch.randn(37)}


# --- Attention of many shapes; with rates of dropout, a training pass ---

# Seed, tokens, source tokens, features of inputs and outputs, heads, and the other fields of AttentionConfig, in their order.
CASES = [
    (1, 1, 1, 4, 4, 1, {}),
    (2, 2, 2, 3, 2, 2, {}),
    (3, 5, 5, 8, 8, 2, {"causal": False, "out_bias": False}),
    (4, 5, 5, 8, 8, 2, {"qkv_bias": True}),
    (5, 7, 7, 10, 6, 3, {}),
    (6, 10, 10, 16, 16, 4, {"out_bias": False}),
    (7, 10, 10, 16, 16, 4, {"causal": False, "qkv_bias": True, "out_proj": False, "out_bias": False}),
    (8, 16, 16, 12, 24, 3, {"qkv_bias": True}),
    (9, 17, 17, 33, 15, 5, {}),
    (10, 4, 9, 8, 8, 2, {"causal": False}),
    (11, 9, 5, 20, 12, 4, {"causal": False, "qkv_bias": True}),
    (12, 32, 32, 64, 64, 4, {}),
    (123, 6, 6, 3, 2, 2, {"dropout": 0.5}),
    (21, 9, 9, 8, 12, 3, {"qkv_bias": True, "dropout": 0.1, "residual_dropout": 0.1}),
    (22, 20, 20, 16, 16, 4, {"causal": False, "out_bias": False, "dropout": 0.25, "residual_dropout": 0.3}),
]


def recorded(seed, tokens, source_tokens, d_in, d_out, num_heads, more):
    """Returns a case in C++: its name, seed, input, weights and output, and the input of keys and values if that is another one."""
    torch.manual_seed(seed)
    module = Attention(d_in, d_out, num_heads, **more)
    x = drawn(tokens, d_in)
    memory = [drawn(source_tokens, d_in)] if source_tokens != tokens else []
    output, weights = module(x, *(memory or [x]) * 2)
    fields = {"d_in": d_in, "d_out": d_out, "context_length": max(tokens, source_tokens), "num_heads": num_heads, **more}
    config = ", ".join(f".{name} = {json.dumps(value)}" for name, value in fields.items())
    name = f"{tokens} x {source_tokens} tokens, {d_in} -> {d_out}, {num_heads} heads, seed {seed}"
    tensors = ",\n".join(literals(tensor) for tensor in (x, weights, output, *memory))
    return (f"inline constexpr Recorded<AttentionConfig{{{config}}}, {tokens}, {source_tokens}> "
            f'case_{seed}{{"{name}", {seed},\n{tensors}}};')


example = worked_example()
named = {name: value for name, value, _ in example if name}
lines = [constant(*item) for item in (named | over_tokens() | recurrent("gru") | recurrent("lstm") | biased() | normal()).items()] + [recorded(*case) for case in CASES]
lines.append(f"using Cases = List<{', '.join(f'case_{seed}' for seed, *_ in CASES)}>;")
write("values.hpp", "Values computed by PyTorch", __file__, "golden.hpp", reference=lines)
texts = json.dumps([text for _, _, text in example], indent=0)
pathlib.Path(__file__).with_name("printed.json").write_text(texts + "\n", encoding="utf-8")
