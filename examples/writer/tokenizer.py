# SPDX-License-Identifier: MIT
"""The model's vocabulary: pieces found by byte-pair encoding, stored as a SentencePiece model.

They are not from SentencePiece's trainer, since a few are longer than a word: ",▁and", "▁of▁the".
SentencePiece encodes and decodes them like any others. Needs numpy.
"""
import struct

import numpy

SPACE, NEWLINE, UNKNOWN = "▁", "\n", "<unk>"
LONGEST, OF_WORDS = 16, 150  # most characters in a piece; the first merge that may extend a piece into another word
NORMAL, UNKNOWN_TYPE, BPE, NONE = 1, 2, 2, 2**64 - 1  # numbers of SentencePiece's format; the last is its -1


def allowed(left, right, number):
    """Returns whether two pieces may be merged: not to a piece that ends with a space or continues after a newline; and
    from another word it must take two letters."""
    piece = left + right
    if len(piece) > LONGEST or piece[-1] == SPACE or NEWLINE in piece[:-1]:
        return False
    return SPACE not in piece[1:] or (right[0] == SPACE and len(right) > 2 and number >= OF_WORDS)


def beginnings_of(pair, tokens):
    """Returns the positions of a pair of tokens; of overlapping ones every second."""
    found = numpy.flatnonzero((tokens[:-1] == pair[0]) & (tokens[1:] == pair[1]))
    if pair[0] != pair[1]:
        return found
    chosen = []
    for begin in found:
        if not chosen or begin > chosen[-1] + 1:
            chosen.append(begin)
    return numpy.array(chosen)


def pieces_of(text, count):
    """Returns `count` pieces, by repeatedly merging the most frequent pair of neighbours; then the characters."""
    text = text.replace(" ", SPACE)
    characters = sorted(set(text))
    pieces, known, number_of = list(characters), set(characters), {piece: i for i, piece in enumerate(characters)}
    tokens, most = numpy.array([number_of[character] for character in text]), count
    while len(pieces) < count:
        counts = numpy.bincount(tokens[:-1] * most + tokens[1:], minlength=most * most)
        while True:
            pair = divmod(int(counts.argmax()), most)
            left, right = pieces[pair[0]], pieces[pair[1]]
            if left + right not in known and allowed(left, right, len(pieces) - len(characters)):
                break
            counts[pair[0] * most + pair[1]] = 0
        begins = beginnings_of(pair, tokens)
        tokens[begins] = len(pieces)
        tokens = numpy.delete(tokens, begins + 1)
        pieces.append(left + right)
        known.add(left + right)
    return pieces[len(characters):] + characters


def varint(number):
    rest = b""
    while number > 127:
        rest, number = rest + bytes([number & 127 | 128]), number >> 7
    return rest + bytes([number])


def number_field(field, number):
    return varint(field << 3) + varint(number)


def bytes_field(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def piece_field(piece, score, kind):
    score_field = varint(2 << 3 | 5) + struct.pack("<f", score)
    kind_field = number_field(3, kind) if kind != NORMAL else b""
    return bytes_field(1, bytes_field(1, piece.encode()) + score_field + kind_field)


def sentencepiece_model(pieces):
    """Returns the content of a tokenizer.model: pieces, with the higher scores for earlier merges; no normalizer,
    and nothing is added before a text."""
    scored = [piece_field(UNKNOWN, 0.0, UNKNOWN_TYPE)]
    scored += [piece_field(piece, -float(i), NORMAL) for i, piece in enumerate(pieces)]
    trainer = number_field(3, BPE) + number_field(4, len(scored)) + number_field(40, 0)
    trainer += b"".join(number_field(field, NONE) for field in (41, 42, 43))  # no begin, end or padding
    normalizer = bytes_field(1, b"identity") + number_field(3, 0) + number_field(4, 0) + number_field(5, 1)
    return b"".join(scored) + bytes_field(2, trainer) + bytes_field(3, normalizer)
