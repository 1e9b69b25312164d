#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the line that a chip has printed, and says whether the chip computes the bits of the project's tables.

    read.py [--row] [LINE]      without LINE from standard input, in which other lines may be
                                --row prints a row for chips.md
"""
import argparse
import json
import pathlib
import re
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FORMAT = "tinyattn-certificate-1"
FIELDS = ("library", "chip", "emulated", "core", "port", "compiler", "shapes", "crcs", "counter", "cycles", "line")
# The part number in a CPUID: the name of the core.
CORES = {0xc20: "Cortex-M0", 0xc60: "Cortex-M0+", 0xc23: "Cortex-M3", 0xc24: "Cortex-M4", 0xc27: "Cortex-M7",
         0xd20: "Cortex-M23", 0xd21: "Cortex-M33", 0xd22: "Cortex-M55", 0xd23: "Cortex-M85"}
# The ports with which ports/site/costs.json was measured.
PORTS = {"Cortex-M0": "soft", "Cortex-M3": "soft", "Cortex-M4": "fpu", "Cortex-M7": "fpu", "Cortex-M33": "fpu",
         "Cortex-M55": "helium"}


class Unreadable(Exception):
    """A sentence that says why a line cannot be read."""


def text_of(*path):
    return ROOT.joinpath(*path).read_text(encoding="utf-8")


def groups():
    """Returns [(name, CRC of any shapes, CRC of small shapes)] of the table of answers."""
    return re.findall(r'^ +\{"([^"]+)", .+?, 0x(\w{8}), 0x(\w{8})\},$', text_of("tests", "answers", "library.hpp"),
                      re.MULTILINE)


def kernels():
    return re.findall(r'::named\(\s*"(\w+)"\),', text_of("examples", "certify", "kernels.hpp"))


def version():
    return re.search(r"^  version: '([0-9.]+)'", text_of("meson.build"), re.MULTILINE)[1]


# --- The line ---


def fields_of(text):
    """Returns {field: value} of the line in a text."""
    _, name, after = text.rpartition("tinyattn-certificate-")
    if not name:
        raise Unreadable("There is no line here that begins with tinyattn-certificate.")
    line = re.sub(r"[\r\n]", "", name + after)  # a terminal may have broken it
    line = line[:(re.search(r" line=[0-9a-f]{8}", line) or re.search(r"$", line)).end()]
    written = line.split(" ", 1)[0]
    if written != FORMAT:
        raise Unreadable(f"The line has the format {written}, and this program reads {FORMAT}: use the read.py of the "
                         "library that was on the chip.")
    before, _, checksum = line.rpartition(" line=")
    if not re.fullmatch(r"[0-9a-f]{8}", checksum):
        raise Unreadable("The line is cut off: it does not end with its checksum, line=.")
    if int(checksum, 16) != zlib.crc32(before.encode()):
        raise Unreadable("The line is damaged: a character is not what the chip printed, for its checksum is another.")
    fields = dict(word.partition("=")[::2] for word in line.split()[1:])
    if tuple(fields) != FIELDS:
        raise Unreadable(f"The line has other fields than {FORMAT} has.")
    return fields


class Certificate:
    def __init__(self, text):
        self.fields = fields_of(text)
        self.table, self.kernels = groups(), kernels()
        library = self.fields["library"]
        if library != version():
            raise Unreadable(f"The chip has tinyattn {library}, and this is {version()}: use the read.py of {library}.")
        self.shapes, self.crcs = self.fields["shapes"], self.fields["crcs"].split(",")
        self.cycles = [int(number) for number in self.fields["cycles"].split(",") if number != "-"]
        if not len(self.shapes) == len(self.crcs) == len(self.table) or len(self.cycles) not in (0, len(self.kernels)):
            raise Unreadable("The line has other groups or kernels than this tree: it is of another state of the "
                             "library.")
        self.is_emulated = self.fields["emulated"] == "yes"

    def wrong(self):
        """Returns (group, CRC, CRC of the table) of each group that has not the bits of the table."""
        return [(name, crc, any_shape if shape == "a" else small)
                for (name, any_shape, small), shape, crc in zip(self.table, self.shapes, self.crcs)
                if crc != (any_shape if shape == "a" else small)]

    def core(self):
        core = self.fields["core"]
        part = int(core, 16) >> 4 & 0xfff if re.fullmatch(r"41[0-9a-f]{6}", core) else None  # of a CPUID by Arm
        return CORES.get(part, core)

    def agreement(self):
        right = len(self.crcs) - len(self.wrong())
        return f"{right} of {len(self.crcs)}, {self.shapes.count('a')} with any shapes"


# --- The project's figures ---


def figures_of(certificate):
    """Returns (their name, {kernel: text}): cycles of the project's model for this core, or instructions where the
    table has no cycles. A Cortex-M0+ gets those of a Cortex-M0."""
    costs = json.loads(text_of("ports", "site", "costs.json"))
    core = certificate.core().rstrip("+")
    board = next((board for board, name in costs["cores"].items()
                  if name == core and PORTS.get(core) == certificate.fields["port"]), None)
    measured = {name: costs["rows"].get(name, {}).get("boards", {}).get(board, {}) for name in certificate.kernels}
    kind = "cycles" if any("cycles" in row for row in measured.values()) else "instructions"
    return (f"{kind} of a {core}" if board else "the table has none",
            {name: grouped(row.get(kind)) for name, row in measured.items()})


def grouped(figure):
    """Returns a number or a range with commas."""
    if figure is None:
        return "-"
    return f"{figure:,}" if isinstance(figure, int) else " to ".join(dict.fromkeys(f"{number:,}" for number in figure))


# --- What is said ---


def report(certificate):
    fields, small = certificate.fields, certificate.shapes.count("s")
    emulated = ", emulated" if certificate.is_emulated else ""
    yield (f"{fields['chip']}{emulated}: {certificate.core()}, tinyattn {fields['library']} with the port "
           f"{fields['port']}, by {fields['compiler'].replace('-', ' ', 1)}")
    yield (f"{len(certificate.crcs)} groups of drawn calls, {len(certificate.crcs) - small} with any shapes, {small} "
           f"with small ones{' for want of memory' if small else ''}")
    yield ""
    yield from verdict(certificate.wrong())
    yield ""
    yield from cycles(certificate)


def verdict(wrong):
    if not wrong:
        yield "The chip agrees: every group has the bits of the table."
        return
    name, crc, expected = wrong[0]
    yield f"The chip does NOT agree. The first group that is wrong is `{name}`:"
    if crc.endswith("!"):
        yield "a right call was refused, a wrong one taken, or memory of others written."
    else:
        yield f"its CRC-32 is {crc}, and that of the table {expected}."
    yield "Or this tree is not of the commit that is on the chip."
    if wrong[1:]:
        yield f"Wrong, too: {'; '.join(other for other, _, _ in wrong[1:])}."


def cycles(certificate):
    time = ", in the virtual time of an emulator, which says nothing of a chip" if certificate.is_emulated else ""
    yield (f"The least cycles of three runs, by {certificate.fields['counter']}{time}." if certificate.cycles else
           "No counter of cycles was found.")
    kind, figures = figures_of(certificate)
    yield f"{'kernel':<14}{'counted':>14}{kind:>28}"
    for name, counted in zip(certificate.kernels, certificate.cycles or [None] * len(certificate.kernels)):
        yield f"{name:<14}{grouped(counted):>14}{figures[name]:>28}"


def row(certificate):
    fields = certificate.fields
    chip = f"{fields['chip']} (emulated)" if certificate.is_emulated else fields["chip"]
    has_cycles = certificate.cycles and not certificate.is_emulated
    counted = certificate.cycles if has_cycles else [None] * len(certificate.kernels)
    by = f"{fields['library']}, {fields['compiler'].replace('-', ' ', 1)}"
    cells = [chip, certificate.core(), fields["port"], by, certificate.agreement(), *map(grouped, counted)]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("line", nargs="*", help="the line; quotes are not needed")
    parser.add_argument("--row", action="store_true", help="print a row for chips.md")
    options = parser.parse_args()
    try:
        certificate = Certificate(" ".join(options.line) or sys.stdin.read())
    except Unreadable as problem:
        sys.exit(str(problem))
    print(row(certificate) if options.row else "\n".join(report(certificate)))
    sys.exit(1 if certificate.wrong() else 0)


if __name__ == "__main__":
    main()
