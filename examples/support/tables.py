#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data of an example as a C++ header of constant tables.

    tables.py NAME.safetensors NAME.hpp

Each tensor of the data is a table in the namespace NAME.
"""
import json
import math
import pathlib
import struct
import sys

FORMATS = {"I8": "b", "U8": "B", "F32": "f"}
ELEMENTS = {"I8": "std::int8_t", "U8": "std::uint8_t", "F32": "float"}
HEADER = """\
// Generated from {source} by tables.py.
#pragma once

#include <cstdint>

#include "tinyattn/tensor.hpp"

namespace {name} {{

{tables}
}}  // namespace {name}
"""


def write(path, tensors):
    """tensors: name -> (dtype, shape, flat values)"""
    data, header = b"", {}
    for name, (dtype, shape, values) in tensors.items():
        encoded = struct.pack(f"<{math.prod(shape)}{FORMATS[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(encoded)]}
        data += encoded
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    """Returns the tensors of a file, name -> (dtype, shape, flat values)"""
    content = pathlib.Path(path).read_bytes()
    begin = 8 + struct.unpack_from("<Q", content)[0]

    def tensor(dtype, shape, data_offsets):
        return dtype, shape, struct.unpack_from(f"<{math.prod(shape)}{FORMATS[dtype]}", content,
                                                begin + data_offsets[0])

    return {name: tensor(**description) for name, description in json.loads(content[8:begin]).items()}


def table(name, dtype, shape, values):
    extents = ", ".join(map(str, shape))
    literals = [f"{value.hex()}f" if dtype == "F32" else str(value) for value in values]
    lines = [", ".join(literals[i:i + shape[-1]]) for i in range(0, len(literals), shape[-1])]
    rows = ",\n    ".join(lines)
    return f"inline constexpr tinyattn::Tensor<{ELEMENTS[dtype]}, {extents}> {name} = {{{{\n    {rows}}}}};\n"


def main(source, target):
    source = pathlib.Path(source)
    tables = "\n".join(table(name, *tensor) for name, tensor in read(source).items())
    header = HEADER.format(source=source.name, name=source.stem, tables=tables)
    pathlib.Path(target).write_text(header, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
