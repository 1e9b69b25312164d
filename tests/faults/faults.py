# SPDX-License-Identifier: MIT
"""Plants the faults of faults.toml, one by one, each in a copy of the tree, and says how its test caught it.

    faults.py [WORD...] -- COMPILER     all faults, or those with one of the words in their names

Each fault is a test: it passes if the program that it names, in the build that it names, catches it, and passes without it.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib
import typing

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "footprint")]
import building  # noqa: E402
import contents  # noqa: E402
import tap  # noqa: E402

# Each sees what the others cannot: a port of its own, or what becomes of a product that meets an addition.
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
FIRMWARE = building.board("mps2-an386")  # its FPU computes in float only
IN_THE_COMPILER = r"in 'constexpr' expansion of '[^']*everywhere<.*?\(\(const char\*\)\"(.*?)\"\)|error: (static assertion failed.*)"


class NotCaught(Exception):
    """Why a fault was not caught, or could not be tried."""


class Fault(typing.NamedTuple):
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
            raise NotCaught(f"in {self.file} its text stands {before.count(self.text)} times, not once")
        file.unlink()  # it is a link to that of the untouched tree
        file.write_text(before.replace(self.text, self.fault), encoding="utf-8")


def language(tree, fault):
    return (f"-I{tree / 'tests'}", *building.language(tree), *BUILDS[fault.build])


class Bench:
    """An untouched copy of the tree, copies with a fault, and what builds and runs their tests."""

    def __init__(self, folder, compiler):
        self.folder, self.clean = folder, folder / "clean"
        self.compiler = compiler
        self.build = building.Build(folder / "built")
        for name in ("include", "ports", "src", "tests"):
            shutil.copytree(building.ROOT / name, self.clean / name)

    def plant(self, number, fault):
        """The steps of its test in the untouched tree and in one with the fault."""
        if fault.caught_by == "firmware" and not shutil.which(FIRMWARE.cpp[0]):
            raise NotCaught(tap.Skip(f"there is no {FIRMWARE.cpp[0]}"))
        if fault.build == "native" and fault.file not in self.files_of(fault):
            raise NotCaught(tap.Skip("no build on this machine uses the file"))
        planted = shutil.copytree(self.clean, self.folder / str(number), copy_function=os.link)
        fault.plant(planted)
        return [self.steps(tree, fault) for tree in (self.clean, planted)]

    def files_of(self, fault):
        """What its test includes."""
        return building.call([*self.compiler, *language(self.clean, fault), "-MM", self.clean / "tests" / f"{fault.caught_by}.cpp"])

    def steps(self, tree, fault):
        """What a tree makes to try the test, in this order: all of it if the test passes."""
        kind, _, name = fault.caught_by.partition("/")
        tests = tree / "tests"
        if kind == "firmware":
            kernels = tests / "footprint" / "kernels.cpp"
            return [self.build.compile(FIRMWARE, kernels, *building.language(tree), "-O2", *contents.EVERYTHING_ON)]
        if kind == "refusals":
            command = [sys.executable, "-B", tests / "support" / "refusals.py", tests / "refusals", name, "--", *self.compiler]
            said = self.build.folder / f"{tree.name}-refusals-{name}.txt"
            return [self.build.step("run", said, [], [*command, *language(tree, fault), "-Wall", "-Wpedantic", "-Werror"])]
        return self.program(tree, fault)

    def program(self, tree, fault):
        test, host = fault.caught_by, building.host(self.compiler)
        sources = [f"tests/{test}.cpp", "tests/support/run.cpp", *(["src/library.cpp"] if "compiled" in test else [])]
        if not (tree / sources[0]).is_file():
            raise NotCaught(f"there is no test {test}")
        objects = [self.build.compile(host, tree / source, *language(tree, fault), "-w") for source in sources]
        board = [] if test.startswith("harness/") else self.build.support(host)  # the harness plays one itself
        name = re.sub(r"\W+", "-", f"{tree.name} {test} {fault.build}")
        program = self.build.link(host, name, objects + board, *BUILDS[fault.build])
        return [*objects, program, self.build.run(host, program)]


def failed_check(test, steps, failed):
    """Of a test that failed."""
    step = next((step for step in steps if step in failed), None)
    if not step:
        return next(iter(contents.unwanted_in_object(FIRMWARE, steps[0])), "") if test == "firmware" else ""
    if step.suffix == ".txt":
        said = step.with_suffix(".txt.part").read_text(encoding="utf-8", errors="replace")
        check = re.search(r"^not ok \d+ - (.*)", said, re.MULTILINE)
        return check[1] if check else "it crashes or does not end"
    if check := re.search(IN_THE_COMPILER, failed[step]):
        return f"{check[1] or check[2]} (in the compiler)"
    error = re.search(r"error: .*", failed[step])
    raise NotCaught(f"does not compile: {error[0] if error else failed[step][-300:]}")


def what_caught(fault, planted, failed):
    without, caught = (failed_check(fault.caught_by, steps, failed) for steps in planted)
    if without:
        raise NotCaught(f"{fault.caught_by} fails without the fault: {without}")
    if not caught:
        raise NotCaught(f"{fault.caught_by} in the build {fault.build} does not catch it")
    return f"{fault.caught_by}: {caught}"


def attempt(function, *arguments):
    """What the function returns, and why the fault is not caught: one of them."""
    try:
        return function(*arguments), ""
    except NotCaught as why:
        return "", why.args[0]


def main(arguments):
    separator = arguments.index("--")
    words, compiler = arguments[:separator], arguments[separator + 1:]
    listed = tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8"))
    faults = [Fault(file, name, **fault) for file, named in listed.items() for name, fault in named.items()
              if not words or any(word in name for word in words)]
    if not faults:
        sys.exit("no fault has such a name")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), tuple(compiler))
        planted = [attempt(bench.plant, number, fault) for number, fault in enumerate(faults)]
        failed = bench.build.make()
        results = [("", why) if why else attempt(what_caught, fault, steps, failed) for fault, (steps, why) in zip(faults, planted)]
    width = max(len(fault.name) for fault in faults)
    for fault, (by, why) in zip(faults, results):
        print(f"# {fault.name:<{width}}  {by or why}")
    tap.report([(fault.name, lambda why: why, why) for fault, (_, why) in zip(faults, results)])


main(sys.argv[1:])
