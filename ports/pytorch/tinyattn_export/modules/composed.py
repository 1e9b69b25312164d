# SPDX-License-Identifier: MIT
"""Functions that are compositions of others: each is written as PyTorch defines it, of functions f.NAME of PyTorch."""
import functools
import math

import torch
from torch.nn.functional import interpolate as resampled

from . import moves, small_numbers
from .convolutions import scale_and_shift
from .elementwise import mapped
from .reductions import NORMS, reduced
from .table import Functions, lowers
from .values import Constant

SMALLEST, LARGEST = torch.finfo(torch.float32).tiny, torch.finfo(torch.float32).max


def composed(*names):
    """Decorates a composition, whose first parameter is f."""
    def register(function):
        lowers(*names)(functools.wraps(function)(
            lambda low, *args, **kwargs: function(Functions(low), *args, **kwargs)))
        return function
    return register


COMPOSED = {
    **dict.fromkeys(("neg", "negative"), lambda f, input: f.mul(input, -1.0)),
    "square": lambda f, input: f.mul(input, input),
    "addcmul": lambda f, input, tensor1, tensor2, value=1: mapped(
        f.low, "fma", tensor1, f.mul(tensor2, value) if value != 1 else tensor2, input),
    "addcdiv": lambda f, input, tensor1, tensor2, value=1: f.add(input, f.truediv(tensor1, tensor2), alpha=value),
    "lerp": lambda f, input, end, weight: mapped(f.low, "lerp", input, end, weight),
    "softmin": lambda f, input, dim, dtype=None, _stacklevel=3: f.softmax(f.neg(input), dim),
    "logaddexp": lambda f, input, other: f.add(f.maximum(input, other), f.log1p(f.exp(f.where(
        f.eq(input, other), 0.0, f.neg(f.abs(f.sub(input, other))))))),
    "logit": lambda f, input, eps=None: f.logit(f.clamp(input, eps, 1 - eps)) if eps else f.log(
        f.truediv(input, f.rsub(input, 1.0))),
    "rad2deg": lambda f, input: f.mul(input, 180 / math.pi),
    "deg2rad": lambda f, input: f.mul(input, math.pi / 180),
    "relu6": lambda f, input, inplace=False: f.clamp(input, 0.0, 6.0),
    "tan": lambda f, input: f.truediv(f.sin(input), f.cos(input)),
    "exp2": lambda f, input: f.exp(f.mul(input, math.log(2))),
    "frac": lambda f, input: f.sub(input, f.trunc(input)),
    "positive": lambda f, input: input,
    "isinf": lambda f, input: f.eq(f.abs(input), math.inf),
    "isfinite": lambda f, input: f.lt(f.abs(input), math.inf),
    "nan_to_num": lambda f, input, nan=0.0, posinf=None, neginf=None: f.where(f.isnan(input), nan, f.clamp(
        input, -LARGEST, LARGEST) if posinf is neginf is None else f.where(
            f.eq(input, math.inf), LARGEST if posinf is None else posinf, f.where(
                f.eq(input, -math.inf), -LARGEST if neginf is None else neginf, input))),
    "heaviside": lambda f, input, values: f.where(f.eq(input, 0), values, f.gt(input, 0)),
    "tanhshrink": lambda f, input: f.sub(input, f.tanh(input)),
    "softshrink": lambda f, input, lambd=0.5: f.sub(input, f.clamp(input, -lambd, lambd)),
    "hardshrink": lambda f, input, lambd=0.5: f.where(f.le(f.abs(input), lambd), 0.0, input),
    "threshold": lambda f, input, threshold, value, inplace=False: f.where(f.le(input, threshold), value, input),
    "leaky_relu": lambda f, input, negative_slope=0.01, inplace=False: mapped(
        f.low, "leaky_relu", input, negative_slope),
    "elu": lambda f, input, alpha=1.0, inplace=False: mapped(f.low, "elu", input, alpha),
    "celu": lambda f, input, alpha=1.0, inplace=False: mapped(f.low, "celu", input, alpha),
    "selu": lambda f, input, inplace=False: mapped(f.low, "selu", input),
    "softplus": lambda f, input, beta=1, threshold=20: f.where(f.gt(f.mul(input, beta), threshold), input, f.truediv(
        f.neg(f.logsigmoid(f.mul(input, -beta))), beta)),
    "normalize": lambda f, input, p=2.0, dim=1, eps=1e-12: f.truediv(
        input, f.clamp(f.norm(input, p, dim, True), min=eps)),
    "dist": lambda f, input, other, p=2: f.norm(f.sub(input, other), p),
    "pairwise_distance": lambda f, x1, x2, p=2.0, eps=1e-6, keepdim=False: f.norm(
        f.add(f.sub(x1, x2), eps), p, -1, keepdim),
    "mse_loss": lambda f, input, target, reduction="mean": {
        "mean": f.mean, "sum": f.sum, "none": lambda x: x}[reduction](f.square(f.sub(input, target))),
    "dot": lambda f, input, other: f.sum(f.mul(input, other)),
    "outer": lambda f, input, vec2: f.mul(f.unsqueeze(input, -1), vec2),
    "cdist": lambda f, x1, x2, p=2.0, compute_mode=None: f.norm(f.sub(f.unsqueeze(x1, -2), f.unsqueeze(x2, -3)), p, -1),
    "count_nonzero": lambda f, input, dim=None: f.sum(f.ne(input, 0), dim),
    "one_hot": lambda f, input, num_classes: f.eq(
        f.unsqueeze(input, -1), Constant(torch.arange(num_classes), "classes")),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), lambda f, input, first, second, beta=1, alpha=1: f.add(
        f.mul(f.matmul(first, second), alpha), f.mul(input, beta))),
    "copy": lambda f, input, src, non_blocking=False: f.setitem(input, ..., src),
    "fill": lambda f, input, value: f.setitem(input, ..., value), "zero": lambda f, input: f.setitem(input, ..., 0.0),
}
for name, function in COMPOSED.items():
    composed(name)(function)


