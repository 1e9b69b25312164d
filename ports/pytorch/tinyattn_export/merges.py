# SPDX-License-Identifier: MIT
"""Byte pair encoding: how each piece of a vocabulary is merged from two others, and in which order."""
import dataclasses

from .errors import ExportError, printable


@dataclasses.dataclass(frozen=True)
class Merge:
    """A piece is made of two others; merges of lower ranks come first."""

    left: str
    right: str
    rank: int


def by_piece(scores):
    """Returns the rank of pairs as in SentencePiece, which merges any two pieces whose concatenation is a piece.
    `scores`: {piece: score}; the highest comes first."""
    ranks = {score: rank for rank, score in enumerate(sorted(set(scores.values()), reverse=True))}
    return lambda left, right: ranks.get(scores.get(left + right))


def by_pair(ranks):
    """Returns the rank of pairs as in GPT-2, where they are listed, {(left, right): rank}."""
    return lambda left, right: ranks.get((left, right))


def steps(piece, rank_of):
    """Merges the characters of a piece as if it were a text. Yields a Merge for each step."""
    parts = list(piece)
    ranks = [rank_of(*pair) for pair in zip(parts, parts[1:])]
    while True:
        known = [rank for rank in ranks if rank is not None]
        if not known:
            return
        i = ranks.index(min(known))
        yield Merge(parts[i], parts[i + 1], ranks[i])
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
        del ranks[i]
        if i > 0:
            ranks[i - 1] = rank_of(parts[i - 1], parts[i])
        if i + 1 < len(parts):
            ranks[i] = rank_of(parts[i], parts[i + 1])


def merge_of(piece, rank_of):
    """Returns the last Merge that makes a piece, or None if it is never made. Raises an ExportError if its parts are
    merged later than the piece itself would be: tinyattn goes back in time, from the last merge to the first."""
    done = list(steps(piece, rank_of))
    if not done or len(done) != len(piece) - 1:
        return None
    if max(merge.rank for merge in done) > done[-1].rank:
        raise ExportError(f"the piece {printable(piece)} is merged before its parts are, which tinyattn cannot follow")
    return done[-1]


def merges_of(pieces, rank_of):
    """Returns {piece: Merge} of those pieces of several characters that are made of others."""
    found = {piece: merge_of(piece, rank_of) for piece in pieces if len(piece) > 1}
    return {piece: merge for piece, merge in found.items() if merge}
