# SPDX-License-Identifier: MIT
"""Which lines and branches of the library its tests run: counted by Clang in the source, merged over programs and
instantiations.

    coverage.py -- CLANG

Prints a table and what is left out. What only the compiler computes is neither run nor left out: consteval functions, conditions that it
decides, comparisons that it writes itself, and what other machines compile. A function that is constexpr has to run at run time as well.
"""
import collections
import json
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import building  # noqa: E402
import programs  # noqa: E402
import tap  # noqa: E402

COVERED = [ROOT / folder for folder in ("include", "ports/simd", "src")]
# On other machines a port of one lane computes: these programs run all that is written for it.
ONE_LANE = ("unit/attention", "unit/attention_masks", "unit/multi_head_attention", "unit/softmax_lengths", "conformance/kernels")
FLAGS = ["-O0", "-march=native", "-w", "-fprofile-instr-generate", "-fcoverage-mapping", "-fconstexpr-steps=100000000"]
LEAST_LINES = 99.0
LEAST_BRANCHES = 95.0


# --- One program ---


def declare(build, machine, tools, name, sources, *flags):
    """Lines and branches of one program, each in a file as llvm-cov prints them. Profiles of programs are not merged: macros differ."""
    profdata, cov = tools
    objects = [build.compile(machine, ROOT / source, *building.language(), *programs.flags(build.folder), *FLAGS, *flags)
               for source in sources]
    # Without the = of a flag: env would take the program for a variable.
    executable = build.link(machine, re.sub(r"\W+", "-", " ".join([name, *flags])), objects, *FLAGS)
    raw, profile = (executable.with_suffix(suffix) for suffix in (".profraw", ".profdata"))
    said = build.step("run", executable.with_suffix(".txt"), [executable], ["env", f"LLVM_PROFILE_FILE={raw}", executable])
    merged = build.step("run", executable.with_suffix(".merged"), [said], [profdata, "merge", raw, "-o", profile])
    export = [cov, "export", f"-instr-profile={profile}", executable, *COVERED]
    return (build.step("run", executable.with_suffix(".lcov"), [merged], [*export, "-format=lcov"]),
            build.step("run", executable.with_suffix(".json"), [merged], [*export, "-skip-functions", "-skip-expansions"]))


def add_lines(lines, tracefile):
    """lines: {file: {line: how often it was run}}"""
    for name, record in re.findall(r"^SF:(.*)\n((?:.|\n)*?)^end_of_record", tracefile, re.MULTILINE):
        lines[name].update({int(line): int(count) for line, count in re.findall(r"^DA:(\d+),(\d+)", record, re.MULTILINE)})


def add_branches(branches, exported):
    """branches: {file: {(line, column, what a condition may be): how often it was}}"""
    for file in exported["data"][0]["files"]:
        for line, column, _, _, held, failed, *_ in file.get("branches", []):
            branches[file["filename"]].update({(line, column, "true"): held, (line, column, "false"): failed})


# --- What does not count ---


def lines_between(text, start, end):
    return range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2)


def only_in_the_compiler(text):
    """The lines of consteval functions, and of those that exist to stop a compiler."""
    functions = re.finditer(r"^ *(?:static |inline )*(?:consteval |void must_)[^;{]*\{(?:.|\n)*?\}$", text, re.MULTILINE)
    return {line for function in functions for line in lines_between(text, function.start(), function.end())}


def on_other_machines(text, lines):
    """Where one branch of an #if is run, the lines of its others."""
    others = set()
    for group in re.finditer(r"^#if(?:(?!^#(?:if|endif))(?:.|\n))*^#endif", text, re.MULTILINE):
        mentioned = lines_between(text, group.start(), group.end())
        if any(lines[line] for line in mentioned):
            others.update(line for line in mentioned if not lines[line])
    return others


def counted(text, lines, branches):
    """Those that count."""
    left_out = only_in_the_compiler(text) | on_other_machines(text, lines)
    lines = {line: count for line, count in lines.items() if line not in left_out}
    text = text.splitlines()

    def decided(line, column):
        return lines[line] and not branches[line, column, "true"] and not branches[line, column, "false"]

    return lines, {(line, column, what): count for (line, column, what), count in branches.items()
                   if line in lines and "= default;" not in text[line - 1] and not decided(line, column)}


# --- All programs ---


def measure(compiler, folder):
    """{file: (lines, branches)}"""
    build, machine = building.Build(folder), building.host(compiler)
    tools = [building.call([*compiler, f"-print-prog-name={name}"]).strip() for name in ("llvm-profdata", "llvm-cov")]
    programs.write_reference(folder)
    sources = programs.programs(ROOT)
    made = [declare(build, machine, tools, name, sources[name]) for name in sources]
    made += [declare(build, machine, tools, name, sources[name], "-DTINYATTN_PORT=fpu") for name in ONE_LANE]
    build.demand()
    lines, branches = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for tracefile, exported in made:
        add_lines(lines, tracefile.read_text(encoding="utf-8"))
        add_branches(branches, json.loads(exported.read_text(encoding="utf-8")))
    return {name.relative_to(ROOT): counted(name.read_text(encoding="utf-8"), lines[str(name)], branches[str(name)])
            for name in map(pathlib.Path, sorted(lines))}


def share(counts):
    """How many are not zero, of how many."""
    covered = sum(count > 0 for count in counts)
    return covered, len(counts), f"{covered}/{len(counts)} {100 * covered / len(counts):5.1f} %" if counts else "-"


def print_not_run(name, lines, branches):
    text = (ROOT / name).read_text(encoding="utf-8").splitlines()
    places = [(line, 0, "run") for line, count in lines.items() if not count]
    places += [place for place, count in branches.items() if not count and lines[place[0]]]
    for line, _, what in sorted(places):
        print(f"# {name}:{line}: never {what}: {text[line - 1].strip()}")


def at_least(least, counts):
    covered, total, said = share(counts)
    return "" if 100 * covered >= least * total > 0 else said


def main(compiler):
    with tempfile.TemporaryDirectory() as folder:
        files = measure(compiler, pathlib.Path(folder).resolve())
    in_all = [[count for file in files.values() for count in file[which].values()] for which in (0, 1)]
    print(f"# {'':<50} {'lines':>18} {'branches':>18}")
    rows = [(name, *(counts.values() for counts in file)) for name, file in files.items()]
    for name, of_lines, of_branches in [*rows, ("in all", *in_all)]:
        print(f"# {str(name):<50} {share(of_lines)[2]:>18} {share(of_branches)[2]:>18}")
    for name, file in files.items():
        print_not_run(name, *file)
    lines, branches = in_all
    tap.report([(f"{LEAST_LINES} % of all lines are run", lambda: at_least(LEAST_LINES, lines)),
                (f"{LEAST_BRANCHES} % of all branches are taken", lambda: at_least(LEAST_BRANCHES, branches))])


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--") + 1:])
