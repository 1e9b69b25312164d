# SPDX-License-Identifier: MIT
"""Reads the files of tokenizers: tokenizer.model of SentencePiece, tokenizer.bin of llama2.c, tokenizer.json,
vocab.json with merges.txt, and tables of characters."""
import dataclasses
import functools
import hashlib
import json
import pathlib
import struct

from . import protobuf
from .byte_level import of_merges, of_tokenizer_json
from .errors import ExportError, printable, within
from .merges import by_piece
from .sentencepiece import NORMAL, Piece, first_byte_of, of_sentencepiece
from .tokenizers import Tables
from .vocabularies import MOST_CHARACTERS, Vocabulary, check_texts, merged, of_characters

WORST_SCORE = -1e10  # llama2.c merges only into pieces with a higher one
LARGEST_FILE = 2**28


def unique(pairs):
    check_texts(name for name, _ in pairs)
    return dict(pairs)


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
                        by_piece(mergeable))
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
