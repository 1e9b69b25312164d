# SPDX-License-Identifier: MIT
"""The targets of tests/run. Each is a list of runs, of suites of tests in a build by Meson.

A target is part of plain `tests/run` unless its `size` says otherwise, and always of the run of each night. `seconds`
is how long a run took when it was last measured, on two idle cores and next to another run. It is used for the
progress, until build/times.json has a time of this machine.
"""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARDS = ROOT / "ports" / "boards"
MACHINES = ROOT / "ports" / "machines"


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
        return ["meson", "setup", "-Dwerror=true", *self.options, self.folder, ROOT]


@dataclasses.dataclass(frozen=True)
class Run:
    """A run of some suites in one build."""

    build: Build
    suites: tuple
    seconds: int
    nightly: tuple = ()  # further suites, only of the run of each night
    shows: bool = False  # whether to show the first comments of its tests, which are tables
    title: str = ""  # tells it from other runs of the target; by default the build does
    last: bool = False  # whether it runs after all others, since it reads their logs

    def all_suites(self):
        return self.suites + self.nightly


@dataclasses.dataclass(frozen=True)
class Target:
    what: str
    tools: tuple
    runs: tuple
    size: str = "run"  # the smallest run that has it: quick, run or all


GCC = Build("gcc")
CLANG = Build("clang", "clang++")
# Without four checks of UBSan, of which that of calls through pointers takes half of the compile time. Debug
# information has only line numbers.
SANITIZERS = Build("sanitizers", "clang++", (
    "-Db_sanitize=address,undefined",
    "-Dcpp_args=-gline-tables-only -fno-sanitize-recover=all -fno-sanitize=function,null,object-size,vptr",
    "-Db_lundef=false", "-Doptimization=0", "-Dexamples=disabled"))
# %m gives each program a profile of its own.
# -Wno-psabi: without optimization Clang warns of calls that pass vectors by value.
COUNTING = f"-fprofile-instr-generate={ROOT}/build/coverage/profiles/%m.profraw"
COVERAGE = Build("coverage", "clang++", (
    f"-Dcpp_args=-march=native -Wno-psabi -fcoverage-mapping {COUNTING}", f"-Dcpp_link_args={COUNTING}",
    "-Doptimization=0",
    "-Dexamples=disabled"))
MACHINE = ("unit", "conformance", "golden")
HOST = (*MACHINE, "headers", "compile_fail")
TOOLS_OF_MACHINES = {"aarch64": "linux-arm", "armv7": "linux-arm", "riscv64": "riscv", "riscv32imc": "riscv",
                     "riscv32imafc": "riscv",
                     "s390x": "s390x", "wasm32": "wasm"}
ALL_TOOLS = ("gcc", "clang", "clang-19", "firmware", *dict.fromkeys(TOOLS_OF_MACHINES.values()))
EACH_PORT = ("microbit", "mps2-an386", "mps3-an547")  # boards with different ports, which every change has to pass


def cross_build(name, *files, options=()):
    return Build(name, options=(*(word for file in files for word in ("--cross-file", str(file))), *options))


def board_build(name, **options):
    return cross_build(name, BOARDS / name / "cross.ini", BOARDS / "cortex-m.ini", **options)


def board(name):
    core = re.search(r"^core = '(.*)'", (BOARDS / name / "cross.ini").read_text(encoding="utf-8"), re.MULTILINE)[1]
    return Target(f"unit tests, conformance and golden values on an emulated {core}", ("firmware",),
                  (Run(board_build(name), MACHINE, 130, nightly=("shapes", "headers", "recipes")),),
                  "run" if name in EACH_PORT else "all")


def machine_build(name):
    return cross_build(name, MACHINES / f"{name}.ini")


def machine(name):
    return Target(f"unit tests, conformance and golden values on an emulated {name}", (TOOLS_OF_MACHINES[name],),
                  (Run(machine_build(name), MACHINE, 180, nightly=("shapes", "recipes")),), "all")


def boards():
    return sorted(file.parent.name for file in BOARDS.glob("*/cross.ini"))


# {build that has cells of the CRC table: its weight in the time of the table}
TABLE_BUILDS = {GCC: 4, CLANG: 4, **{machine_build(name): 2 for name in TOOLS_OF_MACHINES},
                **{board_build(name): 1 for name in boards()}}


def crc_table(suite, seconds):
    """Returns the runs that compute the cells of the table, one for each build, and the run that prints the table."""
    share = seconds / sum(TABLE_BUILDS.values())
    table = Run(GCC, (f"{suite}_table",), 3, shows=True, title="table", last=True)
    return (*(Run(build, (suite,), round(weight * share)) for build, weight in TABLE_BUILDS.items()), table)


