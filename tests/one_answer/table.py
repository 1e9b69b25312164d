# SPDX-License-Identifier: MIT
"""One answer everywhere: compares the bits that every target and every set of flags computes with those of the compiler itself.

    table.py FOLDER            builds in FOLDER; prints the table, and a test of the Test Anything Protocol for each program and workload
    table.py --every FOLDER    all levels of optimization, contractions, ports and compilers; otherwise those that tell most
"""
import collections
import sys

import cells  # first: it says where the others are
import answers
import building
import tap


def main(folder, every):
    rows = [row for rows in cells.targets().values() for row in rows() if row.options(every)]
    tests = {row.name: tap.Skip(f"there is no {tool}") for row in rows if (tool := cells.missing(row.machine))}
    build = building.Build(folder)
    files = {(row, options): row.add_to(build, options) for row in rows if row.name not in tests for options in row.options(every)}
    failed = build.make()
    tests |= {f"{step.name} can be made": said[:3000] or "it failed" for step, said in failed.items()}
    printed = {cell: answers.read(file.read_text(encoding="utf-8")) for cell, file in files.items() if not failed or build.is_made(file)}
    # Of each workload the bits of the first that computed it: the compiler, or else a port.
    firsts = collections.ChainMap(*({workload: outputs for workload, outputs in workloads.items() if outputs != answers.TOO_LARGE}
                                    for _, workloads in printed.values()))
    finite = next((list(workloads) for (row, _), (_, workloads) in printed.items() if row.source == cells.IN_THE_COMPILER), [])

    print(f"# CRC-32 of the {len(finite)} workloads that compilers compute; how many of all {len(firsts)} have the first bits:\n#")
    print(f"# {'target':<32}{'flags':<24}{'port':<10}{'CRC-32':<10}equal")
    for row, options in files:
        port, computed = printed.get((row, options), ("", {}))
        problems = {workload: answers.problem_of(computed.get(workload, ""), firsts[workload], row.memory < cells.ENOUGH_MEMORY)
                    for workload in (finite if row.source == cells.IN_THE_COMPILER else firsts)}
        tests |= {f"{row.name} {options}: {workload}": problem for workload, problem in problems.items()}
        possible = [problem for problem in problems.values() if not isinstance(problem, tap.Skip)]
        crc = answers.crc("".join(computed.get(workload, "") for workload in finite))
        note = "  <-- not one answer" if any(possible) else ""
        print(f"# {row.name:<32}{options:<24}{port:<10}{crc}  {possible.count('')} of {len(possible)}{note}")
    tap.report([(name, lambda problem: problem, problem) for name, problem in tests.items()])


if __name__ == "__main__":
    main(sys.argv[-1], "--every" in sys.argv)
