# SPDX-License-Identifier: MIT
"""Writes the C++ header: each part as a constant, or as a member of what lies in a binary. Both files whole, or
neither."""
import hashlib
import pathlib
import struct

from . import names, whole_files
from .errors import ExportError, printable, within

NUMBERS_IN_A_LINE = 8
PRODUCER = "written by tinyattn's ports/pytorch/export.py. Do not edit: export again."


def number(value):
    """A hexadecimal literal with the float's very bits."""
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}f"


def braces(tree, indent):
    """The initializer of a part: {{1, 2}} of a tensor, {.weight = ..., .bias = ...} of a layer, {{...}, {...}} of
    several."""
    inner = indent + "  "
    if tree is None:
        return "{}"
    if isinstance(tree, float):
        return number(tree)
    if isinstance(tree, dict):
        return "{\n" + ",\n".join(f"{inner}.{name} = {braces(member, inner)}" for name, member in tree.items()) + "}"
    if isinstance(tree, tuple):
        return "{\n" + ",\n".join(inner + braces(member, inner) for member in tree) + "}"
    groups = [row[i:i + NUMBERS_IN_A_LINE] for row in tree for i in range(0, len(row), NUMBERS_IN_A_LINE)]
    return "{{\n" + ",\n".join(inner + ", ".join(map(number, group)) for group in groups) + "}}"


def comment(weights, name, parts):
    """Only what follows from the weights and the request, so that the same request gives the same bytes."""
    def size(*parts):
        return f"{sum(part.parameter_count for part in parts)} parameters, {sum(part.size for part in parts)} bytes"
    lines = [f"Weights from {printable(weights.source)}, {PRODUCER}", "",
             f"SHA-256 of the source: {weights.sha256}", f"All together: {size(*parts.values())}."]
    for part_name, part in parts.items():
        lines += ["", f"{name}::{part_name}: {part.summary}; {size(part)}."]
        lines += [f"  {member}: {text}." for member, text in part.sources.items()]
    return lines


def constants(parts):
    """Each part as an object that the linker puts into flash."""
    return "\n".join(
        f"inline constexpr {part.type} {name} = {braces(part.tree, '')};\n" for name, part in parts.items())


def members(parts, binary):
    """The parts as members of one type, which is what the binary holds."""
    declarations, offsets, offset = "", "", 0
    for name, part in parts.items():
        declarations += f"  {part.type} {name};\n"
        offsets += f"static_assert(offsetof(Weights, {name}) == {offset} && sizeof(Weights::{name}) == {part.size});\n"
        offset += part.size
    return f"""\
// The content of {binary}.
struct Weights {{
{declarations}}};

static_assert(::std::endian::native == ::std::endian::little && ::std::numeric_limits<float>::is_iec559);
static_assert(::std::is_standard_layout_v<Weights> && ::std::is_trivially_copyable_v<Weights>);
static_assert(sizeof(Weights) == {offset} && alignof(Weights) == alignof(float), "no member has padding");
{offsets}
// Where the binary lies in flash, at a multiple of four; nothing is copied.
inline const Weights& weights(const void* address) noexcept {{ return *static_cast<const Weights*>(address); }}
"""


def context(weights, parts, part_name):
    return printable(weights.source) + (f", [{part_name}]" if len(parts) > 1 else "")


def unused(weights, parts):
    """The tensors that no part consumes: names by the reason why they may be left out. An ExportError if a part would
    compute something else without one."""
    consumed, reasons, unused_names = set().union(*(part.consumed for part in parts.values())), {}, {}
    for part_name, part in parts.items():
        with within(context(weights, parts, part_name)):
            reasons |= part.surroundings.reasons(consumed) if part.surroundings else {}
    for name in weights.tensors:
        if name not in consumed:
            unused_names.setdefault(reasons.get(name, "elsewhere in the file"), []).append(name)
    return unused_names


def make_parts(weights, requests):
    if not requests:
        raise ExportError("a header needs a part")
    parts = {}
    for part_name, request in requests.items():
        names.check_part(part_name)
        with within(context(weights, requests, part_name)):
            parts[part_name] = request.part(weights.tensors)
    unused(weights, parts)  # an error if a part would compute something else without one
    return parts


def write(path, weights, name, parts, binary=None):
    """Writes the header, and the binary if there is one, and returns the Parts that were asked for. An ExportError, and
    nothing written, if something is wrong."""
    names.check_namespace(name)
    parts = make_parts(weights, parts)
    lines, files = comment(weights, name, parts), {}
    includes = "".join(f'#include "{header}"\n' for header in sorted({part.header for part in parts.values()})) + "\n"
    if binary is None:
        body = constants(parts)
    else:
        # float32 one after another without a gap, as they lie in the memory of a little-endian machine
        rows = (row for part in parts.values() for row in part.rows())
        files[binary] = b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
        file_name = printable(pathlib.Path(binary).name)
        lines += ["", f"They lie in {file_name}, SHA-256 {hashlib.sha256(files[binary]).hexdigest()}."]
        includes += "#include <bit>\n#include <cstddef>\n#include <limits>\n#include <type_traits>\n\n"
        body = members(parts, file_name)
    text = "".join(f"// {line}".rstrip() + "\n" for line in lines)
    files[path] = (f"{text}#pragma once\n// clang-format off\n\n{includes}"
                   f"namespace {name} {{\n\n{body}\n}}  // namespace {name}\n").encode()
    whole_files.replace(files)
    return parts
