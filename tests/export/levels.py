# SPDX-License-Identifier: MIT
"""Tests that exported modules compile without a warning at every level of optimization.

    python3 -m tests.export.levels -- COMPILER ARGUMENT...

At some levels a compiler sees sizes and constants in places where it sees none at others. Skips its tests without
PyTorch."""
from ports.pytorch import tinyattn_export as export
from tests.export.exporter import COMPILER, call, in_folder
from tests.export.modules import PROGRAM, WARNINGS, corner_modules
from tests.export.field_modules import MODELS, made
from tests.support import tap

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")


@in_folder
def compiles(folder, name, module, weights):
    export.module(*module, folder / f"{name}.hpp", name, weights=weights)
    (folder / "main.cpp").write_text(PROGRAM.replace("NAME", name))
    command = [*COMPILER, *WARNINGS, "-c", folder / "main.cpp", "-o", folder / "main.o"]
    found = [(level, call(*command, level)) for level in LEVELS]
    return "\n".join(f"{level}: {done.stderr[:1000]}" for level, done in found if done.returncode)


if __name__ == "__main__":
    CORNERS = {**corner_modules.MODULES, **corner_modules.OF_PYTORCH_2}
    MODULES = {name: (net.eval(), example) for name, (net, example) in CORNERS.items()}
    MODULES |= {name: made(name) for name in MODELS}
    tap.report([(f"{name}, {weights or 'f32'}", compiles, name, module, weights)
                for name, module in MODULES.items() for weights in (None, "int8")])
