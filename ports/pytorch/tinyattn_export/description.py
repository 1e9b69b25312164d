# SPDX-License-Identifier: MIT
"""A model of several parts in TOML: a table for each name that the header shall have."""
import pathlib

from . import parts
from .refusal import Refusal, reason, shown

KINDS = {"attention": parts.attention, "linear": parts.linear, "tensor": parts.tensor}
FIRST_ARGUMENT = {"attention": "prefix", "linear": "prefix", "tensor": "name"}
UNTOLD = {"num_heads": "--num-heads N", "context_length": "--context-length N", "causal": "--causal or --no-causal"}
SETTINGS = {
    "attention": {"num_heads": int, "context_length": int, "causal": bool, "mapping": dict, "ignore": list},
    "linear": {"transposed": bool},
    "tensor": {},
}


def items_of(value):
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else []


def check(name, kind, table):
    for key, value in table.items():
        wanted = str if key == kind else SETTINGS[kind].get(key)
        if wanted is None:
            raise Refusal(f"[{shown(name)}] has a setting that {kind} does not know: {shown(key)}")
        if type(value) is not wanted or not all(isinstance(item, str) for item in items_of(value)):
            raise Refusal(f"[{shown(name)}] has a wrong value of {shown(key)}: {shown(value)}")


def part(name, table, defaults):
    kinds = [kind for kind in KINDS if isinstance(table, dict) and kind in table]
    if len(kinds) != 1:
        raise Refusal(f"[{shown(name)}] must have one of {', '.join(KINDS)}")
    kind = kinds[0]
    check(name, kind, table)
    settings = {FIRST_ARGUMENT[kind]: table[kind], **{key: value for key, value in table.items() if key != kind}}
    if kind == "attention":
        settings = {**defaults, **settings}
        unsaid = [key for key in UNTOLD if settings.get(key) is None]
        if unsaid:
            raise Refusal(f"[{shown(name)}] must have {' and '.join(unsaid)}, which no file of weights tells: say it there, or for all "
                          f"parts with {' and '.join(UNTOLD[key] for key in unsaid)}")
    try:
        return KINDS[kind](**settings)
    except Refusal as problem:
        raise Refusal(f"[{shown(name)}]: {problem}") from None


def read(path, defaults):
    """The parts by name. `defaults` are settings of every attention layer that says nothing else."""
    try:
        import tomllib
    except ImportError:
        raise Refusal("--parts needs Python 3.11, the first that reads TOML; with an older one ask for the parts in Python, with "
                      "export.write") from None
    try:
        tables = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        if not tables:
            raise Refusal("it describes no part")
        return {name: part(name, table, defaults) for name, table in tables.items()}
    except Refusal as problem:
        raise Refusal(f"cannot read {shown(path)}: {problem}") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise Refusal(f"cannot read {shown(path)}: {reason(problem)}") from None
