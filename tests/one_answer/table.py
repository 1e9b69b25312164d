# SPDX-License-Identifier: MIT
"""One answer everywhere: compares the bits that every target and every set of flags computes with those of the compiler itself.

    table.py FOLDER           builds in FOLDER; prints the table, and a test of the Test Anything Protocol for each program and workload
    table.py FOLDER ROW...    only the compiler's own rows, and those whose names contain one of these words
    table.py --every FOLDER   with the columns that say hardly more than others
"""
import argparse
import dataclasses
import itertools
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
    """What one program computed for one workload."""

    tensors: list = dataclasses.field(default_factory=list)
    crc: str = ""
    too_large: bool = False  # for the target

    def crc_of_words(self):
        words = [word for tensor in self.tensors for word in tensor.words]
        return f"{zlib.crc32(struct.pack(f'<{len(words)}I', *words)):08x}"


@dataclasses.dataclass
class Printed:
    """A program's answers by workload."""

    port: str = ""
    answers: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Verdict:
    name: str
    problem: str
    too_large: bool = False


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
        elif line == "too large":
            answer.too_large = True
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


def problem_of(answer, first, memory):
    """What is wrong with an answer, or nothing. Where there is little memory, one may be missing."""
    if answer is None or not (answer.crc or answer.too_large):
        return "not computed"
    if answer.crc:
        return difference(answer, first)
    return "" if memory < cells.ENOUGH_MEMORY else "too large"


def check(cell, printed, firsts, in_the_compiler):
    """A verdict for each workload that a program of this kind computes."""
    workloads = list(firsts) if cell.level else in_the_compiler
    answers = [(workload, printed.answers.get(workload)) for workload in workloads]
    return [Verdict(f"{cell.name}: {workload}", problem_of(answer, firsts[workload], cell.machine.memory), bool(answer and answer.too_large))
            for workload, answer in answers]


# --- Showing ---


def show(line=""):
    print(f"# {line}".rstrip())


def show_workloads(firsts, in_the_compiler):
    show("CRC-32    first computed by    workload")
    for workload, answer in firsts.items():
        show(f"{answer.crc}  {'the compiler' if workload in in_the_compiler else 'the scalar port':<19}  {workload}")


def show_line(line, results, verdicts, in_the_compiler):
    """The cells of one row and one contraction, which differ in their level."""
    crcs = {cell.level: combined_crc(results[cell.name], in_the_compiler) for cell in line}
    columns = "".join(f"{crcs.get(level, ''):<10}" for level in cells.LEVELS) if line[0].level else f"{crcs['']:<40}"
    computed = [verdict for cell in line for verdict in verdicts[cell.name] if not verdict.too_large]
    equal = sum(not verdict.problem for verdict in computed)
    note = "" if equal == len(computed) else "  <-- not one answer"
    show(f"{line[0].row:<52}{results[line[0].name].port:<8}{line[0].contract:<10}{columns}{equal} of {len(computed)}{note}")


def show_rows(all_cells, results, verdicts, in_the_compiler):
    show(f"{'target and flags':<52}{'port':<8}{'contract':<10}{''.join(f'{level:<10}' for level in cells.LEVELS)}equal")
    for _, line in itertools.groupby(all_cells, key=lambda cell: (cell.row, cell.contract)):
        show_line(list(line), results, verdicts, in_the_compiler)
    for row, of_row in itertools.groupby(all_cells, key=lambda cell: cell.row):
        for workload in sorted({workload for cell in of_row for workload, answer in results[cell.name].answers.items() if answer.too_large}):
            show(f"too large for {row}: {workload}")


def report(verdicts):
    """The Test Anything Protocol. Exits with the verdict of all."""
    print(f"1..{len(verdicts)}")
    for number, verdict in enumerate(verdicts, 1):
        skipped = " # SKIP too large for its RAM" if verdict.too_large else ""
        print(f"{'not ok' if verdict.problem else 'ok'} {number} - {verdict.name}{skipped}")
        for line in verdict.problem.splitlines():
            print(f"# {line}")
    sys.exit(not verdicts or any(verdict.problem for verdict in verdicts))


def failed_steps(said):
    return [Verdict(f"{step} can be built", "\n".join(text.splitlines()[:LINES_OF_A_STEP]) or "it failed")
            for step, text in FAILED_STEP.findall(said)]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--every", action="store_true")
    return parser.parse_args()


def main(folder, rows, every):
    all_cells = [cell for cell in cells.all_cells() if not cell.level or not rows or any(row in cell.row for row in rows)]
    all_cells = [cell for cell in all_cells if every or cells.is_telling(cell)]
    texts, said = cells.build(all_cells, folder)
    results = {cell.name: read(texts.get(cell.name, "")) for cell in all_cells}
    firsts = first_answers(results.values())
    in_the_compiler = list(results[all_cells[0].name].answers)
    verdicts = {cell.name: check(cell, results[cell.name], firsts, in_the_compiler) for cell in all_cells}

    show(f"{len(firsts)} workloads, {len(all_cells)} programs: the CRC-32 of the bits of everything that they compute.")
    show()
    show_workloads(firsts, in_the_compiler)
    show()
    show(f"CRC-32 of the {len(in_the_compiler)} that the compiler computes, and how many of all have the bits of the first row:")
    show()
    show_rows(all_cells, results, verdicts, in_the_compiler)
    report([*failed_steps(said), *itertools.chain.from_iterable(verdicts.values())])


if __name__ == "__main__":
    main(**vars(arguments()))
