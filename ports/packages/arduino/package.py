# SPDX-License-Identifier: MIT
"""Makes the package for Arduino: a library of format 1.5 with archives for the cores whose C++ is too old, three
sketches, and the zip that the IDE takes.

Format: https://arduino.github.io/arduino-cli/latest/library-specification/
"""
import pathlib
import subprocess
import sys
import tempfile

from . import archives, keywords
from .. import firmware, tree

HERE = pathlib.Path(__file__).resolve().parent
WRITER = tree.ROOT / "examples" / "writer"
EXPORT = tree.ROOT / "ports" / "pytorch" / "export.py"
# Architectures of Arduino cores: those with an archive in the package, and those whose compiler has C++20.
ARCHITECTURES = ("samd", "sam", "stm32", "rp2040", "mbed_nano", "mbed_rp2040", "mbed_portenta", "mbed_giga",
                 "mbed_opta", "renesas_uno", "renesas_portenta", "esp32")


def properties():
    summary, rest = tree.SUMMARY.split(": ", 1)
    fields = {"name": firmware.NAME, "version": tree.version(), "author": firmware.authors(),
              "maintainer": firmware.authors(),
              "sentence": f"{summary}.", "paragraph": f"{rest[0].upper()}{rest[1:]}. In it lies the compiled library "
                                                      "too, for cores of older C++.",
              "category": "Data Processing", "url": tree.HOMEPAGE, "architectures": ",".join(ARCHITECTURES),
              "includes": "tinyattn.h", "precompiled": "full"}
    return "".join(f"{name}={value}\n" for name, value in fields.items())


def copy_sources(to):
    """Copies the sources with the suffix .inc, which the IDE does not compile: tinyattn.cpp includes them if the core
    has C++20."""
    for name, file in firmware.sources().items():
        tree.copy(file, to / (f"{file.stem}.inc" if name in firmware.COMPILED else name))


def copy_certificate(library):
    """Copies the sources of examples/certify, which archives have, too."""
    to = library / "src" / "tinyattn" / "certify"
    firmware.copy_certificate(to)
    (to / "certify.cpp").rename(to / "certify.inc")
    tree.copy(firmware.CONSOLES / "arduino_counter.h", library / "examples" / "Certify" / "arduino_counter.h")


def copy_layer(sketch):
    """Copies the files of the sample. The file that uses the headers is compiled only with C++20."""
    firmware.copy_layer(sketch)
    (sketch / "print_layer.hpp").unlink()
    by_headers = sketch / "headers.cpp"
    text = by_headers.read_text(encoding="utf-8")
    by_headers.write_text(f"#if __cplusplus >= 202002L\n{text}#endif\n", encoding="utf-8")


def copy_writer(sketch):
    """Writes model.h, the trained model as arrays, with a program that includes the exported header."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for command in (
                [sys.executable, "-B", EXPORT, WRITER / "weights.safetensors", "--language-model",
                 "--config", WRITER / "config.json", "--tokenizer", WRITER / "tokenizer.model",
                 "--weights", "int8", "--cache", "int8", "-o", work / "weights.hpp", "--name", "weights"],
                ["c++", "-std=c++20", *(f"-I{tree.ROOT / name}" for name in tree.FOLDERS), f"-I{work}",
                 HERE / "plain_model.cpp", "-o", work / "plain_model"]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        (sketch / "model.h").write_bytes(subprocess.run([work / "plain_model"], check=True, capture_output=True).stdout)
    tree.copy(firmware.SAMPLES / "crc32.h", sketch / "crc32.h")


def cores():
    """Returns the rows of the table of cores in README.md."""
    return "\n".join(f"| `{archives.place(*core)}` | {boards} |" for core, boards in archives.CORES.items())


def make(folder):
    library = folder / firmware.NAME
    firmware.fill_folder(HERE / "library", library, version=tree.version(), cores=cores())
    tree.copy_headers(library / "src")
    copy_sources(library / "src" / "tinyattn" / "compiled")
    copy_certificate(library)
    copy_layer(library / "examples" / "Layer")
    copy_writer(library / "examples" / "Writer")
    for core in archives.CORES:
        archives.archive(core, library / "src" / archives.place(*core))
    tree.copy(tree.ROOT / "LICENSE", library / "LICENSE")
    (library / "library.properties").write_text(properties(), encoding="utf-8")
    (library / "keywords.txt").write_text(keywords.keywords(firmware.public_headers()), encoding="utf-8")
    tree.pack(library, folder / f"{firmware.NAME}-{tree.version()}.zip", firmware.NAME)
