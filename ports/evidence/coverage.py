# SPDX-License-Identifier: MIT
"""The shares of lines, branches and conditions that tests run, as tests/night/coverage counted them last."""
import json

from tests.support import targets

from . import parts


def made():
    counted = targets.BUILDS["coverage"].folder / "coverage.json"
    if not counted.is_file():
        raise parts.Missing("./tests/run coverage has not counted here")
    folders = json.loads(counted.read_text(encoding="utf-8"))
    kinds = list(next(iter(folders.values())))
    folders["all"] = {kind: [sum(its[kind][i] for its in folders.values()) for i in (0, 1)] for kind in kinds}
    rows = [(f"`{folder}`", *(f"{100 * run / number:.0f} %" if number else "" for run, number in its.values()))
            for folder, its in sorted(folders.items(), key=lambda item: (item[0] == "all", item))]
    return parts.table(("folder", *(f" {kind}" for kind in kinds)), rows), []
