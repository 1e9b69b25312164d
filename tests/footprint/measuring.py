# SPDX-License-Identifier: MIT
"""Builds an attention layer into the firmware of a board, and measures what it adds."""
import pathlib
import re
import typing

import building
import contents

HERE = pathlib.Path(__file__).resolve().parent
LAYERS = {"T0": 0, "T1": 128 * 1024}  # and the RAM that a board needs for it
CASES = [(board, layer, level) for board in building.boards() for layer, memory in LAYERS.items() for level in ("-O2", "-Os")
         if building.board(board).memory >= memory]

# A firmware may be built with any of these. The library must come out clean with all of them, so that no flag hides anything.
EVERYTHING_ON = ("-fexceptions", "-frtti", "-fthreadsafe-statics")


class Cost(typing.NamedTuple):
    flash: int  # code and constants, helpers of the compiler's library among them
    scratch: int  # the workspace
    stack: int  # that the call takes


class Layer:
    """The layer on a board, at an optimization level. Declares what to build; its functions read what was made."""

    def __init__(self, build, case):
        self.case = board, layer, level = case
        self.machine = building.board(board)
        flags = (*building.language(), f"-DTINYATTN_FOOTPRINT_LAYER={layer}")
        firmware = [*build.support(self.machine), build.compile(self.machine, HERE / "firmware.cpp", *flags, "-Os")]
        self.compiled = build.compile(self.machine, HERE / "layer.cpp", *flags, level, *EVERYTHING_ON)
        self.without = build.link(self.machine, f"{board}{layer}-without", firmware)
        self.image = build.link(self.machine, "".join(case), [*firmware, self.compiled])
        self.said = build.run(self.machine, self.image)

    def cost(self):
        said = dict(re.findall(r"^(\w+) (\w{8})$", self.said.read_text(encoding="utf-8"), re.MULTILINE))
        growth = contents.flash(self.machine, self.image) - contents.flash(self.machine, self.without)
        return Cost(growth, int(said["scratch"], 16), int(said["stack"], 16))

    def unwanted(self):
        return [*contents.unwanted_in_object(self.machine, self.compiled),
                *contents.unwanted_in_growth(self.machine, self.image, self.without, self.compiled)]
