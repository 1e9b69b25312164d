# SPDX-License-Identifier: MIT
"""Modules as people in the field write them, in small, and modules that must be refused."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class KeywordTransformer(nn.Module):
    """Spectral frames, a class token, learned positions, a post-norm encoder: as in keyword spotting."""

    def __init__(self, frames=12, bands=10, width=16):
        super().__init__()
        self.project = nn.Linear(bands, width)
        self.cls_token = nn.Parameter(torch.randn(1, 1, width))
        self.pos_embedding = nn.Parameter(torch.randn(1, frames + 1, width))
        layer = nn.TransformerEncoderLayer(width, 4, 32, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 5))

    def forward(self, frames):
        batch, count, _ = frames.shape
        x = self.project(frames)
        x = torch.cat((self.cls_token.expand(batch, -1, -1), x), dim=1)
        x += self.pos_embedding[:, :count + 1]
        return self.head(self.encoder(x)[:, 0])


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
    """An inertial sensor; its samples are standardized by buffers; blocks in a ModuleList."""

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


class PatchTST(nn.Module):
    """Each channel of a series by itself, in patches that overlap; a forecast of each."""

    def __init__(self, channels=3, patch=8, stride=4, width=16, length=32, horizon=6):
        super().__init__()
        self.patch, self.stride = patch, stride
        count = (length - patch) // stride + 1
        self.embedding = nn.Linear(patch, width)
        self.position = nn.Parameter(torch.randn(count, width) * 0.1)
        self.layer = nn.TransformerEncoderLayer(width, 4, 32, batch_first=True, activation="gelu")
        self.flatten = nn.Flatten(start_dim=-2)
        self.head = nn.Linear(count * width, horizon)

    def forward(self, x):
        x = x.permute(0, 2, 1)
        x = x.unfold(dimension=-1, size=self.patch, step=self.stride)
        b, c, n, p = x.shape
        x = self.embedding(x) + self.position
        x = self.layer(x.reshape(b * c, n, -1))
        x = self.head(self.flatten(x.reshape(b, c, n, -1)))
        return x.transpose(1, 2)


class Autoencoder(nn.Module):
    """Anomalies of a machine: what attention cannot restore from a few features."""

    def __init__(self, sensors=5, width=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(sensors, 16), nn.SiLU(), nn.Linear(16, width))
        self.attention = nn.TransformerEncoderLayer(width, 2, 16, norm_first=True, batch_first=True)
        self.decoder = nn.Sequential(nn.Linear(width, 16), nn.SiLU(), nn.Linear(16, sensors))

    def forward(self, x):
        restored = self.decoder(self.attention(self.encoder(x)))
        return (restored - x).square()


class ConvStem(nn.Module):
    """A stem of convolutions with batch norms, then an encoder that takes tokens first."""

    def __init__(self, channels=4, width=16):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv1d(channels, 8, 5, stride=2, padding=2, bias=False), nn.BatchNorm1d(8), nn.ReLU(inplace=True),
            nn.Conv1d(8, width, 3, padding=1), nn.BatchNorm1d(width), nn.GELU())
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 32), 1)
        self.bn = nn.BatchNorm1d(width)
        self.fc = nn.Linear(width, 7)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm1d):
                nn.init.uniform_(module.running_mean)
                nn.init.uniform_(module.running_var, 0.5, 2)
                nn.init.uniform_(module.weight, 0.5, 2)

    def forward(self, x):
        x = self.stem(x.transpose(1, 2))
        x = self.encoder(x.permute(2, 0, 1))
        return self.fc(self.bn(x.mean(0)))


class Perceiver(nn.Module):
    """Learned queries read a long input by cross-attention."""

    def __init__(self, features=3, width=16, queries=4):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(queries, width))
        self.input = nn.Linear(features, width)
        self.cross = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.self_attention = nn.TransformerEncoderLayer(width, 2, 32, batch_first=True, norm_first=True)
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        data = self.input(x)
        latents = self.latents.unsqueeze(0).expand(x.shape[0], -1, -1)
        attended, _ = self.cross(latents, data, data, need_weights=False)
        latents = self.self_attention(self.norm(attended + latents))
        return self.out(latents.amax(dim=1))


class SharedLayers(nn.Module):
    """One block three times, as in ALBERT, and one Linear at both ends."""

    def __init__(self, width=12):
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.block = nn.TransformerEncoderLayer(width, 3, 24, batch_first=True)

    def forward(self, x):
        x = self.mix(x)
        for _ in range(3):
            x = self.block(x)
        return self.mix(x)


class Functional(nn.Module):
    """Everything by torch.nn.functional."""

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


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


class GatedBlock(nn.Module):
    """As in Llama, without positions: RMS norms, a mask that is added to scores, a gate; then the last token."""

    def __init__(self, width=12, tokens=9):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.q, self.k, self.v = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.gate, self.up, self.down = nn.Linear(width, 20), nn.Linear(width, 20), nn.Linear(20, width)
        self.register_buffer("causal", torch.full((tokens, tokens), -torch.inf).triu(1))

    def forward(self, x):
        h = self.norm1(x)
        scores = self.q(h) @ self.k(h).mT / math.sqrt(x.shape[-1]) + self.causal
        x = x + scores.softmax(-1) @ self.v(h)
        h = self.norm2(x)
        return x[:, -1:] + self.down(F.silu(self.gate(h)) * self.up(h))[:, -1:]


class BookAttention(nn.Module):
    """The chapter on attention: parameters W_query, W_key and W_value, one head with a causal mask."""

    def __init__(self, d_in=3, d_out=4, context=6):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.dropout = nn.Dropout(0.5)
        self.register_buffer("mask", torch.triu(torch.ones(context, context), diagonal=1))

    def forward(self, x):
        b, num_tokens, d_in = x.shape
        keys, queries, values = x @ self.W_key, self.W_query(x), self.W_value(x)
        scores = queries @ keys.transpose(1, 2)
        scores.masked_fill_(self.mask.bool()[:num_tokens, :num_tokens], -torch.inf)
        weights = self.dropout(torch.softmax(scores / keys.shape[-1]**0.5, dim=-1))
        return weights @ values


def attend(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    """torch.nn.functional.scaled_dot_product_attention of PyTorch 2."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    return scores.softmax(-1) @ value


