# SPDX-License-Identifier: MIT
"""Traces a torch.nn.Module with torch.fx. Every step is also computed, on the example, so that shapes are numbers:
`batch, tokens, width = x.shape` and `y, weights = attention(x, x, x)` trace as they stand."""
import sys
import traceback

import torch
import torch.fx

from ..errors import ExportError, printable
from .checks import TRAINING, in_training

KNOWN = ("shape", "dtype", "device", "ndim", "layout", "is_cuda", "requires_grad")  # attributes that are no steps
ASKED = ("size", "dim", "numel", "nelement", "is_contiguous", "stride", "is_floating_point", "get_device")
OWN_CODE = tuple(name.rpartition("/")[0] for name in (__file__, torch.__file__))


class NotTraced(ExportError):
    """What a module does cannot be a step."""


def user_line():
    """Returns the innermost line of the user's own code, as `gestures.py:42`."""
    for frame, line in traceback.walk_stack(sys._getframe()):
        path = frame.f_code.co_filename
        if not path.startswith(OWN_CODE) and not path.startswith("<") and "/torch/" not in path:
            return f"{path.rpartition('/')[2]}:{line}"
    return "an unknown line"


def where(path, line):
    return f"{printable(path) or 'the module'} at {line}"


class KnownProxy(torch.fx.Proxy):
    """A step whose value on the example is known."""

    @property
    def known(self):
        return self.tracer.value(self.node)

    def __getattr__(self, name):
        if name in KNOWN and isinstance(self.known, torch.Tensor):
            return getattr(self.known, name)
        if name in ASKED and isinstance(self.known, torch.Tensor):
            return getattr(self.known, name)
        if isinstance(self.known, torch.Tensor) and hasattr(torch.Tensor, name):
            return super().__getattr__(name)
        if isinstance(self.known, tuple) and hasattr(self.known, name):  # .values of what max returns
            return self[type(self.known).__match_args__.index(name)]
        raise AttributeError(f"{type(self.known).__name__} has no {name}")

    def __iter__(self):
        return iter([self[i] for i in range(len(self.known))])

    def __len__(self):
        return len(self.known)

    def refuse(self, what):
        raise NotTraced(
            f"{self.tracer.here()}: {what} depends on what the input holds, and a step of a graph cannot: compute it "
            "after forward, or with torch.where's counterpart, a mask of constants")

    def __bool__(self):
        self.refuse("a branch")

    def __int__(self):
        self.refuse("int()")

    def __index__(self):
        self.refuse("an index")

    def __float__(self):
        self.refuse("float()")


class Tracer(torch.fx.Tracer):
    def __init__(self, example):
        super().__init__()
        self.example, self.path, self.computing, self.line = example, [], False, None
        self.module = {}  # {node: (the path of the module that has it, its line)}
        self.values, self.constants = {}, {}  # constants: {name: tensor} of those that forward makes

    def here(self):
        return where(".".join(self.path[-1:]), user_line())

    def is_leaf_module(self, module, path):
        return is_leaf(module)

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """Only the first argument of forward is traced: others keep their defaults."""
        return root_fn, [self.root, self.create_proxy("placeholder", "x", (), {})]

    def proxy(self, node):
        return KnownProxy(node, self)

    def getattr(self, name, value, parameter_proxy_cache):
        return value if self.computing else super().getattr(name, value, parameter_proxy_cache)

    _module_getattr = getattr  # its name before PyTorch 2

    def call_module(self, module, forward, args, kwargs):
        if self.computing:
            return forward(*args, **kwargs)
        self.path.append(self.path_of_module(module))
        try:
            return super().call_module(module, forward, args, kwargs)
        finally:
            self.path.pop()

    def create_proxy(self, *args, **kwargs):
        proxy = super().create_proxy(*args, **kwargs)
        self.value(proxy.node)
        return proxy

    def create_node(self, *args, **kwargs):
        node = super().create_node(*args, **kwargs)
        self.module[node] = (".".join(self.path[-1:]), user_line())
        return node

    def value(self, node):
        """Returns what a step computes on the example."""
        if node not in self.values:
            self.values[node] = self.compute(node)
        return self.values[node]

    def compute(self, node):
        args, kwargs = (torch.fx.node.map_arg(arguments, self.value) for arguments in (node.args, node.kwargs))
        was, self.computing = self.computing, True
        try:
            if node.op == "placeholder":
                return self.example
            if node.op == "get_attr":
                return attribute(self.root, node.target)
            if node.op == "call_module":
                return self.root.get_submodule(node.target)(*args, **kwargs)
            if node.op == "call_method":
                return getattr(args[0], node.target)(*args[1:], **kwargs)
            return node.target(*args, **kwargs)
        finally:
            self.computing = was


def attribute(root, path):
    for name in path.split("."):
        root = getattr(root, name)
    return root


def torch_class(module):
    """Returns the class of torch.nn that a module is of, or is derived from."""
    return next((each for each in type(module).__mro__ if each.__module__.startswith("torch.nn")), type(module))


def is_leaf(module):
    """Modules of torch.nn are leaves, and those whose forward is theirs; but not those that only call others."""
    return type(module).forward.__module__.startswith("torch.nn") and torch_class(module) is not torch.nn.Module and (
        not isinstance(module, (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)))


class Alone(torch.nn.Module):
    """A layer of torch.nn that is a whole model."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)


def trace(net, example):
    """Returns the Tracer of a module, with its graph."""
    tracer, before = Tracer(example.clone()), dict(vars(net))
    try:
        tracer.graph = tracer.trace(net)
    except ExportError:
        raise
    except Exception as error:  # any: it is the user's code
        module = in_training(net)
        if module:
            raise ExportError(f"{TRAINING[0].format(type(module).__name__)}: {TRAINING[1]}") from None
        line = next((f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
                     for frame in reversed(traceback.extract_tb(error.__traceback__))
                     if not frame.filename.startswith(OWN_CODE) and "/torch/" not in frame.filename), "")
        text = printable((str(error).splitlines() or [type(error).__name__])[0])
        raise ExportError(f"{where(type(net).__name__, line or user_line())}: torch.fx cannot trace this: {text}") from None
    for name in vars(net).keys() - before.keys():  # tensors that fx has put there
        tracer.constants[name] = vars(net).pop(name)
    return tracer


def check(tracer, net, example):
    """Returns what PyTorch computes of the example. Raises an ExportError if the trace computes other bits."""
    wanted = net(example.clone())
    if not isinstance(wanted, torch.Tensor):
        raise ExportError(f"forward returns a {type(wanted).__name__}: it must return one tensor")
    vars(net).update(tracer.constants)
    try:
        traced = torch.fx.GraphModule(net, tracer.graph)(example.clone())
    finally:
        for name in tracer.constants:
            del vars(net)[name]
    if not torch.isfinite(wanted).all():
        raise ExportError("what PyTorch computes of the example is not finite: give another example")
    if not torch.equal(wanted, traced):
        raise ExportError("the module does not compute what its trace computes: does it draw random numbers, or keep "
                          "something between calls?")
    return wanted.detach()
