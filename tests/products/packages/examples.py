# SPDX-License-Identifier: MIT
"""Tests that packages for firmware can be used: Debian's compilers build their examples with the
flags of the tools, and QEMU runs them. Each prints the checksums that every machine prints.

    examples.py COMPILER
"""
import dataclasses
import re
import shutil
import sys
import xml.etree.ElementTree as xml

from ports.packages.arduino import archives
from tests.products.packages.packages import BOARDS, CONSUMER, HERE, LAYER, ROOT, board, differs, host, made, riscv32
from tests.support import tap
from tests.support.processes import attempt

READ = (sys.executable, "-B", ROOT / "examples" / "certify" / "read.py")
WRITER = ROOT / "examples" / "writer" / "printed.txt"
CPP20, CPP11 = "-std=gnu++20", "-std=gnu++11"
CONSOLE, CORE = HERE / "console.c", HERE / "arduino"
SECTIONS = ("-Os", "-ffunction-sections", "-fdata-sections", "-fno-exceptions", "-fno-rtti")
M4F = ("cortex-m4", "fpv4-sp-d16", "hard")
STM32F4 = board("mps2-an386", "-mthumb", *archives.flags(*M4F), *SECTIONS)
RP2040 = board("microbit", "-march=armv6-m", "-mcpu=cortex-m0plus", "-mthumb", *SECTIONS)
WITH_ARDUINO = dataclasses.replace(RP2040, support=(
    *RP2040.support, (CORE / "core.cpp", (CPP20, f"-I{CORE}", f"-I{BOARDS}"))))
# The flags in ESP-IDF's CMakeLists.txt.
ESP = ("-std=gnu++2b", "-fno-jump-tables", "-fno-tree-switch-conversion", "-fstrict-volatile-bitfields", *SECTIONS)
ESP32_C3, ESP32_P4 = riscv32("imc", "ilp32", *ESP), riscv32("imafc", "ilp32f", *ESP)
# Flags that platform.txt of SAMD, STM32, mbed and RP2040 have in common.
ARDUINO = ("-mthumb", *SECTIONS, "-fno-threadsafe-statics", "-DARDUINO=10819")
CORES = {"cortex-m0plus": "microbit", "cortex-m3": "mps2-an385", "cortex-m4": "mps2-an386", "cortex-m7": "mps2-an500"}


def with_flags(sources, *flags):
    return [(source, flags) for source in sorted(sources)]


@tap.in_folder
def prints(folder, has_what_it_should, package, example, machine, *flags):
    """Builds the library and an example of a package."""
    if lacks := machine.missing():
        return lacks
    content = made(package)
    sources = [*(content / "src").glob("*.cpp"), *(content / example).glob("*.c*"), CONSOLE]
    include = (f"-I{content / 'include'}", f"-I{BOARDS}")
    return has_what_it_should(machine.run(folder, with_flags(sources, *include, *flags)))


def certifies(output):
    """Returns what read.py says of a chip's line, unless the chip agrees."""
    status, said = attempt(READ, text=output)
    return "" if status == 0 and "The chip agrees" in said else f"{said}\n{output[-1500:]}"


@tap.in_folder
def serves_c(folder, package, machine):
    """Builds a program in C, which calls functions for int8 weights too, and the library's sources."""
    if lacks := machine.missing():
        return lacks
    content = made(package)
    return machine.run(folder, with_flags([*(content / "src").glob("*.cpp"), CONSUMER / "main.c"],
                                          f"-I{content / 'include'}"))


@tap.in_folder
def cmsis_components(folder, main):
    """Builds a program with the include folders and sources that the components name."""
    if lacks := STM32F4.missing():
        return lacks
    content = made("cmsis-pack", "*.pack")
    files = xml.parse(next(content.glob("*.pdsc"))).getroot().findall("components/component/files/file")
    paths = {category: {content / file.get("name") for file in files if file.get("category") == category}
             for category in ("include", "source")}
    include = [f"-I{path}" for path in sorted(paths["include"])]
    return STM32F4.run(folder, with_flags([*paths["source"], CONSUMER / main], "-std=c++20", *include))


# --- Sketches ---


def sketch_sources(library, sketch, standard):
    """Returns sources and their flags, as arduino-cli compiles them: the sketch after an include of
    Arduino.h, the other sources of its folder, and the core."""
    folder = library / "examples" / sketch
    include = (f"-I{CORE}", f"-I{BOARDS}", f"-I{library / 'src'}")
    text = (folder / f"{sketch}.ino").read_text(encoding="utf-8")
    (folder / f"{sketch}.ino.cpp").write_text(f'#include <Arduino.h>\n#line 1 "{sketch}.ino"\n{text}', encoding="utf-8")
    return [*with_flags(folder.glob("*.c"), *include),
            *with_flags([*folder.glob("*.cpp"), CORE / "core.cpp"], *include, standard, "-Wall", "-Wextra", "-Werror")]


def copied(folder):
    """Returns a copy of the library, as the IDE unpacks it."""
    return shutil.copytree(made("arduino", "*.zip") / "tinyattn", folder / "tinyattn")


def in_lower_case(output):
    """Returns what a sketch prints, with checksums in lower case, as in other programs."""
    return re.sub(r"\b[0-9A-F]{8}$", lambda checksum: checksum[0].lower(), output, flags=re.MULTILINE)


