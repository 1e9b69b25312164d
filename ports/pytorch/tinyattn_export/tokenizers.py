# SPDX-License-Identifier: MIT
"""Writes a tokenizer as a constant in C++: its pieces, their order, and their merges."""
import itertools

from .errors import ExportError, printable
from .parts import initializer
from .vocabularies import KINDS

HEADER = "tinyattn/tokenizer.hpp"
MOST_IN_A_LITERAL = 65536  # characters that every compiler takes
NO_TOKEN = 65535
REPLACEMENT = "\xef\xbf\xbd"  # U+FFFD, with a character for each byte
WIDTH = 100


def join_texts(vocabulary):
    """Returns the bytes in which all pieces lie, and the position of each token. A piece lies within those that are
    made of it."""
    content, places = bytearray(), {}

    def place(token, data):
        if token not in places and data:
            found = content.find(data) if len(data) <= 2 else -1
            places[token] = found if found >= 0 else len(content)
            if found < 0:
                content.extend(data)
    later_first = sorted(vocabulary.merges, key=lambda piece: vocabulary.merges[piece].rank, reverse=True)
    for piece in later_first:
        place(vocabulary.tokens[piece], vocabulary.bytes_of(piece))
        merge, start = vocabulary.merges[piece], places[vocabulary.tokens[piece]]
        places.setdefault(vocabulary.tokens[merge.left], start)
        places.setdefault(vocabulary.tokens[merge.right], start + len(vocabulary.bytes_of(merge.left)))
    for token, data in enumerate(vocabulary.texts):
        place(token, data)
    symbols = {token: vocabulary.bytes_of(piece) for piece, token in vocabulary.symbols.items()}
    for token, data in symbols.items():
        place(token, data)
    return bytes(content), places, symbols


def escaped(data):
    """Returns each byte as it is written in a string literal."""
    return [chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in data]


def in_lines(entries, separator=""):
    """Returns lines of entries that are not longer than WIDTH."""
    lines, size = [[]], 0
    for entry in entries:
        if size + len(entry) + len(separator) > WIDTH:
            lines.append([])
            size = 0
        lines[-1].append(entry)
        size += len(entry) + len(separator)
    return [separator.join(line) for line in lines]


def literal(data):
    return "\n".join(f'  "{line}"' for line in in_lines(escaped(data)))


def table(entries):
    return "{{\n" + ",\n".join(f"  {line}" for line in in_lines(entries, ", ")) + "}}"


