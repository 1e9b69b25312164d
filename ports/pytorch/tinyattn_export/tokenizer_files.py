# SPDX-License-Identifier: MIT
"""Reads the files of tokenizers: tokenizer.model of SentencePiece, tokenizer.bin of llama2.c, tokenizer.json,
vocab.json with merges.txt, and tables of characters."""
import dataclasses
import functools
import hashlib
import json
import math
import pathlib
import struct

from . import protobuf
from .byte_level import of_merges, of_tokenizer_json
from .errors import ExportError, printable, within
from .merges import ByPiece
from .tokenizers import Tables
from .vocabularies import MOST_CHARACTERS, Vocabulary, check_texts, merged, of_characters

SPACE = "\u2581"  # SentencePiece writes a space as this
NORMAL, UNKNOWN, CONTROL, SYMBOL, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # types of pieces in tokenizer.model
MODELS = {1: "unigram", 2: "BPE", 3: "word", 4: "char"}
WORST_SCORE = -1e10  # llama2.c merges only into pieces with a higher one
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
LARGEST_FILE = 2**28


def unique(pairs):
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        raise ExportError(f"{printable(next(name for name in names if names.count(name) > 1))} is in it twice")
    return table


# --- SentencePiece ---


@dataclasses.dataclass(frozen=True)
class Piece:
    text: str
    score: float
    type: int


def read_piece(data):
    fields = protobuf.message(data)
    score = protobuf.as_float(fields.get(2, bytes(4)))
    if math.isnan(score):
        raise ExportError("a score is NaN")
    return Piece(protobuf.as_text(fields.get(1, b"")), score, fields.get(3, NORMAL))


def check_model(trainer, normalizer):
    """Raises an ExportError if a SentencePiece model does something else than tinyattn."""
    if trainer.get(3, 1) != 2:
        kind = MODELS.get(trainer.get(3, 1), "strange")
        raise ExportError(f"it is a {kind} model of SentencePiece: tinyattn has BPE")
    if normalizer.get(2):
        name = printable(protobuf.as_text(normalizer.get(1, b"")) or "a rule of its own")
        raise ExportError(f"it normalizes text with {name}: tinyattn takes text as it is, as a model that was trained "
                          "with normalization_rule_name=identity")
    if trainer.get(24, 0):
        raise ExportError("it has treat_whitespace_as_suffix: tinyattn puts spaces before words")
    if not normalizer.get(5, 1):
        raise ExportError("it does not escape spaces (escape_whitespaces is false), which is not read")


def check_pieces(pieces):
    if not pieces:
        raise ExportError("it has no pieces, or is no model of SentencePiece")
    check_texts(piece.text for piece in pieces)
    if any(not piece.text for piece in pieces):
        raise ExportError("a piece in it is empty")
    odd = next((piece for piece in pieces if piece.type not in (NORMAL, UNKNOWN, CONTROL, SYMBOL, BYTE)), None)
    if odd is not None:
        what = "unused" if odd.type == UNUSED else "of a type that is not known"
        raise ExportError(f"its piece {printable(odd.text)} is {what}, which is not read")
    if [piece.type for piece in pieces].count(UNKNOWN) != 1:
        raise ExportError("it must have one piece for what is unknown")
    spaced = next((piece.text for piece in pieces if piece.type in (NORMAL, SYMBOL) and " " in piece.text), None)
    if spaced is not None:
        raise ExportError(f"the piece {printable(spaced)} has a space that is not escaped, which is not read")


def first_byte_of(texts, wanted=None):
    """Returns the first of the 256 tokens for bytes. They must follow one another."""
    first = texts.index(BYTES[0]) if wanted is None and BYTES[0] in texts else wanted
    if first is None or texts[first:first + 256] != BYTES:
        raise ExportError("its 256 tokens for bytes, from <0x00> to <0xFF>, must follow one another")
    return first


def of_sentencepiece(data):
    """Returns the Vocabulary of a tokenizer.model."""
    every, pieces = {}, []
    for number, value in protobuf.fields(data):
        if number == 1:
            pieces.append(read_piece(value))
        else:
            every[number] = value
    trainer, normalizer = protobuf.message(every.get(2, b"")), protobuf.message(every.get(3, b""))
    check_pieces(pieces)
    check_model(trainer, normalizer)
    return sentencepiece_vocabulary(
        pieces, bool(trainer.get(35, 0)), dummy_prefix=bool(normalizer.get(3, 1)),
        remove_extra_spaces=bool(normalizer.get(4, 1)), begin=protobuf.as_text(trainer.get(46, b"<s>")),
        end=protobuf.as_text(trainer.get(47, b"</s>")))


def texts_of(pieces):
    """Returns the bytes of each token: a byte, a text with its spaces, or none."""
    return [bytes([BYTES.index(piece.text)]) if piece.type == BYTE
            else piece.text.replace(SPACE, " ").encode() if piece.type in (NORMAL, SYMBOL) else b""
            for piece in pieces]


