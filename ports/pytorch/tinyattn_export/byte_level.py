# SPDX-License-Identifier: MIT
"""Byte pair encoding in Hugging Face's files: of the bytes of words, as GPT-2, or of characters, as SentencePiece."""
from . import sentencepiece
from .errors import ExportError, printable
from .merges import by_pair
from .vocabularies import BEGINS, CONTROL, ENDS, Vocabulary, check_numbers, first_of, merged

READABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes that GPT-2 writes as these characters
OTHERS = [byte for byte in range(256) if byte not in READABLE]  # it writes these from U+0100 on
BYTE_OF = {**{chr(byte): chr(byte) for byte in READABLE}, **{chr(256 + i): chr(byte) for i, byte in enumerate(OTHERS)}}
EACH_DIGIT = {"type": "Digits", "individual_digits": True}
WITHOUT = ("dropout", "continuing_subword_prefix", "continuing_subword_suffix", "end_of_word_suffix", "ignore_merges")


def as_bytes(text):
    """Returns a text of GPT-2 with a character for each byte, or None if it is no such text."""
    decoded = [BYTE_OF.get(character) for character in text]
    return None if None in decoded else "".join(decoded)


def check_vocabulary(numbers):
    if not numbers or not all(type(token) is int for token in numbers.values()):
        raise ExportError("its vocabulary is no table from texts to numbers")
    check_numbers(numbers)


def pair_of(merge):
    pair = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) and text for text in pair):
        raise ExportError(f"{printable(merge)} is no merge of two pieces")
    return tuple(pair)


def ranks_of(merges, numbers, convert):
    """Returns {pair: rank}. The last of equal lines counts, as in @huggingface/tokenizers."""
    ranks = {}
    for rank, merge in enumerate(merges):
        pair = pair_of(merge)
        absent = next((text for text in (*pair, "".join(pair)) if text not in numbers), None)
        if absent is not None:
            raise ExportError(f"the merge of {printable(pair[0])} and {printable(pair[1])} needs {printable(absent)}, "
                              "which is no token")
        ranks[tuple(map(convert, pair))] = rank
    return ranks


def byte_vocabulary(numbers, merges, added=None, has_prefix=False, **settings):
    """Returns the Vocabulary of GPT-2's shape. `added` is {text: whether it is special} of tokens that are found in a
    text before anything is merged."""
    check_vocabulary(numbers)
    added = added or {}
    pieces = {as_bytes(text): token for text, token in numbers.items() if text not in added and as_bytes(text)}
    absent = next((byte for byte in range(256) if chr(byte) not in pieces), None)
    if absent is not None:
        raise ExportError(f"it has no token for the byte {absent:#04x}: it is no tokenizer of bytes as GPT-2's")
    texts = [b""] * len(numbers)
    ranks = ranks_of(merges, numbers, as_bytes)
    vocabulary = Vocabulary("bytes", texts, {}, dummy_prefix=has_prefix, begin=first_of(numbers, BEGINS),
                            end=first_of(numbers, ENDS), **settings)
    if any(None in pair for pair in ranks):
        raise ExportError("a merge in it is not one of bytes")
    for text, token in numbers.items():
        if text in added:
            texts[token] = b"" if added[text] else text.encode()
        elif as_bytes(text) and not CONTROL.fullmatch(text):
            texts[token] = as_bytes(text).encode("latin-1")
    merged(vocabulary, pieces, by_pair(ranks))
    for piece, token in vocabulary.tokens.items():  # such as <a>, if it is made of others
        texts[token] = piece.encode("latin-1")
    vocabulary.symbols = {text.encode().decode("latin-1"): numbers[text] for text in added}
    return vocabulary


def of_merges(numbers, text):
    """Returns the Vocabulary of a vocab.json and the text of a merges.txt, whose first line may be its version."""
    lines = [line for line in text.split("\n") if line.strip()]
    return byte_vocabulary(numbers, [line.rstrip("\r") for line in lines if not line.startswith("#version")])


def kind_of(part):
    return None if part is None else part.get("type") if isinstance(part, dict) else "strange"


def added_tokens(content, numbers):
    """Returns {text: whether it is special} of the tokens beside the vocabulary, and adds their numbers."""
    added, entries = {}, content.get("added_tokens") or []
    for entry in entries if isinstance(entries, list) else [entries]:
        text, token = (entry.get("content"), entry.get("id")) if isinstance(entry, dict) else (None, None)
        if not isinstance(text, str) or not text or type(token) is not int:
            raise ExportError("one of its added_tokens has no content or no id")
        for key in ("lstrip", "rstrip", "single_word"):
            if entry.get(key):
                raise ExportError(f"its token {printable(text)} has {key}, which tinyattn has not")
        if numbers.setdefault(text, token) != token:
            raise ExportError(f"its token {printable(text)} has two numbers")
        added[text] = bool(entry.get("special"))
    return added


