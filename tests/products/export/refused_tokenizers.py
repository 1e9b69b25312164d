# SPDX-License-Identifier: MIT
"""Tests that a tokenizer which cannot be exported gives an error of one sentence with the reason; and headers that have
a model and its tokenizer."""
import json
import re
import struct

from tests.products.export import exporter, models
from tests.products.export.exporter import COMPILER
from tests.products.export.files import of_hex, safetensors
from tests.support import tap
from tests.support.tap import in_folder

SPACE = "\u2581"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
NORMAL, UNKNOWN, CONTROL, SYMBOL, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


# --- Files by hand ---


def number(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + number(value >> 7)


def field(key, value):
    """Returns a field of a protocol buffer: a number, a float, or a text or message in bytes."""
    if isinstance(value, float):
        return number(key << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return number(key << 3) + number(value)
    return number(key << 3 | 2) + number(len(value)) + value


def message(fields):
    return b"".join(field(key, value) for key, value in fields.items())


PIECES = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL), (SPACE + "a", 0.0, NORMAL),
          ("ab", -1.0, NORMAL), (SPACE, -2.0, NORMAL), ("a", -3.0, NORMAL), ("b", -4.0, NORMAL)]


def model(pieces=(), trainer=(), normalizer=(), first=PIECES):
    """Returns a tokenizer.model with some more pieces and other settings."""
    return b"".join(
        [field(1, message({1: text.encode(), 2: score, 3: kind})) for text, score, kind in [*first, *pieces]] +
        [field(2, message({3: 2, **dict(trainer)})), field(3, message({1: b"identity", **dict(normalizer)}))])


def llama2c(more=(), start=("<unk>", "\n<s>\n", "\n</s>\n", *BYTES, " ", "a")):
    texts = [text.encode() for text in (*start, *more)]
    return struct.pack("<i", 9) + b"".join(struct.pack("<fi", 0.0, len(text)) + text for text in texts)


def letters():
    """Returns how GPT-2 writes the bytes from 0 to 255."""
    readable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in readable]
    return [chr(byte) if byte in readable else chr(256 + others.index(byte)) for byte in range(256)]


GPT2 = {**{text: byte for byte, text in enumerate(letters())}, "ab": 256}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False}
METASPACE = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "first"}
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}


def in_json(vocabulary=None, merges=("a b",), added=(), normalizer=None, pre_tokenizer=None, **settings):
    return json.dumps({"added_tokens": list(added), "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "model": {
        "type": "BPE", "vocab": GPT2 if vocabulary is None else vocabulary, "merges": list(merges),
        **settings}}).encode()


def gpt2(**settings):
    return in_json(pre_tokenizer=BYTE_LEVEL, **settings)


def characters(**settings):
    vocabulary = {"<unk>": 0, "a": 1, "b": 2, "ab": 3, SPACE: 4}
    return in_json(vocabulary, normalizer=settings.pop("normalizer", REPLACE),
                   **{"unk_token": "<unk>", "fuse_unk": True, **settings})


