# SPDX-License-Identifier: MIT
"""Implements tests/run: configures the builds of the targets, builds and tests them by ninja and Meson, and shows
progress and verdicts."""
import concurrent.futures
import dataclasses
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

from ports import progress
from tests.support import targets, tools
from tests.support.processes import ROOT

TIMES = ROOT / "build" / "times.json"
DETAIL_LINES = 30
MOST_DETAILS = 6  # of one run: an error in a header makes every program fail
CALLERS_FLAGS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MESON_TESTTHREADS", "NINJA_STATUS")
TESTS_VARIABLES = ("PYTHONPATH", "TINYATTN_PORT")  # environment variables that tests need
FAILED_POINT = re.compile(r"^not ok\b.*\n(?:#.*\n)*", re.MULTILINE)
# A failed step of ninja. Groups: its command, and the output of that.
FAILED_STEP = re.compile(r"^FAILED: (?:\[code=\d+\] )?\S+.*\n(.*)\n((?:(?!\[\d+/\d+\]|FAILED: |ninja: ).*\n)*)",
                         re.MULTILINE)
FIRST_COMMENTS = re.compile(r"(?:#.*\n)*")
LANES = 2  # builds that run at once: the end of each, and Meson itself, use only one core


@dataclasses.dataclass
class Outcome:
    name: str
    passed: int = 0
    failed: int = 0
    seconds: float = 0
    details: list = dataclasses.field(default_factory=list)

    def fail(self, title, text, command, count=1):
        """Notes a failure, and the command that shows it again."""
        lines = text.strip().splitlines()
        shown = lines[:DETAIL_LINES] + ["..."] * (len(lines) > DETAIL_LINES)
        self.failed += count
        self.details.append("\n".join([f"{self.name}: {title}", *(f"    {line}" for line in shown),
                                       f"  again: {command}"]))

    def line(self):
        return f"{self.name:<24}{self.passed:>6} passed{self.failed:>5} failed{progress.clock(self.seconds):>8}"


def as_typed(command):
    """Returns a command as it can be typed at the top of the tree."""
    words = (os.path.normpath(word) if "/../" in word else word for word in map(str, command))
    return shlex.join(word.replace(f"{ROOT}/", "").replace(sys.executable, "python3") for word in words)


def last_lines(text):
    return "\n".join(text.splitlines()[-DETAIL_LINES:])


