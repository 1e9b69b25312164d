# SPDX-License-Identifier: MIT
"""The C++ header: what it says of the weights, and each part as a constant, or as a member of what lies in a binary."""
import hashlib

from .refusal import shown

NUMBERS_IN_A_LINE = 8


def number(value):
    """A hexadecimal literal with the float's very bits."""
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}f"


def braces(tree, indent):
    """The initializer of a part: {{1, 2}} for a tensor, {.weight = ..., .bias = ...} for a layer."""
    inner = indent + "  "
    if isinstance(tree, dict):
        return "{\n" + ",\n".join(f"{inner}.{name} = {braces(member, inner)}" for name, member in tree.items()) + "}"
    lines = [", ".join(map(number, row[i:i + NUMBERS_IN_A_LINE])) for row in tree for i in range(0, len(row), NUMBERS_IN_A_LINE)]
    return "{{\n" + ",\n".join(inner + line for line in lines) + "}}"


def size(count):
    return f"{count} parameters, {4 * count} bytes"


def parameter_count(parts):
    return sum(part.parameter_count for part in parts.values())


def about(weights, name, parts):
    """Only what follows from the weights and the request, so that the same request gives the same bytes."""
    lines = [f"Weights from {shown(weights.source)}, written by tinyattn's ports/pytorch/export.py. Do not edit: export again.", "",
             f"SHA-256 of the source: {weights.sha256}", f"All together: {size(parameter_count(parts))}."]
    for part_name, part in parts.items():
        lines += ["", f"{name}::{part_name}: {part.summary}; {size(part.parameter_count)}."]
        lines += [f"  {member}: {text}." for member, text in part.sources.items()]
    return lines


def framed(weights, name, parts, includes, more_about, body):
    comment = "".join(f"// {line}".rstrip() + "\n" for line in about(weights, name, parts) + more_about)
    included = "".join(f'#include "{header}"\n' for header in sorted({part.header for part in parts.values()}))
    standard = "".join(f"#include <{header}>\n" for header in includes)
    return (f"{comment}#pragma once\n// clang-format off\n\n{included}\n" + (standard + "\n" if standard else "") +
            f"namespace {name} {{\n\n{body}\n}}  // namespace {name}\n")


def of_constants(weights, name, parts):
    """Each part as an object that the linker puts into flash."""
    body = "\n".join(f"inline constexpr {part.type} {part_name} = {braces(part.tree, '')};\n" for part_name, part in parts.items())
    return framed(weights, name, parts, [], [], body)


def in_place(weights, name, parts, binary, image):
    """The parts as members of one type, which is what the binary holds."""
    offsets, offset = [], 0
    for part_name, part in parts.items():
        size_of_part = 4 * part.parameter_count
        offsets.append(f"static_assert(offsetof(Weights, {part_name}) == {offset} && sizeof(Weights::{part_name}) == {size_of_part});\n")
        offset += size_of_part
    members = "".join(f"  {part.type} {part_name};\n" for part_name, part in parts.items())
    body = (
        f"// The content of {shown(binary)}.\nstruct Weights {{\n{members}}};\n\n"
        "static_assert(::std::endian::native == ::std::endian::little && ::std::numeric_limits<float>::is_iec559);\n"
        "static_assert(::std::is_standard_layout_v<Weights> && ::std::is_trivially_copyable_v<Weights>);\n"
        f"static_assert(sizeof(Weights) == {offset} && alignof(Weights) == alignof(float), \"no member has padding\");\n"
        f"{''.join(offsets)}\n"
        "// Where the binary lies in flash, at a multiple of four; nothing is copied.\n"
        "inline const Weights& weights(const void* address) noexcept { return *static_cast<const Weights*>(address); }\n")
    more = ["", f"They lie in {shown(binary)}, SHA-256 {hashlib.sha256(image).hexdigest()}."]
    return framed(weights, name, parts, ["bit", "cstddef", "limits", "type_traits"], more, body)
