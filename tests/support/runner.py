# SPDX-License-Identifier: MIT
"""tests/run: configures a build for each target, lets Meson build and test it, and shows its verdicts and how far it is."""
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import progress
import targets
import tools

ROOT = targets.ROOT
BUILD = ROOT / "build"
TIMES = BUILD / "times.json"
DETAIL_LINES = 30
CALLERS_FLAGS = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MESON_TESTTHREADS")
STEP = re.compile(r"^\s*\[?(\d+)/(\d+)\b")
FAILED_STEP = re.compile(r"^FAILED: .*\n(.*)\n((?:(?!\[\d+/\d+\]|FAILED: |ninja: ).*\n)*)", re.MULTILINE)
FAILED_POINT = re.compile(r"^not ok\b.*\n(?:#.*\n)*", re.MULTILINE)
FIRST_COMMENTS = re.compile(r"(?:#.*\n)*")


@dataclasses.dataclass
class Outcome:
    name: str
    passed: int = 0
    failed: int = 0
    seconds: float = 0
    details: list = dataclasses.field(default_factory=list)

    def fail(self, title, text, command, count=1):
        """The command shows the failure again."""
        lines = text.strip().splitlines()
        shown = lines[:DETAIL_LINES] + ["..."] * (len(lines) > DETAIL_LINES)
        self.failed += count
        self.details.append("\n".join([f"{self.name}: {title}", *(f"    {line}" for line in shown), f"  again: {command}"]))


def typed(command):
    """A command as it is typed at the top of the tree."""
    words = (os.path.normpath(word) if "/../" in word else word for word in map(str, command))
    return shlex.join(word.replace(f"{ROOT}/", "").replace(sys.executable, "python3") for word in words)


def last_lines(text):
    return "\n".join(text.splitlines()[-DETAIL_LINES:])


