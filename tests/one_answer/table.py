# SPDX-License-Identifier: MIT
"""One answer everywhere: compares the bits that all builds computed with those of the compiler itself.

    table SUITE FOLDER    reads what the tests of a suite printed when tests/run last ran them in the builds of the
                          folder; prints the table, and a point of the Test Anything Protocol for each program and
                          workload
"""
import collections
import dataclasses
import json
import pathlib
import sys

from tests.one_answer import answers
from tests.support import tap


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of the table: one program and its outputs."""

    row: str
    flags: str
    is_small: bool  # its machine has little memory: a workload may be missing
    port: str
    workloads: dict  # {name: outputs}

    def is_of_the_compiler(self):
        return self.row.startswith("compiler")


def read_cells(log):
    """Yields the Cells of a log, in the order of Meson's list of tests."""
    tests = json.loads((log.parents[1] / "meson-info" / "intro-tests.json").read_text(encoding="utf-8"))
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    output = {test["name"].rpartition(" / ")[2]: test.get("stdout", "") for test in map(json.loads, lines)}
    for test in tests:
        if f"tinyattn:{log.stem}" in test["suite"]:
            row, _, flags = test["name"].partition(" ")
            yield Cell(row, flags, "tinyattn:small" in test["suite"], *answers.read(output.get(test["name"], "")))


def compare(cell, firsts, finite):
    """Returns {workload: problem} of a cell. `firsts`: {workload: expected outputs}."""
    return {workload: answers.problem_of(cell.workloads.get(workload, ""), firsts[workload], cell.is_small)
            for workload in (finite if cell.is_of_the_compiler() else firsts)}


def print_line(cell, problems, finite):
    possible = [problem for problem in problems.values() if not isinstance(problem, tap.Skip)]
    crc = answers.crc("".join(cell.workloads.get(workload, "") for workload in finite))
    note = "  <-- not one answer" if any(possible) else ""
    print(f"# {cell.row:<32}{cell.flags:<24}{cell.port:<10}{crc}  {possible.count('')} of {len(possible)}{note}")


def main(suite, folder):
    logs = sorted(pathlib.Path(folder).glob(f"*/meson-logs/{suite}.json"),
                  key=lambda log: (log.parents[1].name != "gcc", log))
    cells = sorted((cell for log in logs for cell in read_cells(log)), key=lambda cell: not cell.is_of_the_compiler())
    # The expected outputs of each workload are of the first cell that has it: the compiler, or else a port of this
    # machine.
    firsts = collections.ChainMap(*({workload: outputs
                                     for workload, outputs in cell.workloads.items() if outputs != answers.TOO_LARGE}
                                    for cell in cells))
    finite = list(next(cell.workloads for cell in cells if cell.is_of_the_compiler()))
    print(f"# CRC-32 of the {len(finite)} workloads that compilers compute; "
          f"how many of all {len(firsts)} have the first bits:\n#")
    print(f"# {'target':<32}{'flags':<24}{'port':<10}{'CRC-32':<10}equal")
    tests = []
    for cell in cells:
        problems = compare(cell, firsts, finite)
        print_line(cell, problems, finite)
        tests += [(f"{cell.row} {cell.flags}: {workload}", problem) for workload, problem in problems.items()]
    tap.report(tests)


if __name__ == "__main__":
    main(*sys.argv[1:])
