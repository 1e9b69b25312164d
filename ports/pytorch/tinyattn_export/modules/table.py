# SPDX-License-Identifier: MIT
"""The names of functions and methods, the table of what each becomes, and what looks it up."""
import functools
import inspect

import torch

from .values import Complex, Constant, Value, arguments_in

FUNCTIONS, MODULES = {}, {}  # {name: what turns a call into steps; its parameters are those of PyTorch}
IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor".split()
SAME_NAMES = {"radd": "add", "rmul": "mul", "true_divide": "truediv", "div": "truediv", "divide": "truediv",
              "multiply": "mul", "subtract": "sub", **{name: name[1:] for name in (*IN_PLACE, "imatmul")}}
OTHERS = "compute it before or after forward, or write it with what the table of ports/pytorch/README.md has"
INSTEAD = {
    **dict.fromkeys(("sort", "argsort", "topk"), "choose after forward"), "median": "compute it after forward",
    "torch.nn.functional.unfold": "a Conv2d whose kernel is its stride takes patches",
    "pack_padded_sequence": "give the layer one sequence of the example's length",
}
SAME_PARAMETERS = {"axis": "dim", "mat2": "other", "keepdims": "keepdim"}


def lowers(*names, table=FUNCTIONS):
    """Decorates what turns calls of these functions into steps."""
    def register(function):
        table.update(dict.fromkeys(names, function))
        return function
    return register


def lowers_module(*names):
    """Decorates what turns calls of these modules of torch.nn into steps."""
    return lowers(*names, table=MODULES)


def named(low, node, name, args, kwargs):
    """Returns what a function or method of this name becomes."""
    if any(isinstance(each, Complex) for each in args):
        name, args = "of_complex", (name, *args)
    else:
        low.called = name
    if name not in FUNCTIONS:
        low.refuse(f"there is nothing for {title(node)}", INSTEAD.get(name, OTHERS))
    return call(low, title(node), functools.partial(FUNCTIONS[name], low), args, kwargs)


def of_module(low, kind, args, kwargs):
    """Returns what a call of a module becomes that does what a class of torch.nn does."""
    function = functools.partial(MODULES[kind.__name__], low, low.module_of(low.node))
    return call(low, f"torch.nn.{kind.__name__}", function, args, kwargs)


@lowers_module("RNN", "RNNCell")
def rnn(low, module, *inputs):
    low.refuse(f"there is nothing for torch.nn.{type(module).__name__}", "take GRU or LSTM")


class Functions:
    """f.NAME(...) adds the steps of a function or method of PyTorch, or computes it if all arguments are constant."""

    def __init__(self, low):
        self.low = low

    def __getattr__(self, name):
        def call(*args, **kwargs):
            low, called = self.low, self.low.called
            if not any(isinstance(each, Value) for each in arguments_in((args, kwargs))):
                given = [argument.tensor if isinstance(argument, Constant) else argument for argument in args]
                return Constant(getattr(torch, name)(*given, **kwargs), called)
            try:
                return named(low, low.node, name, args, kwargs)
            finally:
                low.called = called
        return call


def call(low, what, function, args, kwargs):
    """Calls what turns a step into steps of C++, with the arguments of the step. An argument that is not among its
    parameters is refused, unless it says nothing."""
    kwargs = {SAME_PARAMETERS.get(name, name): value for name, value in kwargs.items()}
    known = inspect.signature(function).parameters
    kinds = {parameter.kind for parameter in known.values()}
    others = [] if inspect.Parameter.VAR_POSITIONAL in kinds else [*map(text, args[len(known):])]
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        others += [f"{name}={text(value)}" for name, value in kwargs.items()
                   if name not in known and value not in (None, False)]
        kwargs = {name: value for name, value in kwargs.items() if name in known}
    if others:
        low.refuse(f"{what} has an argument that is not known here, {others[0]}", "write what it does, or leave it out")
    return function(*args, **kwargs)


def text(argument):
    """Returns an argument in a sentence."""
    return "a tensor" if hasattr(argument, "shape") else str(argument)


def title(node):
    """Returns the name of a function or method as it is written, without underscores around it."""
    if node.target is torch.nn.functional.unfold:  # tensors have another one
        return "torch.nn.functional.unfold"
    name = node.target if isinstance(node.target, str) else node.target.__name__
    return name.strip("_") if name.startswith("_") else name


def name_of(node):
    """Returns one name for add, __add__, __radd__, add_ and iadd."""
    name = title(node).strip("_")
    return SAME_NAMES.get(name, name)


def writes_in_place(node):
    """Whether a step writes in place."""
    if node.op not in ("call_function", "call_method"):
        return False
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    return node.kwargs.get("inplace") or name in (*IN_PLACE, "setitem", "__setitem__") or (
        name.endswith("_") and not name.endswith("__") and name != "requires_grad_")
