# SPDX-License-Identifier: MIT
"""A library for several instruction sets: nothing leaks from one into the program, each of them can be chosen, and all give the same bits.

    ports.py LIBRARY PROGRAM PORT... -- COMPILER ARGUMENT...
"""
import functools
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

# Three units with the port of SSE2, two of which may use more of the processor. They may share data, but no function.
SAME_PORT = ["-msse2", "-msse4.2", "-mavx2"]

# What uses all of the headers, and all of the compiled library.
EVERYTHING = ["tests/headers/common_names.cpp", "tests/compiled/everything.cpp"]

# A processor without AVX, and what else it has.
OLD_PROCESSOR = ["qemu-x86_64", "-cpu", "Nehalem"]
OLD_FEATURES = {"-msse3", "-mssse3", "-msse4.1", "-msse4.2", "-mpopcnt"}

# What a port must not hold: a function that programs of any instruction set may hold too, and the linker would take either.
PLANTED = "inline int shared(int x) { return x; }\nint (*kept)(int) = shared;\n"

SYMBOL = re.compile(r"^[0-9a-f]+ ([A-Zu]) (\S+)$", re.MULTILINE)


def call(command, port=None):
    environment = {name: value for name, value in os.environ.items() if name != "TINYATTN_PORT"}
    if port:
        environment["TINYATTN_PORT"] = port
    done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def port_of(symbols):
    named = [re.match(r"_ZN8tinyattn\d+on_\w+_with_library_(\w+?)7library10operationsE$", name) for _, name in symbols]
    return next((match[1] for match in named if match), None)


def leaks(symbols, port):
    """Symbols that others can see, and that do not bear the name of the library's own namespaces."""
    return [name for _, name in symbols if f"with_library_{port}" not in name]


def objects(archive):
    """The symbols of each object that a linker sees."""
    return [SYMBOL.findall(text) for text in re.split(r"\n\n\S+:\n|^\n?\S+:\n", "\n" + call(["nm", archive]))]


def nothing_leaks(archive, ports):
    by_port = {port_of(symbols): symbols for symbols in objects(archive) if port_of(symbols)}
    if sorted(by_port) != sorted(ports):
        return f"found the ports {sorted(map(str, by_port))}"
    found = {port: leaks(symbols, port) for port, symbols in by_port.items()}
    return "\n".join(f"{port}: {name}" for port, names in found.items() for name in names)


def a_leak_is_found(compiler):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "planted.cpp"
        source.write_text(PLANTED)
        call([*compiler, "-mavx2", "-O0", "-c", source, "-o", f"{source}.o"])
        found = leaks(SYMBOL.findall(call(["nm", f"{source}.o"])), "avx2")
    return "" if any("shared" in name for name in found) else f"found only {found}"


def functions(compiler, source, *arguments):
    """What the linker takes from any unit that has it. Without optimization nothing is inlined."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "unit.o"
        call([*compiler, "-O0", *arguments, "-c", ROOT / source, "-o", made])
        return {name for kind, name in SYMBOL.findall(call(["nm", made])) if kind == "W" and name != "__clang_call_terminate"}


def flags_share_nothing(compiler):
    shared = []
    for source in EVERYTHING:
        units = [functions(compiler, source, flag) for flag in SAME_PORT]
        if not all(units):
            return f"found no function to share in {source}"
        shared += [name for a, b in itertools.combinations(units, 2) for name in a & b]
    return "\n".join(shared)


def runs_here(port, program):
    return call([program], port).split()[0] == port


def same_bits(port, program):
    chosen, checksum = call([program], port).split()
    if chosen != port:
        return tap.Skip(f"this processor lacks {port}")
    expected = call([program], "scalar").split()[1]
    return "" if checksum == expected else f"{checksum} instead of {expected}"


def the_best_is_chosen(ports, program):
    best = next(port for port in ports if runs_here(port, program))
    chosen = call([program]).split()[0]
    return "" if chosen == best else f"{chosen} instead of {best}"


def runs_on_an_old_processor(ports, program):
    if not shutil.which(OLD_PROCESSOR[0]):
        return tap.Skip(f"there is no {OLD_PROCESSOR[0]}")
    asked_of = ladder.ports("x86_64", ladder.VECTORS)
    runnable = [port for port in ports if OLD_FEATURES.issuperset(asked_of.get(port, []))]
    checksum = call([program]).split()[1]
    for wanted in (None, *ports):
        expected = [wanted if wanted in runnable else runnable[0], checksum]
        chosen = call([*OLD_PROCESSOR, program], wanted).split()
        if chosen != expected:
            return f"asked for {wanted or 'no port'}: {chosen} instead of {expected}"
    return ""


def main(archive, program, *ports, compiler):
    checks = [("no port leaks a function", functools.partial(nothing_leaks, archive, ports)),
              ("a leak that is planted is found", functools.partial(a_leak_is_found, compiler)),
              ("units of one port share no function if their flags differ", functools.partial(flags_share_nothing, compiler)),
              ("the best port is chosen", functools.partial(the_best_is_chosen, ports, program)),
              ("the same bits on a processor without AVX",
               functools.partial(runs_on_an_old_processor, ports, program))]
    tap.report(checks + [(f"the bits of {port}", functools.partial(same_bits, port, program)) for port in ports])


separator = sys.argv.index("--")
main(*sys.argv[1:separator], compiler=sys.argv[separator + 1:])
