# SPDX-License-Identifier: MIT
"""Small modules in which an exporter can silently be wrong: {name: (the module, an example)}."""
import collections
import threading

import numpy
import torch
import torch.nn.functional as F
from torch import nn

from ports.pytorch.tinyattn_export.settings import ACTIVATIONS


class Written(nn.Module):
    """A module whose forward is a function."""

    def __init__(self, function, buffers=None, **members):
        super().__init__()
        self.function = function
        for name, tensor in (buffers or {}).items():
            self.register_buffer(name, tensor)
        for name, member in members.items():
            setattr(self, name, member)

    def forward(self, *inputs):
        return self.function(self, *inputs)


class WrittenNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = parameter(width), parameter(width)

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


def parameter(*shape):
    return nn.Parameter(torch.randn(shape))


def less_first(self, x):
    y = self.linear(x)
    return y - y[:, :1].expand(-1, 4, -1)


def heads_of(self, x):
    q, k, v = (layer(x).view(1, 4, 2, 3).transpose(1, 2) for layer in (self.query, self.key, self.value))
    return ((q @ k.transpose(-1, -2)).softmax(-1) @ v).transpose(1, 2).reshape(1, 4, 6)


def one_after_the_other(self, x):
    for layer in self.outs:
        x = layer(x) + x
    return x


def read_by_queries(self, x):
    latents = self.latents.unsqueeze(0).expand(x.shape[0], -1, -1)
    return (self.a(latents, x, x, need_weights=False)[0] + latents).amax(dim=1)


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


def root_mean_square(self, x):
    return self.weight * (x * torch.rsqrt(torch.mean(input=x.pow(2), dim=-1, keepdim=True) + 1e-5))


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


def two_masks_in_a_batch(self, x):
    """Splits heads by reshape; one attention is causal, another has padding."""
    q, k, v = self.qkv(x).reshape(1, 4, 3, 2, 3).permute(2, 0, 3, 1, 4).unbind(0)
    both = (scaled_dot_product_attention(q, k, v, is_causal=True) +
            scaled_dot_product_attention(q, k, v, attn_mask=self.valid[None, None, None, :]))
    return both.transpose(1, 2).reshape(1, 4, 6)


def patches_of_each_channel(self, x):
    """As in PatchTST: each channel of a time series by itself, in overlapping patches."""
    x = x.permute(0, 2, 1).unfold(dimension=-1, size=4, step=2)
    b, c, n, p = x.shape
    x = self.embedding(x) + self.position
    return self.head(self.layer(x.reshape(b * c, n, -1)).reshape(b, c, n, -1).flatten(-2)).transpose(1, 2)


def attends_by_weights(self, x):
    for layer in self.layers:
        x = layer(x, x, x)[1] @ x
        y, weights = layer(x, x, x, attn_mask=CAUSAL[0], average_attn_weights=False)
        x = y + weights[:, 1] @ x
    return x


class ReadsSpectra(nn.Module):
    """As Whisper: convolutions and an encoder; a decoder with cross-attention, and a tied head."""

    def __init__(self, width=12, options=dict(activation="gelu", batch_first=True, norm_first=True)):
        super().__init__()
        self.conv1 = nn.Conv1d(8, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        layers = (kind(width, 3, 20, **options) for kind in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer))
        self.encoder = nn.TransformerEncoder(next(layers), 2, nn.LayerNorm(width))
        self.decoder = nn.TransformerDecoder(next(layers), 2, nn.LayerNorm(width))
        self.tokens, self.positions = nn.Embedding(30, width), parameter(14, width)
        self.register_buffer("prompt", torch.tensor([[1, 5, 7, 2]]))

    def forward(self, spectra):
        memory = F.gelu(self.conv2(F.gelu(self.conv1(spectra)))).transpose(1, 2) + self.positions[4:]
        text = self.tokens(self.prompt) + self.positions[:4]
        mask = nn.Transformer.generate_square_subsequent_mask(4)
        return self.decoder(text, self.encoder(memory), tgt_mask=mask) @ self.tokens.weight.t()


def raised(self, x):
    """Steps in place by operators of Python, of what has another name."""
    y = h = self.linear(x).abs() + 1
    y **= 2
    y //= 0.3
    y %= 5
    return h


