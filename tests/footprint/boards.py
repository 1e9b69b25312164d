# SPDX-License-Identifier: MIT
"""Builds firmware for a board and runs it, with the flags, the startup code and the memory map of ports/boards."""
import configparser
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARDS = ROOT / "ports" / "boards"
HERE = ROOT / "tests" / "footprint"


def language(tree):
    """The flags by which a program takes the library of a checkout, this or another."""
    includes = [f"-I{folder}" for folder in (tree / "include", tree / "ports" / "simd", BOARDS)]
    return ["-std=c++20", "-fno-exceptions", "-fno-rtti", *includes]


LANGUAGE = language(ROOT)

# A firmware may be built with any of these. The library must come out clean with all of them, so that no flag hides anything.
EVERYTHING_ON = ["-fexceptions", "-frtti", "-fthreadsafe-statics"]

# A layer that exceeds a board's RAM is still built for its core; the code runs on a core that has the same instructions.
ROOMIER = {"microbit": ["mps2-an385"]}


class BuildError(Exception):
    """What the compiler, the linker or the program said."""


def call(command, text="", timeout=None):
    """What the command says, given the text to read."""
    try:
        done = subprocess.run([str(word) for word in command], input=text, capture_output=True, encoding="utf-8", errors="replace",
                              timeout=timeout, check=False, env={**os.environ, "LC_ALL": "C"})
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"{pathlib.Path(command[0]).name}: did not end within {timeout} s") from error
    if done.returncode != 0:
        raise BuildError(f"{pathlib.Path(command[0]).name}: exit status {done.returncode}\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def read_machine_files(*files):
    """The values in Meson's machine files: Python would write them the same way, but for true and false."""
    parser = configparser.ConfigParser(interpolation=None, delimiters="=")
    parser.optionxform = str
    parser.read(files, encoding="utf-8")
    constants = {"true": True, "false": False}
    values = {}
    for section in sorted(parser.sections(), key=lambda section: section != "constants"):
        for name, expression in parser[section].items():
            value = eval(expression, {"__builtins__": {}}, constants)  # our own files
            (constants if section == "constants" else values)[name] = value
    return values


class Board:
    def __init__(self, name, folder, tree=ROOT):
        self.name = name
        self.folder = folder
        self.language = language(tree)
        self.machine = read_machine_files(BOARDS / name / "cross.ini", BOARDS / "cortex-m.ini")
        self.has_fpu = "-mfloat-abi=hard" in self.machine["cpp_args"]
        folder.mkdir()

    def tool(self, name):
        return self.machine["cpp"].removesuffix("g++") + name

    def compile(self, source, name, *flags):
        made = self.folder / name
        call([self.machine["cpp"], *self.machine["cpp_args"], *self.language, *flags, "-c", source, "-o", made])
        return made

    def compile_c(self, source, name, *flags):
        made = self.folder / name
        call([self.machine["c"], *self.machine["c_args"], "-Os", *flags, "-c", source, "-o", made])
        return made

    def compile_startup(self):
        """As ports/boards/meson.build does."""
        flags = ["-fno-tree-loop-distribute-patterns", f'-DBOARD_NAME="{self.name}"', f"-DBOARD_CLOCK_HZ={self.machine['clock_hz']}"]
        return [self.compile_c(source, f"{source.stem}.o", *flags) for source in sorted(BOARDS.glob("*.c"))]

    def link(self, objects, name, *flags):
        made = self.folder / name
        call([self.machine["cpp"], *self.machine["cpp_link_args"], *objects, "-nostdlib", "-lgcc", *flags, "-o", made])
        return made

    def link_firmware(self, objects, name):
        """The image, and the board on which it can run."""
        places = [self.name, *ROOMIER.get(self.name, [])]
        for place in places:
            try:
                return self.link(objects, name, f"-T{BOARDS / place / 'memory.ld'}", f"-L{BOARDS}"), place
            except BuildError:
                if place == places[-1]:
                    raise


def run(image, board):
    return call([*read_machine_files(BOARDS / board / "cross.ini", BOARDS / "cortex-m.ini")["exe_wrapper"], image], timeout=60)


def names():
    return sorted(file.parent.name for file in BOARDS.glob("*/cross.ini"))
