# SPDX-License-Identifier: MIT
"""Plants the mutants of mutants.toml, each in its own copy of the tree, and says which check caught it.

    mutants [WORD...] -- COMPILER ARGUMENT...     all of them, or those with one of the words in their names

Each mutant is a test: it passes if the program that it names, in the build that it names, catches it, and passes
without it. With a compiler for firmware, only those run that `firmware` must catch; with any other compiler, the rest.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib
import typing

from tests.footprint import contents
from tests.support import tap
from tests.support.processes import ROOT, attempt, call

# Builds of the tests. Each can catch mutants that the others cannot: it has another port, or may fuse products and
# sums.
BUILDS = {
    "scalar": ["-O0", "-DTINYATTN_PORT=scalar"],
    "addresses": ["-O0", "-DTINYATTN_PORT=scalar", "-fsanitize=address"],
    "soft": ["-O0", "-DTINYATTN_PORT=soft"],
    "fpu": ["-O2", "-march=native", "-DTINYATTN_PORT=fpu", "-ffp-contract=off"],
    "fpu, contracted": ["-O2", "-march=native", "-DTINYATTN_PORT=fpu", "-ffp-contract=fast"],
    "native": ["-O2", "-march=native", "-ffp-contract=fast"],
    "avx2": ["-O2", "-mavx2", "-mfma", "-ffp-contract=fast"],
    "sse2": ["-O2", "-DTINYATTN_PORT=sse2", "-ffp-contract=fast"],
}
IN_THE_COMPILER = (r"in 'constexpr' expansion of '[^']*everywhere<.*?\(\(const char\*\)\"(.*?)\"\)"
                   r"|error: (static assertion failed.*)")


class NotCaught(Exception):
    """A mutant was not caught, or could not be tried: the message says why."""


class Mutant(typing.NamedTuple):
    file: str
    name: str
    caught_by: str
    text: str
    fault: str
    build: str = "scalar"

    def plant(self, tree):
        file = tree / self.file
        before = file.read_text(encoding="utf-8") if file.is_file() else ""
        if before.count(self.text) != 1:
            raise NotCaught(f"in {self.file} its text is found {before.count(self.text)} times, not once")
        file.unlink()  # a hard link to the file of the untouched tree
        file.write_text(before.replace(self.text, self.fault), encoding="utf-8")


class Bench:
    """Makes an untouched copy of the tree and copies with a mutant, and builds and runs their tests."""

    def __init__(self, folder, compiler):
        self.folder, self.clean, self.compiler = folder, folder / "clean", compiler
        for name in ("include", "ports", "src", "tests"):
            shutil.copytree(ROOT / name, self.clean / name)

    def language(self, tree, build):
        folders = (tree / "include", tree / "ports" / "simd", tree / "ports" / "boards", tree / "tests")
        return (*self.compiler, "-std=c++20", *(f"-I{folder}" for folder in folders), *BUILDS[build])

    def failed_check(self, tree, caught_by, build):
        """Runs a test in a tree. Returns the name of the check that fails, or an empty string."""
        kind, _, name = caught_by.partition("/")
        if kind == "firmware":
            return self.unwanted_in_firmware(tree)
        if kind == "compile_fail":
            command = (sys.executable, "-B", "-m", "tests.compile_fail.diagnostics", name, "--",
                       *self.language(tree, build), "-Wall", "-Wpedantic", "-Werror")
            return first_failed(*attempt(command))
        return self.failed_program(tree, caught_by, build)

    def unwanted_in_firmware(self, tree):
        made = tree / "kernels.o"
        folders = (f"-I{tree / 'include'}", f"-I{tree / 'ports' / 'simd'}")
        call([*self.compiler, *folders, "-O2", *contents.EVERYTHING_ON, "-c", tree / "tests/footprint/kernels.cpp",
              "-o", made])
        return next(iter(contents.unwanted_in_object(made, has_fpu=True)), "")

    def failed_program(self, tree, test, build):
        sources = [f"tests/{test}.cpp", "tests/support/run.cpp", *["src/library.cpp"] * ("compiled" in test)]
        if not (tree / sources[0]).is_file():
            raise NotCaught(f"there is no test {test}")
        board = [] if test.startswith("harness/") else ["ports/boards/host/host.cpp"]  # else the test has its own board
        program = tree / f"{test.replace('/', '-')}-{build.replace(', ', '-')}.elf"
        status, output = attempt([*self.language(tree, build), '-DBOARD_NAME="host"', "-w", *sources, *board, "-o",
                                  program], folder=tree)
        if status == 0:
            return first_failed(*attempt([program], seconds=120))
        if check := re.search(IN_THE_COMPILER, output):
            return f"{check[1] or check[2]} (in the compiler)"
        error = re.search(r"error: .*", output)
        raise NotCaught(f"does not compile: {error[0] if error else output[-300:]}")

    def skip(self, mutant):
        """Returns why a mutant is not tried on this machine, or an empty string."""
        if mutant.build != "native":
            return ""
        included = call([*self.language(self.clean, mutant.build), "-MM",
                         self.clean / "tests" / f"{mutant.caught_by}.cpp"])
        return "" if mutant.file in included else tap.Skip("no build on this machine uses the file")

    def catch(self, number, mutant):
        """Plants a mutant. Returns the test and the check that caught it, or raises NotCaught."""
        tree = shutil.copytree(self.clean, self.folder / str(number), copy_function=os.link)
        mutant.plant(tree)
        check = self.failed_check(tree, mutant.caught_by, mutant.build)
        if not check:
            raise NotCaught(f"{mutant.caught_by} in the build {mutant.build} does not catch it")
        return f"{mutant.caught_by}: {check}"


def first_failed(status, output):
    """Returns the first failed check of a program, given its exit status and output; empty if it passed."""
    check = re.search(r"^not ok \d+ - (.*)", output, re.MULTILINE)
    return "" if status == 0 else check[1] if check else "it crashes or does not end"


def attempt_all(pool, function, arguments):
    """Calls the function for each tuple of arguments, in parallel. Returns a list of pairs: its result and an empty
    string, or an empty string and why NotCaught was raised."""
    def result(its_arguments):
        try:
            return function(*its_arguments), ""
        except NotCaught as why:
            return "", why.args[0]
    return list(pool.map(result, arguments))


def try_all(bench, mutants):
    """Yields a pair for each mutant: what caught it, and why it was not caught. One of the two is empty."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tests = list(dict.fromkeys((mutant.caught_by, mutant.build) for mutant in mutants))
        without = dict(zip(tests, attempt_all(pool, bench.failed_check, [(bench.clean, *test) for test in tests])))
        caught = attempt_all(pool, bench.catch, enumerate(mutants))
    for mutant, (by, why) in zip(mutants, caught):
        problem = "".join(without[mutant.caught_by, mutant.build])
        yield ("", f"{mutant.caught_by} fails without the mutant: {problem}") if problem else (by, why)


def main(arguments):
    separator = arguments.index("--")
    words, compiler = arguments[:separator], arguments[separator + 1:]
    is_firmware = "-ffreestanding" in compiler
    listed = tomllib.loads((pathlib.Path(__file__).parent / "mutants.toml").read_text(encoding="utf-8"))
    mutants = [Mutant(file, name, **fields) for file, named in listed.items() for name, fields in named.items()
               if is_firmware == (fields["caught_by"] == "firmware")
               and (not words or any(word in name for word in words))]
    if not mutants:
        sys.exit("no mutant has such a name")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), compiler)
        skipped = [bench.skip(mutant) for mutant in mutants]
        results = iter(try_all(bench, [mutant for mutant, skip in zip(mutants, skipped) if not skip]))
        results = [("", skip) if skip else next(results) for skip in skipped]
    width = max(len(mutant.name) for mutant in mutants)
    for mutant, (by, why) in zip(mutants, results):
        print(f"# {mutant.name:<{width}}  {by or why}")
    tap.report([(mutant.name, why) for mutant, (_, why) in zip(mutants, results)])


if __name__ == "__main__":
    main(sys.argv[1:])
