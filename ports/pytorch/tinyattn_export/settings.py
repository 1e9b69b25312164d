# SPDX-License-Identifier: MIT
"""What no tensor tells of a model: said on the command line, in Python, or in a config.json, whose keys are Hugging Face's, nanoGPT's or
Meta's. What is said twice must agree, and what tinyattn's models do not do is refused.
"""
import dataclasses
import json
import pathlib
import struct

from .refusal import Refusal, refusing, shown

LARGEST_COUNT = 2**31 - 1  # of heads or tokens: more fits into no target's memory
ACTIVATIONS = {
    "relu": "relu", "gelu": "gelu", "gelu_tanh": "gelu_tanh", "gelu_new": "gelu_tanh", "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh", "silu": "silu", "swish": "silu",
}
ROTARIES = ("halves", "interleaved")
FAMILIES = {"gpt2": "GPT-2", "llama": "Llama", "mistral": "Llama", "qwen2": "Llama"}  # by model_type: who computes as whom


def whole(value):
    """JSON and Python have 10000.0 for 10000 at times."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_in(value, first, last):
    return type(value) is int and first <= value <= last


def count(value):
    return whole(value) if is_in(whole(value), 1, LARGEST_COUNT) else None, f"a number from 1 to {LARGEST_COUNT}"


def base(value):
    return whole(value) if is_in(whole(value), 2, 2**32 - 1) else None, f"a whole number from 2 to {2**32 - 1}"


def small(value):
    """As a float32 has it."""
    right = type(value) in (int, float) and 0 <= value < 1
    return struct.unpack("<f", struct.pack("<f", value))[0] if right else None, "a number from 0 to 1"


def activation(value):
    return ACTIVATIONS.get(str(value)), f"one of {', '.join(ACTIVATIONS)}: tinyattn has no other"


def rotary(value):
    return value if value in ROTARIES else None, f"one of {', '.join(ROTARIES)}"


def flag(value):
    return value if isinstance(value, bool) else None, "true or false"


SETTINGS = {  # what it may be, and the keys that say it
    "num_heads": (count, "n_head", "num_attention_heads", "n_heads"),
    "num_kv_heads": (count, "num_key_value_heads", "n_kv_heads"),
    "head_dim": (count, "head_dim"),
    "context_length": (count,),
    "trained_length": (count, "n_positions", "n_ctx", "max_position_embeddings", "block_size", "max_seq_len"),
    "num_layers": (count, "n_layer", "num_hidden_layers", "n_layers"),
    "d_model": (count, "n_embd", "hidden_size", "dim"),
    "d_hidden": (count, "n_inner", "intermediate_size", "hidden_dim"),
    "vocabulary": (count, "vocab_size"),
    "rotary": (rotary,),
    "rotary_base": (base, "rope_theta"),
    "activation": (activation, "activation_function", "hidden_act"),
    "epsilon": (small, "layer_norm_epsilon", "rms_norm_eps", "norm_eps"),
    "tied": (flag, "tie_word_embeddings"),
    "causal": (flag,),
    "norm_first": (flag,),
    "attention_bias": (flag, "attention_bias", "bias"),
    "feed_forward_bias": (flag, "mlp_bias", "bias"),
}
HARMLESS = {  # keys of what tinyattn's models do not do, and the values with which they do not do it either
    "scale_attn_weights": (True,), "scale_attn_by_inverse_layer_idx": (False,), "add_cross_attention": (False,),
    "is_encoder_decoder": (False,), "partial_rotary_factor": (1,), "use_scaled_rope": (False,), "attn_logit_softcapping": (),
    "final_logit_softcapping": (), "quantization_config": (), "use_qk_norm": (False,),
}


@dataclasses.dataclass(frozen=True)
class Said:
    value: object
    where: str  # it is said


def of_json(path):
    """What a config.json holds."""
    with refusing(f"cannot read {shown(path)}", OSError, ValueError, RecursionError):
        config = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise Refusal("it is no table of settings")
        return config


def flattened(config):
    """Newer files of Hugging Face have a table of rotary positions, whose type must be the plain one."""
    flat = {key: value for key, value in config.items() if value is not None}
    for key in ("rope_scaling", "rope_parameters"):
        table = flat.get(key, {})
        kind = table.get("rope_type") or table.get("type", "default") if isinstance(table, dict) else None
        if kind != "default":
            raise Refusal(f"config.json has {key} = {shown(table)}: tinyattn's rotary positions are not scaled")
        if table.get("rope_theta") is not None:
            flat.setdefault("rope_theta", table["rope_theta"])
    if flat.get("vocab_size") == -1:  # Meta's params.json leaves it to the tokenizer
        del flat["vocab_size"]
    return flat


def refuse_other_models(config):
    for key, harmless in HARMLESS.items():
        if key in config and config[key] not in harmless:
            raise Refusal(f"config.json has {key} = {shown(config[key])}: tinyattn's models do not do this")
    if str(config.get("model_type", "gpt2")) not in FAMILIES:
        raise Refusal(f"config.json has model_type = {shown(config['model_type'])}: tinyattn's models compute as {', '.join(FAMILIES)} do")


def read(name, value, where):
    with refusing(where):
        convert = SETTINGS[name][0]
        converted, wanted = convert(value)
        if converted is None:
            raise Refusal(f"{shown(value)} is not {wanted}")
    return Said(converted, where)


def agreeing(said):
    """The one thing that all of them say."""
    for other in said:
        if other.value != said[0].value:
            raise Refusal(f"{said[0].where} says {said[0].value}, and {other.where} says {other.value}")
    return said[0] if said else None


class Settings:
    """By name what was said, or None. `config` is a config.json's path, or what it holds."""

    def __init__(self, given, config=None):
        self.config = flattened(config if isinstance(config, dict) else of_json(config)) if config is not None else {}
        refuse_other_models(self.config)
        self.said = {}
        for name, (_, *keys) in SETTINGS.items():
            own = [read(name, given[name], name)] if given.get(name) is not None else []
            self.said[name] = agreeing(own + [read(name, self.config[key], f"config.json's {key}") for key in keys if key in self.config])

    def value(self, name, default=None):
        said = self.said[name]
        return said.value if said else default

    def check(self, name, found, what):
        """That what was said is what the tensors are."""
        said = self.said[name]
        if said and said.value != found:
            raise Refusal(f"{said.where} says {said.value}, and {what} says {found}")

    def check_window(self, context_length):
        """A window as long as the context hides nothing."""
        window = self.config.get("sliding_window")
        if window is not None and self.config.get("use_sliding_window") is not False and not (
                type(window) is int and window >= context_length):
            raise Refusal(f"config.json has sliding_window = {shown(window)}: tinyattn's attention has no window, which hides nothing "
                          f"only of a context that is no longer; --context-length {shown(window)} is one")

    def check_family(self, family):
        kind = self.config.get("model_type")
        if kind is not None and FAMILIES[kind] != family:
            raise Refusal(f"config.json has model_type = {shown(kind)}, and the tensors have the names of {family}")
