# SPDX-License-Identifier: MIT
"""Implements tests/run: builds the targets by ninja, tests them by Meson, and shows progress and verdicts."""
import collections
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from ports import progress
from tests.support import targets, tools
from tests.support.processes import ROOT

TIMES = ROOT / "build" / "times.json"
DETAIL_LINES = 30
LINES_BEFORE_ERROR = 5
CALLERS_FLAGS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MESON_TESTTHREADS", "NINJA_STATUS")
# A verdict of the Test Anything Protocol, with the comments that explain it. Other comments are of tables.
POINT = re.compile(r"^(not )?ok\b(.*)\n(?:#.*\n)*", re.MULTILINE)
SKIPPED = re.compile(r"# SKIP (.*)")
TABLE_LINE = re.compile(r"^# ?(.*)", re.MULTILINE)
LANES = 2  # builds that run at once: the end of each, and Meson itself, use only one core


def as_typed(command):
    """Returns a command as it can be typed at the top of the tree."""
    return shlex.join(str(word).replace(f"{ROOT}/", "") for word in command)


def last_lines(text):
    return "\n".join(text.splitlines()[-DETAIL_LINES:])


def first_error(text):
    """Returns of a failed build the line that says what failed, and what follows from some lines
    before the first error on: the linker's error is its last line. A page of warnings may be left
    out."""
    what, *lines = (text[max(text.find("FAILED: "), 0):] or "no output").splitlines()
    first = next((number for number, line in enumerate(lines) if "error:" in line), 0)
    return "\n".join([what, *lines[max(first - LINES_BEFORE_ERROR, 0):]])


def verdict(name, passed, failed, seconds):
    return f"{name:<24}{passed:>6} passed{failed:>5} failed{progress.clock(seconds):>8}"


