# SPDX-License-Identifier: MIT
"""The builds and suites of tests/run: all of targets.toml, and a build for each board and machine in ports/."""
import dataclasses
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARDS = ROOT / "ports" / "boards"
MACHINES = ROOT / "ports" / "machines"
TABLE = tomllib.loads((ROOT / "tests" / "support" / "targets.toml").read_text(encoding="utf-8"))
SIZES = ("quick", "change", "night")


@dataclasses.dataclass(frozen=True)
class Build:
    """A build folder of Meson, and how it is configured."""

    name: str
    what: str = ""
    size: str = "night"
    tool: str = "gcc"
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
class Suite:
    what: str
    size: str = "night"
    tools: tuple = ()
    builds: tuple = ("gcc",)

    def all_builds(self):
        groups = {"boards": boards(), "machines": TABLE["machines"]}
        return [BUILDS[name] for entry in self.builds for name in groups.get(entry, [entry])]


def emulator(board):
    """Returns the command that runs a firmware, without its path: exe_wrapper of the boards' file, as a tuple."""
    settings = (BOARDS / "cortex-m.ini").read_text(encoding="utf-8")
    wrapper = re.search(r"^exe_wrapper = \[([^]]*)\]", settings, re.MULTILINE)[1]
    return tuple(word or board for word in re.findall(r"'([^']*)'|\bboard\b", wrapper))


def boards():
    return sorted(file.parent.name for file in BOARDS.glob("*/cross.ini"))


def crossed(name, what, tool, *files):
    options = tuple(word for file in files for word in ("--cross-file", str(file)))
    return Build(**{"name": name, "what": what, "tool": tool, "options": options, **TABLE["builds"].get(name, {})})


def board(name):
    file = BOARDS / name / "cross.ini"
    core = re.search(r"^core = '(.*)'", file.read_text(encoding="utf-8"), re.MULTILINE)[1]
    return crossed(name, f"an emulated board: {core}", "firmware", file, BOARDS / "cortex-m.ini")


def machine(name, tool):
    return crossed(name, f"an emulated machine with Linux: {name}", tool, MACHINES / f"{name}.ini")


CROSSED = {name: board(name) for name in boards()} | {name: machine(name, tool)
                                                      for name, tool in TABLE["machines"].items()}
BUILDS = {name: Build(name, **fields) for name, fields in TABLE["builds"].items() if name not in CROSSED} | CROSSED
SUITES = {name: Suite(**fields) for name, fields in TABLE["suites"].items()}


def up_to(size, things):
    """Returns the builds or suites that a run of this size has."""
    return {name: thing for name, thing in things.items() if SIZES.index(thing.size) <= SIZES.index(size)}


def listing():
    lines = ["Builds, with all their tests:", *(f"  {name:<14} {build.size:<7} {build.what}"
                                                for name, build in BUILDS.items())]
    return "\n".join([*lines, "", "Suites, in the builds that have them:",
                      *(f"  {name:<14} {suite.size:<7} {suite.what}" for name, suite in SUITES.items())])