def sentencepiece_vocabulary(pieces, byte_fallback, begin, end, pairs=None, **settings):
    texts = [piece.text for piece in pieces]
    is_odd_byte = any((piece.type == BYTE) != (byte_fallback and piece.text in BYTES) for piece in pieces)
    if is_odd_byte:
        raise ExportError("its tokens for bytes and byte_fallback contradict each other")
    control = {piece.text: token for token, piece in enumerate(pieces) if piece.type == CONTROL}
    symbols = {piece.text.replace(SPACE, " "): token for token, piece in enumerate(pieces) if piece.type == SYMBOL}
    normal = {piece.text.replace(SPACE, " "): token for token, piece in enumerate(pieces) if piece.type == NORMAL
              and not any(symbol.replace(" ", SPACE) in piece.text for symbol in symbols)}
    vocabulary = Vocabulary(
        "sentencepiece", texts_of(pieces), {}, symbols=symbols,
        unknown=next(token for token, piece in enumerate(pieces) if piece.type == UNKNOWN),
        first_byte=first_byte_of(texts) if byte_fallback else None, begin=control.get(begin), end=control.get(end),
        **settings)
    return merged(vocabulary, normal, pairs or ByPiece({text: pieces[token].score for text, token in normal.items()}))


# --- llama2.c ---


def read_llama2c(data):
    """Returns the pieces of a tokenizer.bin, which has no count of them."""
    position, pieces = 4, []
    while position < len(data):
        if position + 8 > len(data):
            raise ExportError("it is cut, or no tokenizer.bin of llama2.c")
        score, size = struct.unpack_from("<fi", data, position)
        position += 8
        if not 0 <= size <= len(data) - position or len(pieces) == MOST_CHARACTERS:
            raise ExportError("it is cut, or no tokenizer.bin of llama2.c")
        text = protobuf.as_text(data[position:position + size])
        pieces.append(Piece(text, score, NORMAL))
        position += size
    return pieces


def of_llama2c(data):
    """Returns the Vocabulary of a tokenizer.bin, as llama2.c's run.c uses it."""
    pieces = read_llama2c(data)
    texts = [piece.text for piece in pieces]
    if len(pieces) < 259:
        raise ExportError("it is cut, or no tokenizer.bin of llama2.c")
    first_byte_of(texts, 3)
    if " " not in texts:
        raise ExportError("it has no token for a space, with which llama2.c begins each text")
    check_texts(texts)
    shown = [b"", b"", b""] + [bytes([byte]) for byte in range(256)] + [text.encode() for text in texts[259:]]
    mergeable = {piece.text: piece.score for piece in pieces if piece.score > WORST_SCORE}
    known = {text: token for token, text in enumerate(texts) if len(text) == 1 or text in mergeable}
    vocabulary = merged(Vocabulary("llama2c", shown, {}, first_byte=3, dummy_prefix=True, begin=1, end=2), known,
                        ByPiece(mergeable))
    odd = next((text for text, token in vocabulary.tokens.items() if token < 259), None)
    if odd is not None:
        raise ExportError(f"the token {printable(odd)} would be found in a text")
    return vocabulary


# --- JSON ---


def of_json(content, path):
    """Returns the Vocabulary of a tokenizer.json, a vocab.json or a table of characters."""
    if isinstance(content, dict) and isinstance(content.get("model"), dict):
        return of_tokenizer_json(content)
    if isinstance(content, list) and all(isinstance(text, str) for text in content):
        check_texts(content)
        return of_characters({text: token for token, text in enumerate(content)})
    if not isinstance(content, dict) or not all(type(token) is int for token in content.values()):
        raise ExportError("it is no tokenizer: a list of characters, a table from texts to numbers, or a "
                          "tokenizer.json with a model")
    merges = path.with_name("merges.txt")
    if any(len(text) != 1 for text in content) and merges.exists():
        with within(f"cannot read {printable(merges)}", OSError, ValueError):
            return of_merges(content, merges.read_text(encoding="utf-8"))
    return of_characters(content)


def parse(data, path):
    start = data.lstrip()[:1]
    if path.suffix == ".json" or start in (b"[", b"{"):
        return of_json(json.loads(data.decode("utf-8"), object_pairs_hook=unique), path)
    if path.suffix == ".bin":
        return of_llama2c(data)
    return of_sentencepiece(data)


@dataclasses.dataclass
class TokenizerFile:
    """A tokenizer and the file that it comes from."""

    source: str  # the name of the file, without its folder
    sha256: str
    vocabulary: Vocabulary

    @functools.cached_property
    def tables(self):
        return Tables(self.vocabulary)


def read_tokenizer(path):
    """Reads the file of a tokenizer. Raises an ExportError if it is damaged or does what tinyattn does not."""
    path = pathlib.Path(path)
    with within(f"cannot read {printable(path)}", OSError, ValueError, RecursionError):
        if path.stat().st_size > LARGEST_FILE:
            raise ExportError(f"it is larger than {LARGEST_FILE >> 20} MB")
        data = path.read_bytes()
        if not data:
            raise ExportError("it is empty")
        return TokenizerFile(path.name, hashlib.sha256(data).hexdigest(), parse(data, path))
