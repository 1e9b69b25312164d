# SPDX-License-Identifier: MIT
"""Tests that the writer writes on, longer than a paragraph, until a byte comes, and then ends.

    for_ever.py BOARD PROGRAM

BOARD is "host", or a board of ports/boards.
"""
import subprocess
import sys

from tests.support import tap, targets

LONG, SECONDS = 1500, 20  # LONG: bytes


def ends_when_a_byte_comes(board, program):
    words = ["--for-ever"] if board == "host" else ["-append", "-- --for-ever"]
    command = [*(() if board == "host" else targets.emulator(board)), program, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        written = process.stdout.read(LONG)
        try:
            rest, _ = process.communicate(b"x", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"it does not end within {SECONDS} s"
    return "" if len(written) == LONG and b"crc32" in rest and process.returncode == 0 else f"{written}{rest}"


tap.report([(f"the writer on {sys.argv[1]} ends when a byte comes", ends_when_a_byte_comes, *sys.argv[1:])])
