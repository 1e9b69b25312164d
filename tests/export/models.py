# SPDX-License-Identifier: MIT
"""Attention layers as people write them in PyTorch, one for each layout that the exporter knows. Needs PyTorch."""
import dataclasses
import math

import torch
import torch.nn as nn


@dataclasses.dataclass(frozen=True)
class Shape:
    d_in: int
    d_out: int
    num_heads: int
    tokens: int

    @property
    def square(self):
        return dataclasses.replace(self, d_in=self.d_out)


def attend(query, key, value, num_heads, causal):
    """Scaled dot-product attention of heads that are groups of columns."""
    def split(t):
        return t.view(t.shape[0], num_heads, -1).transpose(0, 1)
    scores = split(query) @ split(key).transpose(1, 2) / math.sqrt(query.shape[1] // num_heads)
    if causal:
        scores = scores.masked_fill(torch.triu(torch.ones(scores.shape[1:]), diagonal=1).bool(), -torch.inf)
    return (torch.softmax(scores, dim=-1) @ split(value)).transpose(0, 1).reshape(query.shape)


class Separate(nn.Module):
    """Linear layers of any names; only the last may be missing."""

    def __init__(self, shape, names, biases=(False, False, False, True), causal=True):
        super().__init__()
        self.names, self.causal, self.num_heads = names, causal, shape.num_heads
        for name, inputs, bias in zip(names, (shape.d_in, shape.d_in, shape.d_in, shape.d_out), biases):
            self.add_module(name, nn.Linear(inputs, shape.d_out, bias=bias))

    def forward(self, x):
        query, key, value, *out = (getattr(self, name) for name in self.names)
        context = attend(query(x), key(x), value(x), self.num_heads, self.causal)
        return out[0](context) if out else context


class Masked(Separate):
    """With the buffer that LLMs-from-scratch registers."""

    def __init__(self, shape, *arguments):
        super().__init__(shape, *arguments)
        self.register_buffer("mask", torch.triu(torch.ones(shape.tokens, shape.tokens), diagonal=1))


class Parameters(nn.Module):
    """Bare matrices, multiplied from the right."""

    def __init__(self, shape):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.rand(shape.d_in, shape.d_out)) for _ in range(3))

    def forward(self, x):
        return attend(x @ self.W_query, x @ self.W_key, x @ self.W_value, 1, False)


class Torch(nn.MultiheadAttention):
    def __init__(self, shape, bias, causal):
        super().__init__(shape.d_out, shape.num_heads, bias=bias)
        self.causal = causal
        for parameter in self.parameters():  # its own biases are zeros
            nn.init.uniform_(parameter, -shape.d_out ** -0.5, shape.d_out ** -0.5)

    def forward(self, x):
        mask = torch.triu(torch.ones(len(x), len(x)), diagonal=1).bool() if self.causal else None
        return super().forward(x, x, x, attn_mask=mask, need_weights=False)[0]


class Conv1D(nn.Linear):
    """Hugging Face's, for GPT-2: a Linear layer that is stored in x out."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.weight = nn.Parameter(self.weight.T.contiguous())

    def forward(self, x):
        return x @ self.weight + self.bias


class Fused(nn.Module):
    """One matrix for queries, keys and values: GPT-2's names, nanoGPT's, or timm's."""

    def __init__(self, shape, fused, out, linear, causal=True):
        super().__init__()
        self.shape, self.fused, self.out, self.causal = shape, fused, out, causal
        self.add_module(fused, linear(shape.d_out, 3 * shape.d_out))
        self.add_module(out, linear(shape.d_out, shape.d_out))
        if causal:
            square = torch.ones(shape.tokens, shape.tokens, dtype=torch.uint8)
            self.register_buffer("bias", torch.tril(square).view(1, 1, shape.tokens, shape.tokens))
            self.register_buffer("masked_bias", torch.tensor(-1e4))

    def forward(self, x):
        query, key, value = getattr(self, self.fused)(x).split(self.shape.d_out, dim=1)
        return getattr(self, self.out)(attend(query, key, value, self.shape.num_heads, self.causal))


