# SPDX-License-Identifier: MIT
"""What tests of packages for firmware share: programs of someone's flags on the emulated boards, and what they have to print."""
import dataclasses
import re

import packages
from packages import HERE, ROOT, building

CONSOLE = HERE / "console.c"
BOTH = ("tinyattn_forward", "tinyattn_decoder_forward")  # a function of each of its sources
C_EXAMPLE = ROOT / "examples" / "c" / "printed.txt"
WRITER = ROOT / "examples" / "writer" / "printed.txt"


def with_flags(board, *flags):
    """A board whose programs are compiled with the flags that a build system gives, C++ with those of C++ too."""
    machine = building.board(board)
    of_c = [flag for flag in flags if not re.match(r"-std=.*\+\+|-fno-(rtti|exceptions|threadsafe-statics|use-cxa-atexit)", flag)]
    return dataclasses.replace(machine, cpp=(machine.cpp[0], *flags), c=(machine.c[0], *of_c))


def output_of(build, machine, program):
    """What a program prints that was linked with the console."""
    said = build.run(machine, program)
    build.demand()
    return said.read_text(encoding="utf-8")


def console(build, machine):
    return build.compile(machine, CONSOLE, f"-I{building.BOARDS}", "-ffreestanding")


def differs(said, expected_file, of=""):
    """What of the checksums that the tree's own example prints, or those of one thing, was not printed."""
    expected = re.findall(rf"^crc32 of {of}.*$", expected_file.read_text(encoding="utf-8"), re.MULTILINE)
    missing = [line for line in expected if line not in said.splitlines()]
    return "" if expected and not missing else f"not printed: {missing}\n{said[-1500:]}"


def lacks_functions(machine, files, *names):
    """Functions of the compiled library that objects or archives do not define."""
    said = building.call([machine.tool("nm"), "--defined-only", *files])
    return "\n".join(f"{name} is in none of {len(files)} files" for name in names if f" T {name}\n" not in f"{said}\n")


def not_in(folder, names):
    return [name for name in names if not (folder / name).is_file()]


def lists_every_header(folder, include):
    """Headers of the tree that a package lacks, or has otherwise."""
    return [name for name, file in packages.tree.headers().items()
            if not (folder / include / name).is_file() or (folder / include / name).read_bytes() != file.read_bytes()]
