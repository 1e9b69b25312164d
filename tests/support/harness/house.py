# SPDX-License-Identifier: MIT
"""Tests the house: nothing else lies at the top level, each room keeps to its budget of lines, pages list all headers of
their folders, inference includes no header of training, the version is said alike, and each promise of tests/README.md is
held by tests that exist, at each change by such as every change runs.

    house.py INTROSPECTED      what `meson introspect --tests` says of this build, as a file
"""
import json
import pathlib
import re
import sys
import tomllib

from ports.evidence import licenses
from tests.support import tap, targets

ROOT = targets.ROOT
BUDGETS = tomllib.loads((ROOT / "tests" / "support" / "budgets.toml").read_text(encoding="utf-8"))
# Files that belong to a room.
HOUSE = ("include/**/*.h*", "src/*.?pp", "ports/evidence/**/*.py", "ports/pytorch/**/*.py",
         "ports/simd/**/*.hpp", "ports/site/*", "tests/*/**/*")
TOP_LEVEL = set("meson.build meson_options.txt src include tests ports examples README.md LICENSE CHANGELOG.md".split())
# Files that a program writes, or that are no text. And tests/speed, which tests nothing.
GENERATED = re.compile(r"tests/golden/((activations|gradients|optimizers|values)\.hpp|printed\.json|modules/)|costs\.json|"
                       r"__pycache__|\.bin$|tests/speed/")
PROMISE = re.compile(r"^\| (?!what |---)(.+?) \| (.+?) \|(.*?) ?\|$", re.MULTILINE)


def files_of(*rooms):
    return {file for room in rooms for file in ROOT.glob(room) if file.is_file() and not GENERATED.search(str(file))}


def keeps_to_its_budget(room, budget):
    lines = sum(file.read_bytes().count(b"\n") for file in files_of(room))
    return "" if lines <= budget else f"{lines} lines, {budget} are allowed: a commit may raise that, and says why"


def every_file_has_a_room():
    return "\n".join(str(file.relative_to(ROOT)) for file in sorted(files_of(*HOUSE) - files_of(*BUDGETS)))


def top_level():
    """Compares what lies at the top level, but for hidden files and builds, with what may lie there."""
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith((".", "build"))}
    return " ".join(sorted(found ^ TOP_LEVEL))


def inference_without_training():
    headers = [file for file in files_of("include/**/*.h*") if "training" not in str(file.relative_to(ROOT))]
    return "\n".join(str(file) for file in headers if '#include "tinyattn/training' in file.read_text(encoding="utf-8"))


def one_version():
    version = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text(encoding="utf-8"))[1]
    major, minor, patch = version.split(".")
    of_cmake = f"find_package(tinyattn {major}.{minor} CONFIG"
    said = {"include/tinyattn/version.h": (f"_MAJOR {major} ", f"_MINOR {minor} ", f"_PATCH {patch} ", f'_STRING "{version}"'),
            "README.md": (of_cmake,), "ports/packages/README.md": (of_cmake,),
            "ports/packages/release.md": (f"ports/release --tag v{version}\n",), "CHANGELOG.md": (f"\n## {version} - ",)}
    return "\n".join(f"{file} does not say {text}" for file, texts in said.items() for text in texts
                     if text not in (ROOT / file).read_text(encoding="utf-8"))


def readme_has_figures_of_pages():
    """Compares the figures of what fits where with the tables of the pages that its rows name, and those of others with the bench's."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[.+?\]\((examples/\S+)\).*? \| (\d.+) \|$", text, re.MULTILINE)
    pages = {page: (ROOT / page).read_text(encoding="utf-8") for page in [*dict(rows), "tests/speed/README.md"]}
    wrong = [f"{page} has no {cell}" for page, cells in rows for cell in cells.split(" | ") if f"| {cell} |" not in pages[page]]
    others = re.findall(r": ([\d,.]+) \(([\d,.]+)\) \|$", text, re.MULTILINE)
    wrong += [f"tests/speed/README.md has no {figure}" for pair in others for figure in pair
              if not re.search(rf"[| (]{re.escape(figure)}[) ]", pages["tests/speed/README.md"])]
    return "\n".join(wrong) if (len(rows), len(others)) == (3, 4) else f"{len(rows)} and {len(others)} rows"


def promises():
    """Returns rows of the table of promises: the promise, and what holds it at each change and at night."""
    page = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    return PROMISE.findall(page[page.index("## What holds what"):])


def named(cell):
    return re.findall("`([^`]+)`", cell)


def is_held(change, night):
    """Checks that what a row names exists: suites, or tests of this build."""
    introspected = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    of_night = {test["name"].rpartition(" / ")[2] for test in introspected if "tinyattn:night" in test["suite"]}
    of_change = {test["name"].rpartition(" / ")[2] for test in introspected} - of_night
    known = {*of_change, *targets.up_to("change", targets.SUITES), *targets.up_to("change", targets.BUILDS)}
    wrong = [name for name in named(change) if name not in known]
    wrong += [name for name in named(night) if name not in {*known, *of_night, *targets.SUITES, *targets.BUILDS}]
    return ", ".join(wrong) or ("" if named(change) or change.strip() == "the night alone" else "nothing holds it at each change")


def lists_its_headers(page):
    """Compares the headers that the tables of a page name with those of its folder, and of folders in it."""
    cells = "".join(re.findall(r"^\| (`.+?) \|", page.read_text(encoding="utf-8"), re.MULTILINE))
    listed = {name for name in named(cells) if name.endswith(".hpp")}
    return " ".join(sorted({file.name for file in page.parent.rglob("*.hpp")} ^ listed))


rows = promises()
tap.report([("the top level", top_level), ("every file has a room with a budget", every_file_has_a_room),
            *((f"lines of {room}", keeps_to_its_budget, room, budget) for room, budget in BUDGETS.items()),
            *((f"headers of {folder}/", lists_its_headers, ROOT / "include/tinyattn" / folder / "README.md")
              for folder in ("detail", "kernel")),
            ("inference includes nothing of training", inference_without_training),
            ("the version is said alike", one_version),
            ("every file says its license", lambda: "\n".join(licenses.problems())),
            ("the README has the figures of its pages", readme_has_figures_of_pages),
            ("there are promises", "" if len(rows) > 20 else str(len(rows))),
            *((promise, is_held, change, night) for promise, change, night in rows)])
