# SPDX-License-Identifier: MIT
"""Builds the programs of rows by Meson, in a build for each machine and compiler."""
import dataclasses
import json
import os

from tests.support import targets
from tests.support.processes import ROOT, Failed, attempt, call

HOST = targets.Build("g++")
SOURCES = ROOT / "tests" / "speed" / "programs"


def language(tree=ROOT):
    """Returns the flags with which a program uses the headers of a tree."""
    return ("-std=c++20", *(f"-I{folder}"
                            for folder in (tree / "include", tree / "ports" / "simd", targets.BOARDS, ROOT / "tests")))


class Build:
    """A build of the bench. It is configured with the programs of all rows; make() builds some."""

    def __init__(self, build, options, **more):
        if build.options:  # a build for another machine
            more["counter"], = map(str, Build(HOST, options).make(["counter.so"]))
        self.build = dataclasses.replace(build, name=f"speed/{build.name}")
        words = {**{whose: str(tree) for whose, tree in options.trees.items()}, "flags": options.flags, **more}
        entries = ", ".join(repr(word) for pair in words.items() if pair[1] for word in pair)
        new = [] if (self.build.folder / "build.ninja").is_file() else self.build.setup()
        command = new or ["meson", "configure", self.build.folder]
        call([*command[:2], "-Dexamples=disabled", "-Dwerror=false", f"-Dbench=[{entries}]", *command[2:]],
             CXX=build.compiler)
        call(["ninja", "-C", self.build.folder, "build.ninja"])

    def targets(self):
        return json.loads((self.build.folder / "meson-info" / "intro-targets.json").read_text(encoding="utf-8"))

    def has(self, name):
        return any(target["name"] == name for target in self.targets())

    def compiler(self):
        """Returns the compiler of the build, with the flags for its machine."""
        its, *_ = next(target["target_sources"] for target in self.targets() if target["name"].endswith("-main"))
        return [*its["compiler"], *(flag for flag in its["parameters"] if flag.startswith(("-m", "-f")))]

    def file(self, name):
        return self.build.folder / "tests" / "speed" / name

    def make(self, names):
        """Builds files. Returns their paths, or raises Failed with the end of the output."""
        status, output = attempt(["ninja", "-C", self.build.folder, f"-j{os.cpu_count()}",
                                  *(f"tests/speed/{name}" for name in names)])
        if status != 0:
            raise Failed(output[-3000:])
        return [self.file(name) for name in names]


def name_of(whose, way, level, row):
    return f"{whose}-{way}-O{level}-{row.replace(' ', '-')}"
