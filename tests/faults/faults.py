# SPDX-License-Identifier: MIT
"""Plants the faults of faults.toml, one by one, each in a copy of the tree, and says which test caught it.

    faults.py [WORD...] -- COMPILER        all faults, or those with one of the words in their names

Each fault is a test: it passes if some test catches the fault that passes without it.
"""
import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import shutil
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import catchers  # noqa: E402
import programs  # noqa: E402
import tap  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    file: str
    text: str
    fault: str
    caught_by: str = ""

    def plant(self, tree):
        file = tree / self.file
        before = file.read_text(encoding="utf-8") if file.is_file() else ""
        if before.count(self.text) != 1:
            raise catchers.Broken(f"in {self.file} its text stands {before.count(self.text)} times, not once")
        file.write_text(before.replace(self.text, self.fault), encoding="utf-8")


class Bench:
    """An untouched copy of the tree, and everything that could catch a fault."""

    def __init__(self, scratch, compiler, pool):
        self.scratch = scratch
        self.clean = scratch / "clean"
        programs.copy_tree(ROOT, self.clean)
        by_build = pool.map(lambda build: catchers.all_programs(self.clean, build, compiler), catchers.BUILDS)
        self.programs = [program for of_build in by_build for program in of_build]
        self.compiler = compiler

    @functools.cache
    def passes_untouched(self, catcher):
        """A test that fails anyway catches nothing."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            tree = pathlib.Path(folder) / "tree"
            shutil.copytree(self.clean, tree)
            return not catcher.catch(tree)

    def expected(self, fault, includers):
        """What caught it when it was added: nearly always the only one that is tried."""
        folder, _, name = fault.caught_by.partition("/")
        if folder == "refusals":
            return [catchers.refusals(self.compiler, name)]
        if folder == "firmware":
            return [catchers.firmware()]
        return [program for program in includers if program.name == fault.caught_by]

    def in_order(self, fault, includers):
        """Every catcher, the quick ones first: in one build, then in the others."""
        first = [program for program in includers if program.build == includers[0].build]
        others = [program for program in includers if program not in first]
        return [*self.expected(fault, includers), *first, catchers.firmware(), *others, catchers.refusals(self.compiler)]

    def try_fault(self, fault):
        start = time.monotonic()
        result = self.caught_by(fault)
        print(f"{fault.name}: {' '.join(result)} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
        return result

    def caught_by(self, fault):
        """What caught it, and what is wrong."""
        includers = [program for program in self.programs if fault.file in program.files(self.clean)]
        if fault.file.startswith("ports/simd/") and not includers:
            return "", tap.Skip("no build on this machine uses the file")
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            tree = pathlib.Path(folder) / "tree"
            shutil.copytree(self.clean, tree)
            try:
                fault.plant(tree)
                for catcher in self.in_order(fault, includers):
                    caught = catcher.catch(tree)
                    if caught and self.passes_untouched(catcher):
                        return caught, ""
            except catchers.Broken as error:
                return "", str(error)
        return "", "nothing catches it"


def read_faults(words):
    text = (ROOT / "tests" / "faults" / "faults.toml").read_text(encoding="utf-8")
    faults = [Fault(**fault) for fault in tomllib.loads(text)["fault"]]
    return [fault for fault in faults if not words or any(word in fault.name for word in words)]


def report(faults, results):
    width = max(len(fault.name) for fault in faults)
    for fault, (caught, problem) in zip(faults, results):
        print(f"# {fault.name:<{width}}  {caught or problem}")
    print(f"1..{len(faults)}")
    for number, (fault, (_, problem)) in enumerate(zip(faults, results), 1):
        tap.print_point(number, fault.name, problem)


def main(arguments):
    separator = arguments.index("--")
    faults = read_faults(arguments[:separator])
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bench = Bench(pathlib.Path(scratch), tuple(arguments[separator + 1:]), pool)
        results = list(pool.map(bench.try_fault, faults))
    report(faults, results)
    return 1 if any(problem and not isinstance(problem, tap.Skip) for _, problem in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
