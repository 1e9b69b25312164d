# SPDX-License-Identifier: MIT
"""Writes several files: all of them whole, or none."""
import contextlib
import os
import pathlib
import secrets

from .refusal import Refusal, refusing, shown


def beside(real):
    """A name in the same folder that nobody can know beforehand."""
    return real.with_name(f".{secrets.token_hex(8)}.part")


def remove(paths):
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def put_in_place(written):
    """All of the old ones go before the first of the new ones comes: never is one old and another new, whenever this ends."""
    kept = {real: beside(real) for real in written if real.exists() and len(written) > 1}
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
    """`contents`: bytes by path. Beside each file first, so that one which is there stays as it was until all are written."""
    for path in contents:
        if os.path.exists(path) and not os.path.isfile(path):
            raise Refusal(f"cannot write {shown(path)}: it is not a file")
    written = {}
    try:
        with refusing(f"cannot write {' and '.join(map(shown, contents))}", OSError, ValueError):
            for path, content in contents.items():
                real = pathlib.Path(os.path.realpath(path))
                written[real] = beside(real)
                with written[real].open("xb") as file:  # only where nothing is, not even a link
                    file.write(content)
            put_in_place(written)
    finally:
        remove(written.values())
