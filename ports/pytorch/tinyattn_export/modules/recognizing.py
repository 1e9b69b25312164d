# SPDX-License-Identifier: MIT
"""Finds activations and norms that a module writes out. Steps that depend on one tensor alone are run on other numbers:
if they give what an activation or a norm gives, they are that, in whatever way they are written."""
import dataclasses

import torch

from ..settings import ACTIVATIONS
from .table import name_of
from .values import arguments_in

MOST_STEPS, FEWEST_FEATURES = 16, 3
CLOSE = 1e-6
LARGEST_EPSILON = 0.1
NOTHING = {"float", "to", "type_as", "contiguous"}
REDUCTIONS = {"mean", "var", "std", "sum", "norm", "var_mean"}
OF_ELEMENTS = NOTHING | {"add", "sub", "rsub", "mul", "truediv", "pow", "square", "sqrt", "rsqrt", "reciprocal", "neg", "abs", "tanh",
                         "sigmoid", "exp", "erf", "clamp", "maximum", "where", "gt", "ge", "lt", "le"}
OVERFLOWS = 600  # exp() of a few times more is infinite
SIZES = torch.logspace(-7, 36, 173).double()
NUMBERS = torch.cat((torch.linspace(-12, 12, 2401).double(), SIZES, -SIZES))


@dataclasses.dataclass
class Written:
    """Steps that are one function of x: an activation, or a norm with a weight and perhaps a bias."""

    x: torch.fx.Node
    function: str  # an activation, LayerNorm or RmsNorm
    inner: list  # the steps that it replaces, besides the last
    weight: torch.Tensor = None  # [features]
    bias: torch.Tensor = None
    epsilon: float = 0.0
    name: str = ""  # of the weight in the module
    title: str = None


class Steps:
    """Steps that end with a node, and depend on one other step, x, and on constants alone."""

    def __init__(self, tracer, nodes, x, constants):
        self.tracer, self.nodes, self.x = tracer, nodes, x
        self.constants = [node for step in nodes for node in step.all_input_nodes if node in constants]

    def names(self):
        return {step_name(node) for node in self.nodes}

    def at(self, x):
        """Returns what they compute of other numbers, which are double."""
        values = {self.x: x}
        for node in self.nodes:
            args, kwargs = (torch.fx.node.map_arg(given, lambda each: values[each] if each in values else
                                                     self.tracer.value(each)) for given in (node.args, node.kwargs))
            values[node] = args[0] if step_name(node) in NOTHING else self.tracer.call(node, args, kwargs)
        return values[self.nodes[-1]]

    def constant(self, row):
        """Returns the constant that is equal to a row but for rounding, or the row itself; and its name."""
        for node in self.constants:
            tensor = self.tracer.value(node).detach().double().flatten()
            if tensor.numel() in (1, row.numel()) and node.op == "get_attr" and torch.allclose(tensor, row, CLOSE, CLOSE):
                return tensor.expand_as(row).float(), node.target
        return row.float(), self.nodes[-1].name

    def numbers(self):
        """Returns the numbers among the arguments."""
        given = [each for node in self.nodes for each in arguments_in((node.args, node.kwargs))]
        given += [self.tracer.value(node).item() for node in self.constants if self.tracer.value(node).numel() == 1]
        return [number for number in given if isinstance(number, float)]


def step_name(node):
    return name_of(node) if node.op in ("call_function", "call_method") else None


def all_steps(tracer, last, constants):
    """Yields all Steps that end with a node, the fewest first."""
    order = {node: i for i, node in enumerate(tracer.graph.nodes)}
    nodes, sources = [last], {node for node in last.all_input_nodes if node not in constants}
    while len(nodes) <= MOST_STEPS and step_name(nodes[-1]) in OF_ELEMENTS | REDUCTIONS and sources:
        if len(sources) == 1 and len(nodes) > 1:
            yield Steps(tracer, sorted(nodes, key=order.get), *sources, constants)
        nearest = max(sources, key=order.get)
        if any(user not in nodes for user in nearest.users):
            return
        nodes.append(nearest)
        sources = sources - {nearest} | {node for node in nearest.all_input_nodes if node not in constants}


def activation_of(steps):
    """Returns the name of the activation that steps compute, or None."""
    if not steps.names() <= OF_ELEMENTS or any(steps.tracer.value(node).numel() != 1 for node in steps.constants):
        return None
    found = steps.at(NUMBERS)
    for name, (function, _, arguments, *_) in ACTIVATIONS.items():
        wanted = getattr(torch.nn.functional, function)(NUMBERS, **arguments)
        if found.shape == wanted.shape and is_close(found, wanted):
            return name
    return None


def is_close(found, wanted):
    """Whether two results of NUMBERS are equal but for rounding. Where numbers overflow, a function may give NaN."""
    close = (found - wanted).abs() <= CLOSE * (NUMBERS.abs().clamp(max=1) + wanted.abs())
    return bool((close | found.isnan() & (NUMBERS.abs() > OVERFLOWS)).all())


def norm_of(steps):
    """Returns the Written norm that steps compute, or None."""
    shape, width = steps.tracer.value(steps.x).shape, steps.tracer.value(steps.x).shape[-1]
    fits = all(steps.tracer.value(node).numel() in (1, width) for node in steps.constants)
    if not REDUCTIONS & steps.names() or width < FEWEST_FEATURES or len(shape) < 2 or not fits:
        return None
    rows = 25 if width == 24 else 24  # not a width, or a column would be taken for a row
    leading = [min(extent, 2) for extent in shape[:-2]]
    x = torch.randn(*leading, rows, width, generator=torch.Generator().manual_seed(1)).double()
    x = (x + 0.5) * torch.logspace(-8, 8, rows)[:, None].double()
    found, bias = steps.at(x), steps.at(torch.zeros_like(x))
    if not isinstance(found, torch.Tensor) or found.shape != x.shape:
        return None
    for kind, centered in (("LayerNorm", x - x.mean(-1, keepdim=True)), ("RmsNorm", x)):
        for epsilon in steps.numbers():
            if not 0 < epsilon <= LARGEST_EPSILON:
                continue
            norm = centered / (centered.square().mean(-1, keepdim=True) + epsilon).sqrt()
            weight = ((found - bias) * norm).sum(-2) / norm.square().sum(-2)
            wanted = norm * weight[..., None, :]  # rows that may be tiny
            is_norm = ((found - bias - wanted).abs() <= CLOSE * wanted.abs().amax(-1, keepdim=True)).all()
            if is_norm and (kind == "LayerNorm" or not bias.any()):
                (weight, name), (bias, _) = (steps.constant(row.reshape(-1, width)[0]) for row in (weight, bias))
                return Written(steps.x, kind, steps.nodes[:-1], weight, bias, epsilon, name, "norm")
    return None


def recognized(tracer, node, constants):
    """Returns what a node is the last step of, as Written, or None."""
    for steps in all_steps(tracer, node, constants):
        try:
            activation = activation_of(steps)
            found = Written(steps.x, activation, steps.nodes[:-1]) if activation else norm_of(steps)
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
            found = None  # they take no other shape, or are no function of one tensor
        if found:
            return found
    return None
