# SPDX-License-Identifier: MIT
"""Plants the mutants of mutants.toml, each in its own copy of the tree, and says which check caught it.

    mutants [WORD...] -- COMPILER ARGUMENT...     all of them, or those with one of the words in their names

Each mutant is a test: it passes if the program that it names, in the build that it names, catches it. That the program
passes without the mutant is a test, too. With a compiler for firmware, only those run that `firmware` must catch; with
any other compiler, the rest.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib
import typing

from tests.products.footprint import contents
from tests.support import tap
from tests.support.processes import ROOT, Failed, attempt, call

# How `tests/run` compiles tests at each change: `gcc` unless the table says otherwise. The compiler evaluates the scalar
# port there. "contracted" may fuse products and sums.
NOT_INLINED = "-DTINYATTN_KERNEL=[[gnu::noinline]] constexpr"
BUILDS = {
    "gcc": ["-O0", NOT_INLINED],
    "addresses": ["-O0", NOT_INLINED, "-DTEST_AT_RUN_TIME", "-fsanitize=address", "-DTINYATTN_PORT=scalar"],
    "scalar": ["-O0", NOT_INLINED, "-DTINYATTN_PORT=scalar"],
    "soft": ["-O0", NOT_INLINED, "-DTINYATTN_PORT=soft"],
    "avx2": ["-O0", NOT_INLINED, "-mavx2", "-mfma"],
    "native": ["-O0", NOT_INLINED, "-march=native"],
    "fpu, contracted": ["-O2", "-march=native", "-DTINYATTN_PORT=fpu", "-ffp-contract=fast"],
    "native, contracted": ["-O2", "-march=native", "-ffp-contract=fast"],
}
LIBRARY = ["src/attention.cpp", "src/encoders.cpp", "src/models.cpp", "src/int8.cpp", "src/primitives.cpp"]
IN_THE_COMPILER = (r"in 'constexpr' expansion of '[^']*everywhere<.*?\(\(const char\*\)\"(.*?)\"\)"
                   r"|error: (static assertion failed.*)")


class Mutant(typing.NamedTuple):
    file: str
    name: str
    caught_by: str
    text: str
    fault: str
    build: str

    def plant(self, tree):
        file = tree / self.file
        before = file.read_text(encoding="utf-8") if file.is_file() else ""
        if before.count(self.text) != 1:
            raise Failed(f"in {self.file} its text is found {before.count(self.text)} times, not once")
        file.unlink()  # a hard link to the file of the untouched tree
        file.write_text(before.replace(self.text, self.fault), encoding="utf-8")


def read_mutants():
    listed = tomllib.loads((pathlib.Path(__file__).parent / "mutants.toml").read_text(encoding="utf-8"))
    for file, by_test in listed.items():
        for caught_by, named in by_test.items():
            test, _, build = caught_by.partition(" by ")
            yield from (Mutant(file, name, test, *texts, build or "gcc") for name, texts in named.items())


def first_failed(status, output):
    """Returns the first failed check of a program, given its exit status and output; empty if it passed."""
    check = re.search(r"^not ok \d+ - (.*)", output, re.MULTILINE)
    return "" if status == 0 else check[1] if check else "it crashes or does not end"


def source_of(tree, test):
    """Returns the source of a program, such as unit/softmax, wherever its folder is in tests/."""
    return next(tree.glob(f"tests/**/{test}.cpp"))


class Bench:
    """An untouched copy of the tree, and copies with a mutant; builds and runs their tests."""

    def __init__(self, folder, compiler):
        self.clean, self.compiler = pathlib.Path(folder, "clean"), compiler
        for name in ("include", "ports", "src", "tests"):
            shutil.copytree(ROOT / name, self.clean / name)

    def language(self, tree, build):
        folders = (tree / name for name in ("include", "ports/simd", "ports/boards", "tests", "tests/headers"))
        return (*self.compiler, "-std=c++20", *(f"-I{folder}" for folder in folders), *BUILDS[build])

    def failed_check(self, tree, test, build):
        """Runs a test in a tree. Returns the name of the check that fails, or an empty string."""
        kind, _, name = test.partition("/")
        if kind == "firmware":
            return self.unwanted_in_firmware(tree)
        if kind == "compile_fail":
            command = (sys.executable, "-B", "-m", "tests.headers.compile_fail.diagnostics", name, "--",
                       *self.language(tree, build), "-Wall", "-Wpedantic", "-Werror")
            return first_failed(*attempt(command))
        return self.failed_program(tree, test, build)

    def unwanted_in_firmware(self, tree):
        made = tree / "kernels.o"
        call([*self.compiler, f"-I{tree / 'include'}", f"-I{tree / 'ports' / 'simd'}", "-O2", *contents.EVERYTHING_ON,
              "-c", tree / "tests/products/footprint/kernels.cpp", "-o", made])
        return next(iter(contents.unwanted_in_object(made, has_fpu=True)), "")

    def failed_program(self, tree, test, build):
        calls_library = test.startswith(("answers/answers", "answers/layers", "answers/refused", "unit/compiled"))
        sources = [source_of(tree, test), "tests/support/run.cpp", *LIBRARY * calls_library]
        board = [] if test.startswith("harness/") else ["ports/boards/host/host.cpp"]  # else the test has its own board
        program = tree / f"{test}-{build}.elf".replace("/", "-")
        status, output = attempt([*self.language(tree, build), '-DBOARD_NAME="host"', "-w", *sources, *board, "-o",
                                  program], folder=tree)
        if status == 0:
            return first_failed(*attempt([program], seconds=120))
        if check := re.search(IN_THE_COMPILER, output):
            return f"{check[1] or check[2]} (in the compiler)"
        error = re.search(r"error: .*", output)
        raise Failed(f"does not compile: {error[0] if error else output[-300:]}")

    def problem_of_mutant(self, number, mutant):
        """Plants a mutant. Returns why it was not caught; prints what caught it."""
        if mutant.build.startswith("native") and mutant.file not in call([*self.language(self.clean, mutant.build), "-MM",
                                                                 source_of(self.clean, mutant.caught_by)]):
            return tap.Skip("no build on this machine uses the file")
        tree = shutil.copytree(self.clean, self.clean.with_name(str(number)), copy_function=os.link)
        mutant.plant(tree)
        check = self.failed_check(tree, mutant.caught_by, mutant.build)
        print(f"# {mutant.name:<80}  {mutant.caught_by}: {check}", flush=True)
        return "" if check else f"{mutant.caught_by} in the build {mutant.build} does not catch it"


def main(arguments):
    separator = arguments.index("--")
    words, compiler = arguments[:separator], arguments[separator + 1:]
    is_firmware = "-ffreestanding" in compiler
    mutants = [mutant for mutant in read_mutants() if is_firmware == (mutant.caught_by == "firmware")
               and (not words or any(word in mutant.name for word in words))]
    if not mutants:
        sys.exit("no mutant has such a name")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, compiler)
        tests = dict.fromkeys((mutant.caught_by, mutant.build) for mutant in mutants)
        tap.report([*((f"{test} by {build}, without a mutant", bench.failed_check, bench.clean, test, build)
                      for test, build in tests),
                    *((mutant.name, bench.problem_of_mutant, number, mutant) for number, mutant in enumerate(mutants))])


if __name__ == "__main__":
    main(sys.argv[1:])
