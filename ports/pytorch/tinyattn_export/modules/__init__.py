# SPDX-License-Identifier: MIT
"""Exports a whole torch.nn.Module: traces it, and writes a header with a Model whose forward is the traced graph."""
import os
import threading

from .. import names, whole_files
from ..checkpoints import pytorch
from ..errors import ExportError, printable

TRACING = threading.Lock()  # torch.fx replaces methods of torch.nn.Module while it traces


def module(net, example, path, name="model", binary=None, weights=None, c=False, trainable=None):
    """Writes a header, and the weights into a binary if a path is given. Returns a Board: print(board) says what it
    takes, and board(x) is what every board computes. `net` is a torch.nn.Module in eval mode, whose forward takes one
    tensor or several, and returns a tensor, or a tuple, list or dict of them; `example` an input, or a tuple of them,
    each with a batch of one in front or none. `weights` may be "int8", or say so of modules: {"encoder": "int8"}; a
    name holds for all in it, and "" is the module itself. A path that ends with .h, or `c`, writes NAME.h and NAME.c,
    in C for the compiled library. `trainable` names the Linear that forward calls last, a copy of which a board may
    train. If something cannot be exported, raises an ExportError and writes nothing."""
    torch = pytorch("a torch.nn.Module is traced by it")
    from . import exporting, in_c, reporting
    if not isinstance(name, str):
        raise ExportError(f"name is a {type(name).__name__}, and must be a str")
    names.check_namespace(name)
    c = c or str(path).endswith((".h", ".c"))
    if c and binary is not None:
        raise ExportError("in C numbers are constants of NAME.c: leave binary out, or write a header of C++")
    if c and trainable:
        raise ExportError("in C nothing is trained: leave trainable out, or write a header of C++")
    if binary is not None and os.path.realpath(path) == os.path.realpath(binary):
        raise ExportError(f"path and binary are one file, {printable(path)}: the header needs a file of its own")
    net = getattr(net, "_orig_mod", net)  # what torch.compile was given
    # Without gradients encoders take another way, which computes masked tokens differently.
    with TRACING, torch.enable_grad():
        files, found = exporting.files(net, example, path, name, binary, weights or "f32", trainable)
        text = files[path].decode()
        if c:
            files = in_c.files(net, exporting.again(found), path, name)
            text = f"{next(iter(files.values())).decode()}\n{text}"  # for the size of its workspace
        board = reporting.board_of(found, text, name, files.get(binary))
    whole_files.replace(files)
    return board
