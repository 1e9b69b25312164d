# SPDX-License-Identifier: MIT
"""Modules that cannot be exported: each gives one sentence with the module, the operation, its line and what could be
written instead, and no file is written. Needs PyTorch (Debian: python3-torch); skips its tests without it."""
import contextlib
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
from tests.products.export.corner_modules import Written, forward_of


def clamped(*arguments):
    """A branch that neither the example nor any input drawn like it reaches."""
    return arguments[-1].fmax(torch.tensor(-20.0))


class Clamped(nn.Linear):
    forward = functools.partialmethod(lambda self, most, x: F.linear(x, self.weight, self.bias).fmax(most), torch.tensor(-20.0))


def hooked(layer):
    layer.register_forward_hook(clamped)
    return layer


def with_own_forward(layer):
    layer.forward = lambda x: clamped(type(layer).forward(layer, x))
    return layer


def layer_with(kind=nn.TransformerEncoderLayer, **parts):
    """Returns a layer with other parts."""
    layer = kind(6, 2, 8, batch_first=True)
    for name, part in parts.items():
        setattr(layer, name, part)
    return layer


class Kind(torch.Tensor):
    """A tensor with methods of its own."""


LINE = f"{pathlib.Path(__file__).name}:"
X = torch.ones(1, 4, 6)
ATTENTION = nn.MultiheadAttention(6, 2, batch_first=True)
PADDING = torch.tensor([[False, False], [False, True]])  # of two batch elements
MASK = torch.tensor([[0.0, 0.0, -torch.inf, 0.0]] * 4)  # not causal
GAIN, FIXED_GAIN = nn.Parameter(torch.ones(6)), nn.Parameter(torch.ones(6), False)
SPARSE = nn.Linear(6, 6)
SPARSE.register_buffer("gain", torch.eye(4).to_sparse())
TIED, TIED_TO = nn.Linear(6, 6), nn.Linear(6, 6)
TIED.weight = TIED_TO.weight
KEEPS = "result, self.last = x + self.last, x; result"


def written(function, **members):
    return Written(function, **members).eval()


def stated(code, **members):
    """Returns a module whose forward has these statements, and returns the last."""
    return written(forward_of(code, __file__), **members)


def caught(self, x):
    with contextlib.suppress(Exception):
        return -x if x.max() > 1e6 else x
    return x


