# SPDX-License-Identifier: MIT
"""Runs checks that are functions of Python, in parallel, and prints the Test Anything Protocol."""
import concurrent.futures
import functools
import os
import pathlib
import sys
import tempfile


class Skip(str):
    """The reason why a check is skipped."""


def in_folder(check):
    """Decorates a check: its first argument becomes an empty folder of its own."""
    @functools.wraps(check)
    def with_folder(*arguments, **settings):
        with tempfile.TemporaryDirectory() as name:
            return check(pathlib.Path(name), *arguments, **settings)
    return with_folder


def print_point(number, name, problem):
    if isinstance(problem, Skip):
        print(f"ok {number} - {name} # SKIP {problem}")
        return
    print(f"{'not ok' if problem else 'ok'} {number} - {name}")
    for line in problem.splitlines():
        print(f"# {line}")
    if problem:
        print(f"{name}: {problem[:2000]}", file=sys.stderr)  # Meson's log of a failure shows only stderr


def problem_of(_, check, *arguments):
    try:
        return check(*arguments) if callable(check) else check
    except Exception as problem:  # of any kind: the other checks must still be reported
        return f"{type(problem).__name__}: {problem}"


def report(checks):
    """Runs checks, prints a point for each, and exits with the verdict. A check is (name, function, argument...), where
    the function returns what is wrong, or "", or a Skip; or (name, what is wrong)."""
    print(f"1..{len(checks)}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = list(pool.map(lambda check: problem_of(*check), checks))
    for number, ((name, *_), problem) in enumerate(zip(checks, problems), 1):
        print_point(number, name, problem)
    sys.exit(not checks or any(problem and not isinstance(problem, Skip) for problem in problems))
