# SPDX-License-Identifier: MIT
"""Tests the usage of tests/run, examples/run and tests/bench, what they would install, as which
user, and what they show. Scripts here play `sudo`, `apt-get` and the commands that tell the user."""
import itertools
import os
import pathlib
import re
import shlex
import shutil
import tempfile
from unittest import mock

from tests.speed import counting, rows
from tests.support import runner, tap, targets, tools
from tests.support.processes import ROOT, attempt, call

# Scripts that PATH finds before this machine's commands. Clang is there, but not its run-time library. Two of them
# write their calls to the file CALLS. As the real ones do, sudo closes descriptors, and apt-get closes its progress
# descriptor before it installs.
PLAYED = {
    "id": "echo 1000",
    "stat": "echo 1000",
    "find": "true",
    "clang++": "false",
    "sudo": 'echo "sudo $*" >>"$CALLS"; case $1 in -n) exit 1 ;; -*) ;; *) "$@" 3>&- ;; esac',
    "apt-get": 'echo "apt-get $*" >>"$CALLS"; echo "0 upgraded, 12 newly installed, 0 to remove.\n'
               'Need to get 34.5 MB of archives.\n'
               'After this operation, 123 MB of additional disk space will be used."; '
               'progress=$(expr "$*" : ".*Status-Fd=\\(.\\)") || exit 0; '
               'eval "echo pmstatus:clang:40.5:Unpacking clang >&$progress; exec $progress>&-"; '
               'sleep 1; echo "Setting up clang ..."',
}
# An apt-get that fails, with many lines before and after the error
FAILS = ('echo "E: Can not write log (Is /dev/pts mounted?)"; seq 40; echo "tar: no space left\n'
         'dpkg: error processing clang"; seq 40000; echo "E: dpkg"; exit 100')


def prints(command, status, pattern):
    found, output = attempt(command.split())
    return "" if found == status and re.search(pattern, output, re.DOTALL | re.MULTILINE) else f"{found} {output}"


def more_for_more(*commands):
    """Checks that each command needs all that the one before it needs, and more."""
    needs = [set(re.match(r"needs +(.+)\nmissing +\S", call(command.split()))[1].split()) for command in commands]
    return "" if "meson" in needs[0] and all(less < more for less, more in itertools.pairwise(needs)) else str(needs)


def plays(played, command, status, pattern, calls_pattern):
    """Checks the exit status of a command, and that its output and the noted calls match patterns;
    the names of the logs that it keeps follow the calls. `played`: more scripts, for example to
    pretend that there is a terminal."""
    with tempfile.TemporaryDirectory() as folder:
        for tool, script in (PLAYED | played).items():
            file = pathlib.Path(folder, tool)
            file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            file.chmod(0o755)
        calls = pathlib.Path(folder, "calls.txt")
        calls.touch()
        way = ["script", "-qec", command, os.devnull] if "terminal" in played else ["setsid", "-w", *command.split()]
        found = attempt(way, PATH=f"{folder}:{os.environ['PATH']}", CALLS=str(calls), TMPDIR=folder, SUDO_UID="1000")
        noted = calls.read_text(encoding="utf-8") + "".join(log.name for log in pathlib.Path(folder).glob("*.log"))
    holds = found[0] == status and re.search(pattern, found[1]) and re.fullmatch(calls_pattern, noted, re.DOTALL)
    return "" if holds else f"{found}{noted}"


def benchmark_compiles():
    """Checks that rows compile: of each kind, which has its own macros, the first."""
    kinds = {}
    for flags in map(rows.flags, rows.CORES):
        kinds.setdefault(frozenset(flag.partition("=")[0] for flag in flags), flags)
    command = ["g++", "-std=c++20", "-fsyntax-only", "-Iinclude", "-Iports/simd", "-Iports/boards", "-Itests"]
    found = [attempt([*command, *flags, "tests/speed/programs/tinyattn.cpp"]) for flags in kinds.values()]
    return "".join(output for status, output in found if status != 0) if len(found) > 5 else str(kinds)


def fails_above_limits():
    """Checks what of figures of the bench is above a limit: at -O2, by GCC, of a range the lower bound."""
    ratios = {"M4F": [1.02], "M7": [1.01, 1.02], "M55 Helium, clang": [1.2], "M4F, CMSIS-NN": [1.02], "AArch64": [1.03]}
    samples = {("module 1", title, whose): its for title, its in ratios.items() for whose in ("ours", "beside")}
    found = [counting.above(what, level, samples)
             for what, level in (("cycles", "2"), ("instructions", "2"), ("cycles", "s"))]
    right = [["module 1 on M4F takes 1.02 of 1.01"], ["module 1 on AArch64 takes 1.03 of 1.01"], []]
    return "" if found == right else str(found)


def tests_under_sudo():
    with mock.patch.multiple(os, execvp=mock.DEFAULT, geteuid=lambda: 0) as patched, \
         mock.patch.dict(os.environ, SUDO_UID="1000"), mock.patch.object(tools, "ROOT") as clone:
        clone.stat.return_value.st_uid = 1000
        tools.become_the_user()
    words = patched["execvp"].call_args.args[1]
    return "" if words[:4] == ["sudo", "-u", "#1000", "--"] else str(words)


def says_what_is_skipped():
    run = runner.Run(targets.BUILDS["gcc"], ("style",))
    points = "ok 1 - a # SKIP no a\nok 2 - b\nok 3 - c # SKIP no a\n"
    run.take({"name": "style / tidy", "result": "SKIP", "returncode": 77, "stdout": "no tidy\n"})
    run.take({"name": "unit / mask", "result": "OK", "stdout": points})
    found = dict(run.skipped), run.passed, run.failed
    return "" if found == ({("tidy", "no tidy"): 1, ("mask", "no a"): 2}, 1, 0) else str(found)