QUICK_BUILDS = {GCC: 95, CLANG: 175, board_build("microbit"): 35, board_build("mps2-an386"): 38}
QUICK = Target("the most telling tests: both compilers, two boards, diagnostics, style",
               ("gcc", "clang", "firmware", "style"),
               tuple(Run(build, ("quick",), seconds) for build, seconds in QUICK_BUILDS.items()))

TARGETS = {
    "host": Target("on this machine, by GCC and by Clang: units, every port, golden values, diagnostics",
                   ("gcc", "clang"),
                   (Run(GCC, (*HOST, "harness"), 330, nightly=("shapes", "ports")),
                    Run(CLANG, HOST, 240, nightly=("shapes",)))),
    "sanitizers": Target("units, every port and golden values with sanitizers", ("clang",),
                         (Run(SANITIZERS, ("unit", "conformance"), 210, nightly=("shapes", "golden")),)),
    "consumers": Target("small projects take the library: Meson, pkg-config, CMake, by hand", ("gcc", "consumers"),
                        (Run(GCC, ("consumers",), 45),)),
    "packages": Target("each package is made and taken as its user takes it",
                       ("gcc", "clang", "firmware", "riscv", "consumers", "packages"), (Run(GCC, ("packages",), 60),)),
    "compiled": Target("the compiled library: its ports, its interface in C, its flash",
                       ("gcc", "clang", "firmware", "qemu-user"),
                       (Run(GCC, ("compiled",), 33), Run(CLANG, ("compiled",), 32),
                        Run(board_build("mps2-an386"), ("compiled",), 20, shows=True))),
    "export": Target("weights of PyTorch become headers", ("gcc", "clang"),
                     (Run(GCC, ("export",), 110), Run(CLANG, ("export",), 50))),
    "footprint": Target("what a layer takes of a firmware: flash, RAM, stack, symbols", ("gcc", "firmware"),
                        tuple(Run(board_build(name), ("footprint",), 10, shows=True) for name in boards())),
    "one_answer": Target("the same bits from the compiler, every port and every board (each night: every_flag)",
                         ALL_TOOLS, crc_table("one_answer", 390)),
    "every_flag": Target("that table with more flags", ALL_TOOLS, crc_table("every_flag", 900), "all"),
    "arithmetic": Target("exp and sqrt of every float, fma of 10^8 operands", ("gcc",),
                         (Run(GCC, ("arithmetic",), 300, shows=True),), "all"),
    "mutants": Target("mutants, planted one by one, that tests must catch", ("gcc", "firmware"),
                      (Run(GCC, ("mutants",), 240, shows=True),
                       Run(board_build("mps2-an386"), ("mutants",), 10, shows=True)), "all"),
    "fuzz": Target("damaged checkpoints and random calls, many more than every change meets", ("gcc",),
                   (Run(GCC, ("fuzz",), 120),), "all"),
    "coverage": Target("which lines and branches of the library its tests run", ("clang", "coverage"),
                       (Run(COVERAGE, ("unit", "shapes", "conformance", "coverage"), 240, shows=True),), "all"),
    "site": Target("the site: every public name documented, no dead link, a way to each page", ("gcc", "site"),
                   (Run(GCC, ("site",), 12),)),
    "style": Target("clang-format and clang-tidy", ("clang", "style"), (Run(CLANG, ("style",), 140),)),
    "browser": Target("the pages of examples/browser in a browser", ("gcc", "wasm", "browser"),
                      (Run(machine_build("wasm32"), ("browser",), 60),), "all"),
    **{name: machine(name) for name in TOOLS_OF_MACHINES},
    **{name: board(name) for name in boards()},
}

SIZES = {
    "quick": "about four minutes: both compilers, the boards microbit and mps2-an386, diagnostics, style",
    "": "what every change has to pass: about twenty minutes",
    "all": "for each night: every level, port, board, mutant, the coverage and the fuzzers",
}


def without_nightly(target):
    runs = (dataclasses.replace(run, nightly=()) for run in target.runs)
    return dataclasses.replace(target, runs=tuple(runs))


def of_size(size):
    """Returns {name: target} of the size quick, run or all."""
    if size == "quick":
        return {"quick": QUICK}
    if size == "run":
        return {name: without_nightly(target) for name, target in TARGETS.items() if target.size == "run"}
    return {name: target for name, target in TARGETS.items() if name != "one_answer"}  # every_flag includes it


def listing():
    lines = [f"./tests/run {name:<6} {what}" for name, what in SIZES.items()]
    for size, heading in (("run", "every change, and each night:"), ("all", "each night:")):
        lines += ["", heading, *(f"  {name:<12} {target.what}"
                                 for name, target in TARGETS.items() if target.size == size)]
    return "\n".join([*lines, "", "A target that is named runs as each night: with all shapes, headers and ports."])
