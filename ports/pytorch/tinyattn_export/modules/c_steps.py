# SPDX-License-Identifier: MIT
"""The steps of a module in C99. Each is a call of the compiled library, or moves numbers, or adds two of them in a
loop, which every compiler rounds alike."""
import math
import re

from .. import c_source
from ..settings import ACTIVATIONS
from . import c_layers
from .c_constants import Constants, kind_of
from .c_walks import Place, axes_of, copy, for_each, loop, place_of
from .members import Layer
from .program import Scratch
from .values import Operand, Rows

OPERATORS = {"add": "+", "subtract": "-"}
OF_ROWS = ("Linear", "LayerNorm", "RmsNorm", "softmax", "standardize")
OF_MATRICES = (*OF_ROWS, "Conv1d", "MultiHeadAttention", "TransformerBlock", "Transformer", "mean", "largest", "matmul",
               "matmul_transposed", "scaled_dot_product_attention")


def size_of(type):
    """Returns how many elements a member of the workspace has, as text."""
    extents = re.search(r"^tinyattn::\w+<[\w:]+, ([\d, ]+)>", type)
    return str(math.prod(map(int, extents[1].split(", ")))) if extents else type


def largest(sizes):
    """Returns the largest of sizes, as text."""
    return "".join(f"TINYATTN_MORE({size}, " for size in sizes[1:]) + "".join(sizes[:1]) + ")" * len(sizes[1:])


def has_gaps(matrix):
    return matrix.rows != 1 and matrix.stride != matrix.cols


