# SPDX-License-Identifier: MIT
"""Writes a Model in C++: its members, its workspace, and forward."""
import dataclasses
import re

import torch

from .. import names
from . import trainable
from .layout import Line, aligned, broken, fits, literal
from .loops import rolled
from .members import Layer, is_reserved, member_name
from .program import Scratch, Slot
from .signature import name_parameters, types
from .values import Operand

CONTAINERS = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)


@dataclasses.dataclass
class Field:
    """A member of a struct: a layer or a tensor, or a struct or an array of these."""

    type: str
    tree: object
    count: int = 0  # of an array


class Structs:
    """The types of the members. Layers have types of tinyattn; a module of the user has a struct of its own, named as
    its class; modules that are numbered and have one type are an array."""

    def __init__(self, net, members, taken):
        self.net, self.parts, self.config, self.taken = net, members.finished, members.config, taken
        self.definitions, self.paths, self.types, self.tree, self.arrays = {}, {}, {}, {}, {}
        for path in self.parts:
            place = self.tree
            *outer, last = path.split(".")
            for name in outer:
                place = place.setdefault(name, {})
                if isinstance(place, str):
                    raise AssertionError(f"{path} is in a layer")
            place[last] = path
        self.members = {name: self.tree[key] for key, name in unique_names(self.tree, taken).items()}
        self.fields = {name: self.field(key, item, key, name) for key, (name, item) in zip(
            self.tree, self.members.items())}

    def parts_in(self, item):
        """Returns the parts in a member, in the order of memory."""
        if isinstance(item, str):
            return [self.parts[item]]
        return [part for member in item.values() for part in self.parts_in(member)]

    def content(self):
        """Returns the bytes of the Model in the memory of the target."""
        return b"".join(part.content() for part in self.parts_in(self.tree))

    def sizes(self):
        """Returns {member: its bytes}."""
        return {name: sum(part.size for part in self.parts_in(item)) for name, item in self.members.items()}

    @property
    def parameter_count(self):
        return sum(part.parameter_count for part in self.parts.values())

    def field(self, name, item, path, expression):
        if isinstance(item, str):
            return self.leaf(name, item, expression)
        numbered = list(item) == [str(i) for i in range(len(item))]
        of_struct = unique_names(item)
        names = [f"[{i}]" if numbered else f".{of_struct[key]}" for i, key in enumerate(item)]
        members = [self.field(name if numbered else key, item[key], f"{path}.{key}", expression + ending)
                   for key, ending in zip(item, names)]
        if numbered and len({member.type for member in members}) == 1 and not any(member.count for member in members):
            array = Field(members[0].type, tuple(member.tree for member in members), len(members))
            self.arrays[expression] = array
            return array
        if numbered:
            members = [self.field(key, item[key], f"{path}.{key}", f"{expression}.{of_struct[key]}") for key in item]
        body = {of_struct[key]: member for key, member in zip(item, members)}
        return Field(self.struct(self.class_of(path, name), body),
                     {key: member.tree for key, member in body.items()})

    def element_of(self, array):
        """Returns a name for an element of an array: block for blocks, unless a member has it."""
        name = re.sub(r".*\.|s$", "", array)
        return "each" if array.endswith(name) or member_name(name) != name or name in self.fields else name

    def leaf(self, name, path, expression):
        self.paths[path], part = expression, self.parts[path]
        template = part.type.replace("::tinyattn::", "tinyattn::")
        if part.config is not None:
            outer, _, config = template.partition("{")[0].partition("<")
            template = f"{outer}<{self.config(member_name(name).strip('_') or 'layer', config, part.config)}>"
        self.types[path] = template
        return Field(template, part.tree)

    def class_of(self, path, name):
        try:
            module = self.net.get_submodule(path)
        except AttributeError:
            module = None
        if module is None or isinstance(module, CONTAINERS):
            words = "" if name.isdigit() else re.split(r"\W|_", name)
            return "".join(word.capitalize() for word in words) or "Layers"
        return type(module).__name__

    def has_name(self, name):
        """Whether a struct cannot be named so: C++ or the Model has the name, or a member anywhere in the Model."""
        return is_reserved(name) or name in self.taken or names.objection(name) or any(
            member_name(part) == name for path in self.parts for part in path.split("."))

    def struct(self, name, body):
        """Defines a struct with these members, once. Returns its name: that of the class, made valid in C++."""
        lines = declarations(body)
        name = re.sub(r"[\W_]+", "_", name, flags=re.ASCII).strip("_")
        name = name if name[:1].isalpha() else f"Module{name}"
        while self.has_name(name):
            name += "s"
        name = names.first_free(name, lambda name: self.definitions.get(name, lines) != lines, "{}{}")
        self.definitions[name] = lines
        return name


