# SPDX-License-Identifier: MIT
"""Where two targets part: the first workload, output and element in which their bits differ. See tests/diff."""
import sys

import cells  # first: it says where the others are
import answers
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
    expected, computed = (answers.read(file.read_text(encoding="utf-8"))[1] for file in files)
    both = [workload for workload in expected if workload in computed and answers.TOO_LARGE not in (expected[workload], computed[workload])]
    if not both:
        sys.exit(f"{one} and {other} have no workload in common")
    differing = {workload: said for workload in both if (said := answers.problem_of(computed[workload], expected[workload], False))}
    print(f"{other} instead of {one}: {len(differing)} of {len(both)} workloads differ" if differing
          else f"the same bits in {len(both)} workloads", *map(": ".join, differing.items()), sep="\n")
    sys.exit(bool(differing))


try:
    main(*sys.argv[1:])
except building.Failed as failed:
    sys.exit(str(failed))
