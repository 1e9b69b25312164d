# SPDX-License-Identifier: MIT
"""The targets of tests/run: those of targets.toml, and one for each board and machine that ports/ has."""
import dataclasses
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARDS = ROOT / "ports" / "boards"
MACHINES = ROOT / "ports" / "machines"
TABLE = tomllib.loads((ROOT / "tests" / "support" / "targets.toml").read_text(encoding="utf-8"))
MACHINE_SUITES = ("unit", "conformance", "golden")
EACH_PORT = ("microbit", "mps2-an386", "mps3-an547")  # boards with different ports, which every change has to pass
SIZES = {
    "quick": "about four minutes: both compilers, the boards microbit and mps2-an386, diagnostics, style",
    "": "what every change has to pass: about twenty minutes",
    "all": "for each night: every level, port, board, mutant, the coverage and the fuzzers",
}


@dataclasses.dataclass(frozen=True)
class Build:
    """A build folder of Meson, and how it is configured."""

    name: str
    compiler: str = "g++"
    options: tuple = ()

    @property
    def folder(self):
        return ROOT / "build" / self.name

    def setup(self):
        """Returns the command that configures the build. Needs the compiler in the variable CXX."""
        options = (option.replace("BUILD", str(self.folder)) for option in self.options)
        return ["meson", "setup", "-Dwerror=true", *options, self.folder, ROOT]


@dataclasses.dataclass(frozen=True)
class Target:
    what: str
    tools: tuple
    builds: tuple
    suites: tuple
    nightly: tuple = ()
    size: str = "run"  # the smallest run that has it: quick, run or all


def boards():
    return sorted(file.parent.name for file in BOARDS.glob("*/cross.ini"))


def build(name):
    """Returns a build by its name, which is in targets.toml, or is that of a board or a machine."""
    if name in TABLE["builds"]:
        return Build(name, **TABLE["builds"][name])
    files = [MACHINES / f"{name}.ini"] if name in TABLE["machines"] else [BOARDS / name / "cross.ini",
                                                                          BOARDS / "cortex-m.ini"]
    return Build(name, options=tuple(word for file in files for word in ("--cross-file", str(file))))


def builds(target):
    """Returns the builds of a target."""
    groups = {"boards": boards(), "machines": TABLE["machines"]}
    return [build(name) for entry in target.builds for name in groups.get(entry, [entry])]


def emulated(name, what, tool, nightly, size):
    return Target(f"unit tests, conformance and golden values on an emulated {what}", (tool,), (name,),
                  MACHINE_SUITES, nightly, size)


def board(name):
    core = re.search(r"^core = '(.*)'", (BOARDS / name / "cross.ini").read_text(encoding="utf-8"), re.MULTILINE)[1]
    return emulated(name, core, "firmware", ("shapes", "headers", "recipes"), "run" if name in EACH_PORT else "all")


TARGETS = {
    **{name: Target(**fields) for name, fields in TABLE["targets"].items()},
    **{name: emulated(name, name, tool, ("shapes", "recipes"), "all") for name, tool in TABLE["machines"].items()},
    **{name: board(name) for name in boards()},
}


def of_size(size):
    """Returns {name: target} of the size quick, run or all."""
    if size == "all":  # every_flag includes one_answer, and the others include what is quick
        return {name: target for name, target in TARGETS.items() if name not in ("quick", "one_answer")}
    return {name: dataclasses.replace(target, nightly=()) for name, target in TARGETS.items() if target.size == size}


def listing():
    lines = [f"./tests/run {name:<6} {what}" for name, what in SIZES.items()]
    for size, heading in (("run", "every change, and each night:"), ("all", "each night:")):
        lines += ["", heading, *(f"  {name:<12} {target.what}"
                                 for name, target in TARGETS.items() if target.size == size)]
    return "\n".join([*lines, "", "A target that is named runs as each night: with all shapes, headers and ports."])