class Session:
    """One call of tests/run."""

    def __init__(self, runs):
        self.runs = runs  # {name: Run}
        self.times = json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.is_file() else {}
        # {build: names of its runs}, which must run one after another. Runs that come last are not in it.
        self.lanes = {}
        for name, run in runs.items():
            if not run.last:
                self.lanes.setdefault(run.build.name, []).append(name)
        expected = {name: self.times.get(self.key(name), run.seconds) for name, run in runs.items()}
        longest_lane = max(sum(map(expected.get, names)) for names in self.lanes.values())
        self.progress = progress.Progress(expected, max(1 / LANES, longest_lane / sum(expected.values())))

    def key(self, name):
        return f"{name}: {' '.join(self.runs[name].all_suites())}"

    def call(self, command, name, doing):
        """Runs a command of a run and shows its progress. Returns exit status and output. Removes variables such as
        CXXFLAGS, which the user may have set for other builds."""
        environment = {variable: value for variable, value in os.environ.items() if variable not in CALLERS_FLAGS}
        process = subprocess.Popen(
            [str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8", errors="replace", env={**environment, "CXX": self.runs[name].build.compiler})
        output = []
        self.progress.say(name, doing)
        for line in process.stdout:
            output.append(line)
            self.progress.count(name, doing, line)
        return process.wait(), "".join(output)

    def configure(self, name, outcome):
        """Configures the build of a run from scratch, unless it is already configured by the same command."""
        build = self.runs[name].build
        note, line = build.folder / "configured-by", f"{build.compiler} {as_typed(build.setup())}"
        as_before = note.is_file() and note.read_text(encoding="utf-8") == line
        if not as_before:
            shutil.rmtree(build.folder, ignore_errors=True)
        # Meson reconfigures a build if a meson.build has changed.
        command = ["ninja", "-C", build.folder, "build.ninja"] if as_before else build.setup()
        status, output = self.call(command, name, "configuring")
        if status == 0:
            note.write_text(line, encoding="utf-8")
        else:
            outcome.fail("cannot be configured", last_lines(output), f"CXX={line}")

    def build(self, name, outcome):
        """Builds only what the tests of a run need; Meson itself would build everything for tests that are scripts.
        Continues after an error, so that all errors are found."""
        folder = self.runs[name].build.folder
        files = needed_files(folder, self.runs[name].all_suites())
        command = ["ninja", "-C", folder, "-k", "0", *files]
        status, output = self.call(command, name, "building") if files else (0, "")
        steps = FAILED_STEP.findall(output)
        for compiler, errors in steps:
            outcome.fail("does not compile", errors, f"cd {as_typed([folder])} && {compiler}")
        if status != 0 and not steps:
            outcome.fail("cannot be built", last_lines(output), as_typed(command))

    def test(self, name, outcome):
        run, (log, points) = self.runs[name], self.logs(name)
        suites = [f"--suite={suite}" for suite in run.all_suites()]
        command = ["meson", "test", "-C", run.build.folder, "--no-rebuild", "--logbase", log.stem, *suites]
        status, output = self.call(command, name, "testing")
        verdicts = read_points(points)
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []:
            test = json.loads(line)
            count(test, verdicts.get(test["name"], []), outcome)
            table = FIRST_COMMENTS.match(test.get("stdout", ""))[0] if run.shows else ""
            if table:
                self.progress.print(re.sub("^# ?", "", table, flags=re.MULTILINE).rstrip())
        if not outcome.failed and (status != 0 or not outcome.passed):
            outcome.fail("meson test failed" if status else "nothing was checked", last_lines(output),
                         as_typed(command))

    def logs(self, name):
        """Returns the paths of Meson's logs of a run."""
        run = self.runs[name]
        return [run.build.folder / "meson-logs" / f"{run.suites[0]}.{kind}" for kind in ("json", "junit.xml")]

    def execute(self, name):
        self.progress.start(name)
        outcome = Outcome(name)
        for log in self.logs(name):
            log.unlink(missing_ok=True)
        for step in (self.configure, self.build, self.test):
            if not outcome.failed:
                step(name, outcome)
        outcome.seconds = self.progress.finish(name)
        if not outcome.failed:
            self.times[self.key(name)] = round(outcome.seconds)
        self.progress.print("\n".join([outcome.line(), *outcome.details[:MOST_DETAILS]]))
        if len(outcome.details) > MOST_DETAILS:
            self.progress.print(f"{name}: {len(outcome.details) - MOST_DETAILS} more")
        return outcome

    def execute_all(self):
        """Executes all runs. Returns their outcomes, in the order of the runs."""
        with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
            lanes = pool.map(lambda names: [self.execute(name) for name in names], self.lanes.values())
            outcomes = {outcome.name: outcome for lane in lanes for outcome in lane}
        outcomes |= {name: self.execute(name) for name, run in self.runs.items() if run.last}
        self.progress.end()
        TIMES.write_text(json.dumps(self.times, indent=1), encoding="utf-8")
        return [outcomes[name] for name in self.runs]


def needed_files(folder, suites):
    """Returns the files that tests of these suites need, by Meson's introspection."""
    info = folder / "meson-info"
    tests, files = (json.loads((info / f"intro-{what}.json").read_text(encoding="utf-8"))
                    for what in ("tests", "targets"))
    names = {target["id"]: target["filename"] for target in files}
    wanted = [test for test in tests if any(suite.partition(":")[2] in suites for suite in test["suite"])]
    return sorted({os.path.relpath(file, folder) for test in wanted for id in test["depends"] for file in names[id]})


def read_points(junit):
    """Returns Meson's verdict on each point of each test that prints the Test Anything Protocol: {test: [tag of each
    point]}, where the tag is passed, failure, error or skipped."""
    if not junit.is_file():
        return {}
    verdicts = {}
    for suite in xml.etree.ElementTree.parse(junit).getroot():
        cases = [next((child.tag for child in case if child.tag != "system-out"), "passed")
                 for case in suite.iter("testcase")]
        verdicts[suite.get("name").partition(".")[2]] = cases
    return verdicts


def count(test, points, outcome):
    """Adds the result of a test to an outcome. Each point counts as one test. A program that prints none, or that broke
    off, counts as one."""
    name, result = test["name"].rpartition(" / ")[2], test["result"]
    variables = (f"{variable}={value}" for variable, value in test["env"].items() if variable in TESTS_VARIABLES)
    command = as_typed([*variables, *test["command"]])
    failed, skipped = (sum(point in tags for point in points) for tags in (("failure", "error"), ("skipped",)))
    outcome.passed += points.count("passed") if points else result == "OK"
    output = test.get("stdout", "").rstrip() + "\n"
    if failed:
        outcome.fail(f"{name} failed", "".join(FAILED_POINT.findall(output)), command, failed)
    elif result != "OK" and not (result == "SKIP" and (skipped or test["returncode"] == 77)):
        outcome.fail(f"{name}: {result}", last_lines(output + test.get("stderr", "").strip()), command)


def choose(words):
    """Returns {name: target} of the targets that the words name; empty, after a message, if one does not exist."""
    if not words or words in (["quick"], ["all"]):
        return targets.of_size(words[0] if words else "run")
    unknown = [word for word in words if word not in targets.TARGETS]
    if unknown:
        print(f"no such target: {', '.join(unknown)}; there are:\n{targets.listing()}", file=sys.stderr)
        return {}
    return {name: targets.TARGETS[name] for name in words}


def runs_of(chosen):
    """Returns {name: Run}. If a target has several runs, the title or the build is part of their names."""
    return {name if len(target.runs) == 1 else f"{name}, {run.title or run.build.name}": run
            for name, target in chosen.items() for run in target.runs}


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
    needed_tools = dict.fromkeys(tool for target in chosen.values() for tool in target.tools)
    tools.bring("build", *needed_tools, *([] if words else ["everything"]), dry_run=dry_run)
    TIMES.parent.mkdir(exist_ok=True)
    began = time.monotonic()
    signal.signal(signal.SIGINT, stop)
    outcomes = Session(runs_of(chosen)).execute_all()
    passed, failed = (sum(getattr(outcome, what) for outcome in outcomes) for what in ("passed", "failed"))
    in_all = Outcome("in all, two at a time", passed, failed, time.monotonic() - began)
    print("\n".join(outcome.line() for outcome in [*outcomes, in_all]))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
