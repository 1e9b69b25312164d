# SPDX-License-Identifier: MIT
"""What tests/run, examples/run and tests/bench say of themselves, what they would install, and as
whom: `sudo`, `apt-get` and what looks at users are played here.

    scripts.py
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402
import targets  # noqa: E402
import tools  # noqa: E402

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
}


def run(script, *words, **options):
    """Status and what was said."""
    done = subprocess.run([ROOT / script, *words], stdout=subprocess.PIPE, encoding="utf-8",
                          stderr=subprocess.STDOUT, check=False, **options)
    return done.returncode, done.stdout


def play(folder, script, *words, installed=(), terminal=False, **environment):
    """The same on a system that has nothing but the commands above; and what was called there."""
    for name in COMMANDS:
        (folder / name).symlink_to(shutil.which(name))
    for name, text in {**PLAYED, **dict.fromkeys(installed, "true")}.items():
        (folder / name).write_text(f"#!{shutil.which('bash')}\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    calls = folder / "calls"
    calls.touch()
    variables = {"PATH": str(folder), "SAID": str(calls), "PLAYED_UID": "1000", "PLAYED_FOUND": ""}
    first, behind = os.openpty() if terminal else (os.open(os.devnull, os.O_RDONLY),) * 2
    session = [shutil.which("setsid"), "-w", *(["-c"] if terminal else [])]
    done = subprocess.run([*session, ROOT / script, *words], stdout=subprocess.PIPE, check=False,
                          stdin=behind, stderr=subprocess.STDOUT, encoding="utf-8",
                          env={**variables, **environment})
    for end in {first, behind}:
        os.close(end)
    return done.returncode, done.stdout, calls.read_text(encoding="utf-8")


def in_a_folder(check):
    def checked():
        with tempfile.TemporaryDirectory() as folder:
            return check(pathlib.Path(folder))
    return checked


# --- What they say of themselves ---


def help_of(script):
    said = [run(script, option) for option in ("-h", "--help")]
    holds = said[0] == said[1] and said[0][0] == 0 and f"{script} " in said[0][1]
    return "" if holds else str(said)


def list_of_targets():
    status, said = run("tests/run", "--list")
    names = [line.split()[0] for line in said.splitlines() if len(line.split()) > 3]
    return "" if status == 0 and names == list(targets.targets()) else said


def unknown(script, word, *listed):
    status, said = run(script, *word.split())
    whole = status == 2 and all(name in said for name in listed) and "there are:" in said
    return "" if whole and said.startswith("no such ") else f"{status} {said}"


# --- What they install, and as whom ---


def packages(script, *words):
    status, said = run(script, "--dry-run", *words)
    found = re.match(r"needs +(.+)\nmissing +\S", said)
    return set(found[1].split()) if status == 0 and found else {said}


def less_for_less():
    chain = [packages("examples/run", "digits", "host"), packages("examples/run", "digits"),
             packages("tests/run")]
    part = packages("tests/run", "host")
    holds = chain[0] < chain[1] < chain[2] and chain[0] < part < chain[2] and "meson" in chain[0]
    return "" if holds else f"{chain} {part}"


def no_terminal(folder):
    status, said, calls = play(folder, "ports/toolchain", "build")
    holds = status == 1 and "from a terminal" in said and "apt-get" not in calls
    return "" if holds else f"{status} {said}{calls}"


def terminal(folder):
    status, said, calls = play(folder, "ports/toolchain", "build", terminal=True)
    size = "12 packages, 34.5 MB to download, 123 MB on disk"
    installs = re.search(r"sudo -v\n(.*\n)*sudo env .* install .*meson ninja-build", calls)
    return "" if status == 0 and size in said and installs else f"{status} {said}{calls}"


def as_root(folder):
    status, said, calls = play(folder, "ports/toolchain", "build", PLAYED_UID="0")
    holds = " install --no-install-recommends meson" in calls and "sudo" not in calls
    return "" if status == 0 and holds else f"{status} {said}{calls}"


def not_writable(folder):
    status, said, _ = play(folder, "ports/toolchain", "build", PLAYED_FOUND="/build/gcc")
    return "" if status == 1 and "/build/gcc belongs to" in said else f"{status} {said}"


def example_under_sudo(folder):
    """Nothing is built as root."""
    there = ("python3", "meson", "ninja", "g++")
    _, said, calls = play(folder, "examples/run", "c", "host", installed=there, PLAYED_UID="0",
                          SUDO_UID="1000")
    return "" if calls == f"sudo -u #1000 -- {ROOT}/examples/run c host\n" else f"{said}{calls}"


def tests_under_sudo():
    with mock.patch.multiple(os, execvp=mock.DEFAULT, geteuid=lambda: 0) as patched, \
         mock.patch.dict(os.environ, SUDO_UID="1000"), \
         mock.patch.object(tools, "ROOT") as clone:
        clone.stat.return_value.st_uid = 1000
        tools.become_the_user()
        clone.stat.return_value.st_uid = 0
        tools.become_the_user()
    words = [call.args[1][:4] for call in patched["execvp"].call_args_list]
    return "" if words == [["sudo", "-u", "#1000", "--"]] else str(words)


tap.report([
    *((f"help of {script}", functools.partial(help_of, script))
      for script in ("tests/run", "examples/run", "tests/bench")),
    ("a list of the targets", list_of_targets),
    ("a target that there is not", functools.partial(unknown, "tests/run", "hots", "host")),
    ("an example that there is not", functools.partial(unknown, "examples/run", "digit", "digits")),
    ("a board that there is not", functools.partial(unknown, "examples/run", "c m7", "microbit")),
    ("less is installed for less", less_for_less),
    ("sudo cannot ask without a terminal", in_a_folder(no_terminal)),
    ("sudo asks in a terminal, and the size is said", in_a_folder(terminal)),
    ("root needs no sudo", in_a_folder(as_root)),
    ("a build of another user", in_a_folder(not_writable)),
    ("an example under sudo is built as the user", in_a_folder(example_under_sudo)),
    ("so are tests, unless the clone is root's", tests_under_sudo),
])
