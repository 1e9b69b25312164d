# SPDX-License-Identifier: MIT
"""Tests the library for Arduino, from its zip: the files that it names exist, and its sketches run on each core that
has an archive, and on a core without one.

    arduino.py COMPILER
"""
import re
import shutil
import sys
import tempfile
import zipfile

from ports.packages.arduino import archives
from tests.packages import firmware, packages
from tests.packages.packages import HERE, ROOT, in_a_folder
from tests.support import tap
from tests.support.processes import attempt

CORE = HERE / "arduino"
FLAGS = ("-Os", "-mthumb", "-ffunction-sections", "-fdata-sections", "-fno-threadsafe-statics", "-fno-rtti",
         "-fno-exceptions",
         "-DARDUINO=10819")  # flags that platform.txt has for SAMD, STM32, mbed and RP2040 alike
BOARDS = {"cortex-m0plus": "microbit", "cortex-m3": "mps2-an385", "cortex-m4": "mps2-an386", "cortex-m7": "mps2-an500"}
WRITER = ROOT / "examples" / "writer" / "printed.txt"
HOST = firmware.host(sys.argv[1])
C_NAMES = ("MultiHeadAttention", "Matrix", "matmul", "tinyattn_layer", "tinyattn_forward", "TINYATTN_CAUSAL",
           "TINYATTN_DECODER_CACHE")


def unpack(folder):
    """Unpacks the zip, as the IDE does. Returns the folder of the library."""
    with zipfile.ZipFile(ZIP) as archive:
        archive.extractall(folder)
    return folder / "tinyattn"


@in_a_folder
def names(folder):
    library = unpack(folder)
    lines = (library / "library.properties").read_text(encoding="utf-8").splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    files = [f"src/{header}" for header in properties["includes"].split(",")]
    files += [f"src/{archives.place(*core)}/libtinyattn.a" for core in archives.CORES]
    files += ["README.md", "LICENSE", "examples/Layer/Layer.ino", "examples/Writer/Writer.ino"]
    return "\n".join(packages.problems(library, properties["version"], files, "src"))


@in_a_folder
def keywords(folder):
    """Checks keywords.txt: all names occur in the headers, with a valid kind; and known names of each kind, of C and
    C++, are among them."""
    library = unpack(folder)
    lines = (library / "keywords.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    text = "".join(file.read_text(encoding="utf-8") for file in (library / "src" / "tinyattn").rglob("*.h*"))
    problems = [row for row in rows if row[1] not in ("KEYWORD1", "KEYWORD2", "LITERAL1")
                or not re.search(rf"\b{row[0]}\b", text)]
    return "\n".join([*map(str, problems), *({*C_NAMES} - {row[0] for row in rows})])


@in_a_folder
def old_standards(folder):
    """Checks that C++11 to C++17 give exactly one error, which asks for C++20."""
    library, problems = unpack(folder), []
    for source in ("#include <tinyattn.hpp>\n", (library / "src" / "tinyattn.cpp").read_text(encoding="utf-8")):
        for standard in ("gnu++11", "gnu++14", "gnu++17"):
            command = [sys.argv[1], f"-std={standard}", f"-I{library / 'src'}", "-fsyntax-only", "-x", "c++", "-"]
            status, output = attempt(command, text=source)
            if status == 0 or output.count("error:") != 1 or "C++20" not in output:
                problems.append(f"{standard}: {output[:500]}")
    return "\n".join(problems)


def sketch_sources(library, sketch, standard):
    """Returns pairs of a source and its flags, as arduino-cli compiles them: the sketch after an include of Arduino.h,
    the other sources of its folder, and the core."""
    folder, include = library / "examples" / sketch, (f"-I{CORE}", f"-I{firmware.BOARDS}", f"-I{library / 'src'}")
    main = folder / f"{sketch}.ino.cpp"
    text = (folder / f"{sketch}.ino").read_text(encoding="utf-8")
    main.write_text(f'#include <Arduino.h>\n#line 1 "{sketch}.ino"\n{text}', encoding="utf-8")
    flags = (*include, f"-std={standard}", "-Wall", "-Wextra", "-Werror")
    return [(source, flags if source.suffix == ".cpp" else include)
            for source in [*sorted(folder.glob("*.c*")), CORE / "core.cpp"]]


def run(machine, folder, sources, *last):
    """Returns what a sketch prints, with checksums in lower case as those of other programs."""
    output = machine.run(folder / "built", sources, *last)
    return re.sub(r"\b[0-9A-F]{8}$", lambda checksum: checksum[0].lower(), output, flags=re.MULTILINE)


@in_a_folder
def with_archive(folder, core, sketch, standard, *expected):
    machine, library = firmware.board(BOARDS[core[0]], *FLAGS, *archives.flags(*core)), unpack(folder)
    if lacks := machine.missing():
        return lacks
    output = run(machine, folder, sketch_sources(library, sketch, standard),
                 f"-L{library / 'src' / archives.place(*core)}", "-ltinyattn")
    return firmware.differs(output, *expected)


def from_sources(folder, library, sketch):
    """Runs a sketch as on a core without an archive that compiles C++20: on this machine."""
    sources = [(source, (f"-I{library / 'src'}", "-std=gnu++20", "-O2")) for source in (library / "src").glob("*.cpp")]
    return run(HOST, folder, [*sketch_sources(library, sketch, "gnu++20"), *sources])


@in_a_folder
def without_archive(folder, sketch, *expected):
    return firmware.differs(from_sources(folder, unpack(folder), sketch), *expected)


@in_a_folder
def prompt(folder, text, pattern):
    """Checks what the sketch Writer prints for a prompt."""
    library = unpack(folder)
    sketch = shutil.copytree(library / "examples" / "Writer", library / "examples" / "Prompt",
                             ignore=shutil.ignore_patterns("*.ino*"))
    source = (library / "examples" / "Writer" / "Writer.ino").read_text(encoding="utf-8")
    (sketch / "Prompt.ino").write_text(source.replace('"It is a truth"', f'"{text}"'), encoding="utf-8")
    output = from_sources(folder, library, "Prompt")
    return "" if re.fullmatch(pattern, output) else output[:500]


M4F = ("cortex-m4", "fpv4-sp-d16", "hard")
PROMPTS = {
    "": r"The prompt is empty\.\n",
    "It is wörld": r"The prompt has a character that the model has never read\.\n",
    49 * "a": r"The prompt is longer than what the model sees\.\n",
    48 * "a": r"a{48}[^|]+\n\ncharacters +\d+\ncrc32 of logits +\w+\n"}

with tempfile.TemporaryDirectory() as made:
    ZIP = next(packages.make("arduino", made).glob("*.zip"))
    tap.report([
        ("what the zip names is there", names),
        ("keywords.txt names what the headers have", keywords),
        ("without C++20 the compiler asks for it in one error", old_standards),
        # In C++11 a sketch cannot use the headers.
        *((f"Layer in C++11 with the archive of {archives.place(*core)}", with_archive, core, "Layer", "gnu++11",
           firmware.LAYER,
           "the library") for core in archives.CORES),
        ("Layer in C++20 by the headers, on a Cortex-M4F", with_archive, M4F, "Layer", "gnu++20"),
        ("Writer in C++11 with the archive of a Cortex-M4F", with_archive, M4F, "Writer", "gnu++11", WRITER),
        ("Layer in C++20, its library compiled from sources", without_archive, "Layer"),
        ("Writer in C++20, its library compiled from sources", without_archive, "Writer", WRITER),
        *((f"Writer: {pattern[:40]}", prompt, text, pattern) for text, pattern in PROMPTS.items())])
