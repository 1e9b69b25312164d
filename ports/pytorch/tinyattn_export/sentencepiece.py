# SPDX-License-Identifier: MIT
"""Vocabularies of SentencePiece: its pieces, with their scores and types, and the tokenizer.model that holds them."""
import dataclasses
import math

from . import protobuf
from .errors import ExportError, printable
from .merges import by_piece
from .normalizers import normalizer_of
from .vocabularies import Vocabulary, check_texts, merged

SPACE = "\u2581"  # SentencePiece writes a space as this
NORMAL, UNKNOWN, CONTROL, SYMBOL, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # types of pieces in tokenizer.model
MODELS = {1: "unigram", 2: "BPE", 3: "word", 4: "char"}
MOST_RULES = 2**16 - 1
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


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
    vocabulary = sentencepiece_vocabulary(
        pieces, bool(trainer.get(35, 0)), dummy_prefix=bool(normalizer.get(3, 1)),
        remove_extra_spaces=bool(normalizer.get(4, 1)), begin=protobuf.as_text(trainer.get(46, b"<s>")),
        end=protobuf.as_text(trainer.get(47, b"</s>")))
    if normalizer.get(2):
        vocabulary.rules = rules_for(vocabulary, normalizer)
    return vocabulary


def rules_for(vocabulary, normalizer):
    """Returns the rules of a normalizer that can change a token of this vocabulary."""
    name = printable(protobuf.as_text(normalizer.get(1, b"")) or "a rule of its own")
    if vocabulary.first_byte is not None or any(" " in symbol for symbol in vocabulary.symbols):
        other = "byte_fallback" if vocabulary.first_byte is not None else "spaces in user_defined_symbols"
        raise ExportError(f"it normalizes text with {name}, and has {other}: tinyattn takes only one of the two: train another "
                          "model with normalization_rule_name='identity'")
    rules = normalizer_of(normalizer[2], set(SPACE).union(*vocabulary.tokens, *vocabulary.symbols))
    if len(rules) > MOST_RULES:
        raise ExportError(f"it normalizes text with {name}, by {len(rules)} rules that its pieces need, and tinyattn "
                          f"takes {MOST_RULES}: train another model with normalization_rule_name='identity'")
    return rules


def texts_of(pieces):
    """Returns the bytes of each token: a byte, a text with its spaces, or none."""
    return [bytes([BYTES.index(piece.text)]) if piece.type == BYTE
            else piece.text.replace(SPACE, " ").encode() if piece.type in (NORMAL, SYMBOL) else b""
            for piece in pieces]


def sentencepiece_vocabulary(pieces, byte_fallback, begin, end, rank_of=None, **settings):
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
    scores = {text: pieces[token].score for text, token in normal.items()}
    return merged(vocabulary, normal, rank_of or by_piece(scores))
