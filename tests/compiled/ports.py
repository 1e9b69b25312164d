# SPDX-License-Identifier: MIT
"""Tests a library for several instruction sets: no code of one set leaks into the program, and the best set that the
processor has is chosen.

    ports.py LIBRARY PROGRAM RANDOM_CALLS PORT... -- COMPILER ARGUMENT...

PROGRAM prints the port that it computes with.
"""
import itertools
import pathlib
import re
import shutil
import sys
import tempfile

from ports.simd import priorities
from tests.support import tap
from tests.support.processes import ROOT, call

# Flags of three units with the port sse2, two of which may use further instructions. So they may share data, but no
# function.
SAME_PORT = ["-msse2", "-msse4.2", "-mavx2"]
# Programs that use all of the headers, and all of the compiled library.
EVERYTHING = [ROOT / "tests" / "headers" / "common_names.cpp", ROOT / "tests" / "compiled" / "everything.cpp"]
# A processor without AVX, and the features that it has.
OLD_PROCESSOR = ["qemu-x86_64", "-cpu", "Nehalem"]
OLD_FEATURES = {"-msse3", "-mssse3", "-msse4.1", "-msse4.2", "-mpopcnt"}


def symbols(binary, kinds):
    """Returns the symbols of these kinds of nm: a set for each object of a library."""
    objects = re.split(r"^\S+:$", call(["nm", binary]), flags=re.MULTILINE)
    return [set(re.findall(rf"^[0-9a-f]+ [{kinds}] (\S+)$", text, re.MULTILINE)) for text in objects]


def nothing_leaks():
    """Checks that each symbol of a port's object names the port's namespace: of any other symbol the linker would take
    the definition of either port."""
    operations = re.compile(r"_ZN8tinyattn\d+on_\w+_with_library_(\w+?)7library10operationsE")
    by_port = {match[1]: names for names in symbols(library, "A-Zu")
               for match in map(operations.fullmatch, names) if match}
    if sorted(by_port) != sorted(ports):
        return f"found the ports {sorted(by_port)}"
    return "\n".join(f"{port}: {name}" for port, names in by_port.items()
                     for name in names if f"with_library_{port}" not in name)


def flags_share_nothing():
    return "\n".join(name for source in EVERYTHING for name in shared_functions(source))


def shared_functions(source):
    """Returns the functions that units of different flags share. Compiles with -O0, so that nothing is inlined."""
    with tempfile.TemporaryDirectory() as folder:
        units = [pathlib.Path(folder, flag) for flag in SAME_PORT]
        for unit in units:
            call([*compiler, "-O0", unit.name, "-c", source, "-o", unit])
        functions = [symbols(unit, "W")[0] - {"__clang_call_terminate"} for unit in units]
    if not all(functions):
        return [f"found no function to share in {source.name}"]
    return [name for one, other in itertools.combinations(functions, 2) for name in one & other]


def chosen(*command):
    """Returns {requested port, or an empty string: the port that computes}."""
    return {port: call(command, TINYATTN_PORT=port).strip() for port in ("", *ports)}


def well_chosen(found, runnable):
    """Checks that the requested port computes if the machine can run it, else the best."""
    expected = {port: port if port in runnable else runnable[0] for port in found}
    return "" if found == expected else f"{found} instead of {expected}"


def well_chosen_here():
    found = chosen(program)
    return well_chosen(found, [port for port in ports if found[port] == port])


def well_chosen_without_avx():
    if not shutil.which(OLD_PROCESSOR[0]):
        return tap.Skip(f"there is no {OLD_PROCESSOR[0]}")
    call([*OLD_PROCESSOR, random_calls, "30"])
    needed = priorities.ports("x86_64", priorities.VECTORS)
    return well_chosen(chosen(*OLD_PROCESSOR, program),
                       [port for port in ports if OLD_FEATURES.issuperset(needed.get(port, []))])


separator = sys.argv.index("--")
library, program, random_calls = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
ports = sys.argv[4:separator]
compiler = sys.argv[separator + 1:]
tap.report([("no port leaks a function", nothing_leaks),
            ("units of one port share no function if their flags differ", flags_share_nothing),
            ("the best port is chosen", well_chosen_here),
            ("the best port and the same bits on a processor without AVX", well_chosen_without_avx)])