@composed("hypot")
def hypot(f, input, other):
    """Computes with the ratio of both, since their squares may overflow."""
    one, two = f.abs(input), f.abs(other)
    longer, shorter = f.maximum(one, two), f.minimum(one, two)
    ratio = f.truediv(shorter, f.clamp(longer, SMALLEST, LARGEST))
    return f.mul(longer, f.sqrt(f.add(f.square(ratio), 1.0)))


@composed("round")
def round_to(f, input, decimals=0):
    rounded = mapped(f.low, "round", f.mul(input, 10.0**decimals))
    return f.truediv(rounded, 10.0**decimals) if decimals else rounded


@composed("sigmoid", "special_expit")
def sigmoid(f, input):
    if small_numbers.is_measured(f.low.node):
        return f.exp(f.logsigmoid(input))
    return mapped(f.low, "sigmoid", input)


@composed("erfc", "special_erfc")
def erfc(f, input):
    if small_numbers.matter(f.low.tracer, f.low.node, False):
        f.low.refuse("erfc whose small numbers matter", "take 1 - torch.erf(x), which is 0 from 4 on")
    return f.rsub(f.erf(input), 1.0)


@composed("glu")
def glu(f, input, dim=-1):
    first, gate = f.chunk(input, 2, dim)
    return f.mul(first, f.sigmoid(gate))


@composed("log_softmax")
def log_softmax(f, input, dim, dtype=None, _stacklevel=3):
    below = f.sub(input, f.amax(input, dim, True))  # exact near the largest, which large logits are not
    return f.sub(below, f.logsumexp(below, dim, True))


@composed("prelu")
def prelu(f, input, weight):
    rest = max(len(input.shape) - 2, 0) if weight.tensor.numel() > 1 else 0
    return mapped(f.low, "leaky_relu", input, Constant(weight.tensor.view(-1, *[1] * rest), weight.name))


