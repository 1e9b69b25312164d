# SPDX-License-Identifier: MIT
"""Compiles the C++ that the README shows, as it stands there.

    readme.py README FOLDER... -- COMPILER ARGUMENT...
"""
import functools
import pathlib
import re
import subprocess
import sys

import tap


def compile_block(text, compiler):
    done = subprocess.run([*compiler, "-fsyntax-only", "-x", "c++", "-"], input=text, capture_output=True, encoding="utf-8", check=False)
    return done.stderr or ("" if done.returncode == 0 else f"exit status {done.returncode}")


def main(readme, folders, compiler):
    blocks = re.findall(r"^```cpp\n(.*?)^```", pathlib.Path(readme).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    includes = [f"-I{folder}" for folder in folders]
    tap.report([(f"block {number}", functools.partial(compile_block, block, [*compiler, *includes])) for number, block in enumerate(blocks, 1)])


separator = sys.argv.index("--")
main(sys.argv[1], sys.argv[2:separator], sys.argv[separator + 1:])
