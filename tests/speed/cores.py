# SPDX-License-Identifier: MIT
"""The cores that QEMU plays, and how a program for each is built and run."""
import dataclasses
import re
import shutil
import sys

import building

sys.path.insert(0, str(building.ROOT / "tests" / "footprint"))
import boards  # noqa: E402

# An M55 without Helium is the same board with other flags.
WITHOUT_HELIUM = {"-mcpu=cortex-m55": ["-mcpu=cortex-m55+nomve", "-mfpu=fpv5-d16"]}


@dataclasses.dataclass
class Core:
    title: str
    compile: list  # the compiler of the rows and its flags, but for the language
    compile_main: list  # the same for the rest
    link: list  # the linker's command, before the objects
    libraries: list  # after them
    support: list  # objects that every program needs
    run: list  # what a program is run by, and how it takes a plugin
    objdump: str

    @property
    def compiler(self):
        return building.version(self.compile[0])


def newest_clang():
    """GCC 12 miscompiles some of Helium; Clang of before version 17 does not know enough of it."""
    return next((name for name in (f"clang++-{version}" for version in range(25, 16, -1)) if shutil.which(name)), None)


def with_clang(clang, flags):
    """The flags of a board for Clang, which takes the headers of GCC's standard library."""
    said = building.call(["arm-none-eabi-g++", *flags, "-E", "-v", "-x", "c++", "/dev/null", "-o", "/dev/null"], errors=True)
    folders = re.search(r"#include <...> search starts here:\n(.*)End of search list", said, re.DOTALL)[1].split()
    library = [folder for folder in folders if "c++" in folder or folder.endswith("arm-none-eabi/include")]
    known = [flag for flag in flags if flag != "-masm-syntax-unified"]
    return [clang, "--target=arm-none-eabi", "-fshort-enums", *known, *(word for folder in library for word in ("-isystem", folder))]


def on_board(title, name, folder, replaced=None, clang=None):
    """As ports/boards/meson.build builds for it, but for the flags that are replaced, and the compiler of the rows."""
    board = boards.Board(name, folder)
    for what in ("c_args", "cpp_args", "cpp_link_args"):
        board.machine[what] = [flag for old in board.machine[what] for flag in (replaced or {}).get(old, [old])]
    flags = [*board.machine["cpp_args"], "-fno-exceptions", "-fno-rtti"]
    gcc = [board.machine["cpp"], *flags]
    compiler = with_clang(clang, flags) if clang else gcc
    return Core(title, compiler, gcc,
                [board.machine["cpp"], *board.machine["cpp_link_args"], "-Wl,-z,noexecstack"],
                ["-nostdlib", "-lgcc", f"-T{boards.BOARDS / name / 'memory.ld'}", f"-L{boards.BOARDS}"],
                board.compile_startup(), board.machine["exe_wrapper"], board.tool("objdump"))


def in_user_mode(title, prefix, qemu, folder, *flags):
    compiler = [f"{prefix}-g++", *flags]
    folder.mkdir()
    host = folder / "host.o"
    building.call([*compiler, *building.language(building.ROOT), '-DBOARD_NAME="host"', "-c",
                   boards.BOARDS / "host" / "host.cpp", "-o", host])
    link = [*compiler, "-static"]
    return Core(title, compiler, compiler, link, [], [host], [qemu], f"{prefix}-objdump")


def armv7_neon(title, folder):
    return in_user_mode(title, "arm-linux-gnueabihf", "qemu-arm", folder, "-march=armv7-a", "-mfpu=neon-vfpv4", "-mfloat-abi=hard")


# By title: how it is made, in a folder of its own.
CORES = {
    "M4F": lambda title, folder: on_board(title, "mps2-an386", folder),
    "M7": lambda title, folder: on_board(title, "mps2-an500", folder),
    "M33": lambda title, folder: on_board(title, "mps2-an505", folder),
    "M55": lambda title, folder: on_board(title, "mps3-an547", folder, replaced=WITHOUT_HELIUM),
    "M55 Helium": lambda title, folder: on_board(title, "mps3-an547", folder),
    "M55 Helium, clang": lambda title, folder: on_board(title, "mps3-an547", folder, clang=newest_clang()),
    "AArch64": lambda title, folder: in_user_mode(title, "aarch64-linux-gnu", "qemu-aarch64", folder),
    "ARMv7 NEON": armv7_neon,
}


def titles():
    """Of the cores that can be built for here."""
    return [title for title in CORES if "clang" not in title or newest_clang()]
