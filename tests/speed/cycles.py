# SPDX-License-Identifier: MIT
"""An estimate of what instructions take on a Cortex-M4, in cycles, from the timings that Arm publishes.

Arm, "Cortex-M4 Technical Reference Manual" (100166), sections 3.3.1 "Cortex-M4 instructions" and 7.2.3 "FPU instruction set table".
Flash without wait states. Where the manual gives a range: two cycles to refill the pipeline after a branch that is taken,
six for an integer division. A load or store that pipelines behind another takes less than is said here; an FPU result that the
next instruction needs, more.
"""
import bisect
import re

import building

REFILL = 2
INTEGER_DIVISION = 6
FLOAT_CYCLES = {"vdiv": 14, "vsqrt": 14, "vfma": 3, "vfms": 3, "vfnma": 3, "vfnms": 3, "vmla": 3, "vmls": 3, "vnmla": 3, "vnmls": 3}


def registers(operands):
    """How many a list in braces names: {r4, r6-r8}, {s16-s31}."""
    listed = re.search(r"\{(.*?)\}", operands)[1]
    count = 0
    for part in re.split(r",\s*", listed):
        ends = re.fullmatch(r"[a-z]+(\d+)-[a-z]+(\d+)", part.strip())
        count += int(ends[2]) - int(ends[1]) + 1 if ends else 1
    return count * (2 if listed.startswith("d") else 1)


def cycles(mnemonic, operands):
    """Of one instruction; what a taken branch takes to refill is not in it."""
    name = mnemonic.split(".")[0]
    if name.startswith(("push", "pop", "ldm", "stm", "vpush", "vpop", "vldm", "vstm")):
        return 1 + registers(operands)
    if name.startswith(("ldrd", "strd")):
        return 3
    if name.startswith(("vldr", "vstr")):
        return 3 if operands.startswith("d") else 2
    if name.startswith(("ldr", "str")):
        return 2
    if name.startswith(("sdiv", "udiv")):
        return INTEGER_DIVISION
    if name.startswith("vmov") and operands.count(",") >= 2:
        return 2  # a pair of registers
    return next((taken for prefix, taken in FLOAT_CYCLES.items() if name.startswith(prefix)), 1)


class Timings:
    """Of the instructions of one program."""

    def __init__(self, objdump, program):
        listing = building.call([objdump, "-d", "--no-show-raw-insn", program])
        found = re.findall(r"^\s*([0-9a-f]+):\t(\S+)(?:[ \t]+(.*))?$", listing, re.MULTILINE)
        self.addresses = [int(address, 16) for address, _, _ in found]
        self.cycles = [cycles(mnemonic, operands) for _, mnemonic, operands in found]

    def of(self, blocks):
        return sum(map(self.of_block, blocks))

    def of_block(self, block):
        first = bisect.bisect_left(self.addresses, block.start)
        behind = first + block.instructions
        taken = sum(times for start, times in block.followers.items() if start != self.addresses[behind])
        return sum(self.cycles[first:behind]) * block.runs + REFILL * taken