def halves_swapped(self, x):
    y, z = torch.empty_like(x), torch.empty(x.shape)
    y[..., :3], y[..., 3:] = -x[..., 3:], x[..., :3]
    z[:, :2], z[:, 2:] = y[:, 2:], y[:, :2]
    return z


def spotted(self, x):
    """A keyword spotter: the last state of a GRU, of several layers."""
    _, hidden = self.gru(self.front(x.mT).mT)
    return self.head(hidden[-1])


def read_and_written(self, x):
    """An LSTM, which begins with zeros, and another one that goes on from its states; scores of tokens."""
    zeros = torch.zeros(2, x.size(0), 5)
    _, (hidden, cell) = self.reader(x, (zeros, zeros))
    return self.head(self.writer(x[:, 1:], (hidden[-1:], cell[-1:]))[0]) + cell[0]


def cells_in_a_loop(self, x):
    """Of a GRU, all of whose states are used, and of an LSTM, whose states are overwritten."""
    hidden, state, seen = torch.zeros(1, 5), None, []
    for token in x.unbind(1):
        hidden = self.gru(token, hidden)
        state = self.lstm(hidden, state)
        seen.append(hidden)
    return torch.stack(seen, 1) * state[1].unsqueeze(1)


def residual(self, x):
    x = self.pool(self.stem(x))
    return self.head(F.relu(self.second(F.relu(self.first(x))) + self.shortcut(x)))


def normed(inputs, outputs, *settings, groups=1):
    """Returns a Conv2d without a bias, and the norm behind it, which leaves a half of the numbers above 0."""
    norm = trained(nn.BatchNorm2d(outputs))
    norm.running_mean -= 1.25
    return nn.Sequential(nn.Conv2d(inputs, outputs, *settings, groups=groups, bias=False), norm)


def of_functions(self, x):
    y = F.max_pool2d(F.conv2d(x, self.w, None, 1, (0, 1), 1, 2), 2, ceil_mode=True)
    return F.avg_pool2d(y, (2, 1), stride=1, padding=(1, 0), count_include_pad=False)
def each_function(self, x):
    names = ("exp log log2 log10 log1p expm1 sqrt rsqrt tanh sigmoid erf abs neg sign square reciprocal floor ceil trunc "
             "round sin cos").split()
    activations = ("softplus hardswish hardsigmoid mish logsigmoid softsign selu celu elu leaky_relu relu6 hardtanh "
                   "tanhshrink softshrink hardshrink").split()
    return (torch.stack([getattr(torch, name)(x.abs() + 0.4) for name in names]).sum(0) / 100 +
            sum(getattr(F, name)(x) for name in activations))


def chosen(self, x):
    """Chooses by masks that depend on the input."""
    positive = (x > 0) & ~(x > 0.5) | (x < -1)
    y = torch.where(positive, x, 1 / (x.abs() + 1)).masked_fill(x == x.amax(-1, keepdim=True), -2.0)
    y[y < -1] = x.max() - x.min()
    return y * positive + x.clamp(min=-0.5) // 0.3 + 2**x % 0.7 + torch.maximum(x, self.row) ** 3 + self.row - x[0, 0]


def each_reduction(self, x):
    parts = [getattr(x, name)(1) for name in "sum mean amax amin prod std".split()]
    rest = [x.sum(), x.mean((0, 2))[1], torch.logsumexp(x, (1, 2))[0], x.norm(), x.var(unbiased=False),
            (x > 0).sum(-1)[0, 0], x.argmax().float(), (x > 3).any().float(), torch.linalg.vector_norm(x, 1)]
    values, places = x.cumsum(1).max(-1, keepdim=True)
    return torch.stack(parts, -1).mean(-1) + sum(rest) + self.embedding(places[..., 0]).sum(1) + F.normalize(x).mean(1) / values[:, 0]


def moved(self, x):
    padded = F.pad(F.pad(x, (1, 2), "reflect"), (0, 0, 1, 1), value=2.0)[:, [0, 3, 1, 5]].flip(1).roll(1, 2)
    return torch.cat([padded.repeat(1, 2, 1)[:, self.order], torch.stack([x.tril(), x.exp()], -1).flatten(2)[:, :, 1:10]], 1)