attend.__name__ = "scaled_dot_product_attention"
scaled_dot_product_attention = getattr(F, "scaled_dot_product_attention", attend)
torch.fx.wrap("scaled_dot_product_attention")


class FusedAttention(nn.Module):
    """Heads by reshape, and scaled_dot_product_attention, once causal and once with padding."""

    def __init__(self, width=16, heads=4, tokens=10):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("valid", torch.arange(tokens) < 7)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = scaled_dot_product_attention(q, k, v, is_causal=True)
        z = scaled_dot_product_attention(q, k, v, attn_mask=self.valid[None, None, None, :])
        return self.proj((y + z).transpose(1, 2).reshape(b, t, c))


class Masked(nn.Module):
    """Tokens first, a causal mask of PyTorch, and tokens that are always padding."""

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
    """Sequentials in Sequentials, with what does nothing."""
    return nn.Sequential(
        nn.Flatten(), nn.Sequential(nn.Linear(24, 16), nn.Identity(), nn.Sequential(nn.ReLU(), nn.Dropout(0.5))),
        nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU()), nn.Linear(16, 3), nn.Softmax(dim=1))


MODELS = {  # {name: (the module, the shape of its input, or the number of tokens)}
    "keywords": (KeywordTransformer, (1, 12, 10)), "gestures": (Gestures, (1, 16, 6)), "vit": (PatchViT, (1, 1, 16, 24)),
    "patch_tst": (PatchTST, (1, 32, 3)), "anomalies": (Autoencoder, (1, 12, 5)), "conv_stem": (ConvStem, (1, 30, 4)),
    "perceiver": (Perceiver, (1, 20, 3)), "shared": (SharedLayers, (1, 8, 12)), "functional": (Functional, (1, 7, 6)),
    "decoder": (Decoder, 12), "book": (BookAttention, (1, 6, 3)), "fused": (FusedAttention, (1, 10, 16)),
    "gated": (GatedBlock, (1, 9, 12)), "masked": (Masked, (1, 9, 12)), "nested": (nested_sequentials, (1, 4, 6)),
    "encoder_alone": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (5, 8)),
}


def made(name):
    """Returns a module and an example; the same numbers each time."""
    make, shape = MODELS[name]
    torch.manual_seed(len(name) + 17)
    net = make().eval()
    example = torch.randint(0, 11, (1, shape)) if isinstance(shape, int) else torch.randn(shape)
    return net, example
