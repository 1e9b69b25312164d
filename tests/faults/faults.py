# SPDX-License-Identifier: MIT
"""Plants the faults of faults.toml, one by one, each in a copy of the tree, and says how its test caught it.

    faults.py [WORD...] -- COMPILER             all faults, or those with one of the words in their names
    faults.py --search [WORD...] -- COMPILER    where its test misses a fault, tries all others

Each fault is a test: it passes if the program that it names, in the build that it names, catches it, and passes without it.
"""
import dataclasses
import itertools
import os
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "footprint")]
import building  # noqa: E402
import contents  # noqa: E402
import measuring  # noqa: E402
import programs  # noqa: E402
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


class Broken(Exception):
    """The fault cannot be planted, or no longer compiles for another reason than a check."""


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
            raise Broken(f"in {self.file} its text stands {before.count(self.text)} times, not once")
        file.unlink()  # it is a link to that of the untouched tree
        file.write_text(before.replace(self.text, self.fault), encoding="utf-8")


@dataclasses.dataclass(frozen=True)
class Test:
    """What a tree makes to try a test, in this order: the last, if all are made, says that it passed."""

    name: str
    steps: list
    lists_files: list = ()  # the command that lists what a program includes

    def includes(self, file):
        """A script may use any."""
        said = building.call(self.lists_files).split() if self.lists_files else [file]
        return any(os.path.normpath(word).endswith(file) for word in said)

    def caught(self, failed):
        """By which check; or nothing."""
        step = next((step for step in self.steps if step in failed), None)
        if not step:
            return next(iter(contents.unwanted_in_object(FIRMWARE, self.steps[0])), "") if self.name == "firmware" else ""
        if step.suffix == ".txt":
            said = step.with_suffix(".txt.part").read_text(encoding="utf-8", errors="replace")
            check = re.search(r"^not ok \d+ - (.*)", said, re.MULTILINE)
            return check[1] if check else "it crashes or does not end"
        check = (re.search(r"in 'constexpr' expansion of '[^']*everywhere<.*?\(\(const char\*\)\"(.*?)\"\)", failed[step])
                 or re.search(r"error: (static assertion failed.*)", failed[step]))
        if not check:
            error = re.search(r"error: .*", failed[step])
            raise Broken(f"does not compile: {error[0] if error else failed[step][-300:]}")
        return f"{check[1]} (in the compiler)"


class Bench:
    """An untouched copy of the tree, and what catches faults in others."""

    def __init__(self, folder, compiler):
        self.folder = folder
        self.compiler = compiler
        self.clean = folder / "clean"
        programs.copy_tree(building.ROOT, self.clean)
        self.build = building.Build(folder / "built")
        self.sources = programs.programs(self.clean)

    def declare(self, build, tree, name, flags):
        """A program, `firmware`, or `refusals`, of which a name may follow."""
        folder, _, stem = name.partition("/")
        tests = tree / "tests"
        language = (f"-I{tests}", *building.language(tree), *programs.flags(tree), *flags)
        if folder == "firmware":
            kernels = tests / "footprint" / "kernels.cpp"
            return Test(name, [build.compile(FIRMWARE, kernels, *building.language(tree), "-O2", *measuring.EVERYTHING_ON)])
        if folder == "refusals":
            command = [sys.executable, "-B", tests / "support" / "refusals.py", tests / "refusals", *filter(None, [stem]), "--"]
            said = build.folder / f"{tree.name}-refusals-{stem}.txt"
            return Test(name, [build.step("run", said, [], [*command, *self.compiler, *language, "-Wall", "-Wpedantic", "-Werror"])])
        if name not in self.sources:
            raise Broken(f"there is no test {name}")
        host = building.host(self.compiler)
        sources = [tree / source for source in self.sources[name]]
        objects = [build.compile(host, source, *language, "-w") for source in sources]
        program = build.link(host, re.sub(r"\W+", "-", " ".join([tree.name, name, *flags])), objects, *flags)
        return Test(name, [*objects, program, build.run(host, program)], [*self.compiler, *language, "-MM", *sources])

    def plant(self, number, fault):
        """Its test in the untouched tree and in one with the fault; or what is wrong."""
        tool = FIRMWARE.cpp[0] if fault.caught_by == "firmware" else self.compiler[0]
        if not shutil.which(tool):
            return tap.Skip(f"there is no {tool}")
        tree = shutil.copytree(self.clean, self.folder / str(number), copy_function=os.link)
        try:
            fault.plant(tree)
            return [self.declare(self.build, where, fault.caught_by, BUILDS[fault.build]) for where in (self.clean, tree)]
        except Broken as error:
            return str(error)

    def search(self, number, fault):
        """The first that catches it: of all programs that include the file, in all builds; then of the scripts."""
        for in_build, name in [*itertools.product(BUILDS, self.sources), (fault.build, "refusals"), (fault.build, "firmware")]:
            build = building.Build(self.folder / "search")
            trees = (self.clean, self.folder / str(number))
            untouched, planted = (self.declare(build, tree, name, BUILDS[in_build]) for tree in trees)
            if untouched.includes(fault.file):
                failed = build.make()
                if planted.caught(failed) and not untouched.caught(failed):
                    return f", but {name} in the build {in_build} does: {planted.caught(failed)}"
        return ""

    def try_all(self, faults, searches):
        """For each fault what caught it, and what is wrong."""
        all_planted = [self.plant(number, fault) for number, fault in enumerate(faults)]
        failed = self.build.make()
        for number, (fault, planted) in enumerate(zip(faults, all_planted)):
            if isinstance(planted, str):
                yield "", planted
                continue
            try:
                before, caught = (test.caught(failed) for test in planted)
                if before:
                    yield "", f"{fault.caught_by} fails without the fault: {before}"
                elif caught:
                    yield f"{fault.caught_by}: {caught}", ""
                elif fault.file.startswith("ports/simd/") and not planted[0].includes(fault.file):
                    yield "", tap.Skip("no build on this machine uses the file")
                else:
                    found = self.search(number, fault) if searches else ""
                    yield "", f"{fault.caught_by} in the build {fault.build} does not catch it{found}"
            except Broken as error:
                yield "", str(error)


def main(arguments):
    separator = arguments.index("--")
    words = [word for word in arguments[:separator] if word != "--search"]
    faults = [Fault(**fault) for fault in tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8"))["fault"]]
    faults = [fault for fault in faults if not words or any(word in fault.name for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), tuple(arguments[separator + 1:]))
        results = list(bench.try_all(faults, "--search" in arguments))
    width = max(len(fault.name) for fault in faults)
    for fault, (caught, problem) in zip(faults, results):
        print(f"# {fault.name:<{width}}  {caught or problem}")
    tap.report([(fault.name, lambda problem=problem: problem) for fault, (_, problem) in zip(faults, results)])


if __name__ == "__main__":
    main(sys.argv[1:])
