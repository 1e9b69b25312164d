# SPDX-License-Identifier: MIT
"""Lists an architecture's ports, the best first, each with the compiler flags that it needs.

    priorities.py ARCHITECTURE LIST    prints a line for each port: its name, a colon, its flags

The priority lists are tinyattn/port/native.hpp and one_lane.hpp. The last two lines of an entry are a
comment with the architectures on which the port is built and the flags, and its name:

    #elif defined(__AVX2__) && defined(__FMA__)
    // on x86_64 with -mavx2 -mfma, anywhere else
    #define TINYATTN_PORT avx2
"""
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "tinyattn" / "port"
VECTORS = FOLDER / "native.hpp"
ONE_LANE = FOLDER / "one_lane.hpp"

# Meson's names.
ARCHITECTURES = "x86_64|x86|aarch64|arm|riscv64|riscv32|loongarch64|mips64|ppc64|s390x|wasm32"

NAME = re.compile(r"\s*#\s*define TINYATTN_(?:PORT|ONE_LANE) (?!TINYATTN_)(\w+)")
PLACE = re.compile(rf"(?:on ({ARCHITECTURES})|anywhere(?: else)?)(?: with (-\S+(?: -\S+)*))?")


class Unreadable(Exception):
    """An entry whose comment does not say where its port is built."""


def places(comment):
    """Returns {architecture: flags} from a comment, where None is any other architecture; {} if it names none."""
    found = [PLACE.fullmatch(place) for place in comment.strip().removeprefix("// ").split(", ")]
    return {match[1]: (match[2] or "").split() for match in found} if all(found) else {}


def entries(file):
    """Yields the name of each port, and its flags for each architecture."""
    lines = file.read_text(encoding="utf-8").splitlines()
    for number, (comment, line) in enumerate(zip(lines, lines[1:]), 2):
        if not (name := NAME.match(line)):
            continue
        if not (known := places(comment)):
            raise Unreadable(f"{file}:{number}: the line above does not say where `{name[1]}` "
                             "is built, as in // on x86_64 with -mavx2 -mfma")
        if not file.with_name(f"{name[1]}.hpp").is_file():
            raise Unreadable(f"{file}:{number}: there is no {name[1]}.hpp next to it")
        yield name[1], known


def ports(architecture, *files):
    """Returns {name: flags} of the ports that are built for this architecture."""
    known = [entry for file in files for entry in entries(pathlib.Path(file))]
    flags = {name: places.get(architecture, places.get(None)) for name, places in known}
    return {name: its_flags for name, its_flags in flags.items() if its_flags is not None}


def main(architecture, *files):
    try:
        for name, flags in ports(architecture, *files).items():
            print(f"{name}: {' '.join(flags)}")
    except Unreadable as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main(*sys.argv[1:])
