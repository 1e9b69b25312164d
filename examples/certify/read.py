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
# The part number in a CPUID: the name of the core, and of the core whose figures ports/site/costs.json has.
CORES = {0xc20: ("Cortex-M0", "Cortex-M0"), 0xc60: ("Cortex-M0+", "Cortex-M0"), 0xc23: ("Cortex-M3", "Cortex-M3"),
         0xc24: ("Cortex-M4", "Cortex-M4"), 0xc27: ("Cortex-M7", "Cortex-M7"), 0xd20: ("Cortex-M23", ""),
         0xd21: ("Cortex-M33", "Cortex-M33"), 0xd22: ("Cortex-M55", "Cortex-M55"), 0xd23: ("Cortex-M85", "")}


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
        raise Unreadable(f"The line has the format {written}, and this program reads {FORMAT}: use the read.py of the library "
                         "that was on the chip.")
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
        self.cycles = [] if self.fields["cycles"] == "-" else [int(number) for number in self.fields["cycles"].split(",")]
        if not len(self.shapes) == len(self.crcs) == len(self.table) or len(self.cycles) not in (0, len(self.kernels)):
            raise Unreadable("The line has other groups or kernels than this tree: it is of another state of the library.")
        self.is_emulated = self.fields["emulated"] == "yes"

    def wrong(self):
        """Returns (group, CRC, CRC of the table) of each group that has not the bits of the table."""
        return [(name, crc, any_shape if shape == "a" else small)
                for (name, any_shape, small), shape, crc in zip(self.table, self.shapes, self.crcs)
                if crc != (any_shape if shape == "a" else small)]

    def part(self):
        """Returns the part number of a core by Arm, else 0."""
        core = self.fields["core"]
        return int(core, 16) >> 4 & 0xfff if re.fullmatch(r"41[0-9a-f]{6}", core) else 0

    def core(self):
        return CORES.get(self.part(), (self.fields["core"], ""))[0]

    def agreement(self):
        right = len(self.crcs) - len(self.wrong())
        return f"{right} of {len(self.crcs)}, {self.shapes.count('a')} with any shapes"


# --- The project's figures ---


def figures_of(certificate):
    """Returns (their name, {kernel: text}): cycles of the project's model for this core, or instructions where the table
    has no cycles."""
    costs = json.loads(text_of("ports", "site", "costs.json"))
    core = CORES.get(certificate.part(), ("", ""))[1]
    board = next((board for board, name in costs["cores"].items() if name == core), None)
    measured = {name: costs["rows"].get(name, {}).get("boards", {}).get(board, {}) for name in certificate.kernels}
    kind = "cycles" if any("cycles" in row for row in measured.values()) else "instructions"
    return kind, {name: grouped(row.get(kind)) for name, row in measured.items()}


def grouped(figure):
    """Returns a number or a range with commas."""
    if figure is None:
        return "-"
    return f"{figure:,}" if isinstance(figure, int) else " to ".join(dict.fromkeys(f"{number:,}" for number in figure))


# --- What is said ---


def report(certificate):
    fields, wrong = certificate.fields, certificate.wrong()
    emulated = ", emulated" if certificate.is_emulated else ""
    yield (f"{fields['chip']}{emulated}: {certificate.core()}, tinyattn {fields['library']} with the port {fields['port']}, "
           f"by {fields['compiler'].replace('-', ' ', 1)}")
    small = certificate.shapes.count("s")
    yield (f"{len(certificate.crcs)} groups of drawn calls, {len(certificate.crcs) - small} with any shapes, {small} with "
           f"small ones{' for want of memory' if small else ''}")
    yield ""
    if not wrong:
        yield "The chip agrees: every group has the bits of the table."
    else:
        name, crc, expected = wrong[0]
        yield f"The chip does NOT agree. The first group that is wrong is `{name}`:"
        if crc.endswith("!"):
            yield "a right call was refused, a wrong one taken, or memory of others written."
        else:
            yield f"its CRC-32 is {crc}, and that of the table {expected}."
        if wrong[1:]:
            yield f"Wrong, too: {'; '.join(other for other, _, _ in wrong[1:])}."
    yield ""
    kind, figures = figures_of(certificate)
    counted = certificate.cycles or [None] * len(certificate.kernels)
    how = "The least cycles of three runs, counted by" if certificate.cycles else "Cycles were not counted: counter"
    time = ", in the emulator's virtual time, which says nothing of a chip" if certificate.cycles and certificate.is_emulated else ""
    yield f"{how} {fields['counter']}{time}."
    yield f"{'kernel':<14}{'counted':>14}{f'{kind} of the table':>28}"
    for name, cycles in zip(certificate.kernels, counted):
        yield f"{name:<14}{grouped(cycles):>14}{figures[name]:>28}"


def row(certificate):
    fields = certificate.fields
    chip = f"{fields['chip']} (emulated)" if certificate.is_emulated else fields["chip"]
    # An emulator's time is no chip's.
    counted = certificate.cycles if certificate.cycles and not certificate.is_emulated else [None] * len(certificate.kernels)
    cells = [chip, certificate.core(), fields["port"], f"{fields['library']}, {fields['compiler'].replace('-', ' ', 1)}",
             certificate.agreement(), *map(grouped, counted)]
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
