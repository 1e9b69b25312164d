# SPDX-License-Identifier: MIT
"""What forward takes and returns: the names of its inputs, and the tensors in a tuple, list or dict that it returns."""
import inspect
import re

from .. import names
from .members import RESERVED

INDICES = "ijklmn"  # of loops


def input_names(net, example):
    """Returns names for the tensors of the inputs of a call: those of forward's parameters, x, state_0, state_1."""
    return [f"{own}_{name}" if name else own for own, item in zip(parameter_names(net, len(example)), example)
            for name, _ in leaves(item)]


def parameter_names(net, count):
    """Returns names for so many inputs: those of forward's parameters."""
    if count == 1:
        return ["x"]
    found = []
    for parameter in inspect.signature(net.forward).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            found += [f"{parameter.name}_{i}" for i in range(count)]
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            found.append(parameter.name)
    return [*found, *(f"x{i}" for i in range(len(found), count))][:count]


def items_in(result):
    """Returns [(key, item)] of what holds several results, or None."""
    if isinstance(result, dict):
        return list(result.items())
    if isinstance(result, (tuple, list)):
        return list(zip(getattr(result, "_fields", range(len(result))), result))
    return None


def leaves(result, name=""):
    """Returns [(name, leaf)] of what forward returns, without those that are None."""
    items = items_in(result)
    if items is None:
        return [] if result is None else [(name, result)]
    return [leaf for key, item in items for leaf in leaves(item, f"{name}_{key}" if name else str(key))]


def rebuilt(result, found):
    """Returns what forward returns with other leaves, which an iterator gives."""
    items = items_in(result)
    if items is None:
        return None if result is None else next(found)
    members = [(key, rebuilt(item, found)) for key, item in items]
    if isinstance(result, dict):
        return dict(members)
    return type(result)(*dict(members).values()) if hasattr(result, "_fields") else type(result)(
        [item for _, item in members])


def name_parameters(inputs, outputs, taken):
    """Gives the Objects of inputs and outputs, which have the names of forward, names in C++ that a Model has not
    `taken` already."""
    given = {*taken, *INDICES, *RESERVED} - {"x", "out"}
    wanted = [*("out" if len(outputs) == 1 else f"out_{out.name}" for out in outputs), *(x.name for x in inputs)]
    for object, name in zip([*outputs, *inputs], wanted):
        name = re.sub(r"\W|_+", "_", name, flags=re.ASCII).strip("_")
        name = f"{'' if name[:1].isalpha() else 'x'}{name.lower() if name.isupper() else name}"
        object.name = names.first_free(f"{name}_" if names.objection(name) else name, given.__contains__)
        given.add(object.name)


def types(word, objects):
    """Returns Input for one input, and Input0, Input1 and so on for several; so with Output."""
    return [word] if len(objects) == 1 else [f"{word}{i}" for i in range(len(objects))]
