# SPDX-License-Identifier: MIT
"""Tests a library for several instruction sets: no code of one set leaks into the program.

    ports.py LIBRARY PORT... -- COMPILER ARGUMENT...
"""
import itertools
import pathlib
import re
import sys
import tempfile

from tests.support import tap
from tests.support.processes import ROOT, call

# Flags of three units with the port sse2, two of which may use further instructions: these may share data, but no
# functions.
SAME_PORT = ["-msse2", "-msse4.2", "-mavx2"]
OPERATIONS = re.compile(r"_ZN8tinyattn\d+on_\w+_with_library_(\w+?)7library10operationsE")


def symbols(binary, kinds):
    """Returns the symbols of these kinds of nm: a set for each object of a library."""
    objects = re.split(r"^\S+:$", call(["nm", binary]), flags=re.MULTILINE)
    return [set(re.findall(rf"^[0-9a-f]+ [{kinds}] (\S+)$", text, re.MULTILINE)) for text in objects]


def nothing_leaks():
    """Checks that each symbol of a port's object names the port's namespace: for any other
    symbol the linker would keep one port's definition."""
    by_port = {match[1]: names for names in symbols(library, "A-Zu")
               for match in map(OPERATIONS.fullmatch, names) if match}
    if sorted(by_port) != sorted(ports):
        return f"found the ports {sorted(by_port)}"
    return "\n".join(f"{port}: {name}" for port, names in by_port.items()
                     for name in names if f"with_library_{port}" not in name)


def shares_nothing(source):
    """Checks that units of different flags share no function. With -O0 nothing is inlined."""
    with tempfile.TemporaryDirectory() as folder:
        units = [pathlib.Path(folder, flag) for flag in SAME_PORT]
        for unit in units:
            call([*compiler, "-O0", unit.name, "-c", ROOT / "tests" / source, "-o", unit])
        functions = [symbols(unit, "W")[0] - {"__clang_call_terminate"} for unit in units]
    if not all(functions):
        return "found no function to share"
    return "\n".join(name for one, other in itertools.combinations(functions, 2) for name in one & other)


separator = sys.argv.index("--")
library, *ports = sys.argv[1:separator]
compiler = sys.argv[separator + 1:]
tap.report([("no port leaks a function", nothing_leaks),
            *((f"units of one port share no function of {source}", shares_nothing, source)
              for source in ("headers/common_names.cpp", "products/compiled/everything.cpp"))])
