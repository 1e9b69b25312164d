# SPDX-License-Identifier: MIT
"""Tests export.module on the modules of field_modules.py.

    python3 -m tests.export.modules                            writes tests/golden/modules
    python3 -m tests.export.modules -- COMPILER ARGUMENT...    tests

Each header compiles without a warning, is formatted, and computes what PyTorch computed, as constants, in the compiler,
and with int8 weights; its code is that of tests/golden/modules, which runs on every target. Needs PyTorch (Debian:
python3-torch). The second command skips its tests without it."""
import re
import shutil

from ports.pytorch import tinyattn_export as export
from tests.export.exporter import COMPILER, ROOT, call, in_folder
from tests.support import debian, tap

debian.needs_pytorch()
import torch

from tests.export import corner_modules
from tests.export.field_modules import MODELS, made

GOLDEN = ROOT / "tests" / "golden" / "modules"
FINE, COARSE = 1e-5, 2e-2  # of the largest output: f32, and int8
IN_COMPILER = ("book", "encoder_alone")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror")
PROGRAM = """\
#include "NAME.hpp"

#include <cstdio>

namespace {

NAME::Model::Workspace workspace;

#ifdef IN_COMPILER
constexpr float error() {
  NAME::Model::Workspace own;
  NAME::Model::Output out{};
  NAME::model.forward(NAME::example_input, out, own);
  float largest = 0.0f;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float difference = out.elements[i] - NAME::example_output.elements[i];
    if (!(difference <= largest && -difference <= largest)) largest = difference < 0 ? -difference : difference;
  }
  return largest;
}
static_assert(error() < 1e-5f);
#endif

}  // namespace

int main() {
  float largest = 0;
  for (const float element : NAME::example_output.elements) largest = largest < element ? element : largest < -element ? -element : largest;
  std::printf("%g\\n", static_cast<double>(NAME::example_error(workspace) / largest));
}
"""


@in_folder
def computes(folder, name, weights):
    net, example = made(name)
    export.module(net, example, folder / f"{name}.hpp", name, weights=weights)
    (folder / "main.cpp").write_text(PROGRAM.replace("NAME", name))
    options = ["-DIN_COMPILER", "-fconstexpr-ops-limit=1000000000"] if name in IN_COMPILER and weights is None else []
    if "clang" in COMPILER[0]:
        options = [option.replace("-fconstexpr-ops-limit", "-fconstexpr-steps") for option in options]
    done = call(*COMPILER, *WARNINGS, *options, "-O1", folder / "main.cpp", "-o", folder / "main")
    if done.returncode:
        return done.stderr[:2000]
    error = float(call(folder / "main").stdout)
    return "" if error < (COARSE if weights else FINE) else f"error {error}"


@in_folder
def corners(folder, names):
    """Exports modules of corner_modules.py into one program."""
    for name, (net, example) in names.items():
        export.module(net.eval(), example, folder / f"{name}.hpp", name)
    (folder / "main.cpp").write_text("".join([
        *(f'#include "{name}.hpp"\n' for name in names), "#include <cstdio>\n",
        *(f"static {name}::Model::Workspace of_{name};\n" for name in names), "int main() {\n",
        *(f'  std::printf("{name} %g\\n", static_cast<double>({name}::example_error(of_{name})));\n' for name in names),
        "}\n"]))
    done = call(*COMPILER, *WARNINGS, "-O0", folder / "main.cpp", "-o", folder / "main")
    errors = dict(line.split() for line in call(folder / "main").stdout.splitlines()) if not done.returncode else {}
    return done.stderr[:2000] or " ".join(name for name in names if not float(errors[name]) < FINE)


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
    return "" if new == golden else "its code has changed: python3 -m tests.export.modules writes it, and git shows how"


def write(folder, name):
    export.module(*made(name), folder / f"{name}.hpp", name, binary=folder / f"{name}.bin")


if __name__ == "__main__":
    if COMPILER:
        texts = () if "clang" in COMPILER[0] else MODELS  # they do not depend on the compiler
        of_pytorch_2 = corner_modules.OF_PYTORCH_2
        newer = tap.Skip(f"PyTorch {torch.__version__} has no RMSNorm, nor enable_gqa")
        tap.report([("corners", corners, corner_modules.MODULES),
                    ("corners of PyTorch 2", *((corners, of_pytorch_2) if of_pytorch_2 else (newer,))),
                    *((f"{name}, {weights or 'f32'}", computes, name, weights)
                      for name in MODELS for weights in (None, "int8")),
                    *((f"{name} is formatted", is_formatted, name) for name in texts),
                    *((f"the code of {name}", is_golden, name) for name in texts)])
    GOLDEN.mkdir(exist_ok=True)
    for model in MODELS:
        write(GOLDEN, model)
