# SPDX-License-Identifier: MIT
"""The vocabulary of a tokenizer: what its tokens are, and how a text becomes tokens."""
import dataclasses
import re

from .errors import ExportError, printable
from .merges import merges_of

MOST_MERGED, MOST_CHARACTERS = 2**16 - 1, 2**16  # the values of tinyattn's Token; merging needs one of them
LONGEST = 255  # bytes of a piece
BEGINS = ("<s>", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<|endoftext|>")
ENDS = ("</s>", "<eos>", "<|end_of_text|>", "<|endoftext|>")
CONTROL = re.compile(r"<\|.+\|>|</?\w+>|\[\w+\]")  # how tokens that are no text are written, such as <pad>
KINDS = {"characters": "a token for each character", "sentencepiece": "byte pair encoding as SentencePiece",
         "llama2c": "byte pair encoding as llama2.c", "bytes": "byte pair encoding of bytes as GPT-2"}


@dataclasses.dataclass
class Vocabulary:
    """A tokenizer as tinyattn has it. Pieces are texts; those of GPT-2 have a character for each byte."""

    kind: str
    texts: list  # of each token its bytes; none if it is no text
    tokens: dict  # {piece: token} of those that a text is made of
    merges: dict = dataclasses.field(default_factory=dict)  # {piece: Merge} of those that are merged
    symbols: dict = dataclasses.field(default_factory=dict)  # {piece: token} of those that are found first
    unknown: int = None
    first_byte: int = None
    dummy_prefix: bool = False
    remove_extra_spaces: bool = False
    divided_at_digits: bool = False
    prefix_before_words: bool = False
    rules: list = ()  # of SentencePiece's normalizer: (bytes that are replaced, by these)
    begin: int = None  # the token that begins a text
    end: int = None

    def bytes_of(self, piece):
        return piece.encode("latin-1" if self.kind == "bytes" else "utf-8")

    def check(self):
        most = MOST_CHARACTERS if self.kind == "characters" else MOST_MERGED
        if not 0 < len(self.texts) <= most:
            raise ExportError(f"it has {len(self.texts)} tokens, and tinyattn's Token counts at most {most}")
        long = next((text for text in self.texts if len(text) > LONGEST), None)
        if long is not None:
            raise ExportError(f"the piece {printable(long.decode('utf-8', 'replace'))} has {len(long)} bytes, and "
                              f"{LONGEST} is the most")
        return self


def first_of(tokens, names):
    return next((tokens[name] for name in names if name in tokens), None)


def check_numbers(numbers):
    if list(sorted(numbers.values())) != list(range(len(numbers))):
        raise ExportError(f"its {len(numbers)} tokens must be the numbers from 0 to {len(numbers) - 1}, each once")


def check_texts(pieces):
    """Raises an ExportError if two tokens have the same text."""
    seen = set()
    for piece in pieces:
        if piece in seen:
            raise ExportError(f"{printable(piece)} is in it twice")
        seen.add(piece)


def merged(vocabulary, pieces, rank_of):
    """Fills `merges` and `tokens`. `pieces` is {piece: token} of characters and of those that may be merged."""
    vocabulary.check()
    vocabulary.merges = merges_of(pieces, rank_of)
    vocabulary.tokens = {piece: token for piece, token in pieces.items()
                         if len(piece) == 1 or piece in vocabulary.merges}
    for piece in vocabulary.merges:
        absent = next((character for character in piece if character not in vocabulary.tokens), None)
        if absent is not None:
            raise ExportError(f"the piece {printable(piece)} has the character {printable(absent)}, which is no piece")
    for piece, merge in vocabulary.merges.items():
        absent = next((part for part in (merge.left, merge.right) if part not in vocabulary.tokens), None)
        if absent is not None:
            raise ExportError(f"the piece {printable(piece)} is merged from {printable(absent)}, which is no piece, or "
                              "is found in a text first, as one of added_tokens")
    return vocabulary


def of_characters(numbers):
    """Returns the Vocabulary of a table {character: token}."""
    check_numbers(numbers)
    texts = sorted(numbers, key=numbers.get)
    for text in numbers:
        if len(text) != 1 and not CONTROL.fullmatch(text):
            raise ExportError(f"{printable(text) or 'an empty text'} is not one character: a table of characters has "
                              "no other texts, but for tokens such as <s>; a vocab.json needs its merges.txt in the "
                              "same folder")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ExportError(f"{text!r} is a surrogate, and no character")
    return Vocabulary(
        "characters", [text.encode() if len(text) == 1 else b"" for text in texts],
        {text: token for text, token in numbers.items() if len(text) == 1},
        begin=first_of(numbers, BEGINS), end=first_of(numbers, ENDS)).check()
