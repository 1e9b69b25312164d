# SPDX-License-Identifier: MIT
"""Parses what the programs print of the workloads (see outputs.hpp), and finds where two of them differ.

    >>> right = "sum [2, 2]: 00000001 00000002 00000003 00000004\\n"
    >>> read("scalar\\nbroken off\\nadding\\n" + right)
    ('scalar', {'broken off': '', 'adding': 'sum [2, 2]: 00000001 00000002 00000003 00000004\\n'})
    >>> read("scalar\\n1..1\\nadding\\n" + right + "not ok 1 - adding\\n# another CRC\\n")[1]
    {'adding': 'sum [2, 2]: 00000001 00000002 00000003 00000004\\n'}
    >>> problem_of(right, right, little_memory=False)
    ''
    >>> problem_of(right.replace("00000003", "3f800000"), right, little_memory=False)
    'sum [2, 2], element [1, 0]: 3f800000 = 1 instead of 00000003 = 4.20389539e-45; 1 of 4 elements differ'
    >>> problem_of(right.replace("2, 2", "4"), right, little_memory=False)
    'sum [4], element [0] instead of sum [2, 2], element [0, 0]'
    >>> problem_of(right.replace(" 00000004", ""), right, little_memory=False)
    'nothing instead of sum [2, 2], element [1, 1]'
    >>> problem_of(right + "next [1]: 3f800000\\n", right, little_memory=False)
    'next [1], element [0] instead of nothing'
    >>> [problem_of(text, right, little_memory=False) for text in ("", TOO_LARGE)]
    ['not computed', 'too large']
    >>> type(problem_of(TOO_LARGE, right, little_memory=True)).__name__
    'Skip'
"""
import itertools
import re
import struct
import zlib

from tests.support import tap

TOO_LARGE = "too large: \n"
# The lines of the Test Anything Protocol, which are not outputs of workloads.
VERDICTS = re.compile(r"^(?:(?:not )?ok |1\.\.|#).*\n", re.MULTILINE)


def read(text):
    """Returns the port and {workload: the lines of its outputs} of a program's text."""
    port, *workloads = re.findall(r"^([^:\n]+)\n((?:.*: .*\n)*)", VERDICTS.sub("", text), re.MULTILINE) or [("", "")]
    return port[0], dict(workloads)


def crc(outputs):
    """Returns the CRC-32, that of zip and Ethernet, of all words, the lowest byte of each first."""
    words = (word for line in outputs.splitlines() for word in line.rpartition(": ")[2].split())
    return f"{zlib.crc32(b''.join(bytes.fromhex(word)[::-1] for word in words)):08x}"


def elements(outputs):
    """Yields (name of an element, its word), row by row."""
    for output, extents, words in re.findall(r"^(.*\[(.*)\]): (.*)$", outputs, re.MULTILINE):
        for indices, word in zip(itertools.product(*(range(int(extent)) for extent in extents.split(", "))),
                                 words.split()):
            yield f"{output}, element {list(indices)}", word


def value(word):
    return f"{word} = {struct.unpack('>f', bytes.fromhex(word))[0]:.9g}"


def problem_of(outputs, expected, little_memory):
    """Returns where outputs first differ from the expected ones, or why they are missing; empty if they are equal. On a
    machine with little memory, a workload that is too large is skipped."""
    if outputs == TOO_LARGE:
        return tap.Skip("too large for its RAM") if little_memory else "too large"
    if outputs in ("", expected):
        return "" if outputs else "not computed"
    pairs = list(itertools.zip_longest(elements(outputs), elements(expected), fillvalue=("nothing", "")))
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    (name, word), (expected_name, expected_word) = differing[0]
    if name != expected_name:
        return f"{name} instead of {expected_name}"
    return f"{name}: {value(word)} instead of {value(expected_word)}; {len(differing)} of {len(pairs)} elements differ"
