# SPDX-License-Identifier: MIT
"""Several parts of one header, as a file in TOML describes them."""
import pathlib

from .encoders import transformer, transformer_block
from .language_models import language_model
from .parts import attention, linear, tensor
from .refusal import Refusal, refusing, shown

ENCODER = {"num_heads": int, "context_length": int, "causal": bool, "norm_first": bool, "activation": str, "epsilon": float, "ignore": list}
KINDS = {  # what asks for the part, what the kind's own key names, and which other keys there may be
    "attention": (attention, "prefix", {"num_heads": int, "context_length": int, "causal": bool, "mapping": dict, "ignore": list}),
    "linear": (linear, "prefix", {"transposed": bool}),
    "tensor": (tensor, "name", {}),
    "transformer": (transformer, "prefix", ENCODER),
    "transformer_block": (transformer_block, "prefix", ENCODER),
    "language_model": (language_model, "prefix", {
        "num_heads": int, "num_kv_heads": int, "context_length": int, "rotary": str, "rotary_base": int, "activation": str,
        "epsilon": float, "config": str, "ignore": list}),
}


def described(name, table, defaults):
    """The part that a table of a description asks for."""
    kinds = [kind for kind in KINDS if isinstance(table, dict) and kind in table]
    if len(kinds) != 1:
        raise Refusal(f"[{name}] must have one of {', '.join(KINDS)}")
    kind = kinds[0]
    make, first_argument, types = KINDS[kind]
    for key, value in table.items():
        wanted = str if key == kind else types.get(key)
        if wanted is None:
            raise Refusal(f"[{name}] has a setting that {kind} does not know: {shown(key)}")
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if type(value) is not wanted or not all(isinstance(item, str) for item in items):
            raise Refusal(f"[{name}] has a wrong value of {shown(key)}: {shown(value)}")
    settings = {**{key: value for key, value in defaults.items() if key in types}, **table}
    with refusing(f"[{name}]"):
        return make(**{first_argument if key == kind else key: value for key, value in settings.items()})


def read_parts(path, defaults):
    """The parts by name. `defaults` are settings of every part that knows them and says nothing else."""
    try:
        import tomllib
    except ImportError:
        raise Refusal("--parts needs Python 3.11, the first that reads TOML; with an older one ask for the parts in Python, with "
                      "export.write") from None
    with refusing(f"cannot read {shown(path)}", OSError, ValueError, RecursionError):
        tables = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        if not tables:
            raise Refusal("it describes no part")
    with refusing(shown(path)):
        return {name: described(shown(name), table, defaults) for name, table in tables.items()}