class Session:
    """One call of tests/run."""

    def __init__(self, runs):
        self.runs = runs  # {name: Run}
        noted = json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.is_file() else {}
        self.times = noted
        self.progress = progress.Progress({name: noted.get(name, run.seconds) for name, run in runs.items()})

    def call(self, command, build, doing):
        """Status and what was said; shows how many steps of it are done. What the caller has set for other builds does not reach ours."""
        environment = {name: value for name, value in os.environ.items() if name not in CALLERS_FLAGS}
        process = subprocess.Popen([str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", env={**environment, "CXX": build.compiler})
        said = []
        self.progress.say(doing)
        for line in process.stdout:
            said.append(line)
            if step := STEP.match(line):
                self.progress.say(f"{doing} {step[1]} of {step[2]}")
        return process.wait(), "".join(said)

    def configure(self, folder, build):
        """Unless it already is, in this very way. Returns what went wrong, or nothing."""
        command = ["meson", "setup", "-Dwerror=true", *build.options, folder, ROOT]
        note, line = folder / "configured-by", f"{build.compiler} {typed(command)}"
        self.progress.say("configuring")
        if note.is_file() and note.read_text(encoding="utf-8") == line:
            status, said = self.call(["ninja", "-C", folder, "build.ninja"], build, "configuring")  # a meson.build may have changed
            return said if status != 0 else ""
        shutil.rmtree(folder, ignore_errors=True)
        status, said = self.call(command, build, "configuring")
        if status != 0:
            return said
        note.write_text(line, encoding="utf-8")
        return ""

    def build(self, folder, run, outcome):
        """What the tests of the suites need. Goes on after an error, since a check that fails in the compiler is one."""
        files = needed(folder, run.suites + run.nightly)
        if not files:
            return
        command = ["ninja", "-C", folder, "-k", "0", *files]
        status, said = self.call(command, run.build, "building")
        steps = FAILED_STEP.findall(said)
        for compiler, errors in steps:
            outcome.fail("does not compile", errors, f"cd {typed([folder])} && {compiler}")
        if status != 0 and not steps:
            outcome.fail("cannot be built", last_lines(said), typed(command))

    def test(self, folder, run, outcome):
        log, points = folder / "meson-logs" / "testlog.json", folder / "meson-logs" / "testlog.junit.xml"
        for file in (log, points):
            file.unlink(missing_ok=True)
        suites = [f"--suite={suite}" for suite in run.suites + run.nightly]
        command = ["meson", "test", "-C", folder, "--no-rebuild", *suites]
        status, said = self.call(command, run.build, "testing")
        verdicts = read_points(points)
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []:
            test = json.loads(line)
            count(test, verdicts.get(test["name"], []), outcome)
            table = FIRST_COMMENTS.match(test.get("stdout", ""))[0] if run.shows else ""
            if table:
                self.progress.print(re.sub("^# ?", "", table, flags=re.MULTILINE).rstrip())
        if status != 0 and not outcome.failed:
            outcome.fail("meson test failed", last_lines(said), typed(command))
        if not outcome.passed + outcome.failed:
            outcome.fail("nothing was checked", last_lines(said), typed(command))

    def execute(self, name, run):
        self.progress.start(name)
        outcome, folder = Outcome(name), BUILD / run.build.name
        problem = self.configure(folder, run.build)
        if problem:
            outcome.fail("cannot be configured", last_lines(problem), f"meson setup {typed(['--wipe', folder])}")
        else:
            self.build(folder, run, outcome)
        if not outcome.failed:
            self.test(folder, run, outcome)
        outcome.seconds = self.progress.finish()
        self.times[name] = round(outcome.seconds)
        self.progress.print(line_of(outcome))
        for detail in outcome.details:
            self.progress.print(detail)
        return outcome

    def execute_all(self):
        outcomes = [self.execute(name, run) for name, run in self.runs.items()]
        self.progress.end()
        TIMES.write_text(json.dumps(self.times, indent=1), encoding="utf-8")
        return outcomes


def needed(folder, suites):
    """The files that tests of these suites need, as Meson knows them."""
    info = folder / "meson-info"
    tests, files = (json.loads((info / f"intro-{what}.json").read_text(encoding="utf-8")) for what in ("tests", "targets"))
    names = {target["id"]: target["filename"] for target in files}
    wanted = [test for test in tests if any(suite.partition(":")[2] in suites for suite in test["suite"])]
    return sorted({os.path.relpath(file, folder) for test in wanted for id in test["depends"] for file in names[id]})


def read_points(junit):
    """Meson's verdict on each point of each test that speaks the Test Anything Protocol: {test: [passed, failed or skipped]}"""
    if not junit.is_file():
        return {}
    verdicts = {}
    for suite in xml.etree.ElementTree.parse(junit).getroot():
        cases = [next((child.tag for child in case if child.tag != "system-out"), "passed") for case in suite.iter("testcase")]
        verdicts[suite.get("name").partition(".")[2]] = cases
    return verdicts


def count(test, points, outcome):
    """Every point counts as one test; a program without any, and one that broke off, as one itself."""
    name, result, command = test["name"].rpartition(" / ")[2], test["result"], typed(test["command"])
    failed, skipped = (sum(point in tags for point in points) for tags in (("failure", "error"), ("skipped",)))
    outcome.passed += points.count("passed") if points else result == "OK"
    said = test.get("stdout", "").rstrip() + "\n"
    if failed:
        outcome.fail(f"{name} failed", "".join(FAILED_POINT.findall(said)), command, failed)
    elif result != "OK" and not (result == "SKIP" and (skipped or test["returncode"] == 77)):
        outcome.fail(f"{name}: {result}", last_lines(said + test.get("stderr", "").strip()), command)


def line_of(outcome):
    return f"{outcome.name:<20}{outcome.passed:>6} passed{outcome.failed:>5} failed{progress.clock(outcome.seconds):>8}"


def chosen(words):
    """{name: target} that the words ask for; nothing if there is no such target."""
    if not words or words in (["quick"], ["all"]):
        return targets.of_size(words[0] if words else "run")
    unknown = [word for word in words if word not in targets.TARGETS]
    if unknown:
        print(f"no such target: {', '.join(unknown)}; there are:\n{targets.listed()}", file=sys.stderr)
        return {}
    return {name: targets.TARGETS[name] for name in words}


def runs_of(found):
    """{name: Run}; of several in a target each has the name of its build, too."""
    return {name if len(target.runs) == 1 else f"{name}, {run.build.name}": run for name, target in found.items() for run in target.runs}


def main(words):
    if words == ["--list"]:
        print(targets.listed())
        return 0
    dry_run = words[:1] == ["--dry-run"]
    words = words[dry_run:]
    found = chosen(words)
    if not found:
        return 2
    needed_tools = dict.fromkeys(tool for target in found.values() for tool in target.tools)
    tools.bring("build", *needed_tools, *([] if words else ["everything"]), dry_run=dry_run)
    BUILD.mkdir(exist_ok=True)
    outcomes = Session(runs_of(found)).execute_all()
    print("\n".join(map(line_of, outcomes)))
    passed, failed = (sum(getattr(outcome, what) for outcome in outcomes) for what in ("passed", "failed"))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
