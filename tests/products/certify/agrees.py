# SPDX-License-Identifier: MIT
"""Tests that the line of examples/certify on a machine agrees with the tables; on a board, that the page of chips has
its row.

    agrees.py BOARD LINE      LINE is a file
"""
import pathlib
import re
import sys

from tests.support import tap, targets
from tests.support.processes import ROOT, attempt

CERTIFY = ROOT / "examples" / "certify"
BOARD, LINE = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
COMPILER = re.compile(r", gcc [0-9.]+ \|")


def read(*options):
    return attempt([sys.executable, "-B", CERTIFY / "read.py", *options], text=LINE)


def agrees():
    status, output = read()
    return "" if status == 0 and "The chip agrees" in output else output


def has_its_row():
    """Any compiler computes the same."""
    _, row = read("--row")
    rows = COMPILER.sub(" |", (CERTIFY / "chips.md").read_text(encoding="utf-8")).splitlines()
    return "" if COMPILER.sub(" |", row.strip()) in rows else f"not in chips.md: {row}"


tap.report([(f"{BOARD} agrees with the tables", agrees),
            *([(f"the page of chips has {BOARD}", has_its_row)] if BOARD in targets.boards() else [])])