@composed("norm", "linalg_vector_norm", "linalg_norm")
def norm(f, input, p=None, dim=None, keepdim=False, ord=None, dtype=None):
    p = ord if p is None else p
    axes = range(len(input.shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    if f.low.called == "linalg_norm" and p not in (None, "fro") and len(axes) == 2:
        f.low.refuse("a norm of matrices", "torch.linalg.vector_norm has those of their elements")
    if p == 0:
        return f.sum(f.ne(input, 0), dim, keepdim)
    if p == -math.inf:
        return f.amin(f.abs(input), dim, keepdim)
    if p in NORMS:
        return reduced(f.low, NORMS[p], input, dim, keepdim)
    return f.pow(f.sum(f.pow(f.abs(input), p), dim, keepdim), 1 / p)


@composed("cosine_similarity")
def cosine_similarity(f, x1, x2, dim=1, eps=1e-8):
    shape = torch.broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = (f.expand(x, shape) if x.shape != shape else x for x in (x1, x2))
    return f.truediv(f.sum(f.mul(x1, x2), dim), f.mul(*(f.clamp(f.norm(x, 2, dim), min=eps) for x in (x1, x2))))


@composed("interpolate", "upsample")
def interpolate(f, input, size=None, scale_factor=None, mode="nearest", align_corners=None,
                recompute_scale_factor=None):
    """Repeats elements, or computes products with the constants that PyTorch makes of a matrix of ones and zeros."""
    given, wanted = input.shape[2:], f.low.tracer.value(f.low.node).shape[2:]
    if recompute_scale_factor:
        size, scale_factor = wanted, None
    scales = scale_factor if isinstance(scale_factor, (tuple, list)) else [scale_factor] * len(given)
    is_whole = not any(to % of or (scale or to // of) != to // of for of, to, scale in zip(given, wanted, scales))
    if mode.startswith("nearest") and is_whole:
        sizes = [extent for of in given for extent in (of, 1)]
        repeated = [extent for of, to in zip(given, wanted) for extent in (of, to // of)]
        apart = f.reshape(input, (*input.shape[:2], *sizes))
        return f.reshape(f.expand(apart, (*input.shape[:2], *repeated)), (*input.shape[:2], *wanted))
    if mode.startswith("nearest"):
        return moves.joined(f.low, lambda x: resampled(x.double(), size, scale_factor, mode).long(), [input])
    if len(given) > 2 or mode == "area":
        f.low.refuse(f"interpolate of mode {mode!r}", "take another mode, of one or two dimensions")
    x, of_rows = f.movedim(input, 1, -1), {"linear": "bilinear"}.get(mode, mode)
    for axis, (of, to, scale) in enumerate(zip(given, wanted, scales), 1):
        by = ((of, to), None) if scale is None else (None, (1.0, scale))
        weights = resampled(torch.eye(of)[None, None], *by, of_rows, align_corners)[0, 0].t()
        weights = Constant(weights, f"{mode}_{of}_to_{to}")
        x = f.movedim(f.matmul(weights, f.movedim(x, axis, -2)), -2, axis)
    return f.movedim(x, -1, 1)


@composed("cumsum")
def cumsum(f, input, dim):
    count = input.shape[dim]
    below = Constant(torch.ones(count, count).triu(), f"ones_of_{count}")
    return f.movedim(f.matmul(f.movedim(input, dim, -1), below), -1, dim)


@composed("diff")
def diff(f, input, n=1, dim=-1, prepend=None, append=None):
    parts = [part for part in (prepend, input, append) if part is not None]
    for _ in range(n):
        whole = f.cat(parts, dim) if len(parts) > 1 else parts[0]
        count = whole.shape[dim] - 1
        parts = [f.sub(f.narrow(whole, dim, 1, count), f.narrow(whole, dim, 0, count))]
    return parts[0]


# --- Norms ---


def scaled(f, input, weight, bias):
    """Scales and shifts each channel, which are axis 1."""
    for function, part in ((f.mul, weight), (f.add, bias)):
        if part is not None:
            input = function(input, Constant(part.tensor.view(-1, *[1] * (len(input.shape) - 2)), part.name))
    return input


@composed("group_norm")
def group_norm(f, input, num_groups, weight=None, bias=None, eps=1e-5):
    groups = f.unflatten(input, 1, (num_groups, -1))
    axes = tuple(range(2, len(groups.shape)))
    rest = f.sub(groups, f.mean(groups, axes, True))
    normed = f.mul(rest, f.rsqrt(f.add(f.mean(f.square(rest), axes, True), eps)))
    return scaled(f, f.flatten(normed, 1, 2), weight, bias)


@composed("instance_norm")
def instance_norm(f, input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
                  momentum=0.1, eps=1e-5, track_running_stats=False):
    if track_running_stats or not use_input_stats:
        return f.batch_norm(input, running_mean, running_var, weight, bias, eps=eps)
    return group_norm(f, input, input.shape[1], weight, bias, eps)


@composed("batch_norm")
def batch_norm(f, input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if running_mean is None or training:
        f.low.refuse("a batch norm without running statistics", "train with track_running_stats=True, and call .eval()")
    parts = scale_and_shift(*(each and each.tensor for each in (running_mean, running_var, weight, bias)), eps)
    return scaled(f, input, *(Constant(part.float(), f"{f.low.layer or f.low.name()}.{name}")
                              for part, name in zip(parts, ("scale", "shift"))))


# --- Products ---


@composed("einsum")
def einsum(f, equation, *operands):
    operands = operands[0] if isinstance(operands[0], (tuple, list)) else operands
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms, dots = labels_of(inputs.split(","), operands)
    if not arrow:
        output = "..." + "".join(label for label in sorted(set(inputs) - set(",.")) if inputs.count(label) == 1)
    output = output.replace("...", dots)
    if any(len(set(term)) != len(term) for term in terms):
        f.low.refuse("einsum of a diagonal", "take torch.diagonal")
    value, labels = operands[0], terms[0]
    for i, (other, term) in enumerate(zip(operands[1:], terms[1:]), 2):
        value, labels = product_of(f, value, labels, other, term, output + "".join(terms[i:]))
    summed = tuple(axis for axis, label in enumerate(labels) if label not in output)
    value = f.sum(value, summed) if summed else value
    left = [label for label in labels if label in output]
    return f.permute(value, [left.index(label) for label in output])


def labels_of(terms, operands):
    """Returns a label for each axis of each operand, with digits for dots, and those of the dots."""
    extra = [len(operand.shape) - len(term.replace("...", "")) for term, operand in zip(terms, operands)]
    dots = "0123456789"[:max(extra)]
    return [term.replace("...", dots[len(dots) - count:]) for term, count in zip(terms, extra)], dots


def product_of(f, a, of_a, b, of_b, later):
    """Returns a product of two of these labels, summed over those that nothing later has, and its labels."""
    shared = [label for label in of_a if label in of_b]
    batch, summed = [label for label in shared if label in later], [label for label in shared if label not in later]
    left, right = ([label for label in of if label not in shared] for of in (of_a, of_b))
    a, b = (f.permute(value, [of.index(label) for label in order]) for value, of, order in (
        (a, of_a, batch + left + summed), (b, of_b, batch + right + summed)))
    sizes = [list(value.shape[len(batch):][:len(own)]) for value, own in ((a, left), (b, right))]
    a, b = (f.reshape(value, (*value.shape[:len(batch)], math.prod(size), -1))
            for value, size in ((a, sizes[0]), (b, sizes[1])))
    result = f.matmul(a, f.transpose(b, -1, -2))
    return f.reshape(result, (*result.shape[:-2], *sizes[0], *sizes[1])), "".join(batch + left + right)
