# SPDX-License-Identifier: MIT
"""Why a step of a module cannot be exported: the module, the operation, its line, and what could be written instead."""
from ..errors import ExportError
from .tracing import where


def refused(tracer, node, what, instead):
    path, line = tracer.module.get(node, ("", "an unknown line"))
    if node.op == "call_module":
        path = node.target if tracer.original is tracer.root else ""
    return ExportError(f"{where(path, line)}: {what}: {instead}")
