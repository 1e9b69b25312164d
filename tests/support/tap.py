# SPDX-License-Identifier: MIT
"""Checks that are programs, not C++: runs them beside each other and prints the Test Anything Protocol."""
import concurrent.futures
import os
import sys


def report(checks):
    """checks: a list of (name, function); the function returns what is wrong, or nothing. Exits with the verdict."""
    print(f"1..{len(checks)}")
    failed = not checks
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (name, problem) in enumerate(zip([name for name, _ in checks], pool.map(lambda check: check[1](), checks)), 1):
            print(f"{'not ok' if problem else 'ok'} {number} - {name}")
            for line in (problem or "").splitlines():
                print(f"# {line}")
            failed = failed or bool(problem)
    sys.exit(failed)
