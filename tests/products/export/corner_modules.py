# SPDX-License-Identifier: MIT
"""Small modules in which an exporter can silently be wrong: {name: (the module, an example)}."""
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

    def forward(self, x):
        return self.function(self, x)


class WrittenNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = parameter(width), parameter(width)

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


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


def attention():
    return nn.MultiheadAttention(6, 2, batch_first=True)


def linear(inputs=6, outputs=6):
    return nn.Linear(inputs, outputs)


def trained(norm):
    """Gives a BatchNorm1d statistics other than 0 and 1."""
    for tensor in (norm.running_mean, norm.running_var, norm.weight.data):
        nn.init.uniform_(tensor, 0.5, 2)
    return norm


torch.manual_seed(5)
X, ROW, SERIES = torch.randn(1, 4, 6), torch.randn(1, 6), torch.randn(1, 8, 3)
CAUSAL = torch.full((1, 4, 4), -torch.inf).triu(1)
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
    "a_number_of_numpy": (Written(lambda self, x: x * numpy.float32(0.3)), X),
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
    "every_activation": (nn.Sequential(*(getattr(nn, name)(**its) for _, name, its, *_ in ACTIVATIONS.values())), X),
    "unflattened": (nn.Sequential(linear(), nn.Unflatten(2, (2, 3)), nn.Flatten(2), linear()), X),
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
