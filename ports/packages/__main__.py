# SPDX-License-Identifier: MIT
"""Builds packages of this tree into build/packages/NAME:

    ports/packages/make [NAME...]    all of them if none is named
    ports/packages/make --list       their names

Installs what they need. A package is a folder here with a package.py, whose make(folder) fills an empty folder.
"""
import argparse
import importlib
import pathlib
import shutil
import subprocess
import sys

from . import tree

NAMES = sorted(file.parent.name for file in pathlib.Path(__file__).resolve().parent.glob("*/package.py"))

# Jobs of ports/toolchain that a package needs, besides git, which knows the files of this tree.
JOBS = {"arduino": ("gcc", "firmware"), "cmake": ("build", "gcc", "consumers")}


def bring_tools(names):
    jobs = ["git", *(job for name in names for job in JOBS.get(name, ()))]
    if status := subprocess.run([tree.ROOT / "ports" / "toolchain", *jobs], check=False).returncode:
        sys.exit(status)


def make(name, output):
    """Makes a package in a temporary folder, and moves it to its place when it is complete."""
    folder, growing = output / name, output / f"{name}.growing"
    shutil.rmtree(growing, ignore_errors=True)
    growing.mkdir(parents=True)
    importlib.import_module(f"{__package__}.{name}.package").make(growing)
    shutil.rmtree(folder, ignore_errors=True)
    growing.rename(folder)
    return folder


def main():
    parser = argparse.ArgumentParser(
        prog="ports/packages/make", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="the names of all packages")
    parser.add_argument("--output", type=pathlib.Path, default=tree.ROOT / "build" / "packages", metavar="FOLDER")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in NAMES]
    if unknown:
        parser.error(f"no such package: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    names = args.names or NAMES
    if args.list:
        print("\n".join(names))
        return
    bring_tools(names)
    for name in names:
        print(make(name, args.output.resolve()))


main()
