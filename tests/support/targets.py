# SPDX-License-Identifier: MIT
"""The targets of tests/run: configures a build for each, lets Meson run the tests, and counts what they report."""
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

import tools

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARDS = ROOT / "ports" / "boards"
MACHINES = ROOT / "ports" / "machines"
DETAIL_LINES = 30


@dataclasses.dataclass
class Run:
    """Some suites of one build."""

    name: str
    build: str
    suites: list
    options: list = dataclasses.field(default_factory=list)
    compiler: str = "g++"
    builds: bool = True
    shows: bool = False  # the comments with which its tests begin: tables


@dataclasses.dataclass
class Target:
    what: str
    tools: list
    runs: list
    quick: bool = True  # a part of the run without arguments


def board(name):
    files = [BOARDS / name / "cross.ini", BOARDS / "cortex-m.ini"]
    options = [argument for file in files for argument in ("--cross-file", str(file))]
    core = re.search(r"^core = '(.*)'", files[0].read_text(encoding="utf-8"), re.MULTILINE)[1]
    return Target(f"unit tests, conformance and golden values on an emulated {core}", ["firmware"],
                  [Run(name, name, ["unit", "conformance", "golden", "headers"], options)])


def every_shape(name):
    """Of a board that leaves many shapes to another one with the same port."""
    run = board(name).runs[0]
    return dataclasses.replace(run, name=f"{name}, all", build=f"{name}-every-shape", suites=["unit"], options=[*run.options, "-Devery_shape=true"])


def machine(file):
    what = f"unit tests, conformance and golden values on an emulated {file.stem} with Linux"
    return Target(what, ["linux-arm"], [Run(file.stem, file.stem, ["unit", "conformance", "golden"], ["--cross-file", str(file)])], quick=False)


def targets():
    everywhere = ["unit", "conformance", "golden", "headers"]
    on_a_host = everywhere + ["refusals", "harness"]
    sanitize = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dcpp_args=-fno-sanitize-recover=all", "-Doptimization=0", "-Ddebug=true",
                "-Dexamples=disabled"]
    all_tools = ["gcc", "clang", "clang-19", "firmware", "linux-arm"]
    return {
        "host": Target(
            "on this machine, by GCC and by Clang: units, every port, golden values, refusals",
            ["gcc", "clang"],
            [Run("host, gcc", "gcc", on_a_host),
             Run("host, clang", "clang", on_a_host, compiler="clang++")]),
        "sanitizers": Target(
            "units, every port and golden values with sanitizers", ["clang"],
            [Run("sanitizers", "sanitizers", ["unit", "conformance", "golden"], sanitize,
                 "clang++")]),
        "consumers": Target(
            "small projects take the library: Meson, pkg-config, CMake, by hand",
            ["gcc", "consumers"], [Run("consumers", "gcc", ["consumers"], builds=False)]),
        "compiled": Target(
            "the compiled library: its ports, its interface in C, its flash",
            ["gcc", "clang", "firmware", "qemu-user"],
            [Run("compiled, gcc", "gcc", ["compiled"], shows=True),
             Run("compiled, clang", "clang", ["compiled"], compiler="clang++")]),
        "export": Target(
            "weights of PyTorch become headers", ["gcc", "clang"],
            [Run("export, gcc", "gcc", ["export"], builds=False),
             Run("export, clang", "clang", ["export"], compiler="clang++", builds=False)]),
        "footprint": Target(
            "what a layer takes of a firmware: flash, RAM, stack, symbols", ["gcc", "firmware"],
            [Run("footprint", "gcc", ["footprint"], builds=False, shows=True)]),
        "one_answer": Target(
            "the same bits from the compiler, every port and every board, in a table", all_tools,
            [Run("one answer", "gcc", ["one_answer"], builds=False, shows=True)]),
        "every_flag": Target(
            "that table with more columns", all_tools,
            [Run("every flag", "gcc", ["every_flag"], builds=False, shows=True)], quick=False),
        "arithmetic": Target(
            "exp and sqrt of every float, fma of 10^8 operands", ["gcc"],
            [Run("arithmetic", "gcc", ["arithmetic"], builds=False, shows=True)], quick=False),
        "faults": Target(
            "faults, planted one by one, that tests must catch", ["gcc", "firmware"],
            [Run("faults", "gcc", ["faults"], builds=False, shows=True)], quick=False),
        "coverage": Target(
            "which lines of the library its tests run", ["clang", "coverage"],
            [Run("coverage", "clang", ["coverage"], compiler="clang++", builds=False, shows=True)],
            quick=False),
        "style": Target(
            "clang-format and clang-tidy", ["clang", "style"],
            [Run("style", "clang", ["style"], compiler="clang++", builds=False)]),
        "every_shape": Target(
            "what the Cortex-M7 and the M33 leave to the M4F", ["firmware"],
            [every_shape(name) for name in ("mps2-an500", "mps2-an505")], quick=False),
        **{file.stem: machine(file) for file in sorted(MACHINES.glob("*.ini"))},
        **{folder.parent.name: board(folder.parent.name) for folder in sorted(BOARDS.glob("*/cross.ini"))},
    }


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    details: list = dataclasses.field(default_factory=list)
    tables: list = dataclasses.field(default_factory=list)

    def fail(self, title, text, count=1):
        self.failed += count
        self.details.append("\n".join([title] + ["    " + line for line in text.rstrip().splitlines()]))


