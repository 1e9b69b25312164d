# SPDX-License-Identifier: MIT
"""What tests of packages share: a package made in a folder of its own, as its user gets it."""
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONSUMER = HERE / "consumer"
MAKE = ROOT / "ports" / "packages" / "make"
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "ports" / "packages")]
import building  # noqa: E402
import tap  # noqa: E402
import tree  # noqa: E402,F401


def made(name, output):
    """The folder of a package."""
    building.call([sys.executable, "-B", MAKE, name, "--output", output])
    return pathlib.Path(output) / name


def in_a_folder(check):
    """A check that is given an empty folder before its other arguments."""
    def checked(*arguments):
        with tempfile.TemporaryDirectory() as folder:
            return check(pathlib.Path(folder), *arguments)
    return checked


def needs(*programs):
    """Why a check is skipped, or nothing."""
    missing = [program for program in programs if not shutil.which(program)]
    return tap.Skip(f"there is no {missing[0]}") if missing else ""