def assigned(self, x):
    y, z = torch.zeros(x.shape), self.linear(x)
    y[..., 0::2], y[..., 1::2] = x[..., :3].sin(), x[..., 3:].cos()
    z[:, 1:] = z[:, :-1] * 0.5
    z[:, 0] += 1
    return y + z


def products(self, x):
    q, k = (x.view(1, 4, 2, 3).transpose(1, 2) * i for i in (1, 2))
    weights = torch.einsum("bhid,bhjd->bhij", q, k).masked_fill((x.sum(-1) < 0)[:, None, None], -1e9)
    mixed = torch.einsum("bhij,hg->bgij", (weights + self.bias).softmax(-1), self.mix) @ q
    return torch.einsum("...d,ed", mixed.transpose(1, 2).flatten(2), x[0]) + (x @ x[0, 0])[..., None] + F.linear(x, x[0].exp())


def rotated(self, x):
    q = torch.view_as_real(torch.view_as_complex(x.view(1, 4, 1, 3, 2)) * torch.polar(torch.ones(3), torch.arange(3.0))).flatten(3)
    a, b = q.transpose(1, 2).chunk(2, -1)
    return q.transpose(1, 2) * x[0].cos() + torch.cat((-b, a), -1) * x[0].sin()


def log_mel(self, x):
    power = torch.stft(x, 16, 8, window=torch.hann_window(16), return_complex=True).abs() ** 2
    frames = torch.fft.rfft(x.unfold(-1, 16, 8)).real.amax(-1)
    return torch.clamp(self.mel @ power, min=1e-10).log10().transpose(1, 2)[:, 1:8] + frames[..., None]


def attention():
    return nn.MultiheadAttention(6, 2, batch_first=True)


def linear(inputs=6, outputs=6):
    return nn.Linear(inputs, outputs)


def trained(norm):
    """Gives a BatchNorm statistics other than 0 and 1."""
    for tensor in (norm.running_mean, norm.running_var, norm.weight.data):
        nn.init.uniform_(tensor, 0.5, 2)
    return norm


