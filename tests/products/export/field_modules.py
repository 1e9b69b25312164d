# SPDX-License-Identifier: MIT
"""Small versions of modules as people write them."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from examples.book.gpt import CausalAttention, GPTModel
from tests.products.export.from_books import HappyTransformer, Listener, OwnLayerNorm, RawKeywords


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, dropout=0.1, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width))

    def forward(self, x):
        h = self.norm1(x)
        y, weights = self.attention(h, h, h)
        x = x + y
        return x + self.mlp(self.norm2(x))


class Gestures(nn.Module):
    """Gestures of an inertial sensor: samples are standardized with buffers, blocks are in a ModuleList."""

    def __init__(self, width=16):
        super().__init__()
        self.register_buffer("mean", torch.rand(6))
        self.register_buffer("std", torch.rand(6) + 0.5)
        self.embed = nn.Linear(6, width)
        self.cls = nn.Parameter(torch.randn(width))
        self.register_buffer("positions", torch.randn(17, width), persistent=False)
        self.blocks = nn.ModuleList([Block(width, 2) for _ in range(2)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        x = self.embed((x - self.mean) / self.std)
        cls = self.cls.view(1, 1, -1).repeat(x.size(0), 1, 1)
        x = torch.cat([cls, x], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class PatchViT(nn.Module):
    """Patches of 8 x 8 pixels by a Conv2d."""

    def __init__(self, width=16):
        super().__init__()
        self.patch = nn.Conv2d(1, width, kernel_size=8, stride=8)
        self.pos = nn.Parameter(torch.randn(1, 6, width))
        layer = nn.TransformerEncoderLayer(width, 2, 32, activation=F.gelu, norm_first=True, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, 4)

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2) + self.pos
        return self.head(self.encoder(x).mean(dim=1))


class Functional(nn.Module):
    """Uses torch.nn.functional only."""

    def __init__(self, width=12):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(24, 6) * 0.3)
        self.b1 = nn.Parameter(torch.randn(24))
        self.w2 = nn.Parameter(torch.randn(width, 24) * 0.3)
        self.gain, self.bias = nn.Parameter(torch.rand(width)), nn.Parameter(torch.rand(width))
        self.scale = nn.Parameter(torch.tensor(0.7))

    def forward(self, x):
        x = F.dropout(F.relu(F.linear(x, self.w1, self.b1)), 0.2, training=self.training)
        x = F.layer_norm(F.linear(x, self.w2), (12,), self.gain, self.bias)
        x = self.scale * F.gelu(x, approximate="tanh") + 0.25
        return F.softmax(torch.cat([x.flatten(1), x[:, -1], x.mean(1), x.max(dim=1)[0]], dim=-1), dim=-1)


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.c_attn, self.c_proj, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads
        self.register_buffer("bias", torch.tril(torch.ones(context, context)).view(1, 1, context, context))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Decoder(nn.Module):
    """A character model with attention written out, and a head tied to the embedding."""

    def __init__(self, vocabulary=11, width=16, context=12):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.ln_1, self.attn = nn.LayerNorm(width), CausalSelfAttention(width, 4, context)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 32), "c_proj": nn.Linear(32, width)})

    def forward(self, tokens):
        positions = torch.arange(0, tokens.shape[1], dtype=torch.long, device=tokens.device)
        x = self.wte(tokens) + self.wpe(positions)
        x = x + self.attn(self.ln_1(x))
        x = x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x))))
        return F.linear(x, self.wte.weight)


class Masked(nn.Module):
    """Tokens before the batch, PyTorch's causal mask, and tokens that are always padding."""

    def __init__(self, width=12, tokens=9):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 2, 24, norm_first=True), 2)
        self.last = nn.MultiheadAttention(width, 3)
        self.register_buffer("causal", nn.Transformer.generate_square_subsequent_mask(tokens))
        self.register_buffer("padding", torch.tensor([[False] * 7 + [True] * 2]))

    def forward(self, x):
        x = x.transpose(0, 1)
        x = self.encoder(x, mask=self.causal)
        y = self.last(x, x, x, key_padding_mask=self.padding)[0]
        return (x + y).transpose(0, 1)[:, 2:6]


def nested_sequentials():
    """Nested Sequentials, some of whose parts do nothing."""
    return nn.Sequential(
        nn.Flatten(), nn.Sequential(nn.Linear(24, 16), nn.Identity(), nn.Sequential(nn.ReLU(), nn.Dropout(0.5))),
        nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU()), nn.Linear(16, 3), nn.Softmax(dim=1))


MODELS = {  # {name: (the module, the shape of its input, or the number of tokens)}
    "gestures": (Gestures, (1, 16, 6)), "vit": (PatchViT, (1, 1, 16, 24)), "functional": (Functional, (1, 7, 6)),
    "decoder": (Decoder, 12), "book": (lambda: CausalAttention(3, 4, 6, 0.5), (1, 6, 3)), "masked": (Masked, (1, 9, 12)),
    "nested": (nested_sequentials, (1, 4, 6)),
    "encoder_alone": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (5, 8)),
    "gpt": (lambda: GPTModel({"vocab_size": 11, "context_length": 12, "emb_dim": 16, "n_heads": 2, "n_layers": 2,
                              "drop_rate": 0.1, "qkv_bias": False}), 12),
    "happy": (HappyTransformer, 12), "happy_norm": (lambda: OwnLayerNorm(8), (1, 4, 8)),
    "listener": (Listener, (1, 10, 12), 6), "raw_keywords": (RawKeywords, (1, 208)),
}


def made(name):
    """Returns a module and an example; the same numbers each time."""
    make, *shapes = MODELS[name]
    torch.manual_seed(len(name) + 17)
    net = make().eval()
    examples = [torch.randint(0, 11, (1, shape)) if isinstance(shape, int) else torch.randn(shape) for shape in shapes]
    return net, examples[0] if len(examples) == 1 else tuple(examples)