CASES = [  # (what the sentence must say, the module, the example)
    ("a branch depends on what the input holds", written(lambda self, x: x if x.sum() > 0 else -x), X),
    ("a branch depends on", written(lambda self, x: -x if isinstance(x, torch.Tensor) and x.max() > 1e6 else x), X),
    ("a branch depends on", written(lambda self, x: -x if torch.is_tensor(x) and x.max() > 1e6 else x), X),
    ("a branch depends on", written(caught), X),
    ("torch.tensor() depends on", written(lambda self, x: x * torch.tensor([x.mean(), 2])), X),
    ("forward keeps running_mean between calls: take it as an input", stated(
        "self.norm.running_mean = x[0].mean(1); self.norm(x)", norm=nn.BatchNorm1d(4)), X),
    ("a text depends on", stated('print(f"{x.mean():.3f}"); x'), X),
    ("an array of NumPy depends on", stated("x * numpy.asarray(x.mean())"), X),
    ("forward fails: 'Written' object has no attribute 'nothing'", written(lambda self, x: self.nothing(x)), X),
    ("gain is sparse: give gain.to_dense()", SPARSE, X),
    ("0 is of torch.jit", nn.Sequential(torch.jit.script(nn.Linear(6, 6))).eval(), X),
    ("float() depends on what the input holds", stated("while float(x[0, 0, 0]) < 3: x = x + 1; x"), X),
    ("mul_ writes in place to what getitem, which is read later, is a view of",
     stated("y = self.layer(x); first = y[:, 0]; y.mul_(2.0); y + first", layer=nn.Linear(6, 6)), X),
    ("add_ writes to gain, a parameter or a buffer",
     stated("self.layer.weight.data.mul_(1.0); self.gain.add_(1.0); x * self.gain", layer=nn.Linear(6, 6), gain=FIXED_GAIN), X),
    ("Dropout is in training", nn.Sequential(
        nn.Linear(6, 6), nn.Sequential(nn.Identity(), nn.Dropout())), X),
    ("BatchNorm1d is in training", nn.BatchNorm1d(4), X),
    ("GRU is in training", nn.Sequential(nn.GRU(6, 6, 2, dropout=0.5)), X),
    ("dropout in training draws random numbers", written(lambda self, x: F.dropout(x, 0.5)), X),
    ("0.weight is of torch.float64: call .float()", nn.Sequential(nn.Linear(6, 6)).double().eval(), X.double()),
    ("example is of torch.float64", nn.Linear(6, 6).eval(), X.double()),
    ("weight is on the meta device", nn.Linear(6, 6, device="meta").eval(), X),
    ("example is a batch of 2", nn.Linear(6, 6).eval(), torch.ones(2, 4, 6)),
    ("Linear is made in forward: make it in __init__", written(lambda self, x: nn.Linear(6, 6)(x)), X),
    ("forward returns something of type int", written(lambda self, x: {"y": x, "n": 3}), X),
    ("forward returns a tensor of torch.float64", written(lambda self, x: (x, torch.ones(3).double())), X),
    ("forward returns a whole number above 16777216", written(lambda self, x: (x * 2**25).long()), X),
    ("what forward returns does not depend on its", written(lambda self, x, y: (self.a, self.a), a=GAIN), (X, X)),
    ("example has a number that is not finite", nn.Linear(6, 6).eval(), X / 0),
    ("example must be one tensor that is not empty, or a tuple", nn.Linear(6, 6).eval(), (X, "a")),
    *((sentence, written(lambda self, x: self.layer(x)[0], layer=layer), X) for sentence, layer in (
        ("a batch of 4 sequences: export one of them; with batch_first=True", nn.GRU(6, 6)),
        ("proj_size of LSTM: put a Linear behind the layer", nn.LSTM(6, 6, batch_first=True, proj_size=2)),
        ("there is nothing for torch.nn.RNN: take GRU or LSTM", nn.RNN(6, 6, batch_first=True)))),
    ("a batch of 4 tokens: export one of them", written(lambda self, x: self.cell(x[0]), cell=nn.GRUCell(6, 6)), X),
    ("the module does not compute what its trace computes", written(lambda self, x: x + torch.rand(())), X),
    ("the module does not compute what its trace computes", stated(KEEPS, last=0), X),
    ("the module does not compute what its trace computes", stated(KEEPS, last=torch.ones(1)), X),
    ("or use autocast", written(torch.autocast("cpu", torch.bfloat16)(lambda self, x: self.layer(x)), layer=nn.Linear(6, 6)), X),
    ("numpy() depends on what the input holds", written(lambda self, x: x * x.numpy().max()), X),
    ("what forward returns does not depend on its input", written(lambda self, x: self.a * 2, a=nn.Parameter(X)), X),
    ("a padding of 3 for a kernel of 3: take a padding", nn.Sequential(nn.Conv1d(4, 4, 2, 1, 3, 2)).eval(), X),
    ("a padding of 3 for a kernel of 2: take less", nn.Sequential(nn.ConvTranspose1d(4, 4, 2, padding=3)).eval(), X.repeat(1, 1, 2)),
    ("interpolate of mode 'area'", written(lambda self, x: F.interpolate(x, size=3, mode="area")), X),
    ("a batch norm without running statistics", written(lambda self, x: F.batch_norm(x, None, None, training=True)), X),
    ("divisor_override: multiply", nn.Sequential(nn.AvgPool2d(2, divisor_override=3)).eval(), torch.ones(1, 1, 8, 8)),
    ("the weight of conv1d depends on the input", written(lambda self, x: F.conv1d(x, x)), X),
    ("the weights of attention are a result that nothing here computes", written(
        lambda self, x: self.attention(x, x, x)[1], attention=nn.MultiheadAttention(6, 2, add_zero_attn=True)), X[0]),
    ("the mean of weights over heads in a batch", written(
        lambda self, x: self.attention(*[x.view(2, 2, 6)] * 3)[1], attention=ATTENTION), X),
    ("a padding mask of its own for each batch element", written(
        lambda self, x: self.attention(*[x.view(2, 2, 6)] * 3, key_padding_mask=PADDING)[0], attention=ATTENTION), X),
    ("a padding mask that depends on the input with a mask that is not causal", written(lambda self, x: self.attention(
        x, x, x, attn_mask=MASK, key_padding_mask=x[..., 0] > 2)[0], attention=ATTENTION), X),
    ("a layer is called with a causal mask and a padding mask, and without the first: give each call", written(lambda self, x: sum(
        self.attention(x, x, x, attn_mask=mask, key_padding_mask=x[..., 0] > 2)[0] for mask in (None, torch.ones(4, 4).triu(1).bool())),
        attention=ATTENTION), X),
    ("a mask that depends on the input: make", written(
        lambda self, x: self.attention(x, x, x, attn_mask=x[0, :, :4] > 2)[0], attention=ATTENTION), X),
    ("there is nothing for new_full", written(lambda self, x: x - x.new_full((1,), x[0, 0, 0])), X),
    ("nonzero depends on what the input holds, since another input", written(
        lambda self, x: x * len(torch.nonzero(x > 0))), X),
    ("a tensor of its own kind, Kind: make a plain tensor of it", written(
        lambda self, x: x * self.gain, gain=torch.ones(6).as_subclass(Kind)), X),
    ("there is nothing for torch.nn.functional.unfold: a Conv2d", written(
        lambda self, x: F.unfold(x[:, None], 2, stride=2).transpose(1, 2)), X),
    ("getitem gives a tensor without elements", written(lambda self, x: torch.cat([x, x[:, 4:]], 1)), X),
    ("there is nothing for searchsorted", written(
        lambda self, x: x * torch.searchsorted(sorted_sequence=self.gain, input=x),
        gain=torch.arange(6.0)), X),
    ("view of the bits as another type", written(lambda self, x: x.view(torch.int32).view(torch.float32)), X),
    ("0.weight holds NaN: ", nn.Sequential(nn.Embedding.from_pretrained(torch.full((2, 1), torch.nan))),
     torch.tensor([[1]])),
    ("0.weight holds infinity", nn.Sequential(
        nn.Embedding.from_pretrained(torch.tensor([[1.0], [torch.inf]]))), torch.tensor([[0]])),
    ("is not finite", written(lambda self, x: x * 3e38 * 3e38 * 0), X),
    ("ask for the type of its input", written(lambda self, x: x * (2 if type(x) is torch.Tensor else 1)), X),
    ("ask for the type of its input", written(lambda self, x: x * (2 if type(x) is torch.Tensor and x.max() > 30 else 1)), X),
    *((f"{name} is another module than torch.nn put there",
       nn.Sequential(layer_with(**{name: part})).eval(), X) for name, part in (
           ("linear1", Clamped(6, 8)), ("linear2", hooked(nn.Linear(8, 6))),
           ("linear2", with_own_forward(nn.Linear(8, 6))), ("norm2", nn.BatchNorm1d(4)))),
    ("norm3 is another module than torch.nn put there", written(lambda self, x: self.layer(x, x), layer=layer_with(
        nn.TransformerDecoderLayer, norm3=nn.BatchNorm1d(4))), X),
    ("a causal memory_mask together with another", written(lambda self, x: self.layer(
        x, x, memory_mask=torch.ones(4, 4).triu(1).bool(), memory_key_padding_mask=torch.tensor(
            [[False, True, False, False]])), layer=layer_with(nn.TransformerDecoderLayer)), X),
    *((sentence, nn.Sequential(nn.TransformerEncoder(
        layer_with(**parts), 2, norm, enable_nested_tensor=False)).eval(), X)
      for sentence, norm, parts in (
          ("the activation ReLU in a block", None, {"activation": hooked(nn.ReLU())}),
          ("a final norm of another kind", nn.LayerNorm(6, eps=1e-3), {}))),
    *(("there is nothing for fmax", net.eval(), X) for net in (
        hooked(nn.Sequential(nn.Linear(6, 6))), nn.Sequential(Clamped(6, 6)), nn.Sequential(hooked(nn.Linear(6, 6))))),
    ("the activation tanh in a block", nn.Sequential(
        nn.TransformerEncoderLayer(6, 2, 8, activation=torch.tanh, batch_first=True)).eval(), X),
    ("an index that depends on the input", written(lambda self, x: x[:, x.argmax(1)[0]]), X),
    ("a place that depends on the input", stated("y = x.clone(); y[0, x[0, :, 0].argmax()] = 0; y"), X),
    ("mul gives whole numbers above 16777216", written(
        lambda self, x: self.e(x * 7919 % 64), e=nn.Embedding(64, 2)), torch.tensor([[3]])),
    ("a step that tells small weights of attention from 0", written(
        lambda self, x: self.a(x, x, x)[1].log(), a=nn.MultiheadAttention(6, 2, batch_first=True)), X),
    ("erfc whose small numbers matter", written(lambda self, x: torch.erfc(x).log()), X),
    ("a pool of an image of one row to 2", nn.Sequential(nn.AdaptiveAvgPool2d(2)).eval(), torch.ones(1, 3, 1, 4)),
    ("a norm of matrices: torch.linalg.vector_norm", written(lambda self, x: torch.linalg.norm(x[0], 2)), X),
    ("there is nothing for median: compute it after forward", written(lambda self, x: x.median(1)[0]), X),
    ("einsum of a diagonal: take torch.diagonal", written(lambda self, x: torch.einsum("bii->bi", x[..., :4])), X),
    ("double to torch.float64", written(lambda self, x: x.double() + 1), X),
    ("missing 1 required positional argument", Undersupplied := type("Undersupplied", (nn.Module,), {
        "forward": lambda self, x, y: x + y})().eval(), X),
    *(("trainable names a, and a board trains only a Linear", written(function, a=nn.Linear(6, 6), norm=nn.BatchNorm1d(6)), X, "a")
      for function in (lambda self, x: self.a(self.a(x)), lambda self, x: self.a(x).tanh(), lambda self, x: (self.a(x), x),
                       lambda self, x: self.a(x * self.a.weight.norm()), lambda self, x: self.norm(self.a(x[:, 0])))),
    ("trainable names a, and a board trains only", written(lambda self, x: self.a(self.b(x)), a=TIED_TO, b=TIED), X, "a"),
    ("net is a dict", {}, X),
    ("example must be one tensor", nn.Linear(6, 6).eval(), [X]),
]
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
IN_TRACE = {"is sparse", "forward returns a whole", "net is of torch.jit", "holds NaN", "holds infinity", "the type of its input",
            "BatchNorm1d is in training", "is of torch", "on the meta", "is a batch", "returns a", "its trace", "or use",
            "does not depend on its", "not finite", "something of type", "missing", "net is", "one tensor"}


def problem(phrase, net, example, trainable=None):
    with tempfile.TemporaryDirectory() as folder:
        try:
            module(net, example, f"{folder}/model.hpp", binary=f"{folder}/weights.bin", trainable=trainable)
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


PATHS = [("path and binary are one file", "a", "./a"), ("in C numbers are constants of NAME.c", "a.h", "b"),
         ("in C numbers are constants of NAME.c", "a.c", "b")]
tap.report([("a step that is lowered wrong is named", wrong_step(lambda self, x: 2 * F.relu(x))),
            ("also beside large numbers, as of a mask",
             wrong_step(lambda self, x: F.relu(x.masked_fill(torch.eye(4, 6).bool(), 1e9)))),
            ("a step that Python does not know is named", unknown_step()),
            *((sentence, refused_path, sentence, *names) for sentence, *names in PATHS),
            *((phrase, problem, phrase, *its) for phrase, *its in [*CASES, *OF_PYTORCH_2]),
            *([] if OF_PYTORCH_2 else [("modules of PyTorch 2", tap.Skip(f"PyTorch {torch.__version__} has none"))])])
