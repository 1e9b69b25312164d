# SPDX-License-Identifier: MIT
"""Traces a torch.nn.Module with torch.fx. Every step is also computed, on the example, so that shapes are numbers:
`batch, tokens, width = x.shape` and `y, weights = attention(x, x, x)` trace as they stand."""
import builtins
import contextlib
import copy
import re
import operator
import sys
import threading
import traceback
from unittest import mock

import torch
import torch.fx

from ..checkpoints import first_line
from ..errors import ExportError, printable
from .checks import in_training
from .signature import input_names, leaves, rebuilt
from .table import IN_PLACE, MODULES, writes_in_place

KNOWN = ("shape dtype device ndim layout is_cuda requires_grad size dim numel nelement is_contiguous stride "
         "is_floating_point get_device is_nested is_sparse is_complex is_cpu").split()  # no steps
CLOSE = 1e-5  # of the largest number: another implementation of a function may round otherwise
NUMBERS = ("numpy", "tolist", "item")  # methods that leave PyTorch
SEVERAL = (tuple, list)  # and what torch.max returns: results of one step
INPUT = ("input", "tensor", "self")
EMPTY = {torch.empty: torch.zeros, torch.empty_like: torch.zeros_like, "new_empty": "new_zeros"}  # not what lay there
BEFORE_INPUT = {"condition", "sorted_sequence"}  # of torch.where and torch.searchsorted
ONE_AT_A_TIME = threading.Lock()  # torch.fx and as_in_forward replace functions of PyTorch
OWN_CODE = tuple(name.rpartition("/")[0] + "/" for name in (__file__, torch.__file__))


def user_line():
    """Returns the innermost line of the user's own code, as `gestures.py:42`."""
    for frame, line in traceback.walk_stack(sys._getframe()):
        path = frame.f_code.co_filename
        if not path.startswith((*OWN_CODE, "<")):
            return f"{path.rpartition('/')[2]}:{line}"
    return "an unknown line"


def where(path, line):
    return f"{printable(path) or 'the module'} at {line}"


class KnownProxy(torch.fx.Proxy):
    """A step whose value on the example is known."""

    __array_ufunc__ = None  # numpy.float64(2) * x is x * 2

    @property
    def known(self):
        return self.tracer.value(self.node)

    def __getattr__(self, name):
        if name in KNOWN and isinstance(self.known, torch.Tensor):
            return getattr(self.known, name)
        if name == "data":
            return self.detach()
        if name in NUMBERS:
            self.refuse(f"{name}()")
        if isinstance(self.known, torch.Tensor) and hasattr(torch.Tensor, name) and not name.startswith("__"):
            if callable(getattr(torch.Tensor, name)):
                return super().__getattr__(name)
            return self.tracer.create_proxy("call_function", getattr, (self, name), {})  # mT, whose shape may be asked
        raise AttributeError(f"{type(self.known).__name__} has no {name}")

    def __iter__(self):
        return iter([self[i] for i in range(len(self.known))])

    def __len__(self):
        return len(self.known)

    def refuse(self, what):
        self.tracer.refusal = ExportError(
            f"{self.tracer.here()}: {what} depends on what the input holds, and the steps of a graph do not: take "
            "torch.where, or compute it after forward")
        raise self.tracer.refusal

    def __abs__(self):
        return self.abs()

    def __setitem__(self, key, value):
        self.tracer.create_proxy("call_method", "__setitem__", (self, key, value), {})


for method, what in (("bool", "a branch"), ("int", "int()"), ("index", "an index"), ("float", "float()"),
                     ("round", "round()"), ("format", "a text"), ("array", "an array of NumPy")):
    setattr(KnownProxy, f"__{method}__", lambda self, *_, what=what, **__: self.refuse(what))


for method in IN_PLACE:
    setattr(KnownProxy, f"__{method}__", lambda self, other, function=getattr(operator, method): self.tracer.create_proxy(
        "call_function", function, (self, other), {}))


