# SPDX-License-Identifier: MIT
"""Measures layers and kernels on one board."""
import dataclasses
import re

import boards
import contents
import costs

LAYERS = ["T0", "T1"]
LEVELS = ["-O2", "-Os"]
KERNEL_LEVEL = "-Os"
KERNEL_PREFIX = "one_"


@dataclasses.dataclass
class Measured:
    """A layer at an optimization level on a board."""

    case: tuple
    problem: str = ""
    unwanted: list = dataclasses.field(default_factory=list)
    helpers: list = dataclasses.field(default_factory=list)
    cost: costs.Cost | None = None
    crc: str = ""
    ran_on: str = ""


def layer_flag(layer):
    return f"-DTINYATTN_FOOTPRINT_LAYER={layer}"


def reported(output):
    """The lines of firmware.cpp: a name and a number."""
    report = dict(re.findall(r"^(\w+) ([0-9a-f]{8})$", output, re.MULTILINE))
    if not {"scratch", "stack", "crc"} <= set(report):
        raise boards.BuildError(f"the firmware did not print its figures:\n{output}")
    return report


class Bench:
    """A board with what its images share already built: the startup code, and each layer's firmware but for the layer."""

    def __init__(self, name, scratch, tree=boards.ROOT):
        self.board = boards.Board(name, scratch / name, tree)
        self.startup = self.board.compile_startup() + [self.compile("painted_stack.cpp", "painted_stack.o", "-Os")]
        self.empty = self.board.compile_c(boards.HERE / "empty.c", "empty.o")
        self.firmware = {layer: self.compile("firmware.cpp", f"{layer}-firmware.o", "-Os", layer_flag(layer)) for layer in LAYERS}
        self.without = {layer: self.link(layer, self.empty, f"{layer}-without.elf")[0] for layer in LAYERS}

    def compile(self, source, name, *flags):
        return self.board.compile(boards.HERE / source, name, *flags)

    def link(self, layer, attend, name):
        return self.board.link_firmware([*self.startup, self.firmware[layer], attend], name)

    def measure(self, layer, level):
        measured = Measured((self.board.name, layer, level))
        try:
            self._measure(measured, layer, level)
        except boards.BuildError as error:
            measured.problem = str(error)
        return measured

    def _measure(self, measured, layer, level):
        compiled = self.compile("layer.cpp", f"{layer}{level}.o", level, layer_flag(layer), *boards.EVERYTHING_ON)
        measured.helpers = contents.helpers(self.board, compiled)
        measured.unwanted = contents.unwanted_in_object(self.board, compiled)
        image, measured.ran_on = self.link(layer, compiled, f"{layer}{level}.elf")
        measured.unwanted += contents.unwanted_in_growth(self.board, image, self.without[layer])
        report = reported(boards.run(image, measured.ran_on))
        measured.crc = report["crc"]
        measured.cost = costs.Cost(
            flash=self.growth(contents.flash, image, layer),
            scratch=int(report["scratch"], 16),
            stack=int(report["stack"], 16),
            static=self.growth(contents.static_ram, image, layer))

    def growth(self, size, image, layer):
        return size(self.board, image) - size(self.board, self.without[layer])

    def measure_kernels(self):
        """What the linker keeps if a kernel is all that a program calls, by kernel; and what must not be in any of it."""
        try:
            compiled = self.compile("kernels.cpp", "kernels.o", KERNEL_LEVEL, *boards.EVERYTHING_ON)
            unwanted = contents.unwanted_in_object(self.board, compiled)
            if unwanted:
                return {}, unwanted
            names = [symbol.name for symbol in contents.symbols(self.board, compiled) if symbol.name.startswith(KERNEL_PREFIX)]
            return {name.removeprefix(KERNEL_PREFIX): self.kernel_size(compiled, name) for name in names}, []
        except boards.BuildError as error:
            return {}, [str(error)]

    def kernel_size(self, compiled, name):
        memory = self.board.folder / "memory.o"
        image = self.board.link([compiled, memory], f"{name}.elf", f"-Wl,--entry={name}")
        return contents.flash(self.board, image)
