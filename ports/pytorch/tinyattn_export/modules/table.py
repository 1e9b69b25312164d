# SPDX-License-Identifier: MIT
"""The names of functions and methods, and the table of what each becomes."""
import inspect

FUNCTIONS, MODULES = {}, {}  # {name: what turns a call into steps; its parameters are those of PyTorch}
IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor".split()
SAME_PARAMETERS = {"axis": "dim", "mat2": "other", "unflattened_size": "sizes"}


def lowers(*names, table=FUNCTIONS):
    """Decorates what turns calls of these functions into steps."""
    def register(function):
        table.update(dict.fromkeys(names, function))
        return function
    return register


def lowers_module(*names):
    """Decorates what turns calls of these modules of torch.nn into steps."""
    return lowers(*names, table=MODULES)


def call(low, what, function, args, kwargs):
    """Calls what turns a step into steps of C++, with the arguments of the step. An argument that is not among its
    parameters is refused, unless it says nothing."""
    kwargs = {SAME_PARAMETERS.get(name, name): value for name, value in kwargs.items()}
    known = inspect.signature(function).parameters
    is_open = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in known.values())
    others = [*([] if is_open else map(text, args[len(known):])), *(f"{name}={text(value)}" for name, value in kwargs.items()
                                              if name not in known and value not in (None, False))]
    if others:
        low.refuse(f"{what} has an argument that is not known here, {others[0]}", "leave it out")
    return function(*args, **{name: value for name, value in kwargs.items() if name in known})


def text(argument):
    """Returns an argument in a sentence."""
    return "a tensor" if hasattr(argument, "shape") else str(argument)


def title(node):
    """Returns the name of a function or method as it is written, without underscores around it."""
    name = node.target if isinstance(node.target, str) else node.target.__name__
    return name.strip("_") if name.startswith("_") else name


def name_of(node):
    """Returns one name for add, __add__, __radd__, add_ and iadd."""
    name = title(node).strip("_")
    reverse = {"radd": "add", "rmul": "mul", "rsub": "rsub", "iadd": "add", "isub": "sub", "imul": "mul", "true_divide": "truediv",
               "itruediv": "truediv", "ifloordiv": "floordiv", "imod": "mod", "ipow": "pow", "iand": "and", "ior": "or",
               "ixor": "xor", "rtruediv": "rtruediv", "div": "truediv", "divide": "truediv",
               "multiply": "mul", "subtract": "sub", "imatmul": "matmul"}
    return reverse.get(name, name)


def writes_in_place(node):
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    if node.op == "call_function" and node.kwargs.get("inplace"):
        return True
    return name in (*IN_PLACE, "setitem", "__setitem__") or (
        name.endswith("_") and not name.endswith("__") and name != "requires_grad_")