def unique_names(keys, taken=()):
    """Returns {name in the module: name in C++}."""
    found = {}
    for key in keys:
        name = member_name(key)
        while name in found.values() or name in taken:
            name += "_"
        found[key] = name
    return found


def declarations(fields):
    return [f"{field.type} {name}{f'[{field.count}]' if field.count else ''};" for name, field in fields.items()]


class Writer:
    """Writes the steps of a Program, with the names that its objects have in C++."""

    def __init__(self, program, structs, slots):
        self.program, self.structs = program, structs
        self.slots = {name: slot for slot in slots for _, name in slot.members}
        self.active, self.views = {}, {}

    def name(self, object, step):
        if object.place == "member":
            return self.structs.paths[object.name]
        if object.place == "activation":
            return self.in_workspace(self.program.members[object], object in (step.writes.resolved(), *step.also))
        return object.name

    def in_workspace(self, name, is_written):
        """Returns a member of the workspace. Writing to it begins its lifetime, unless it lives."""
        slot = self.slots[name]
        if is_written and len(slot.members) > 1 and self.active.get(id(slot)) != name:
            self.active[id(slot)] = name
            return f"tinyattn::begin_lifetime(workspace.{name})"
        return f"workspace.{name}"

    def begin_before(self, step):
        """Returns the statement that begins the lifetime of what a loop writes, if there is one."""
        name = self.name(step.writes.resolved(), step)
        return [Line(f"{name};")] if name.startswith("tinyattn::begin") else []

    def text(self, part, step):
        if isinstance(part, Operand):
            object = part.object.resolved()
            if object.place == "out" and part.stride is None and part.extents != object.extents:
                return self.view_of(object, part.extents)
            return part.text(self.name(object, step))
        if isinstance(part, Layer):
            return self.structs.paths[part.path]
        if isinstance(part, Scratch):
            name = self.program.scratch_names[f"{self.structs.types[part.path]}::Workspace"]
            return self.in_workspace(name, True)
        return part() if callable(part) else part

    def view_of(self, out, extents):
        """Returns the name of a view of an output with other extents."""
        rows, cols = (1, *extents)[-2:]
        name = f"{out.name}_{rows}_by_{cols}"
        self.views[name] = f"tinyattn::MatrixView<float, {rows}, {cols}, {cols}> {name}{{{out.name}.data()}};"
        return name

    def statements(self):
        """Returns a Line for each line of the steps."""
        lines = []
        for step in self.program.steps:
            if isinstance(step.text[0], str) and step.text[0].startswith("for ("):
                lines += self.begin_before(step)
            text = "".join(self.text(part, step) for part in step.text)
            *first, last = text.split("\n")
            short = f"{first[-1] if first else ''} {last.strip()}"
            if short.lstrip().startswith("for (") and "{" not in first[-1] and fits(short, step.comment):
                first, last = first[:-1], short
            lines += [Line(line) for line in first] + [Line(last, step.comment)]
        lines = [*(Line(view) for view in self.views.values()), *lines]
        for array, field in self.structs.arrays.items():
            lines = rolled(lines, array, field.count, self.structs.element_of(array), field.type)
        return lines


