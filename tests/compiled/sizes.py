# SPDX-License-Identifier: MIT
"""Tests how much flash of a Cortex-M4F attention layers of 1 to 16 usual shapes take, by the headers and by the
compiled library.

    sizes IMAGE...    as Meson links them: for each of -Os and -O2, each way, each count of layers
"""
import itertools
import re
import sys

from tests.footprint import contents
from tests.support import figures, tap
from tests.support.processes import ROOT

COUNTS = (1, 4, 8, 16)
WAYS = ("headers", "compiled")
LEVELS = ("-Os", "-O2")


def pays(sizes, level):
    """Checks that a further shape costs little more flash than its call, since all shapes share the kernels, and that
    the compiled library takes less than the headers."""
    (*_, headers), (*_, compiled) = (sizes[level, way] for way in WAYS)
    another_by_headers, another_compiled = ((sixteen - four) / 12
                                            for _, four, _, sixteen in (sizes[level, way] for way in WAYS))
    if compiled < headers and another_compiled < 200 and another_by_headers < 300:
        return ""
    return (f"{compiled} bytes against {headers}; "
            f"another shape costs {another_compiled:.0f} against {another_by_headers:.0f}")


def is_what_the_page_says(sizes):
    """Checks the table of src/README.md, at -Os."""
    page = ROOT / "src" / "README.md"
    if reason := figures.is_of_another_compiler(page):
        return tap.Skip(reason)
    text, wrong = page.read_text(encoding="utf-8"), []
    for name, way in (("headers", "headers"), ("library", "compiled")):
        stated = figures.cells(re.search(rf"^\| {name}, -Os (\|.*)", text, re.MULTILINE)[1])
        measured = sizes["-Os", way]
        if any(abs(int(cell) / size - 1) > figures.NEAR for cell, size in zip(stated, measured, strict=True)):
            row = " | ".join(map(str, measured))
            wrong.append(f"| {name}, -Os | {row} | is measured, and src/README.md says {stated}")
    return "\n".join(wrong)


def main(*images):
    flash = list(map(contents.flash, images))
    sizes = {row: flash[first:first + len(COUNTS)]
             for row, first in zip(itertools.product(LEVELS, WAYS), range(0, len(flash), len(COUNTS)), strict=True)}
    print(f"# flash of a Cortex-M4F, bytes\n# {'shapes':<20}" + "".join(f"{count:>8}" for count in COUNTS))
    for (level, way), its_sizes in sizes.items():
        print(f"# {f'{way}, {level}':<20}" + "".join(f"{size:>8}" for size in its_sizes))
    tap.report([*((f"sixteen shapes at {level}", pays, sizes, level) for level in LEVELS),
                ("the page says what is measured, to 2 %", is_what_the_page_says, sizes)])


if __name__ == "__main__":
    main(*sys.argv[1:])