torch.manual_seed(5)
X, ROW, SERIES = torch.randn(1, 4, 6), torch.randn(1, 6), torch.randn(1, 8, 3)
CAUSAL = torch.full((1, 4, 4), -torch.inf).triu(1)
SOURCE_MASK = torch.tensor([[0, 0.5, 0, -torch.inf]] * 2 + [[-1, 0, 0, 0]])
OF_HEADS = torch.rand(2, 4, 4)
OF_HEADS[:, :, 0], OF_HEADS[1, :, 2] = 0.4, -torch.inf
MODULES = {
    "two_norms": (nn.Sequential(WrittenNorm(6), linear(6, 5), WrittenNorm(5)), X),
    "chunks_of_a_weight": (Written(lambda self, x: sum(F.linear(x, w) * i for i, w in enumerate(self.w.chunk(3), 1)),
                                   w=parameter(18, 6)), X),
    "tied_to_the_transpose": (Written(
        lambda self, x: F.linear(F.relu(self.encode(x)), self.encode.weight.t(), self.bias),
        encode=linear(6, 3), bias=parameter(6)), X),
    "with_and_without_bias": (Written(lambda self, x: F.linear(x, self.a, self.b) + F.linear(x, self.a),
                                      a=parameter(6, 6), b=parameter(6)), X),
    "folded_and_not": (Written(lambda self, x: self.norm(self.linear(x)) + F.linear(x, self.linear.weight),
                               linear=linear(), norm=trained(nn.BatchNorm1d(6))), ROW),
    "a_view_of_what_is_written": (Written(less_first, linear=linear()), X),
    "mean_of_one_token": (Written(lambda self, x: x.reshape(1, 2, 1, 12).mean(2)), X),
    "mean_over_a_batch": (Written(lambda self, x: self.linear(x).mean(0), linear=linear()), X),
    "batch_of_channels": (Written(lambda self, x: self.conv(x.transpose(1, 2).reshape(3, 1, 8)).amax(2),
                                  conv=nn.Conv1d(1, 4, 8)), SERIES),
    "batch_of_single_tokens": (Written(lambda self, x: self.a(*[x.view(4, 1, 6)] * 3)[0].view(1, 4, 6) +
                                       self.a(x, x, x)[0], a=attention()), X),
    "names_that_meet": (Written(lambda self, x: self.x_(getattr(self, "x")(x)), x=linear(), x_=linear()), X),
    "keys_that_meet": (Written(lambda self, x: sum(self.m[key](x) for key in ("class", "1x1", "_1x1", "a-b")),
                               m=nn.ModuleDict({key: linear() for key in ("class", "1x1", "_1x1", "a-b")})), X),
    "inputs_and_outputs": (Mixed(), (torch.randint(11, (1, 5)), torch.randn(1, 5, 6))),
    "an_input_that_is_not_read": (Written(lambda self, x, y: (x + 1, x + 1, y * 0 + 1)), (X, X)),
    "keywords": (Written(lambda self, x: self.default(F.relu(self.new(x))) + self.union(x), new=linear(),
                         default=linear(), union=linear()), X),
    "cat_of_one": (Written(lambda self, x: torch.cat([x[:, 1:]], 1) + 1), X),
    "cat_of_one_token": (Written(lambda self, x: self.linear(torch.cat([x, F.relu(x)], -1)), linear=linear(12, 3)),
                         torch.randn(1, 1, 6)),
    "norm_of_another_axis": (Written(lambda self, x: self.norm(self.linear(x).transpose(0, 1)), linear=linear(6, 5),
                                     norm=trained(nn.BatchNorm1d(5))), torch.randn(5, 6)),
    "nothing_to_remember": (linear(6, 3), ROW),
    "members_named_as_locals": (Written(heads_of, query=linear(), key=linear(), value=linear()), X),
    "rows_of_a_view": (Written(lambda self, x: (x.view(1, 4, 2, 3) * self.linear(x[:, 0])).reshape(1, 4, 6),
                               linear=linear(6, 3)), X),
    "bias_of_a_layer": (Written(lambda self, x: self.linear(x) @ self.linear.weight + self.linear.bias,
                                linear=linear()), X),
    "flatten_by_name": (Written(lambda self, x: torch.flatten(input=x, start_dim=1)), X),
    "scaled_before_a_mask": (Written(lambda self, x: (self.linear(x) * 6**-0.5 @ x.mT + CAUSAL).softmax(-1) @ x,
                                     linear=linear()), X),
    "options_that_change_nothing": (Written(lambda self, x: torch.add(
        torch.div(x @ x.mT, 3**0.5, rounding_mode=None), CAUSAL, alpha=1).softmax(-1) @ x), X),
    "a_bias_for_each_head": (Written(
        lambda self, x: (x.view(1, 4, 2, 3).transpose(1, 2) @ x.view(1, 4, 2, 3).permute(0, 2, 3, 1) * 3**-0.5 +
                         self.bias).softmax(-1) @ x.view(1, 4, 2, 3).transpose(1, 2),
        buffers={"bias": torch.randn(2, 4, 4)}), X),
    "a_loop_over_outs": (Written(one_after_the_other, outs=nn.ModuleList(
        [nn.Sequential(linear(), nn.GELU()) for _ in range(3)])), X),
    "named_as_its_class": (nn.Sequential(Block(), union()), X),
    "classes_that_cpp_cannot_name_so": (nn.Sequential(*(type(name, (Mlp,), {})() for name in (
        "NULL", "NAN", "parameter_count", "tinyattn", "_Block", "A__B", "Gr\u00f6\u00dfe", "\u5757"))), X),
    "only_another_init": (Written(lambda self, x: self.a(x, x, x)[0], a=TwoHeads(6)), X),
    "arguments_by_name": (Written(lambda self, x: torch.matmul(input=x, other=self.norm(input=x[0])[None].mT),
                                  norm=trained(nn.BatchNorm1d(6))), X),
    "norm_with_one_weight": (Written(root_mean_square, weight=parameter(1)), X),
    "norm_with_ones_before_its_weight": (Written(root_mean_square, weight=parameter(1, 1, 6)), X),
    "masked_by_the_least_float": (Written(lambda self, x: (x @ x.mT).masked_fill(
        torch.ones(4, 4).triu(1).bool(), torch.finfo(x.dtype).min).softmax(-1) @ x), X),
    "one_padding_for_a_batch": (Written(lambda self, x: self.a(*[x.view(2, 2, 6)] * 3, key_padding_mask=torch.tensor(
        [[False, True]] * 2))[0].reshape(1, 4, 6), a=attention()), X),
    "numbers_of_numpy": (Written(lambda self, x: numpy.sqrt(2.0) * x[:, numpy.array([1, 0])] * numpy.float32(0.3)), X),
    "outer_products": (Written(lambda self, x: x.requires_grad_(False)[:, :, None] @ x[:, None]), ROW),
    "some_of_the_layers": (Written(lambda self, x: self.layers[:3](x) @ x.mH, layers=nn.Sequential(
        linear(), nn.Dropout2d(), nn.ReLU(), nn.Tanh())), X),
    "around_a_layer_of_torch": (AndAgain(6, 2, 8, batch_first=True), X),
    "a_table_when_first_called": (Written(with_a_table), X),
    "a_table_of_what_cannot_be_copied": (Written(with_a_table, lock=threading.Lock()), X),
    "one_layer_three_times": (Written(lambda self, x: self.linear(self.linear(self.linear(x))), linear=linear()), X),
    "what_cannot_be_restored": (Written(lambda self, x: (self.linear(x) - x).square(), linear=linear()), X),
    "a_gate": (Written(lambda self, x: x[:, -1:] + (F.silu(self.gate(x)) * self.up(x))[:, -1:], gate=linear(),
                       up=linear()), X),
    "queries_that_are_learned": (Written(read_by_queries, a=attention(), latents=parameter(3, 6)), X),
    "norms_of_convolutions": (nn.Sequential(
        nn.Conv1d(4, 6, 3, 2, 1, bias=False), trained(nn.BatchNorm1d(6)), nn.ReLU(inplace=True),
        nn.Conv1d(6, 5, 3, padding=1), trained(nn.BatchNorm1d(5)), nn.GELU()), X),
    "attention_with_two_masks": (Written(two_masks_in_a_batch, {"valid": torch.arange(4) < 3}, qkv=linear(6, 18)), X),
    "patches_that_overlap": (Written(
        patches_of_each_channel, embedding=linear(4, 6), position=parameter(3, 6), head=linear(18, 2),
        layer=nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)), SERIES),
    "each_function": (Written(each_function), X), "chosen": (Written(chosen, row=parameter(6)), X),
    "each_reduction": (Written(each_reduction, embedding=nn.Embedding(6, 6)), X),
    "moved": (Written(moved, {"order": torch.randperm(8)}), X), "assigned": (Written(assigned, linear=linear()), X),
    "products": (Written(products, bias=parameter(2, 1, 4), mix=parameter(2, 2)), X), "rotated": (Written(rotated), X),
    "log_mel": (Written(log_mel, mel=nn.Parameter(torch.rand(5, 9))), torch.randn(1, 64)),
    "padding_of_tokens": (Written(lambda self, t: (self.e(t) * (t != 0).unsqueeze(-1)).sum(1) / (t != 0).sum(1, True),
                                  e=nn.Embedding(6, 4)), torch.tensor([[1, 3, 0, 5, 0]])),
    "a_long_name": (Written(lambda self, t: F.relu(self.words_of_a_sentence_and_where_they_are(t).flip(1)),
                            words_of_a_sentence_and_where_they_are=nn.Embedding(6, 4)), torch.tensor([[1, 3]])),
    "norms_of_groups": (nn.Sequential(nn.GroupNorm(2, 4), nn.InstanceNorm1d(4, affine=True), nn.LayerNorm((4, 6)),
                                      nn.GLU(), nn.Softplus(), nn.LogSoftmax(1), nn.PReLU(4)), X),
    "every_activation": (nn.Sequential(*(getattr(nn, name)(**its) for _, name, its, *_ in ACTIVATIONS.values())), X),
    "spotted": (Written(spotted, front=nn.Conv1d(3, 8, 3), gru=nn.GRU(8, 5, 2, dropout=0.1, batch_first=True),
                        head=linear(5, 3)), SERIES),
    "read_and_written": (Written(read_and_written, reader=nn.LSTM(6, 5, 2, bias=False, batch_first=True),
                                 writer=nn.LSTM(6, 5, batch_first=True), head=linear(5, 5)), X),
    "cells_in_a_loop": (Written(cells_in_a_loop, gru=nn.GRUCell(6, 5), lstm=nn.LSTMCell(5, 5)), X),
    "tokens_first": (nn.Sequential(nn.LSTM(6, 5), Written(lambda self, x: x[0])), ROW.new_ones(3, 6)),
    "a_residual_block": (Written(
        residual, stem=normed(3, 8, 7, 2, 3), pool=nn.MaxPool2d(3, 2, 1), first=normed(8, 12, 3, 2, 1),
        second=normed(12, 12, 3, 1, 1), shortcut=normed(8, 12, 1, 2),
        head=nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear(12, 4))), torch.randn(1, 3, 32, 32)),
    "keywords_by_depthwise_convolutions": (nn.Sequential(
        normed(1, 8, (10, 4), 2, (4, 1)), nn.ReLU(), normed(8, 8, 3, 1, 1, groups=8), nn.ReLU(), normed(8, 12, 1),
        nn.ReLU(), nn.AvgPool2d((3, 2)), nn.Flatten(), linear(144, 5)), torch.randn(1, 1, 40, 10)),
    "dilated_convolutions": (nn.Sequential(
        nn.Conv1d(6, 6, 3, padding=4, dilation=2, groups=6), nn.ReLU(), nn.Conv1d(6, 4, 4, padding="same"),
        nn.Conv1d(4, 6, 2, padding="same", dilation=3, groups=2), nn.MaxPool1d(3, 2, 1),
        nn.AvgPool1d(2, ceil_mode=True)), torch.randn(1, 6, 20)),
    "convolutions_and_pools_as_functions": (Written(of_functions, w=parameter(4, 2, 2, 3)), torch.randn(1, 4, 8, 9)),
    "pools_to_sizes": (nn.Sequential(
        nn.AdaptiveAvgPool2d((3, 2)), trained(nn.BatchNorm2d(4)), nn.AdaptiveMaxPool2d(2), nn.Flatten(2),
        nn.AdaptiveAvgPool1d(3), nn.AdaptiveMaxPool1d(1)), torch.randn(1, 4, 8, 9)),
    "a_gray_image": (nn.Sequential(
        nn.MaxPool2d(2), nn.Conv2d(1, 3, 4, padding="same"), nn.ReLU(), nn.Conv2d(3, 1, 2, 2)), torch.randn(1, 1, 8, 8)),
    "modules_made_in_forward": (Written(lambda self, x: nn.Softmax(-1)(self.linear(x)) + nn.Softmax(1)(nn.ReLU()(x)), linear=linear()), X),
    "unflattened": (nn.Sequential(linear(), nn.Unflatten(2, (2, 3)), nn.Flatten(2), linear()), X),
    "reads_spectra": (ReadsSpectra(), torch.randn(1, 8, 20)),
    "masks_of_a_source": (Written(
        lambda self, x: self.d(self.d(x[:, :3], x, tgt_mask=CAUSAL[0, :3, :3], memory_mask=SOURCE_MASK),
                               self.linear(x[:, 1:]), memory_key_padding_mask=torch.tensor([[False, True, False]])),
        d=nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8, batch_first=True), 2), linear=linear()), X),
    "a_decoder_of_a_batch": (Written(lambda self, x: self.d(x.view(2, 2, 6), x.view(2, 2, 6) * 2).view(1, 4, 6),
                                     d=nn.TransformerDecoderLayer(6, 3, 8)), X),
    "keys_and_values_of_other_widths": (Written(lambda self, x: self.a(
        x[:, :3], x[..., :4], x[..., 1:], attn_mask=OF_HEADS[:, :3], key_padding_mask=torch.arange(4)[None] > 2)[0],
        a=nn.MultiheadAttention(6, 2, kdim=4, vdim=5, batch_first=True)), X),
    "biases_and_zeros_behind_keys": (Written(
        lambda self, x: self.a(x, x, x, attn_mask=CAUSAL[0])[0],
        a=nn.MultiheadAttention(6, 2, add_bias_kv=True, add_zero_attn=True)), X[0]),
    "one_query_without_a_batch": (Written(lambda self, x: self.a(x[:, None], *[self.up(x)[:, None]] * 2)[0], up=linear(6, 8),
                                          a=nn.MultiheadAttention(6, 1, kdim=8, vdim=8, add_bias_kv=True)), ROW),
    "a_mask_for_each_head": (Written(
        lambda self, x: self.a(*[x.view(2, 2, 6)] * 3, attn_mask=OF_HEADS.view(4, 2, 4)[..., :2])[0].reshape(1, 4, 6) +
        self.a(x, x, x, attn_mask=OF_HEADS)[0] + self.a(x, x, x)[0], a=attention()), X),
    "a_mask_of_bools_for_each_head": (Written(lambda self, x: attend(self, x, attn_mask=OF_HEADS[None] > 0.3),
                                              query=linear(), key=linear(), value=linear()), X),
    "weights_of_attention": (Written(attends_by_weights, layers=nn.ModuleList([attention(), attention()])), X),
    "a_whole_transformer": (Written(lambda self, x: self.t(x, x[:, 1:]), t=nn.Transformer(
        6, 2, 1, 2, 8, batch_first=True)), X),
    "an_epsilon_behind_the_root": (Written(lambda self, x: self.weight * x / (x.pow(2).mean(-1, True).sqrt() + 1e-6) + (
        x / x.pow(2).mean(-1, True).sqrt().clamp(min=1e-6)), weight=parameter(6)), X * 1e-6),
    "a_variance_that_is_clamped": (Written(lambda self, x: x * torch.rsqrt(x.pow(2).mean(-1, True).clamp(max=1e4) + 1e-5)),
                                   X * 1e4),
    "norms_of_the_channels_of_an_image": (Written(lambda self, x: (x - x.mean(1, True)) / torch.sqrt(
        (x - x.mean(1, True)).pow(2).mean(1, True) + 1e-6)), torch.randn(1, 3, 5, 4)),
    "a_bias_for_each_token_behind_a_norm": (Written(lambda self, x: (x - x.mean(-1, True)) / (
        x.var(-1, False, keepdim=True) + 1e-5).sqrt() + self.bias[:, None], bias=parameter(8)), torch.randn(1, 8, 8)),
    "nearly_activations": (Written(lambda self, x: x.clamp(min=0).clamp(max=100) + (x * x.sigmoid()).clamp(max=100)), X * 1e3),
    "nearly_a_relu": (Written(lambda self, x: x * (x > 1e-3)), X * 1e-3),
    "functions_of_tokens": (Written(lambda self, t: F.relu(t.float() - 2) + (1.0 - t.float()) * -t.float()),
                            torch.tensor([[1, 3, 0, 5]])),
    "an_input_of_another_type": (Written(lambda self, x, t: x.long() + x.bool().float() + F.dropout2d(
        self.d(x), training=self.training) + t.bool() + t.float().requires_grad_(False), d=nn.Dropout2d()),
        (torch.randn(1, 6), torch.tensor([[0, 1, 2, 0, 3, 4]]))),
    "expanded_as_another": (Written(lambda self, x: x * x.mean(1, True).expand_as(x)), X),
    "empty_before_it_is_written": (Written(halves_swapped), X),
    "steps_in_place_by_operators": (Written(raised, linear=linear()), X),
}
OF_PYTORCH_2 = {
    "four_heads_share_two": (Written(lambda self, x: attend(self, x, enable_gqa=True, is_causal=True),
                                     query=linear(6, 12), key=linear(), value=linear()), X),
    "two_heads_share_one": (Written(lambda self, x: attend(self, x, enable_gqa=True), query=linear(),
                                    key=linear(6, 3), value=linear(6, 3)), X),
    "another_scale": (Written(lambda self, x: attend(self, x, scale=0.3), query=linear(), key=linear(),
                              value=linear()), X),
    "norms": (nn.Sequential(nn.RMSNorm(6), nn.LayerNorm(6, bias=False), nn.RMSNorm(6, eps=1e-3)), X),
    "norm_of_a_function": (Written(lambda self, x: F.rms_norm(x, (6,), self.w, 1e-5), w=parameter(6)), X),
    "causal_twice": (Written(lambda self, x: self.a(x, x, x, attn_mask=CAUSAL[0], is_causal=True)[0],
                             a=attention()), X),
} if hasattr(nn, "RMSNorm") else {}
