# SPDX-License-Identifier: MIT
"""Seconds of the processor's time that compilers take for layers and for the bare headers."""
import random
import re
import resource
import statistics

import building
import sizing

TESTS = building.ROOT / "tests"
HEADERS = ["-include", "tinyattn/tinyattn.hpp", "-x", "c++", "/dev/null"]
LAYER = [TESTS / "footprint" / "layer.cpp", "-DTINYATTN_FOOTPRINT_LAYER=T1"]
TEN_LAYERS = [TESTS / "compiled" / "firmware.cpp", "-DSHAPES=10"]
FAST = ["-O3", "-march=native"]
M4F = ["arm-none-eabi-g++", *sizing.images.CORE]

# The unit, the name of the compiler's command, and the command.
COMMANDS = {
    ("headers", "g++ -O0"): ["g++", "-O0", *HEADERS],
    ("headers", "clang++ -O0"): ["clang++", "-O0", *HEADERS],
    ("T1", "g++ -O2"): ["g++", "-O2", *LAYER],
    ("T1", "g++ -O3 -march=native"): ["g++", *FAST, *LAYER],
    ("T1", "clang++ -O3 -march=native"): ["clang++", *FAST, *LAYER],
    ("T1", "arm-none-eabi-g++ -Os, M4F"): [*M4F, "-Os", *sizing.images.LANGUAGE, *LAYER],
    ("ten layers", "g++ -O3 -march=native"): ["g++", *FAST, *TEN_LAYERS],
    ("ten layers", "clang++ -O3 -march=native"): ["clang++", *FAST, *TEN_LAYERS],
}


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    building.call(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(pattern, trees, rounds, flags):
    """{name: for each tree, its samples}, of names that match. The trees take turns; ten layers
    do in every third round, and take the longest all the same."""
    names = [name for name in COMMANDS if re.search(pattern, " ".join(name))]
    if not names:
        raise building.Failed("no unit of that name")
    samples = {name: [[] for _ in trees] for name in names}
    for turn in range(rounds):
        for name in (name for name in names if turn % 3 == 0 or name[0] != "ten layers"):
            for i, tree in random.sample(list(enumerate(trees)), len(trees)):
                command = [*COMMANDS[name], *building.language(tree), *flags]
                samples[name][i].append(seconds([*command, "-c", "-o", "/dev/null"]))
    return samples


def shown(samples):
    return f"{statistics.median(samples):.3f} s"