class Tables:
    """The members of a Tokenizer in C++."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.text, places, symbols = join_texts(vocabulary)
        sizes = {token: len(data) for token, data in enumerate(vocabulary.texts)} | {
            token: len(data) for token, data in symbols.items()}
        self.longest = max(sizes.values(), default=0)
        bits = self.longest.bit_length()
        self.places = [places.get(token, 0) << bits | sizes[token] for token in range(len(vocabulary.texts))]
        self.wide = bits + len(self.text).bit_length() > 16
        self.pieces = self.in_order(vocabulary.tokens)
        self.symbols = self.in_order(vocabulary.symbols)
        self.hidden = [token for token in self.symbols if not vocabulary.texts[token]]
        self.merge_tables()
        rules = [text + to for text, to in vocabulary.rules]
        self.rule_text = b"".join(rules)
        self.rules = list(itertools.accumulate(map(len, rules), initial=0)) if rules else []
        self.rule_sizes = [len(text) for text, _ in vocabulary.rules]

    def in_order(self, tokens):
        return [tokens[piece] for piece in sorted(tokens, key=self.vocabulary.bytes_of)]

    def merge_tables(self):
        tokens, merges = self.vocabulary.tokens, self.vocabulary.merges
        of_token = {tokens[piece]: merge for piece, merge in merges.items()}
        self.first = min(of_token, default=0)
        span = range(self.first, max(of_token, default=-1) + 1)
        self.lefts = [tokens[of_token[token].left] if token in of_token else token for token in span]
        order = [of_token[token].rank for token in span if token in of_token]
        is_in_order = all(a < b for a, b in zip(order, order[1:]))
        ranks = {rank: i for i, rank in enumerate(sorted(set(order)))}
        self.ranks = [] if is_in_order else [
            ranks[of_token[token].rank] if token in of_token else 0 for token in span]

    def config(self):
        vocabulary = self.vocabulary
        config = {"kind": f"::tinyattn::TokenizerKind::{vocabulary.kind}", "vocabulary": len(self.places),
                  "text_size": len(self.text), "longest": self.longest, "num_pieces": len(self.pieces),
                  "num_symbols": len(self.symbols), "first_merge": self.first, "num_merges": len(self.lefts),
                  "has_ranks": bool(self.ranks), "num_hidden": len(self.hidden),
                  "unknown": NO_TOKEN if vocabulary.unknown is None else vocabulary.unknown,
                  "first_byte": NO_TOKEN if vocabulary.first_byte is None else vocabulary.first_byte,
                  "dummy_prefix": vocabulary.dummy_prefix, "remove_extra_spaces": vocabulary.remove_extra_spaces,
                  "divided_at_spaces": self.divides(),
                  "whole_replacement": self.has_whole_replacement()}
        more = {name: True for name in ("divided_at_digits", "prefix_before_words") if getattr(vocabulary, name)}
        rules = {"num_rules": len(self.rule_sizes), "rule_text_size": len(self.rule_text)} if self.rule_text else {}
        return config | more | rules

    def divides(self):
        """Returns whether no piece has a space after another character."""
        return all(" " not in piece.lstrip(" ") for piece in self.vocabulary.tokens)

    def has_whole_replacement(self):
        """Returns whether the three bytes of U+FFFD always become one piece first, whatever stands next to them."""
        merges = self.vocabulary.merges
        if self.vocabulary.kind != "bytes" or REPLACEMENT not in merges:
            return False
        return not any(merge.rank <= merges[REPLACEMENT].rank and (
            merge.right in (REPLACEMENT[:1], REPLACEMENT[:2]) or
            merge.left in (REPLACEMENT[1:], REPLACEMENT[2:]) and not "\x80" <= merge.right[0] < "\xc0")
            for merge in merges.values())

    @property
    def size(self):
        """The bytes that the constant takes."""
        return (len(self.text) + 1 + len(self.places) * (4 if self.wide else 2) + 2 * len(self.pieces + self.symbols)
                + 2 * len(self.lefts) + 2 * len(self.ranks) + 2 * len(self.hidden) + len(self.rule_text)
                + len(self.rules) * (2 if len(self.rule_text) < 2**16 else 4) + len(self.rule_sizes))

    def members(self):
        yield f".text =\n{literal(self.text)}"
        for name, entries in (("places", self.places), ("sorted", self.pieces + self.symbols), ("lefts", self.lefts),
                              ("ranks", self.ranks), ("hidden", self.hidden)):
            yield f".{name} = {table(map(str, entries)) if entries else '{}'}"
        if self.rule_text:
            yield f".rule_text = {{\n{literal(self.rule_text)}}}"
            yield f".rules = {table(map(str, self.rules))}"
            yield f".rule_sizes = {table(map(str, self.rule_sizes))}"


def token_constant(name, token):
    value = "" if token is None else f" = {token}"
    return f"inline constexpr ::std::optional<::tinyattn::Token> {name}{value or ' = {}'};\n"


def ends(file, config):
    """Returns the tokens that begin and end a text: of config.json, or else of the tokenizer's own file."""
    found = {}
    for name, own in (("begin", file.vocabulary.begin), ("end", file.vocabulary.end)):
        key = {"begin": "bos_token_id", "end": "eos_token_id"}[name]
        value = (config or {}).get(key)
        value = value[0] if isinstance(value, list) and value else value
        token = own if value is None else value
        if token is not None and (type(token) is not int or not 0 <= token < len(file.vocabulary.texts)):
            raise ExportError(f"config.json has {key} = {printable(value)}, and the tokenizer has "
                              f"{len(file.vocabulary.texts)} tokens")
        found[name] = token
    return found


def summary(file):
    return (f"tokenizer, {KINDS[file.vocabulary.kind]}, {len(file.vocabulary.texts)} tokens, "
            f"{len(file.vocabulary.merges)} of them merged; {file.tables.size} bytes")


def definition(file, config=None):
    """Returns the constants in C++."""
    begin_end, tables = ends(file, config), file.tables
    quiet = max(len(tables.text), len(tables.rule_text)) >= MOST_IN_A_LITERAL
    members = ",\n".join(tables.members())
    body = (f"inline constexpr ::tinyattn::Tokenizer<::tinyattn::TokenizerConfig{initializer(tables.config())}> "
            f"tokenizer = {{\n{members}}};\n")
    if quiet:
        body = ("#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n" + body +
                "#pragma GCC diagnostic pop\n")
    return (body + token_constant("begin_of_text", begin_end["begin"]) +
            token_constant("end_of_text", begin_end["end"]))
