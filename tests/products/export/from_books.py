# SPDX-License-Identifier: MIT
"""Models with the names and steps of Happy-LLM (chapters 2 and 5), a decoder that reads an encoder of spectra, as Whisper,
and keywords from raw samples: small versions. The book's GPTModel is in examples/book."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.rand(dim) + 0.5)

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.weight


def rotated(x, freqs_cos, freqs_sin):
    real, imaginary = x.float().reshape(x.shape[:-1] + (-1, 2)).unbind(-1)
    shape = [size if i in (1, real.ndim - 1) else 1 for i, size in enumerate(real.shape)]
    cos, sin = freqs_cos.view(shape), freqs_sin.view(shape)
    return torch.stack([real * cos - imaginary * sin, real * sin + imaginary * cos], dim=-1).flatten(3).type_as(x)


def repeat_kv(x, n_rep):
    bs, slen, n_kv_heads, head_dim = x.shape
    if n_rep == 1:
        return x
    return x[:, :, :, None, :].expand(bs, slen, n_kv_heads, n_rep, head_dim).reshape(
        bs, slen, n_kv_heads * n_rep, head_dim)


class Attention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, max_seq_len):
        super().__init__()
        self.head_dim, self.n_rep, self.n_heads, self.n_kv_heads = dim // n_heads, n_heads // n_kv_heads, n_heads, n_kv_heads
        self.wq, self.wo = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.wk, self.wv = (nn.Linear(dim, n_kv_heads * self.head_dim, bias=False) for _ in range(2))
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)
        self.register_buffer("mask", torch.triu(torch.full((1, 1, max_seq_len, max_seq_len), float("-inf")), diagonal=1))

    def forward(self, x, freqs_cos, freqs_sin):
        bsz, seqlen, _ = x.shape
        xq = self.wq(x).view(bsz, seqlen, self.n_heads, self.head_dim)
        xk, xv = (layer(x).view(bsz, seqlen, self.n_kv_heads, self.head_dim) for layer in (self.wk, self.wv))
        xq, xk = rotated(xq, freqs_cos, freqs_sin), rotated(xk, freqs_cos, freqs_sin)
        xq, xk, xv = (y.transpose(1, 2) for y in (xq, repeat_kv(xk, self.n_rep), repeat_kv(xv, self.n_rep)))
        scores = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(self.head_dim)
        scores = F.softmax((scores + self.mask[:, :, :seqlen, :seqlen]).float(), dim=-1).type_as(xq)
        output = torch.matmul(self.attn_dropout(scores), xv).transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.resid_dropout(self.wo(output))


class DecoderLayer(nn.Module):
    def __init__(self, dim, hidden, *sizes):
        super().__init__()
        self.attention, self.attention_norm, self.ffn_norm = Attention(dim, *sizes), RMSNorm(dim), RMSNorm(dim)
        self.w1, self.w3 = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.w2, self.dropout = nn.Linear(hidden, dim, bias=False), nn.Dropout(0.1)

    def forward(self, x, freqs_cos, freqs_sin):
        h = x + self.attention(self.attention_norm(x), freqs_cos, freqs_sin)
        y = self.ffn_norm(h)
        return h + self.dropout(self.w2(F.silu(self.w1(y)) * self.w3(y)))


class HappyTransformer(nn.Module):
    """Chapter 5: the logits of the last token."""

    def __init__(self, vocab_size=11, dim=16, n_layers=2, n_heads=4, n_kv_heads=2, max_seq_len=12):
        super().__init__()
        self.tok_embeddings, self.dropout = nn.Embedding(vocab_size, dim), nn.Dropout(0.1)
        self.layers = nn.ModuleList([DecoderLayer(dim, 24, n_heads, n_kv_heads, max_seq_len) for _ in range(n_layers)])
        self.norm, self.output = RMSNorm(dim), nn.Linear(dim, vocab_size, bias=False)
        self.tok_embeddings.weight = self.output.weight
        angles = torch.outer(torch.arange(max_seq_len).float(), 1e4**(-torch.arange(0, dim // n_heads, 2) / (dim // n_heads)))
        self.register_buffer("freqs_cos", angles.cos(), persistent=False)
        self.register_buffer("freqs_sin", angles.sin(), persistent=False)

    def forward(self, tokens):
        _bsz, seqlen = tokens.shape
        h = self.dropout(self.tok_embeddings(tokens))
        for layer in self.layers:
            h = layer(h, self.freqs_cos[:seqlen], self.freqs_sin[:seqlen])
        return self.output(self.norm(h)[:, [-1], :])


class OwnLayerNorm(nn.Module):
    """Chapter 2: with the deviation of n - 1."""

    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2, self.b_2, self.eps = nn.Parameter(torch.rand(features)), nn.Parameter(torch.rand(features)), eps

    def forward(self, x):
        return self.a_2 * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + self.eps) + self.b_2


class Listener(nn.Module):
    """As Whisper: a spectrum, two convolutions and an encoder; tokens, and a decoder that reads it."""

    def __init__(self, bands=10, width=16, frames=12, vocabulary=11, context=6):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(bands, width, 3, padding=1), nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.register_buffer("positional_embedding", torch.randn(frames // 2, width))
        layer = nn.TransformerEncoderLayer(width, 2, 32, activation="gelu", norm_first=True, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(width))
        self.token_embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(context, width))
        layer = nn.TransformerDecoderLayer(width, 2, 32, activation="gelu", norm_first=True, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2, norm=nn.LayerNorm(width))
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(context))

    def forward(self, mel, tokens):
        x = F.gelu(self.conv2(F.gelu(self.conv1(mel)))).permute(0, 2, 1) + self.positional_embedding
        y = self.decoder(self.token_embedding(tokens) + self.positions, self.encoder(x), tgt_mask=self.mask)
        return y @ self.token_embedding.weight.t()


class RawKeywords(nn.Module):
    """Samples, frames with a window, their log-mel energies, a depthwise separable convolution, a GRU, and words."""

    def __init__(self, n_fft=32, hop=16, mels=8, words=4):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("mel", torch.rand(n_fft // 2 + 1, mels))
        self.depthwise, self.pointwise = nn.Conv1d(mels, mels, 3, padding=1, groups=mels), nn.Conv1d(mels, 12, 1)
        self.norm, self.gru, self.head = nn.BatchNorm1d(12), nn.GRU(12, 12, batch_first=True), nn.Linear(12, words)

    def forward(self, samples):
        frames = samples.unfold(-1, self.n_fft, self.hop) * self.window
        power = torch.fft.rfft(frames).abs() ** 2
        x = torch.log10(torch.clamp(power @ self.mel, min=1e-10)).transpose(1, 2)
        x = F.relu(self.norm(self.pointwise(self.depthwise(x)))).transpose(1, 2)
        _, h = self.gru(x)
        return self.head(h[-1])
