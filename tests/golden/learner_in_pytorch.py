# SPDX-License-Identifier: MIT
"""Trains the learner in PyTorch from the same numbers, and compares how many digits are right. Needs PyTorch (Debian:
python3-torch); skips its test without it.

    learner_in_pytorch SEEDS_PROGRAM     for Meson
"""
import sys

from tests.support import debian, tap

debian.needs_pytorch()
from examples.learner import with_pytorch

SEEDS, NEAR = 3, 4  # right digits of 8,000 may differ by NEAR, since PyTorch rounds differently


def learns_the_same(program):
    ours, worst, _ = with_pytorch.of_program(program, SEEDS)
    its, its_worst, _ = with_pytorch.of_pytorch(SEEDS)
    if ours == its == SEEDS and abs(worst - its_worst) <= NEAR:
        return ""
    return f"{ours} and {its} of {SEEDS} seeds, on the worst {worst} and {its_worst} digits"


tap.report([("PyTorch learns the same from the same numbers", learns_the_same, sys.argv[1])])
