# SPDX-License-Identifier: MIT
"""Tests what examples/certify/read.py says: of the line that this machine prints, of lines that are damaged, and of
chips whose port is broken.

    certificates.py CHIP CHIP_IS_BROKEN      the program, and one whose port breaks the contract as MUTANT says
"""
import json
import re
import sys
import zlib

from tests.support import tap
from tests.support.processes import ROOT, attempt, call

CERTIFY = ROOT / "examples" / "certify"
READ = (sys.executable, "-B", CERTIFY / "read.py")
CHIP, BROKEN = sys.argv[1:]
LINE = call([CHIP])
AGREES = "The chip agrees: every group has the bits of the table."
PORT = re.search(r"port=(\w+)", LINE)[1]


def says(text, status, pattern, *options):
    found = attempt([*READ, *options], text=text)
    return "" if found[0] == status and re.search(pattern, found[1]) else str(found)


def changed(pattern, to):
    """Returns the line with another field, and the checksum that a chip would have printed then."""
    text, count = re.subn(pattern, to, LINE.partition(" line=")[0])
    assert count == 1, pattern
    return f"{text} line={zlib.crc32(text.encode()):08x}\n"


def broken(number):
    status, line = attempt([BROKEN], MUTANT=str(number))
    return line


def finds(number, group, why):
    return says(broken(number), 1, rf"NOT agree\. The first group that is wrong is `{group}`:\n.*{why}")


def puts_cycles_beside(part, core, port, has_figures=True):
    """Checks the figures of a chip of Arm: its own beside the project's, of all kernels or of none."""
    line = changed(r"core=\S+ port=\S+(.*)counter=.*",
                   rf"core=410f{part} port={port}\1counter=dwt cycles=1,2,3,4,5,6,7,1234567")
    costs = json.loads((ROOT / "ports/site/costs.json").read_text(encoding="utf-8"))
    board = next(board for board, name in costs["cores"].items() if name == core.rstrip("+"))
    figure = costs["rows"]["sample"]["boards"][board]
    least = figure.get("cycles", figure["instructions"])
    least = f"{least if isinstance(least, int) else least[0]:,}" if has_figures else "-"
    others = r"((?! -\n)(.|\n))*" if has_figures else r"(.*\n)(.* -\n)+"
    return says(line, 0, rf": {re.escape(core)},(.|\n)*by dwt\.\n{others}sample +1,234,567 +{least}")


tap.report([
    ("the line of this machine", says, LINE, 0, rf"^host: .*, tinyattn .* with the port {PORT}, (.|\n)*{AGREES}"),
    ("among other lines, broken by a terminal", says, f"boot\r\n{LINE[:70]}\r\n{LINE[70:]}\r\nbye\n", 0, AGREES),
    ("no line", says, "", 1, "^There is no line here"),
    ("a line that is cut off", says, LINE[:200], 1, "^The line is cut off"),
    ("a digit that is changed", says, LINE.replace("d9284795", "d9284796"), 1, "^The line is damaged"),
    ("an old format", says, changed("certificate-1", "certificate-0"), 1, "^The line has the format .*-0, and this"),
    ("an old library", says, changed(r"library=\S+", "library=0.1.0"), 1, "^The chip has tinyattn 0.1.0, and this"),
    ("another number of groups", says, changed("crcs=", "crcs=01234567,"), 1, "^The line has other groups"),
    ("other fields", says, changed(" port=", " Port="), 1, "^The line has other fields"),
    ("a chip that is wrong in one group", says, changed("crcs=([0-9a-f]*),", r"crcs=\1,0"), 1,
     "NOT agree. The first group that is wrong is `softmax`:\nits CRC-32 is 0"),
    ("a port that is sound", lambda: says(broken(0), 0, AGREES)),
    ("an fma that rounds twice", finds, 1, "matmul, matmul_transposed", "its CRC-32 is"),
    ("zeros after a partial load", finds, 2, "softmax", "its CRC-32 is"),
    ("int8 sums that forget their end", finds, 3, "forward, cross_forward: int8", "its CRC-32 is"),
    ("a store of one too many", finds, 4, "matmul, matmul_transposed", "memory of others written"),
    ("cycles of a Cortex-M4", puts_cycles_beside, "c241", "Cortex-M4", "fpu"),
    ("cycles of a Cortex-M4 without an FPU", puts_cycles_beside, "c241", "Cortex-M4", "soft", False),
    ("cycles of a Cortex-M0+", puts_cycles_beside, "c601", "Cortex-M0+", "soft"),
    ("cycles of a Cortex-M55", puts_cycles_beside, "d221", "Cortex-M55", "helium"),
    ("a row for the page of chips", says, LINE, 0,
     r"^\| host \| .* \| 20 of 20, 3 with any shapes( \| -){8} \|\n$", "--row"),
])
