# SPDX-License-Identifier: MIT
"""The machine we sit at: the answer that every board must repeat, and how long a compiler takes for the library's headers."""
import os
import resource

import bench
import boards

INCLUDES = ["#include <array>\n", '#include "tinyattn/tinyattn.hpp"\n']
SOURCES = ["firmware.cpp", "layer.cpp", "unpainted_stack.cpp"]


def crc(compiler, scratch, layer):
    program = scratch / layer
    sources = [boards.HERE / name for name in SOURCES] + sorted((boards.BOARDS / "host").glob("*.cpp"))
    boards.call([*compiler, *boards.LANGUAGE, "-O2", '-DBOARD_NAME="host"', bench.layer_flag(layer), *sources, "-o", program])
    return bench.reported(boards.call([program]))["crc"]


def seconds(compiler, text):
    """Of the processor's time, which other programs disturb less than the clock's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    boards.call([*compiler, *boards.LANGUAGE, "-O0", "-c", "-x", "c++", "-", "-o", os.devnull], text)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def times_of_includes(compiler):
    """Of <array>, which any such library needs, and of ours. Taken in turns, the least of each. Nothing else may run beside it."""
    rounds = [[seconds(compiler, text) for text in INCLUDES] for _ in range(5)]
    return [min(times) for times in zip(*rounds)]
