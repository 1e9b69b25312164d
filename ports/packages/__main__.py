# SPDX-License-Identifier: MIT
"""Builds packages of this tree into build/packages/NAME:

    ports/packages/make [NAME...]    all of them if none is named
    ports/packages/make --list       their names

A package is a folder here with a package.py, whose make(folder) fills an empty folder.
"""
import argparse
import importlib
import pathlib
import shutil

from . import tree

NAMES = sorted(file.parent.name for file in pathlib.Path(__file__).resolve().parent.glob("*/package.py"))


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
    if args.list:
        print("\n".join(NAMES))
        return
    unknown = [name for name in args.names if name not in NAMES]
    if unknown:
        parser.error(f"no such package: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    for name in args.names or NAMES:
        print(make(name, args.output.resolve()))


main()
