# SPDX-License-Identifier: MIT
"""What was measured, as tables in the comments of the Test Anything Protocol."""
import itertools

import bench
import costs


def say(text=""):
    print(f"# {text}".rstrip())


def size_and_limit(size, limit):
    return str(size) if limit is None else f"{size}/{limit}"


def print_costs(all_measured, figures):
    say("What one attention layer adds to a firmware, in bytes: size/limit. flash is what the image grows by, with every helper that comes")
    say("along; scratch the workspace; stack what the call takes, painted; static the variables of the library and of a libc.")
    say()
    say(f"{'board':<12} {'layer':<5} {'level':<5} {'flash':>11} {'scratch':>13} {'stack':>9} {'static':>8} {'RAM in all':>11}")
    for measured in all_measured:
        board, layer, level = measured.case
        if not measured.cost:
            say(f"{board:<12} {layer:<5} {level:<5} not measured")
            continue
        limit = costs.limit(measured.case, figures)
        cells = " ".join(f"{size_and_limit(size, limit and getattr(limit, what)):>{width}}"
                         for (what, size), width in zip(measured.cost.items(), (11, 13, 9, 8)))
        note = "" if measured.ran_on == board else f"  too large for its RAM; ran on {measured.ran_on}"
        say(f"{board:<12} {layer:<5} {level:<5} {cells} {measured.cost.ram():>11}{note}")


def print_helpers(all_measured):
    say()
    say("What the layers call of the compiler's own library, and of what a program without a libc must bring itself (memset and its like)")
    say()
    for board, of_board in itertools.groupby(all_measured, key=lambda measured: measured.case[0]):
        names = {name for measured in of_board for name in measured.helpers}
        say(f"{board:<12} {' '.join(sorted(names)) or 'nothing'}")


def print_kernels(kernels):
    """kernels: {board: {kernel: size}}"""
    say()
    say(f"Each kernel as all that a program calls, in bytes of flash at {bench.KERNEL_LEVEL}")
    say()
    say(" ".join([f"{'':<24}", *(f"{board:>10}" for board in kernels)]))
    for name in sorted({name for sizes in kernels.values() for name in sizes}):
        say(" ".join([f"{name.replace('_', ' '):<24}", *(f"{sizes.get(name, '-'):>10}" for sizes in kernels.values())]))


def print_include(times):
    say()
    say(f"One include of tinyattn.hpp takes {times[1]:.2f} s of processor time, {times[1] / times[0]:.1f} times that of <array>")


def print_changes(all_measured, figures):
    for measured in all_measured:
        for change in costs.changes(measured.case, measured.cost, figures) if measured.cost else []:
            say(f"changed: {change}")
