# SPDX-License-Identifier: MIT
"""Writes several files: either all of them, whole, or none."""
import contextlib
import os
import pathlib
import secrets

from .errors import ExportError, printable, within


def neighbour(real):
    """Returns a random, unpredictable name in the same folder."""
    return real.with_name(f".{secrets.token_hex(8)}.part")


def remove(paths):
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def put_in_place(written):
    """Moves all old files away before it puts the first new one in place. So old and new files never lie side by side,
    even if the process is killed. Restores the old files if a step fails."""
    kept = {real: neighbour(real) for real in written if real.exists() and len(written) > 1}
    with contextlib.ExitStack() as undo:
        for real, old in kept.items():
            undo.callback(lambda real=real, old=old: old.exists() and old.replace(real))
            real.rename(old)
        for real, new in written.items():
            new.replace(real)
            undo.callback(remove, [real])
        undo.pop_all()
    remove(kept.values())


def replace(contents):
    """Writes `contents`, {path: bytes}. Writes each file under a temporary name next to its path first; no file changes
    until all of these are complete."""
    for path in contents:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ExportError(f"cannot write {printable(path)}: it is not a file")
    written = {}
    try:
        with within(f"cannot write {' and '.join(map(printable, contents))}", OSError, ValueError):
            for path, content in contents.items():
                real = pathlib.Path(os.path.realpath(path))
                written[real] = neighbour(real)
                with written[real].open("xb") as file:  # x: fails if anything has this name, even a link
                    file.write(content)
            put_in_place(written)
    finally:
        remove(written.values())
