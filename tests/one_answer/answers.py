# SPDX-License-Identifier: MIT
"""What the programs print of the workloads (see outputs.hpp), and where two of them differ."""
import itertools
import re
import struct
import zlib

TOO_LARGE = [("too large", [])]


def read(text):
    """The port, and {workload: [(name and shape of an output, its words)]}."""
    port, _, lines = text.partition("\n")
    workloads, outputs = {}, []
    for line in lines.splitlines():
        output, colon, words = line.partition(": ")
        if colon:
            outputs.append((output, words.split()))
        else:
            outputs = workloads[line] = []
    return port, workloads


def crc(outputs):
    """CRC-32, as of zip and Ethernet, the lowest byte of a word first."""
    return f"{zlib.crc32(b''.join(bytes.fromhex(word)[::-1] for _, words in outputs for word in words)):08x}"


def elements(outputs):
    """(the name of an element, its word), row by row."""
    for output, words in outputs:
        extents = map(int, re.findall(r"\d+", output.rpartition("[")[2]))
        for indices, word in zip(itertools.product(*map(range, extents)), words):
            yield f"{output}, element {list(indices)}", word


def value(word):
    return f"{word} = {struct.unpack('>f', bytes.fromhex(word))[0]:.9g}"


def difference(outputs, expected):
    """Where they differ first, or nothing."""
    pairs = list(itertools.zip_longest(elements(outputs), elements(expected), fillvalue=("nothing", "")))
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    if not differing:
        return ""
    (name, word), (expected_name, expected_word) = differing[0]
    if name != expected_name:
        return f"{name} instead of {expected_name}"
    return f"{name}: {value(word)} instead of {value(expected_word)}; {len(differing)} of {len(pairs)} elements differ"
