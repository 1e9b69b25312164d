# SPDX-License-Identifier: MIT
"""Runs the exporter within this process or as a command, judges its answer, and runs what it wrote."""
import contextlib
import functools
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from ports.pytorch.tinyattn_export import command_line
from tests.products.export.files import safetensors
from tests.support import processes
from tests.support.tap import in_folder

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXPORT = (sys.executable, "-B", ROOT / "ports" / "pytorch" / "export.py")
EXPECTED = HERE / "expected.json"
COMPILER = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
IS_NIGHT = "each_night" in sys.argv
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror")
QUICKLY = ("-O0", "-DTINYATTN_KERNEL=[[gnu::noinline]] constexpr")  # to compile
ARGUMENTS = ("--num-heads", "2", "--context-length", "5", "--causal")
SECONDS = 2.0  # of processor time, for any file
STREAMS = threading.RLock()  # guards the standard streams, and what tests patch
TOLERANCE, OF_LARGEST = 4e-6, 8e-6  # of a layer, absolute; of a model, relative to the largest output
# Relative, with int8 weights, whose inputs have 14 bits: of a layer or encoder; of a language model. Of int8 keys, too.
FINE_INT8, COARSE_INT8, OF_INT8_CACHE = 2e-4, 1e-3, 2e-2


def run(*arguments, main=command_line.main):
    """Runs the exporter, or another command, within this process. Returns its exit status, stdout and stderr."""
    output, errors = io.StringIO(), io.StringIO()
    with STREAMS, contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as usage:
            status = usage.code
    return status, output.getvalue(), errors.getvalue()


def call(*command, **settings):
    return subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", errors="replace",
                          check=False, **settings)


def command(*arguments):
    """Runs export.py as a command. Returns the same as run."""
    done = call(*EXPORT, *arguments)
    return done.returncode, done.stdout, done.stderr


def contents(folder):
    return {(path.name, path.read_bytes()) for path in folder.iterdir()}


def answer(folder, *arguments, by=run):
    """Runs the exporter. Returns its exit status, its output, and what is wrong with them. Either it writes a complete
    header; or it changes and adds no file, and prints one sentence, or its usage, on stderr. It must be quick."""
    header = folder / "model.hpp"
    for path in (header, folder / "weights.bin"):
        path.write_text("earlier")
    before, start = contents(folder), time.thread_time()
    try:
        status, output, errors = by("-o", header, *arguments)
    except Exception as problem:  # of any kind: it should have been an error message
        return 1, "", f"{type(problem).__name__}: {problem}"
    seconds = time.thread_time() - start
    changed = {name for name, _ in before ^ contents(folder)}
    if status == 0:
        is_whole = header.read_text().endswith("}  // namespace model\n")
        is_right = not errors and changed - {"weights.bin"} == {"model.hpp"} and is_whole
    else:
        wanted = {1: r"export\.py: .+\n", 2: r"usage: (.|\n)+"}.get(status, "")
        is_right = not output and not changed and re.fullmatch(wanted, errors)
    text = f"exit status {status}, {seconds} s, changed {changed}: {output[:200]}{errors[:500]}"
    return status, output + errors, "" if is_right and seconds < SECONDS else text


@in_folder
def answer_problem(folder, phrase, content, arguments=ARGUMENTS, files=None, suffix=".safetensors",
                   is_accepted=False, by=run):
    """Returns what is wrong with the answer to a file that must be refused with `phrase`, or be accepted. FOLDER, in an
    argument or in `files`, becomes the folder of the files."""
    weights = folder / f"weights{suffix}"
    weights.write_bytes(content)
    words = placed(arguments, files or {}, folder)
    status, output, problem = answer(folder, weights, *words, by=by)
    is_right = is_accepted == (status == 0) and phrase in output
    return problem or ("" if is_right else f"expected: {phrase}\n{output}")


def placed(arguments, files, folder):
    """Writes files into a folder. Returns the arguments. FOLDER, in both, becomes the folder."""
    for name, text in files.items():
        (folder / name).write_text(text.replace("FOLDER", str(folder)))
    return [argument.replace("FOLDER", str(folder)) for argument in arguments]


def arguments_of(case, folder):
    return placed(case.arguments, case.files, folder)


def write_layouts(folder, cases, more=""):
    """Exports layers and models, each into a folder of its name: as constants and with a binary, which the assembler puts
    into read-only memory. layouts.hpp includes them all, and names them in LAYOUTS; `more` is C++ that follows."""
    includes, layouts, placed = [], [], [".section .rodata"]
    for name, case in cases.items():
        place, binary = folder / name, f"in_binary_{name}"
        place.mkdir()
        (place / "weights.safetensors").write_bytes(safetensors(case.tensors))
        request = [place / "weights.safetensors", *arguments_of(case, place)]
        report = must_run(*request, "-o", place / "model.hpp", "--name", name)
        must_run(*request, "-o", place / "binary.hpp", "--name", binary, "--binary", place / "weights.bin")
        count = re.search(r"; (\d+) parameters", report)[1]
        includes += [f'#include "{name}/{header}.hpp"' for header in ("model", "binary")]
        includes.append(f'extern "C" const {binary}::Weights placed_{name};  // where the linker has put the binary')
        layouts.append(f"use({name}, {case.part}, {len(case.input)}, {count})")
        placed += [".balign 4", f".globl placed_{name}", f'placed_{name}: .incbin "{place}/weights.bin"']
    (folder / "layouts.hpp").write_text("\n".join([*includes, f"#define LAYOUTS(use) {' '.join(layouts)}", more, ""]))
    (folder / "weights.s").write_text("\n".join([*placed, ""]))


