# SPDX-License-Identifier: MIT
"""Tests the models of cycles/: what the sequences of sequences.toml take on each core, in QEMU.

    sequences COUNTER      the plugin, for Meson
"""
import ast
import pathlib
import re
import shutil
import sys
import tomllib

from tests.speed import counting
from tests.support import tap, targets
from tests.support.processes import call

TABLE = tomllib.loads(pathlib.Path(__file__).with_name("sequences.toml").read_text(encoding="utf-8"))["sequences"]
BOARDS = {model.removeprefix("cortex-"): board for board, _, model in counting.CORES.values() if model}
REPEATED = (8, 18)
PROGRAM = """
.syntax unified
.thumb
.section .vectors, "a"
.word stack_top, start + 1
.bss
memory: .space 256
pointer: .space 4
.text
.thumb_func
count_begin: bx lr
.size count_begin, . - count_begin
.thumb_func
count_end: bx lr
.size count_end, . - count_end
.type count_begin, %function
.type count_end, %function
.thumb_func
returns: bx lr
.thumb_func
prepare:
  ldr r6, =memory
  ldr r7, =memory + 64
  ldr r0, =pointer
  str r6, [r0]
  mov r8, r0
  movs r5, #4
  movs r0, #1
  movs r1, #1
  movs r2, #1
  movs r3, #0
  movs r4, #1
  bx lr
.thumb_func
start:
  ldr r0, =0xe000ed88  // enables the FPU, where there is one
  ldr r1, =0xf << 20
  str r1, [r0]
  dsb
  isb
{sequences}
  movs r0, #0x18  // exits, by semihosting
  ldr r1, =0x20026
  bkpt 0xab
"""
SEQUENCE = """
  bl prepare
  .balign 8
  bl count_begin
  isb  // what comes before starts nothing together with the sequence
  .rept {times}
  {code}
  .endr
  nop
  nop
  bl count_end
  b 1f
  .ltorg
1:
"""


def of_core(core):
    return [sequence for sequence in TABLE if core in sequence]


def arguments(core):
    """Returns the flags of a core: those of its board, with the core itself."""
    settings = (targets.BOARDS / BOARDS[core] / "cross.ini").read_text(encoding="utf-8")
    flags = ast.literal_eval(re.search(r"^core_args = (.*)", settings, re.MULTILINE)[1])
    return [*(flag for flag in flags if "-mcpu" not in flag), f"-mcpu=cortex-{core}"]


def measure(folder, counter, core):
    """Runs the sequences of a core. Returns the cycles of a repetition of each, as bounds."""
    sequences = (SEQUENCE.format(times=times, code=sequence["code"].replace(";", "\n"))
                 for sequence in of_core(core) for times in REPEATED)
    source, program = folder / f"{core}.s", folder / core
    source.write_text(PROGRAM.format(sequences="".join(sequences)), encoding="utf-8")
    call(["arm-none-eabi-gcc", *arguments(core), "-nostdlib", "-Wl,--no-warn-rwx-segments", f"-L{targets.BOARDS}",
          f"-T{targets.BOARDS / BOARDS[core] / 'memory.ld'}", source, "-o", program])
    plugin = ["-d", "plugin", "-plugin", f"{counter},core=cortex-{core}"]
    printed = call([*targets.emulator(BOARDS[core]), program, *plugin], seconds=60)
    if "unknown" in printed:
        raise ValueError(printed)
    counted = re.findall(rf"^\d+ cortex-{core}=(\S+)$", printed, re.MULTILINE)
    bounds = [list(map(int, its.split(".."))) for its in counted]
    few, many = REPEATED
    return [[(more - less) / (many - few) for less, more in zip(*its, strict=True)]
            for its in zip(bounds[::2], bounds[1::2], strict=True)]


def difference(sequence, core, found):
    expected = sequence[core] if isinstance(sequence[core], list) else [sequence[core]] * len(found)
    return "" if found == expected else f"{expected} cycles are expected, {found} counted; {sequence['of']}"


@tap.in_folder
def wrong_on(folder, counter, core):
    return "\n".join(f"{sequence['code']}: {what}"
                     for sequence, found in zip(of_core(core), measure(folder, counter, core), strict=True)
                     if (what := difference(sequence, core, found)))


def main(counter):
    missing = [tool for tool in ("arm-none-eabi-gcc", "qemu-system-arm") if not shutil.which(tool)]
    if missing:
        tap.report([("cycles of sequences", tap.Skip, f"there is no {missing[0]}")])
    tap.report([(f"{len(of_core(core))} sequences take the cycles of a Cortex-{core.upper()}", wrong_on, counter, core)
                for core in BOARDS])


if __name__ == "__main__":
    main(sys.argv[1])
