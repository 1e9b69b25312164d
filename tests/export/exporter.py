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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPORT = (sys.executable, "-B", ROOT / "ports" / "pytorch" / "export.py")
EXPECTED = HERE / "expected.json"
COMPILER = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
IS_NIGHT = "each_night" in sys.argv
QUICKLY = ("-O0", "-DTINYATTN_KERNEL=[[gnu::noinline]] constexpr")  # to compile
ARGUMENTS = ("--num-heads", "2", "--context-length", "5", "--causal")
SECONDS = 2.0  # of processor time, for any file
STREAMS = threading.RLock()  # guards the standard streams, and what tests patch
TOLERANCE, OF_LARGEST = 4e-6, 8e-6  # of a layer, absolute; of a model, relative to its largest output
# With int8 weights, whose inputs have 14 bits, relative: of a layer or encoder; of a language model.
FINE_INT8, COARSE_INT8 = 2e-4, 1e-3


def in_folder(check):
    """Decorates a check: its first argument becomes an empty folder of its own."""
    @functools.wraps(check)
    def with_folder(*arguments, **settings):
        with tempfile.TemporaryDirectory() as name:
            return check(pathlib.Path(name), *arguments, **settings)
    return with_folder


def run(*arguments):
    """Runs the exporter within this process. Returns its exit status, stdout and stderr."""
    output, errors = io.StringIO(), io.StringIO()
    with STREAMS, contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = command_line.main([str(argument) for argument in arguments])
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


@in_folder
def computes(folder, content, case, expected, options):
    """Checks that the layer or model, compiled with these options, computes what PyTorch computed: as a constant, from
    a binary that the assembler puts into read-only memory, and in C."""
    weights, arguments = folder / "weights.safetensors", arguments_of(case, folder)
    weights.write_bytes(content)
    for more in (("model.hpp",), ("binary.hpp", "--name", "binary", "--binary", folder / "weights.bin")):
        status, _, errors = run(weights, "-o", folder / more[0], *more[1:], *arguments)
        if status:
            return errors
    (folder / "weights.s").write_text(
        f'.section .rodata\n.balign 4\n.globl placed\nplaced: .incbin "{folder}/weights.bin"\n')
    done = call(*COMPILER, *options, f"-DPART={case.part}", f"-DTOKENS={len(case.input)}", "-I", folder,
                HERE / "program.cpp", folder / "weights.s", "-o", folder / "program")
    if done.returncode:
        return done.stderr[:2000]
    numbers = " ".join(str(value) for row in 2 * case.input for value in row)
    found = call(folder / "program", input=numbers).stdout.split()
    return (difference(list(map(float, found)), case, expected)
            or in_c_problem(folder, [weights, *arguments], numbers, found[:len(found) // 2], case))


@functools.cache
def library():
    """Returns the compiled library in one unit, what the compiler said, and the folder that it is in."""
    folder = tempfile.TemporaryDirectory()
    path = f"{folder.name}/library.o"
    source = ROOT / "src" / "library.cpp"
    return path, call(*COMPILER, *QUICKLY, "-fno-exceptions", "-c", source, "-o", path).stderr, folder


def c_compiler(*arguments):
    """Runs the compiler of C that belongs to that of C++."""
    name = COMPILER[0].replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc")
    return call(name, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-I", ROOT / "include",
                *arguments)


def program_in_c(folder, case):
    """Compiles what --c wrote to in_c.h and in_c.c. Returns what the compiler said, and whether the model has an int8
    cache."""
    text = (folder / "in_c.h").read_text()
    kind = re.search(r"const tinyattn_(\w+) in_c;", text)[1].upper()
    function = re.search(r"/\* For (\w+)", text)[1]
    has_int8_cache = function.endswith("int8_cache")
    with STREAMS:
        path, problem, _ = library()
    done = c_compiler(f"-D{kind}", f"-DFORWARD={function}", f"-DTOKENS={len(case.input)}",
                      f"-DCACHE_WORD={'uint32_t' if has_int8_cache else 'float'}", "-I", folder,
                      HERE / "in_c.c", folder / "in_c.c", path, "-o", folder / "in_c")
    return problem + done.stderr[:2000], has_int8_cache


def is_not_for_c(errors, case):
    return "in C a layer has no" in errors and {"--window", "--cache"} & {*case.arguments}


def in_c_problem(folder, request, numbers, wanted, case):
    """Checks that the export in C99 compiles without a warning, and computes the bits of the header, as text. An int8
    cache changes logits: only tokens are compared."""
    status, _, errors = run(*request, "-o", folder / "in_c.h", "--c", "--name", "in_c")
    if status:
        return "" if is_not_for_c(errors, case) else errors
    problem, has_int8_cache = program_in_c(folder, case)
    found = problem or call(folder / "in_c", input=numbers).stdout.split()
    if has_int8_cache:
        found, wanted = found[-8:], wanted[-8:]
    return "" if found == wanted else f"in C {found[:2000]}\nby the header {wanted[:100]}"


def difference(found, case, expected):
    """Returns how the outputs and tokens of a program, which prints them twice, differ from those of PyTorch."""
    output = [value for row in expected["output"] for value in row]
    largest = max(map(abs, output))
    tolerance = TOLERANCE if case.part == "attention" else OF_LARGEST * largest
    if "--weights" in case.arguments:
        tolerance = (COARSE_INT8 if expected["tokens"] else FINE_INT8) * largest
    wanted = 2 * (output + expected["tokens"])
    is_near = len(found) == len(wanted) and all(abs(a - b) <= tolerance for a, b in zip(found, wanted))
    return "" if is_near else f"not PyTorch's, to {tolerance}: {found[:100]}\n{wanted[:100]}"