END = {"id": 257, "content": "<|endoftext|>"}
REFUSED = {  # {a part of the sentence: (the name of the file, its content)}
    "it is empty": ("tokenizer.model", b""),
    "it is a unigram model of SentencePiece": ("tokenizer.model", model(trainer={3: 1})),
    "its table of rules, which normalize text, is cut or broken": ("tokenizer.model", model(normalizer={1: b"nmt_nfkc", 2: b"abc"})),
    "it normalizes text with nmt_nfkc, and has spaces in user_defined_symbols": (
        "tokenizer.model", model([("c" + SPACE, 0.0, SYMBOL)], normalizer={1: b"nmt_nfkc", 2: b"abc"})),
    "treat_whitespace_as_suffix": ("tokenizer.model", model(trainer={24: 1})),
    "escape_whitespaces is false": ("tokenizer.model", model(normalizer={5: 0})),
    "its piece c is unused": ("tokenizer.model", model([("c", 0.0, UNUSED)])),
    "its piece c is of a type": ("tokenizer.model", model([("c", 0.0, 9)])),
    "one piece for what is unknown": ("tokenizer.model", model([("c", 0.0, UNKNOWN)])),
    "ab is in it twice": ("tokenizer.model", model([("ab", 0.0, NORMAL)])),
    "a piece in it is empty": ("tokenizer.model", model([("", 0.0, NORMAL)])),
    "the piece a b has a space": ("tokenizer.model", model([("a b", 0.0, SYMBOL)])),
    "the piece abc has the character c": ("tokenizer.model", model([("abc", -0.5, NORMAL), ("bc", -0.4, NORMAL)])),
    "a score is NaN": ("tokenizer.model", model([("c", float("nan"), NORMAL)])),
    "the piece aba is merged before its parts": (
        "tokenizer.model", model([("aba", 9.0, NORMAL)], first=[piece for piece in PIECES if piece[0] != SPACE + "a"])),
    "contradict each other": ("tokenizer.model", model([("<0x00>", 0.0, BYTE)])),
    "must follow one another": ("tokenizer.model", model([("<0x00>", 0.0, BYTE)], {35: 1})),
    "has 300 bytes, and 255 is the most": ("tokenizer.model", model([("a" * 300, 0.0, NORMAL)])),
    "it has 65544 tokens, and tinyattn's Token counts at most 65535": (
        "tokenizer.model", model([(f"a{i}", 0.0, CONTROL) for i in range(65536)])),
    "it has no pieces": ("tokenizer.model", field(2, message({3: 2}))),
    "no protocol buffer": ("tokenizer.model", b"PK\3\4"),
    "no tokenizer.bin": ("tokenizer.bin", llama2c()[:-1]),
    "256 tokens for bytes": ("tokenizer.bin", llama2c(start=("a", *(f"b{i}" for i in range(300))))),
    "no token for a space": ("tokenizer.bin", llama2c(start=("<unk>", "\n<s>\n", "\n</s>\n", *BYTES, "a"))),
    "a is in it twice": ("tokenizer.bin", llama2c(["a"])),
    "Expecting value": ("tokenizer.json", b"[1,"),
    "no tokenizer: a list of characters": ("tokenizer.json", b'{"a": {}}'),
    "x is in it twice": ("tokenizer.json", b'{"x": 0, "x": 1}'),
    "must be the numbers from 0 to 1": ("tokenizer.json", b'{"a": 0, "b": 2}'),
    "ab is not one character": ("tokenizer.json", b'["a", "ab"]'),
    "an empty text is not one": ("tokenizer.json", b'["a", ""]'),
    "'\\ud800' is a surrogate": ("tokenizer.json", b'["a", "\\ud800"]'),
    "its model is WordPiece": ("tokenizer.json", in_json(type="WordPiece")),
    "its pre_tokenizer is Whitespace": ("tokenizer.json", in_json(pre_tokenizer={"type": "Whitespace"})),
    "use_regex = false": ("tokenizer.json", in_json(pre_tokenizer={**BYTE_LEVEL, "use_regex": False})),
    "its pre_tokenizer is Sequence": ("tokenizer.json", in_json(pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": False}, BYTE_LEVEL]})),
    "a prepend_scheme that is not known": ("tokenizer.json", characters(
        normalizer=None, pre_tokenizer={**METASPACE, "prepend_scheme": "last"})),
    "<b> is not special": ("tokenizer.json", characters(
        normalizer=None, pre_tokenizer=METASPACE, added=[{"id": 5, "content": "<b>"}])),
    "has one inside: say split = false": ("tokenizer.json", in_json(
        {"<unk>": 0, "a": 1, SPACE: 2, SPACE + "a": 3, SPACE + "a" + SPACE: 4}, [SPACE + " a", SPACE + "a " + SPACE],
        unk_token="<unk>", fuse_unk=True, pre_tokenizer=METASPACE)),
    "its normalizer is NFC": ("tokenizer.json", gpt2(normalizer={"type": "NFC"})),
    "its normalizer is Lowercase": ("tokenizer.json", characters(normalizer={"type": "Sequence", "normalizers": [
        REPLACE, {"type": "Lowercase"}]})),
    "its normalizer is None": ("tokenizer.json", characters(normalizer=None)),
    "neither byte_fallback nor fuse_unk": ("tokenizer.json", characters(fuse_unk=False)),
    "dropout = 0.1": ("tokenizer.json", gpt2(dropout=0.1)),
    "needs abc, which is no token": ("tokenizer.json", gpt2(merges=["ab c"])),
    "the piece abc is merged from ab, which is no piece, or is found": ("tokenizer.json", gpt2(
        vocabulary={**GPT2, "abc": 257}, merges=["a b", "ab c"], added=[{"id": 256, "content": "ab"}])),
    "a b c is no merge": ("tokenizer.json", gpt2(merges=["a b c"])),
    "no token for the byte 0x61": ("tokenizer.json", gpt2(
        vocabulary={("AB" if text == "a" else text): token for text, token in GPT2.items()})),
    "<|endoftext|> has lstrip": ("tokenizer.json", gpt2(added=[{**END, "lstrip": True}])),
    "<|endoftext|> has two numbers": ("tokenizer.json", gpt2(added=[END, {**END, "id": 3}])),
    "no content or no id": ("tokenizer.json", gpt2(added=[{"content": "a"}])),
}


@in_folder
def is_refused(folder, phrase, name, content):
    (folder / name).write_bytes(content)
    status, output, problem = exporter.answer(folder, "--tokenizer", folder / name)
    return problem or ("" if status == 1 and phrase in output else f"expected: {phrase}\n{output}")


@in_folder
def misused(folder):
    """Checks which arguments go together."""
    (folder / "a.json").write_text('["a"]')
    tokenizer = ("--tokenizer", folder / "a.json")
    for arguments in ((), (folder / "w.safetensors", *tokenizer), (*tokenizer, "--language-model"),
                      (*tokenizer, "--binary", folder / "b"), (*tokenizer, "--causal"),
                      (*tokenizer, "--parts", "a.toml"), (*tokenizer, "--num-heads", "2"), (*tokenizer, "--window", "3"),
                      (*tokenizer, "--weights", "int8")):
        status, output, problem = exporter.answer(folder, *arguments)
        if problem or status != 2:
            return problem or f"{arguments}: {output}"
    return ""


VALID = {"tokenizer.model": model([("<sep>", 0.0, SYMBOL)]), "tokenizer.bin": llama2c(["ab", "b"]),
         "gpt2.json": gpt2(added=[END]), "characters.json": characters(), "table.json": b'{"a": 1, "b": 0, "<s>": 2}'}


# --- With a model ---


ASSERTIONS = """#include "model.hpp"
#include "tinyattn/tinyattn.hpp"
constexpr bool encodes() {
  tinyattn::Token tokens[4] = {*model::begin_of_text};
  std::size_t count = 1;
  using enum tinyattn::Status;
  return model::tokenizer.encode("cab", std::span(tokens).first(3), count) == too_many_tokens && count == 1 &&
         model::tokenizer.encode("ca", tokens, count) == ok && count == 3 && tokens[2] == 0;
}
static_assert(encodes() && model::tokenizer.piece(2) == "c" && model::tokenizer.piece(9).empty());
static_assert(model::tokenizer.vocabulary == decltype(model::model)::vocabulary);
static_assert(*model::begin_of_text == 9 && %s);
"""


@in_folder
def with_model(folder, config, end, more=()):
    """Checks a header of a model and its tokenizer, or the error if they do not fit."""
    (folder / "llama.safetensors").write_bytes(safetensors(of_hex(models.LLAMA)))
    (folder / "table.json").write_text(json.dumps([*"abcdefghi", "<s>", "</s>", *more]))
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": 2, "rms_norm_eps": 1e-5, **config}))
    status, output, problem = exporter.answer(
        folder, folder / "llama.safetensors", "--language-model", "--context-length", "5", "--config",
        folder / "config.json", "--tokenizer", folder / "table.json")
    if problem or status:
        return problem or ("" if end in output else output)
    done = exporter.call(*COMPILER, "-fsyntax-only", "-I", folder, "-x", "c++", "-", input=ASSERTIONS % end)
    return done.stderr[:2000]


@in_folder
def ends_in_c(folder):
    """NAME.h names the tokens of config.json that begin and end a text, if the model has them."""
    (folder / "llama.safetensors").write_bytes(safetensors(of_hex(models.LLAMA)))
    for begin, end, names in ((11, [3, 4], {"END": 3}), (1, 2, {"BEGIN": 1, "END": 2})):
        config = {"num_attention_heads": 2, "rms_norm_eps": 1e-5, "bos_token_id": begin, "eos_token_id": end}
        (folder / "config.json").write_text(json.dumps(config))
        exporter.must_run(folder / "llama.safetensors", "--language-model", "--context-length", "5", "--config", folder / "config.json",
                          "-o", folder / "chat.h", "--c", "--name", "chat")
        text = (folder / "chat.h").read_text()
        if {name: int(token) for name, token in re.findall(r"#define CHAT_(\w+)_OF_TEXT (\d+) /\* a token \*/\n", text)} != names:
            return text
    return ""


if __name__ == "__main__":
    tap.report([
        *((phrase, is_refused, phrase, *file) for phrase, file in REFUSED.items()),
        ("arguments that do not go together", misused),
        ("with a model", with_model, {}, "*model::end_of_text == 10"),
        ("the end that config.json names", with_model, {"eos_token_id": 4}, "*model::end_of_text == 4"),
        ("the first of several ends", with_model, {"eos_token_id": [3, 4]}, "*model::end_of_text == 3"),
        ("the same in C", ends_in_c),
        ("an end beyond the tokens", with_model, {"eos_token_id": 11}, "config.json has eos_token_id = 11"),
        ("other vocabularies", with_model, {}, "the tokenizer has 12 tokens, and the model 11", "j")])
