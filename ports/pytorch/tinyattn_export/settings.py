# SPDX-License-Identifier: MIT
"""The settings of a model that its tensors do not tell. They come from arguments, of the command line or of Python, and
from a config.json with keys of Hugging Face, nanoGPT or Meta. All values of one setting must agree. A key that is
neither a setting nor known to be harmless is an error.
"""
import dataclasses
import json
import pathlib
import struct

from . import int8
from .families import FAMILIES, SPECIAL, named
from .errors import ExportError, Spelling, printable, within
from .safetensors import unique

LARGEST_COUNT = 2**31 - 1  # of heads or tokens
LARGEST_OBJECT = 2**31 - 1  # bytes: half of what 32 bits address, and the most that a linker places without options
# {name in C++: (its function of torch.nn.functional, its module of torch.nn, the arguments of both that make it this one,
# further names in a config.json...)}. Of one function, that without arguments comes first.
ACTIVATIONS = {
    "relu": ("relu", "ReLU", {}),
    "gelu": ("gelu", "GELU", {}),
    "gelu_tanh": ("gelu", "GELU", {"approximate": "tanh"}, "gelu_new", "gelu_fast", "gelu_pytorch_tanh"),
    "silu": ("silu", "SiLU", {}, "swish"),
}
ACTIVATION_FUNCTIONS = tuple(dict.fromkeys(function for function, *_ in ACTIVATIONS.values()))
ACTIVATION_NAMES = {key: name for name, (_, _, _, *others) in ACTIVATIONS.items() for key in (name, *others)}
ROTARIES = ("halves", "interleaved")
FORMATS = {"int8": int8.matrix_of}  # of weights that are not floats; see matrices.py
WEIGHTS = ("f32", *FORMATS)
CACHES = ("f32", "int8")  # of keys and values
ROTARY_TABLES = ("rope_parameters", "rope_scaling")  # tables of a config.json on rotary positions


