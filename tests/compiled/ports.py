# SPDX-License-Identifier: MIT
"""A library for several instruction sets: nothing leaks from one into the program, and the best that a processor has is chosen.

    ports.py LIBRARY PROGRAM RANDOM_CALLS PORT... -- COMPILER ARGUMENT...

PROGRAM prints the port that it computes with.
"""
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "ports" / "simd")]
import ladder
import tap

# Flags of three units with the port of SSE2, two of which may use more of the processor. They may share data, but no function.
SAME_PORT = ["-msse2", "-msse4.2", "-mavx2"]
# What uses all of the headers, and all of the compiled library.
EVERYTHING = ["tests/headers/common_names.cpp", "tests/compiled/everything.cpp"]
# A processor without AVX, and what else it has.
OLD_PROCESSOR = ["qemu-x86_64", "-cpu", "Nehalem"]
OLD_FEATURES = {"-msse3", "-mssse3", "-msse4.1", "-msse4.2", "-mpopcnt"}
# What a port must not hold: a function that programs of any instruction set may hold too, and the linker would take either.
PLANTED = "inline int shared(int x) { return x; }\nint (*kept)(int) = shared;\n"


def call(command, port=None, program=None):
    environment = {name: value for name, value in os.environ.items() if name != "TINYATTN_PORT"}
    environment |= {"TINYATTN_PORT": port} if port else {}
    command = [str(word) for word in command]
    done = subprocess.run(command, env=environment, input=program, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def symbols(binary):
    """What a linker sees, as {symbol: kind}; of a library, for each object."""
    objects = re.split(r"^\S+:$", call(["nm", binary]), flags=re.MULTILINE)
    return [{name: kind for kind, name in re.findall(r"^[0-9a-f]+ ([A-Zu]) (\S+)$", text, re.MULTILINE)} for text in objects]


def symbols_of(compiler, program, *flags):
    """Without optimization nothing is inlined."""
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder) / "unit.o"
        call([*compiler, "-O0", *flags, "-c", "-x", "c++", "-", "-o", unit], program=program)
        return symbols(unit)[0]


def leaks(names, port):
    """Symbols that do not bear the name of the library's own namespaces."""
    return [f"{port}: {name}" for name in names if f"with_library_{port}" not in name]


def nothing_leaks(library, ports, compiler):
    if not any("shared" in leak for leak in leaks(symbols_of(compiler, PLANTED, "-mavx2"), "avx2")):
        return "a function that is planted is not found"
    operations = re.compile(r"_ZN8tinyattn\d+on_\w+_with_library_(\w+?)7library10operationsE")
    by_port = {match[1]: names for names in symbols(library) for match in map(operations.fullmatch, names) if match}
    if sorted(by_port) != sorted(ports):
        return f"found the ports {sorted(by_port)}"
    return "\n".join(leak for port, names in by_port.items() for leak in leaks(names, port))


def flags_share_nothing(compiler):
    shared = []
    for source in EVERYTHING:
        units = [symbols_of(compiler, f'#include "{ROOT / source}"\n', flag) for flag in SAME_PORT]
        functions = [{name for name, kind in unit.items() if kind == "W"} - {"__clang_call_terminate"} for unit in units]
        if not all(functions):
            return f"found no function to share in {source}"
        shared += [name for a, b in itertools.combinations(functions, 2) for name in a & b]
    return "\n".join(shared)


def chosen_well(program, ports, runnable, *emulator):
    """The port that is asked for, or else the best."""
    for wanted in (None, *ports):
        chosen = call([*emulator, program], wanted).strip()
        if chosen != (wanted if wanted in runnable else runnable[0]):
            return f"asked for {wanted or 'no port'}, of {runnable}: {chosen}"
    return ""


def chosen_well_here(program, ports):
    return chosen_well(program, ports, [port for port in ports if call([program], port).strip() == port])


def chosen_well_without_avx(program, random_calls, ports):
    if not shutil.which(OLD_PROCESSOR[0]):
        return tap.Skip(f"there is no {OLD_PROCESSOR[0]}")
    call([*OLD_PROCESSOR, random_calls, "30"])
    needed = ladder.ports("x86_64", ladder.VECTORS)
    return chosen_well(program, ports, [port for port in ports if OLD_FEATURES.issuperset(needed.get(port, []))], *OLD_PROCESSOR)


separator = sys.argv.index("--")
library, program, random_calls, *ports = sys.argv[1:separator]
compiler = sys.argv[separator + 1:]
tap.report([("no port leaks a function", lambda: nothing_leaks(library, ports, compiler)),
            ("units of one port share no function if their flags differ", lambda: flags_share_nothing(compiler)),
            ("the best port is chosen", lambda: chosen_well_here(program, ports)),
            ("the best port and the same bits on a processor without AVX", lambda: chosen_well_without_avx(program, random_calls, ports))])
