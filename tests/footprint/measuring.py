# SPDX-License-Identifier: MIT
"""Builds an attention layer into the firmware of a board, and measures what it adds.

    build = building.Build(folder)          # one for each tree
    layers = [measuring.Layer(build, case, tree) for case in measuring.CASES]
    build.demand()
    measured = {layer.case: layer.cost() for layer in layers}
"""
import dataclasses
import itertools
import pathlib
import re
import typing

import building
import contents

HERE = pathlib.Path(__file__).resolve().parent
LAYERS = ("T0", "T1")
CASES = list(itertools.product(building.boards(), LAYERS, ("-O2", "-Os")))

# A firmware may be built with any of these. The library must come out clean with all of them, so that no flag hides anything.
EVERYTHING_ON = ("-fexceptions", "-frtti", "-fthreadsafe-statics")

# A layer that exceeds a board's RAM is still built for its core; the code runs on a core that has the same instructions.
ROOMIER = {("microbit", "T1"): "mps2-an385"}


class Cost(typing.NamedTuple):
    flash: int  # code and constants, helpers of the compiler's library among them
    scratch: int  # the workspace
    stack: int  # that the call takes
    static: int  # variables of the library, or of a libc


def language(layer, tree=building.ROOT):
    return (*building.language(tree), f"-DTINYATTN_FOOTPRINT_LAYER={layer}")


def reported(file):
    """What firmware.cpp prints: names and numbers."""
    return {name: int(number, 16) for name, number in re.findall(r"^(\w+) ([0-9a-f]{8})$", file.read_text(encoding="utf-8"), re.MULTILINE)}


class Layer:
    """The layer of a tree on a board, at an optimization level. Declares what to build; its functions read what was made."""

    def __init__(self, build, case, tree=building.ROOT):
        self.case = case
        board, layer, level = case
        roomier = building.board(ROOMIER.get((board, layer), board))
        self.machine = dataclasses.replace(building.board(board), libraries=roomier.libraries, wrapper=roomier.wrapper)
        firmware = [*build.support(self.machine), build.compile(self.machine, HERE / "firmware.cpp", *language(layer, tree), "-Os")]
        empty = build.compile(self.machine, HERE / "empty.c", "-Os")
        self.compiled = build.compile(self.machine, HERE / "layer.cpp", *language(layer, tree), level, *EVERYTHING_ON)
        self.without = build.link(self.machine, f"{board}{layer}-without", [*firmware, empty])
        self.image = build.link(self.machine, "".join(case), [*firmware, self.compiled])
        self.said = build.run(self.machine, self.image)

    def cost(self):
        report = reported(self.said)
        flash, static = (size(self.machine, self.image) - size(self.machine, self.without)
                         for size in (contents.flash, contents.static_ram))
        return Cost(flash, report["scratch"], report["stack"], static)
