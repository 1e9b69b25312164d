# SPDX-License-Identifier: MIT
"""Checks that are programs, not C++: runs them beside each other and prints the Test Anything Protocol."""
import concurrent.futures
import os
import sys


class Skip(str):
    """Why a check does not apply."""


def print_point(number, name, problem):
    if isinstance(problem, Skip):
        print(f"ok {number} - {name} # SKIP {problem}")
        return
    print(f"{'not ok' if problem else 'ok'} {number} - {name}")
    for line in problem.splitlines():
        print(f"# {line}")


def problem_of(_, check, *arguments):
    try:
        return check(*arguments) if callable(check) else check
    except Exception as problem:  # whatever it is, the other checks have their verdicts
        return f"{type(problem).__name__}: {problem}"


def report(checks):
    """checks: a list of (name, function, argument...), where the function returns what is wrong, or "", or a Skip; or
    of (name, what is wrong). Exits with the verdict."""
    print(f"1..{len(checks)}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = list(pool.map(lambda check: problem_of(*check), checks))
    for number, ((name, *_), problem) in enumerate(zip(checks, problems), 1):
        print_point(number, name, problem)
    sys.exit(not checks or any(problem and not isinstance(problem, Skip) for problem in problems))
