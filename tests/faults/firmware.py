# SPDX-License-Identifier: MIT
"""Compiles the library for a core with an FPU for float only, and looks for what firmware must not hold."""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "footprint"), str(ROOT / "tests" / "support")]
import boards  # noqa: E402
import contents  # noqa: E402
import tap  # noqa: E402


def look():
    with tempfile.TemporaryDirectory() as folder:
        board = boards.Board("mps2-an386", pathlib.Path(folder) / "board")
        kernels = board.compile(boards.HERE / "kernels.cpp", "kernels.o", "-O2", *boards.EVERYTHING_ON)
        return "\n".join(contents.unwanted_in_object(board, kernels))


tap.report([("nothing in the kernels that firmware must not hold", look)])
