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


def page_says(pattern, sizes):
    """Checks numbers of src/README.md, at -Os, to 2 %."""
    if reason := figures.is_of_another_compiler(PAGE):
        return tap.Skip(reason)
    said = re.findall(r"\d+", re.search(pattern, PAGE.read_text(encoding="utf-8"), re.MULTILINE)[1])
    is_near = all(abs(int(number) / size - 1) <= figures.NEAR for number, size in zip(said, sizes, strict=True))
    return "" if is_near else f"{sizes} is measured"


images = iter(sys.argv[1:])
flash = {(level, way): [contents.flash(next(images)) for _ in COUNTS] for level in LEVELS for way in WAYS}
by_calls, by_generate = map(contents.flash, images)
for (level, way), sizes in {("", "shapes"): COUNTS, **flash}.items():
    print(f"# {f'{way} {level}':<20}" + "".join(f"{size:>8}" for size in sizes))
tap.report([*((f"sixteen shapes at {level}", pays, flash[level, "headers"], flash[level, "library"])
              for level in LEVELS),
            *((f"the page: {way}", page_says, rf"^\| {way}, -Os (\|.*)", flash["-Os", way]) for way in WAYS),
            ("the page: a text", page_says, r"takes (\d+) bytes more than", [by_generate - by_calls])])
