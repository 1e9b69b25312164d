# SPDX-License-Identifier: MIT
"""Compiles firmware with the flags of other build systems, and runs it in an emulator."""
import dataclasses
import pathlib
import re

from tests.packages import packages
from tests.packages.packages import HERE, ROOT
from tests.support.processes import attempt, call

BOARDS = ROOT / "ports" / "boards"
CONSOLE = HERE / "console.c"
LAYER = ROOT / "examples" / "c" / "printed.txt"
ONLY_CPP = re.compile(r"-std=.*\+\+|-fno-(rtti|exceptions|threadsafe-statics)")
FUNCTIONS = ("tinyattn_forward", "tinyattn_decoder_forward")  # one function of each unit of the compiled library


@dataclasses.dataclass(frozen=True)
class Machine:
    """A target: its compilers and flags, and how its programs run."""

    c: str
    cpp: str
    flags: tuple  # of both compilers and the linker
    support: tuple = ()  # sources and flags that every program needs
    link: tuple = ()
    libraries: tuple = ()
    emulator: tuple = ()

    def missing(self):
        return packages.needs(self.cpp, *self.emulator[:1])

    def compile(self, source, to, *flags):
        is_c = source.suffix == ".c"
        flags = [flag for flag in (*self.flags, *flags) if not is_c or not ONLY_CPP.match(flag)]
        call([self.c if is_c else self.cpp, *flags, "-c", source, "-o", to])
        return to

    def run(self, folder, sources, *last):
        """Compiles, links and runs some sources. Returns the output. `sources`: pairs of a file and its flags."""
        folder.mkdir(exist_ok=True)
        objects = [self.compile(source, folder / f"{number}-{source.stem}.o", *flags)
                   for number, (source, flags) in enumerate([*sources, *self.support])]
        call([self.cpp, *self.flags, *self.link, *objects, *last, *self.libraries, "-o", folder / "program"])
        status, output = attempt([*self.emulator, folder / "program"], seconds=120)
        return output if status == 0 else f"{output}\nexit status {status}"


def board(name, *flags):
    """Returns the Machine of a board of ports/boards, with additional flags."""
    settings = (BOARDS / name / "cross.ini").read_text(encoding="utf-8")
    clock = re.search(r"^clock_hz = (\d+)", settings, re.MULTILINE)[1]
    wrapper = re.search(r"^exe_wrapper = \[([^]]*)\]", (BOARDS / "cortex-m.ini").read_text(encoding="utf-8"),
                        re.MULTILINE)[1]
    of_board = ("-Os", "-ffreestanding", "-fno-tree-loop-distribute-patterns", f'-DBOARD_NAME="{name}"',
                f"-DBOARD_CLOCK_HZ={clock}")
    return Machine(
        "arm-none-eabi-gcc", "arm-none-eabi-g++", flags,
        tuple((source, of_board) for source in sorted(BOARDS.glob("*.c"))),
        ("-nostdlib", "-Wl,--gc-sections", f"-T{BOARDS / name / 'memory.ld'}", f"-L{BOARDS}"), ("-lgcc",),
        tuple(word or name for word in re.findall(r"'([^']*)'|\bboard\b", wrapper)))


def riscv32(extensions, abi, *flags):
    """Returns the Machine of a 32-bit RISC-V. It has no C++ headers of its own: those of newlib for Arm do, since they
    do not depend on the processor."""
    newlib = sorted(pathlib.Path("/usr/include/newlib/c++").glob("*/"))[-1:]
    headers = [word for folder in newlib for path in (folder, folder / "arm-none-eabi")
               for word in ("-isystem", str(path))]
    bare = ("--specs=picolibc.specs", "-ffreestanding", "-fno-tree-loop-distribute-patterns")
    return Machine(
        "riscv64-unknown-elf-gcc", "riscv64-unknown-elf-g++",
        (f"-march=rv32{extensions}", f"-mabi={abi}", *bare, *headers, *flags),
        tuple((BOARDS / source, ("-Os", f"-I{BOARDS}")) for source in ("riscv32/riscv32.c", "memory.c")),
        ("-nostdlib", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"), ("-lgcc",), ("qemu-riscv32",))


def host(compiler):
    return Machine("gcc", compiler, (), ((BOARDS / "host" / "host.cpp",
                                          ("-std=c++20", f"-I{BOARDS}", '-DBOARD_NAME="host"')),))


def differs(output, expected_file=LAYER, of=""):
    """Returns the checksums, or only those of `of`, that the example prints and that are missing in an output."""
    expected = re.findall(rf"^crc32 of {of}.*$", expected_file.read_text(encoding="utf-8"), re.MULTILINE)
    missing = [line for line in expected if line not in output.splitlines()]
    return "" if expected and not missing else f"not printed: {missing}\n{output[-1500:]}"


def absent_functions(machine, folder):
    """Returns which of FUNCTIONS no object in a folder defines."""
    symbols = call([machine.c.replace("gcc", "nm"), "--defined-only", *sorted(folder.glob("*.o"))])
    return "".join(f"no object has {name}\n" for name in FUNCTIONS if f" T {name}\n" not in f"{symbols}\n")
