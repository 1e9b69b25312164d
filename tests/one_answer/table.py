# SPDX-License-Identifier: MIT
"""One answer everywhere: compares the bits that every target and every set of flags computes with those of the compiler itself.

    table.py FOLDER     builds in FOLDER; prints the table, and a test of the Test Anything Protocol for each program and workload
"""
import dataclasses
import pathlib
import re
import struct
import sys
import zlib

import cells

FAILED_STEP = re.compile(r"^FAILED: (\S+).*\n.*\n((?:(?!\[\d+/\d+\]|FAILED: |ninja: ).*\n)*)", re.MULTILINE)
LINES_OF_A_STEP = 20


@dataclasses.dataclass
class Tensor:
    name: str
    extents: list
    words: list

    def element(self, position):
        """(2, 3) for a position in row-major order."""
        indices = []
        for extent in reversed(self.extents):
            position, index = divmod(position, extent)
            indices.insert(0, index)
        return f"({', '.join(map(str, indices))})"

    def __str__(self):
        return f"{self.name} [{', '.join(map(str, self.extents))}]"


@dataclasses.dataclass
class Answer:
    """What one program computed for one workload; without a CRC it was too large for the target."""

    tensors: list = dataclasses.field(default_factory=list)
    crc: str = ""

    def crc_of_words(self):
        words = [word for tensor in self.tensors for word in tensor.words]
        return f"{zlib.crc32(struct.pack(f'<{len(words)}I', *words)):08x}"


@dataclasses.dataclass
class Printed:
    """A program's answers by workload. `ended` is missing if it broke off."""

    port: str = ""
    answers: dict = dataclasses.field(default_factory=dict)
    ended: bool = False


# --- Reading ---


def read(text):
    """See print.hpp."""
    printed = Printed()
    answer = Answer()
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "port":
            printed.port = rest
        elif kind == "workload":
            answer = printed.answers.setdefault(rest, Answer())
        elif kind == "output":
            name, extents = re.fullmatch(r"(.*?)((?: \d+)+)", rest).groups()
            answer.tensors.append(Tensor(name, [int(extent) for extent in extents.split()], []))
        elif kind == "bits":
            answer.tensors[-1].words = [int(word, 16) for word in rest.split()]
        elif kind == "crc":
            answer.crc = rest
        printed.ended = kind == "end"
    return printed


# --- Comparing ---


def difference(answer, first):
    """What differs first, or nothing."""
    for tensor, expected in zip(answer.tensors, first.tensors):
        if str(tensor) != str(expected) or len(tensor.words) != len(expected.words):
            return f"{tensor} instead of {expected}"
        for position, (word, expected_word) in enumerate(zip(tensor.words, expected.words)):
            if word != expected_word:
                return f"{tensor}, element {tensor.element(position)}: {word:08x} instead of {expected_word:08x}"
    if len(answer.tensors) != len(first.tensors):
        return f"{len(answer.tensors)} tensors instead of {len(first.tensors)}"
    if answer.crc != answer.crc_of_words():
        return f"CRC {answer.crc} instead of {answer.crc_of_words()}"
    return ""


def first_answers(all_printed):
    """For each workload the first row that has it: the compiler, or else the scalar port."""
    firsts = {}
    for printed in all_printed:
        for workload, answer in printed.answers.items():
            if answer.crc:
                firsts.setdefault(workload, answer)
    return firsts


def combined_crc(printed, workloads):
    """A CRC of the CRCs."""
    crcs = [printed.answers.get(workload, Answer()).crc for workload in workloads]
    return f"{zlib.crc32(struct.pack(f'<{len(crcs)}I', *(int(crc, 16) for crc in crcs))):08x}" if crcs and all(crcs) else "-" * 8


class Points:
    """The Test Anything Protocol, with its plan at the end."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def add(self, name, problem="", skipped=""):
        self.count += 1
        self.failed += bool(problem)
        print(f"{'not ok' if problem else 'ok'} {self.count} - {name}{' # SKIP ' + skipped if skipped else ''}")
        for line in problem.splitlines():
            print(f"# {line}")


def check(cell, printed, firsts, workloads, points):
    """One point for each workload that a program of this kind computes."""
    for workload in workloads:
        name = f"{cell.name}: {workload}"
        answer = printed.answers.get(workload)
        if answer is None:
            points.add(name, "not computed" if printed.ended else "the program broke off before it")
        elif not answer.crc and printed.ended:
            points.add(name, skipped="too large for its RAM")
        else:
            points.add(name, difference(answer, firsts[workload]) if answer.crc else "the program broke off in it")


# --- Showing ---


def show(line=""):
    print(f"# {line}".rstrip())


def show_workloads(firsts, in_the_compiler):
    show("CRC-32    first computed by    workload")
    for workload, answer in firsts.items():
        show(f"{answer.crc}  {'the compiler' if workload in in_the_compiler else 'the scalar port':<19}  {workload}")


def show_rows(all_cells, results, firsts, in_the_compiler):
    """A line for each row and contraction; a column for each level."""
    show(f"{'target and flags':<52}{'port':<8}{'contract':<10}{''.join(f'{level:<10}' for level in cells.LEVELS)}equal")
    lines = {}
    for cell in all_cells:
        lines.setdefault((cell.row, cell.contract), []).append(cell)
    for (row, contract), line in lines.items():
        crcs = {cell.level: combined_crc(results[cell.name], in_the_compiler) for cell in line}
        columns = "".join(f"{crcs.get(level, ''):<10}" for level in cells.LEVELS) if contract else f"{crcs['']:<40}"
        answers = [(answer, firsts[workload]) for cell in line for workload, answer in results[cell.name].answers.items() if answer.crc]
        equal = sum(not difference(answer, first) for answer, first in answers)
        show(f"{row:<52}{results[line[0].name].port:<8}{contract:<10}{columns}{equal} of {len(answers)}")


def main(folder):
    all_cells = cells.all_cells()
    texts, said = cells.build(all_cells, folder)
    results = {cell.name: read(texts.get(cell.name, "")) for cell in all_cells}
    firsts = first_answers(results.values())
    in_the_compiler = list(results[all_cells[0].name].answers)

    show(f"{len(firsts)} workloads, {len(all_cells)} programs: the CRC-32 of the bits of everything that they compute")
    show()
    show_workloads(firsts, in_the_compiler)
    show()
    show(f"CRC-32 of the {len(in_the_compiler)} that the compiler computes; how many workloads have the bits of the first row")
    show()
    show_rows(all_cells, results, firsts, in_the_compiler)

    points = Points()
    for cell in all_cells:
        check(cell, results[cell.name], firsts, list(firsts) if cell.level else in_the_compiler, points)
    for step, text in FAILED_STEP.findall(said):
        points.add(f"{step} is built", "\n".join(text.splitlines()[:LINES_OF_A_STEP]) or "it failed")
    print(f"1..{points.count}")
    sys.exit(points.failed != 0 or not firsts)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
