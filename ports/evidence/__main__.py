# SPDX-License-Identifier: MIT
"""Makes the tables of evidence on the pages of this folder:

    ports/evidence/make [PART...]            writes the tables; all of them if none is named
    ports/evidence/make --check [PART...]    fails where a table differs from the page, or a limit is broken
    ports/evidence/make --list               the names of all parts

A part is a module here. Its made() returns its table, in Markdown, and a list of problems, such as a limit that is
broken. It raises parts.Missing if this machine lacks a tool. The table lies on a page between <!-- made: PART --> and
<!-- end -->.
"""
import argparse
import importlib

from tests.support import tap, tools

from . import parts


def of(name):
    """Returns a part's table and problems."""
    table, problems = importlib.import_module(f"{__package__}.{name}").made()
    return table.strip("\n"), list(problems)


def check(name):
    """Returns what is wrong with a part, for tap.report."""
    try:
        table, problems = of(name)
    except parts.Missing as reason:
        return tap.Skip(reason)
    differing = parts.difference(name, table)
    return "\n".join([*problems, *differing, *([f"ports/evidence/make {name} writes it anew"] if differing else [])])


def write(name):
    try:
        table, problems = of(name)
    except parts.Missing as reason:
        table, problems = None, [f"not made: {reason}"]
    print(f"{name}: {parts.write(name, table) if table else 'as it was'}", *problems, sep="\n  ")
    return bool(problems)


def main():
    parser = argparse.ArgumentParser(
        prog="ports/evidence/make", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PART")
    parser.add_argument("--check", action="store_true", help="compare with the pages, and write nothing")
    parser.add_argument("--list", action="store_true", help="the names of all parts")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in parts.pages()]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(parts.pages())}")
    names = args.names or list(parts.pages())
    if args.list:
        print("\n".join(names))
    elif args.check:
        tap.report([(name, check, name) for name in names])
    else:
        tools.bring("build", "gcc", "firmware", "evidence")
        parser.exit(any([write(name) for name in names]))


main()
