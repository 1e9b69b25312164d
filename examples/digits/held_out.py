#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The held-out images as data and as a C++ header.

    held_out.py held_out.safetensors held_out.hpp

The data holds three tensors: pixels (images x 8 x 8, from 0, white, to 16, black), labels (the digits that were
written) and logits (what PyTorch computes for each image, images x 10). The header holds the same as constant tables.
"""
import json
import math
import pathlib
import struct
import sys

FORMATS = {"U8": "B", "F32": "f"}
ELEMENTS = {"U8": "std::uint8_t", "F32": "float"}
HEADER = """\
// Generated from {source} by held_out.py.
#pragma once

#include <cstdint>

#include "tinyattn/tensor.hpp"

namespace held_out {{

{tables}
}}  // namespace held_out
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
    tables = "\n".join(table(name, *tensor) for name, tensor in read(source).items())
    pathlib.Path(target).write_text(HEADER.format(source=pathlib.Path(source).name, tables=tables), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
