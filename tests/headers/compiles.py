# SPDX-License-Identifier: MIT
"""Tests that these compile without a warning: each header alone, and in how much time; or each
block and line of C++ on the pages for users, and each block of C on src/README.md.

    compiles.py headers|pages HEADER_FOLDER... -- COMPILER ARGUMENT...
"""
import os
import pathlib
import re
import sys
import tempfile

from tests.support import tap
from tests.support.processes import ROOT, attempt, call, processor_seconds

STATICS = ROOT / "tests" / "headers" / "static_objects.cpp"
EVERYTHING = "#include <tinyattn/tinyattn.hpp>\n"
TRAIN = "#include <tinyattn/training.hpp>\n"
BLOCK = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK_OF_C = re.compile(BLOCK.pattern.replace("cpp", "c"), BLOCK.flags)
COMPILED = ROOT / "src" / "README.md"
TRAINING = ROOT / "include" / "tinyattn" / "training_costs.md"
MEMORY = re.compile(r"^\| `(Gpt<.+?>)` \| (.+?) \|$", re.MULTILINE)
ROW = re.compile(r"^\| (?!PyTorch |---)(.+?) \| (.+?) \|$", re.MULTILINE)
# The headers took 2.9 to 3.2 times as long as <array>, by machine; GCC 12's instructions are 3.1 times as many.
MOST_TIMES_SMALL = 3.5
VALUES = {f".data.{name}" for name in ("mersenne_twister", "philox")}


def compiles(program, *flags):
    """Checks that a program compiles without a warning. Skips it if a port's header says that it
    needs other flags."""
    status, output = attempt([*compiler, "-fsyntax-only", "-Wundef", *flags, "-x", "c++", "-"],
                             text=program)
    unsuited = re.search(r'#?error "?(the port .* needs .*)"', output)
    return (tap.Skip(unsuited[1]) if unsuited else
            output[:2000] or ("" if status == 0 else f"exit status {status}"))


def headers():
    """Returns {name: text} of the headers, each included twice."""
    names = sorted(str(header.relative_to(folder)) for folder in folders for header in folder.rglob("*.hpp"))
    return {name: f"#include <{name}>\n" * 2 for name in names}


def blocks():
    """Returns {name: text} of the blocks of C++ on pages."""
    pages = sorted((ROOT / "include").rglob("*.md"))
    return {f"block {number} of {page.relative_to(ROOT)}": block for page in pages
            for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)}


def counterparts_of_pytorch():
    """Checks the table of coming_from_pytorch.md: each row has a line of C++, which compiles,
    or a word."""
    page = (ROOT / "ports/pytorch/coming_from_pytorch.md").read_text(encoding="utf-8")
    rows = [here for _, here in ROW.findall(page)]
    lines = [line[1] for here in rows if (line := re.match(r"`([^`]+;)`", here))]
    words = [here for here in rows if re.match(r"none|nothing|`export", here)]
    if len(rows) < 50 or len(lines) + len(words) != len(rows):
        return f"of {len(rows)} rows {len(lines)} have a line of C++, and {len(words)} a word"
    functions = "\n".join(f"[[maybe_unused]] void line_{number}() {{\n{line}\n}}"
                          for number, line in enumerate(lines))
    includes = f"#include <limits>\n#include <span>\n{EVERYTHING}{TRAIN}using namespace tinyattn;\n"
    return compiles(includes + BLOCK.search(page)[1] + functions,
                    "-Wno-unused-variable", "-Wno-unused-but-set-variable")  # for its result


def memory_of_training():
    """Checks the table of bytes of training_costs.md, with the port that it names."""
    page = TRAINING.read_text(encoding="utf-8")
    block = next(block for block in BLOCK.findall(page) if " Gpt = " in block)
    optimizers = "Sgd", "SgdMomentum", "AdamW"
    claims = []
    for model, cells in MEMORY.findall(page):
        names = [f"{model}::parameter_count", *(f"whole<{model}, {name}>" for name in optimizers),
                 f"lora<{model}, AdamW>"]
        claims += [f"is<{name}, {cell.replace(',', '')}>();"
                   for name, cell in zip(names, cells.split(" | "), strict=True)]
    claim = "template <std::size_t taken, std::size_t said> void is() { static_assert(taken == said); }\n"
    text = f"{block}{claim}[[maybe_unused]] void table() {{\n{chr(10).join(claims)}\n}}"
    return ("" if len(claims) > 20 else "there is no table") or compiles(
        text, "-UTINYATTN_PORT", "-DTINYATTN_PORT=scalar")


def static_objects():
    """Checks the object file of static variables: only the generators have initial values, no variable
    has a guard, and nothing runs before main."""
    with tempfile.NamedTemporaryFile() as made:
        call([*compiler, "-O0", "-fdata-sections", "-c", STATICS, "-o", made.name])
        table = call(["readelf", "--section-headers", "--wide", made.name])
    # Sections that are not empty
    sections = re.findall(r"\] (\.\S+)\s+(\w+) +\w+ \w+ (?!0+ )\w+ \d\d +WA", table)
    costly = {name for name, kind in sections if "_ZGV" in name or kind != "NOBITS"
              and not name.startswith(".data.rel.ro")}
    wrong = " ".join(sorted(costly ^ VALUES))
    return wrong and f"has a value, a guard or a constructor: {wrong}"


def note_of_an_fpu():
    """Checks the note that the core may have an FPU which no flag mentions, and that a macro turns
    the note off."""
    core = "-D__ARM_ARCH_7EM__", "-U__ARM_FP", "-DTINYATTN_PORT=soft", "-Wno-error"
    noted, without = (compiles(EVERYTHING, *core, *macro) for macro in ([], ["-DTINYATTN_NO_FPU"]))
    return without or ("" if "most cores of this kind have an FPU" in noted else "no note")


def compile_time():
    """Checks the processor time of one include: the best of 15, alternating with the small
    header, because the machine is busy."""
    if problem := compiles(EVERYTHING):
        return problem
    command = [*compiler, "-O0", "-c", "-x", "c++", "-", "-o", os.devnull]
    of_small, of_ours = map(min, zip(*([processor_seconds(command, text=text)
                                        for text in (f"#include <{small}>\n", EVERYTHING)]
                                       for _ in range(15))))
    return ("" if of_ours <= MOST_TIMES_SMALL * of_small else
            f"{of_ours:.2f} s, and <{small}> takes {of_small:.2f} s")


separator = sys.argv.index("--")
what, folders = sys.argv[1], [pathlib.Path(folder) for folder in sys.argv[2:separator]]
compiler = [*sys.argv[separator + 1:], *(f"-I{folder}" for folder in folders)]
small = "arm_mve.h" if "-mcpu=cortex-m55" in compiler else "array"  # before all other checks, which run in parallel
if what == "headers":
    included = compile_time()  # before all other checks, which run in parallel
    tap.report([(f"an include takes no more than {MOST_TIMES_SMALL} times as long as <{small}>", included),
                *((name, compiles, program) for name, program in headers().items())])
tap.report([("static objects", static_objects),
            ("a note of an FPU that no flag tells of", note_of_an_fpu),
            ("counterparts of PyTorch", counterparts_of_pytorch),
            ("what training takes", memory_of_training),
            *((name, compiles, program) for name, program in blocks().items()),
            # C lets members be absent. GCC's C++ accepts them in the same order.
            *((f"block {number} of C", compiles, block, "-Wno-missing-field-initializers") for number, block
              in enumerate(BLOCK_OF_C.findall(COMPILED.read_text(encoding="utf-8")), 1))])
