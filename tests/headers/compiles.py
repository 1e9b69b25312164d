# SPDX-License-Identifier: MIT
"""Tests that these compile without a warning: each header alone, each block of C++ on the pages for users, the programs
next to this script, a layer with each flag of firmware.

    compiles.py HEADER_FOLDER... -- COMPILER ARGUMENT...
"""
import os
import pathlib
import re
import sys
import tempfile

from ports.simd import priorities
from tests.support import tap
from tests.support.processes import ROOT, attempt, call, processor_seconds

HERE = pathlib.Path(__file__).resolve().parent
MOST_TIMES_SMALL = 3.0
LAYER = [f"-I{ROOT / 'tests'}", "-Os", "-c", "-o", os.devnull]
FLAGS = ("-ffreestanding -fno-exceptions -fno-rtti -fshort-enums -fno-builtin -funsigned-char -fmerge-all-constants "
         "-fsingle-precision-constant -flto -fwrapv -ftrapv -fno-common -fno-strict-aliasing -fstack-protector-strong "
         "-finstrument-functions -fno-jump-tables -fshort-wchar -fpic "
         "-mslow-flash-data -mpure-code -mlong-calls").split()
VALUES = {f".data.{name}" for name in ("mersenne_twister", "philox")}
FIXED_REGISTER = "-mlong-calls -ffixed-r9"  # -mlong-calls makes compilers not for Arm skip this: they need r9
FEW_REGISTERS = FIXED_REGISTER + " -fno-omit-frame-pointer -fPIC"
LEVELS = ("-Og", "-O1", "-O2", "-O3", "-Os")  # at each, the compiler leaves other registers to the kernels' assembly


def compiles(program, *flags):
    """Checks that a program compiles without a warning. Skips it if a port's header says that it needs other flags."""
    status, output = attempt([*compiler, *flags, "-x", "c++", "-"], text=program)
    unsuited = re.search(r'#?error "?(the port .* needs .*)"', output)
    return tap.Skip(unsuited[1]) if unsuited else output[:2000] or ("" if status == 0 else f"exit status {status}")


def ports_of_x86():
    """Returns {port: flags} of all ports of x86-64, if the compiler is for it."""
    architecture = call([*compiler, "-dumpmachine"]).split("-")[0]
    ports = priorities.ports(architecture, priorities.VECTORS) if architecture == "x86_64" else {}
    return {port: ("-march=x86-64", *flags, "-UTINYATTN_PORT", f"-DTINYATTN_PORT={port}")
            for port, flags in ports.items()}


def layer(name, *flags):
    """Checks that a layer compiles with flags. Skips it if the compiler does not have these flags for its target."""
    status, _ = attempt([*compiler, *flags, "-fsyntax-only", "-x", "c++", "-"])
    return (compiles('#include "footprint/layer.cpp"\n', f"-DTINYATTN_FOOTPRINT_LAYER={name}", *LAYER, *flags)
            if status == 0 else
            tap.Skip("the compiler does not have it"))


def layer_at_each_level(name, *flags):
    verdicts = [(level, layer(name, *flags, level)) for level in LEVELS]
    return next((verdict if isinstance(verdict, tap.Skip) else f"at {level}: {verdict}"
                 for level, verdict in verdicts if verdict), "")


def static_objects():
    """Checks an object of static variables: only the generators have initial values, no variable has a guard, and
    nothing runs before main."""
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/static_objects.o"
        if problem := compiles(f'#include "{HERE / "static_objects.cpp"}"\n', "-O0", "-fdata-sections", "-c", "-o",
                               made):
            return problem
        table = call(["readelf", "--section-headers", "--wide", made])
    sections = re.findall(r"\] (\.\S+)\s+(\w+) +\w+ \w+ (?!0+ )\w+ \d\d +WA", table)  # sections that are not empty
    costly = {name for name, kind in sections if "_ZGV" in name or kind != "NOBITS"
              and not name.startswith(".data.rel.ro")}
    return "" if costly == VALUES else f"has a value, a guard or a constructor: {' '.join(sorted(costly ^ VALUES))}"


def note_of_an_fpu():
    """Checks the note that a core may have an FPU although no flag says so, and that a macro turns the note off."""
    core = ("#include <tinyattn/tinyattn.hpp>\n", "-fsyntax-only", "-D__ARM_ARCH_7EM__", "-U__ARM_FP",
            "-DTINYATTN_PORT=soft", "-Wno-error")
    notes = "most cores of this kind have an FPU" in compiles(*core), compiles(*core, "-DTINYATTN_NO_FPU")
    return "" if notes == (True, "") else f"notes, and the output without them: {notes}"


def compile_time():
    """Checks the processor time of one include: the best of five, because the machine is busy."""
    if problem := compiles("#include <tinyattn/tinyattn.hpp>\n", "-fsyntax-only"):
        return problem
    times = [[processor_seconds([*compiler, "-O0", "-c", "-x", "c++", "-", "-o", os.devnull],
                                text=f"#include <{header}>\n")
              for header in (small, "tinyattn/tinyattn.hpp")] for _ in range(5)]
    of_small, of_ours = map(min, zip(*times))
    return "" if of_ours <= MOST_TIMES_SMALL * of_small else f"{of_ours:.2f} s, and <{small}> takes {of_small:.2f} s"


separator = sys.argv.index("--")
folders = [pathlib.Path(folder) for folder in sys.argv[1:separator]]
compiler = [*sys.argv[separator + 1:], *(f"-I{folder}" for folder in folders)]
headers = sorted(str(header.relative_to(folder)) for folder in folders for header in folder.rglob("*.hpp"))
pages = [ROOT / "README.md", *sorted((ROOT / "include").rglob("*.md"))]
blocks = [(page.relative_to(ROOT), block) for page in pages
          for block in re.findall(r"^```cpp\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)]
programs = {header: f"#include <{header}>\n" * 2 for header in headers}  # twice, to test the include guard
programs |= {name: f'#include "{HERE / name}.cpp"\n' for name in ("common_names", "foreign_macros", "default_limits")}
programs |= {f"block {number}, of {page}": block for number, (page, block) in enumerate(blocks, 1)}
small = "arm_mve.h" if "-mcpu=cortex-m55" in compiler else "array"  # the port helium needs it
included = compile_time()  # before all other checks, which run in parallel
tap.report([(f"an include takes no more than {MOST_TIMES_SMALL} times that of <{small}>", included),
            ("static_objects", static_objects),
            ("a note of an FPU that no flag tells of", note_of_an_fpu),
            *((name, compiles, program, "-fsyntax-only", "-Wundef") for name, program in programs.items()),
            *((f"foreign_macros, port {port}", compiles, programs["foreign_macros"], "-fsyntax-only", *flags)
              for port, flags in ports_of_x86().items()),
            *((flags, layer, "T1", *flags.split()) for flags in (*FLAGS, FIXED_REGISTER)),
            *((f"{name}, {FEW_REGISTERS}", layer_at_each_level, name, *FEW_REGISTERS.split())
              for name in ("T1", "TOKEN"))])
