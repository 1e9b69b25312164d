# SPDX-License-Identifier: MIT
"""Writes the C++ header: each part as a constant, or as a member of a struct whose values are in a binary. Writes
either both files, whole, or none."""
import hashlib
import itertools
import pathlib
import zlib

from . import names, tokenizers, whole_files
from .errors import ExportError, Spelling, printable, within
from .matrices import StoredMatrix

PRODUCER = "written by tinyattn's ports/pytorch/export.py. Do not edit: export again."


def number(value):
    """Returns a hexadecimal literal that is exactly this float."""
    digits, exponent = value.hex().split("p")
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}f"


def in_lines(rows, indent, text=None):
    """Returns the numbers of some rows, integers sixteen in a line, others eight. Each row begins a new one."""
    text = text or (number if isinstance(rows[0][0], float) else str)
    count = 16 if text is str else 8
    groups = [row[i:i + count] for row in rows for i in range(0, len(row), count)]
    return ",\n".join(indent + ", ".join(map(text, group)) for group in groups)


def braces(tree, indent):
    """Returns the initializer of a part in C++: {{1, 2}} for a tensor, {.code = {...}, .scale = {...}} for a
    matrix of int8, {.weight = ..., .bias = ...} for a layer, {{...}, {...}} for several."""
    inner = indent + "  "
    if tree is None:
        return "{}"
    if isinstance(tree, float):
        return number(tree)
    if isinstance(tree, StoredMatrix):
        members = (f".{name} = {{\n{in_lines(rows, inner)}}}" for name, _, _, rows in tree.arrays)
        return "{" + f",\n{indent}".join(members) + "}"
    if isinstance(tree, dict):
        return "{\n" + ",\n".join(f"{inner}.{name} = {braces(member, inner)}" for name, member in tree.items()) + "}"
    if isinstance(tree, tuple):
        return "{\n" + ",\n".join(inner + braces(member, inner) for member in tree) + "}"
    return "{{\n" + in_lines(tree, inner) + "}}"


def comment_on_weights(weights, called, parts):
    """Returns the lines of the comment above the code; called(NAME) is what a part is called there. They depend on the
    weights and the request alone, not on the date or the machine, so that the same request gives the same bytes."""
    def size(*parts):
        return f"{sum(part.parameter_count for part in parts)} parameters, {sum(part.size for part in parts)} bytes"
    lines = [f"Weights from {printable(weights.source)}, {PRODUCER}", "",
             f"SHA-256 of the source: {weights.sha256}", f"All together: {size(*parts.values())}."]
    for part_name, part in parts.items():
        lines += ["", f"{called(part_name)}: {part.summary}; {size(part)}."]
        lines += [f"  {member}: {text}." for member, text in part.sources.items()]
    return lines


def constants(parts):
    """Returns the parts as inline constexpr objects, which a linker puts into flash."""
    return "\n".join(
        f"inline constexpr {part.type} {name} = {braces(part.tree, '')};\n" for name, part in parts.items())


def in_binary(struct, sizes, content, file_name):
    """Returns checks that a struct, {member: its bytes}, has the layout of a binary, and the function that finds it."""
    checks = "".join(f"static_assert(offsetof({struct}, {name}) == {offset} && sizeof({struct}::{name}) == {size});\n"
                     for (name, size), offset in zip(sizes.items(), itertools.accumulate(sizes.values(), initial=0)))
    return f"""\
static_assert(std::endian::native == std::endian::little && std::numeric_limits<float>::is_iec559);
static_assert(std::is_standard_layout_v<{struct}> && std::is_trivially_copyable_v<{struct}>);
static_assert(sizeof({struct}) == {len(content)} && alignof({struct}) == alignof(float), "no padding");
{checks}
// CRC-32 of {file_name}, as of zip and Ethernet. Nothing here compares it.
inline constexpr std::uint32_t crc_32 = {zlib.crc32(content):#010x};

// Where {file_name} lies in flash, at a multiple of four; nothing is copied.
inline const {struct}& weights(const void* address) noexcept {{
  return *static_cast<const {struct}*>(address);
}}
"""


