# SPDX-License-Identifier: MIT
"""Plants the faults of faults.toml, one by one, each in a copy of the tree, and says how its test caught it.

    faults.py [WORD...] -- COMPILER             all faults, or those with one of the words in their names
    faults.py --search [WORD...] -- COMPILER    where its test misses a fault, tries all others

Each fault is a test: it passes if the program that it names, in the build that it names, catches it, and passes without it.
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
    caught_by: str
    build: str = "scalar"

    def plant(self, tree):
        file = tree / self.file
        before = file.read_text(encoding="utf-8") if file.is_file() else ""
        if before.count(self.text) != 1:
            raise catchers.Broken(f"in {self.file} its text stands {before.count(self.text)} times, not once")
        file.unlink()  # it is a link to that of the untouched tree
        file.write_text(before.replace(self.text, self.fault), encoding="utf-8")


class Bench:
    """An untouched copy of the tree, and what catches faults in others."""

    def __init__(self, scratch, compiler):
        self.scratch = scratch
        self.compiler = compiler
        self.clean = scratch / "clean"
        programs.copy_tree(ROOT, self.clean)
        self.programs = {program.name: program for program in programs.programs(self.clean)}

    def tree(self, folder):
        return shutil.copytree(self.clean, pathlib.Path(folder) / "tree", copy_function=os.link)

    def named(self, fault):
        """What should catch it, or nothing if there is no such test."""
        folder, _, name = fault.caught_by.partition("/")
        if folder == "refusals":
            return catchers.refusals(self.compiler, name)
        if folder == "firmware":
            return catchers.firmware()
        if fault.caught_by in self.programs and fault.build in catchers.BUILDS:
            return catchers.Program(self.programs[fault.caught_by], fault.build, self.compiler)
        return None

    def others(self, fault):
        """Every program that includes the file, in every build, the quick ones first; then the scripts."""
        for build in catchers.BUILDS:
            made = catchers.all_programs(self.clean, build, self.compiler)
            yield from (program for program in made if program.uses(self.clean, fault.file))
        yield catchers.firmware()
        yield catchers.refusals(self.compiler)

    @functools.cache
    def fails_untouched(self, catcher):
        """A test that fails anyway catches nothing."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            try:
                return catcher.catch(self.tree(folder))
            except catchers.Broken as error:
                return str(error)

    def catch(self, fault, candidates):
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            tree = self.tree(folder)
            fault.plant(tree)
            for catcher in candidates:
                caught = catcher.catch(tree)
                if caught and not self.fails_untouched(catcher):
                    return caught
        return ""

    def try_fault(self, fault, searches):
        """What caught it, and what is wrong."""
        named = self.named(fault)
        where = f"{fault.caught_by} in the build {fault.build}"
        if not named:
            return "", f"there is no {where}"
        if fault.file.startswith("ports/simd/") and not named.uses(self.clean, fault.file):
            return "", tap.Skip("no build on this machine uses the file")
        try:
            caught = self.catch(fault, [named])
            other = self.catch(fault, self.others(fault)) if searches and not caught else ""
        except catchers.Broken as error:
            return "", str(error)
        if caught:
            return caught, ""
        return "", self.fails_untouched(named) or f"{where} does not catch it" + (f", but: {other}" if other else "")

    def timed(self, fault, searches):
        start = time.monotonic()
        result = self.try_fault(fault, searches)
        print(f"{fault.name}: {' '.join(result)} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
        return result


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
    words = arguments[:separator]
    searches = "--search" in words
    faults = read_faults([word for word in words if word != "--search"])
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bench = Bench(pathlib.Path(scratch), tuple(arguments[separator + 1:]))
        named = dict.fromkeys(filter(None, map(bench.named, faults)))
        list(pool.map(bench.fails_untouched, named))  # each once
        results = list(pool.map(lambda fault: bench.timed(fault, searches), faults))
    report(faults, results)
    return 1 if any(problem and not isinstance(problem, tap.Skip) for _, problem in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
