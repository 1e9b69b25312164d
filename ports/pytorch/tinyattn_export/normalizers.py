# SPDX-License-Identifier: MIT
"""The normalizer of a SentencePiece model: rules that replace texts, of which the longest that a text begins with is
applied. A model has them as a trie and the replacements, each of which a zero ends."""
import array
import collections
import sys

from .errors import ExportError

LONGEST, MOST_NODES = 255, 2_000_000  # bytes that a rule replaces; nodes of the trie, of which nmt_nfkc has 262,094
BROKEN = "its table of rules, which normalize text, is cut or broken"


def units_and_texts(table):
    """Returns the units of the trie, and the replacements."""
    size = int.from_bytes(table[:4], "little")
    if len(table) < 4 or size == 0 or size % 4 or 4 + size > len(table):
        raise ExportError(BROKEN)
    units = array.array("I", table[4:4 + size])
    if sys.byteorder == "big":
        units.byteswap()
    return units, table[4 + size:]


def rules_of(table):
    """Returns {text: replacement} of a table. A unit is as in darts.h of darts-clone, by Susumu Yata."""
    units, texts = units_and_texts(table)
    children = collections.defaultdict(list)  # of the place where a unit would have the label 0: the labels of others
    for place, unit in enumerate(units):
        if 0 < unit & 0x800000ff < 256:
            children[place ^ unit & 0xff].append(unit & 0xff)
    rules, nodes, count = {}, [(0, b"")], 0
    while nodes:
        (place, text), count = nodes.pop(), count + 1
        base = place ^ (units[place] >> 10) << ((units[place] & 0x200) >> 6)
        if units[place] & 0x100:
            start = units[base] & 0x7fffffff if base < len(units) else len(texts)
            end = texts.find(b"\0", start)
            if end < 0 or not text:
                raise ExportError(BROKEN)
            rules[text] = texts[start:end]
        if len(text) == LONGEST or count == MOST_NODES:
            raise ExportError(BROKEN)
        nodes += [(base ^ label, text + bytes([label])) for label in children.get(base, ())]
    try:
        return {text.decode(): replacement.decode() for text, replacement in rules.items()}
    except UnicodeDecodeError:
        raise ExportError(BROKEN) from None


def without_variants(rules):
    """Returns the rules, but of those for several characters only the ones whose first character is normalized. The
    others must be the same rules for texts whose first character becomes that one."""
    single = {text: to for text, to in rules.items() if len(text) == 1}
    several = {text: to for text, to in rules.items() if len(text) > 1}
    become = {text: to for text, to in single.items() if len(to) == 1}
    kept = {text: to for text, to in several.items() if text[0] not in become}
    sources = collections.Counter(become.values())
    if len(several) != sum(1 + sources[text[0]] for text in kept) or any(
            kept.get(become.get(text[0], text[0]) + text[1:]) != to for text, to in several.items()):
        raise ExportError("its rules, which normalize text, are not those of nmt_nfkc: train another model with "
                          "normalization_rule_name='nmt_nfkc' or 'identity'")
    return single | kept


def needed(rules, characters):
    """Returns the rules that can change a token, if pieces consist of these characters and all others are unknown: any
    number of unknown characters is one token. A rule between unknown texts is needed, too, if without it another one
    could begin in its text."""
    found = {text for text, to in rules.items() if not to or not characters.isdisjoint(text + to)}
    count = 0
    while count != len(found):
        count = len(found)
        heads = {text[0] for text in found}
        heads |= {text for text, to in rules.items() if len(text) == 1 and to in heads}
        found |= {text for text in rules if not heads.isdisjoint(text)}
    return {text: rules[text] for text in found}


def normalizer_of(table, characters):
    """Returns the rules that a tokenizer needs, as bytes, in their order."""
    rules = needed(without_variants(rules_of(table)), characters)
    return sorted((text.encode(), to.encode()) for text, to in rules.items())
