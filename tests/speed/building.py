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
INCLUDES = [f"-I{ROOT / folder}" for folder in ("include", "ports/simd", "ports/boards", "tests")]
LANGUAGE = ["-std=c++20", *INCLUDES]


class Failed(Exception):
    """What a compiler or a program said."""


def call(command, errors=False, **environment):
    """What the command says, on its error channel too if asked for."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", check=False, env={**os.environ, "LC_ALL": "C", **environment})
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}\nexit status {done.returncode}\n{done.stdout}{done.stderr}".rstrip())
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
        call([*command, f"-DTINYATTN_BENCH_OPERATION={row.type}", f'-DTINYATTN_BENCH_NAME="{row.name}"', "-c", PROGRAMS / source, "-o", made])
        return made

    return in_parallel(compile_row, rows)


def version(compiler):
    """The compiler's name and release: figures of another one are not ours."""
    number = call([compiler, "-dumpfullversion", "-dumpversion"]).strip()
    return f"{pathlib.Path(compiler).name} {number}"