def clean_environment(run):
    """What the caller has set for other builds must not reach ours."""
    flags = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MESON_TESTTHREADS")
    return {**{name: value for name, value in os.environ.items() if name not in flags}, "CXX": run.compiler}


def call(command, run):
    done = subprocess.run(command, env=clean_environment(run), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    return done.returncode, done.stdout


def configure(folder, run):
    """Configures the build unless it already is, in this very way. Returns what went wrong, or nothing."""
    command = ["meson", "setup", "-Dwerror=true", *run.options, str(folder), str(ROOT)]
    note = folder / "configured-by"
    line = shlex.join([run.compiler, *command])
    if note.is_file() and note.read_text() == line:
        status, output = call(["ninja", "-C", str(folder), "build.ninja"], run)  # a meson.build may have changed
        return output if status != 0 else ""
    shutil.rmtree(folder, ignore_errors=True)
    status, output = call(command, run)
    if status != 0:
        return output
    note.write_text(line)
    return ""


def first_lines(text):
    lines = text.splitlines()
    return "\n".join(lines[:DETAIL_LINES] + (["..."] if len(lines) > DETAIL_LINES else []))


def last_lines(text):
    return "\n".join(text.splitlines()[-DETAIL_LINES:])


def build_errors(output):
    """What each failed step of ninja said, without its command line; or the last that was said, if no step failed."""
    steps = re.split(r"^(?:\[\d+/\d+\] |ninja: ).*\n", output, flags=re.MULTILINE)
    failed = [step.split("\n", 2)[2] for step in steps if step.startswith("FAILED: ")]
    return [first_lines(step) for step in failed] or [last_lines(output)]


POINT = re.compile(r"^(not )?ok\b[^#\n]*(# *(?:skip|todo))?", re.MULTILINE | re.IGNORECASE)
FIRST_COMMENTS = re.compile(r"(?:#.*\n)*")
FAILED_POINT = re.compile(r"^not ok\b.*\n(?:#.*\n)*", re.MULTILINE)


def count_test(test, outcome):
    """Every point of a Test Anything Protocol counts as one test; a program without any, and one that broke off, as one itself."""
    title = f"{test['name']}: {test['result']}"
    text = test.get("stdout", "").rstrip() + "\n"
    points = [(bool(failed), bool(skipped)) for failed, skipped in POINT.findall(text)]
    failed, skipped = points.count((True, False)), any(skipped for _, skipped in points)
    outcome.passed += points.count((False, False)) if points else test["result"] == "OK"
    if failed:
        outcome.fail(title, first_lines("".join(FAILED_POINT.findall(text))), failed)
    elif test["result"] != "OK" and not (test["result"] == "SKIP" and skipped):
        outcome.fail(title, last_lines(text + test.get("stderr", "").strip()))


def build(folder, run, outcome):
    """Goes on after an error, since a check that fails in the compiler is one. Every step that fails counts."""
    status, output = call(["meson", "compile", "-C", str(folder), "--ninja-args=-k,0"], run)
    for error in build_errors(output) if status != 0 else []:
        outcome.fail(f"{run.name}: cannot be built", error)


def test(folder, run, outcome):
    log = folder / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    suites = [argument for suite in run.suites for argument in ("--suite", suite)]
    status, output = call(["meson", "test", "-C", str(folder), "--no-rebuild", *suites], run)
    for line in log.read_text(errors="replace").splitlines() if log.is_file() else []:
        finished = json.loads(line)
        count_test(finished, outcome)
        if run.shows:
            outcome.tables.append(re.sub("^# ?", "", FIRST_COMMENTS.match(finished.get("stdout", ""))[0], flags=re.MULTILINE).rstrip())
    if status != 0 and outcome.failed == 0:
        outcome.fail(f"{run.name}: meson test failed", last_lines(output))
    if outcome.passed + outcome.failed == 0:
        outcome.fail(f"{run.name}: nothing was checked", last_lines(output))


def execute(run):
    outcome = Outcome()
    folder = ROOT / "build" / run.build
    problem = configure(folder, run)
    if problem:
        outcome.fail(f"{run.name}: cannot be configured", last_lines(problem))
    if run.builds and not outcome.failed:
        build(folder, run, outcome)
    if not outcome.failed:
        test(folder, run, outcome)
    return outcome


def listed(known):
    return "\n".join(f"{name:<12} {target.what}{'' if target.quick else '; only when asked for'}"
                     for name, target in known.items())


def chosen(names, known):
    """The targets of these names, or all that are quick; nothing if there is no such target."""
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no such target: {', '.join(unknown)}; there are:\n{listed(known)}", file=sys.stderr)
        return []
    return [known[name] for name in names] or [target for target in known.values() if target.quick]


def main(names):
    known = targets()
    if names == ["--list"]:
        print(listed(known))
        return 0
    dry_run = names[:1] == ["--dry-run"]
    names = names[dry_run:]
    found = chosen(names, known)
    if not found:
        return 2
    needed = dict.fromkeys(tool for target in found for tool in target.tools)
    tools.bring("build", *needed, *([] if names else ["everything"]), dry_run=dry_run)
    return run_all(found)


def run_all(found):
    total = Outcome()
    for run in (run for target in found for run in target.runs):
        began = time.monotonic()
        outcome = execute(run)
        print(f"{run.name:<14}{outcome.passed:>6} passed{outcome.failed:>5} failed{time.monotonic() - began:>8.1f} s", flush=True)
        for detail in outcome.tables + outcome.details:
            print(detail, flush=True)
        total.passed += outcome.passed
        total.failed += outcome.failed
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
