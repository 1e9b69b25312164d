# SPDX-License-Identifier: MIT
"""A model of several parts in TOML: a table for each name that the header shall have."""
import pathlib
import tomllib

from . import parts
from .refusal import Refusal, shown

KINDS = {"attention": parts.attention, "linear": parts.linear, "tensor": parts.tensor}
FIRST_ARGUMENT = {"attention": "prefix", "linear": "prefix", "tensor": "name"}
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
        if type(value) is not wanted or not all(isinstance(item, str) for item in items_of(value)) or (wanted is int and value < 1):
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
        if settings.get("num_heads") is None:
            raise Refusal(f"[{shown(name)}] must have num_heads")
    return KINDS[kind](**settings)


def read(path, defaults):
    """The parts by name. `defaults` are settings of every attention layer that says nothing else."""
    try:
        tables = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        if not tables:
            raise Refusal("it describes no part")
        return {name: part(name, table, defaults) for name, table in tables.items()}
    except Refusal as problem:
        raise Refusal(f"cannot read {shown(path)}: {problem}") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise Refusal(f"cannot read {shown(path)}: {shown(getattr(problem, 'strerror', None) or problem)}") from None
