# SPDX-License-Identifier: MIT
"""Which lines and branches of the library the unit and golden tests run, counted by Clang in the source and merged over instantiations.

    coverage.py -- CLANG

What only the compiler computes does not count as run. Prints a table, what is not covered, and for each file a test: no line is left out
but those that stand in `only_in_the_compiler`.
"""
import collections
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import programs  # noqa: E402
import tap  # noqa: E402

COVERED = ("include", "ports/simd", "src")
FLAGS = ["-O0", "-march=native", "-w", "-fprofile-instr-generate", "-fcoverage-mapping"]


@dataclasses.dataclass
class File:
    lines: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    branches: collections.Counter = dataclasses.field(default_factory=collections.Counter)


class Tools:
    """The parts of LLVM that belong to a compiler."""

    def __init__(self, compiler):
        self.compiler = compiler
        self.profdata, self.cov = (self.path(name) for name in ("llvm-profdata", "llvm-cov"))

    def path(self, name):
        return subprocess.run([*self.compiler, f"-print-prog-name={name}"], capture_output=True, encoding="utf-8", check=True).stdout.strip()


def demand(command, tree, **environment):
    status, output = programs.call(command, tree, 300, **environment)
    if status != 0:
        raise RuntimeError(f"{command[0]}: {output[-1000:]}")
    return output


def export(tools, tree, program):
    """What one program ran: (lines, branches), each a list of (file, place, how often)."""
    stem = tree / program.name.replace("/", "-")
    executable, raw, profile = (f"{stem}{suffix}" for suffix in (".exe", ".profraw", ".profdata"))
    demand([*tools.compiler, *programs.FLAGS, *FLAGS, *program.sources, "-o", executable], tree)
    demand([executable], tree, LLVM_PROFILE_FILE=raw)
    demand([tools.profdata, "merge", raw, "-o", profile], tree)
    show = [tools.cov, "export", f"-instr-profile={profile}", executable, *(tree / folder for folder in COVERED)]
    return lines_of(demand([*show, "-format=lcov"], tree)), branches_of(json.loads(demand([*show, "-skip-functions", "-skip-expansions"], tree)))


def lines_of(text):
    for record in text.split("end_of_record"):
        file = re.search(r"^SF:(.*)", record, re.MULTILINE)
        for line, count in re.findall(r"^DA:(\d+),(\d+)", record, re.MULTILINE):
            yield file[1], int(line), int(count)


def branches_of(exported):
    """Each condition has two: where it held, and where it did not."""
    for file in exported["data"][0]["files"]:
        for branch in file.get("branches", []):
            line, column, _, _, held, failed = branch[:6]
            yield file["filename"], (line, column, True), held
            yield file["filename"], (line, column, False), failed


def measure(tools, tree):
    files = collections.defaultdict(File)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines, branches in pool.map(functools.partial(export, tools, tree), programs.programs(tree)):
            for file, line, count in lines:
                files[file].lines[line] += count
            for file, place, count in branches:
                files[file].branches[place] += count
    return {str(pathlib.Path(name).relative_to(tree)): file for name, file in sorted(files.items())}


def only_in_the_compiler(text):
    """The lines of consteval functions, and of those that exist to stop a compiler."""
    lines = set()
    for function in re.finditer(r"^ *(?:static |inline )*(?:consteval |void must_)[^;{]*\{(?:.|\n)*?\}$", text, re.MULTILINE):
        first = text.count("\n", 0, function.start()) + 1
        lines.update(range(first, first + function[0].count("\n") + 1))
    return lines


def share(counter):
    return sum(count > 0 for count in counter.values()), len(counter)


def percent(covered, total):
    return f"{covered}/{total} {100 * covered / total:5.1f} %" if total else "-"


def print_table(files):
    rows = [(name, share(file.lines), share(file.branches)) for name, file in files.items()]
    rows.append(("in all", *(tuple(map(sum, zip(*(row[i] for row in rows)))) for i in (1, 2))))
    width = max(len(name) for name, _, _ in rows)
    print(f"# {'':<{width}} {'lines':>18} {'branches':>18}")
    for name, lines, branches in rows:
        print(f"# {name:<{width}} {percent(*lines):>18} {percent(*branches):>18}")
    for name, file in files.items():
        text = (ROOT / name).read_text(encoding="utf-8").splitlines()
        for line, column, outcome in sorted(place for place, count in file.branches.items() if not count):
            print(f"# {name}:{line}:{column}: never {'true' if outcome else 'false'}: {text[line - 1].strip()}")


def check(name, file):
    text = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return "\n".join(f"{name}:{line} is never run: {text[line - 1].strip()}" for line, count in sorted(file.lines.items()) if not count)


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder).resolve()
        programs.copy_tree(ROOT, tree)
        files = measure(Tools(arguments[arguments.index("--") + 1:]), tree)
        for name, file in files.items():
            for line in only_in_the_compiler((tree / name).read_text(encoding="utf-8")):
                del file.lines[line]
                for place in [place for place in file.branches if place[0] == line]:
                    del file.branches[place]
    print_table(files)
    tap.report([(name, functools.partial(check, name, file)) for name, file in files.items()])


if __name__ == "__main__":
    main(sys.argv[1:])
