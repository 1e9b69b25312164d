# SPDX-License-Identifier: MIT
"""Tests the page of examples/book as it is typed: its blocks of Python run one after the other, and print what the page
says. And every module of its chapters is exported. Needs PyTorch; skips without it."""
import contextlib
import io
import os
import sys

from tests.support import debian, tap

debian.needs_pytorch()

from tests.products.export import typed
from tests.products.export.exporter import ROOT
from tests.support.tap import in_folder

BOOK = ROOT / "examples" / "book"


@in_folder
def as_typed(folder):
    sys.path[:0] = [str(BOOK), str(ROOT / "ports" / "pytorch")]
    here, names, count = os.getcwd(), {}, 0
    os.chdir(folder)
    try:
        for text, wanted in typed.commands(BOOK / "README.md", ("python",)):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(text, "README.md", "exec"), names)
            count += len(wanted)
            line = typed.lacks(printed.getvalue(), wanted, 0.0)
            if line:
                return f"not printed: {line}\n{printed.getvalue()}"
    finally:
        os.chdir(here)
    return "" if count >= 15 else f"only {count} lines were compared"


tap.report([("the page, as it is typed", as_typed)])
