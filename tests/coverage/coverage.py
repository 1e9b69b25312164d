# SPDX-License-Identifier: MIT
"""Which lines and branches of the library its tests run: counted by Clang in the source, merged over programs and
instantiations.

    coverage.py -- CLANG

Prints a table and what is left out. What only the compiler computes is neither run nor left out: consteval functions, conditions that it
decides, comparisons that it writes itself, and what other machines compile. A function that is constexpr has to run at run time as well.
"""
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import programs  # noqa: E402
import tap  # noqa: E402

COVERED = ("include", "ports/simd", "src")
# On other machines a port of one lane computes: these programs run all that is written for it.
ONE_LANE = ("unit/attention", "unit/attention_masks", "unit/multi_head_attention", "unit/softmax_lengths", "conformance/kernels")
FLAGS = ["-O0", "-march=native", "-w", "-fprofile-instr-generate", "-fcoverage-mapping"]
LEAST_LINES = 99.0
LEAST_BRANCHES = 95.0


@dataclasses.dataclass
class File:
    """How often each line was run, and each condition (line, column) held and failed."""

    lines: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    held: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    failed: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def demand(command, tree, **environment):
    status, output = programs.call(command, tree, 300, **environment)
    if status != 0:
        raise RuntimeError(f"{command[0]}: {output[-1000:]}")
    return output


# --- One program ---


def run(compiler, tree, program, *flags):
    """The lines and branches of one program, as llvm-cov prints them."""
    profdata, cov = (demand([*compiler, f"-print-prog-name={name}"], tree).strip() for name in ("llvm-profdata", "llvm-cov"))
    stem = tree / "".join([program.name.replace("/", "-"), *flags])
    executable, raw, profile = (f"{stem}{suffix}" for suffix in (".exe", ".profraw", ".profdata"))
    demand([*compiler, *programs.FLAGS, *FLAGS, *flags, *program.sources, "-o", executable], tree)
    demand([executable], tree, LLVM_PROFILE_FILE=raw)
    demand([profdata, "merge", raw, "-o", profile], tree)
    export = [cov, "export", f"-instr-profile={profile}", executable, *(tree / folder for folder in COVERED)]
    return demand([*export, "-format=lcov"], tree), json.loads(demand([*export, "-skip-functions", "-skip-expansions"], tree))


def add_lines(files, tracefile):
    for record in tracefile.split("end_of_record"):
        name = re.search(r"^SF:(.*)", record, re.MULTILINE)
        for line, count in re.findall(r"^DA:(\d+),(\d+)", record, re.MULTILINE):
            files[name[1]].lines[int(line)] += int(count)


def add_branches(files, exported):
    for file in exported["data"][0]["files"]:
        for line, column, _, _, held, failed, *_ in file.get("branches", []):
            files[file["filename"]].held[line, column] += held
            files[file["filename"]].failed[line, column] += failed


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


def leave_out(file, text):
    for line in only_in_the_compiler(text) | on_other_machines(text, file.lines):
        del file.lines[line]
    defaulted = {line for line, code in enumerate(text.splitlines(), 1) if "= default;" in code}
    for line, column in list(file.held):
        decided = file.lines[line] and not file.held[line, column] and not file.failed[line, column]
        if decided or line not in file.lines or line in defaulted:
            del file.held[line, column], file.failed[line, column]


# --- All programs ---


def measure(compiler, tree):
    files = collections.defaultdict(File)
    runs = [(program,) for program in programs.programs(tree)]
    runs += [(program, "-DTINYATTN_PORT=fpu") for program, in runs if program.name in ONE_LANE]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for tracefile, exported in pool.map(lambda of: run(compiler, tree, *of), runs):
            add_lines(files, tracefile)
            add_branches(files, exported)
    for name, file in files.items():
        leave_out(file, pathlib.Path(name).read_text(encoding="utf-8"))
    return {str(pathlib.Path(name).relative_to(tree)): file for name, file in sorted(files.items())}


def share(*counters):
    counts = [count for counter in counters for count in counter.values()]
    return sum(count > 0 for count in counts), len(counts)


def shares(files):
    """For each file and for all: lines and branches."""
    rows = [(name, share(file.lines), share(file.held, file.failed)) for name, file in files.items()]
    return rows + [("in all", *(tuple(map(sum, zip(*column))) for column in list(zip(*rows))[1:]))]


def text_of(covered, total):
    return f"{covered}/{total} {100 * covered / total:5.1f} %" if total else "-"


def print_table(rows):
    width = max(len(name) for name, _, _ in rows)
    print(f"# {'':<{width}} {'lines':>18} {'branches':>18}")
    for name, lines, branches in rows:
        print(f"# {name:<{width}} {text_of(*lines):>18} {text_of(*branches):>18}")


def print_left_out(name, file):
    text = (ROOT / name).read_text(encoding="utf-8").splitlines()
    places = [(line, 0, "never run") for line, count in file.lines.items() if not count]
    places += [(*place, "never true") for place, count in file.held.items() if not count and file.lines[place[0]]]
    places += [(*place, "never false") for place, count in file.failed.items() if not count and file.lines[place[0]]]
    for line, _, what in sorted(places):
        print(f"# {name}:{line}: {what}: {text[line - 1].strip()}")


def at_least(least, covered, total):
    return "" if 100 * covered >= least * total > 0 else f"{text_of(covered, total)}"


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder).resolve() / "tree"
        programs.copy_tree(ROOT, tree)
        files = measure(arguments[arguments.index("--") + 1:], tree)
    rows = shares(files)
    print_table(rows)
    for name, file in files.items():
        print_left_out(name, file)
    _, lines, branches = rows[-1]
    tap.report([(f"{LEAST_LINES} % of all lines are run", lambda: at_least(LEAST_LINES, *lines)),
                (f"{LEAST_BRANCHES} % of all branches are taken", lambda: at_least(LEAST_BRANCHES, *branches))])


if __name__ == "__main__":
    main(sys.argv[1:])
