# SPDX-License-Identifier: MIT
"""The constants of a module in C99: its layers, masks, and walks through elements."""
import math
import re

from .. import c_source, names
from . import c_layers
from .c_walks import Place
from .members import Layer

MOST_AXES = 6
ONLY_IN_CPP = {"d_key", "d_value", "dilation", "groups"}  # settings


class Definitions(c_source.Definitions):
    """The constants of NAME.c, which no other file sees."""

    def add(self, type_name, name, value, is_public=False):
        return super().add(type_name, name, value)


def kind_of(part):
    """Returns the name of a layer's type."""
    return (re.match(r"::tinyattn::(\w+)", part.type) or ["", "Tensor"])[1]


class Constants:
    """Defines the constants of steps. `called` has their names in C."""

    def __init__(self, low, parts, name):
        self.low, self.parts, self.name = low, parts, name
        self.to, self.called, self.scratches = Definitions(), {}, {}
        self.taken = [f"{name}_{word}" for word in ("forward", "workspace", "example")]
        for path, part in parts.items():
            steps = [step for step in low.program.steps if Layer(path) in step.text or path in step.members()]
            if steps:  # else nothing reads it
                self.node = steps[0].node  # the step of the graph that is written
                self.called[path] = self.free(path)
                self.define(kind_of(part), self.called[path], path, part)

    def refuse(self, what):
        raise self.low.tracer.refused(self.node, f"in C there is nothing for {what}", "write a header of C++, NAME.hpp")

    def define(self, kind, name, path, part):
        """Defines the constants of a Part, and notes its scratch, for so many tokens of its result."""
        options = ONLY_IN_CPP.intersection(part.config or ())
        if kind in ("LayerNorm", "RmsNorm"):
            self.to.add("tinyattn_norm", name, c_source.initializer(self.to.norm(name, part.tree)))
        elif kind == "Embedding":
            (self.to.matrix if part.matrices() else self.to.array)(name, part.tree["weight"])
        elif kind in c_layers.GATES:
            for product, tree in part.tree.items():
                own = f"{name}_{product}"
                self.to.add("tinyattn_linear", own, c_source.initializer(self.to.linear(own, tree)))
            self.scratches[path] = c_layers.scratch_of(part)
        elif kind == "Conv1d" and options == {"groups"} and not part.matrices():
            c_layers.define_groups(self.to, name, part)
        elif kind not in c_source.KINDS or options:
            of_int8 = " of int8" * bool(part.matrices())
            self.refuse(f"tinyattn::{kind}{of_int8}{' with ' + min(options) if options else ''}, which {path} is")
        else:
            _, _, macros, _ = c_source.KINDS[kind](self.to, name, part)
            of_conv1d = macros["SCRATCH(tokens)"] if kind == "Conv1d" and part.matrices() else ("",)
            self.scratches[path] = macros.get("SCRATCH", of_conv1d)[0]

    def free(self, path):
        """Returns a name for a constant, which neither another one nor an array that belongs to it can have."""
        def is_taken(word):
            own = f"{self.name}_{word}_"
            return any(f"{other}_".startswith(own) or own.startswith(f"{other}_") for other in self.taken)
        self.taken.append(f"{self.name}_{names.first_free(re.sub('[^A-Za-z0-9]+', '_', path), is_taken, '{1}_{0}')}")
        return self.taken[-1]

    def defined(self, key, name, define):
        """Returns the name of a constant, which define(name) defines when it is first asked for."""
        if key not in self.called:
            self.called[key] = self.free(name)
            define(self.called[key])
        return self.called[key]

    def walk(self, axes):
        """Returns the address of a tinyattn_walk, [(extent, strides)]."""
        if len(axes) > MOST_AXES:
            self.refuse(f"a step through {len(axes)} axes")
        extents, strides = zip(*axes)
        shape, *rows = ("{%s}" % ", ".join(map(str, numbers)) for numbers in (extents, *zip(*strides)))
        text, alike = f"{{{len(axes)}, {shape}, {{{', '.join(rows)}}}}}", sum(shape in key for key in self.called)
        name = f"walk{1 + alike if alike else ''}_{'_by_'.join(map(str, extents))}"
        return "&" + self.defined(text, name, lambda own: self.to.add("tinyattn_walk", own, text))

    def table(self, name, type):
        """Returns the Place of the elements of a mask: booleans, floats, or the numbers of elements."""
        tensor = next(mask.tensor for mask in self.low.members.masks if mask.name == name)
        rows = tensor.reshape(-1, tensor.shape[-1]).tolist()
        return Place(self.defined(f"table {name}", name, lambda own: self.to.array(own, rows, type, element)),
                     tensor.shape, type=type)

    def mask(self, text):
        """Returns the address of a mask of attention, or that of one of several."""
        if text == "tinyattn::NoMask{}":
            return "NULL"
        name, of_head = re.fullmatch(r"(?:tinyattn::)?(\w+)(\[.*\])?(?:\{\})?", text).groups("")
        own = self.defined(f"mask {name}", f"attend_{name}".lower(), lambda own: self.define_mask(own, name))
        return f"&{own}{of_head}"

    def define_mask(self, own, name):
        if name == "Causal":
            return self.to.add("tinyattn_mask", own, "{.kind = TINYATTN_CAUSAL}")
        mask = next(mask for mask in self.low.members.masks if mask.name == name)
        kind, member, type = ("BLOCK", "flags", "bool") if "Block" in mask.type else ("ADDITIVE", "addends", "float")
        elements, shape = self.table(name, type), mask.tensor.shape
        one_row, size = c_source.initializer(len(shape) == 1), math.prod(shape[-2:])
        masks = [f"{{.kind = TINYATTN_{kind}_MASK, .one_row = {one_row}, .{member} = "
                 f"{elements._replace(offset=first).pointer()}}}" for first in range(0, mask.tensor.numel(), size)]
        if not mask.is_array:
            return self.to.add("tinyattn_mask", own, masks[0])
        return self.to.add("tinyattn_mask", f"{own}[{len(masks)}]", "{\n  " + ",\n  ".join(masks) + "}")


def element(item):
    return "-INFINITY" if item == -math.inf else c_source.initializer(item)
