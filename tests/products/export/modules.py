# SPDX-License-Identifier: MIT
"""Tests export.module on the modules of field_modules.py.

    python3 -m tests.products.export.modules                            writes tests/golden/modules
    python3 -m tests.products.export.modules -- COMPILER ARGUMENT...    tests, each night

Each header compiles without a warning at every level of optimization, since at some a compiler sees sizes and constants
where it sees none at others; is formatted; and computes what PyTorch computed, as constants, in the compiler, and with
int8 weights. Four are in tests/golden/modules with the same code, which every board runs. Needs PyTorch (Debian:
python3-torch). The second command skips its tests without it."""
import re
import shutil

from ports.pytorch import tinyattn_export as export
from tests.products.export.exporter import COMPILER, ROOT, WARNINGS, call
from tests.support import debian, tap
from tests.support.tap import in_folder

debian.needs_pytorch()
import torch

from tests.products.export import corner_modules
from tests.products.export.field_modules import MODELS, made

GOLDEN = ROOT / "tests" / "golden" / "modules"
ON_BOARDS = ("decoder", "functional", "gestures", "masked")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
FINE, COARSE = 1e-5, 2e-2  # of the largest output: f32, and int8
IN_COMPILER = ("book", "encoder_alone")
PROGRAM = """\
#include "NAME.hpp"

#include <cstdio>

static NAME::Model::Workspace workspace;

#ifdef IN_COMPILER
constexpr bool is_near() {
  NAME::Model::Workspace own;
  NAME::Model::Output out{};
  NAME::model.forward(NAME::example_input, out, own);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float difference = out.elements[i] - NAME::example_output.elements[i];
    if (!(difference < 1e-5f && -difference < 1e-5f)) return false;
  }
  return true;
}
static_assert(is_near());
#endif

int main() {
  float largest = 0;
  for (const float element : NAME::example_output.elements) largest = largest < element ? element : largest < -element ? -element : largest;
  std::printf("%g\\n", static_cast<double>(NAME::example_error(workspace) / largest));
}
"""


@in_folder
def computes(folder, name, weights, make):
    """Compiles a module at each level of optimization, and runs it at the last."""
    export.module(*make(), folder / f"{name}.hpp", name, weights=weights)
    header = (folder / f"{name}.hpp").read_text()
    first = "example_output0" if "example_output0" in header else "example_output"
    (folder / "main.cpp").write_text(PROGRAM.replace("NAME", name).replace("example_output", first))
    limit = "-fconstexpr-steps" if "clang" in COMPILER[0] else "-fconstexpr-ops-limit"
    options = ["-DIN_COMPILER", f"{limit}=1000000000"] if name in IN_COMPILER and weights is None else []
    for level in LEVELS:
        done = call(*COMPILER, *WARNINGS, *options, level, folder / "main.cpp", "-o", folder / "main")
        if done.returncode:
            return f"{level}: {done.stderr[:2000]}"
        options = []
    error = float(call(folder / "main").stdout)
    return "" if error < (COARSE if weights else FINE) else f"error {error}"


@in_folder
def is_formatted(folder, name):
    if shutil.which("clang-format-14") is None:
        return tap.Skip("there is no clang-format-14")
    (folder / ".clang-format").write_text((ROOT / "include" / "tinyattn" / ".clang-format").read_text().replace(
        "InheritParentConfig", "Google") + "IncludeBlocks: Preserve\nDerivePointerAlignment: false\n")
    export.module(*made(name), folder / f"{name}.hpp", name)
    done = call("clang-format-14", "--dry-run", "--Werror", folder / f"{name}.hpp")
    return done.stderr[:1000]


def code_of(text):
    """Returns the code without numbers."""
    return re.sub(r"\{\{\n.*?\}\}", "{{}}", re.sub(r"0x[0-9a-f]+|[0-9a-f]{64}", "", text), flags=re.DOTALL)


@in_folder
def is_golden(folder, name):
    write(folder, name)
    new, golden = (code_of((place / f"{name}.hpp").read_text()) for place in (folder, GOLDEN))
    return "" if new == golden else "its code has changed: python3 -m tests.products.export.modules writes it, and git shows how"


def write(folder, name):
    export.module(*made(name), folder / f"{name}.hpp", name, binary=folder / f"{name}.bin")


if __name__ == "__main__":
    if COMPILER:
        corners = {**corner_modules.MODULES, **corner_modules.OF_PYTORCH_2}
        made_by = {**{name: lambda name=name: made(name) for name in MODELS},
                   **{name: lambda net=net, example=example: (net.eval(), example)
                      for name, (net, example) in corners.items()}}
        texts = () if "clang" in COMPILER[0] else MODELS  # they do not depend on the compiler
        newer = tap.Skip(f"PyTorch {torch.__version__} has no RMSNorm, nor enable_gqa")
        tap.report([*((f"{name}, {weights or 'f32'}", computes, name, weights, make)
                      for name, make in made_by.items() for weights in (None, "int8")),
                    *([] if corner_modules.OF_PYTORCH_2 else [("corners of PyTorch 2", newer)]),
                    *((f"{name} is formatted", is_formatted, name) for name in texts),
                    *((f"the code of {name}", is_golden, name) for name in ON_BOARDS if texts)])
    for model in ON_BOARDS:
        write(GOLDEN, model)
