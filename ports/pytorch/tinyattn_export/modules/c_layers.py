# SPDX-License-Identifier: MIT
"""Layers that the compiled library lacks are written with what it has."""
import math
import re

from .. import c_source
from .c_walks import Place, copy, for_each, loop

# What next_state of kernel/recurrent.hpp computes: (function, of how many gates, operands, result). x and h are the
# products of a token and of the hidden features, s the state, each from that gate on.
GATES = {
    "Gru": (("add", 2, "x0 h0", "x0"), ("sigmoid", 2, "x0", "x0"), ("fma", 1, "x0 h2 x2", "x2"),
            ("tanh", 1, "x2", "x2"), ("subtract", 1, "s0 x2", "s0"), ("fma", 1, "x1 s0 x2", "s0")),
    "Lstm": (("add", 4, "x0 h0", "x0"), ("sigmoid", 2, "x0", "x0"), ("tanh", 1, "x2", "x2"),
             ("sigmoid", 1, "x3", "x3"), ("multiply", 1, "x0 x2", "x0"), ("fma", 1, "x1 s1 x0", "s1"),
             ("tanh", 1, "s1", "x0"), ("multiply", 1, "x3 x0", "s0"))}


def define_groups(to, name, part):
    """Defines a convolution for each group. Their weights lie one after the other."""
    config, count = part.config, part.config["groups"]
    inputs, outputs = config["in"] // count, config["out"] // count
    weight = [row[first:first + outputs] for first in range(0, config["out"], outputs) for row in part.tree["weight"]]
    arrays = to.linear(name, {**part.tree, "weight": weight})
    sizes = {"weight": config["kernel"] * inputs * outputs, "bias": outputs}
    members = {"kind": "&tinyattn_convolution_floats", "in": inputs, "out": outputs,
               **{member: config[member] for member in ("kernel", "stride", "padding")}}
    linears = [{role: f"{array} + {i * sizes[role]}" for role, array in arrays.items()} for i in range(count)]
    convolutions = [c_source.initializer({**members, "linear": linear}, "  ") for linear in linears]
    to.add("tinyattn_convolution", f"{name}[{count}]", "{\n  " + ",\n  ".join(convolutions) + "}")


def scratch_of(part):
    """Returns the scratch of a recurrent layer, as text."""
    gates, inputs, hidden = 4 if "Lstm" in part.type else 3, part.config["in"], part.config["hidden"]
    return f"{2 * gates * hidden}" + f" + TINYATTN_INTEGERS(1, {max(inputs, hidden)})" * bool(part.matrices())


def lookup(writer, name, part, x, out):
    """Copies the rows of tokens. An unknown one ends the call."""
    count, width = map(int, re.findall(r"\d+", part.type)[:2])
    token = f"{x.name}[{x.index([(1, 'i')])}]"
    row = Place(out.name, (width,), None, out.offset, ((width, "i"),))
    lines = [f"if ({token} >= {count}) return TINYATTN_UNKNOWN_TOKEN;"]
    if part.matrices():
        codes = Place(f"{name}_codes.codes", (width,), None, 0, ((-(-width // 16) * 16, token),))
        scale = Place(f"{name}_scales", (1,), None, 0, ((1, token),))
        lines += [*for_each("{0} = (float)({1} - 128);", row, codes, names="j"),
                  *writer.elementwise("multiply", [row, scale], row, "j")]
    else:
        table = Place(name, (width,), None, 0, ((width, f"(size_t){token}"),))
        lines.append(f"memcpy({row.pointer()}, {table.pointer()}, {width} * sizeof(float));")
    return loop("i", math.prod(x.extents), lines)


def recur(writer, name, part, x, state, out=None):
    """Reads tokens one by one: a product with each, one with the hidden features, and their gates."""
    inputs, hidden, gates = part.config["in"], part.config["hidden"], 4 if "Lstm" in part.type else 3
    memory = {"x": Place(writer.scratch, (hidden,)), "s": state,
              "h": Place(writer.scratch, (hidden,), offset=gates * hidden)}

    def place(text, count=1):
        array = memory[text[0]]
        return array._replace(extents=(count * hidden,), strides=None, offset=array.offset + int(text[1]) * hidden)
    weights = c_source.kind("tinyattn_linear", part.tree["input"])
    integers = memory["x"]._replace(offset=2 * gates * hidden).pointer() if part.matrices() else "NULL"
    token = x._replace(around=((x.stride_of(-2), "i"),)).pointer()
    lines = []
    for product, width, given, result in (("input", inputs, token, "x0"), ("recurrent", hidden, state.pointer(), "h0")):
        lines += writer.call("linear_forward", weights, f"&{name}_{product}", 1, width, gates * hidden, given,
                             place(result).pointer(), integers)
    for function, count, operands, result in GATES["Lstm" if gates == 4 else "Gru"]:
        terms = [place(each, count) for each in operands.split()]
        lines += writer.elementwise(function, terms, place(result, count), "j")
    if out:
        lines += copy(place("s0"), out._replace(extents=(hidden,), around=((hidden, "i"),)), "j")
    return loop("i", math.prod(x.extents) // inputs, lines)
