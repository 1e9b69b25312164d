# SPDX-License-Identifier: MIT
"""Where two targets part: the first workload, output and element in which their bits differ. See tests/diff."""
import sys

import answers
import cells
import building


def row_of(target):
    rows = cells.targets().get(target.partition("/")[0], list)()
    row = next((row for row in rows if row.name == target), None) or sys.exit(f"there is no target {target}; tests/diff --list names them")
    if tool := cells.missing(row.machine):
        sys.exit(f"{target}: there is no {tool}")
    return row


def main(folder, *arguments):
    if arguments == ("--list",):
        sys.exit(print(*(row.name for rows in cells.targets().values() for row in rows()), sep="\n"))
    flags = [argument for argument in arguments if argument.startswith("-")]
    one, other = ["compiler", *(argument for argument in arguments if argument not in flags)][-2:]
    build = building.Build(folder)
    files = [row_of(target).add_to(build, " ".join(["-O2", cells.FUSED, *flags])) for target in (one, other)]
    build.demand()
    (_, expected), (_, computed) = (answers.read(file.read_text(encoding="utf-8")) for file in files)
    both = [workload for workload in expected if workload in computed and answers.TOO_LARGE not in (expected[workload], computed[workload])]
    differing = {workload: said for workload in both if (said := answers.difference(computed[workload], expected[workload]))}
    print(f"{other} instead of {one}: {len(differing)} of {len(both)} workloads differ" if differing
          else f"the same bits in {len(both)} workloads")
    for workload, said in differing.items():
        print(f"{workload}: {said}")
    sys.exit(bool(differing))


try:
    main(*sys.argv[1:])
except building.Failed as failed:
    sys.exit(str(failed))
