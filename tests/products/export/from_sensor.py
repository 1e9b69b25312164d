# SPDX-License-Identifier: MIT
"""Tests the page from_sensor_to_product.md as it is typed: its files are written into a folder, its
commands run one after the other, and print what the page says.

    from_sensor.py [-- COMPILER ARGUMENT...]   the page's compiler is used in any case
    from_sensor.py --write                     replaces the output on the page by what is printed now

FREERTOS, in the environment, may name a clone of FreeRTOS-Kernel; the default is a stand-in. Needs PyTorch, GCC for
Arm, make and QEMU; skips without them.
"""
import functools
import os
import pathlib
import re
import shutil
import sys
import tempfile

from tests.products.export import typed
from tests.products.export.exporter import HERE, ROOT
from tests.support import debian, tap
from tests.support.processes import attempt, call

PAGE = ROOT / "ports" / "pytorch" / "from_sensor_to_product.md"
TOOLS = ("make", "arm-none-eabi-g++", "arm-none-eabi-size", "qemu-system-arm")
NAME = re.compile(r"(?:#|//|/\*) ([\w.]+)")
MAKE = "make -B BUILD=build/changed run"
FAULT = ["fault", "failed"]
# What the page says about mistakes and changes: (what, file, {text: its replacement}, command, the expected output).
CHANGES = (
    ("the FPU is off", "startup.c", {" |= 0xfu << 20": " |= 0"}, f"{MAKE} || echo failed", FAULT),
    ("the stack is too small", "board.ld", {"+= 4K": "+= 192"}, f"{MAKE} || echo failed", FAULT),
    ("a binary that does not lie at a multiple of four", "external.cpp",
     {".balign 4\\n": ".balign 4\\n.short 0\\n", "0x21000000": "0x21000002"},
     f"{MAKE} PROGRAM=external MODEL=external || echo failed", FAULT),
    ("another binary", "external.cpp", {"external/gestures.bin": "f32/gestures.hpp"},
     f"{MAKE} PROGRAM=external MODEL=external || echo failed", ["the chip has another binary", "failed"]),
    ("constants in an external flash", "board.ld",
     {"KEEP(*(.external))": "KEEP(*(.external)) *(.rodata.*8gestures5modelE)"},
     f"{MAKE} && arm-none-eabi-size -A build/changed/main.elf",
     ["example_error 0.000000119", ".external 39752 553648128"]),
    ("a binary for a big-endian core", "external.cpp", {},
     "arm-none-eabi-g++ -std=c++20 -mcpu=cortex-m4 -mthumb -mbig-endian -fsyntax-only -DTINYATTN_NO_FPU -Iexternal "
     "-Itinyattn/include -Itinyattn/ports/simd external.cpp 2>&1 | grep -o 'error: static assertion failed'",
     ["error: static assertion failed"]),
    ("a module in training", "train.py", {"net.eval()": "net.train()"},
     "PYTHONPATH=tinyattn/ports/pytorch python3 train.py 2>&1 | grep -o 'in training, where' || echo failed",
     ["in training, where"]),
)
SECONDS = 60  # of training, on one core
NEAR, FAR = 0.03, 0.3  # of a size, with the GCC that the page names; with another


def missing():
    """Returns why the page cannot be typed here, or an empty string."""
    if debian.missing("torch"):
        return "PyTorch is not installed (Debian: python3-torch)"
    return next((f"there is no {tool}" for tool in TOOLS if not shutil.which(tool)), "")


def prepare(folder):
    """Writes what lies in the folder before the page begins, and the files of the page."""
    (folder / "tinyattn").symlink_to(ROOT)
    kernel = folder / "FreeRTOS-Kernel"
    if clone := os.environ.get("FREERTOS"):
        kernel.symlink_to(pathlib.Path(clone).resolve())
    else:
        (kernel / "include").mkdir(parents=True)
        for header in ("FreeRTOS", "task", "queue"):
            shutil.copy(HERE / "freertos_stand_in.h", kernel / "include" / f"{header}.h")
        shutil.copy(HERE / "freertos_stand_in.c", kernel / "tasks.c")
    for kind, text in typed.blocks(PAGE):
        if kind not in ("sh", "text"):
            (folder / NAME.match(text)[1]).write_text(text, encoding="utf-8")


def tolerance():
    release = call(["arm-none-eabi-g++", "-dumpversion"]).partition(".")[0]
    return NEAR if f"GCC {release}" in PAGE.read_text(encoding="utf-8") else FAR


def run(folder, command):
    paths = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    return attempt(["sh", "-e", "-c", f"ulimit -t {SECONDS}\n{command}"], folder, seconds=10 * SECONDS, PATH=paths,
                   PYTHONDONTWRITEBYTECODE="1")


def problem(folder, command, wanted):
    """Runs a command. Returns what is wrong with its status or with what it prints."""
    status, output = run(folder, command)
    line = typed.lacks(output, wanted, tolerance())
    is_right = status == 0 and not line and "warning:" not in output
    return "" if is_right else f"{command}: status {status}; not printed: {line}\n{output[-3000:]}"


def as_typed(folder):
    """Runs the commands. Returns what is wrong with the first that contradicts the page."""
    count = sum(len(wanted) for _, wanted in typed.commands(PAGE, ('sh',)))
    found = (problem(folder, *command) for command in typed.commands(PAGE, ('sh',)))
    return next(filter(None, found), "" if count > 30 else f"only {count} lines were compared")


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
        for what, *change in CHANGES:
            yield what, changed(folder, *change)


def write():
    """Replaces each line that the page prints by the line with its words that is printed now."""
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        prepare(pathlib.Path(name))
        for command, wanted in typed.commands(PAGE, ('sh',)):
            lines = iter(run(name, command)[1].splitlines())
            new = [next((found for found in lines if typed.words(found) == typed.words(line)), line) for line in wanted]
            old, replaced = (f"{command}```\n\n```text\n" + "\n".join(its) for its in (wanted, new))
            page = page.replace(old, replaced)
    PAGE.write_text(page, encoding="utf-8")


reason = missing()
if "--write" in sys.argv and not reason:
    sys.exit(write())
tap.report([("the page, as it is typed", tap.Skip(reason))] if reason else list(points()))
