# SPDX-License-Identifier: MIT
"""Does the table see what differs, and name it? What two programs could have printed, the second with a mistake."""
import answers
import cells
import table
import tap

RIGHT = "scalar\nsum\nout [2, 2]: 00000001 00000002 00000003 00000004\n"
PLENTY, LITTLE = cells.ENOUGH_MEMORY, 1024
CHECKS = [
    ("the same bits are the same", RIGHT, PLENTY, ""),
    ("one bit that differs is named by output and element, with its value", RIGHT.replace("00000003", "3f800000"), PLENTY,
     "out [2, 2], element [1, 0]: 3f800000 = 1 instead of 00000003 = 4.20389539e-45; 1 of 4 elements differ"),
    ("another shape is another answer", RIGHT.replace("2, 2", "4"), PLENTY, "out [4], element [0] instead of out [2, 2], element [0, 0]"),
    ("an element too few", RIGHT.replace(" 00000004", ""), PLENTY, "nothing instead of out [2, 2], element [1, 1]"),
    ("an output too many", RIGHT + "next [1]: 3f800000\n", PLENTY, "next [1], element [0] instead of nothing"),
    ("a workload that is not computed", "scalar\n", PLENTY, "not computed"),
    ("a program that broke off", "scalar\nsum\n", LITTLE, "not computed"),
    ("too large where there is memory", "scalar\nsum\ntoo large: \n", PLENTY, "too large"),
    ("too large where there is little is skipped", "scalar\nsum\ntoo large: \n", LITTLE, tap.Skip("too large for its RAM")),
]


def check(printed, memory, expected):
    """What the table says of a program that printed this, beside one that printed the right thing."""
    (_, first), (_, computed) = answers.read(RIGHT), answers.read(printed)
    problem = table.problem_of(computed.get("sum"), table.first_answers([first, computed])["sum"], memory)
    return "" if (problem, type(problem)) == (expected, type(expected)) else f"{problem!r} instead of {expected!r}"


tap.report([(name, lambda rest=rest: check(*rest)) for name, *rest in CHECKS])
