#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes reference values computed by PyTorch (CPU, float32) as JSON.

    generate.py tables  > tables.json      the worked example of the specification, step by step
    generate.py cases   > cases.json       attention of many shapes, each from a seed
    generate.py dropout > dropout.json     the same in training mode: dropout drawn from the one generator, after the inputs
    generate.py grads   > gradients.json   the same with gradients of sum(output * probe)

Needs PyTorch (Debian: python3-torch). Every number is printed with nine significant
digits, so that it reads back as the same float32. Every weight is drawn the way
torch.nn.Linear draws it after torch.manual_seed(seed), in the order in which the
modules are built: query, key, value, output projection; a weight before its bias.
"""
import json
import math
import sys

import torch
import torch.nn as nn

INPUTS = torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64],
                       [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]])


def plain(value):
    if isinstance(value, torch.Tensor):
        return plain(value.detach().tolist())
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return "-inf" if value == -math.inf else float("%.9g" % value)
    return value


class Attention(nn.Module):
    """Split-head attention as the specification states it; one head and no output projection give the simpler classes."""

    def __init__(self, d_in, d_out, num_heads=1, causal=True, qkv_bias=False, out_proj=True, out_bias=True, dropout=0.0, residual_dropout=0.0):
        super().__init__()
        self.num_heads, self.head_dim, self.causal = num_heads, d_out // num_heads, causal
        self.query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out, bias=out_bias) if out_proj else None
        self.dropout, self.residual_dropout = nn.Dropout(dropout), nn.Dropout(residual_dropout)

    def forward(self, query, key, value):
        def heads(t):
            return t.view(t.shape[0], self.num_heads, self.head_dim).transpose(0, 1)
        q, k, v = heads(self.query(query)), heads(self.key(key)), heads(self.value(value))
        scores = q @ k.transpose(1, 2)
        if self.causal:
            scores = scores.masked_fill(torch.triu(torch.ones(scores.shape[1:]), diagonal=1).bool(), -torch.inf)
        weights = torch.softmax(scores / self.head_dim ** 0.5, dim=-1)
        context = (self.dropout(weights) @ v).transpose(0, 1).reshape(query.shape[0], -1)
        return self.residual_dropout(self.out_proj(context) if self.out_proj else context), weights


def tables():
    out, inf = {}, torch.inf
    out["inputs"] = INPUTS
    scores = INPUTS @ INPUTS.T
    weights = torch.softmax(scores, -1)
    out["simple.scores"] = scores
    out["simple.scores_of_token_2_normalized_by_sum"] = scores[1] / scores[1].sum()
    out["simple.weights"] = weights
    out["simple.context"] = weights @ INPUTS

    torch.manual_seed(123)
    w_query, w_key, w_value = (torch.rand(3, 2) for _ in range(3))
    q, k, v = INPUTS @ w_query, INPUTS @ w_key, INPUTS @ w_value
    out["v1.seed"] = 123
    out["v1.w_query"], out["v1.w_key"], out["v1.w_value"] = w_query, w_key, w_value
    out["v1.keys"], out["v1.values"], out["v1.query_of_token_2"] = k, v, q[1]
    out["v1.scores_of_token_2"] = q[1] @ k.T
    out["v1.weights_of_token_2"] = torch.softmax(q[1] @ k.T / 2 ** 0.5, -1)
    out["v1.context"] = torch.softmax(q @ k.T / 2 ** 0.5, -1) @ v

    torch.manual_seed(789)
    v2 = Attention(3, 2, causal=False, out_proj=False)
    context, weights = v2(INPUTS, INPUTS, INPUTS)
    weights = weights[0]
    scores = v2.query(INPUTS) @ v2.key(INPUTS).T
    keep = torch.tril(torch.ones(6, 6))
    out["v2.seed"] = 789
    out["v2.query.weight_out_in"], out["v2.key.weight_out_in"], out["v2.value.weight_out_in"] = (
        v2.query.weight, v2.key.weight, v2.value.weight)
    out["v2.scores"], out["v2.weights"], out["v2.context"] = scores, weights, context
    out["causal.tril_of_ones"] = keep
    out["causal.weights_times_tril"] = weights * keep
    out["causal.renormalized"] = weights * keep / (weights * keep).sum(-1, keepdim=True)
    halved = torch.softmax(scores / 2 * 0.5, -1)
    out["causal.scaled_by_half_over_d_k"] = halved
    out["causal.scaled_by_half_over_d_k.renormalized"] = halved * keep / (halved * keep).sum(-1, keepdim=True)
    masked = scores.masked_fill(torch.triu(torch.ones(6, 6), diagonal=1).bool(), -inf)
    causal = torch.softmax(masked / 2 ** 0.5, -1)
    out["causal.masked_scores"], out["causal.weights"] = masked, causal
    out["causal.additive_mask_4"] = torch.triu(torch.full((4, 4), -inf), diagonal=1)

    torch.manual_seed(123)
    out["dropout.seed"], out["dropout.rate"] = 123, 0.5
    out["dropout.of_ones"] = nn.Dropout(0.5)(torch.ones(6, 6))
    torch.manual_seed(123)
    out["dropout.of_causal_weights"] = nn.Dropout(0.5)(causal)

    for name, masked_ in (("causal_attention", True), ("causal_attention_without_its_mask", False)):
        torch.manual_seed(123)
        out[name + ".seed"], out[name + ".context"] = 123, Attention(3, 2, causal=masked_, out_proj=False)(INPUTS, INPUTS, INPUTS)[0]
    for name, masked_ in (("wrapper", True), ("wrapper_without_its_mask", False)):
        torch.manual_seed(123)
        heads = [Attention(3, 2, causal=masked_, out_proj=False) for _ in range(2)]
        out[name + ".seed"] = 123
        out[name + ".context"] = torch.cat([head(INPUTS, INPUTS, INPUTS)[0] for head in heads], -1)
    torch.manual_seed(123)
    out["multi_head.seed"], out["multi_head.num_heads"] = 123, 2
    out["multi_head.context"] = Attention(3, 2, num_heads=2)(INPUTS, INPUTS, INPUTS)[0]

    q = torch.tensor([[1.0, 0.5, -0.3, 0.8]])
    k = torch.tensor([[0.9, 0.4, -0.2, 0.7], [0.8, 0.6, -0.1, 0.6], [-0.5, 0.2, 0.9, -0.4]])
    v = torch.tensor([[1.2, 0.3, 0.5, 0.9], [1.0, 0.4, 0.6, 0.8], [0.2, 0.9, 1.1, 0.1]])
    out["fruit.q"], out["fruit.k"], out["fruit.v"] = q, k, v
    out["fruit.scores"] = q @ k.T
    out["fruit.weights_unscaled"], out["fruit.weights"] = torch.softmax(q @ k.T, -1), torch.softmax(q @ k.T / 2, -1)
    out["fruit.context"] = torch.softmax(q @ k.T / 2, -1) @ v
    return {name: plain(value) for name, value in out.items()}


# tokens, d_in, d_out, num_heads, causal, qkv_bias, out_proj, out_bias, source tokens (0: self-attention), seed
PUBLIC = [(1, 4, 4, 1, 1, 0, 1, 1, 0, 1), (2, 3, 2, 2, 1, 0, 1, 1, 0, 2), (5, 8, 8, 2, 0, 0, 1, 0, 0, 3), (5, 8, 8, 2, 1, 1, 1, 1, 0, 4),
          (7, 10, 6, 3, 1, 0, 1, 1, 0, 5), (10, 16, 16, 4, 1, 0, 1, 0, 0, 6), (10, 16, 16, 4, 0, 1, 0, 0, 0, 7), (16, 12, 24, 3, 1, 1, 1, 1, 0, 8),
          (17, 33, 15, 5, 1, 0, 1, 1, 0, 9), (4, 8, 8, 2, 0, 0, 1, 1, 9, 10), (9, 20, 12, 4, 0, 1, 1, 1, 5, 11), (32, 64, 64, 4, 1, 0, 1, 1, 0, 12)]


# and the two dropout rates
PUBLIC_DROPOUT = [(6, 3, 2, 2, 1, 0, 1, 1, 0, 123, 0.5, 0.0), (9, 8, 12, 3, 1, 1, 1, 1, 0, 21, 0.1, 0.1), (20, 16, 16, 4, 0, 0, 1, 0, 0, 22, 0.25, 0.3)]


def draw(case, gradients=False):
    tokens, d_in, d_out, num_heads, causal, qkv_bias, out_proj, out_bias, source, seed = case[:10]
    dropout, residual_dropout = case[10:] or (0.0, 0.0)
    torch.manual_seed(seed)
    module = Attention(d_in, d_out, num_heads, bool(causal), bool(qkv_bias), bool(out_proj), bool(out_bias), dropout, residual_dropout)
    x = torch.rand(tokens, d_in).mul_(2).sub_(1).requires_grad_()
    memory = torch.rand(source, d_in).mul_(2).sub_(1).requires_grad_() if source else x
    result, weights = module(x, memory, memory)
    row = dict(tokens=tokens, d_in=d_in, d_out=d_out, num_heads=num_heads, causal=bool(causal), qkv_bias=bool(qkv_bias),
               out_proj=bool(out_proj), out_bias=bool(out_bias), source_tokens=source, seed=seed,
               dropout=dropout, residual_dropout=residual_dropout,
               x=plain(x), weights=plain(weights), output=plain(result))
    if source:
        row["memory"] = plain(memory)
    if gradients:
        probe = torch.rand(result.shape).mul_(2).sub_(1)
        (result * probe).sum().backward()
        row["probe"] = plain(probe)
        row["gradients"] = {name: plain(p.grad) for name, p in [("x", x)] + ([("memory", memory)] if source else []) + list(module.named_parameters())}
    return row


if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [tuple(c) for c in json.load(open(sys.argv[2]))] if len(sys.argv) > 2 else PUBLIC_DROPOUT if kind == "dropout" else PUBLIC
    if kind == "tables":
        json.dump(tables(), sys.stdout, indent=0)
    elif kind in ("cases", "dropout", "grads"):
        json.dump([draw(case, kind == "grads") for case in chosen], sys.stdout)
    else:
        sys.exit(__doc__)
