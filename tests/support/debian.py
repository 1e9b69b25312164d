# SPDX-License-Identifier: MIT
"""Modules of Python that only Debian's own interpreter may find."""
import importlib.util
import os
import pathlib
import sys

from tests.support import tap

PYTHON = "/usr/bin/python3"


def missing(*modules):
    """Returns the first of some modules that is missing, or an empty string. Continues with Debian's interpreter
    first, if another one runs and does not find them."""
    absent = next((module for module in modules if not importlib.util.find_spec(module)), "")
    if absent and sys.executable != PYTHON and pathlib.Path(PYTHON).exists():
        os.execv(PYTHON, [PYTHON, *sys.orig_argv[1:]])
    return absent


def needs_pytorch():
    """Continues where PyTorch is found; without it, reports that the tests of the program are skipped, and exits."""
    if missing("torch"):
        tap.report([("all tests", tap.Skip("PyTorch is not installed (Debian: python3-torch)"))])