def of_tokenizer_json(content):
    """Returns the Vocabulary of a tokenizer.json."""
    model, splitter, normalizer = content["model"], content.get("pre_tokenizer"), content.get("normalizer")
    digits = splitter.get("pretokenizers") if kind_of(splitter) == "Sequence" else None
    is_divided = isinstance(digits, list) and len(digits) == 2 and digits[0] == EACH_DIGIT
    if is_divided and kind_of(digits[1]) == "ByteLevel" and not digits[1].get("add_prefix_space"):
        splitter = digits[1]
    if model.get("type", "BPE") != "BPE" or not isinstance(model.get("merges"), list):
        raise ExportError(f"its model is {printable(model.get('type'))}: tinyattn has BPE")
    for key in WITHOUT:
        if model.get(key):
            raise ExportError(f"its model has {key} = {printable(model[key])}, which tinyattn has not")
    if not isinstance(model.get("vocab"), dict):
        raise ExportError("its model has no vocab")
    numbers = dict(model["vocab"])
    added = added_tokens(content, numbers)
    check_vocabulary(numbers)
    if kind_of(splitter) == "ByteLevel":
        if kind_of(normalizer) is not None:
            raise ExportError(f"its normalizer is {printable(kind_of(normalizer))}: tinyattn takes text as it is")
        if splitter.get("use_regex", True) is not True:
            raise ExportError("its ByteLevel has use_regex = false: tinyattn divides text into words as GPT-2")
        return byte_vocabulary(numbers, model["merges"], added, bool(splitter.get("add_prefix_space")),
                               divided_at_digits=is_divided)
    if kind_of(splitter) == "Metaspace" and normalizer is None:
        return with_metaspace(numbers, model, added, splitter)
    if splitter is not None:
        raise ExportError(f"its pre_tokenizer is {printable(kind_of(splitter))}: tinyattn has GPT-2's ByteLevel, "
                          "perhaps after Digits of one each, Metaspace without a normalizer, or none, as SentencePiece")
    return character_vocabulary(numbers, model, added, prefix_of(normalizer))


def with_metaspace(numbers, model, added, splitter):
    """Returns the Vocabulary with a Metaspace, which divides a text before each U+2581 unless `split` is false. It puts
    one before a text, as `prepend_scheme` says, unless the text begins with it."""
    prefix = splitter.get("prepend_scheme", "always" if splitter.get("add_prefix_space", True) else "never")
    if splitter.get("replacement") != sentencepiece.SPACE or prefix not in ("first", "always", "never"):
        raise ExportError("its Metaspace has another replacement than U+2581, or a prepend_scheme that is not known")
    symbol = next((text for text in added if not added[text]), None)
    if symbol is not None:
        raise ExportError(f"its token {printable(symbol)} is not special, and divides a text for Metaspace: tinyattn "
                          "has no such tokens with it")
    vocabulary = character_vocabulary(numbers, model, added, prefix != "never", prefix_before_words=True)
    odd = next((piece for piece in vocabulary.merges if " " in piece[1:]), None)
    if splitter.get("split", True) and odd is not None:
        raise ExportError(f"its Metaspace divides texts before each space, and the piece {printable(odd)} has one "
                          "inside: say split = false, or leave the piece out")
    return vocabulary


def prefix_of(normalizer):
    """Returns whether a normalizer puts a space before the text. It must write spaces as SentencePiece does."""
    parts = normalizer.get("normalizers") if kind_of(normalizer) == "Sequence" else [normalizer]
    prepends = {"type": "Prepend", "prepend": sentencepiece.SPACE}
    replaces = {"type": "Replace", "pattern": {"String": " "}, "content": sentencepiece.SPACE}
    if parts not in ([prepends, replaces], [replaces, prepends], [replaces]):
        odd = next((kind_of(part) for part in parts if part not in (prepends, replaces)), "incomplete") \
            if isinstance(parts, list) else "strange"
        raise ExportError(f"its normalizer is {printable(odd)}: tinyattn has that of SentencePiece, which replaces "
                          "spaces by U+2581 and may prepend one")
    return prepends in parts


def character_vocabulary(numbers, model, added, has_prefix, **settings):
    has_bytes, unknown = bool(model.get("byte_fallback")), model.get("unk_token")
    if not has_bytes and not model.get("fuse_unk"):
        raise ExportError("it has neither byte_fallback nor fuse_unk: tinyattn writes one token for unknown characters "
                          "in a row")

    def kind(text):
        if text == unknown:
            return sentencepiece.UNKNOWN
        if text in added:
            return sentencepiece.CONTROL if added[text] else sentencepiece.SYMBOL
        return sentencepiece.BYTE if has_bytes and text in sentencepiece.BYTES else sentencepiece.NORMAL
    order = sorted(numbers, key=numbers.get)
    pieces = [sentencepiece.Piece(text, 0.0, kind(text)) for text in order]
    sentencepiece.check_pieces(pieces)
    ranks = ranks_of(model["merges"], numbers, lambda text: text.replace(sentencepiece.SPACE, " "))
    begin, end = (next((name for name in names if added.get(name)), "") for names in (BEGINS, ENDS))
    return sentencepiece.sentencepiece_vocabulary(
        pieces, has_bytes, begin, end, by_pair(ranks), dummy_prefix=has_prefix, **settings)
