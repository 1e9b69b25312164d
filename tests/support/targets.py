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
    "quick": "about seven minutes: both compilers, the boards microbit and mps2-an386, diagnostics, style",
    "": "what every change has to pass: about an hour",
    "all": "for each night: every level, port, board, mutant, the coverage and the fuzzers",
}


@dataclasses.dataclass(frozen=True)
class Build:
    """A build folder of Meson, and how it is configured."""

    name: str
    tool: str = "gcc"  # the job of ports/toolchain that installs its compiler
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
    suites: tuple
    builds: tuple = ("gcc",)
    tools: tuple = ()
    nightly: tuple = ()
    nightly_tools: tuple = ()
    size: str = "run"  # the smallest run that has it: quick, run or all

    def all_builds(self):
        groups = {"boards": boards(), "machines": TABLE["machines"]}
        return [build(name) for entry in self.builds for name in groups.get(entry, [entry])]

    def all_tools(self):
        return [*self.tools, *self.nightly_tools, *(build.tool for build in self.all_builds())]


def emulator(board):
    """Returns the command that runs a firmware, without its path: exe_wrapper of the boards' file, as a tuple."""
    settings = (BOARDS / "cortex-m.ini").read_text(encoding="utf-8")
    wrapper = re.search(r"^exe_wrapper = \[([^]]*)\]", settings, re.MULTILINE)[1]
    return tuple(word or board for word in re.findall(r"'([^']*)'|\bboard\b", wrapper))


def boards():
    return sorted(file.parent.name for file in BOARDS.glob("*/cross.ini"))


def build(name):
    """Returns a build by its name, which is in targets.toml, or is that of a board or a machine."""
    if name in TABLE["builds"]:
        return Build(name, **TABLE["builds"][name])
    files, tool = [BOARDS / name / "cross.ini", BOARDS / "cortex-m.ini"], "firmware"
    if name in TABLE["machines"]:
        files, tool = [MACHINES / f"{name}.ini"], TABLE["machines"][name]
    return Build(name, tool, options=tuple(word for file in files for word in ("--cross-file", str(file))))


def emulated(name, what, nightly, size):
    return Target(f"unit tests, conformance and golden values on an emulated {what}", MACHINE_SUITES, (name,),
                  nightly=nightly, size=size)


def board(name):
    core = re.search(r"^core = '(.*)'", (BOARDS / name / "cross.ini").read_text(encoding="utf-8"), re.MULTILINE)[1]
    return emulated(name, core, ("shapes", "headers", "recipes"), "run" if name in EACH_PORT else "all")


TARGETS = {
    **{name: Target(**{"suites": (name,), **fields}) for name, fields in TABLE["targets"].items()},
    **{name: emulated(name, name, ("shapes", "recipes"), "all") for name in TABLE["machines"]},
    **{name: board(name) for name in boards()},
}


def of_size(size):
    """Returns {name: target} of the size quick, run or all."""
    if size == "all":  # every_flag includes one_answer, and the others include what is quick
        return {name: target for name, target in TARGETS.items() if name not in ("quick", "one_answer")}
    return {name: dataclasses.replace(target, nightly=(), nightly_tools=())
            for name, target in TARGETS.items() if target.size == size}


def listing():
    lines = [f"./tests/run {name:<6} {what}" for name, what in SIZES.items()]
    for size, heading in (("run", "every change, and each night:"), ("all", "each night:")):
        lines += ["", heading, *(f"  {name:<12} {target.what}"
                                 for name, target in TARGETS.items() if target.size == size)]
    return "\n".join([*lines, "", "A target that is named runs as each night: with all shapes, headers and ports."])
