# SPDX-License-Identifier: MIT
"""What no tensor tells of a model: said on the command line, in Python, or in a config.json, whose keys are Hugging Face's, nanoGPT's or
Meta's. What is said twice must agree. A key is understood, or known to change nothing, or refused.
"""
import dataclasses
import json
import pathlib
import re
import struct

from .refusal import Advised, Refusal, refusing, shown
from .safetensors import unique

LARGEST_COUNT = 2**31 - 1  # of heads or tokens
LARGEST_OBJECT = 2**31 - 1  # bytes: what 32 bits address, and what a linker places without further options
ACTIVATIONS = {
    "relu": "relu", "gelu": "gelu", "gelu_tanh": "gelu_tanh", "gelu_new": "gelu_tanh", "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh", "silu": "silu", "swish": "silu",
}
ROTARIES = ("halves", "interleaved")
ROTARY_TABLES = ("rope_parameters", "rope_scaling")  # that a config.json may have
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
    "trained_length": (count, "n_positions", "n_ctx", "max_position_embeddings", "max_sequence_length", "block_size", "max_seq_len"),
    "num_layers": (count, "n_layer", "num_hidden_layers", "n_layers"),
    "d_model": (count, "n_embd", "hidden_size", "dim"),
    "d_hidden": (count, "n_inner", "intermediate_size", "hidden_dim"),
    "vocabulary": (count, "vocab_size"),
    "rotary": (rotary,),
    "rotary_base": (base, "rope_theta", *(f"{table}.rope_theta" for table in ROTARY_TABLES)),
    "activation": (activation, "activation_function", "hidden_act"),
    "epsilon": (small, "layer_norm_epsilon", "rms_norm_eps", "norm_eps"),
    "tied": (flag, "tie_word_embeddings"),
    "causal": (flag,),
    "norm_first": (flag,),
    "attention_bias": (flag, "attention_bias", "bias"),
    "feed_forward_bias": (flag, "mlp_bias", "bias"),
    "sliding_window": (count,),  # of which check_window judges
}
HARMLESS = {  # keys of what tinyattn's models do not do, and the values with which they do not do it either
    "scale_attn_weights": (True,), "scale_attn_by_inverse_layer_idx": (False,), "add_cross_attention": (False,),
    "is_encoder_decoder": (False,), "tie_encoder_decoder": (False,), "pruned_heads": ({},), "layer_types": (["full_attention"],),
    "use_scaled_rope": (False,), "use_mrope": (False,), "rope_interleaved": (False,), "use_qk_norm": (False,),
    "partial_rotary_factor": (1,), **{f"{table}.partial_rotary_factor": (1,) for table in ROTARY_TABLES},
    **{f"{table}.{key}": ("default",) for table in ROTARY_TABLES for key in ("rope_type", "type")},
}
WITHOUT_EFFECT = frozenset((  # on logits; nor has a key with an underscore in front, which transformers keeps for itself
    # training, and how the weights were stored
    "attention_dropout attn_pdrop embd_pdrop resid_pdrop dropout initializer_range gradient_checkpointing pretraining_tp torch_dtype dtype "
    "ffn_dim_multiplier multiple_of "
    # which code, and what it returns and keeps
    "transformers_version attn_implementation transformers.js_config unsloth_version is_llama_config is_decoder torchscript "
    "use_bfloat16 tf_legacy_loss use_cache output_past output_attentions output_hidden_states return_dict chunk_size_feed_forward "
    "reorder_and_upcast_attn flash_attn max_batch_size "
    # windows, of which check_window judges
    "sliding_window use_sliding_window max_window_layers "
    # tokens, sampling, tasks
    "tokenizer_class prefix bos_token_id eos_token_id pad_token_id sep_token_id decoder_start_token_id predict_special_tokens max_length "
    "max_new_tokens min_length do_sample early_stopping num_beams num_beam_groups diversity_penalty temperature top_k top_p typical_p "
    "repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences output_scores "
    "return_dict_in_generate forced_bos_token_id forced_eos_token_id remove_invalid_values exponential_decay_length_penalty "
    "suppress_tokens begin_suppress_tokens task_specific_params problem_type finetuning_task num_labels id2label label2id "
    "summary_type summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout").split())
MODELS = ("model_type", "architectures")  # the keys that name a model
ARCHITECTURE = re.compile(r"(GPT2|Llama|LLaMA|Mistral|Qwen2)(?:Model|LMHeadModel|ForCausalLM)")


UNTOLD = {  # by any tensor: what it is, and how it is said
    "num_heads": ("the number of heads", "--num-heads N", "num_heads = N"),
    "context_length": ("the most tokens", "--context-length N", "context_length = N"),
    "causal": ("whether later tokens are hidden", "--causal or --no-causal", "causal = true or false"),
    "norm_first": ("whether norms come first", "--norm-first or --no-norm-first", "norm_first = true or false"),
    "activation": ("the activation", "--activation NAME", 'activation = "NAME"'),
    "epsilon": ("the epsilon of the norms", "--epsilon E", "epsilon = E"),
    "rotary_base": ("the base of the rotary positions", "--rotary-base B", "rotary_base = B"),
    "config": ("any of it", "--config config.json", 'config = "config.json"'),
}


