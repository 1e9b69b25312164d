# SPDX-License-Identifier: MIT
"""Writes the header, and the binary if there is one: both whole, or neither."""
import pathlib

from . import header, image, names, whole_files
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


def write(path, weights, name, parts, binary=None):
    """Writes the header and returns its parts. A Refusal, and nothing written, if something is wrong."""
    names.check_namespace(name)
    if not parts:
        raise Refusal("a header needs a part")
    done = finished(weights, parts)
    if binary is None:
        whole_files.replace({path: header.of_constants(weights, name, done).encode()})
    else:
        content = image.of(done)
        text = header.in_place(weights, name, done, pathlib.Path(binary).name, content)
        whole_files.replace({binary: content, path: text.encode()})
    return done