class Tracer(torch.fx.Tracer):
    def __init__(self, examples, names):
        super().__init__()
        self.examples, self.path, self.computing = dict(zip(names, examples)), [], False
        self.module = {}  # {node: (the path of the module that has it, its line)}
        self.is_resolved, self.refusal = False, None  # the last, which forward may have caught
        self.values, self.constants = {}, {}  # constants: {name: tensor}, as they were when they were read first

    def place(self, path, line):
        """Returns where something is in the user's code. A layer that is exported alone is the module."""
        return where(path if self.original is self.root else path.removeprefix("layer").removeprefix("."), line)

    def here(self):
        return self.place("".join(self.path[-1:]), user_line())

    def refused(self, node, what, instead):
        """Returns why a step cannot be exported: its module and line, what it is, and what could be written instead."""
        path, line = self.module.get(node, ("", "an unknown line"))
        return ExportError(f"{self.place(path, line)}: {what}: {instead}")

    def is_leaf_module(self, module, path):
        return is_of_torch(module) and torch_class(module).__name__ in MODULES

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """As many arguments of forward are traced as there are examples: others keep their defaults."""
        return root_fn, [self.root, *(self.create_proxy("placeholder", name, (), {}) for name in self.examples)]

    def proxy(self, node):
        return KnownProxy(node, self)

    def getattr(self, name, value, parameter_proxy_cache):
        return value if self.computing else super().getattr(name, value, parameter_proxy_cache)

    _module_getattr = getattr  # its name before PyTorch 2

    def path_of_module(self, module):
        """Returns the path of a module: of what forward makes, as nn.Softmax(-1) or self.layers[:2], that of what makes
        it."""
        try:
            return super().path_of_module(module)
        except NameError:
            if is_of_torch(module) and (module._parameters or any(
                    isinstance(each, torch.fx.Proxy) for each in vars(module).values())):
                kind = type(module).__name__
                raise ExportError(f"{self.here()}: {kind} is made in forward: make it in __init__") from None
            return "".join(self.path[-1:])

    def call_module(self, module, forward, args, kwargs):
        if self.computing:
            return forward(*args, **kwargs)
        self.path.append(self.path_of_module(module))
        drawing = in_training(module) if is_of_torch(module) else None
        if drawing:
            raise ExportError(f"{self.here()}: {type(drawing).__name__} is in training, where it draws random numbers "
                              "or takes the statistics of a batch: call .eval() of the whole module before the export")
        if type(module).__name__.startswith("Parametrized"):
            raise ExportError(f"{self.here()}: a parametrized module: call "
                              "torch.nn.utils.parametrize.remove_parametrizations before the export")
        try:
            return super().call_module(module, forward, args, kwargs)
        finally:
            self.path.pop()

    def create_proxy(self, *args, **kwargs):
        """Makes a step. Several results are as many steps, as a tuple or what PyTorch returns."""
        proxy = super().create_proxy(*args, **kwargs)
        kind = type(self.value(proxy.node))
        return kind(list(proxy)) if kind in SEVERAL or kind.__module__ == "torch.return_types" else proxy

    def create_arg(self, a):
        """Takes a number of NumPy as one of Python, and an array as a list or as a tensor."""
        if type(a).__module__ == "numpy" and hasattr(a, "tolist"):
            a = torch.from_numpy(a) if a.dtype.kind == "f" and a.ndim else a.tolist()
        return super().create_arg(a)

    def create_node(self, kind, target, args, kwargs, *more, **named):
        """Makes an `input` that is given by name the first argument, except of functions that have one before it."""
        if not args and not BEFORE_INPUT & kwargs.keys():
            args = tuple(kwargs[name] for name in kwargs if name in INPUT)
            kwargs = {name: value for name, value in kwargs.items() if name not in INPUT}
        node = super().create_node(kind, EMPTY.get(target, target), args, kwargs, *more, **named)
        self.module[node] = ("".join(self.path[-1:]), user_line())
        return node

    @contextlib.contextmanager
    def as_in_forward(self):
        """Takes a step as a tensor where forward asks for one, or indexes a buffer. What torch.zeros and torch.empty
        give is a step, since forward may write to it."""
        thread = threading.get_ident()

        def step(original, target):
            return lambda *args, **kwargs: original(*args, **kwargs) if (
                self.computing or threading.get_ident() != thread) else self.create_proxy(
                    "call_function", target, args, kwargs)

        def asks(value, types=torch.Tensor, of_python=isinstance):
            is_asked = type(value) is KnownProxy and not sys._getframe(1).f_code.co_filename.startswith(OWN_CODE)
            return of_python(value.known if is_asked else value, types)

        def rows(buffer, key, original=torch.Tensor.__getitem__):
            keys = key if type(key) is tuple else (key,)
            is_step = any(type(each) is KnownProxy for each in keys)
            return step(original, operator.getitem)(buffer, key) if is_step else original(buffer, key)

        def as_tensor(data, *args, original=torch.as_tensor, **kwargs):
            return data.to(*args, **kwargs) if type(data) is KnownProxy else original(data, *args, **kwargs)

        def tensor(data, *args, original=torch.tensor, **kwargs):
            steps = [each for each in (data if type(data) in SEVERAL else (data,)) if type(each) is KnownProxy]
            return steps[0].refuse("torch.tensor()") if steps else original(data, *args, **kwargs)
        functions = {name: step(getattr(torch, name), getattr(torch, name)) for name in ("zeros", "empty")}
        with mock.patch.multiple(torch, **functions, as_tensor=as_tensor, tensor=tensor, is_tensor=asks), \
                mock.patch.object(torch.Tensor, "__getitem__", rows), mock.patch.object(builtins, "isinstance", asks):
            yield

    def value(self, node):
        """Returns what a step computes on the example."""
        if node not in self.values:
            self.values[node] = self.call(node, *torch.fx.node.map_arg((node.args, node.kwargs), self.value))
        return self.values[node]

    def begin_anew(self, examples):
        """Forgets all values: from now on each step in place has a result of its own."""
        self.values, self.examples, self.is_resolved = {}, dict(zip(self.examples, clones(examples))), True

    def call(self, node, args, kwargs):
        """Returns what a step computes of arguments."""
        was, self.computing = self.computing, True
        if self.is_resolved and args and isinstance(args[0], torch.Tensor) and writes_in_place(node):
            args = (args[0].clone(), *args[1:])
        try:
            if node.op == "placeholder":
                return self.examples[node.target]
            if node.op == "get_attr":
                if node.target not in self.constants:
                    self.constants[node.target] = operator.attrgetter(node.target)(self.root)
                return self.constants[node.target]
            if node.op == "call_module":
                return self.root.get_submodule(node.target)(*args, **kwargs)
            if node.op == "call_method":
                result = getattr(args[0], node.target)(*args[1:], **kwargs)
                return args[0] if node.target == "__setitem__" else result
            return node.target(*args, **kwargs)
        finally:
            self.computing = was


