# SPDX-License-Identifier: MIT
"""Implements tests/run: configures builds of Meson, builds what some of their tests need, and runs these."""
import collections
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

from tests.support import targets, tools
from tests.support.processes import ROOT

CALLERS_FLAGS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MESON_TESTTHREADS", "NINJA_STATUS")
# A verdict of the Test Anything Protocol, with the comments that explain it. Other comments are of tables.
POINT = re.compile(r"^(not )?ok\b(.*)\n(?:#.*\n)*", re.MULTILINE)
SKIPPED = re.compile(r"# SKIP (.*)")
TABLE_LINE = re.compile(r"^# ?(.*)", re.MULTILINE)
RUNS = {"quick": "quick", "change": "change", "all": "night"}  # and the size of each


def as_typed(command):
    """Returns a command as it can be typed at the top of the tree."""
    return shlex.join(str(word).replace(f"{ROOT}/", "") for word in command)


class Run:
    """The tests of some suites in one build, and what comes out."""

    def __init__(self, build, suites):
        self.build, self.suites = build, suites
        self.passed = self.failed = self.seconds = 0
        self.again = []  # commands that show again what failed
        self.skipped = collections.Counter()  # {(test, reason): number of points}

    def call(self, *command, **streams):
        """Runs a command. Returns its exit status. Removes variables such as CXXFLAGS, which the user may have set."""
        environment = {name: value for name, value in os.environ.items() if name not in CALLERS_FLAGS}
        return subprocess.run([str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, check=False,
                              env={**environment, "CXX": self.build.compiler}, **streams)

    def must(self, command, **streams):
        """Runs a command, whose failure is one of the run. Returns whether it succeeded."""
        done = self.call(*command, **streams)
        if done.returncode != 0:
            print(done.stdout or "", end="")
            self.failed += 1
            self.again.append(as_typed(command))
        return done.returncode == 0

    def configure(self):
        """Configures the build, unless it is already configured by the same command."""
        setup = ["env", f"CXX={self.build.compiler}", *self.build.setup()]
        captured = {"text": True, "stdout": subprocess.PIPE}
        note = self.build.folder / "configured-by"
        if note.is_file() and note.read_text(encoding="utf-8") == as_typed(setup):
            return self.must(["ninja", "--quiet", "-C", self.build.folder, "build.ninja"], **captured)
        shutil.rmtree(self.build.folder, ignore_errors=True)
        is_done = self.must(setup, **captured)
        if is_done:
            note.write_text(as_typed(setup), encoding="utf-8")
        return is_done

    def described(self, what):
        """Returns what Meson says of the tests or the targets of the build."""
        return json.loads((self.build.folder / "meson-info" / f"intro-{what}.json").read_text(encoding="utf-8"))

    def tests(self):
        return [test for test in self.described("tests")
                if any(suite.partition(":")[2] in self.suites for suite in test["suite"])]

    def make(self):
        """Builds only what the tests need; Meson itself would build everything for tests that are scripts."""
        names = {target["id"]: target["filename"] for target in self.described("targets")}
        needed = {os.path.relpath(file, self.build.folder)
                  for test in self.tests() for target in test["depends"] for file in names[target]}
        quiet = [] if sys.stdout.isatty() else ["--quiet"]
        return not needed or self.must(["ninja", *quiet, "-C", self.build.folder, *sorted(needed)])

    def test(self):
        command = ["meson", "test", "-C", self.build.folder, *(f"--suite={suite}" for suite in self.suites)]
        log = self.build.folder / "meson-logs" / "run.json"
        log.unlink(missing_ok=True)
        self.call(*command, "--no-rebuild", "--quiet", "--print-errorlogs", "--logbase", log.stem)
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []:
            self.take(json.loads(line))

    def take(self, test):
        """Counts a test that Meson ran: each of its points, or itself if it prints none; and what it skipped. Prints
        tables of its output."""
        name, output = test["name"].rpartition(" / ")[2], test.get("stdout", "").rstrip() + "\n"
        points = list(POINT.finditer(output))
        is_skipped = test["result"] == "SKIP" and (points or test["returncode"] == 77)
        failed = sum(bool(point[1]) for point in points)
        self.passed += sum(not point[1] and "# SKIP" not in point[2] for point in points) or test["result"] == "OK"
        self.skipped.update((name, reason) for reason in (SKIPPED.findall(output) if points
                                                          else [output.strip()] * is_skipped))
        if failed or test["result"] != "OK" and not is_skipped:
            self.failed += failed or 1
            suites = [f"--suite={suite}" for suite in self.suites]
            self.again.append(as_typed(["meson", "test", "-C", self.build.folder, *suites, "--verbose", name]))
        elif table := TABLE_LINE.findall(POINT.sub("", output)):
            print("\n".join(table))

    def execute(self):
        print(f"-- {self.build.name}: {self.build.what}", flush=True)
        began = time.monotonic()
        if self.configure() and self.make():
            self.test()
            self.failed += not self.passed and not self.failed  # a run with no check in it fails
        self.seconds = round(time.monotonic() - began)

    def verdict(self):
        clock = f"{self.seconds // 60}:{self.seconds % 60:02}"
        skipped = [f"  {count} of {test} skipped: {reason}" for (test, reason), count in self.skipped.items()]
        return "\n".join([f"{self.build.name:<16}{self.passed:>6} passed{self.failed:>5} failed{clock:>8}", *skipped,
                          *(f"  again: {command}" for command in self.again)])


def of_size(size):
    """Returns the runs of a size, and the tools that they need."""
    suites = targets.SIZES[:targets.SIZES.index(size) + 1]
    builds = targets.up_to(size, targets.BUILDS).values()
    return [Run(build, suites) for build in builds], [tool for suite in targets.up_to(size, targets.SUITES).values()
                                                      for tool in suite.tools]


def of_name(name):
    """Returns the runs of a size, a build or a suite, and the tools that they need."""
    if name in RUNS:
        return of_size(RUNS[name])
    if name in targets.BUILDS:
        return [Run(targets.BUILDS[name], targets.SIZES)], []
    suite = targets.SUITES[name]
    return [Run(build, [name]) for build in suite.all_builds()], list(suite.tools)


def note(run, words):
    """Appends to build/ran.txt what ran, when, and at which commit, if there is git."""
    describe = ["env", "git", "describe", "--always", "--dirty"]  # env fails where git is missing
    commit = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True, check=False)
    with open(ROOT / "build" / "ran.txt", "a", encoding="utf-8") as file:
        print(time.strftime("%Y-%m-%d %H:%M"), commit.stdout.strip() or "no commit", " ".join(["run", *words]),
              run.verdict(), sep="  ", file=file)


def main(words):
    if words == ["--list"]:
        print(targets.listing())
        return 0
    dry_run = "--dry-run" in words
    words = [word for word in words if word != "--dry-run"]
    unknown = set(words) - {*RUNS, *targets.BUILDS, *targets.SUITES}
    if unknown:
        print(f"no such build or suite: {', '.join(unknown)}; there are:\n{targets.listing()}", file=sys.stderr)
        return 2
    runs, needed = (sum(lists, []) for lists in zip(*map(of_name, words or ["change"])))
    hint = [] if words else ["everything"]
    tools.bring(*dict.fromkeys(["build", *needed, *(run.build.tool for run in runs), *hint]), dry_run=dry_run)
    began = time.monotonic()
    for run in runs:
        run.execute()
        note(run, words)
    passed, failed = (sum(counts) for counts in zip(*((run.passed, run.failed) for run in runs)))
    print("", *(run.verdict() for run in runs), sep="\n")
    print(f"{passed} passed, {failed} failed in {(time.monotonic() - began) / 60:.1f} minutes")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