def whole(value):
    """Turns a float such as 10000.0 into the integer that it equals; JSON often has such floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def number_between(first, last):
    """Returns the conversion of whole numbers in a range: it gives the value, or None, and what is right."""
    def convert(value):
        right = type(whole(value)) is int and first <= value <= last
        return whole(value) if right else None, f"a whole number from {first} to {last}"
    return convert


def one_of(names, meaning=str):
    return lambda value: (meaning(value) if str(value) in names else None, f"one of {', '.join(names)}")


def small(value):
    """Converts a number from 0 to 1 to the float32 nearest to it."""
    right = type(value) in (int, float) and 0 <= value < 1
    return struct.unpack("<f", struct.pack("<f", value))[0] if right else None, "a number from 0 to 1"


def activation_of(called, arguments):
    """Returns the name in C++ of a function or module of PyTorch, given with these arguments; None if there is none."""
    names = [name for name, (function, module, needed, *_) in ACTIVATIONS.items()
             if called in (function, module) and needed.items() <= arguments.items()]
    return names[-1] if names else None


def part(value):
    return value if type(value) in (int, float) and 0 < value <= 1 else None, "a number above 0, at most 1"


def flag(value):
    return value if isinstance(value, bool) else None, "true or false"


COUNT = number_between(1, LARGEST_COUNT)
SETTINGS = {  # {name: (its conversion, the keys of a config.json that give it...)}
    "num_heads": (COUNT, "n_head", "num_attention_heads", "n_heads", "num_heads"),
    "num_kv_heads": (COUNT, "num_key_value_heads", "n_kv_heads"),
    "head_dim": (COUNT, "head_dim"),
    "context_length": (COUNT,),
    "trained_length": (COUNT, "n_positions", "n_ctx", "max_position_embeddings", "max_sequence_length", "block_size",
                       "max_seq_len", "context_length"),
    "num_layers": (COUNT, "n_layer", "num_hidden_layers", "n_layers", "num_layers"),
    "d_model": (COUNT, "n_embd", "hidden_size", "dim", "emb_dim"),
    "d_hidden": (COUNT, "n_inner", "intermediate_size", "hidden_dim"),
    "vocabulary": (COUNT, "vocab_size"),
    "rotary": (one_of(ROTARIES),),
    "rotary_base": (number_between(2, 2**32 - 1), "rope_theta", "rotary_emb_base",
                    *(f"{table}.rope_theta" for table in ROTARY_TABLES)),
    "activation": (one_of(ACTIVATION_NAMES, ACTIVATION_NAMES.get), "activation_function", "hidden_act",
                   "hidden_activation"),
    "epsilon": (small, "layer_norm_epsilon", "rms_norm_eps", "norm_eps", "layer_norm_eps"),
    "tied": (flag, "tie_word_embeddings"),
    "causal": (flag,),
    "norm_first": (flag,),
    "weights": (one_of(WEIGHTS),),
    "cache": (one_of(CACHES),),
    "window": (COUNT,),
    "attention_bias": (flag, "attention_bias", "bias", "qkv_bias"),
    "feed_forward_bias": (flag, "mlp_bias", "bias"),
    "sliding_window": (COUNT,),
    "rotary_dim": (COUNT, "rotary_dim"),
    "rotary_part": (part, "rotary_pct", "partial_rotary_factor",
                    *(f"{table}.partial_rotary_factor" for table in ROTARY_TABLES)),
    "parallel": (flag, "use_parallel_residual"),
    "stride": (COUNT,),
    "padding": (number_between(0, LARGEST_COUNT),),
}
# Keys of features that tinyattn's models do not have, and the values that turn each feature off.
HARMLESS = {
    "scale_attn_weights": (True,), "scale_attn_by_inverse_layer_idx": (False,), "add_cross_attention": (False,),
    "is_encoder_decoder": (False,), "tie_encoder_decoder": (False,), "pruned_heads": ({},),
    "layer_types": (["full_attention"], ["sliding_attention"], ["full_attention", "sliding_attention"]),
    "use_scaled_rope": (False,), "use_mrope": (False,), "rope_interleaved": (False,), "use_qk_norm": (False,),
    "qk_layernorm": (False,), "rotary": (True,), "attn_logit_softcapping": (), "final_logit_softcapping": (),
    "query_pre_attn_scalar": (),
    **{f"{table}.{key}": ("default",) for table in ROTARY_TABLES for key in ("rope_type", "type")},
}
# Keys that do not change logits. Nor do keys that begin with an underscore, which transformers has for internal use.
WITHOUT_EFFECT = frozenset((
    # training, and how the weights were stored
    "attention_dropout attn_pdrop embd_pdrop resid_pdrop dropout hidden_dropout classifier_dropout resid_dropout "
    "embed_dropout drop_rate initializer_range gradient_checkpointing "
    "pretraining_tp torch_dtype dtype ffn_dim_multiplier multiple_of "
    # which implementation runs, what its forward returns, and what it caches
    "transformers_version attn_implementation transformers.js_config unsloth_version is_llama_config is_decoder "
    "torchscript use_bfloat16 tf_legacy_loss use_cache output_past output_attentions output_hidden_states return_dict "
    "chunk_size_feed_forward reorder_and_upcast_attn flash_attn max_batch_size "
    # sliding windows, which window_of_config handles
    "sliding_window use_sliding_window max_window_layers cache_implementation window_size "
    # tokens, sampling, tasks
    "tokenizer_class prefix bos_token_id eos_token_id pad_token_id sep_token_id decoder_start_token_id "
    "predict_special_tokens max_length max_new_tokens min_length do_sample early_stopping num_beams num_beam_groups "
    "diversity_penalty temperature top_k top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size "
    "encoder_no_repeat_ngram_size bad_words_ids num_return_sequences output_scores return_dict_in_generate "
    "forced_bos_token_id forced_eos_token_id remove_invalid_values exponential_decay_length_penalty suppress_tokens "
    "begin_suppress_tokens task_specific_params problem_type finetuning_task num_labels id2label label2id summary_type "
    "summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout").split())
LAYERS_OF_GPT_NEO = (("global", "full_attention"), ("local", "sliding_attention"))  # its names of layer_types
WINDOWS = ("sliding_window", "window_size")  # keys of a window, which layer_types may limit to some layers
MODELS = ("model_type", "architectures")  # the keys that name a model
SPELLINGS = {  # {setting: (its description, how an argument spells it)}
    "num_heads": ("the number of heads", Spelling("--num-heads N", "num_heads = N")),
    "context_length": ("the most tokens", Spelling("--context-length N", "context_length = N")),
    "causal": ("whether later tokens are masked", Spelling("--causal or --no-causal", "causal = true or false")),
    "norm_first": ("whether norms come first",
                   Spelling("--norm-first or --no-norm-first", "norm_first = true or false")),
    "activation": ("the activation", Spelling("--activation NAME", 'activation = "NAME"')),
    "epsilon": ("the epsilon of the norms", Spelling("--epsilon E", "epsilon = E")),
    "rotary_base": ("the base of the rotary positions", Spelling("--rotary-base B", "rotary_base = B")),
}
CONFIG = Spelling("--config config.json", 'config = "config.json"')


def missing(names, config=False):
    """Returns the ExportError for settings that are not given. `config`: whether to suggest a config.json."""
    parts = [f"no tensor tells {', '.join(SPELLINGS[name][0] for name in names)}: say "]
    for name in names:
        parts += [SPELLINGS[name][1], ", "]
    return ExportError(*parts, "or ", CONFIG) if config else ExportError(*parts[:-1])


@dataclasses.dataclass(frozen=True)
class Setting:
    value: object
    origin: str


def read_config(path):
    """Returns the content of a config.json as a dict."""
    with within(f"cannot read {printable(path)}", OSError, ValueError, RecursionError):
        config = json.loads(pathlib.Path(path).read_text(encoding="utf-8"), object_pairs_hook=unique)
        if not isinstance(config, dict):
            raise ExportError("it is no table of settings")
        return config


def flat(config, origin):
    """Returns a config without nested tables. Newer files of Hugging Face have a table of rotary positions: its keys
    get its name as a prefix. Its type must be the default, without scaling."""
    entries = {key: value for key, value in config.items() if value is not None}
    for key in ROTARY_TABLES:
        table = entries.pop(key, {})
        kinds = [table.get("rope_type"), table.get("type")] if isinstance(table, dict) else [table]
        if any(kind not in (None, "default") for kind in kinds):
            raise ExportError(f"{origin} has {key} = {printable(table)}: tinyattn's rotary positions are not scaled")
        entries.update({f"{key}.{inner}": value for inner, value in table.items() if value is not None})
    if entries.get("vocab_size") == -1:  # in Meta's params.json, -1 says that the tokenizer knows it
        del entries["vocab_size"]
    if any(family is FAMILIES["gpt_neo"] for _, _, family in families(entries)):  # by default half of all are local
        kinds = str([entries.pop(key, "global, local") for key in ("attention_types", "attention_layers")][0])
        entries["layer_types"] = [kind for word, kind in LAYERS_OF_GPT_NEO if word in kinds]
        entries.setdefault("window_size", 256)
    if isinstance(entries.get("layer_types"), list):  # has an entry for each layer: only the different ones matter
        entries["layer_types"] = sorted(set(map(str, entries["layer_types"])))
    return entries


def families(config):
    """Yields (key, name, family) for each name that the config gives its model. The family says which model computes
    the same; None if it is unknown."""
    for key in (key for key in MODELS if key in config):
        for name in config[key] if isinstance(config[key], list) else [config[key]]:
            yield key, name, named(str(name))


def refuse_other_models(config, origin):
    for key, name, family in families(config):
        if family is None:
            raise ExportError(
                f"{origin} has {key} = {printable(name)}: tinyattn's models compute as {', '.join(FAMILIES)} do")
    taken = {setting for _, _, family in families(config) for setting in family.settings}
    special = {key: (SPECIAL[name],) for name in SPECIAL.keys() - taken for key in SETTINGS[name][1:]}
    understood = {*MODELS, *(key for _, *keys in SETTINGS.values() for key in keys)}
    for key, value in config.items():
        if value not in {**HARMLESS, **special}.get(key, (value,)):
            raise ExportError(f"{origin} has {key} = {printable(value)}: tinyattn's models do not do this")
        if key not in understood and key not in HARMLESS and key not in WITHOUT_EFFECT and not key.startswith("_"):
            raise ExportError(
                f"{origin} has {printable(key)} = {printable(value)}, which the exporter does not know: if it changes "
                "nothing that the model computes, take it out of the file")


def parse(name, value, origin):
    """Returns a value as a Setting, converted. Raises an ExportError if it is not valid."""
    convert = SETTINGS[name][0]
    with within(origin):
        converted, expected = convert(value)
        if converted is None:
            raise ExportError(f"{printable(value)} is not {expected}")
    return Setting(converted, origin)


def agreement(settings):
    """Returns the first of some Settings, or None if there are none. Raises an ExportError if their values differ."""
    for other in settings:
        if other.value != settings[0].value:
            raise ExportError(
                f"{settings[0].origin} says {settings[0].value}, and {other.origin} says {other.value}")
    return settings[0] if settings else None


class Settings:
    """The settings that arguments and configs give. `configs`: {origin, for error messages: table}."""

    def __init__(self, arguments, configs=None):
        self.configs = {origin: flat(config, origin) for origin, config in (configs or {}).items()}
        self.has_config = any(self.configs.values())
        for origin, config in self.configs.items():
            refuse_other_models(config, origin)
        self.settings = {name: agreement(list(self.read(name, arguments))) for name in SETTINGS}

    def read(self, name, arguments):
        """Yields each Setting that gives this name: of the argument, and of each key of the configs."""
        if arguments.get(name) is not None:
            yield parse(name, arguments[name], name)
        for origin, config in self.configs.items():
            for key in SETTINGS[name][1:]:
                if key in config:
                    yield parse(name, config[key], f"{origin}'s {key}")

    def has(self, name):
        return self.settings[name] is not None

    def value(self, name, default=None):
        return self.settings[name].value if self.has(name) else default

    def values(self):
        return {name: setting and setting.value for name, setting in self.settings.items()}

    def check(self, name, value, what):
        """Raises an ExportError if a setting contradicts `value`, which `what` says."""
        setting = self.settings[name]
        if setting and setting.value != value:
            raise ExportError(f"{setting.origin} says {setting.value}, and {what} says {value}")

    def window(self, context_length):
        """Returns how many tokens a token attends to, or None for all: what the argument says, or a config.json whose
        window is shorter than the context. A longer one masks nothing."""
        windows = [setting for setting in self.windows_of_configs(context_length) if setting.value < context_length]
        setting = agreement([*filter(None, [self.settings["window"]]), *windows])
        return setting and setting.value

    def long_windows(self, context_length):
        """Yields a remark on each window of a config that is not taken, as it is not shorter than the context."""
        for setting in [] if self.has("window") else self.windows_of_configs(context_length):
            if setting.value >= context_length:
                yield (f"no window: {setting.origin} says {setting.value}, and the context is {context_length}; "
                       "--window N gives one")

    def windows_of_configs(self, context_length):
        return [setting for origin in self.configs if (setting := self.window_of_config(origin, context_length))]

    def window_of_config(self, origin, context_length):
        """Returns the sliding window of a config as a Setting, or None. Raises an ExportError if layers differ in it
        and it is shorter than the context. Of Qwen2, the first max_window_layers have none."""
        config = self.configs[origin]
        kinds, first = config.get("layer_types"), config.get("max_window_layers", 0)
        is_qwen = any(str(name).lower().startswith("qwen") for _, name, _ in families(config))
        is_used = config.get("use_sliding_window", not is_qwen)  # transformers' defaults
        key = next((key for key in WINDOWS if key in config), None)
        if key is None or is_used is False or kinds == ["full_attention"]:
            return None
        setting = parse("sliding_window", config[key], f"{origin}'s {key}")
        if kinds is None and first and self.has("num_layers") and first >= self.value("num_layers"):
            return None
        if (kinds is None and first or len(kinds or ()) > 1) and setting.value < context_length:
            raise ExportError(f"{origin} has a sliding window of {setting.value} in some layers, and tinyattn's models "
                              "have one in all layers or in none")
        return setting

    def check_family(self, family):
        for origin, config in self.configs.items():
            for key, name, own_family in families(config):
                if own_family.names_of != family:
                    raise ExportError(
                        f"{origin} has {key} = {printable(name)}, and the tensors have the names of {family}")

    def family(self, names_of):
        """Returns the Family that the configs name, or None. Raises an ExportError if it has not the names of this
        family, or if they name two that compute differently."""
        self.check_family(names_of)
        every = [(name, family) for config in self.configs.values() for _, name, family in families(config)]
        for name, family in every:
            if family != every[0][1]:
                raise ExportError(f"{printable(name)} and {printable(every[0][0])} compute differently")
        return every[0][1] if every else None