def torch_class(module):
    """Returns the class of torch.nn that a module is of, or is derived from."""
    return next((each for each in type(module).__mro__ if each.__module__.startswith("torch.nn")), type(module))


def computes(name, item):
    """Whether an attribute of a class is a method, a property or another descriptor that somebody
    wrote. Python itself puts data there, and functions that make annotations."""
    return name != "__init__" and not name.startswith("__annotate") and (
        callable(item) or hasattr(item, "__get__"))


def is_plain(module):
    """Whether a call of a module is its class's forward, and nothing else but torch's hooks."""
    hooks = [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
    return "forward" not in vars(module) and all(
        type(hook).__module__.startswith("torch.nn.utils") for hook in hooks)


def is_original(module):
    """Whether a module does what its class of torch.nn does: it is plain and overrides nothing."""
    original = torch_class(module)
    derived = type(module).__mro__[:type(module).__mro__.index(original)]
    overridden = {name for each in derived for name, item in vars(each).items()
                  if computes(name, item)}
    return is_plain(module) and not any(hasattr(original, name) for name in overridden)


def is_of_torch(module):
    """Whether a module is of torch.nn, or only has another __init__; and is not one that only calls others."""
    containers = (torch.nn.Module, torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Transformer)
    return torch_class(module) not in containers and is_original(module)


class Alone(torch.nn.Module):
    """A module that is called as a whole: a layer of torch.nn, one with hooks, or one of which some inputs are tuples or
    None, as in an example."""

    def __init__(self, layer, example=None):
        super().__init__()
        self.layer, self.example = layer, example

    def forward(self, *inputs):
        return self.layer(*(rebuilt(self.example, iter(inputs)) if self.example else inputs))


def clones(examples):
    return [example.clone() for example in examples]


def copied(net):
    """Returns a copy of a module, or None if it cannot be copied."""
    with contextlib.suppress(Exception):  # of any kind: it is the user's module
        return copy.deepcopy(net)
    return None


def private(net, examples):
    """Returns a copy of a module, which may change when it runs; or the module itself, if it cannot be copied, after a
    call, in which it makes what it keeps. A layer, or what has hooks, is in a module of its own then."""
    own = copied(net)
    if own is None:
        own = net
        with contextlib.suppress(Exception):  # trace says what it is
            net(*clones(examples))
    return Alone(own).train(net.training) if is_of_torch(net) or not is_plain(net) else own


def failure(net, examples):
    """Returns what PyTorch says of a call, or an empty string if it does not fail."""
    try:
        return "" if net is None or net(*clones(examples)) is None else ""
    except Exception as error:  # of any kind: it is the user's code
        return first_line(error)


def trace(net, examples):
    """Returns the Tracer of a module, with its graph."""
    original = net.layer if isinstance(net, Alone) else net
    named = input_names(original, isinstance(net, Alone) and net.example or examples)
    tracer, before = Tracer(clones(examples), named), dict(vars(net))
    tracer.original, tracer.untraced = original, copied(net)  # tracing may leave steps in what a module keeps
    try:
        with ONE_AT_A_TIME, tracer.as_in_forward():
            tracer.graph = tracer.trace(net)
    except ExportError:
        raise
    except Exception as error:  # any: it is the user's code
        line = next((f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
                     for frame in reversed(traceback.extract_tb(error.__traceback__))
                     if not frame.filename.startswith(OWN_CODE)), "")
        text = re.sub(r"[\w.]*KnownProxy", "a step of the trace", first_line(error))
        place = where(type(tracer.original).__name__, line or user_line())
        fails = failure(tracer.untraced, examples)
        if fails:
            raise ExportError(f"{place}: forward fails: {fails}") from None
        kept = re.search("cannot assign 'a step of the trace' as buffer '(.*?)'", text)
        if kept:
            raise ExportError(f"{place}: forward keeps {kept[1]} between calls: take it as an input, and return "
                              "it") from None
        raise ExportError(f"{place}: torch.fx cannot trace this: {text}") from None
    if tracer.refusal:
        raise tracer.refusal
    for name in vars(net).keys() - before.keys():  # tensors that fx has put there
        tracer.constants[name] = vars(net).pop(name)
    return tracer


def check(tracer, net, examples, close=CLOSE):
    """Returns what PyTorch computes of an input. Raises an ExportError if the trace computes other numbers."""
    try:
        wanted = (net if tracer.untraced is None else tracer.untraced)(*clones(examples))
    except Exception as error:  # of any kind: it is the user's code
        raise ExportError(f"{type(tracer.original).__name__}: its forward fails: {first_line(error)}") from None
    (output,) = (node for node in tracer.graph.nodes if node.op == "output")
    traced = leaves(torch.fx.node.map_arg(output.args[0], tracer.value))
    for _, leaf in leaves(wanted):
        if not isinstance(leaf, torch.Tensor):
            raise ExportError(f"forward returns something of type {type(leaf).__name__}: it must return a tensor, or a "
                              "tuple, list or dict of tensors")
        if leaf.is_complex():
            raise ExportError("forward returns complex numbers: return floats, as torch.view_as_real(y)")
    pairs = [(of_module.detach(), of_trace.detach()) for (_, of_module), (_, of_trace) in zip(leaves(wanted), traced)]
    if len(leaves(wanted)) != len(traced) or not all(is_close(*pair, close) for pair in pairs):
        raise ExportError("the module does not compute what its trace computes: does it draw random numbers, keep "
                          "something between calls, ask for the type of its input, or use autocast or inference_mode?")
    return wanted


def is_close(wanted, traced, close):
    most = close * wanted.double().nan_to_num(0.0, 0.0, 0.0).abs().max().item()
    return (wanted.shape, wanted.dtype) == (traced.shape, traced.dtype) and torch.allclose(
        wanted, traced, atol=most, rtol=0, equal_nan=True)
