# SPDX-License-Identifier: MIT
"""Small modules in which an exporter can silently be wrong: {name: (the module, an example)}."""
import collections
import re
import threading

import numpy
import torch
import torch.nn.functional as F
from torch import nn

from ports.pytorch.tinyattn_export.settings import ACTIVATIONS


class Written(nn.Module):
    """A module whose forward is a function."""

    def __init__(self, function, **members):
        super().__init__()
        self.function = function
        for name, member in members.items():
            setattr(self, name, member)

    def forward(self, *inputs):
        return self.function(self, *inputs)


class WrittenNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = P(width), P(width)

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class AndAgain(nn.TransformerEncoderLayer):
    def forward(self, x):
        return super().forward(x) + x


Named = collections.namedtuple("Named", "logits")


class Mixed(nn.Module):
    """Two inputs, of which one has tokens; outputs that a later step would overwrite, of one memory, and without a batch."""

    def __init__(self):
        super().__init__()
        self.embed, self.table = nn.Embedding(11, 8), nn.Parameter(torch.randn(2, 3))
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.samples, self.out = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, union, samples, scale=1.0):
        hidden = self.encoder(self.embed(union) + self.samples(samples))
        again = {"table": self.table, "input": samples, "first": hidden[:, 0], "nothing": None}
        return {"class": Named(self.out(hidden)), "kept": hidden, "time first": self.out(hidden * scale).transpose(0, 1),
                "union": again, "relu": (torch.relu(hidden), hidden)}


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = linear()

    def forward(self, x):
        return self.fc(x)


class Block(nn.Module):
    """A member has the name of its class."""

    def __init__(self):
        super().__init__()
        self.Mlp = Mlp()

    def forward(self, x):
        return self.Mlp(x)


class union(Mlp):
    """Its name is a keyword of C++."""


class TwoHeads(nn.MultiheadAttention):
    """A subclass that overrides only __init__."""

    extra: int

    def __init__(self, width):
        super().__init__(width, 2, batch_first=True)


def with_a_table(self, x):
    """Builds a table at its first call."""
    if not hasattr(self, "table"):
        self.table = torch.arange(6.0).cos()
    return x * self.table


