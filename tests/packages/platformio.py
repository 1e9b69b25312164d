# SPDX-License-Identifier: MIT
"""The package for PlatformIO, which Debian does not have: its manifest, and the flags with which PlatformIO compiles it.

    platformio.py COMPILER
"""
import json
import re

import firmware_packages as on_boards
import packages
from packages import building

# https://github.com/platformio/platformio-core/blob/develop/platformio/package/manifest/schema.py: what a field's value has to be.
WORDS = r"[a-z\d\-_+. ]{1,50}"
RULES = {
    "name": r"[^:;/,@<>]{1,100}",
    "version": r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)",
    "description": r".{1,1000}",
    "keywords": WORDS,
    "homepage": r"https?://\S{1,247}",
    "license": "MIT",
    "frameworks": r"\*|[a-z\d\-_]{1,50}",
    "platforms": r"\*|[a-z\d\-_]{1,50}",
    "headers": r".{1,255}",
}
OTHERS = {"$schema", "repository", "authors", "examples", "build"}

# ststm32's builder/frameworks/_bare.py for C and C++, what STM32 cores add for an F4's FPU, and the oldest -std among them.
STM32F4 = ("-Os", "-ffunction-sections", "-fdata-sections", "-Wall", "-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16",
           "-mfloat-abi=hard", "-DF_CPU=168000000L", "-fno-rtti", "-fno-exceptions", "-std=gnu++14")
# platform.txt of the RP2040's core by Earle Philhower, which PlatformIO's builder for it repeats.
RP2040 = ("-Os", "-march=armv6-m", "-mcpu=cortex-m0plus", "-mthumb", "-ffunction-sections", "-fdata-sections", "-fno-exceptions",
          "-fno-rtti", "-DF_CPU=133000000L", "-std=gnu++17")
OF_PROJECT = "-std=gnu++20"  # README.md's build_flags


def flat(value):
    return value if isinstance(value, list) else [value]


@packages.in_a_folder
def manifest(folder):
    package = packages.made("platformio", folder)
    told = json.loads((package / "library.json").read_text(encoding="utf-8"))
    problems = [f"{name}: {value!r}" for name, rule in RULES.items() for value in flat(told[name]) if not re.fullmatch(rule, value)]
    problems += [f"no such field: {name}" for name in told if name not in RULES and name not in OTHERS]
    problems += [f"there is no {name}" for name in on_boards.not_in(package / "include", told["headers"])]
    for example in told["examples"]:
        problems += [f"there is no {name}" for name in on_boards.not_in(package / example["base"], example["files"])]
    problems += [f"another {name}" for name in on_boards.lists_every_header(package, "include")]
    if told["version"] != packages.tree.version() or told["repository"]["type"] != "git" or not told["authors"][0]["name"]:
        problems.append("version, repository or authors")
    return "\n".join([*problems, *on_boards.not_in(package, ["LICENSE", "README.md"])])


@packages.in_a_folder
def compiles(folder, board, flags):
    """As PlatformIO does: src/ with the library's flags behind those of the framework, then the project with its own."""
    package = packages.made("platformio", folder)
    machine = on_boards.with_flags(board, *flags)
    if lacks := packages.needs(machine.cpp[0], machine.wrapper[0]):
        return lacks
    of_library = json.loads((package / "library.json").read_text(encoding="utf-8"))["build"]["flags"]
    build, include = building.Build(folder / "build"), f"-I{package / 'include'}"
    example = sorted((package / "examples" / "layer").glob("*.c*"))
    objects = [build.compile(machine, source, *of_library, include, f"-I{package / 'src'}") for source in (package / "src").glob("*.cpp")]
    objects += [build.compile(machine, source, *([OF_PROJECT] if source.suffix == ".cpp" else []), include) for source in example]
    program = build.link(machine, "layer", [*objects, on_boards.console(build, machine), *build.support(machine)])
    said = on_boards.output_of(build, machine, program)
    return on_boards.differs(said, on_boards.C_EXAMPLE) or on_boards.lacks_functions(machine, objects, *on_boards.BOTH)


if __name__ == "__main__":
    packages.tap.report([
        ("library.json follows PlatformIO's rules, and what it names is there", manifest),
        ("the flags of an STM32F4; its program prints the example's checksums on an emulated Cortex-M4F", compiles, "mps2-an386", STM32F4),
        ("the flags of an RP2040; its program prints the example's checksums on an emulated Cortex-M0", compiles, "microbit", RP2040)])
