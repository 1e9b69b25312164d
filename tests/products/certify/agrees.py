# SPDX-License-Identifier: MIT
"""Tests that the line of examples/certify on a machine agrees with the tables; on a board, that the page of chips has
its row, and that a broken port is found there.

    agrees.py BOARD LINE [BROKEN_LINE]      lines are files
"""
import pathlib
import re
import sys

from tests.support import tap, targets
from tests.support.processes import ROOT, attempt

CERTIFY = ROOT / "examples" / "certify"
BOARD = sys.argv[1]
LINE, *BROKEN = (pathlib.Path(file).read_text(encoding="utf-8") for file in sys.argv[2:])
COMPILER = re.compile(r", gcc [0-9.]+ \|")


def read(line, *options):
    return attempt([sys.executable, "-B", CERTIFY / "read.py", *options], text=line)


def agrees():
    status, output = read(LINE)
    return "" if status == 0 and "The chip agrees" in output else output


def has_its_row():
    """Any compiler computes the same."""
    _, row = read(LINE, "--row")
    rows = COMPILER.sub(" |", (CERTIFY / "chips.md").read_text(encoding="utf-8")).splitlines()
    return "" if COMPILER.sub(" |", row.strip()) in rows else f"not in chips.md: {row}"


def is_found(line):
    status, output = read(line)
    return "" if status == 1 and "The first group that is wrong is `matmul, matmul_transposed`" in output else output


tap.report([(f"{BOARD} agrees with the tables", agrees),
            *([(f"the page of chips has {BOARD}", has_its_row)] if BOARD in targets.boards() else []),
            *((f"{BOARD} with an fma that rounds twice does not agree", is_found, line) for line in BROKEN)])
