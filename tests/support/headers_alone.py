# SPDX-License-Identifier: MIT
"""Compiles every header of the library alone, twice included, with the strictest warnings. A port may say that it needs other flags.

    headers_alone.py FOLDER... -- COMPILER ARGUMENT...
"""
import functools
import pathlib
import re
import subprocess
import sys

import tap


def compile_alone(header, compiler):
    unit = f"#include <{header}>\n#include <{header}>\n"
    done = subprocess.run([*compiler, "-fsyntax-only", "-x", "c++", "-"], input=unit, capture_output=True, encoding="utf-8", check=False)
    unsuited = re.search(r'#?error "?(the port .* needs .*)"', done.stderr)
    if unsuited:
        return tap.Skip(unsuited[1])
    return done.stderr or ("" if done.returncode == 0 else f"exit status {done.returncode}")


def main(folders, compiler):
    includes = [f"-I{folder}" for folder in folders]
    headers = sorted(path.relative_to(folder) for folder in folders for path in pathlib.Path(folder).rglob("*.hpp"))
    tap.report([(str(header), functools.partial(compile_alone, header, [*compiler, *includes])) for header in headers])


separator = sys.argv.index("--")
main(sys.argv[1:separator], sys.argv[separator + 1:])
