# SPDX-License-Identifier: MIT
"""The library for Arduino, from its zip: the rules of its format, and the sketches for each core with an archive, and for a core without.

    arduino.py COMPILER
"""
import dataclasses
import re
import shutil
import sys
import tempfile
import zipfile

import firmware_packages as on_boards
import packages
from packages import HERE, ROOT, building

sys.path.insert(0, str(ROOT / "ports" / "packages" / "arduino"))
import archives  # noqa: E402

CORE = HERE / "arduino"
FLAGS = ("-Os", "-ffunction-sections", "-fdata-sections", "-fno-threadsafe-statics", "-fno-rtti", "-fno-exceptions",
         "-DARDUINO=10819")  # those that the platform.txt of SAMD, STM32, mbed and RP2040 cores share
BOARDS = {"cortex-m0plus": "microbit", "cortex-m3": "mps2-an385", "cortex-m4": "mps2-an386", "cortex-m7": "mps2-an500"}
CATEGORIES = ("Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage", "Data Processing",
              "Other")


def installed(folder):
    """The zip, unpacked as the IDE does."""
    with zipfile.ZipFile(ZIP) as packed:
        packed.extractall(folder)
    return folder / "tinyattn"


def properties(library):
    lines = (library / "library.properties").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def rules(library):
    """{number and brief of arduino-lint's rule: whether it is kept}: https://arduino.github.io/arduino-lint/latest/rules/library/"""
    told = properties(library)
    files = [file.relative_to(library) for file in library.rglob("*") if file.is_file()]
    sketches = [file for file in files if file.suffix == ".ino"]
    name = told.get("name", "")
    return {
        "LS001 invalid library": (library / "src").is_dir() and any((library / "src").glob("*.h")),
        "LS002 folder name too long": len(library.name) <= 63,
        "LS003 prohibited character in folder name": bool(re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9_.-]*", library.name)),
        "LS004-7 submodule, symlink, .development, .exe": not any(
            file.suffix in (".exe", ".development") or file.name in (".gitmodules", ".development") or (library / file).is_symlink()
            for file in files),
        "LS008 name-header mismatch": (library / "src" / f"{name}.h").is_file(),
        "LS009-12 names of folders": {file.parts[0] for file in files if len(file.parts) > 1} <= {"src", "examples", "extras"},
        "LP007-11 name": bool(re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9 _.-]{0,31}", name)),
        "LP012-16 words in the name": not re.search(r"arduino|library| ", name, re.IGNORECASE),
        "LP019-21 version": bool(re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", told.get("version", ""))),
        "LP023-24 author": bool(told.get("author")),
        "LP025-30 maintainer": bool(told.get("maintainer")) and "arduino" not in told["maintainer"].lower() and "email" not in told,
        "LP031-32 sentence": bool(told.get("sentence")),
        "LP034-36 paragraph": bool(told.get("paragraph")) and told["sentence"] not in told["paragraph"],
        "LP037-39 category": told.get("category") in CATEGORIES,
        "LP040-41 url": bool(re.fullmatch(r"https?://\S+", told.get("url", ""))),
        "LP043-46 architectures": bool(re.fullmatch(r"[a-z0-9_]+(,[a-z0-9_]+)*", told.get("architectures", ""))),
        "LP051-52 includes": all((library / "src" / header).is_file() for header in told.get("includes", "?").split(",")),
        "LP053-54 precompiled": told.get("precompiled") in ("true", "full", "false"),
        "LP006 no other field": set(told) <= {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
                                              "architectures", "depends", "dot_a_linkage", "includes", "precompiled", "ldflags"},
        "LD001 readme": (library / "README.md").is_file(),
        "LD002 license": (library / "LICENSE").is_file(),
        "LD003-6 examples": len(sketches) > 1 and all(file.parts[0] == "examples" for file in sketches),
        "SS001 name mismatch": all(file.stem == file.parts[-2] for file in sketches)}


@packages.in_a_folder
def keeps_the_rules(folder):
    library = installed(folder)
    problems = [rule for rule, kept in rules(library).items() if not kept]
    problems += [f"another {name}" for name in on_boards.lists_every_header(library, "src")]
    if properties(library)["version"] != packages.tree.version():
        problems.append("another version than meson.build")
    return "\n".join(problems)


@packages.in_a_folder
def colours_names_that_exist(folder):
    library = installed(folder)
    lines = (library / "keywords.txt").read_text(encoding="utf-8").splitlines()
    text = "".join(file.read_text(encoding="utf-8") for file in (library / "src" / "tinyattn").rglob("*.h*"))
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    problems = [row for row in rows if len(row) != 2 or row[1] not in ("KEYWORD1", "KEYWORD2", "LITERAL1")
                or not re.search(rf"\b{row[0]}\b", text)]
    known = {row[0] for row in rows}
    # One name of each kind, in each language.
    problems += [f"there is no {name}" for name in ("MultiHeadAttention", "Matrix", "matmul", "tinyattn_layer", "tinyattn_forward",
                                                    "TINYATTN_CAUSAL", "TINYATTN_DECODER_CACHE") if name not in known]
    return "\n".join(map(str, problems))


def of_core(core):
    """Arduino's compiler for a core, and an emulated board that has it."""
    board, flags = building.board(BOARDS[core[0]]), ("-mthumb", *archives.flags(*core))
    return dataclasses.replace(board, cpp=(board.cpp[0], *flags, *FLAGS), c=(board.c[0], *flags, "-Os", "-ffunction-sections"),
                               link=(board.link[0], *flags, "-nostdlib", "-Wl,--gc-sections"))


def value_of(flag, command):
    """Of the first word with this in it, as arduino-cli looks for it."""
    return next((word.partition("=")[2] for word in command if flag in word and "=" in word), "")


def precompiled(library, command):
    """What arduino-cli adds to the linker's command: the archives in the folder of the compiler's command, or of the core, or none.

    findExpectedPrecompiledLibFolder in internal/arduino/builder/libraries.go of its sources
    """
    core = library / "src" / value_of("-mcpu", command)
    of_fpu = "-".join(filter(None, (value_of("fpu", command), value_of("float-abi", command))))
    folder = next((folder for folder in (core / of_fpu, core) if any(folder.glob("*.*"))), None)
    return [f"-L{folder}", *(f"-l{file.stem[3:]}" for file in sorted(folder.glob("lib*.a")))] if folder else []


def sketch_objects(build, machine, library, sketch, standard):
    """As arduino-cli compiles it: the sketch with Arduino.h before it, and the other sources in its folder."""
    folder, include = library / "examples" / sketch, (f"-I{CORE}", f"-I{building.BOARDS}", f"-I{library / 'src'}")
    main = folder / f"{sketch}.ino.cpp"
    main.write_text(f'#include <Arduino.h>\n#line 1 "{sketch}.ino"\n' + (folder / f"{sketch}.ino").read_text(encoding="utf-8"),
                    encoding="utf-8")
    of_cpp = (*include, f"-std={standard}", "-Wall", "-Wextra", "-Werror")
    return [*(build.compile(machine, source, *(of_cpp if source.suffix == ".cpp" else include)) for source in sorted(folder.glob("*.c*"))),
            build.compile(machine, CORE / "core.cpp", *of_cpp)]


def prints(build, machine, objects, last, expected):
    program = build.link(machine, "sketch", [*objects, *build.support(machine)], *last)
    return on_boards.differs(re.sub(r"\b[0-9A-F]{8}$", lambda found: found[0].lower(), on_boards.output_of(build, machine, program),
                                    flags=re.MULTILINE), *expected)


@packages.in_a_folder
def runs_with_archive(folder, core, sketch, standard, expected):
    machine, library = of_core(core), installed(folder)
    if lacks := packages.needs(machine.cpp[0], machine.wrapper[0]):
        return lacks
    last = precompiled(library, machine.cpp)
    build = building.Build(folder / "build")
    return prints(build, machine, sketch_objects(build, machine, library, sketch, standard), last, expected) if last else "no archive"


def objects_from_sources(build, machine, library, sketch):
    sources = (build.compile(machine, source, f"-I{library / 'src'}", "-std=gnu++20", "-O2") for source in (library / "src").glob("*.cpp"))
    return [*sketch_objects(build, machine, library, sketch, "gnu++20"), *sources]


@packages.in_a_folder
def runs_from_sources(folder, sketch, expected):
    """A core without an archive, which compiles C++20: this machine."""
    machine, library = building.host(sys.argv[1]), installed(folder)
    build = building.Build(folder / "build")
    return prints(build, machine, objects_from_sources(build, machine, library, sketch), (), expected)


@packages.in_a_folder
def says_what_is_wrong(folder):
    """Of each prompt that the model cannot read, and nothing else; the longest that it can read is written on."""
    machine, library = building.host(sys.argv[1]), installed(folder)
    build, writer = building.Build(folder / "build"), library / "examples" / "Writer"
    source, said = (writer / "Writer.ino").read_text(encoding="utf-8"), {}
    for name, (prompt, _) in PROMPTS.items():
        sketch = shutil.copytree(writer, writer.with_name(name), ignore=shutil.ignore_patterns("*.ino*"))
        (sketch / f"{name}.ino").write_text(source.replace('"It is a truth"', f'"{prompt}"'), encoding="utf-8")
        objects = objects_from_sources(build, machine, library, name)
        said[name] = build.run(machine, build.link(machine, name, [*objects, *build.support(machine)]))
    build.demand()
    texts = {name: file.read_text(encoding="utf-8") for name, file in said.items()}
    return "\n".join(f"{name}: {texts[name][:500]}" for name, (_, pattern) in PROMPTS.items() if not re.fullmatch(pattern, texts[name]))


@packages.in_a_folder
def says_what_is_missing(folder):
    """One error, and a sentence, from a compiler of C++11 to C++17."""
    library = installed(folder)
    problems = []
    for source in ("#include <tinyattn.hpp>\n", (library / "src" / "tinyattn.cpp").read_text(encoding="utf-8")):
        for standard in ("gnu++11", "gnu++14", "gnu++17"):
            status, said = building.attempt([sys.argv[1], f"-std={standard}", f"-I{library / 'src'}", "-fsyntax-only", "-x", "c++", "-"],
                                            text=source)
            if status == 0 or said.count("error:") != 1 or "C++20" not in said:
                problems.append(f"{standard}: {said[:500]}")
    return "\n".join(problems)


# A core of C++11 cannot call the headers.
LAYER, LIBRARY_OF_LAYER, WRITER = (on_boards.C_EXAMPLE, ""), (on_boards.C_EXAMPLE, "the library"), (on_boards.WRITER, "")
M4F = ("cortex-m4", "fpv4-sp-d16", "hard")
# {sketch: (its prompt, all that it prints)}
PROMPTS = {"Empty": ("", r"The prompt is empty\.\n"),
           "Unknown": ("It is wörld", r"The prompt has a character that the model has never read\.\n"),
           "TooLong": ("a" * 49, r"The prompt is longer than what the model sees\.\n"),
           "Longest": ("a" * 48, r"a{48}[^|]+\n\ncharacters +\d+\ncrc32 of logits +[0-9A-F]+\n")}

with tempfile.TemporaryDirectory() as made:
    ZIP = next(packages.made("arduino", made).glob("*.zip"))
    packages.tap.report([
        ("the zip keeps the rules of arduino-lint", keeps_the_rules),
        ("keywords.txt names what the headers have", colours_names_that_exist),
        ("without C++20 the compiler says so in one sentence", says_what_is_missing),
        *((f"Layer in C++11 with the archive of {archives.place(*core)}", runs_with_archive, core, "Layer", "gnu++11", LIBRARY_OF_LAYER)
          for core in archives.CORES),
        ("Layer in C++20 by the headers, on a Cortex-M4F", runs_with_archive, M4F, "Layer", "gnu++20", LAYER),
        ("Writer in C++11 with the archive of a Cortex-M4F", runs_with_archive, M4F, "Writer", "gnu++11", WRITER),
        ("Layer in C++20, its library compiled from sources", runs_from_sources, "Layer", LAYER),
        ("Writer in C++20, its library compiled from sources", runs_from_sources, "Writer", WRITER),
        ("Writer says in a sentence what is wrong with a prompt", says_what_is_wrong)])
