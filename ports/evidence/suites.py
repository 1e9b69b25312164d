# SPDX-License-Identifier: MIT
"""The suites and builds of `./tests/run all`, and the command of each."""
from tests.support import targets

from . import parts


def made():
    rows = [(f"`./tests/run {name}`", thing.size, thing.what) for things in (targets.SUITES, targets.BUILDS)
            for name, thing in things.items()]
    return parts.table(("command", "size", "what"), rows), []