class Run:
    """The suites of a target in one build, and what comes out."""

    def __init__(self, name, build, suites):
        self.name, self.build, self.suites = name, build, suites
        self.passed = self.failed = self.seconds = 0
        self.skipped = collections.Counter()  # {(test, reason): number of points}
        self.shown = None  # the Progress of all runs

    def key(self):
        return f"{self.name}: {' '.join(self.suites)}"

    def fail(self, title, text, command, count=1):
        """Counts a failure and prints it, with the command that shows it again."""
        lines = text.strip().splitlines()
        lines[DETAIL_LINES:] = ["..."] * (len(lines) > DETAIL_LINES)
        self.failed += count
        self.shown.print("\n    ".join([f"{self.name}: {title}", *lines]) + f"\n  again: {as_typed(command)}")

    def call(self, command, doing, tests=()):
        """Runs a command and shows its progress. Returns exit status and output. Removes variables such as CXXFLAGS,
        which the user may have set for other builds. Of the tests, which Meson begins in this order,
        it shows the first that has not ended: that one runs."""
        environment = {variable: value for variable, value in os.environ.items() if variable not in CALLERS_FLAGS}
        process = subprocess.Popen(
            [str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
            env={**environment, "CXX": self.build.compiler})
        output, left = [], list(tests)
        self.shown.say(self.name, " ".join([doing, *left[:1]]))
        for line in process.stdout:
            output.append(line)
            left = [test for test in left if f" / {test} " not in line]
            self.shown.count(self.name, f"{doing} {left[0]}:" if left else doing, line)
        return process.wait(), "".join(output)

    def configure(self):
        """Configures the build from scratch, unless it is already configured by the same command."""
        setup = ["env", f"CXX={self.build.compiler}", *self.build.setup()]
        note = self.build.folder / "configured-by"
        as_before = note.is_file() and note.read_text(encoding="utf-8") == as_typed(setup)
        if not as_before:
            shutil.rmtree(self.build.folder, ignore_errors=True)
        # Meson reconfigures a build if a meson.build has changed.
        command = ["ninja", "-C", self.build.folder, "build.ninja"] if as_before else setup
        status, output = self.call(command, "configuring")
        if status == 0:
            note.write_text(as_typed(setup), encoding="utf-8")
        else:
            self.fail("cannot be configured", last_lines(output), setup)

    def described(self, what):
        """Returns what Meson says of the tests or the targets of the build."""
        return json.loads((self.build.folder / "meson-info" / f"intro-{what}.json").read_text(encoding="utf-8"))

    def tests(self):
        """Returns the tests of the suites, in the order in which Meson begins them."""
        return [test for test in self.described("tests")
                if any(suite.partition(":")[2] in self.suites for suite in test["suite"])]

    def make(self):
        """Builds only what the tests need; Meson itself would build everything for tests that are scripts."""
        names = {target["id"]: target["filename"] for target in self.described("targets")}
        needed = {os.path.relpath(file, self.build.folder)
                  for test in self.tests() for target in test["depends"] for file in names[target]}
        command = ["ninja", "-C", self.build.folder, *sorted(needed)]
        status, output = self.call(command, "building") if needed else (0, "")
        if status != 0:
            self.fail("cannot be built", first_error(output), command)

    def test(self):
        command = ["meson", "test", "-C", self.build.folder, *(f"--suite={suite}" for suite in self.suites)]
        log = self.build.folder / "meson-logs" / f"{self.suites[0]}.json"
        log.unlink(missing_ok=True)
        status, output = self.call([*command, "--no-rebuild", "--logbase", log.stem], "testing",
                                   [test["name"] for test in self.tests()])
        if log.is_file():
            for test in log.read_text(encoding="utf-8", errors="replace").splitlines():
                self.take(json.loads(test), command)
        if not self.failed and (status != 0 or not self.passed):
            self.fail("meson test failed" if status else "nothing was checked", last_lines(output), command)

    def take(self, test, command):
        """Counts a test that Meson ran: each of its points, or itself if it prints none or broke off;
        and what it skipped. Prints tables of its output."""
        name, result = test["name"].rpartition(" / ")[2], test["result"]
        output = test.get("stdout", "").rstrip() + "\n"
        points = list(POINT.finditer(output))
        failed = [point[0] for point in points if point[1]]
        is_skipped = result == "SKIP" and (points or test["returncode"] == 77)
        self.passed += len([point for point in points if not point[1] and "# SKIP" not in point[2]]) or result == "OK"
        reasons = SKIPPED.findall(output) if points else [output.strip()] * is_skipped
        self.skipped.update((name, reason) for reason in reasons)
        if failed:
            self.fail(f"{name} failed", "".join(failed), [*command, "--verbose", name], len(failed))
        elif result != "OK" and not is_skipped:
            self.fail(f"{name}: {result}", last_lines(output + test.get("stderr", "")), [*command, "--verbose", name])
        if table := TABLE_LINE.findall(POINT.sub("", output)):
            self.shown.print("\n".join(table))

    def execute(self):
        self.shown.start(self.name)
        for step in (self.configure, self.make, self.test):
            if not self.failed:
                step()
        self.seconds = self.shown.finish(self.name)
        self.shown.print(verdict(self.name, self.passed, self.failed, self.seconds))


def execute_all(runs):
    """Executes runs, those of one build after each other. Returns the seconds that they took."""
    times = json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.is_file() else {}
    lanes = {}
    for run in runs:
        lanes.setdefault(run.build.name, []).append(run)
    lengths = [sum(times.get(run.key(), 1) for run in lane) for lane in lanes.values()]
    shown = progress.Progress({run.name: times.get(run.key()) for run in runs},
                              max(1 / LANES, max(lengths) / sum(lengths)))
    for run in runs:
        run.shown = shown
    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        list(pool.map(lambda lane: [run.execute() for run in lane], lanes.values()))
    shown.end()
    times |= {run.key(): round(run.seconds) for run in runs if not run.failed}
    TIMES.write_text(json.dumps(times, indent=1), encoding="utf-8")
    return time.monotonic() - shown.began


def choose(words):
    """Returns {name: target} of the targets that the words name; empty, after a message, if one does not exist."""
    if not words or words in (["quick"], ["all"]):
        return targets.of_size(words[0] if words else "run")
    unknown = [word for word in words if word not in targets.TARGETS]
    if unknown:
        print(f"no such target: {', '.join(unknown)}; there are:\n{targets.listing()}", file=sys.stderr)
        return {}
    return {name: targets.TARGETS[name] for name in words}


def runs_of(name, target):
    """Returns the runs of a target. If it has several, the build is part of their names."""
    builds = target.all_builds()
    return [Run(name if len(builds) == 1 else f"{name}, {build.name}", build, (*target.suites, *target.nightly))
            for build in builds]


def stop(*_):
    """Stops this program and all that it has started, on Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    print()
    os._exit(130)


def main(words):
    if words == ["--list"]:
        print(targets.listing())
        return 0
    dry_run = words[:1] == ["--dry-run"]
    words = words[dry_run:]
    chosen = choose(words)
    if not chosen:
        return 2
    needed_tools = dict.fromkeys(tool for target in chosen.values() for tool in target.all_tools())
    tools.bring("build", *needed_tools, *([] if words else ["everything"]), dry_run=dry_run)
    TIMES.parent.mkdir(exist_ok=True)
    signal.signal(signal.SIGINT, stop)
    runs = [run for name, target in chosen.items() for run in runs_of(name, target)]
    seconds = execute_all(runs)
    passed, failed = (sum(counts) for counts in zip(*((run.passed, run.failed) for run in runs)))
    print("\n".join(verdict(run.name, run.passed, run.failed, run.seconds) for run in runs))
    for run in runs:
        for (test, reason), count in run.skipped.items():
            print(f"{run.name}: {count} of {test} skipped: {reason}")
    print(f"{verdict('in all, two at a time', passed, failed, seconds)}\n{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