class Writer(Constants):
    """Writes the steps of a Program as statements of C."""

    def __init__(self, found, parts, name):
        super().__init__(found.low, parts, name)
        called = {self.title_of(step.call[0]) for step in self.low.program.steps}
        self.has_functions = not called.isdisjoint(("elementwise", "multiply", *c_layers.GATES))
        sizes = [" + ".join(str(size) for size in self.needs(step) if size) for step in self.low.program.steps]
        scratch = Scratch(largest([size for size in dict.fromkeys(sizes) if size]))
        for step, size in zip(self.low.program.steps, sizes):
            step.text = [part for part in step.text if not isinstance(part, Scratch)] + [scratch] * bool(size)
        self.slots = self.low.program.slots(str)
        self.scratch = "".join(self.low.program.scratch_names.values())

    # --- Memory ---

    def title_of(self, function):
        """Returns the name of a function, or of the type of a Layer."""
        return kind_of(self.parts[function.path]) if isinstance(function, Layer) else function

    def matrices(self, step):
        """Returns the Rows that a layer or a function is called with, if it takes matrices."""
        title, arguments = self.title_of(step.call[0]), step.call[1]
        operands = [each for each in arguments if isinstance(each, (Operand, Rows))] if title in OF_MATRICES else []
        groups = self.parts[step.call[0].path].config.get("groups", 1) if title == "Conv1d" else 1
        if title in ("mean", "largest"):  # a row of each matrix
            *operands, out = operands
            operands.append(out if isinstance(out, Rows) else Operand(
                out.object, (*out.extents[:-1], 1, out.extents[-1]), None, out.offset))
        return [matrix_of(operand, title in OF_ROWS, groups) for operand in operands]

    def needs(self, step):
        """Returns how many elements of matrices are copied, since there are gaps between their rows, and the scratch
        of a layer or of attention, as text."""
        function, matrices, own = step.call[0], self.matrices(step), ""
        if isinstance(function, Layer):
            own = re.sub(r"\btokens\b", str(matrices and matrices[-1].rows), self.scratches.get(function.path, ""))
            if "::Linear" in self.parts[function.path].type and self.parts[function.path].matrices():
                own = f"TINYATTN_INTEGERS({matrices[0].rows}, {matrices[0].cols})"
        elif function == "scaled_dot_product_attention":
            own = f"TINYATTN_ATTENTION_SCRATCH({matrices[0].rows}, {matrices[1].rows})"
        return sum(matrix.rows * matrix.cols for matrix in matrices if has_gaps(matrix)), own

    def memory(self):
        """Returns the members of the workspace. Tokens share no memory with floats."""
        lines = []
        for i, slot in enumerate(self.slots):
            floats = {name: size_of(type) for type, name in slot.members if "Token" not in type}
            lines += [f"  float memory_{i}[{largest(list(floats.values()))}]; /* {', '.join(floats)} */"] * bool(floats)
            lines += [f"  uint16_t {name}_tokens[{size_of(type)}];" for type, name in slot.members if "Token" in type]
        return lines or ["  float none[1];"]

    def pointers(self):
        return [f"  uint16_t* const {name} = workspace->{name}_tokens;" if "Token" in type else
                f"  float* const {name} = workspace->memory_{i};"
                for i, slot in enumerate(self.slots) for type, name in slot.members]

    def name_of(self, object):
        object = object.resolved()
        if object.place == "member":
            return self.called[object.name]
        return self.low.program.members[object] if object.place == "activation" else object.name

    # --- Steps ---

    def statements(self):
        return [f"  {line}" for step in self.low.program.steps for line in self.statement(step)]

    def statement(self, step):
        self.node, (function, arguments) = step.node, step.call
        if step.also or function is None:
            self.refuse("the weights of attention" if step.also else f"what makes {step.writes.name}")
        given = [argument() if callable(argument) else argument for argument in arguments]
        texts = [text for argument in given if isinstance(argument, str) for text in argument.split(", ") if text]
        title = self.title_of(function)
        if title in OF_MATRICES:
            tables = [self.called[argument.path] for argument in given if isinstance(argument, Layer)]
            return self.each_matrix(step, lambda matrices, pointers, scratch: self.of_matrices(
                title, function, matrices, [pointers[0], *tables, *pointers[1:]], texts, scratch))
        places = [place_of(each, self.name_of(each.object)) if isinstance(each, Operand) else
                  each.replace("std::numeric_limits<float>::infinity()", "INFINITY")
                  for each in given if isinstance(each, (Operand, str))]
        if isinstance(function, Layer):
            write = c_layers.lookup if title == "Embedding" else c_layers.recur
            return write(self, self.called[function.path], self.parts[function.path], *places)
        return self.of_elements(function, *places)

    def call(self, function, *arguments):
        text = f"if (!status) status = tinyattn_{function}("
        lines = [text]
        for i, argument in enumerate(map(str, arguments)):
            argument += ");" if i + 1 == len(arguments) else ","
            if len(lines[-1]) + len(argument) > 96:
                lines.append(" " * len(text))
            lines[-1] += argument if lines[-1].endswith("(") or not lines[-1].strip() else f" {argument}"
        return lines

    def each_matrix(self, step, write):
        """Returns what write(matrices, pointers, scratch) does for each matrix of a batch or of heads. Matrices with
        gaps between their rows are copied."""
        matrices, (gaps, own), copied = self.matrices(step), self.needs(step), 0
        count, before, after, pointers = max(matrix.count for matrix in matrices), [], [], []
        for i, matrix in enumerate(matrices):
            shape, indices = (matrix.rows, matrix.cols), "jklmn" if count > 1 else "ijklmn"
            around = matrix.terms("i") if count > 1 else ()
            place = Place(self.name_of(matrix.object), shape, (matrix.stride, 1), matrix.offset, around)
            if has_gaps(matrix):
                there, place = place, Place(self.scratch, shape, offset=copied)
                copied += math.prod(shape)
                if i + 1 < len(matrices):
                    before += copy(there, place, indices)
                else:
                    after = copy(place, there, indices)
            pointers.append(place.pointer())
        scratch = Place(self.scratch, (), offset=gaps).pointer() if own else "NULL"
        lines = [*before, *write(matrices, pointers, scratch), *after]
        return lines if count == 1 else loop("i", count, lines)

    def of_matrices(self, title, function, matrices, pointers, texts, scratch):
        """Returns the call of a function or a layer for one matrix of each operand."""
        x, out, rows = matrices[0], matrices[-1], matrices[0].rows
        if title in ("matmul", "matmul_transposed"):
            return self.call(title, rows, x.cols, out.cols, *pointers)
        if title == "scaled_dot_product_attention":
            return self.call("attention", rows, matrices[1].rows, x.cols, out.cols, *pointers[:3], self.mask(*texts),
                             pointers[3], scratch)
        if not isinstance(function, Layer):
            return self.call(title, rows, x.cols, *["1.0f"] * (title == "softmax"), *pointers)
        name, part = f"&{self.called[function.path]}", self.parts[function.path]
        if title == "Linear":
            weights = c_source.kind("tinyattn_linear", part.tree)
            return self.call("linear_forward", weights, name, rows, x.cols, out.cols, *pointers, scratch)
        if title in OF_ROWS:
            return self.call("normalize", name, rows, x.cols, *pointers)
        if title == "Conv1d":
            groups = part.config.get("groups", 0)
            group = "" if not groups else "[i]" if x.count == groups else f"[i % {groups}]"
            return self.call("conv1d", name + group, rows, *pointers, scratch)
        if title == "MultiHeadAttention" and len(pointers) == 2 and not texts:
            return self.call("forward", name, rows, *pointers, scratch)
        if title == "MultiHeadAttention":
            *inputs, result = pointers
            return self.call("cross_forward", name, rows, matrices[-2].rows, *inputs * (3 if len(inputs) == 1 else 1),
                             self.mask(*texts) if texts else "NULL", result, scratch)
        if texts:
            self.refuse(f"a mask of {function.path}, which is no MultiheadAttention")
        return self.call("encoder_forward", name, pointers[0], rows, pointers[1], scratch)

    # --- Elements ---

    def of_elements(self, function, *places):
        """Returns the statements of a function of elements, or of what moves them. Numbers are text."""
        *given, out = places
        if function == "elementwise":
            return self.elementwise(given[0].rpartition(":")[2], given[1:], out)
        if function in (*OPERATORS, "multiply", *ACTIVATIONS):
            return self.elementwise(function, given, out)
        if function.startswith("reduce<"):
            return self.reduce(set(map(int, re.findall(r"\d+", function))), *places)
        if function == "masked_fill":
            return for_each(f"{{0}} = {{2}} ? {given[2]} : {{1}};", out, given[0], self.table(given[1], "bool"))
        if function == "gather":
            return for_each(f"{{0}} = {given[0].name}[{{1}}];", out, self.table(given[1], "uint16_t"))
        if function in ("concat_rows", "concat_columns"):
            return self.joined(function, *places)
        if function == "copy":
            return for_each(f"{{0}} = {given[0]};", out) if isinstance(given[0], str) else copy(*places)
        return self.refuse(function.partition("<")[0])

    def elementwise(self, function, given, out, names="ijklmn"):
        terms = [term for term in given if isinstance(term, Place)]
        if function in OPERATORS:
            a, b = (f"{{{1 + terms.index(term)}}}" if isinstance(term, Place) else term for term in given)
            return for_each(f"{{0}} = {a} {OPERATORS[function]} {b};", out, *terms, names=names)
        is_contiguous = [strides for _, strides in axes_of(out, *terms)] == [[1, 1]]
        if function in ACTIVATIONS and is_contiguous and not self.has_functions:  # else that takes less flash
            return self.call("activate", f"TINYATTN_{function.upper()}", math.prod(out.extents), terms[0].pointer(),
                             out.pointer())
        places = [term if isinstance(term, Place) else Place(f"&(const float){{{term}}}", (1,)) for term in given]
        walk = self.walk(axes_of(out, *places, *places[-1:] * (3 - len(places))))  # other strides are ignored
        pointers = [place.pointer() for place in places] + ["NULL"] * (3 - len(places))
        return self.call("elementwise", f"&tinyattn_function_{function}", walk, *pointers, out.pointer())

    def reduce(self, axes, operation, x, out):
        """Reduces axes of x: along these `out` has the stride 0, and along those that are kept another one."""
        rank, name = len(x.extents), operation.rpartition(":")[2].replace("{", "_").removesuffix("}")
        if re.search(r"_(?![01]$)\d", name):
            self.refuse(f"{name.replace('_', ' of the correction ')}")
        kept = Place("", [1 if axis in axes else extent for axis, extent in enumerate(x.extents)])
        walk = self.walk([(x.extents[axis], (kept.stride_of(axis), x.stride_of(axis))) for axis in range(-rank, 0)])
        function = "reduce_to_index" if name in ("argmax", "argmin") else "reduce"
        return self.call(function, f"&tinyattn_reduction_{name}", walk, x.pointer(), out.pointer())

    def joined(self, function, first, second, out):
        """Copies one to the beginning of each row, or of all, and another one behind it."""
        rows = math.prod(out.extents[:-1]) if function == "concat_columns" else 1
        widths = [math.prod(place.extents) // rows for place in (first, second)]
        lines = []
        for place, width, begin in zip((first, second), widths, (0, widths[0])):
            shape = ((rows, width), (sum(widths), 1)) if function == "concat_columns" else (place.extents, None)
            lines += copy(place, Place(out.name, *shape, out.offset + begin))
        return lines


def matrix_of(operand, of_rows, groups):
    """Returns an Operand as Rows: all of its rows, the matrices of a batch, or groups of columns."""
    if isinstance(operand, Rows):
        return operand
    *outer, cols = operand.extents
    rows = math.prod(outer) if of_rows or operand.stride is not None else math.prod(outer[-1:])
    stride, count = cols if operand.stride is None else operand.stride, math.prod(outer) // rows
    leading = [(count, rows * cols)] * (count > 1) + [(groups, cols // groups)] * (groups > 1)
    return Rows(operand.object, tuple(leading), rows, cols // groups, stride, operand.offset)