def calls_on_pages(script):
    """Returns how pages call a script, without clones of others, which it would look for, and NAMES that stand for others."""
    pages = (page for page in ROOT.rglob("*.md") if "build" not in page.relative_to(ROOT).parts)
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    calls = re.findall(rf"(?:^ *|`)(?:\./)?{script}((?: ('.*?'|[^ `\n#&]+))*)", text, re.MULTILINE)
    return sorted({re.sub(r" --\S+ \.\./\S+| \[?[A-Z]+\b\S*", "", call) for call, _ in calls})


def takes_what_pages_type(script):
    calls = calls_on_pages(script)
    calls = [" ".join(calls)] if script == "tests/run" else calls  # it takes many names, and each call half a second
    option, said = ("--list", "\n") if script.endswith("/make") else ("--dry-run", "needs")
    found = [attempt([script, option, *shlex.split(call)]) for call in calls]
    wrong = [f"{call}: {output}" for call, (status, output) in zip(calls, found, strict=True) if status or said not in output]
    return "\n".join(wrong) if calls else "no page calls it"


def helps_without_python(script):
    """Checks that a script prints its usage, and needs no more than three commands for it."""
    with tempfile.TemporaryDirectory() as folder:
        for tool in ("bash", "dirname", "sed"):
            pathlib.Path(folder, tool).symlink_to(shutil.which(tool))
        status, output = attempt([ROOT / script, "--help"], PATH=folder)
    return "" if status == 0 and f"  {script} " in output else output


SCRIPTS = ("tests/run", "examples/run", "tests/bench", "ports/toolchain")
boards = "".join(rf"(?=.*^  {board} )" for board in targets.boards())
tap.report([
    *((f"{script} {option}", prints, f"{script} {option}", 0, f"{script} ")
      for script in SCRIPTS for option in ("-h", "--help")),
    *((f"{script} --help without Python", helps_without_python, script) for script in SCRIPTS),
    *((f"{script} takes what pages type", takes_what_pages_type, script)
      for script in ("tests/run", "examples/run", "tests/bench", "ports/evidence/make", "ports/packages/make")),
    *((f"{call} --dry-run", prints, f"{call} --dry-run", 0, r"\Aneeds ")
      for call in ("examples/run digits", "examples/run c host", "examples/run writer truth", "tests/run quick")),
    ("a list of the builds, boards too", prints, "tests/run --list", 0, boards),
    ("a suite that there is not", prints, "tests/run unti", 2, "^no such .* there are:.*\\bunit "),
    ("an example that there is not", prints, "examples/run digit", 2, "^no such .* there are: .*digits"),
    ("a board that there is not", prints, "examples/run c m7", 2, "^no such .* there are: .*microbit"),
    ("a seed that is none", prints, "examples/run writer --seed 1e6", 2, "^a seed is a whole number"),
    ("an option that there is not", prints, "examples/run writer --int8", 2,
     "^there is no option --int8; there are --seed"),
    ("an option that the digits do not have", prints, "examples/run digits --int8", 2, "^there is no option --int8"),
    ("a board without room to learn", prints, "examples/run digits --learn microbit", 2, "^learning takes .* microbit has 16"),
    ("a prompt that the writer cannot read", prints, "examples/run writer truth|beauty", 2,
     "^the prompt has '.', which"),
    ("its whole character, in any locale", prints, "examples/run writer wörld", 2, "^the prompt has 'ö', which"),
    ("less is installed for less", more_for_more, "examples/run --dry-run digits host", "tests/run --dry-run unit",
     "tests/run --dry-run"),
    ("and for examples", more_for_more, "examples/run --dry-run digits host", "examples/run --dry-run digits",
     "tests/run --dry-run"),
    ("sudo cannot ask without a terminal", plays, {}, "ports/toolchain clang", 1, "from a terminal", "(?!.*apt-get).*"),
    ("sudo asks in a terminal, and the size is said", plays, {"terminal": ""}, "ports/toolchain clang", 0,
     r"12 packages, 34.5 MB to download, 123 MB on disk(.|\n)*0 of 2 done, 0:0.\] installing: 40 %, Unpacking clang",
     ".*sudo -v\n.*sudo env .* install .*libclang-rt-dev\n.*"),
    ("root needs no sudo", plays, {"id": "echo 0"}, "ports/toolchain clang", 0, "",
     "(?!.*sudo).* install .*libclang-rt-dev\n.*"),
    ("the first error of apt, and its log is kept", plays, {"id": "echo 0", "apt-get": FAILS},
     "ports/toolchain clang", 1,
     r"failed; .* in \S+\.log\. The first error:\n(\d+\n){4}tar: no space left\ndpkg: error.*\n(\d+\n){5}\Z",
     r"toolchain-\w+\.log"),
    ("how far a build is, and why it failed", plays,
     {"terminal": "", **dict.fromkeys(("meson", "ninja"), "echo '[3/7] CXX'; sleep 1; exit 1")}, "examples/run c host",
     1,
     r"0 of 1 done, .* host: configuring 3 of 7(.|\n)*\[3/7\] CXX", ""),
    ("a build of another user", plays, {"find": "echo build/gcc"}, "ports/toolchain clang", 1, "build/gcc belongs to",
     ""),
    ("an example under sudo is built as the user", plays, {"id": "echo 0"}, "examples/run c host", 0, "",
     "(?!.*sudo.*sudo).*sudo -u #1000 -- examples/run c host\n"),
    ("so are tests", tests_under_sudo),
    ("programs of the benchmark compile", benchmark_compiles),
    ("what fails the benchmark of cores", fails_above_limits),
    ("what is skipped, and why", says_what_is_skipped),
])
