# SPDX-License-Identifier: MIT
"""The module for Zephyr, from which Debian has kconfiglib alone: its module.yml, its options, and its sample built by stand-ins of
Zephyr's CMake functions for a Cortex-M4F.

    zephyr.py COMPILER
"""
import re
import sys

import firmware_packages as on_boards
import packages
from packages import HERE, building

ZEPHYR = HERE / "zephyr"
BOARD = "mps2-an386"
# What a name in module.yml may hold: https://docs.zephyrproject.org/latest/develop/modules.html and METADATA_SCHEMA of its
# scripts/zephyr_module.py.
TEXT, TEXTS = str, [str]
SCHEMA = {"name": TEXT, "tests": TEXTS, "samples": TEXTS, "boards": TEXTS,
          "build": {"cmake": TEXT, "kconfig": TEXT, "sysbuild-cmake": TEXT, "sysbuild-kconfig": TEXT, "depends": TEXTS,
                    "settings": {f"{kind}_root": TEXT for kind in ("board", "dts", "soc", "arch", "module_ext", "sca")}}}
ASKS = "CONFIG_CPP=y\nCONFIG_TINYATTN=y\nCONFIG_STD_{}=y\n"


def indented(lines, depth=0):
    """YAML of maps, lists of words and words, as a module.yml is written."""
    if lines and lines[0].lstrip().startswith("- "):
        return [line.lstrip()[2:] for line in lines]
    told, inner, key = {}, [], ""
    for line in [*lines, " " * depth + "end:"]:
        if len(line) - len(line.lstrip()) > depth:
            inner.append(line)
            continue
        if inner:
            told[key] = indented(inner, len(inner[0]) - len(inner[0].lstrip()))
        key, _, value = line.strip().partition(":")
        inner, told[key] = [], value.strip()
    del told["end"]
    return told


def breaks(told, schema, where=""):
    """What does not fit the schema."""
    if isinstance(schema, dict):
        problems = [f"{where}{name}: no such name" for name in told if name not in schema]
        return problems + [problem for name in told if name in schema for problem in breaks(told[name], schema[name], f"{where}{name}.")]
    words = told if schema is TEXTS else [told]
    return [] if isinstance(words, list) and all(isinstance(word, str) and word for word in words) else [f"{where} {told!r}"]


def module_of(package):
    lines = (package / "zephyr" / "module.yml").read_text(encoding="utf-8").splitlines()
    return indented([line for line in lines if line.strip() and not line.startswith("#")])


@packages.in_a_folder
def module(folder):
    package = packages.made("zephyr", folder)
    told = module_of(package)
    problems = breaks(told, SCHEMA)
    problems += on_boards.not_in(package, [f"{told['build']['cmake']}/CMakeLists.txt", told["build"]["kconfig"], "LICENSE", "README.md"])
    problems += [f"no sample in {place}" for place in told["samples"] if not list((package / place).glob("*/sample.yaml"))]
    problems += [f"another {name}" for name in on_boards.lists_every_header(package, "include")]
    expected = on_boards.C_EXAMPLE.read_text(encoding="utf-8")
    told = (package / "samples" / "layer" / "sample.yaml").read_text(encoding="utf-8")
    lines = re.findall(r"'(crc32 .*)'", told)
    problems += [f"sample.yaml expects {lines}"] if len(lines) != 2 or not all(re.search(line, expected) for line in lines) else []
    if packages.tree.version() not in (package / "README.md").read_text(encoding="utf-8"):
        problems.append("another version than meson.build")
    return "\n".join(problems)


def with_kconfiglib():
    """A Python that has it: Debian's, where another one runs this test."""
    pythons = (sys.executable, "/usr/bin/python3")
    return next((python for python in pythons if building.attempt([python, "-c", "import kconfiglib"])[0] == 0), None)


