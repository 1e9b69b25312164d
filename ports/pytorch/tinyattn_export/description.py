# SPDX-License-Identifier: MIT
"""Reads a description in TOML of several parts of one header."""
import dataclasses
import pathlib

from .convolutions import Conv1dRequest
from .encoders import TransformerBlockRequest, TransformerRequest
from .errors import ExportError, printable, within
from .language_models import LanguageModelRequest
from .parts import AttentionRequest, LinearRequest, TensorRequest

KINDS = {"attention": AttentionRequest, "linear": LinearRequest, "conv1d": Conv1dRequest, "tensor": TensorRequest,
         "transformer": TransformerRequest, "transformer_block": TransformerBlockRequest,
         "language_model": LanguageModelRequest}


def settings_of(request):
    """Returns the name of the setting that the key of its kind gives, and {name: type} of the others."""
    first, *others = dataclasses.fields(request)
    return first.name, {field.name: field.type for field in others}


def check_entry(name, key, value, expected, kind):
    if expected is None:
        raise ExportError(f"[{name}] has a setting that {kind} does not know: {printable(key)}")
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if type(value) is not expected or not all(isinstance(member, str) for member in members):
        raise ExportError(f"[{name}] has a wrong value of {printable(key)}: {printable(value)}")


def parse_table(name, table, defaults):
    """Returns the request that a table of a description asks for."""
    kinds = [kind for kind in KINDS if isinstance(table, dict) and kind in table]
    if len(kinds) != 1:
        raise ExportError(f"[{name}] must have one of {', '.join(KINDS)}")
    kind = kinds[0]
    first, types = settings_of(KINDS[kind])
    for key, value in table.items():
        check_entry(name, key, value, str if key == kind else types.get(key), kind)
    settings = {**{key: value for key, value in defaults.items() if key in types}, **table}
    with within(f"[{name}]"):
        return KINDS[kind](**{first if key == kind else key: value for key, value in settings.items()})


def read_parts(path, defaults):
    """Returns {name: request}. `defaults` are settings for each part that takes them and does not give them itself."""
    try:
        import tomllib
    except ImportError:
        raise ExportError("--parts needs Python 3.11, the first that reads TOML; with an older one ask for the parts "
                          "in Python, with export.write") from None
    with within(f"cannot read {printable(path)}", OSError, ValueError, RecursionError):
        tables = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        if not tables:
            raise ExportError("it describes no part")
    with within(printable(path)):
        return {name: parse_table(printable(name), table, defaults) for name, table in tables.items()}
