# SPDX-License-Identifier: MIT
"""Exports a whole torch.nn.Module: traces it, and writes a header with a Model whose forward is the traced graph."""
import os
import threading

from .. import names, whole_files
from ..checkpoints import pytorch
from ..errors import ExportError, printable

TRACING = threading.Lock()  # torch.fx replaces methods of torch.nn.Module while it traces


def module(net, example, path, name="model", binary=None, weights=None):
    """Writes a header, and the weights into a binary if a path is given. `net` is a torch.nn.Module in eval mode, whose
    forward takes and returns one tensor; `example` an input, with a batch of one in front or none. `weights` may be
    "int8". If something cannot be exported, raises an ExportError and writes nothing."""
    torch = pytorch("a torch.nn.Module is traced by it")
    from . import exporting
    if not isinstance(name, str):
        raise ExportError(f"name is a {type(name).__name__}, and must be a str")
    names.check_namespace(name)
    if str(path).endswith((".h", ".c")):
        raise ExportError(f"{printable(path)} has the name of a file in C, and what is written is C++: name it .hpp")
    if binary is not None and os.path.realpath(path) == os.path.realpath(binary):
        raise ExportError(f"path and binary are one file, {printable(path)}: the header needs a file of its own")
    net = getattr(net, "_orig_mod", net)  # what torch.compile was given
    # Without gradients encoders take another way, which computes masked tokens differently.
    with TRACING, torch.enable_grad():
        files = exporting.files(net, example, path, name, binary, weights or "f32")
    whole_files.replace(files)
