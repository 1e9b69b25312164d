# SPDX-License-Identifier: MIT
"""Runs commands; measures the time that they take."""
import os
import pathlib
import resource
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Failed(Exception):
    """A command failed; the message has its output."""


def attempt(command, folder=ROOT, text="", seconds=1800, **environment):
    """Runs a command. Returns its exit status and its output; the status is None if it did not end, or does not
    exist."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=seconds,
                              check=False,
                              env={**os.environ, "LC_ALL": "C", **environment})
    except subprocess.TimeoutExpired:
        return None, f"did not end within {seconds} s"
    except FileNotFoundError as error:
        return None, str(error)
    return done.returncode, done.stdout


def call(command, **options):
    """Runs a command. Returns its output, or raises Failed if its exit status is not 0."""
    status, output = attempt(command, **options)
    if status != 0:
        first = "\n".join(line[:300] for line in output.splitlines()[:20])
        raise Failed(f"{shlex.join(map(str, command))}\nexit status {status}\n{first}")
    return output


def processor_seconds(command, **options):
    """Returns the processor time of a command: user plus system time, since only the sum is exact."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(command, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
