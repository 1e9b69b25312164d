# SPDX-License-Identifier: MIT
"""Writes several files: all of them whole, or none."""
import contextlib
import os
import pathlib
import secrets

from .errors import ExportError, printable, within


def neighbour(real):
    """A name in the same folder that nobody can know beforehand."""
    return real.with_name(f".{secrets.token_hex(8)}.part")


def remove(paths):
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def put_in_place(written):
    """All old ones go before the first new one comes: never is one old and another new, whenever this ends."""
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
    """`contents`: bytes by path. Each is written next to its place first, so that a file stays as it was until all
    are."""
    for path in contents:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ExportError(f"cannot write {printable(path)}: it is not a file")
    written = {}
    try:
        with within(f"cannot write {' and '.join(map(printable, contents))}", OSError, ValueError):
            for path, content in contents.items():
                real = pathlib.Path(os.path.realpath(path))
                written[real] = neighbour(real)
                with written[real].open("xb") as file:  # only where nothing is, not even a link
                    file.write(content)
            put_in_place(written)
    finally:
        remove(written.values())
