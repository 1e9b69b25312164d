# SPDX-License-Identifier: MIT
"""Compares what the journey prints with what PyTorch prints, table by table: printed.py printed.json journey.txt

If the text of PyTorch ends with a checksum, the bits must have the same. Prints the Test Anything Protocol.
"""
import json
import pathlib
import re
import sys

from tests.support import tap


def differs(shown, wanted):
    return "" if shown.startswith(wanted) else f"expected\n{wanted}printed\n{shown}"


pytorch, journey = (pathlib.Path(argument).read_text(encoding="utf-8") for argument in sys.argv[1:])
expected = json.loads(pytorch)
tables = re.findall(r"^(\S+) = .*\n.*\n(tensor\([^()]*\)\ncrc32 \w{8}\n)", journey, re.MULTILINE)
tap.report([("as many tables", differs, f"{len(tables)}\n", f"{len(expected)}\n"),
            *((name, differs, shown, wanted) for (name, shown), wanted in zip(tables, expected))])
