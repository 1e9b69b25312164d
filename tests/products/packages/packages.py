# SPDX-License-Identifier: MIT
"""What tests of packages share: packages as users get them, and firmware that is compiled with
other build systems' flags and run in an emulator."""
import dataclasses
import pathlib
import re
import shutil
import tempfile
import threading
import zipfile

from ports.packages import tree
from tests.support import tap, targets
from tests.support.processes import ROOT, attempt, call

HERE = pathlib.Path(__file__).resolve().parent
CONSUMER = HERE / "consumer"
BOARDS = ROOT / "ports" / "boards"
LAYER = ROOT / "examples" / "c" / "printed.txt"
VERSION = tree.version()
MADE = tempfile.TemporaryDirectory()
MAKING = threading.Lock()
ONLY_CPP = re.compile(r"-std=.*\+\+|-fno-(rtti|exceptions|threadsafe-statics)")


def needs(*programs):
    """Returns a Skip if one of the programs is missing, else an empty string."""
    missing = [program for program in programs if not shutil.which(program)]
    return tap.Skip(f"there is no {missing[0]}") if missing else ""


def made(name, zipped=""):
    """Returns the folder of a package, which is made once; or of the content of the only file in it
    that a pattern matches."""
    folder = pathlib.Path(MADE.name) / name
    content = folder.with_suffix(".content") if zipped else folder
    with MAKING:
        if not folder.exists():
            call([ROOT / "ports" / "packages" / "make", name, "--output", MADE.name])
        if not content.exists():
            with zipfile.ZipFile(next(folder.glob(zipped))) as archive:
                archive.extractall(content)
    return content


@dataclasses.dataclass(frozen=True)
class Machine:
    """A target: its compilers and flags, and how its programs run."""

    compiler: str
    flags: tuple = ()  # of the compilers and the linker
    support: tuple = ()  # pairs of a source and its flags, which every program needs
    link: tuple = ()
    libraries: tuple = ()
    emulator: tuple = ()
    headers: tuple = ()  # flags of the compilers alone

    def missing(self):
        return needs(self.compiler, *self.emulator[:1])

    def compile(self, source, to, *flags):
        is_c = source.suffix == ".c"
        compiler = self.compiler.replace("g++", "gcc") if is_c else self.compiler
        flags = (*self.flags, *self.headers, *flags)
        call([compiler, *(flag for flag in flags if not is_c or not ONLY_CPP.match(flag)), "-c", source, "-o", to])
        return to

    def run(self, folder, sources, *last):
        """Compiles, links and runs some sources. Returns the output. `sources`: pairs of a file and
        its flags."""
        objects = [self.compile(source, folder / f"{number}-{source.stem}.o", *flags)
                   for number, (source, flags) in enumerate([*sources, *self.support])]
        program = folder / "program"
        call([self.compiler, *self.flags, *self.link, *objects, *last, *self.libraries, "-o", program])
        status, output = attempt([*self.emulator, program], seconds=120)
        return output if status == 0 else f"{output}\nexit status {status}"


def board(name, *flags):
    """Returns the Machine of a Cortex-M board of ports/boards, with additional flags."""
    of_board = ("-Os", "-ffreestanding", "-fno-tree-loop-distribute-patterns",
                f'-DBOARD_NAME="{name}"', "-DBOARD_CLOCK_HZ=25000000")
    return Machine(
        "arm-none-eabi-g++", flags, tuple((source, of_board) for source in sorted(BOARDS.glob("*.c"))),
        ("-nostdlib", "-Wl,--gc-sections", f"-T{BOARDS / name / 'memory.ld'}", f"-L{BOARDS}"), ("-lgcc",),
        targets.emulator(name))


def riscv32(extensions, abi, *flags):
    """Returns the Machine of a 32-bit RISC-V. It has no C++ headers of its own and uses
    newlib's for Arm, which do not depend on the processor."""
    newlib = sorted(pathlib.Path("/usr/include/newlib/c++").glob("*/"))[-1:]
    headers = [word for folder in newlib for path in (folder, folder / "arm-none-eabi")
               for word in ("-isystem", str(path))]
    return Machine(
        "riscv64-unknown-elf-g++",
        (f"-march=rv32{extensions}", f"-mabi={abi}", "-ffreestanding", "-fno-tree-loop-distribute-patterns", *flags),
        tuple((BOARDS / name, ("-Os", f"-I{BOARDS}")) for name in ("riscv32/riscv32.c", "memory.c")),
        ("-nostdlib", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"), ("-lgcc",), ("qemu-riscv32",),
        ("--specs=picolibc.specs", *headers))


def host():
    flags = ("-std=c++20", f"-I{BOARDS}", '-DBOARD_NAME="host"')
    return Machine("g++", (), ((BOARDS / "host" / "host.cpp", flags),))


def differs(output, expected_file=LAYER, of=""):
    """Returns the checksums, or only the ones of `of`, that the example prints and an output lacks."""
    text = expected_file.read_text(encoding="utf-8")
    expected = re.findall(rf"^crc32 of {of}.*$", text, re.MULTILINE)
    missing = [line for line in expected if line not in output.splitlines()]
    return "" if expected and not missing else f"not printed: {missing}\n{output[-1500:]}"
