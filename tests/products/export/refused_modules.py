# SPDX-License-Identifier: MIT
"""Modules that cannot be exported: each gives one sentence with the module, the operation, its line and what could be
written instead, and no file is written. Needs PyTorch (Debian: python3-torch); skips its tests without it."""
import functools
import pathlib
import tempfile
import unittest.mock

from tests.support import debian, tap

debian.needs_pytorch()
import torch
import torch.nn.functional as F
from torch import nn

from ports.pytorch.tinyattn_export import ExportError, module
from ports.pytorch.tinyattn_export.modules import lowering
from tests.products.export.corner_modules import Written


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


def assigned(self, x):
    y = self.layer(x)
    y[:, 0] = 0
    return y


def written_norm(self, x, **options):
    return self.gain * (x * torch.rsqrt(torch.add(x.square().mean(-1, keepdim=True), 1.0, **options)))


def clamped(*arguments):
    """A branch that neither the example nor any input drawn like it reaches."""
    return arguments[-1].clamp(-20, 20)


class Clamped(nn.Linear):
    forward = functools.partialmethod(lambda self, most, x: F.linear(x, self.weight, self.bias).clamp(-most, most), 20)


def hooked(layer):
    layer.register_forward_hook(clamped)
    return layer


def with_own_forward(layer):
    layer.forward = lambda x: clamped(type(layer).forward(layer, x))
    return layer


def layer_with(**parts):
    """Returns an encoder's layer with other parts."""
    layer = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
    for name, part in parts.items():
        setattr(layer, name, part)
    return layer


class Kind(torch.Tensor):
    """A tensor with methods of its own."""


LINE = f"{pathlib.Path(__file__).name}:"
X = torch.ones(1, 4, 6)
ATTENTION = nn.MultiheadAttention(6, 2, batch_first=True)
PADDING = torch.tensor([[False, False], [False, True]])  # of two batch elements
GAIN = nn.Parameter(torch.ones(6))


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
    ("there is nothing for einsum: write it with transpose and matmul",
     written(lambda self, x: torch.einsum("bij,bkj->bik", x, x)), X),
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
    *(("the weights of attention are a result that nothing here computes", written(function, attention=ATTENTION), X)
      for function in (lambda self, x: self.attention(x, x, x)[1] * 2, lambda self, x: self.attention(x, x, x)[1] @ x)),
    ("a padding mask of its own for each batch element", written(
        lambda self, x: self.attention(*[x.view(2, 2, 6)] * 3, key_padding_mask=PADDING)[0], attention=ATTENTION), X),
    ("multiply by one number that depends on the input", written(
        lambda self, x: (x @ x.transpose(1, 2) * self.temperature(x.mean(1))).softmax(-1) @ x,
        temperature=nn.Linear(6, 1)), X),
    ("there is nothing for new_full", written(lambda self, x: x - x.new_full((1,), x[0, 0, 0])), X),
    ("add with alpha: multiply before", written(lambda self, x: written_norm(self, x, alpha=3), gain=GAIN), X),
    ("an argument that is not known here, rounding_mode=floor", written(
        lambda self, x: torch.div(x @ x.transpose(1, 2), 0.5, rounding_mode="floor").softmax(-1) @ x), X),
    ("there is nothing for rsqrt: write the norm", written(written_norm, gain=nn.Parameter(torch.ones(4, 1))), X),
    ("nonzero depends on what the input holds, since another input", written(
        lambda self, x: x * len(torch.nonzero(x > 0))), X),
    ("a tensor of its own kind, Kind: make a plain tensor of it", written(
        lambda self, x: x * self.gain, gain=torch.ones(6).as_subclass(Kind)), X),
    ("getitem takes elements one by one: take a slice", written(
        lambda self, x: x[:, self.index], index=torch.tensor([0, 2, 1])), X),
    ("there is nothing for torch.nn.functional.unfold: a Conv2d", written(
        lambda self, x: F.unfold(x[:, None], 2, stride=2).transpose(1, 2)), X),
    ("getitem gives a tensor without elements", written(lambda self, x: torch.cat([x, x[:, 4:]], 1)), X),
    ("there is nothing for searchsorted", written(
        lambda self, x: x * torch.searchsorted(sorted_sequence=self.gain, input=x),
        gain=torch.arange(6.0)), X),
    ("view of the bits as another type", written(lambda self, x: x.view(torch.int32).view(torch.float32)), X),
    ("there is nothing for setitem: join", written(assigned, layer=nn.Linear(6, 6)), X),
    ("max without dim, or of two tensors", written(lambda self, x: torch.max(x, self.gain), gain=GAIN), X),
    ("masked_fill by what is no finite number", written(
        lambda self, x: x.masked_fill(torch.ones(4, 6).bool(), x[0, 0, 0])), X),
    ("masked_fill has arguments that are not known here", written(
        lambda self, x: x[0, 0].masked_fill(torch.ones(4, 6).bool(), 0.0)), X),
    ("0.weight holds NaN: ", nn.Sequential(nn.Embedding.from_pretrained(torch.full((2, 1), torch.nan))),
     torch.tensor([[1]])),
    ("0.weight holds infinity", nn.Sequential(
        nn.Embedding.from_pretrained(torch.tensor([[1.0], [torch.inf]]))), torch.tensor([[0]])),
    ("is not finite", written(lambda self, x: x * 3e38 * 3e38 * 0), X),
    ("ask for the type of its input", written(
        lambda self, x: x * (2 if isinstance(x, torch.Tensor) else 1)), X),
    *((f"{name} is another module than torch.nn put there",
       nn.Sequential(layer_with(**{name: part})).eval(), X) for name, part in (
           ("linear1", Clamped(6, 8)), ("linear2", hooked(nn.Linear(8, 6))),
           ("linear2", with_own_forward(nn.Linear(8, 6))), ("norm2", nn.BatchNorm1d(4)))),
    *((sentence, nn.Sequential(nn.TransformerEncoder(
        layer_with(**parts), 2, norm, enable_nested_tensor=False)).eval(), X)
      for sentence, norm, parts in (
          ("the activation ReLU in a block", None, {"activation": hooked(nn.ReLU())}),
          ("a final norm of another kind", nn.LayerNorm(6, eps=1e-3), {}))),
    *(("there is nothing for clamp", net.eval(), X) for net in (
        hooked(nn.Sequential(nn.Linear(6, 6))), nn.Sequential(Clamped(6, 6)), nn.Sequential(hooked(nn.Linear(6, 6))))),
    ("add_bias_kv or add_zero_attn", written(
        lambda self, x: self.attention(x, x, x)[0], attention=nn.MultiheadAttention(6, 2, add_zero_attn=True)), X),
    ("keys or values of another width", written(
        lambda self, x: self.attention(x, x[:, :4], x[:, :4])[0],
        attention=nn.MultiheadAttention(6, 2, kdim=4, vdim=4)), X[0]),
    ("the activation tanh in a block", nn.Sequential(
        nn.TransformerEncoderLayer(6, 2, 8, activation=torch.tanh, batch_first=True)).eval(), X),
    ("tokens are taken by an Embedding only", written(lambda self, x: x + 1), torch.ones(1, 4, dtype=torch.long)),
    ("double to torch.float64", written(lambda self, x: x.double() + 1), X),
    ("missing 1 required positional argument", Undersupplied := type("Undersupplied", (nn.Module,), {
        "forward": lambda self, x, y: x + y})().eval(), X),
    ("net is a dict", {}, X),
    ("example must be one tensor", nn.Linear(6, 6).eval(), [X]),
]
MASK = torch.tensor([[0.0, 0.0, -torch.inf, 0.0]] * 4)  # not causal
LAYER = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)