def written_out(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    """torch.nn.functional.scaled_dot_product_attention of PyTorch 2."""
    scores = query @ key.transpose(-2, -1) / query.size(-1)**0.5
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    return scores.softmax(-1) @ value


written_out.__name__ = "scaled_dot_product_attention"
scaled_dot_product_attention = getattr(F, "scaled_dot_product_attention", written_out)
torch.fx.wrap("scaled_dot_product_attention")


def attend(self, x, **options):
    q, k, v = (layer(x).view(1, 4, -1, 3).transpose(1, 2) for layer in (self.query, self.key, self.value))
    return scaled_dot_product_attention(q, k, v, **options).transpose(1, 2).reshape(1, 4, -1)


def attends_by_weights(self, x):
    for layer in self.layers:
        x = layer(x, x, x)[1] @ x
        y, weights = layer(x, x, x, attn_mask=CAUSAL[0], average_attn_weights=False)
        x = y + weights[:, 1] @ x
    return x


def cells_in_a_loop(self, x):
    """Of a GRU, all of whose states are used, and of an LSTM, whose states are overwritten."""
    hidden, state, seen = torch.zeros(1, 5), None, []
    for token in x.unbind(1):
        hidden = self.gru(token, hidden)
        state = self.lstm(hidden, state)
        seen.append(hidden)
    return torch.stack(seen, 1) * state[1].unsqueeze(1)


def P(*shape):
    return nn.Parameter(torch.randn(shape))


def attention():
    return nn.MultiheadAttention(6, 2, batch_first=True)


def linear(inputs=6, outputs=6):
    return nn.Linear(inputs, outputs)


def trained(norm):
    """Gives a BatchNorm statistics other than 0 and 1."""
    for tensor in (norm.running_mean, norm.running_var, norm.weight.data):
        nn.init.uniform_(tensor, 0.5, 2)
    return norm


def normed(inputs, outputs, *settings, groups=1):
    """Returns a Conv2d without a bias, and the norm behind it, which leaves a half of the numbers above 0."""
    norm = trained(nn.BatchNorm2d(outputs))
    norm.running_mean -= 1.25
    return nn.Sequential(nn.Conv2d(inputs, outputs, *settings, groups=groups, bias=False), norm)


torch.manual_seed(5)
X, ROW, SERIES = torch.randn(1, 4, 6), torch.randn(1, 6), torch.randn(1, 8, 3)
CAUSAL = torch.full((1, 4, 4), -torch.inf).triu(1)
SOURCE_MASK = torch.tensor([[0, 0.5, 0, -torch.inf]] * 2 + [[-1, 0, 0, 0]])
OF_HEADS = torch.rand(2, 4, 4)
OF_HEADS[:, :, 0], OF_HEADS[1, :, 2] = 0.4, -torch.inf
KEYS = "class 1x1 _1x1 a-b".split()
FUNCTIONS = ("exp log log2 log10 log1p expm1 sqrt rsqrt tanh sigmoid erf abs neg sign square reciprocal floor ceil trunc "
             "round sin cos").split()
ACTIVATIONS_OF_F = ("softplus hardswish hardsigmoid mish logsigmoid softsign selu celu elu leaky_relu relu6 hardtanh "
                    "tanhshrink softshrink hardshrink").split()

# name: the statements of forward, and what it returns; `where` members; `on` another example than X. Lines that are indented go on.
FORWARDS = """
chunks_of_a_weight: sum(F.linear(x, w) * i for i, w in enumerate(self.w.chunk(3), 1)) where w = P(18, 6)
tied_to_the_transpose: F.linear(F.relu(self.encode(x)), self.encode.weight.t(), self.bias) where encode = linear(6, 3); bias = P(6)
with_and_without_bias: F.linear(x, self.a, self.b) + F.linear(x, self.a) where a = P(6, 6); b = P(6)
folded_and_not: self.norm(self.linear(x)) + F.linear(x, self.linear.weight)
  where linear = linear(); norm = trained(nn.BatchNorm1d(6)) on ROW
a_view_of_what_is_written: y = self.linear(x); y - y[:, :1].expand(-1, 4, -1) where linear = linear()
mean_of_one_token: x.reshape(1, 2, 1, 12).mean(2)
mean_over_a_batch: self.linear(x).mean(0) where linear = linear()
batch_of_channels: self.conv(x.transpose(1, 2).reshape(3, 1, 8)).amax(2) where conv = nn.Conv1d(1, 4, 8) on SERIES
batch_of_single_tokens: self.a(*[x.view(4, 1, 6)] * 3)[0].view(1, 4, 6) + self.a(x, x, x)[0] where a = attention()
names_that_meet: self.x_(getattr(self, "x")(x)) where x = linear(); x_ = linear()
keys_that_meet: sum(self.m[key](x) for key in KEYS) where m = nn.ModuleDict({key: linear() for key in KEYS})
keywords: self.default(F.relu(self.new(x))) + self.union(x) where new = linear(); default = linear(); union = linear()
cat_of_one: torch.cat([x[:, 1:]], 1) + 1
cat_of_one_token: self.linear(torch.cat([x, F.relu(x)], -1)) where linear = linear(12, 3) on torch.randn(1, 1, 6)
norm_of_another_axis: self.norm(self.linear(x).transpose(0, 1))
  where linear = linear(6, 5); norm = trained(nn.BatchNorm1d(5)) on torch.randn(5, 6)
members_named_as_locals: q, k, v = (f(x).view(1, 4, 2, 3).transpose(1, 2) for f in (self.query, self.key, self.value));
  ((q @ k.transpose(-1, -2)).softmax(-1) @ v).transpose(1, 2).reshape(1, 4, 6)
  where query = linear(); key = linear(); value = linear()
rows_of_a_view: (x.view(1, 4, 2, 3) * self.linear(x[:, 0])).reshape(1, 4, 6) where linear = linear(6, 3)
bias_of_a_layer: self.linear(x) @ self.linear.weight + self.linear.bias where linear = linear()
flatten_by_name: torch.flatten(input=x, start_dim=1)
scaled_before_a_mask: (self.linear(x) * 6**-0.5 @ x.mT + CAUSAL).softmax(-1) @ x where linear = linear()
options_that_change_nothing: torch.add(torch.div(x @ x.mT, 3**0.5, rounding_mode=None), CAUSAL, alpha=1).softmax(-1) @ x
a_bias_for_each_head: q = x.view(1, 4, 2, 3).transpose(1, 2);
  (q @ x.view(1, 4, 2, 3).permute(0, 2, 3, 1) * 3**-0.5 + self.bias).softmax(-1) @ q where bias = torch.randn(2, 4, 4)
a_loop_over_outs: for layer in self.outs: x = layer(x) + x; x
  where outs = nn.ModuleList([nn.Sequential(linear(), nn.GELU()) for _ in range(3)])
only_another_init: self.a(x, x, x)[0] where a = TwoHeads(6)
arguments_by_name: torch.matmul(input=x, other=self.norm(input=x[0])[None].mT) where norm = trained(nn.BatchNorm1d(6))
norm_with_one_weight: self.weight * (x * torch.rsqrt(torch.mean(input=x.pow(2), dim=-1, keepdim=True) + 1e-5)) where weight = P(1)
norm_with_ones_before_its_weight: self.w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)) where w = P(1, 1, 6)
masked_by_the_least_float: m = torch.ones(4, 4).triu(1).bool();
  (x @ x.mT).masked_fill(m, torch.finfo(x.dtype).min).softmax(-1) @ x
one_padding_for_a_batch: self.a(*[x.view(2, 2, 6)] * 3, key_padding_mask=torch.tensor([[False, True]] * 2))[0].reshape(1, 4, 6)
  where a = attention()
means_of_several: y = x.view(1, 2, 2, 6); y.mean(2) + y.max(2).values
quotients_that_are_whole: (x / 41).long() + (x / torch.tensor(55.0)).floor() on torch.arange(24.0).view(1, 4, 6) * 41
what_is_not_finite: y = x.masked_fill(x > 0, -torch.inf); torch.nan_to_num(y) / 1e38 + torch.logaddexp(y, y).clamp(-9, 9) + x.norm(0)
numbers_of_numpy: numpy.sqrt(2.0) * x[:, numpy.array([1, 0])] * numpy.float32(0.3)
some_of_the_layers: self.layers[:3](x) @ x.mH where layers = nn.Sequential(linear(), nn.Dropout2d(), nn.ReLU(), nn.Tanh())
one_layer_three_times: self.linear(self.linear(self.linear(x))) where linear = linear()
what_cannot_be_restored: (self.linear(x) - x).square() where linear = linear()
a_gate: x[:, -1:] + (F.silu(self.gate(x)) * self.up(x))[:, -1:] where gate = linear(); up = linear()
attention_with_two_masks: q, k, v = self.qkv(x).reshape(1, 4, 3, 2, 3).permute(2, 0, 3, 1, 4).unbind(0);
  y = scaled_dot_product_attention(q, k, v, is_causal=True);
  z = scaled_dot_product_attention(q, k, v, attn_mask=self.valid[None, None, None, :]); (y + z).transpose(1, 2).reshape(1, 4, 6)
  where valid = torch.arange(4) < 3; qkv = linear(6, 18)
patches_that_overlap: x = x.permute(0, 2, 1).unfold(dimension=-1, size=4, step=2); b, c, n, p = x.shape;
  x = self.embedding(x) + self.position; y = self.layer(x.reshape(b * c, n, -1));
  self.head(y.reshape(b, c, n, -1).flatten(-2)).transpose(1, 2)
  where embedding = linear(4, 6); position = P(3, 6); head = linear(18, 2);
  layer = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True) on SERIES
each_function: y = torch.stack([getattr(torch, name)(x.abs() + 0.4) for name in FUNCTIONS]).sum(0) / 100;
  y + sum(getattr(F, name)(x) for name in ACTIVATIONS_OF_F)
chosen: positive = (x > 0) & ~(x > 0.5) | (x < -1);
  y = torch.where(positive, x, 1 / (x.abs() + 1)).masked_fill(x == x.amax(-1, keepdim=True), -2.0);
  y[y < -1] = x.max() - x.min(); z = torch.maximum(x, self.row) ** 3 + self.row - x[0, 0];
  y * positive + x.clamp(min=-0.5) // 0.3 + 2**x % 0.7 + z where row = P(6)
each_reduction: parts = [getattr(x, name)(1) for name in "sum mean amax amin prod std".split()];
  rest = [x.sum(), x.mean((0, 2))[1], torch.logsumexp(x, (1, 2))[0], x.norm(), x.var(unbiased=False), (x > 0).sum(-1)[0, 0]];
  more = [x.argmax().float(), (x > 3).any().float(), torch.linalg.vector_norm(x, 1)];
  values, places = x.cumsum(1).max(-1, keepdim=True); y = self.embedding(places[..., 0]).sum(1) + F.normalize(x).mean(1) / values[:, 0];
  torch.stack(parts, -1).mean(-1) + sum(rest + more) + y where embedding = nn.Embedding(6, 6)
moved: y = F.pad(F.pad(x, (1, 2), "reflect"), (0, 0, 1, 1), value=2.0)[:, [0, 3, 1, 5]].flip(1).roll(1, 2);
  z = torch.stack([x.tril(), x.exp()], -1).flatten(2)[:, :, 1:10]; torch.cat([y.repeat(1, 2, 1)[:, self.order], z], 1)
  where order = torch.randperm(8)
assigned: y, z = torch.zeros(x.shape), self.linear(x); y[..., 0::2], y[..., 1::2] = x[..., :3].sin(), x[..., 3:].cos();
  z[:, 1:] = z[:, :-1] * 0.5; z[:, 0] += 1; y + z where linear = linear()
products: q, k = (x.view(1, 4, 2, 3).transpose(1, 2) * i for i in (1, 2));
  w = torch.einsum("bhid,bhjd->bhij", q, k).masked_fill((x.sum(-1) < 0)[:, None, None], -1e9);
  y = torch.einsum("bhij,hg->bgij", (w + self.bias).softmax(-1), self.mix) @ q;
  torch.einsum("...d,ed", y.transpose(1, 2).flatten(2), x[0]) + (x @ x[0, 0])[..., None] + F.linear(x, x[0].exp())
  where bias = P(2, 1, 4); mix = P(2, 2)
rotated: turns = torch.polar(torch.ones(3), torch.arange(3.0));
  q = torch.view_as_real(torch.view_as_complex(x.view(1, 4, 1, 3, 2)) * turns).flatten(3); a, b = q.transpose(1, 2).chunk(2, -1);
  q.transpose(1, 2) * x[0].cos() + torch.cat((-b, a), -1) * x[0].sin()
padding_of_tokens: (self.e(x) * (x != 0).unsqueeze(-1)).sum(1) / (x != 0).sum(1, True)
  where e = nn.Embedding(6, 4) on torch.tensor([[1, 3, 0, 5, 0]])
a_long_name: F.relu(self.words_of_a_sentence_and_where_they_are(x).flip(1))
  where words_of_a_sentence_and_where_they_are = nn.Embedding(6, 4) on torch.tensor([[1, 3]])
spotted: _, hidden = self.gru(self.front(x.mT).mT); self.head(hidden[-1])
  where front = nn.Conv1d(3, 8, 3); gru = nn.GRU(8, 5, 2, dropout=0.1, batch_first=True); head = linear(5, 3) on SERIES
read_and_written: zeros = torch.zeros(2, x.size(0), 5); _, (hidden, cell) = self.reader(x, (zeros, zeros));
  self.head(self.writer(x[:, 1:], (hidden[-1:], cell[-1:]))[0]) + cell[0]
  where reader = nn.LSTM(6, 5, 2, bias=False, batch_first=True); writer = nn.LSTM(6, 5, batch_first=True); head = linear(5, 5)
a_residual_block: x = self.pool(self.stem(x)); y = self.second(F.relu(self.first(x))); self.head(F.relu(y + self.shortcut(x)))
  where stem = normed(3, 8, 7, 2, 3); pool = nn.MaxPool2d(3, 2, 1); first = normed(8, 12, 3, 2, 1);
  second = normed(12, 12, 3, 1, 1); shortcut = normed(8, 12, 1, 2);
  head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear(12, 4)) on torch.randn(1, 3, 32, 32) * 0.5
convolutions_and_pools_as_functions: y = F.max_pool2d(F.conv2d(x, self.w, None, 1, (0, 1), 1, 2), 2, ceil_mode=True);
  F.avg_pool2d(y, (2, 1), stride=1, padding=(1, 0), count_include_pad=False) where w = P(4, 2, 2, 3) on torch.randn(1, 4, 8, 9)
modules_made_in_forward: nn.Softmax(-1)(self.linear(x)) + nn.Softmax(1)(nn.ReLU()(x)) where linear = linear()
masks_of_a_source: y = self.d(x[:, :3], x, tgt_mask=CAUSAL[0, :3, :3], memory_mask=SOURCE_MASK);
  self.d(y, self.linear(x[:, 1:]), memory_key_padding_mask=torch.tensor([[False, True, False]]))
  where d = nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8, batch_first=True), 2); linear = linear()
a_decoder_of_a_batch: self.d(x.view(2, 2, 6), x.view(2, 2, 6) * 2).view(1, 4, 6) where d = nn.TransformerDecoderLayer(6, 3, 8)
keys_and_values_of_other_widths: padding = torch.arange(4)[None] > 2;
  self.a(x[:, :3], x[..., :4], x[..., 1:], attn_mask=OF_HEADS[:, :3], key_padding_mask=padding)[0]
  where a = nn.MultiheadAttention(6, 2, kdim=4, vdim=5, batch_first=True)
biases_and_zeros_behind_keys: self.a(x, x, x, attn_mask=CAUSAL[0])[0]
  where a = nn.MultiheadAttention(6, 2, add_bias_kv=True, add_zero_attn=True) on X[0]
one_query_without_a_batch: self.a(x[:, None], *[self.up(x)[:, None]] * 2)[0]
  where up = linear(6, 8); a = nn.MultiheadAttention(6, 1, kdim=8, vdim=8, add_bias_kv=True) on ROW
a_mask_for_each_head: y = self.a(*[x.view(2, 2, 6)] * 3, attn_mask=OF_HEADS.view(4, 2, 4)[..., :2])[0].reshape(1, 4, 6);
  y + self.a(x, x, x, attn_mask=OF_HEADS)[0] + self.a(x, x, x)[0] where a = attention()
a_mask_of_bools_for_each_head: attend(self, x, attn_mask=OF_HEADS[None] > 0.3)
  where query = linear(); key = linear(); value = linear()
a_whole_transformer: self.t(x, x[:, 1:]) where t = nn.Transformer(6, 2, 1, 2, 8, batch_first=True)
an_epsilon_behind_the_root: y = self.weight * x / (x.pow(2).mean(-1, True).sqrt() + 1e-6);
  y + x / x.pow(2).mean(-1, True).sqrt().clamp(min=1e-6) where weight = P(6) on X * 1e-6
a_variance_that_is_clamped: x * torch.rsqrt(x.pow(2).mean(-1, True).clamp(max=1e4) + 1e-5) on X * 1e4
norms_of_the_channels_of_an_image: (x - x.mean(1, True)) / torch.sqrt((x - x.mean(1, True)).pow(2).mean(1, True) + 1e-6)
  on torch.randn(1, 3, 5, 4)
a_bias_for_each_token_behind_a_norm: (x - x.mean(-1, True)) / (x.var(-1, False, keepdim=True) + 1e-5).sqrt() + self.bias[:, None]
  where bias = P(8) on torch.randn(1, 8, 8)
nearly_activations: x.clamp(min=0).clamp(max=100) + (x * x.sigmoid()).clamp(max=100) on X * 1e3
nearly_a_relu: x * (x > 1e-3) on X * 1e-3
functions_of_tokens: F.relu(x.float() - 2) + (1.0 - x.float()) * -x.float() on torch.tensor([[1, 3, 0, 5]])
expanded_as_another: x * x.mean(1, True).expand_as(x)
empty_before_it_is_written: y, z = torch.empty_like(x), torch.empty(x.shape); y[..., :3], y[..., 3:] = -x[..., 3:], x[..., :3];
  z[:, :2], z[:, 2:] = y[:, 2:], y[:, :2]; z
small_weights_of_a_softmax: p, q = x.softmax(-1), x.mT.softmax(1); (p * p.log()).sum(-1, True) + torch.log2(q.mT) + p[:, 0].log() +
  1 / p.clamp(min=1e-35) + (p**-0.5).log() + (p > 0) + (p + 1).log10() + torch.logit(p * 0.5)
  + (p * 0.7 + p.flip(1) * 0.3).clamp(min=0).log() + p[..., 2:].argmax(-1, True) + x.sigmoid().log() on X * 15
columns_of_tokens: torch.cat([self.e(x[:, 0]), self.f(x[:, 1]), self.e(x[:, 2] // 3) + self.f(x[:, 2] % 3), self.table[x[:, 3]],
  self.e(torch.cat([torch.full_like(x[:, :1], 8), x[:, :1]], 1)).flatten(1), self.e((x[:, 3] - 21).clamp(min=0)), self.e(8 - x[:, 0].int()),
  self.rates[x], self.cubes[x[:, 1]].flatten(1), self.e(self.others[x[:, 2]])], -1)
  where e = nn.Embedding(9, 6); f = nn.Embedding(3, 6); table = torch.randn(30, 2);
    rates = torch.rand(30); cubes = torch.randn(3, 2, 2); others = torch.arange(30) % 7 on torch.tensor([[8, 2, 20, 29]])
frames: y = F.pad(x, (1, 2, 0, 1), value=-1.5); F.pad(F.interpolate(y @ self.w, scale_factor=1.4), (0, 1, 1, 1))
  where w = P(7, 5) on torch.randn(1, 3, 5, 4)
on_the_edge: ((x > 0) + (x < 1)) * F.softplus(x, threshold=1) + torch.hypot(x * 1e20, x.flip(1) * 1e20) / 1e20 + torch.as_tensor(
  x).data.norm(-torch.inf, dim=-1, keepdim=True) + x.sum(axis=1, keepdims=True) + torch.logit(x, eps=1e-3) + torch.round(x, decimals=2) +
  x[..., numpy.array([0])] * numpy.ones(6, numpy.float32) + F.interpolate(x, scale_factor=1.6, recompute_scale_factor=True)[..., :6]
flattened_behind_parts: y = x.tanh().flatten(1); y[:, 7:9] *= 2; y
flattened_behind_a_mask: x.tanh().masked_fill(X + CAUSAL[:, :, :1] > 0, 0.5).sigmoid().flatten(1)
reshaped_behind_columns: y = F.pad(x, (1, 1)).roll(1, -1); y[:, :, :2] += 1; y.view(1, 4, 2, 4)
columns_that_are_joined: m = x * (x.abs() > 20); torch.cat([torch.cat([m[..., :1], m[..., 1:2]], 1).flatten(), torch.stack(x.split(3, 2), 1)
  .flatten(), torch.stack([x[..., :1], x[..., 1:2]], 1).flatten(), F.cosine_similarity(m, m[..., :1], dim=-1).flatten()])
queries_of_other_axes: F.softmax(self.q @ x.mT / 6**0.5, -1) @ x + (x[:, -1] @ x.mT).softmax(-1) @ x + self.c(x[:, 0].unsqueeze(-1)).mT
  where q = P(2, 6); c = nn.Conv1d(6, 6, 1)
steps_in_place_by_operators: y = h = x.abs() + 1; y **= 2; y //= 0.3; y %= 5; h
rows_with_gaps: y, z = self.gru(x[:, ::2, :2])[0], self.lstm(x[..., [0, 1]])[0]; z + self.cell(x[:, 1, 3:])[:, None] +
  self.linear(x[:, :1, 2:5].expand(-1, 4, -1)) * y[:, :1, 1:] + self.lstm(x[..., 2:].mT[..., :2])[0] +
  x.view(2, 2, 6)[..., 1:].masked_fill(torch.eye(2, 5).bool(), 2.0).view(1, 4, 5) + self.one(x[..., ::2].mT[..., :1]).mT
  where gru = nn.GRU(2, 6, batch_first=True); lstm = nn.LSTM(2, 5, batch_first=True); cell = nn.GRUCell(3, 5); linear = linear(3, 5);
    one = nn.Conv1d(3, 5, 1)
members_named_as_code: x = self.layers["1f"](x).exp(); for a, b in zip(self.steps, self.more_steps): x = x + b(a(x)); self.forecast(x)
  where layers = nn.ModuleDict({"1f": linear()});
  steps = nn.ModuleList([linear(), linear(), linear()]); more_steps = nn.ModuleList([linear(), linear(), linear()]);
  forecast = linear()
"""


def statements(text):
    return [each for each in re.split(r";\s*", text or "") if each]


def forward_of(code, file=__file__):
    *body, last = statements(code)
    names = {}
    exec(compile("\n    ".join(["def forward(self, x):", *body, f"return {last}"]), file, "exec"), globals(), names)
    return names["forward"]


def module(code, where, example):
    net = Written(forward_of(code))
    for name, value in (member.split(" = ", 1) for member in statements(where)):
        member = eval(value)
        if type(member) is torch.Tensor:
            net.register_buffer(name, member)
        else:
            setattr(net, name, member)
    return net, eval(example or "X")


def of_table(text):
    rows = re.findall(r"^(\w+): (.+?)(?: where (.+?))?(?: on (.+))?$", re.sub(r"\n\s+", " ", text), re.MULTILINE)
    return {name: module(*rest) for name, *rest in rows}


MODULES = {
    **of_table(FORWARDS),
    "an_input_that_is_not_read": (Written(lambda self, x, y: (x + 1, x + 1, y * 0 + 1)), (X, X)),
    "an_input_of_another_type": (Written(lambda self, x, t: x.long() + x.bool().float() + F.dropout2d(
        self.d(x), training=self.training) + t.bool() + t.float().requires_grad_(False), d=nn.Dropout2d()),
        (torch.randn(1, 6), torch.tensor([[0, 1, 2, 0, 3, 4]]))),
    "inputs_and_outputs": (Mixed(), (torch.randint(11, (1, 5)), torch.randn(1, 5, 6))),
    "two_norms": (nn.Sequential(WrittenNorm(6), linear(6, 5), WrittenNorm(5)), X),
    "nothing_to_remember": (linear(6, 3), ROW),
    "named_as_its_class": (nn.Sequential(Block(), union()), X),
    "classes_that_cpp_cannot_name_so": (nn.Sequential(*(type(name, (Mlp,), {})() for name in (
        "NULL", "NAN", "parameter_count", "tinyattn", "_Block", "A__B", "Gr\u00f6\u00dfe", "\u5757"))), X),
    "around_a_layer_of_torch": (AndAgain(6, 2, 8, batch_first=True), X),
    "a_table_when_first_called": (Written(with_a_table), X),
    "a_table_of_what_cannot_be_copied": (Written(with_a_table, lock=threading.Lock()), X),
    "norms_of_groups": (nn.Sequential(nn.GroupNorm(2, 4), nn.InstanceNorm1d(4, affine=True), nn.LayerNorm((4, 6)),
                                      nn.GLU(), nn.Softplus(), nn.LogSoftmax(1), nn.PReLU(4)), X),
    "every_activation": (nn.Sequential(*(getattr(nn, name)(**its) for _, name, its, *_ in ACTIVATIONS.values())), X),
    "both_directions": (Written(lambda self, x, h: (*self.gru(x, h), self.lstm(x)), gru=nn.GRU(6, 5, 2, False, True, bidirectional=True),
                                lstm=nn.LSTM(6, 4, batch_first=True, bidirectional=True)), (X, torch.randn(4, 1, 5))),
    "goes_on_from_a_state": (Written(lambda self, x, state: self.lstm(x, state), lstm=nn.LSTM(6, 5, 2, batch_first=True)),
                             (X, (torch.randn(2, 1, 5), torch.randn(2, 1, 5)))),
    "encoded_and_decoded": (nn.Sequential(
        nn.Conv2d(3, 6, 3, 2, padding=(1, 2), padding_mode="circular"), nn.ReLU(), nn.Upsample(scale_factor=(2, 1)),
        nn.Conv2d(6, 6, 3, padding="same", padding_mode="reflect"), nn.ConvTranspose2d(6, 4, (3, 2), 2, 1, (1, 0)), nn.ReLU(),
        nn.Upsample(scale_factor=(1.5, 1.3), mode="bilinear"), nn.Upsample((9, 13)),
        nn.Flatten(2), nn.ConvTranspose1d(4, 2, 3, 1, 2, dilation=2)), torch.randn(1, 3, 8, 6)),
    "padding_of_the_input": (Written(
        lambda self, x, m: self.e(self.e(x, src_key_padding_mask=m), src_key_padding_mask=x.abs().sum(-1) == 0) +
        self.d(x, x[:, 1:], tgt_mask=CAUSAL[0], tgt_key_padding_mask=m, memory_key_padding_mask=~m[:, 1:]) +
        self.e(x, src_key_padding_mask=m.float()),
        e=nn.TransformerEncoderLayer(6, 2, 8, batch_first=True), d=nn.TransformerDecoderLayer(6, 2, 8, batch_first=True)),
        (X * torch.tensor([[1], [0], [1], [0]]), torch.tensor([[False, False, True, False]]))),
    "outputs_of_other_types": (Written(lambda self, x: (self.linear(x).argmax(-1), x > 0, x.max(1)[1], torch.arange(3), x.long())[
        ::-1], linear=linear(6, 3)), X),
    "pads_as_modules": (nn.Sequential(nn.ReplicationPad1d(2), nn.ReflectionPad1d(1), nn.Conv1d(
        4, 4, 3, padding=1, padding_mode="circular"), trained(nn.BatchNorm1d(4))), X),
    "cells_in_a_loop": (Written(cells_in_a_loop, gru=nn.GRUCell(6, 5), lstm=nn.LSTMCell(5, 5)), X),
    "tokens_first": (nn.Sequential(nn.LSTM(6, 5), Written(lambda self, x: x[0])), ROW.new_ones(3, 6)),
    "keywords_by_depthwise_convolutions": (nn.Sequential(
        normed(1, 8, (10, 4), 2, (4, 1)), nn.ReLU(), normed(8, 8, 3, 1, 1, groups=8), nn.ReLU(), normed(8, 12, 1),
        nn.ReLU(), nn.AvgPool2d((3, 2)), nn.Flatten(), linear(144, 5)), torch.randn(1, 1, 40, 10)),
    "dilated_convolutions": (nn.Sequential(
        nn.Conv1d(6, 6, 3, padding=4, dilation=2, groups=6), nn.ReLU(), nn.Conv1d(6, 4, 4, padding="same"),
        nn.Conv1d(4, 6, 2, padding="same", dilation=3, groups=2), nn.MaxPool1d(3, 2, 1),
        nn.AvgPool1d(2, ceil_mode=True)), torch.randn(1, 6, 20)),
    "pools_to_sizes": (nn.Sequential(
        nn.AdaptiveAvgPool2d((3, 2)), trained(nn.BatchNorm2d(4)), nn.AdaptiveMaxPool2d(2), nn.Flatten(2),
        nn.AdaptiveAvgPool1d(3), nn.AdaptiveMaxPool1d(1)), torch.randn(1, 4, 8, 9)),
    "a_gray_image": (nn.Sequential(
        nn.MaxPool2d(2), nn.Conv2d(1, 3, 4, padding="same"), nn.ReLU(), nn.Conv2d(3, 1, 2, 2)), torch.randn(1, 1, 8, 8)),
    "unflattened": (nn.Sequential(linear(), nn.Unflatten(2, (2, 3)), nn.Flatten(2), linear()), X),
    "weights_of_attention": (Written(attends_by_weights, layers=nn.ModuleList([attention(), attention()])), X),
}
OF_PYTORCH_2 = of_table("""
four_heads_share_two: attend(self, x, enable_gqa=True, is_causal=True) where query = linear(6, 12); key = linear(); value = linear()
two_heads_share_one: attend(self, x, enable_gqa=True) where query = linear(); key = linear(6, 3); value = linear(6, 3)
another_scale: attend(self, x, scale=0.3) where query = linear(); key = linear(); value = linear()
norms: self.n(x) where n = nn.Sequential(nn.RMSNorm(6), nn.LayerNorm(6, bias=False), nn.RMSNorm(6, eps=1e-3))
norm_of_a_function: F.rms_norm(x, (6,), self.w, 1e-5) where w = P(6)
causal_twice: self.a(x, x, x, attn_mask=CAUSAL[0], is_causal=True)[0] where a = attention()
""") if hasattr(nn, "RMSNorm") else {}
