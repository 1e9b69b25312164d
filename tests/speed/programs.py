# SPDX-License-Identifier: MIT
"""Builds the programs of rows by Meson, in a build for each machine and compiler."""
import dataclasses
import json

from tests.support import targets
from tests.support.processes import ROOT, Failed, attempt, call

SOURCES = ROOT / "tests" / "speed" / "programs"


def language(tree=ROOT):
    """Returns the flags with which a program uses the headers of a tree."""
    folders = (tree / "include", tree / "ports" / "simd", targets.BOARDS, ROOT / "tests")
    return ("-std=c++20", *(f"-I{folder}" for folder in folders))


class Build:
    """A build of the bench. It is configured with the programs of all rows; make() builds some."""

    def __init__(self, build, options, **more):
        if build.options:  # a build for another machine
            more["counter"], = Build(targets.Build("g++"), options).make(["tests/speed/cycles/counter.so"])
        build = dataclasses.replace(build, name=f"speed/{build.name}")
        words = {**options.trees, "flags": options.flags, **more}
        entries = ", ".join(repr(str(word)) for pair in words.items() if pair[1] for word in pair)
        new = [] if (build.folder / "build.ninja").is_file() else build.setup()
        command = new or ["meson", "configure", build.folder]
        call([*command[:2], "-Dexamples=disabled", "-Dwerror=false", f"-Dbench=[{entries}]", *command[2:]],
             CXX=build.compiler)
        call(["ninja", "-C", build.folder, "build.ninja"])
        self.folder = build.folder
        listed = json.loads((self.folder / "meson-info" / "intro-targets.json").read_text(encoding="utf-8"))
        self.targets = {target["name"] for target in listed}

    def make(self, files):
        """Builds files. Returns their paths, or raises Failed with the end of the output."""
        files = list(files)
        if not files:  # without a name, ninja builds everything
            return []
        status, output = attempt(["ninja", "-C", self.folder, *files])
        if status != 0:
            raise Failed(output[-3000:])
        return [self.folder / file for file in files]


def file_of(*words):
    """Returns the file of a program, given whose it is and its row, for example."""
    return f"tests/speed/{'-'.join(words)}".replace(" ", "-")
