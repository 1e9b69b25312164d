# SPDX-License-Identifier: MIT
"""Tests the house of the tests: each room keeps to its budget of lines, and each promise of README.md is held by tests
that exist, at each change by such as every change runs.

    house.py INTROSPECTED      what `meson introspect --tests` says of this build, as a file
"""
import json
import pathlib
import re
import sys
import tomllib

from tests.support import tap, targets

TESTS = targets.ROOT / "tests"
BUDGETS = tomllib.loads((TESTS / "support" / "budgets.toml").read_text(encoding="utf-8"))
# What is written by a program, or is no text.
GENERATED = re.compile(r"golden/(values|gradients)\.hpp|golden/modules/|__pycache__|\.bin$")
PROMISE = re.compile(r"^\| (?!what |---)(.+?) \| (.+?) \|(.*?) ?\|$", re.MULTILINE)


def lines_of(room):
    return sum(file.read_bytes().count(b"\n") for file in (TESTS / room).rglob("*")
               if file.is_file() and not GENERATED.search(str(file)))


def keeps_to_its_budget(room, budget):
    lines = lines_of(room)
    return "" if lines <= budget else f"{lines} lines, {budget} are allowed: a commit may raise that, and says why"


def every_room_has_one():
    rooms = {file.name for file in TESTS.iterdir() if file.is_dir() and file.name not in ("speed", "__pycache__")}
    return " ".join(sorted(rooms ^ set(BUDGETS)))


def promises():
    """Returns rows of the table of promises: the promise, and what holds it at each change and at night."""
    page = (TESTS / "README.md").read_text(encoding="utf-8")
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


rows = promises()
tap.report([("every room has a budget", every_room_has_one),
            *((f"lines of {room}", keeps_to_its_budget, room, budget) for room, budget in BUDGETS.items()),
            ("there are promises", "" if len(rows) > 20 else str(len(rows))),
            *((promise, is_held, change, night) for promise, change, night in rows)])
