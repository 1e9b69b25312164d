#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What PyTorch computed with a checkpoint of tests/export/data, as a header:

    by_pytorch.py cases.json NAME by_pytorch.hpp
"""
import json
import pathlib
import sys

HEADER = """\
// Computed by PyTorch. Written by by_pytorch.py from {source}.
#pragma once

#include "tinyattn/tensor.hpp"

namespace by_pytorch {{

{tables}
}}  // namespace by_pytorch
"""


def table(name, rows):
    lines = ",\n    ".join(", ".join(f"{value!r}f" for value in row) for row in rows)
    return f"inline constexpr tinyattn::Matrix<float, {len(rows)}, {len(rows[0])}> {name} = {{\n    {lines}}};\n"


def main(cases, name, header):
    case = json.loads(pathlib.Path(cases).read_text(encoding="utf-8"))[name]
    tables = "\n".join(table(what, case[what]) for what in ("input", "output"))
    pathlib.Path(header).write_text(HEADER.format(source=pathlib.Path(cases).name, tables=tables), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
