# SPDX-License-Identifier: MIT
"""What one attention layer adds to a firmware, on every board: symbols, flash, RAM, stack. Prints tables and the Test Anything Protocol.

    footprint.py [--write] -- COMPILER ARGUMENT...

The compiler is the host's, whose answer the firmware must repeat. --write notes today's figures in figures.txt.
"""
import concurrent.futures
import dataclasses
import functools
import itertools
import os
import pathlib
import re
import sys
import tempfile

import bench
import boards
import contents
import costs
import host
import tables

sys.path.insert(0, str(boards.ROOT / "tests" / "support"))
import tap  # noqa: E402

INCLUDE_RATIO = 3.0


# --- Checks: each returns what is wrong, or nothing ---


def check_contents(measured):
    return "\n".join(measured.unwanted) or measured.problem


def check_cost(measured, figures):
    if not measured.cost:
        return "not measured"
    return "\n".join(costs.excesses(measured.cost, costs.limit(measured.case, figures)))


def check_answer(measured, expected):
    return "" if measured.crc == expected else f"CRC of the output: {measured.crc or 'none'}, on the host {expected}"


def checks_of_layer(measured, figures, expected):
    name = " ".join(measured.case)
    return [
        (f"{name}: nothing in it that firmware must not hold", functools.partial(check_contents, measured)),
        (f"{name}: no larger than it may be", functools.partial(check_cost, measured, figures)),
        (f"{name}: the answer of the host", functools.partial(check_answer, measured, expected)),
    ]


def check_kernels(problems):
    return "\n".join(problems)


def check_include(times):
    ratio = times[1] / times[0]
    return "" if ratio <= INCLUDE_RATIO else f"{ratio:.1f} times as long as <array> takes; at most {INCLUDE_RATIO}"


# --- Checks of the checks ---


def check_fault(source, benches):
    """A planted fault must be found, in the words that its first lines state: // found: ...; on the board // board: ..."""
    stated = dict(re.findall(r"^// (found|board): (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE))
    board = next((one.board for one in benches if one.board.name == stated["board"]), None)
    if not board:
        return f"no board {stated['board']}"
    try:
        found = contents.unwanted_in_object(board, board.compile(source, f"fault-{source.stem}.o", "-O2", *boards.EVERYTHING_ON))
    except boards.BuildError as error:
        return str(error)
    return "" if stated["found"] in found else "\n".join([f"not found: {stated['found']}", *found])


def check_one_byte_too_many():
    limit = next(iter(costs.PROMISES.values()))
    for what, size in limit.items():
        found = costs.excesses(dataclasses.replace(limit, **{what: size + 1}), limit)
        if found != [f"{what}: {size + 1} bytes, 1 more than {size}"]:
            return f"{what}: found {found}"
    return "\n".join(costs.excesses(limit, limit))


def check_another_answer():
    return "" if check_answer(bench.Measured((), crc="01234567"), "01234568") else "not found"


def checks_of_checks(benches):
    sources = sorted((boards.HERE / "faults").glob("*.cpp"))
    planted = [(source.stem.replace("_", " "), functools.partial(check_fault, source, benches)) for source in sources]
    planted += [("one byte too many", check_one_byte_too_many), ("another answer", check_another_answer)]
    return [(f"a planted fault is found: {name}", check) for name, check in planted]


# --- All of it ---


def known_figures(benches, all_measured, write):
    """None if they are of another compiler, whose code is another. With `write`, today's."""
    compiler = costs.compiler_version(benches[0].board)
    if write:
        costs.write_figures(compiler, {measured.case: measured.cost for measured in all_measured if measured.cost})
    known_with, figures = costs.read_figures()
    if known_with == compiler:
        return figures
    tables.say(f"figures.txt is of GCC {known_with} and this is GCC {compiler}: only what is promised is held")
    return {}


def main(arguments):
    separator = arguments.index("--")
    compiler = arguments[separator + 1:]
    times = host.times_of_includes(compiler)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        scratch = pathlib.Path(folder)
        expected = dict(zip(bench.LAYERS, pool.map(functools.partial(host.crc, compiler, scratch), bench.LAYERS)))
        benches = list(pool.map(lambda name: bench.Bench(name, scratch), boards.names()))
        cases = itertools.product(benches, bench.LAYERS, bench.LEVELS)
        all_measured = list(pool.map(lambda case: case[0].measure(*case[1:]), cases))
        kernels = {one.board.name: found for one, found in zip(benches, pool.map(bench.Bench.measure_kernels, benches))}

        figures = known_figures(benches, all_measured, "--write" in arguments[:separator])
        tables.print_costs(all_measured, figures)
        tables.print_helpers(all_measured)
        tables.print_kernels({board: sizes for board, (sizes, _) in kernels.items()})
        tables.print_include(times)
        tables.print_changes(all_measured, figures)

        checks = [check for measured in all_measured for check in checks_of_layer(measured, figures, expected[measured.case[1]])]
        checks += [(f"{board} kernels: nothing in them that firmware must not hold", functools.partial(check_kernels, problems))
                   for board, (_, problems) in kernels.items()]
        checks += [*checks_of_checks(benches), ("one include takes no long time", functools.partial(check_include, times))]
        tap.report(checks)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except boards.BuildError as broken:
        tap.report([("everything can be built", functools.partial(str, broken))])
