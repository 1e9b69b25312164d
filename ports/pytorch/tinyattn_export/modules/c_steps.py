# SPDX-License-Identifier: MIT
"""The steps of a module in C99. Each is a call of the compiled library, or moves numbers, or adds two of them in a
loop, which every compiler rounds alike."""
import array
import math
import re

import torch

from .. import c_source, names
from ..errors import ExportError
from ..settings import ACTIVATIONS
from .members import Layer
from .program import Scratch
from .values import Operand

CALL = re.compile(r"(?:static_cast<void>\()?(?:tinyattn::(\w+)|(\0\d+\0)\.forward)\((.*?)\)?\);")
PLACE = re.compile(r"\0(\d+)\0")
OPERATIONS = {"add": "+", "subtract": "-"}


class Definitions(c_source.Definitions):
    """The constants of NAME.c, which no other file sees."""

    def add(self, type_name, name, value, is_public=False):
        return super().add(type_name, name, value)


def extents_in(type):
    return tuple(map(int, re.search(r"<[\w:]+, ([\d, ]+)>", type)[1].split(", ")))


class Writer:
    """Writes the steps of a Program as statements of C."""

    def __init__(self, found, parts, name):
        self.low, self.parts, self.name = found.low, parts, name
        self.to, self.called, self.scratches = Definitions(), {}, {}
        self.most_zeros, self.node = 0, None  # the length of an array of zeros; the step of the graph that is written
        for path, part in parts.items():
            self.define(path, part)
        for step in self.low.program.steps:
            self.add_scratch(step)
        self.slots = self.low.program.slots(self.scratches.get)
        self.scratch = next(iter(self.low.program.scratch_names.values()), "NULL")

    def refuse(self, what):
        what, instead = f"in C there is nothing for {what}", "write a header of C++, NAME.hpp"
        raise self.low.tracer.refused(self.node, what, instead) if self.node else ExportError(f"{what}: {instead}")

    # --- Constants ---

    def define(self, path, part):
        """Defines the constants of a Part, and notes its scratch."""
        kind = re.match(r"::tinyattn::(\w+)|tinyattn::", part.type)[1] or "Tensor"
        name = self.free(path)
        if kind in ("LayerNorm", "RmsNorm"):
            self.to.add("tinyattn_norm", name, c_source.initializer(self.to.norm(name, part.tree)))
        elif kind == "Embedding":
            if part.matrices():
                self.refuse(f"an Embedding of int8, which {path} is")
            self.to.array(name, part.tree["weight"])
        elif kind in c_source.KINDS:
            _, _, macros, _ = c_source.KINDS[kind](self.to, name, part)
            self.scratches[path] = macros.get("SCRATCH", macros.get("SCRATCH(tokens)", ("",)))[0]
        else:
            self.refuse(f"tinyattn::{kind}, which {path} is")

    def free(self, path):
        """Returns a name for a constant, which neither another one nor an array that belongs to it can have."""
        own = [f"{self.name}_{word}" for word in ("forward", "workspace", "example", "zeros")]

        def is_taken(word):
            return any(f"{other}_".startswith(f"{self.name}_{word}_") or f"{self.name}_{word}_".startswith(f"{other}_")
                       for other in (*own, *self.called.values()))
        word = re.sub("[^A-Za-z0-9]+", "_", path)
        self.called[path] = f"{self.name}_{names.first_free(word, is_taken, '{1}_{0}')}"
        return self.called[path]

    def add_scratch(self, step):
        """Gives the step of a layer the scratch that it has in C."""
        layer = next((self.parts[part.path] for part in step.text if isinstance(part, Layer)), None)
        own = next((self.scratches.get(part.path, "") for part in step.text if isinstance(part, Layer)), "")
        extents = [part.extents for part in step.text if isinstance(part, Operand)]
        rows = math.prod(step.writes.extents[:-1])
        if step.text[0] == "tinyattn::scaled_dot_product_attention(":
            own = f"TINYATTN_ATTENTION_SCRATCH({extents[0][0]}, {extents[1][0]})"
        elif layer and "::Linear" in layer.type and layer.matrices():
            own = f"TINYATTN_INTEGERS({rows}, {extents[0][-1]})"
        if own and not step.scratches():
            own = re.sub(r"\btokens\b", str(rows), own)
            self.scratches[own] = own
            step.text.append(Scratch(own))

    # --- Memory ---

    def memory(self):
        """Returns the members of the workspace."""
        lines = []
        for i, slot in enumerate(self.slots):
            size, *others = (str(math.prod(extents_in(type))) if type.startswith("tinyattn::") else type
                             for type, _ in slot.members)
            for other in others:
                size = f"TINYATTN_MORE({size}, {other})"
            members = dict.fromkeys(self.plain(name) for _, name in slot.members)
            lines.append(f"  float memory_{i}[{size}]; /* {', '.join(members)} */")
        return lines or ["  float none[1];"]

    def pointers(self):
        return list(dict.fromkeys(f"  float* const {self.plain(name)} = workspace->memory_{i};"
                                  for i, slot in enumerate(self.slots) for _, name in slot.members))

    def plain(self, name):
        """Returns the name of a member of the workspace: all scratches, which share memory, have one."""
        return self.scratch if name in self.low.program.scratch_names.values() else name

    def pointer(self, operand):
        """Returns an Operand, whose rows must lie one after the other."""
        if operand.stride not in (None, operand.extents[-1]) and operand.extents[0] != 1:
            self.refuse("a view of some columns")
        object = operand.object.resolved()
        if object.place == "member":
            name = self.called[object.name]
        else:
            name = self.low.program.members[object] if object.place == "activation" else object.name
        return f"{name} + {operand.offset}" if operand.offset else name

    # --- Steps ---

    def statements(self):
        return [line for step in self.low.program.steps for line in self.statement(step)]

    def statement(self, step):
        self.node = step.node
        parts = step.text
        text = "".join(f"\0{i}\0" if isinstance(part, (Operand, Layer, Scratch)) else part() if callable(part) else part
                       for i, part in enumerate(parts) if not (isinstance(part, Scratch) and i == len(parts) - 1))
        if text.startswith("for (std::size_t") and "{" not in text:
            loop = PLACE.sub(lambda place: self.pointer(parts[int(place[1])]), text)
            return [f"  {line}" for line in re.sub(r"(\w+)\.elements\[", r"\1[", loop).replace("std::", "").split("\n")]
        call = CALL.fullmatch(text)
        if call is None:
            self.refuse(f"a loop over heads or matrices, which {step.writes.name} is made by")
        arguments = [self.argument(parts, word) for word in call[3].split(", ")]
        scratch = self.scratch if step.scratches() else "NULL"
        arguments = [argument for argument in arguments if not isinstance(argument, Scratch)]
        if call[2]:
            layer = parts[int(PLACE.fullmatch(call[2])[1])]
            return self.call_of_layer(layer.path, arguments, scratch)
        return self.call_of_function(call[1], arguments, scratch)

    def argument(self, parts, word):
        """Returns an argument: an Operand, a Scratch, the name of an Embedding's table, or text."""
        place = PLACE.match(word)
        part = parts[int(place[1])] if place else word
        return self.called[part.path] if isinstance(part, Layer) else part

    def call(self, function, *arguments):
        text = f"  if (!status) status = tinyattn_{function}("
        lines = [text]
        for i, argument in enumerate(map(str, arguments)):
            argument += ");" if i + 1 == len(arguments) else ","
            if len(lines[-1]) + len(argument) > 98:
                lines.append(" " * len(text))
            lines[-1] += argument if lines[-1].endswith("(") or not lines[-1].strip() else f" {argument}"
        return lines

    def call_of_layer(self, path, arguments, scratch):
        part, name = self.parts[path], f"&{self.called[path]}"
        kind = re.match(r"::tinyattn::(\w+)", part.type)[1]
        mask = next((self.mask(argument) for argument in arguments if isinstance(argument, str)), "NULL")
        arguments = [argument for argument in arguments if isinstance(argument, Operand)]
        *inputs, out = map(self.pointer, arguments)
        source, result = arguments[0], arguments[-1]
        rows = math.prod(source.extents[:-1])
        if kind == "Linear":
            weights = c_source.kind("tinyattn_linear", part.tree)
            return self.call("linear_forward", weights, name, rows, source.extents[-1], result.extents[-1], *inputs,
                             out, scratch)
        if kind in ("LayerNorm", "RmsNorm"):
            return self.call("normalize", name, rows, source.extents[-1], *inputs, out)
        if kind == "Embedding":
            return self.lookup(self.called[path], len(part.tree["weight"]), result.extents[-1], source, *inputs, out)
        if len(source.extents) > 2:
            self.refuse(f"a batch of {path}")
        if kind == "Conv1d":
            return self.call("conv1d", name, rows, *inputs, out, scratch)
        if kind == "MultiHeadAttention" and len(inputs) == 1 and mask == "NULL":
            return self.call("forward", name, rows, *inputs, out, scratch)
        if kind == "MultiHeadAttention":
            inputs = inputs if len(inputs) > 1 else inputs * 3
            return self.call("cross_forward", name, rows, arguments[-2].extents[-2], *inputs, mask, out, scratch)
        if mask != "NULL":
            self.refuse(f"a mask of {path}, which is no MultiheadAttention")
        return self.call("encoder_forward", name, *inputs, rows, out, scratch)

    def mask(self, text):
        """Defines a mask of attention, once, and returns its address."""
        if text == "tinyattn::NoMask{}":
            return "NULL"
        if text == "tinyattn::Causal{}":
            return self.defined_mask("causal", "CAUSAL")
        found = next(mask for mask in self.low.members.masks if mask.name == text)
        kind, member, of_numbers = ("BLOCK_MASK", "flags", "bool") if found.tensor.dtype == torch.bool else (
            "ADDITIVE_MASK", "addends", "float")
        rows = found.tensor.reshape(-1, found.tensor.shape[-1]).tolist()
        one_row = c_source.initializer(found.tensor.dim() == 1)
        return self.defined_mask(text, kind, f".one_row = {one_row}, .{member} = ", rows, of_numbers)

    def defined_mask(self, name, kind, members="", rows=(), type=""):
        own = self.called.get(f"mask {name}")
        if own is None:
            own = self.free(f"mask {name}")
            elements = self.to.array(f"{own}_elements", rows, type, mask_element) if rows else ""
            self.to.add("tinyattn_mask", own, f"{{.kind = TINYATTN_{kind}, {members}{elements}}}".replace(", }", "}"))
        return f"&{own}"

    def lookup(self, table, count, width, tokens, x, out):
        """Copies the rows of tokens. An unknown one ends the call."""
        return [f"  for (size_t i = 0; i < {tokens.extents[-1]}; ++i) {{",
                f"    if ({x}[i] >= {count}) return TINYATTN_UNKNOWN_TOKEN;",
                f"    memcpy({out} + i * {width}, {table} + (size_t){x}[i] * {width}, {4 * width});", "  }"]

    def call_of_function(self, name, arguments, scratch):
        operands = [argument for argument in arguments if isinstance(argument, Operand)]
        pointers = list(map(self.pointer, operands))
        first, out, size = operands[0], operands[-1], math.prod(operands[0].extents)
        rows, cols = size // first.extents[-1], first.extents[-1]
        if name in OPERATIONS:
            return self.sum(OPERATIONS[name], arguments, pointers)
        if name in ACTIVATIONS:
            return self.call("activate", f"TINYATTN_{name.upper()}", size, *pointers)
        if name == "softmax" and len(arguments) == 2:
            return self.call("softmax", rows, cols, "1.0f", *pointers)
        if name == "standardize":
            return self.call("standardize", rows, cols, *pointers)
        if name in ("mean", "largest") and len(first.extents) == 2:
            return self.call(name, rows, cols, *pointers)
        if name in ("matmul", "matmul_transposed") and len(out.extents) < 3:
            matrices = [argument if isinstance(argument, str) else self.pointer(argument) for argument in arguments]
            return self.call(name, rows, cols, out.extents[-1], *matrices)
        if name == "scaled_dot_product_attention":
            return self.call("attention", rows, operands[1].extents[0], cols, out.extents[-1], *pointers[:3],
                             self.mask(arguments[3]), pointers[3], scratch)
        if name == "multiply":
            return self.product(arguments, pointers)
        return self.moved(name, arguments, operands, pointers)

    def product(self, arguments, pointers):
        """Multiplies with a row, a number or element by element. A compiler could contract a product and a sum in loops
        of C to one operation that rounds once, but not (x - 0) * factor of the library."""
        x, *_, out = pointers
        size, cols = math.prod(arguments[0].extents), arguments[0].extents[-1]
        if isinstance(arguments[1], Operand):
            factor, cols = pointers[1], math.prod(arguments[1].extents)
            if cols == size and factor == out:
                x, factor = factor, x
        else:
            number = float(arguments[1].removesuffix("f"))
            factor = self.to.array(self.free(f"factor {len(self.called)}"), [array.array("f", [number] * cols)])
        self.most_zeros = max(self.most_zeros, cols)
        return self.call("standardize", size // cols, cols, x, f"{self.name}_zeros", factor, out)

    def sum(self, sign, arguments, pointers):
        """Adds or subtracts, element by element, a row or a number."""
        (x, *_, out), size = map(in_brackets, pointers), math.prod(arguments[0].extents)
        if not isinstance(arguments[1], Operand):
            return [f"  for (size_t i = 0; i < {size}; ++i) {out}[i] = {x}[i] {sign} {arguments[1]};"]
        other, cols = in_brackets(pointers[1]), math.prod(arguments[1].extents)
        if cols == size:
            return [f"  for (size_t i = 0; i < {size}; ++i) {out}[i] = {x}[i] {sign} {other}[i];"]
        return [f"  for (size_t i = 0; i < {size // cols}; ++i)", f"    for (size_t j = 0; j < {cols}; ++j)",
                f"      {out}[{cols} * i + j] = {x}[{cols} * i + j] {sign} {other}[j];"]

    def moved(self, name, arguments, operands, pointers):
        """Returns the statements of what only moves numbers."""
        sizes, (*_, out) = [4 * math.prod(operand.extents) for operand in operands], pointers
        if name == "row":
            cols = operands[0].extents[-1]
            return [f"  memcpy({out}, {pointers[0]} + {int(arguments[1]) * cols}, {4 * cols});"]
        if name == "concat_rows":
            return [f"  memcpy({out}, {pointers[0]}, {sizes[0]});",
                    f"  memcpy({out} + {sizes[0] // 4}, {pointers[1]}, {sizes[1]});"]
        if name == "concat_columns":
            first, second = (size // 4 // (sizes[-1] // 4 // operands[-1].extents[-1]) for size in sizes[:2])
            row = f"{out} + i * {first + second}"
            return [f"  for (size_t i = 0; i < {sizes[0] // 4 // first}; ++i) {{",
                    f"    memcpy({row}, {pointers[0]} + i * {first}, {4 * first});",
                    f"    memcpy({row} + {first}, {pointers[1]} + i * {second}, {4 * second});", "  }"]
        if name == "transpose":
            (rows, cols), out = operands[0].extents, in_brackets(out)
            return [f"  for (size_t i = 0; i < {rows}; ++i)", f"    for (size_t j = 0; j < {cols}; ++j)",
                    f"      {out}[{rows} * j + i] = {in_brackets(pointers[0])}[{cols} * i + j];"]
        return self.refuse(f"{name} of these arguments" if name in ("softmax", "mean", "matmul") else name)


def in_brackets(pointer):
    return f"({pointer})" if " " in pointer else pointer


def mask_element(item):
    return "-INFINITY" if item == -math.inf else c_source.initializer(item)