def mask_lines(mask):
    """Returns the definition of a mask, a row of it in each line."""
    def text(item):
        if isinstance(item, bool):
            return "true" if item else "false"
        return "-std::numeric_limits<float>::infinity()" if item == -float("inf") else literal(item)
    text = text if "uint16_t" not in mask.type else str
    rows = mask.tensor.reshape(-1, mask.tensor.shape[-1]).tolist()
    start = "{{" if mask.type.startswith("tinyattn::Tensor") else "{{{"
    end, lines = start.replace("{", "}"), []
    for each in mask.tensor if mask.is_array else [mask.tensor]:
        rows = [", ".join(map(text, row)) for row in each.reshape(-1, each.shape[-1]).tolist()]
        lines += [f"    {start}", *(f"    {row}," for row in rows[:-1]), f"    {rows[-1]}{end},"]
    if mask.is_array:
        lines = [f"  static constexpr {mask.type} {mask.name}[] = {{", *lines[:-1], f"{lines[-1][:-1]}}};"]
    else:
        lines = [f"  static constexpr {mask.type} {mask.name}{start}", *lines[1:-1], f"{lines[-1][:-1]};"]
    return ["  // clang-format off", *lines, "  // clang-format on"]


MEMORY = "  // All the scratch of a call, activations included. Members of a union are not alive together."


def model(structs, found, slots):
    """Returns the lines of struct Model."""
    low = found.low
    name_parameters(found.inputs, found.outputs, [
        *structs.fields, *structs.definitions, *map(structs.element_of, structs.arrays),
        *(mask.name for mask in low.members.masks), *(name for name, *_ in low.members.configs.values())])
    if found.features:
        found.features.name = found.outputs[0].name
    steps = Writer(low.program, structs, slots).statements()
    lines = ["struct Model {"]
    for name, body in structs.definitions.items():
        lines += [f"  struct {name} {{", *(f"    {line}" for line in body), "  };", ""]
    parameters = [*zip(types("Input", found.inputs), found.inputs), *zip(types("Output", found.outputs), found.outputs)]
    features = [("Features", found.features)] if found.features else []
    lines += [f"  using {type} = {object.type};" for type, object in [*parameters, *features]]
    lines += [f"  static constexpr std::size_t parameter_count = {structs.parameter_count};", ""]
    for mask in low.members.masks:
        lines += [*mask_lines(mask), ""]
    members = declarations(structs.fields)
    is_one = len(parameters) == 2
    what = (f"  // Computes what {low.title_of_module}.forward computes of one input. "
            f"{'x and out' if is_one else 'Inputs and outputs'} may not overlap.")
    limits = [f"  // {x} has tokens below {most}: others leave the result undefined." for x, most in found.limits.items()]
    unused = {x for x in found.inputs if not any(x in step.objects() for step in low.program.steps)}
    methods = [what, *limits, *method("forward", parameters, steps, unused, bool(slots))]
    if features:
        head, place = structs.paths[found.head], low.program.unique("features")
        first = method("forward_features", [*parameters[:-1], *features], steps, unused, bool(slots))
        methods = [f"  // Computes the features of one input, which {head}.forward reads.", *limits, *first, "",
                   what, *limits, *method("forward", parameters, trainable.calls(found, head, place), (), True)]
        slots = [*slots, Slot([("Features", place)])]
    return [*lines, *(f"  {line}" for line in members), *([""] if members else []), *memory(slots), "", *methods, "};"]


def memory(slots):
    """Returns the definition of the workspace."""
    lines = []
    for slot in slots:
        members = [f"{type} {name};" for type, name in slot.members]
        lines += members if len(members) == 1 else ["union {", *(f"  {member}" for member in members), "};"]
    body = [" {", *(f"    {line}" for line in lines), "  };"] if lines else [" {};"]
    return [MEMORY, f"  struct Workspace{body[0]}", *body[1:]]


def method(name, parameters, steps, unused, has_scratch):
    """Returns the definition of a method with these steps."""
    def parameter(type, object):
        text = f"{type}& {object.name}" if object.place == "out" else f"const {type}& {object.name}"
        return f"[[maybe_unused]] {text}" if object in unused else text
    own = ["Workspace& workspace" if has_scratch else "[[maybe_unused]] Workspace& workspace"]
    text = ", ".join([*(parameter(*each) for each in parameters), *own])
    return [*broken(f"constexpr void {name}({text}) const noexcept {{", "", "  "), *aligned(steps, "    "), "  }"]
