# SPDX-License-Identifier: MIT
"""Does the table see what differs, and name it? What two programs could have printed, the second with a mistake."""
import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cells  # noqa: E402
import table  # noqa: E402
import tap  # noqa: E402

WORDS = ["00000001", "00000002", "00000003", "00000004"]


def printed(words=(*WORDS,), extents="2 2", crc=None):
    """A workload `sum` with one output."""
    answer = table.Answer([table.Tensor("out", [], [int(word, 16) for word in words])])
    return f"port scalar\nworkload sum\noutput out {extents}\nbits {' '.join(words)}\ncrc {crc or answer.crc_of_words()}\n"


def problem(text, memory=cells.ENOUGH_MEMORY):
    """What the table says of a program that printed `text`, beside one that printed the right thing."""
    firsts = table.first_answers([table.read(printed())])
    cell = types.SimpleNamespace(name="target", level="-O2", machine=types.SimpleNamespace(memory=memory))
    [verdict] = table.check(cell, table.read(text), firsts, [])
    return f"{verdict.name}: {verdict.problem}"


def expect(expected, *arguments):
    """The problem of a text, where another is expected."""
    actual = problem(*arguments)
    return "" if actual == f"target: sum: {expected}" else actual


CHECKS = [
    ("the same bits are the same", lambda: expect("", printed())),
    ("one bit that differs is named by target, workload and element",
     lambda: expect("out [2, 2], element (1, 0): 00000013 instead of 00000003", printed([*WORDS[:2], "00000013", WORDS[3]]))),
    ("another shape is another answer", lambda: expect("out [4] instead of out [2, 2]", printed(extents="4"))),
    ("an element too few", lambda: expect("out [2, 2] instead of out [2, 2]", printed(WORDS[:3]))),
    ("a CRC that is not that of the bits", lambda: expect("CRC 0badc0de instead of " + printed().split()[-1], printed(crc="0badc0de"))),
    ("a workload that is not computed", lambda: expect("not computed", "port scalar\n")),
    ("a program that broke off", lambda: expect("not computed", printed().partition("crc")[0], 1024)),
    ("too large where there is memory", lambda: expect("too large", "port scalar\nworkload sum\ntoo large\n")),
    ("too large where there is little", lambda: expect("", "port scalar\nworkload sum\ntoo large\n", 1024)),
]

if __name__ == "__main__":
    tap.report(CHECKS)
