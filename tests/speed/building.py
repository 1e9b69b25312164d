# SPDX-License-Identifier: MIT
"""Compiles rows and links them into programs, under build/speed."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "speed" / "programs"
BUILD = ROOT / "build" / "speed"

# How much of what a failed command says is shown.
LINES, LINE = 20, 300

# Far more than anything takes.
SECONDS = 1800


class Failed(Exception):
    """What a compiler or a program said."""


def language(tree):
    """The flags by which this tree's programs take the library of a tree, this or another."""
    folders = [tree / "include", tree / "ports" / "simd", ROOT / "ports" / "boards", ROOT / "tests"]
    return ["-std=c++20", *(f"-I{folder}" for folder in folders)]


def call(command, errors=False, **environment):
    """What the command says, on its error channel too if asked for."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS,
                              check=False, env={**os.environ, "LC_ALL": "C", **environment})
    except subprocess.TimeoutExpired as problem:
        raise Failed(f"{' '.join(words)}\ndid not end within {SECONDS} s") from problem
    if done.returncode != 0:
        said = [line[:LINE] for line in (done.stdout + done.stderr).splitlines()[:LINES]]
        raise Failed("\n".join([" ".join(words), f"exit status {done.returncode}", *said]))
    return done.stdout + (done.stderr if errors else "")


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def empty_folder(*names):
    folder = BUILD.joinpath(*names)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def compile_rows(command, source, rows, folder):
    """An object for each row, by one library. command: the compiler and its flags."""

    def compile_row(row):
        made = folder / (row.name.replace(" ", "-") + ".o")
        which = [f"-DTINYATTN_BENCH_OPERATION={row.type}", f'-DTINYATTN_BENCH_NAME="{row.name}"']
        call([*command, *which, "-c", PROGRAMS / source, "-o", made])
        return made

    return in_parallel(compile_row, rows)


def version(compiler):
    """The compiler's name and release: figures of another one are not ours."""
    number = call([compiler, "-dumpfullversion", "-dumpversion"]).strip()
    return f"{pathlib.Path(compiler).name} {number}"
