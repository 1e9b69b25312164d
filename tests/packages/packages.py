# SPDX-License-Identifier: MIT
"""What tests of packages share: functions that make and check a package, as its user gets it."""
import pathlib
import shutil
import tempfile

from ports.packages import tree
from tests.support import tap
from tests.support.processes import ROOT, call

HERE = pathlib.Path(__file__).resolve().parent
CONSUMER = HERE / "consumer"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror")
VERSION = tree.version()


def make(name, output):
    """Makes a package. Returns its folder."""
    call([ROOT / "ports" / "packages" / "make", name, "--output", output])
    return pathlib.Path(output) / name


def in_a_folder(check):
    """Decorates a check: its first argument becomes an empty folder."""
    def with_folder(*arguments):
        with tempfile.TemporaryDirectory() as folder:
            return check(pathlib.Path(folder), *arguments)
    return with_folder


def needs(*programs):
    """Returns a Skip if one of the programs is missing, else an empty string."""
    missing = [program for program in programs if not shutil.which(program)]
    return tap.Skip(f"there is no {missing[0]}") if missing else ""


def problems(folder, version, files=(), include="include"):
    """Yields what is wrong with any package: another version than the tree's, missing files, other headers."""
    yield from ([] if version == VERSION else [f"version {version} is not that of meson.build"])
    yield from (f"there is no {name}" for name in files if not (folder / name).exists())
    for name, file in tree.headers().items():
        copy = folder / include / name
        if not copy.is_file() or copy.read_bytes() != file.read_bytes():
            yield f"another {name}"
