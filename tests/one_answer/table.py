# SPDX-License-Identifier: MIT
"""One answer everywhere: compares the bits that every target and every set of flags computes with those of the compiler itself.

    table.py FOLDER            builds in FOLDER; prints the table, and a test of the Test Anything Protocol for each program and workload
    table.py --every FOLDER    all levels of optimization, contractions, ports and compilers; otherwise those that tell most
"""
import itertools
import sys

import answers
import cells
import building
import tap


def first_answers(all_workloads):
    """For each workload the first that computed it: the compiler, or else a port."""
    firsts = {}
    for workload, outputs in itertools.chain.from_iterable(workloads.items() for workloads in all_workloads):
        if outputs != answers.TOO_LARGE:
            firsts.setdefault(workload, outputs)
    return firsts


def problem_of(outputs, expected, memory):
    """What is wrong, or nothing, or why it is not there: where there is little memory, a workload may be missing."""
    if outputs == answers.TOO_LARGE:
        return tap.Skip("too large for its RAM") if memory < cells.ENOUGH_MEMORY else "too large"
    return answers.difference(outputs, expected) if outputs else "not computed"


def main(folder, every):
    rows = [row for rows in cells.targets().values() for row in rows() if row.options(every)]
    tests = {row.name: tap.Skip(f"there is no {tool}") for row in rows if (tool := cells.missing(row.machine))}
    build = building.Build(folder)
    files = {(row, options): row.add_to(build, options) for row in rows if row.name not in tests for options in row.options(every)}
    failed = build.make()
    tests |= {f"{step.name} can be made": said[:3000] or "it failed" for step, said in failed.items()}
    printed = {cell: answers.read(file.read_text(encoding="utf-8")) for cell, file in files.items() if not failed or build.is_made(file)}
    firsts = first_answers(workloads for _, workloads in printed.values())
    finite = next((list(workloads) for (row, _), (_, workloads) in printed.items() if row.source == cells.IN_THE_COMPILER), [])

    print(f"# CRC-32 of the {len(finite)} workloads that compilers compute; how many of all {len(firsts)} have the first bits:")
    print("#")
    print(f"# {'target':<32}{'flags':<24}{'port':<10}{'CRC-32':<10}equal")
    for row, options in files:
        port, computed = printed.get((row, options), ("", {}))
        workloads = finite if row.source == cells.IN_THE_COMPILER else firsts
        problems = {workload: problem_of(computed.get(workload), firsts[workload], row.memory) for workload in workloads}
        tests |= {f"{row.name} {options}: {workload}": problem for workload, problem in problems.items()}
        possible = [problem for problem in problems.values() if not isinstance(problem, tap.Skip)]
        crc = answers.crc(output for workload in finite for output in computed.get(workload, []))
        note = "  <-- not one answer" if any(possible) else ""
        print(f"# {row.name:<32}{options:<24}{port:<10}{crc}  {possible.count('')} of {len(possible)}{note}")
    tap.report([(name, lambda problem=problem: problem) for name, problem in tests.items()])


if __name__ == "__main__":
    main(sys.argv[-1], "--every" in sys.argv)