@tap.in_folder
def archive_serves_c(folder, core):
    machine, source = board(CORES[core[0]], *ARDUINO, *archives.flags(*core)), made("arduino", "*.zip") / "tinyattn/src"
    return machine.missing() or machine.run(folder, with_flags([CONSUMER / "main.c"], f"-I{source}"),
                                            f"-L{source / archives.place(*core)}", "-ltinyattn")


@tap.in_folder
def with_archive(folder, core, sketch, standard, *expected, has_what_it_should=differs):
    machine, library = board(CORES[core[0]], *ARDUINO, *archives.flags(*core)), copied(folder)
    if lacks := machine.missing():
        return lacks
    output = machine.run(folder, sketch_sources(library, sketch, standard),
                         f"-L{library / 'src' / archives.place(*core)}", "-ltinyattn")
    return has_what_it_should(in_lower_case(output), *expected)


def certify_with_archive(core):
    return with_archive(core, "Certify", CPP11, has_what_it_should=certifies)


def from_sources(folder, sketch, prompt="It is a truth"):
    """Compiles sketch and library as C++20 on this machine, without an archive, and runs them. Returns
    what it prints for the prompt."""
    library = copied(folder)
    file = library / "examples" / sketch / f"{sketch}.ino"
    text = file.read_text(encoding="utf-8").replace("It is a truth", prompt)
    file.write_text(text, encoding="utf-8")
    sources = with_flags((library / "src").glob("*.cpp"), f"-I{library / 'src'}", CPP20, "-O2")
    return host().run(folder, [*sketch_sources(library, sketch, CPP20), *sources])


@tap.in_folder
def without_archive(folder, sketch, *expected):
    return differs(in_lower_case(from_sources(folder, sketch)), *expected)


@tap.in_folder
def certify_without_archive(folder):
    return certifies(from_sources(folder, "Certify"))


@tap.in_folder
def answers_prompt(folder, prompt, pattern):
    output = from_sources(folder, "Writer", prompt)
    return "" if re.fullmatch(pattern, output) else output[:500]


@tap.in_folder
def asks_for_cpp20(folder, standard):
    """Checks that an older standard gives exactly one error, which asks for C++20."""
    source = copied(folder) / "src"
    for text in ("#include <tinyattn.hpp>\n", (source / "tinyattn.cpp").read_text(encoding="utf-8")):
        command = [sys.argv[1], standard, f"-I{source}", "-fsyntax-only", "-x", "c++", "-"]
        status, output = attempt(command, text=text)
        if status == 0 or output.count("error:") != 1 or "C++20" not in output:
            return output[:500]
    return ""


EXAMPLES = {
    "an STM32F4's flags of PlatformIO": ("platformio", "examples/{}", STM32F4, CPP20),
    "an RP2040's flags of PlatformIO": ("platformio", "examples/{}", RP2040, CPP20),
    "PlatformIO with Arduino's framework": (
        "platformio", "examples/{}", WITH_ARDUINO, CPP20, "-DARDUINO=10819", f"-I{CORE}"),
    "an ESP32-C3's flags of ESP-IDF": ("esp-idf", "examples/{}/main", ESP32_C3, "-Dapp_main=main"),
    "an ESP32-P4's flags of ESP-IDF": ("esp-idf", "examples/{}/main", ESP32_P4, "-Dapp_main=main"),
    "Zephyr's sample on a Cortex-M4F": ("zephyr", "samples/{}/src", STM32F4, CPP20),
}
PROMPTS = {
    "": r"The prompt is empty\.\n",
    "It is wörld": r"The prompt has a character that the model has never read\.\n",
    200 * "a": r"a{200}[^|]+\n\ncharacters +\d+\ncrc32 of draws +\w+\n"}
tap.report([
    *((f"{folder}: {name}", prints, what, package, example.format(folder), *machine)
      for folder, what in (("layer", differs), ("certify", certifies))
      for name, (package, example, *machine) in EXAMPLES.items()
      if (folder, WITH_ARDUINO) != ("layer", machine[0])),
    *((f"the CMSIS-Pack's components serve {main}", cmsis_components, main) for main in ("main.cpp", "main.c")),
    ("ESP-IDF's component serves C", serves_c, "esp-idf", ESP32_C3),
    ("Arduino's archive of a Cortex-M0+ serves C", archive_serves_c, ("cortex-m0plus",)),
    # In C++11 a sketch cannot use the headers.
    *((f"Layer in C++11 with the archive of {archives.place(*core)}", with_archive, core, "Layer", CPP11,
       LAYER, "the library") for core in archives.CORES),
    ("Layer in C++20 by the headers, on a Cortex-M4F", with_archive, M4F, "Layer", CPP20),
    ("Writer in C++11 with the archive of a Cortex-M4F", with_archive, M4F, "Writer", CPP11, WRITER),
    ("Layer in C++20, its library compiled from sources", without_archive, "Layer"),
    ("Writer in C++20, its library compiled from sources", without_archive, "Writer", WRITER),
    *((f"Certify in C++11 with the archive of {archives.place(*core)}", certify_with_archive, core)
      for core in archives.CORES),
    ("Certify in C++20, its library compiled from sources", certify_without_archive),
    *((f"Writer: {pattern[:40]}", answers_prompt, text, pattern) for text, pattern in PROMPTS.items()),
    *((f"{standard} asks for C++20", asks_for_cpp20, standard)
      for standard in ("-std=gnu++11", "-std=gnu++14", "-std=gnu++17"))])