class Head(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(shape.d_out, shape.d_out // shape.num_heads, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(shape.tokens, shape.tokens)))

    def forward(self, x):
        return attend(self.query(x), self.key(x), self.value(x), 1, True)


class Stacked(nn.Module):
    """Heads beside each other, each with layers of its own."""

    def __init__(self, shape):
        super().__init__()
        self.heads = nn.ModuleList(Head(shape) for _ in range(shape.num_heads))
        self.proj = nn.Linear(shape.d_out, shape.d_out)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=1))


class Odd(nn.Module):
    """Names that nobody can know, and one matrix that is stored in x out."""

    def __init__(self, shape):
        super().__init__()
        self.num_heads = shape.num_heads
        self.ask, self.match = nn.Linear(shape.d_in, shape.d_out), nn.Linear(shape.d_in, shape.d_out)
        self.give = Conv1D(shape.d_in, shape.d_out)
        self.mix = nn.Linear(shape.d_out, shape.d_out, bias=False)

    def forward(self, x):
        return self.mix(attend(self.ask(x), self.match(x), self.give(x), self.num_heads, True))


class Language(nn.Module):
    """Around two layers what else a GPT-2 has."""

    def __init__(self, shape):
        super().__init__()
        self.wte, self.ln_f = nn.Embedding(7, shape.d_out), nn.LayerNorm(shape.d_out)
        self.h = nn.ModuleList(
            nn.ModuleDict({"ln_1": nn.LayerNorm(shape.d_out), "attn": Fused(shape, "c_attn", "c_proj", Conv1D)}) for _ in range(2))

    def forward(self, x):
        return self.h[1]["attn"](x)


@dataclasses.dataclass(frozen=True)
class Case:
    """A layer, what the exporter must be told beside the number of heads, and the type of the numbers in the file."""

    model: object  # makes it from a shape
    arguments: str = ""
    dtype: torch.dtype = torch.float32
    one_head: bool = False
    square: bool = True  # d_in is d_out

    def shape(self, shape):
        shape = shape.square if self.square else shape
        return dataclasses.replace(shape, num_heads=1) if self.one_head else shape


W_NAMES = ("W_query", "W_key", "W_value", "out_proj")
PROJ_NAMES = ("q_proj", "k_proj", "v_proj", "o_proj")

CASES = {
    "w_query": Case(lambda shape: Masked(shape, W_NAMES), square=False),
    "w_query_float16": Case(lambda shape: Masked(shape, W_NAMES, (True,) * 4), dtype=torch.float16, square=False),
    "w_query_without_projection": Case(lambda shape: Masked(shape, W_NAMES[:3]), one_head=True, square=False),
    "w_query_parameters": Case(Parameters, "--no-causal", one_head=True, square=False),
    "wq_bfloat16": Case(lambda shape: Separate(shape, ("wq", "wk", "wv", "wo"), (False,) * 4), dtype=torch.bfloat16),
    "q_proj_key_without_bias": Case(lambda shape: Separate(shape, PROJ_NAMES, (True, False, True, True))),
    "q_proj_float64": Case(lambda shape: Separate(shape, PROJ_NAMES, (True,) * 4, False), "--no-causal", torch.float64),
    "multihead_attention": Case(lambda shape: Torch(shape, True, False), "--no-causal"),
    "multihead_attention_without_bias": Case(lambda shape: Torch(shape, False, True)),
    "gpt2": Case(Language, "--prefix h.1.attn."),
    "nanogpt": Case(lambda shape: Fused(shape, "c_attn", "c_proj", nn.Linear)),
    "qkv": Case(lambda shape: Fused(shape, "qkv", "proj", nn.Linear, False), "--no-causal"),
    "stacked_heads": Case(Stacked),
    "mapped": Case(Odd, "--map query=ask.weight key=match.weight value=give.weight.T out=mix.weight", square=False),
}


def computed(case, shape, seed):
    """A state_dict as a file has it, an input, and what the model makes of it in float32."""
    torch.manual_seed(seed)
    shape = case.shape(shape)
    model = case.model(shape)
    state = {name: tensor.to(case.dtype) if tensor.is_floating_point() else tensor for name, tensor in model.state_dict().items()}
    model.load_state_dict(state)
    x = torch.randn(shape.tokens, shape.d_in)
    with torch.no_grad():
        return state, x, model(x)


def arguments(case, shape):
    said = case.arguments.split()
    return ["--num-heads", str(case.shape(shape).num_heads), "--context-length", str(shape.tokens), *said,
            *(() if "--no-causal" in said else ("--causal",))]
