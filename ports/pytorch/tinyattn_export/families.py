# SPDX-License-Identifier: MIT
"""Families of language models: what a model_type computes, as transformers defines it, besides what the names of
tensors and the keys of its config.json tell."""
import dataclasses
import re

from . import layouts

LAYER_NORM = {"normalization": "layer"}
NORMS_OF_HEADS = {"query_norm": "self_attn.q_norm", "key_norm": "self_attn.k_norm"}
OF_PHI = {"feed_forward_norm": "input_layernorm", "up": "mlp.fc1", "down": "mlp.fc2", "gate": "",
          "layout": layouts.Layout("Phi", ("q_proj", "k_proj", "v_proj"), ("dense",))}


@dataclasses.dataclass(frozen=True)
class Family:
    """Settings that only some families take have a value here, which holds if config.json has none."""

    names_of: str  # the family of the layout that it has, or changes
    architecture: str = dataclasses.field(compare=False)  # before Model, LMHeadModel or ForCausalLM
    layout: dict = dataclasses.field(default_factory=dict)  # {member of the Layout: its value}
    names: dict = dataclasses.field(default_factory=dict)  # {member of its Names: its value}
    settings: dict = dataclasses.field(default_factory=dict)
    adds_one: bool = False  # norms multiply by 1 + weight
    scales_embedding: bool = False  # by the root of the width, but not for a tied head
    scales_scores: bool = True


FAMILIES = {  # by model_type
    "gpt2": Family("GPT-2", "GPT2"),
    "llama": Family("Llama", "Llama|LLaMA"),
    "mistral": Family("Llama", "Mistral"),
    "qwen2": Family("Llama", "Qwen2"),
    "qwen3": Family("Llama", "Qwen3", names=NORMS_OF_HEADS, settings={"head_dim": 128}),
    "gemma": Family("Llama", "Gemma", {"activation": "gelu_tanh"}, {}, {"head_dim": 256}, True, True),
    "gpt_neox": Family("GPT-NeoX", "GPTNeoX", settings={"rotary_part": 0.25, "parallel": True}),
    "phi": Family("Llama", "Phi", {**LAYER_NORM, "final_norm": "final_layernorm", "activation": "gelu_tanh"}, OF_PHI,
                  {"rotary_part": 0.5, "parallel": True}),
    "gptj": Family("GPT-J", "GPTJ", settings={"rotary_dim": 64, "parallel": True}),
    "Tiny-K": Family("Llama", "Transformer"),  # of Happy-LLM
    "gpt_neo": Family("GPT-Neo", "GPTNeo", scales_scores=False),
}
# {setting that only some families take: its value in others}
SPECIAL = {"rotary_part": 1, "rotary_dim": None, "parallel": False}


def named(name):
    """Returns the Family that a model_type or an architecture names, or None."""
    for model_type, family in FAMILIES.items():
        if name in (model_type, family.architecture) or re.fullmatch(
                f"({family.architecture})(Model|LMHeadModel|ForCausalLM)", name):
            return family
    return None


def changed(layout, family):
    """Returns a Layout as a family has it."""
    names = dataclasses.replace(layout.names, **family.names)
    return dataclasses.replace(layout, **family.layout, names=names)
