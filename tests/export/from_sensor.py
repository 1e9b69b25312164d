# SPDX-License-Identifier: MIT
"""Tests the page from_sensor_to_product.md as it is typed: its files are written into a folder, its
commands run one after the other, and print what the page says.

    from_sensor.py -- COMPILER ARGUMENT...     FREERTOS, in the environment, may name a clone of
                                               FreeRTOS-Kernel; else a stand-in is taken

Needs PyTorch, GCC for Arm, make and QEMU; skips without them.
"""
import os
import pathlib
import re
import shutil
import sys

from tests.export.exporter import HERE, ROOT, in_folder
from tests.support import debian, tap
from tests.support.processes import attempt, call

PAGE = ROOT / "ports" / "pytorch" / "from_sensor_to_product.md"
TOOLS = ("make", "arm-none-eabi-g++", "arm-none-eabi-size", "qemu-system-arm")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?:#|//|/\*) ([\w.]+)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
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
    for kind, text in blocks():
        if kind not in ("sh", "text"):
            (folder / NAME.match(text)[1]).write_text(text, encoding="utf-8")


def blocks():
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def commands():
    """Yields (commands, the lines that they must print)."""
    of_page = [*blocks(), ("", "")]
    for (kind, text), (next_kind, printed) in zip(of_page, of_page[1:]):
        if kind == "sh":
            yield text, printed.splitlines() if next_kind == "text" else []


def tolerance():
    release = call(["arm-none-eabi-g++", "-dumpversion"]).partition(".")[0]
    return NEAR if f"GCC {release}" in PAGE.read_text(encoding="utf-8") else FAR


def is_as(found, wanted, near):
    """Tells whether a number is that of the page: a size to a share, an error to a digit."""
    if "." in wanted:
        return float(found) <= 10 * float(wanted)
    return abs(int(found) - int(wanted)) <= near * int(wanted)


def is_line(found, wanted, near):
    """Tells whether a line is one of the page: its words, and its numbers nearly."""
    words = [" ".join(NUMBER.sub("#", line).split()) for line in (found, wanted)]
    numbers = zip(NUMBER.findall(found), NUMBER.findall(wanted))
    return words[0] == words[1] and all(is_as(*pair, near) for pair in numbers)


def lacks(output, wanted, near):
    """Returns the first line of the page that is not in the output, in this order."""
    lines = iter(output.splitlines())
    return next((line for line in wanted if not any(is_line(found, line, near) for found in lines)), "")


@in_folder
def as_typed(folder):
    """Runs the commands. Returns the first that fails or prints something else."""
    prepare(folder)
    near, paths = tolerance(), f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    done = 0
    for command, wanted in commands():
        status, output = attempt(["sh", "-e", "-c", f"ulimit -t {SECONDS}\n{command}"], folder,
                                 seconds=10 * SECONDS, PATH=paths, PYTHONDONTWRITEBYTECODE="1")
        line = lacks(output, wanted, near)
        if status != 0 or line or "warning" in output.replace("-warnings", ""):
            return f"{command}status {status}; not printed: {line}\n{output[-3000:]}"
        done += len(wanted)
    return "" if done > 20 else f"only {done} lines were compared"


reason = missing()
tap.report([("what the page says", tap.Skip(reason) if reason else as_typed)])
