# SPDX-License-Identifier: MIT
"""Writes the header, and the binary if there is one: both whole, or neither."""
import contextlib
import os
import pathlib

from . import header, image, names
from .refusal import Refusal, shown


def finished(weights, parts):
    """The parts of a request, each taken out of the weights."""
    done = {}
    for part_name, part in parts.items():
        names.check_part(part_name)
        try:
            done[part_name] = part(weights)
        except Refusal as problem:
            where = shown(weights.source) + (f", [{part_name}]" if len(parts) > 1 else "")
            raise Refusal(f"{where}: {problem}") from None
    return done


def replace(contents):
    """Beside each file first, so that one which is there stays as it was until all are written."""
    temporary = {}
    try:
        for path, content in contents.items():
            real = pathlib.Path(os.path.realpath(path))
            if real.exists() and not real.is_file():
                raise Refusal(f"cannot write {shown(path)}: it is not a file")
            beside = real.with_name(f"{real.name}.{os.getpid()}.part")
            temporary[beside] = real
            beside.write_bytes(content)
        for beside, real in temporary.items():
            beside.replace(real)
    except OSError as problem:
        raise Refusal(f"cannot write {shown(path)}: {problem.strerror}") from None
    finally:
        for beside in temporary:
            with contextlib.suppress(OSError):
                beside.unlink()


def write(path, weights, name, parts, binary=None):
    """Writes the header and returns its parts. A Refusal, and nothing written, if something is wrong."""
    names.check_namespace(name)
    if not parts:
        raise Refusal("a header needs a part")
    done = finished(weights, parts)
    if binary is None:
        replace({path: header.of_constants(weights, name, done).encode()})
    else:
        content = image.of(done)
        text = header.in_place(weights, name, done, pathlib.Path(binary).name, content)
        replace({binary: content, path: text.encode()})
    return done
