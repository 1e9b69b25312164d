# SPDX-License-Identifier: MIT
"""The cyclomatic complexity of each function, by clang-query: one more than its if, loops, case, ?:, && and ||."""
import collections
import os
import re

from . import parts, sources

LIMIT = 20
ALLOWED = {"power": 28}  # the special cases of C's pow
OURS = f'isExpansionInFileMatching("{sources.FILES}")'
QUERY = ("set bind-root false", "set traversal IgnoreUnlessSpelledInSource",
         f'match functionDecl(isDefinition(), {OURS}).bind("function")',
         "match stmt(anyOf(ifStmt(), forStmt(), whileStmt(), doStmt(), cxxForRangeStmt(), caseStmt(), "
         f'conditionalOperator(), binaryOperator(hasAnyOperatorName("&&", "||"))), {OURS}, '
         'forFunction(functionDecl().bind("decision")))')
FOUND = re.compile(r'^(\S+:\d+:\d+): note: "(function|decision)" binds here\n +\d+ \| (.*)', re.MULTILINE)
NAME = re.compile(r"(?:\[\[.*?\]\])?.*?(operator\S*|\w+)(?:\(| = \[)")
RANGES = ((1, 5), (6, 10), (11, 15), (16, LIMIT), (LIMIT + 1, 99))


def of_port(text):
    """Returns {(file:line:column, first line): complexity} of the functions that are found on a port."""
    counts = collections.Counter((os.path.normpath(place), line) for place, kind, line in FOUND.findall(text)
                                 if kind == "decision")
    every = {(os.path.normpath(place), line) for place, _, line in FOUND.findall(text)}
    return {function: 1 + counts[function] for function in every}


def made():
    functions = {}
    for text in sources.each_read_by("clang-query-19", sources.LIBRARY, (), *(f"-c={command}" for command in QUERY)):
        functions |= {function: max(count, functions.get(function, 0)) for function, count in of_port(text).items()}
    named = sorted(((count, NAME.match(line)[1] if NAME.match(line) else line.strip(), place.partition(":")[0])
                    for (place, line), count in functions.items()), reverse=True)
    shares = [(f"{low} to {high}", f"{100 * sum(low <= count <= high for count, *_ in named) / len(named):.1f} %")
              for low, high in RANGES]
    largest = [(count, f"`{name}`", f"`{file}`") for count, name, file in named[:10]]
    problems = [f"{name} in {file} has a complexity of {count}" for count, name, file in named
                if count > ALLOWED.get(name, LIMIT)]
    return "\n\n".join([parts.table(("complexity", " functions"), shares),
                        parts.table((" complexity", "the largest ten", "file"), largest)]), problems