def configure(folder, package, asked):
    """Status, what was said, and the options of someone who asks for some."""
    (folder / "prj.conf").write_text(asked, encoding="utf-8")
    status, said = building.attempt(
        [with_kconfiglib(), "-B", ZEPHYR / "configure.py", ZEPHYR / "Kconfig", folder / "prj.conf", folder / ".config"],
        MODULE_KCONFIG=str(package / module_of(package)["build"]["kconfig"]))
    return status, said, (folder / ".config").read_text(encoding="utf-8") if (folder / ".config").is_file() else ""


@packages.in_a_folder
def options(folder):
    """The library asks for C++20 and for the whole standard library, and needs nothing else."""
    if not with_kconfiglib():
        return packages.tap.Skip("there is no kconfiglib")
    package = packages.made("zephyr", folder / "made")
    problems = []
    for standard, may in (("CPP17", False), ("CPP20", True), ("CPP2B", True)):
        status, said, told = configure(folder, package, ASKS.format(standard))
        if (status == 0) != may or ("\nCONFIG_TINYATTN=y\n" in told) != may or ("CONFIG_REQUIRES_FULL_LIBCPP=y" in told) != may:
            problems.append(f"{standard}: {status} {said}\n{told}")
        if not may and "TINYATTN" not in said:
            problems.append(f"{standard} is not said to be missing: {said}")
    asked = ASKS.format("CPP20") + "CONFIG_TINYATTN_MODELS=y\n"
    if configure(folder, package, asked)[0] == 0:
        problems.append("models without the compiled library")
    if configure(folder, package, f"{asked}CONFIG_TINYATTN_COMPILED=y\n")[0] != 0:
        problems.append("no models with the compiled library")
    return "\n".join(problems)


@packages.in_a_folder
def sample(folder, *more):
    machine = building.board(BOARD)
    if lacks := packages.needs("cmake", machine.cpp[0], machine.wrapper[0]) or (
            "" if with_kconfiglib() else packages.tap.Skip("there is no kconfiglib")):
        return lacks
    package = packages.made("zephyr", folder / "made")
    status, said, _ = configure(folder, package, "\n".join(
        [(package / "samples" / "layer" / "prj.conf").read_text(encoding="utf-8"), *more, ""]))
    if status != 0:
        return said
    flags = ["-Os", f"-I{building.BOARDS}", f'-DBOARD_NAME=\\"{BOARD}\\"', "-DBOARD_CLOCK_HZ=25000000", "-fno-tree-loop-distribute-patterns"]
    support = [on_boards.CONSOLE, *(source for source, _ in machine.support)]
    building.call([
        "cmake", "-G", "Ninja", "-S", package / "samples" / "layer", "-B", folder / "build", f"-DMODULE={package}",
        f"-DDOT_CONFIG={folder / '.config'}", "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
        f"-DCMAKE_C_COMPILER={machine.c[0]}", f"-DCMAKE_C_FLAGS={' '.join((*machine.c[1:], *flags))}",
        f"-DCMAKE_CXX_COMPILER={machine.cpp[0]}", f"-DCMAKE_CXX_FLAGS={' '.join((*machine.cpp[1:], *flags))}",
        f"-DCMAKE_EXE_LINKER_FLAGS={' '.join(machine.link[1:])}", f"-DBOARD_SOURCES={';'.join(map(str, support))}",
        f"-DLIBRARIES={';'.join(machine.libraries)}"], ZEPHYR_BASE=str(ZEPHYR / "cmake"))
    building.call(["cmake", "--build", folder / "build"])
    said = building.call([*machine.wrapper, folder / "build" / "app"])
    archives = sorted((folder / "build" / "module").glob("*.a"))
    return on_boards.differs(said, on_boards.C_EXAMPLE) or on_boards.lacks_functions(machine, archives, *on_boards.BOTH[:1 + len(more)])


packages.tap.report([
    ("module.yml fits its schema, and what it names is there", module),
    ("CONFIG_TINYATTN depends on C++20, and brings the whole standard library", options),
    ("its sample as Zephyr would build it for an emulated Cortex-M4F", sample),
    ("the same with whole models", sample, "CONFIG_TINYATTN_MODELS=y")])
