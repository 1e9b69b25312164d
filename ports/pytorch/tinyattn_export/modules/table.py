# SPDX-License-Identifier: MIT
"""The names of functions and methods, and the table of what each becomes."""

FUNCTIONS, MODULES = {}, {}  # {name: what turns a call into steps}


def lowers(*names, table=FUNCTIONS):
    """Decorates what turns calls of these functions into steps."""
    def register(function):
        table.update(dict.fromkeys(names, function))
        return function
    return register


def lowers_module(*names):
    """Decorates what turns calls of these modules of torch.nn into steps."""
    return lowers(*names, table=MODULES)


def title(node):
    """Returns the name of a function or method as it is written, without underscores around it."""
    name = node.target if isinstance(node.target, str) else node.target.__name__
    return name.strip("_") if name.startswith("_") else name


def name_of(node):
    """Returns one name for add, __add__, __radd__, add_ and iadd."""
    name = title(node).strip("_")
    reverse = {"radd": "add", "rmul": "mul", "rsub": "rsub", "iadd": "add", "isub": "sub", "imul": "mul",
               "itruediv": "truediv", "rtruediv": "rtruediv", "div": "truediv", "divide": "truediv",
               "multiply": "mul", "subtract": "sub", "imatmul": "matmul"}
    return reverse.get(name, name)


def writes_in_place(node):
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    if node.op == "call_function" and node.kwargs.get("inplace"):
        return True
    return name in ("iadd", "isub", "imul", "itruediv", "setitem", "__setitem__") or (
        name.endswith("_") and not name.endswith("__") and name != "requires_grad_")