def found_by(folder, cases, options, more=""):
    """Compiles layers and models in one program, and runs it. Returns {name: what it printed}: first with constants,
    then with a binary."""
    write_layouts(folder, cases, more)
    processes.call([*COMPILER, *options, "-I", folder, HERE / "program.cpp", folder / "weights.s", "-o", folder / "program"])
    numbers = " ".join(str(value) for case in cases.values() for row in 2 * case.input for value in row)
    printed = processes.call([folder / "program"], text=numbers).split("= ")[1:]
    return {name: output.split() for name, output in (one.split("\n", 1) for one in printed)}


def must_run(*arguments):
    status, output, errors = run(*arguments)
    if status:
        raise processes.Failed(errors)
    return output


def points(cases, expected, options, more=""):
    """Returns points for tap.report: each layer or model computes what PyTorch computed, as a constant, from a binary
    and in C."""
    home = tempfile.TemporaryDirectory()
    try:
        found = found_by(pathlib.Path(home.name), cases, options, more)
    except processes.Failed as problem:
        return [("the layouts compile, and run", str(problem))]
    return [(f"as PyTorch: {name}", lambda name=name: difference(found[name], cases[name], expected[name])
             or in_c_problem(pathlib.Path(home.name, name), cases[name], found[name])) for name in cases]


@functools.cache
def library():
    """Returns the compiled library in one unit, what the compiler said, and the folder that it is in."""
    folder = tempfile.TemporaryDirectory()
    path = f"{folder.name}/library.o"
    source = ROOT / "src" / "library.cpp"
    return path, call(*COMPILER, *QUICKLY, "-fno-exceptions", "-c", source, "-o", path).stderr, folder


def c_compiler(*arguments):
    """Runs the C compiler that belongs to the C++ compiler."""
    name = COMPILER[0].replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc")
    return call(name, "-std=c99", *WARNINGS, "-I", ROOT / "include", *arguments)


def program_in_c(folder, case):
    """Compiles what --c wrote to in_c.h and in_c.c. Returns what the compiler said."""
    struct = re.search(r"const tinyattn_(\w+) in_c;", (folder / "in_c.h").read_text())[1].upper()
    with STREAMS:
        path, problem, _ = library()
    done = c_compiler(f"-D{struct}", f"-DTOKENS={len(case.input)}", "-I", folder, HERE / "in_c.c", folder / "in_c.c",
                      path, "-o", folder / "in_c")
    return problem + done.stderr[:2000]


def is_not_for_c(errors, case):
    words = {*case.arguments, *re.findall(r"qwen3|neox|phi|gptj|gemma", case.files.get("config.json", ""))}
    return "in C a l" in errors and words & {"--window", "--cache", "qwen3", "neox", "phi", "gptj", "gemma"}


def in_c_problem(folder, case, wanted):
    """Checks that the export in C99 compiles without a warning, and computes the header's bits, as text."""
    status, _, errors = run(folder / "weights.safetensors", *arguments_of(case, folder), "-o", folder / "in_c.h", "--c",
                            "--name", "in_c")
    if status:
        return "" if is_not_for_c(errors, case) else errors
    problem = program_in_c(folder, case)
    numbers = " ".join(str(value) for row in case.input for value in row)
    found, wanted = problem or call(folder / "in_c", input=numbers).stdout.split(), wanted[:len(wanted) // 2]
    return "" if found == wanted else f"in C {found[:2000]}\nby the header {wanted[:100]}"


def difference(found, case, expected):
    """Returns how a program's outputs and tokens, which it prints twice, differ from PyTorch's."""
    output = [value for row in expected["output"] for value in row]
    largest = max(map(abs, output))
    tolerance = TOLERANCE if case.part == "attention" else OF_LARGEST * largest
    if "--weights" in case.arguments:
        tolerance = (COARSE_INT8 if expected["tokens"] else FINE_INT8) * largest
    if "--cache" in case.arguments:
        tolerance = OF_INT8_CACHE * largest
    wanted = 2 * (output + expected["tokens"])
    is_near = len(found) == len(wanted) and all(abs(float(a) - b) <= tolerance for a, b in zip(found, wanted))
    return "" if is_near else f"not PyTorch's, to {tolerance}: {found[:100]}\n{wanted[:100]}"
