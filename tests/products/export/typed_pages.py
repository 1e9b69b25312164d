# SPDX-License-Identifier: MIT
"""Tests a page of pages.py as it is typed: its files are written into a folder, its commands run one after the other,
and print what the page says.

    typed_pages.py PAGE [-- COMPILER ARGUMENT...]   the page's compiler is used in any case
    typed_pages.py PAGE --write                     replaces the output on the page by what is printed now

Needs PyTorch and the page's tools; skips without them.
"""
import functools
import os
import pathlib
import re
import shutil
import sys
import tempfile

from tests.products.export import typed
from tests.products.export.exporter import ROOT
from tests.products.export.pages import PAGES
from tests.support import debian, tap
from tests.support.processes import attempt, call

PAGE = next(page for page in PAGES if page.name == sys.argv[1])
NAME = re.compile(r"(?:#|//|/\*) ([\w.]+)")
NEAR, FAR = 0.03, 0.3  # of a size, with the GCC that the page names; with another


def missing():
    """Returns why the page cannot be typed here, or an empty string."""
    if module := debian.missing(*PAGE.modules):
        return f"Python has no {module} (Debian: python3-{module})"
    return next((f"there is no {tool}" for tool in PAGE.tools if not shutil.which(tool)), "")


def prepare(folder):
    """Writes what lies in the folder before the page begins, and the files of the page."""
    (folder / "tinyattn").symlink_to(ROOT)
    if PAGE.prepare:
        PAGE.prepare(folder)
    for kind, text in typed.blocks(PAGE.path):
        if kind not in ("sh", "text"):
            (folder / NAME.match(text)[1]).write_text(text, encoding="utf-8")


def tolerance():
    release = call(["arm-none-eabi-g++", "-dumpversion"]).partition(".")[0]
    return NEAR if f"GCC {release}" in PAGE.path.read_text(encoding="utf-8") else FAR


def run(folder, command):
    paths = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    return attempt(["sh", "-e", "-c", f"ulimit -t {PAGE.seconds}\n{command}"], folder, seconds=10 * PAGE.seconds,
                   PATH=paths, PYTHONDONTWRITEBYTECODE="1")


def problem(folder, command, wanted):
    """Runs a command. Returns what is wrong with its status or with what it prints."""
    status, output = run(folder, command)
    line = typed.lacks(output, wanted, tolerance())
    is_right = status == 0 and not line and "warning:" not in output
    return "" if is_right else f"{command}: status {status}; not printed: {line}\n{output[-3000:]}"


def as_typed(folder):
    """Runs the commands. Returns what is wrong with the first that contradicts the page."""
    commands = list(typed.commands(PAGE.path, ("sh",)))
    count = sum(len(wanted) for _, wanted in commands)
    found = (problem(folder, *command) for command in commands)
    return next(filter(None, found), "" if count >= PAGE.lines else f"only {count} lines were compared")


def changed(folder, file, edits, command, wanted):
    """Returns what is wrong after a change of a file."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    if lost := [old for old in edits if text.count(old) != 1]:
        return f"not once in {file}: {lost}"
    try:
        path.write_text(functools.reduce(lambda new, edit: new.replace(*edit), edits.items(), text), encoding="utf-8")
        return problem(folder, command, wanted)
    finally:
        path.write_text(text, encoding="utf-8")


def points():
    """Yields (name, what is wrong) for the page, and for each change to its files."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        yield "the page, as it is typed", as_typed(folder)
        for what, *change in PAGE.changes:
            yield what, changed(folder, *change)


def write():
    """Replaces each line that the page prints by the line with its words that is printed now."""
    page = PAGE.path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        prepare(pathlib.Path(name))
        for command, wanted in typed.commands(PAGE.path, ("sh",)):
            lines = iter(run(name, command)[1].splitlines())
            new = [next((found for found in lines if typed.words(found) == typed.words(line)), line) for line in wanted]
            old, replaced = (f"{command}```\n\n```text\n" + "\n".join(its) for its in (wanted, new))
            page = page.replace(old, replaced)
    PAGE.path.write_text(page, encoding="utf-8")


reason = missing()
if "--write" in sys.argv and not reason:
    sys.exit(write())
tap.report([("the page, as it is typed", tap.Skip(reason))] if reason else list(points()))
