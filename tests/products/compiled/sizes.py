# SPDX-License-Identifier: MIT
"""Tests how much flash of a Cortex-M4F attention layers of 1 to 16 usual shapes take, by the
headers and by the compiled library; and how much tinyattn_generate takes.

    sizes IMAGE...    as Meson links them: for each of -Os and -O2, each way, each count of layers;
                      a text without tinyattn_generate, and with it
"""
import re
import sys

from tests.products.footprint import contents
from tests.support import figures, tap
from tests.support.processes import ROOT

COUNTS = (1, 4, 8, 16)
LEVELS = ("-Os", "-O2")
WAYS = ("headers", "library")
PAGE = ROOT / "src" / "README.md"


def pays(headers, library):
    """Checks that a further shape costs little flash beyond its call, since all shapes share the
    kernels, and that the compiled library takes less than the headers."""
    another_by_headers, another = ((sizes[3] - sizes[1]) / 12 for sizes in (headers, library))
    if library[3] < headers[3] and another < 200 and another_by_headers < 300:
        return ""
    return (f"{library[3]} bytes against {headers[3]}; "
            f"another shape costs {another:.0f} against {another_by_headers:.0f}")


def page_says(way, sizes):
    """Checks a row of the table of src/README.md, at -Os."""
    if reason := figures.is_of_another_compiler(PAGE):
        return tap.Skip(reason)
    row = re.search(rf"^\| {way}, -Os (\|.*)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)[1]
    if all(abs(int(cell) / size - 1) <= figures.NEAR
           for cell, size in zip(figures.cells(row), sizes, strict=True)):
        return ""
    return f"| {way}, -Os | {' | '.join(map(str, sizes))} | is measured"


def page_says_of_text(taken):
    """Checks the flash of tinyattn_generate in src/README.md, at -Os."""
    if reason := figures.is_of_another_compiler(PAGE):
        return tap.Skip(reason)
    said = re.search(r"takes (\d+) bytes more than", PAGE.read_text(encoding="utf-8"))[1]
    return "" if abs(int(said) / taken - 1) <= figures.NEAR else f"{taken} bytes are measured"


images = iter(sys.argv[1:])
flash = {(level, way): [contents.flash(next(images)) for _ in COUNTS]
         for level in LEVELS for way in WAYS}
by_calls, by_generate = map(contents.flash, images)
for (level, way), sizes in {("", "shapes"): COUNTS, **flash}.items():
    print(f"# {f'{way} {level}':<20}" + "".join(f"{size:>8}" for size in sizes))
tap.report([*((f"sixteen shapes at {level}", pays, flash[level, "headers"], flash[level, "library"])
              for level in LEVELS),
            *((f"the page: {way}, to 2 %", page_says, way, flash["-Os", way]) for way in WAYS),
            ("the page: a text, to 2 %", page_says_of_text, by_generate - by_calls)])