def unsaid(names, config=False):
    """The refusal because of what no tensor tells, and nobody said. config: whether a config.json may tell it."""
    def text(spelled):
        *words, last = (spelled(*UNTOLD[name][1:]) for name in [*names, *(["config"] if config else [])])
        said = ", ".join([*words, f"or {last}" if config else last])
        return f"no tensor tells {', '.join(UNTOLD[name][0] for name in names)}: say {said}"
    return Advised(text)


def require(**settings):
    absent = [name for name, value in settings.items() if value is None]
    if absent:
        raise unsaid(absent)


@dataclasses.dataclass(frozen=True)
class Said:
    value: object
    where: str  # it is said


def of_json(path):
    """What a config.json holds."""
    with refusing(f"cannot read {shown(path)}", OSError, ValueError, RecursionError):
        config = json.loads(pathlib.Path(path).read_text(encoding="utf-8"), object_pairs_hook=unique)
        if not isinstance(config, dict):
            raise Refusal("it is no table of settings")
        return config


def flattened(config, where):
    """Newer files of Hugging Face have a table of rotary positions, whose type must be the plain one: its keys get its name in front."""
    flat = {key: value for key, value in config.items() if value is not None}
    for key in ROTARY_TABLES:
        table = flat.pop(key, {})
        kinds = [table.get("rope_type"), table.get("type")] if isinstance(table, dict) else [table]
        if any(kind not in (None, "default") for kind in kinds):
            raise Refusal(f"{where} has {key} = {shown(table)}: tinyattn's rotary positions are not scaled")
        flat.update({f"{key}.{inner}": value for inner, value in table.items() if value is not None})
    if flat.get("vocab_size") == -1:  # Meta's params.json leaves it to the tokenizer
        del flat["vocab_size"]
    if isinstance(flat.get("layer_types"), list):  # of each layer
        flat["layer_types"] = sorted(set(map(str, flat["layer_types"])))
    return flat


def families(config):
    """What the file calls its model, and as whom that computes, or None: (key, value, family)."""
    for key in (key for key in MODELS if key in config):
        for name in config[key] if isinstance(config[key], list) else [config[key]]:
            architecture = ARCHITECTURE.fullmatch(str(name))
            yield key, name, FAMILIES.get(architecture[1].lower() if architecture else str(name))


def refuse_other_models(config, where):
    for key, name, family in families(config):
        if family is None:
            raise Refusal(f"{where} has {key} = {shown(name)}: tinyattn's models compute as {', '.join(FAMILIES)} do")
    understood = {*MODELS, *(key for _, *keys in SETTINGS.values() for key in keys)}
    for key, value in config.items():
        if key in HARMLESS and value not in HARMLESS[key]:
            raise Refusal(f"{where} has {key} = {shown(value)}: tinyattn's models do not do this")
        if key not in understood and key not in HARMLESS and key not in WITHOUT_EFFECT and not key.startswith("_"):
            raise Refusal(f"{where} has {shown(key)} = {shown(value)}, which the exporter does not know: if it changes nothing that "
                          "the model computes, take it out of the file")


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


def check_context(context_length, kv_width, layers=1):
    """A layer, or the cache of a model, holds the keys and values of all tokens in one object."""
    size = 2 * 4 * context_length * kv_width * layers
    if size > LARGEST_OBJECT:
        raise Refusal(f"context_length {context_length} is too long: the keys and values of so many tokens take {size} bytes, and no "
                      f"target holds an object of more than {LARGEST_OBJECT}")


class Settings:
    """By name what was said, or None. `configs` are tables such as a config.json's, by where they stand."""

    def __init__(self, given, configs=None):
        self.configs = {where: flattened(config, where) for where, config in (configs or {}).items()}
        self.has_config = any(self.configs.values())
        for where, config in self.configs.items():
            refuse_other_models(config, where)
        self.said = {}
        for name, (_, *keys) in SETTINGS.items():
            own = [read(name, given[name], name)] if given.get(name) is not None else []
            self.said[name] = agreeing(own + [read(name, config[key], f"{where}'s {key}") for where, config in self.configs.items()
                                              for key in keys if key in config])

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
        for where, config in self.configs.items():
            if "sliding_window" not in config or config.get("use_sliding_window") is False:
                continue
            window = read("sliding_window", config["sliding_window"], f"{where}'s sliding_window").value
            if window < context_length:
                raise Advised(lambda spelled: (
                    f"{where} has sliding_window = {window}: tinyattn's attention has no window, which hides nothing only of a context "
                    f"that is no longer; {spelled(f'--context-length {window}', f'context_length = {window}')} is one"))

    def check_family(self, family):
        for where, (key, name, said) in ((where, kind) for where, config in self.configs.items() for kind in families(config)):
            if said != family:
                raise Refusal(f"{where} has {key} = {shown(name)}, and the tensors have the names of {family}")
