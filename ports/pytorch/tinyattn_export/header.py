# SPDX-License-Identifier: MIT
"""Writes the C++ header: each part as a constant, or as a member of what lies in a binary. Both files whole, or neither."""
import hashlib
import pathlib
import struct

from . import names, whole_files
from .refusal import Refusal, refusing, shown

NUMBERS_IN_A_LINE = 8


def number(value):
    """A hexadecimal literal with the float's very bits."""
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}f"


def braces(tree, indent):
    """The initializer of a part: {{1, 2}} for a tensor, {.weight = ..., .bias = ...} for a layer, {{...}, {...}} for several."""
    inner = indent + "  "
    if tree is None:
        return "{}"
    if isinstance(tree, float):
        return number(tree)
    if isinstance(tree, dict):
        return "{\n" + ",\n".join(f"{inner}.{name} = {braces(member, inner)}" for name, member in tree.items()) + "}"
    if isinstance(tree, tuple):
        return "{\n" + ",\n".join(inner + braces(member, inner) for member in tree) + "}"
    lines = [", ".join(map(number, row[i:i + NUMBERS_IN_A_LINE])) for row in tree for i in range(0, len(row), NUMBERS_IN_A_LINE)]
    return "{{\n" + ",\n".join(inner + line for line in lines) + "}}"


def about(weights, name, parts):
    """Only what follows from the weights and the request, so that the same request gives the same bytes."""
    def size(*parts):
        return f"{sum(part.parameter_count for part in parts)} parameters, {sum(part.size for part in parts)} bytes"
    lines = [f"Weights from {shown(weights.source)}, written by tinyattn's ports/pytorch/export.py. Do not edit: export again.", "",
             f"SHA-256 of the source: {weights.sha256}", f"All together: {size(*parts.values())}."]
    for part_name, part in parts.items():
        lines += ["", f"{name}::{part_name}: {part.summary}; {size(part)}."]
        lines += [f"  {member}: {text}." for member, text in part.sources.items()]
    return lines


def of_constants(parts):
    """Each part as an object that the linker puts into flash."""
    return "\n".join(f"inline constexpr {part.type} {name} = {braces(part.tree, '')};\n" for name, part in parts.items())


def in_place(parts, binary):
    """The parts as members of one type, which is what the binary holds."""
    members, offsets, offset = "", "", 0
    for name, part in parts.items():
        members += f"  {part.type} {name};\n"
        offsets += f"static_assert(offsetof(Weights, {name}) == {offset} && sizeof(Weights::{name}) == {part.size});\n"
        offset += part.size
    return (
        f"// The content of {binary}.\nstruct Weights {{\n{members}}};\n\n"
        "static_assert(::std::endian::native == ::std::endian::little && ::std::numeric_limits<float>::is_iec559);\n"
        "static_assert(::std::is_standard_layout_v<Weights> && ::std::is_trivially_copyable_v<Weights>);\n"
        f"static_assert(sizeof(Weights) == {offset} && alignof(Weights) == alignof(float), \"no member has padding\");\n"
        f"{offsets}\n"
        "// Where the binary lies in flash, at a multiple of four; nothing is copied.\n"
        "inline const Weights& weights(const void* address) noexcept { return *static_cast<const Weights*>(address); }\n")


def place(weights, parts, part_name):
    return shown(weights.source) + (f", [{part_name}]" if len(parts) > 1 else "")


def left_out(weights, parts):
    """What no part takes: the names of tensors by the reason. What stands beside one part another may have. A Refusal if a part would
    compute something else without it."""
    taken, reasons, names = set().union(*(part.taken for part in parts.values())), {}, {}
    for part_name, part in parts.items():
        with refusing(place(weights, parts, part_name)):
            reasons |= part.left_out(taken)
    for name in weights.tensors:
        if name not in taken:
            names.setdefault(reasons.get(name, "elsewhere in the file"), []).append(name)
    return names


def write(path, weights, name, parts, binary=None):
    """Writes the header, and the binary if there is one, and returns its parts. A Refusal, and nothing written, if something is wrong."""
    names.check_namespace(name)
    if not parts:
        raise Refusal("a header needs a part")
    done = {}
    for part_name, part in parts.items():
        names.check_part(part_name)
        with refusing(place(weights, parts, part_name)):
            done[part_name] = part(weights.tensors)
    left_out(weights, done)  # or refused
    comment, files = about(weights, name, done), {}
    included = "".join(f'#include "{header}"\n' for header in sorted({part.header for part in done.values()})) + "\n"
    if binary is None:
        body = of_constants(done)
    else:
        # float32 one after another without a gap, as they lie in the memory of a little-endian machine
        files[binary] = b"".join(struct.pack(f"<{len(row)}f", *row) for part in done.values() for row in part.rows())
        file_name = shown(pathlib.Path(binary).name)
        comment += ["", f"They lie in {file_name}, SHA-256 {hashlib.sha256(files[binary]).hexdigest()}."]
        included += "#include <bit>\n#include <cstddef>\n#include <limits>\n#include <type_traits>\n\n"
        body = in_place(done, file_name)
    comment = "".join(f"// {line}".rstrip() + "\n" for line in comment)
    files[path] = (f"{comment}#pragma once\n// clang-format off\n\n{included}"
                   f"namespace {name} {{\n\n{body}\n}}  // namespace {name}\n").encode()
    whole_files.replace(files)
    return done