def context(weights, parts, part_name):
    return printable(weights.source) + (f", [{part_name}]" if len(parts) > 1 else "")


def unused(weights, parts):
    """Returns {reason: names} of the tensors that no part consumes, and why they may be left out. Raises an ExportError
    if the result of a part could depend on one of them."""
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
    unused(weights, parts)  # raises an error if the result of a part could depend on a tensor that it left out
    return parts


def in_parts(weights, name, parts, binary, files):
    """Returns the lines of the comment, the headers and the definitions of parts. Puts the binary into `files`."""
    lines = comment_on_weights(weights, lambda part_name: f"{name}::{part_name}", parts)
    includes = {f'"{part.header}"' for part in parts.values()}
    if binary is None:
        return lines, includes, constants(parts)
    # without a gap: the memory of the struct on the target
    files[binary] = b"".join(part.content() for part in parts.values())
    file_name = printable(pathlib.Path(binary).name)
    lines += ["", f"They lie in {file_name}, SHA-256 {hashlib.sha256(files[binary]).hexdigest()}."]
    includes |= {f"<{std}>" for std in ("bit", "cstddef", "cstdint", "limits", "type_traits")}
    members = "".join(f"  {part.type} {name};\n" for name, part in parts.items())
    sizes = {name: part.size for name, part in parts.items()}
    checks = in_binary("Weights", sizes, files[binary], file_name)
    return lines, includes, f"struct Weights {{\n{members}}};\n\n{checks}"


def with_tokenizer(tokenizer, name, config):
    """Returns the same of a tokenizer."""
    with within(printable(tokenizer.source)):
        body = tokenizers.definition(tokenizer, config)
    lines = [f"Tokenizer from {printable(tokenizer.source)}, {PRODUCER}", "",
             f"SHA-256 of the source: {tokenizer.sha256}", "", f"{name}::tokenizer: {tokenizers.summary(tokenizer)}."]
    return lines, {f'"{tokenizers.HEADER}"', "<optional>"}, body


def text_of(lines, includes, name, body, start=""):
    """Returns a header: a comment of lines, includes, and a namespace with this body."""
    comment = "".join(f"// {line}".rstrip() + "\n" for line in lines)
    blocks = ["".join(f"#include {include}\n" for include in sorted(includes) if include[0] == sign) for sign in '"<']
    return (f"{comment}#pragma once\n{start}\n" + "".join(f"{block}\n" for block in blocks if block)
            + f"namespace {name} {{\n\n{body}\n}}  // namespace {name}\n")


def write(path, weights, name, parts, binary=None, tokenizer=None, config=None):
    """Writes the header, and the binary if a path is given, and returns {name: Part}. If something is wrong, raises an
    ExportError and writes nothing. `tokenizer` is what read_tokenizer returns; `config`, a dict, has the tokens that
    begin and end a text. With a tokenizer, weights may be None."""
    names.check_namespace(name)
    if str(path).endswith((".h", ".c")):
        raise ExportError(f"{printable(path)}: .h and .c are C: name a header of C++ .hpp, or ",
                          Spelling("say --c", "call export.write_c"))
    files, contents = {}, []
    if weights is not None or tokenizer is None:
        parts = make_parts(weights, parts)
        contents.append(in_parts(weights, name, parts, binary, files))
    if tokenizer is not None:
        count = len(tokenizer.vocabulary.texts)
        for part in parts.values():
            if part.vocabulary not in (None, count):
                raise ExportError(f"the tokenizer has {count} tokens, and the model {part.vocabulary}")
        contents.append(with_tokenizer(tokenizer, name, config))
    lines = [line for lines, _, _ in contents for line in ("", *lines)][1:]
    includes = set().union(*(includes for _, includes, _ in contents))
    body = "\n".join(body for _, _, body in contents)
    files[path] = text_of(lines, includes, name, body, "// clang-format off\n").encode()
    whole_files.replace(files)
    return parts
