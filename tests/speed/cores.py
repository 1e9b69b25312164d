# SPDX-License-Identifier: MIT
"""The cores that QEMU plays, and how a program for each is built and run."""
import dataclasses
import sys

import building

sys.path.insert(0, str(building.ROOT / "tests" / "footprint"))
import boards  # noqa: E402

# An M55 without Helium is the same board with other flags.
WITHOUT_HELIUM = {"-mcpu=cortex-m55": ["-mcpu=cortex-m55+nomve", "-mfpu=fpv5-d16"]}


@dataclasses.dataclass
class Core:
    title: str
    compile: list  # the compiler and its flags
    link: list  # the linker's command, before the objects
    libraries: list  # after them
    support: list  # objects that every program needs
    run: list  # what a program is run by, and how it takes a plugin
    objdump: str

    @property
    def compiler(self):
        return building.version(self.compile[0])


def on_board(title, name, folder, replaced=None):
    """As ports/boards/meson.build builds for it, but for the flags that are replaced."""
    board = boards.Board(name, folder)
    for what in ("c_args", "cpp_args", "cpp_link_args"):
        board.machine[what] = [flag for old in board.machine[what] for flag in (replaced or {}).get(old, [old])]
    return Core(title, [board.machine["cpp"], *board.machine["cpp_args"], "-fno-exceptions", "-fno-rtti", *building.LANGUAGE],
                [board.machine["cpp"], *board.machine["cpp_link_args"]],
                ["-nostdlib", "-lgcc", f"-T{boards.BOARDS / name / 'memory.ld'}", f"-L{boards.BOARDS}"],
                board.compile_startup(), board.machine["exe_wrapper"], board.tool("objdump"))


def in_user_mode(title, prefix, qemu, folder, *flags):
    compiler = [f"{prefix}-g++", *flags]
    folder.mkdir()
    host = folder / "host.o"
    building.call([*compiler, *building.LANGUAGE, '-DBOARD_NAME="host"', "-c", boards.BOARDS / "host" / "host.cpp", "-o", host])
    return Core(title, [*compiler, *building.LANGUAGE], [*compiler, "-static"], [], [host], [qemu], f"{prefix}-objdump")


# By title: how it is made, in a folder of its own.
CORES = {
    "M4F": lambda folder: on_board("M4F", "mps2-an386", folder),
    "M7": lambda folder: on_board("M7", "mps2-an500", folder),
    "M33": lambda folder: on_board("M33", "mps2-an505", folder),
    "M55": lambda folder: on_board("M55", "mps3-an547", folder, WITHOUT_HELIUM),
    "M55 Helium": lambda folder: on_board("M55 Helium", "mps3-an547", folder),
    "AArch64": lambda folder: in_user_mode("AArch64", "aarch64-linux-gnu", "qemu-aarch64", folder),
    "ARMv7 NEON": lambda folder: in_user_mode("ARMv7 NEON", "arm-linux-gnueabihf", "qemu-arm", folder, "-march=armv7-a", "-mfpu=neon-vfpv4",
                                              "-mfloat-abi=hard"),
}
