# SPDX-License-Identifier: MIT
"""What tests/run, examples/run and tests/bench say of themselves, what they would install, and as whom: `sudo`, `apt-get` and what looks
at users are played here."""
import functools
import os
import pathlib
import re
import shutil
import sys
import tempfile
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import building  # noqa: E402
import tap  # noqa: E402
import tools  # noqa: E402

# All the commands that a played system has: some of this machine, and some that note how they were called. It lacks Meson.
COMMANDS = "bash dirname echo env mktemp rm sed sort tail tr xargs".split()
PLAYED = {
    "id": 'echo "$PLAYED_UID"',
    "stat": "echo 1000",
    "find": 'printf %s "$PLAYED_FOUND"',
    "sudo": 'echo "sudo $*" >>"$SAID"; case $1 in -n) exit 1 ;; -*) ;; *) "$@" ;; esac',
    "apt-get": 'echo "apt-get $*" >>"$SAID"\n'
               'echo "0 upgraded, 12 newly installed, 0 to remove."\n'
               'echo "Need to get 34.5 MB of archives."\n'
               'echo "After this operation, 123 MB of additional disk space will be used."',
    **dict.fromkeys(("python3", "ninja", "g++"), "true"),
}
NO_TERMINAL = ("setsid", "-w", "bash", "-c")
TERMINAL = ("script", "-qec")


def says(command, status, pattern):
    said = building.attempt(command.split())
    return "" if said[0] == status and re.search(pattern, said[1], re.DOTALL) else str(said)


def same_help(script):
    short, long = (building.attempt([script, option]) for option in ("-h", "--help"))
    return "" if short == long and short[0] == 0 and f"{script} " in short[1] else f"{short}\n{long}"


def list_of_targets():
    """All of which there are, boards too."""
    status, said = building.attempt(["tests/run", "--list"])
    names = re.findall(r"^  (\S+)", said, re.MULTILINE)
    known, _ = building.attempt(["tests/run", "--dry-run", *names])
    return "" if status == known == 0 and set(building.boards()) < set(names) else said


def packages(command):
    status, said = building.attempt(command.split())
    found = re.match(r"needs +(.+)\nmissing +\S", said)
    return set(found[1].split()) if status == 0 and found else {said}


def less_for_less():
    example, examples, part, tests = map(packages, (
        "examples/run --dry-run digits host", "examples/run --dry-run digits", "tests/run --dry-run host", "tests/run --dry-run"))
    holds = example < examples < tests and example < part < tests and "meson" in example
    return "" if holds else f"{example} {examples} {part} {tests}"


def plays(command, variables, way, status, said_pattern, calls_pattern):
    """On the played system: the status, a pattern of what is said, and one of all the calls that were noted."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for tool in COMMANDS:
            (folder / tool).symlink_to(shutil.which(tool))
        for tool, script in PLAYED.items():
            (folder / tool).write_text(f"#!{shutil.which('bash')}\n{script}\n", encoding="utf-8")
            (folder / tool).chmod(0o755)
        calls = folder / "calls"
        calls.touch()
        said = building.attempt([shutil.which(way[0]), *way[1:], command, *([os.devnull] if way == TERMINAL else [])], **{
            "PATH": name, "SAID": str(calls), "SUDO_UID": "1000", "PLAYED_UID": "1000", "PLAYED_FOUND": "", **variables})
        noted = calls.read_text(encoding="utf-8")
    holds = said[0] == status and re.search(said_pattern, said[1]) and re.fullmatch(calls_pattern, noted, re.DOTALL)
    return "" if holds else f"{said}{noted}"


def tests_under_sudo():
    with mock.patch.multiple(os, execvp=mock.DEFAULT, geteuid=lambda: 0) as patched, \
         mock.patch.dict(os.environ, SUDO_UID="1000"), mock.patch.object(tools, "ROOT") as clone:
        for clone.stat.return_value.st_uid in (1000, 0):
            tools.become_the_user()
    words = [call.args[1][:4] for call in patched["execvp"].call_args_list]
    return "" if words == [["sudo", "-u", "#1000", "--"]] else str(words)


BUILD = "ports/toolchain build"
tap.report([(name, functools.partial(*check)) for name, *check in [
    *((f"help of {script}", same_help, script) for script in ("tests/run", "examples/run", "tests/bench")),
    ("a list of the targets", list_of_targets),
    ("a target that there is not", says, "tests/run hots", 2, "^no such .* there are:.*\\bhost "),
    ("an example that there is not", says, "examples/run digit", 2, "^no such .* there are: .*digits"),
    ("a board that there is not", says, "examples/run c m7", 2, "^no such .* there are: .*microbit"),
    ("less is installed for less", less_for_less),
    ("sudo cannot ask without a terminal", plays, BUILD, {}, NO_TERMINAL, 1, "from a terminal", "(?!.*apt-get).*"),
    ("sudo asks in a terminal, and the size is said", plays, BUILD, {}, TERMINAL, 0,
     "12 packages, 34.5 MB to download, 123 MB on disk", ".*sudo -v\n.*sudo env .* install .*meson\n.*"),
    ("root needs no sudo", plays, BUILD, {"PLAYED_UID": "0"}, NO_TERMINAL, 0, "", "(?!.*sudo).* install --no-install-recommends meson\n.*"),
    ("a build of another user", plays, BUILD, {"PLAYED_FOUND": "/build/gcc"}, NO_TERMINAL, 1, "/build/gcc belongs to", ""),
    ("an example under sudo is built as the user", plays, "examples/run c host", {"PLAYED_UID": "0"}, NO_TERMINAL, 0, "",
     "(?!.*sudo.*sudo).*sudo -u #1000 -- examples/run c host\n"),
    ("so are tests, unless the clone is root's", tests_under_sudo),
]])
