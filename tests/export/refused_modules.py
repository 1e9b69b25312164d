# SPDX-License-Identifier: MIT
"""Modules that cannot be exported: each gives one sentence, with the module, the operation, its line and what could be
written instead, and no file is written. Needs PyTorch (Debian: python3-torch); skips its tests without it."""
import pathlib
import tempfile

from tests.support import debian, tap

debian.needs_pytorch()
import torch
import torch.nn.functional as F
from torch import nn

from ports.pytorch.tinyattn_export import ExportError, module


class Written(nn.Module):
    """A module whose forward is a function."""

    def __init__(self, function, **members):
        super().__init__()
        self.function = function
        for name, member in members.items():
            setattr(self, name, member)

    def forward(self, x):
        return self.function(self, x)


def branch(self, x):
    return x if x.sum() > 0 else -x


def loop_until(self, x):
    while float(x[0, 0, 0]) < 3:
        x = x + 1
    return x


def view_read_later(self, x):
    y = self.layer(x)
    first = y[:, 0]
    y.mul_(2.0)
    return y + first


def parameter_overwritten(self, x):
    self.layer.weight.data.mul_(1.0)
    self.gain.add_(1.0)
    return x * self.gain


LINE = f"{pathlib.Path(__file__).name}:"
X = torch.ones(1, 4, 6)
ATTENTION = nn.MultiheadAttention(6, 2, batch_first=True)


def written(function, **members):
    return Written(function, **members).eval()


CASES = [  # (what the sentence must say, the module, the example)
    ("a branch depends on what the input holds", written(branch), X),
    ("float() depends on what the input holds", written(loop_until), X),
    ("mul_ writes in place to what getitem, which is read later, is a view of",
     written(view_read_later, layer=nn.Linear(6, 6)), X),
    ("add_ writes to gain, a parameter or a buffer",
     written(parameter_overwritten, layer=nn.Linear(6, 6), gain=nn.Parameter(torch.ones(6), False)), X),
    ("Dropout is in training", nn.Sequential(
        nn.Linear(6, 6), nn.Sequential(nn.Identity(), nn.Dropout())), X),
    ("BatchNorm1d is in training", nn.BatchNorm1d(4), X),
    ("dropout in training draws random numbers", written(lambda self, x: F.dropout(x, 0.5)), X),
    ("0.weight is of torch.float64: call .float()", nn.Sequential(nn.Linear(6, 6)).double().eval(), X.double()),
    ("example is of torch.float64", nn.Linear(6, 6).eval(), X.double()),
    ("weight is on the meta device", nn.Linear(6, 6, device="meta").eval(), X),
    ("example is a batch of 2", nn.Linear(6, 6).eval(), torch.ones(2, 4, 6)),
    ("there is nothing for torch.nn.GRU: attention sees all tokens at once",
     written(lambda self, x: self.gru(x)[0], gru=nn.GRU(6, 6, batch_first=True)), X),
    ("there is nothing for torch.nn.LeakyReLU: ReLU, GELU and SiLU", nn.Sequential(nn.LeakyReLU()).eval(), X),
    ("there is nothing for einsum: write it with transpose and matmul",
     written(lambda self, x: torch.einsum("bij,bkj->bik", x, x)), X),
    ("there is nothing for sort: sort after forward", written(lambda self, x: x.sort(1)[0]), X),
    ("there is nothing for setitem: join", written(lambda self, x: [x := x + 1, x.__setitem__((0, 0), 1), x][2]), X),
    ("forward returns a tuple: it must return one tensor", written(lambda self, x: (x, x)), X),
    ("the module does not compute what its trace computes", written(lambda self, x: x + torch.rand(())), X),
    ("what forward returns does not depend on its input", written(lambda self, x: self.a * 2, a=nn.Parameter(X)), X),
    ("a convolution with groups or a dilation", nn.Sequential(nn.Conv1d(4, 4, 2, dilation=2)).eval(), X),
    ("padding='same' with an even kernel", nn.Sequential(nn.Conv1d(4, 4, 2, padding="same")).eval(), X),
    ("a Conv2d whose kernel is not its stride", nn.Sequential(nn.Conv2d(1, 4, 3)).eval(), torch.ones(1, 1, 8, 8)),
    ("mean over all dimensions", written(lambda self, x: x.mean()), X),
    ("a power of 3", written(lambda self, x: x**3), X),
    ("there is nothing for gt: make masks of constants", written(lambda self, x: x.masked_fill(x > 0, 0.0)), X),
    ("a division by what depends on the input", written(lambda self, x: x / x), X),
    ("getitem takes elements one by one: take a slice", written(lambda self, x: x[:, [0, 2]]), X),
    ("the weights of attention are a result that nothing here computes",
     written(lambda self, x: self.attention(x, x, x)[1] * 2, attention=ATTENTION), X),
    ("add_bias_kv or add_zero_attn", written(
        lambda self, x: self.attention(x, x, x)[0], attention=nn.MultiheadAttention(6, 2, add_zero_attn=True)), X),
    ("keys or values of another width", written(
        lambda self, x: self.attention(x, x[:, :4], x[:, :4])[0],
        attention=nn.MultiheadAttention(6, 2, kdim=4, vdim=4)), X[0]),
    ("the activation tanh in a block", nn.Sequential(
        nn.TransformerEncoderLayer(6, 2, 8, activation=torch.tanh, batch_first=True)).eval(), X),
    ("tokens are taken by an Embedding only", written(lambda self, x: x + 1), torch.ones(1, 4, dtype=torch.long)),
    ("double to torch.float64", written(lambda self, x: x.double() + 1), X),
    ("is not finite", written(lambda self, x: x * 3e38 * 3e38), X),
    ("missing 1 required positional argument", Undersupplied := type("Undersupplied", (nn.Module,), {
        "forward": lambda self, x, y: x + y})().eval(), X),
    ("net is a dict", {}, X),
    ("example must be one tensor", nn.Linear(6, 6).eval(), [X]),
]
IN_TRACE = {"BatchNorm1d is in training", "is of torch", "on the meta", "is a batch", "returns a", "its trace", "does not depend on its",
            "not finite", "missing", "net is", "one tensor"}


def problem(phrase, net, example):
    with tempfile.TemporaryDirectory() as folder:
        try:
            module(net, example, f"{folder}/model.hpp", binary=f"{folder}/weights.bin")
            return "it is exported"
        except ExportError as error:
            sentence = str(error)
        left = [path.name for path in pathlib.Path(folder).iterdir()]
    if phrase not in sentence or "\n" in sentence or left:
        return f"{sentence} {left}"
    needs_line = not any(part in phrase for part in IN_TRACE)
    return sentence if needs_line and not (LINE in sentence and ": " in sentence) else ""


def one_file():
    """Returns what is wrong if the header and the binary are to be one file."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            module(nn.Linear(6, 6).eval(), X, f"{folder}/a", binary=f"{folder}/./a")
        except ExportError as error:
            return "" if "path and binary are one file" in str(error) else str(error)
    return "it is exported"


tap.report([("the header and the binary are one file", one_file), *((phrase, problem, phrase, net, example) for phrase, net, example in CASES)])