def causal_bias():
    from torch.nn.attention.bias import causal_upper_left
    return causal_upper_left(4, 4)


OF_PYTORCH_2 = [
    *(("is_causal=True with a mask that is not causal", written(function, part=part), X) for function, part in (
        (lambda self, x: self.part(x, x, x, attn_mask=MASK, is_causal=True, need_weights=False)[0], ATTENTION),
        (lambda self, x: self.part(x, src_mask=MASK, is_causal=True), LAYER),
        (lambda self, x: self.part(x, mask=MASK, is_causal=True), nn.TransformerEncoder(LAYER, 1)))),
    ("a tensor of its own kind, CausalBias", written(
        lambda self, x: F.scaled_dot_product_attention(x, x, x, attn_mask=causal_bias())), X),
    ("a parametrized module: call torch.nn.utils.parametrize.remove_parametrizations", nn.Sequential(
        nn.utils.parametrizations.weight_norm(nn.Linear(6, 6))).eval(), X),
    ("net is of torch.jit, which is not traced", torch.jit.trace(nn.Linear(6, 6), X), X),
] if hasattr(nn, "RMSNorm") else []
IN_TRACE = {"net is of torch.jit", "holds NaN", "holds infinity", "the type of its input", "BatchNorm1d is in training",
            "is of torch", "on the meta", "is a batch", "returns a", "its trace", "does not depend on its",
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


def refused_path(sentence, path, binary):
    """Returns what is wrong if the written files have these names."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            module(nn.Linear(6, 6).eval(), X, f"{folder}/{path}", binary=f"{folder}/{binary}")
        except ExportError as error:
            return "" if sentence in str(error) else str(error)
    return "it is exported"


def wrong_step(function):
    """Returns what is wrong if relu is lowered to x * 1, which is right for the example: it has no negative number."""
    wrong = {"relu": lambda low, input: low.elementwise(input, "multiply", "1.0f")}
    with unittest.mock.patch.dict(lowering.table.FUNCTIONS, wrong):
        return problem("what would be exported of relu differs by", written(function), X)


def unknown_step():
    """Returns what is wrong if relu is lowered to a function that Python does not know."""
    unknown = {"relu": lambda low, input: low.elementwise(input, "unknown")}
    with unittest.mock.patch.dict(lowering.table.FUNCTIONS, unknown):
        return problem("of relu cannot be computed (name 'unknown' is not defined)",
                       written(lambda self, x: F.relu(x)), X)


PATHS = [("path and binary are one file", "a", "./a"), ("has the name of a file in C", "a.h", "b"),
         ("has the name of a file in C", "a.c", "b")]
tap.report([("a step that is lowered wrong is named", wrong_step(lambda self, x: 2 * F.relu(x))),
            ("also beside large numbers, as of a mask",
             wrong_step(lambda self, x: F.relu(x.masked_fill(torch.eye(4, 6).bool(), 1e9)))),
            ("a step that Python does not know is named", unknown_step()),
            *((sentence, refused_path, sentence, *names) for sentence, *names in PATHS),
            *((phrase, problem, phrase, net, example) for phrase, net, example in [*CASES, *OF_PYTORCH_2]),
            *([] if OF_PYTORCH_2 else [("modules of PyTorch 2", tap.Skip(f"PyTorch {torch.__version__} has none"))])])
