# SPDX-License-Identifier: MIT
"""Texts for tokenizers: natural ones in several scripts, code, spaces of every kind, bytes that are no UTF-8, empty and
very long ones. The same seed gives the same texts as long as the files of the system are the same."""
import functools
import gettext
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parents[3]
LOCALES = pathlib.Path("/usr/share/i18n/locales")  # of Debian's package locales: days, months and names of languages
CATALOGUES = pathlib.Path("/usr/share/locale")  # what programs say in many languages
LANGUAGES = "ar bg de el fa fr he hi ja ka ko ru ta th uk vi zh_CN".split()
SPACES = " \t\n\r\v\f\x85\xa0\u1680\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u2581\u3000\ufeff\x1c\0\ufffd"
SCRIPTS = ((0x20, 0x7f), (0xa0, 0x250), (0x370, 0x530), (0x590, 0x700), (0x900, 0xd80), (0xe00, 0xe80),
           (0x1100, 0x1200), (0x2000, 0x2c00), (0x3000, 0x3100), (0x4e00, 0x5200), (0xac00, 0xad00), (0xd000, 0xd800), (0xfe00, 0x10000),
           (0x1d400, 0x1d500), (0x1f300, 0x1f700), (0x20000, 0x20100))
ODD = ["", " ", "  ", "\n", "a", "\u2581", " \u2581", "\u2581 ", "a\u2581 ", "'s", " 's", "'S", "'re've'll'd", "don't",
       "\n\n a", " \n a", "<s>", "</s>", "<unk>", "<0x41>", "<sep>", "a<sep>b <sep> c", "<sep><sep>", "<control>",
       "<|endoftext|>", "a <|endoftext|> b", " <|endoftext|>\n\n<|endoftext|>x", "a" * 3000, " " * 3000, "ab" * 2000, "the" * 3000,
       "\n" * 2000, "-" * 2000, "\U0001f600" * 500]
NO_UTF8 = [b"\xff", b"\xe2\x96", b"\xf0\x9f\x98", b"a\xe2\x82b", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
           b"\xff" * 50, b"\x80" * 9, b"e\xcc\x81\xcc", b"a\x80\x81\x82\x83\x84", bytes(range(256)) * 3]


def translated(path):
    with path.open("rb") as file:
        catalogue = vars(gettext.GNUTranslations(file)).get("_catalog", {})
    return [line for text in catalogue.values() if isinstance(text, str) for line in text.split("\n")]


def foreign():
    """Returns lines in many languages, from message catalogues and locales, if there are any."""
    catalogues = [path for language in LANGUAGES
                  for path in sorted(CATALOGUES.glob(f"{language}/LC_MESSAGES/*.mo"))[:8]]
    lines = [line for path in catalogues for line in translated(path)]
    for path in sorted(LOCALES.glob("*_*")):
        lines += [line for line in path.read_text(encoding="utf-8", errors="replace").split("\n") if '"' in line]
    return [line for line in lines if not line.isascii()]


@functools.cache
def sources():
    """Returns lines of English, of code, and in many languages."""
    def of(*patterns):
        return [line for pattern in patterns for path in sorted(ROOT.glob(pattern))
                for line in path.read_text(encoding="utf-8").split("\n")]
    english = of("*.md", "include/**/*.md", "ports/**/*.md", "tests/**/*.md")
    return english, of("include/**/*.hpp", "ports/**/*.py"), foreign() or english


def spaced(generator, words):
    """Returns words with spaces of every kind between them."""
    return "".join(generator.choice(words) + "".join(generator.choice(SPACES if generator.random() < 0.3 else " ")
        for _ in range(generator.choice((1, 1, 2, 3, 7, 20)))) for _ in range(generator.randrange(12)))


def of_script(generator):
    begin, end = generator.choice(SCRIPTS)
    characters = (chr(generator.randrange(begin, end)) for _ in range(generator.randrange(40)))
    return "".join(character if generator.random() < 0.85 else " " for character in characters)


def with_apostrophe(generator, words):
    return (generator.choice(words) * generator.randrange(1, 9) + "'" +
            generator.choice(("s", "t", "re", "ll", "D", "x", "")) + generator.choice(("!", "...", " ", "12", '"', "\n\n", "  x")))


def damaged(generator, text):
    """Returns a text with some bytes changed."""
    content = bytearray(text.encode())
    for _ in range(generator.randrange(1, 5) if content else 0):
        content[generator.randrange(len(content))] = generator.randrange(256)
    return bytes(content)


def one(generator, words):
    english, code, languages = sources()
    kind = generator.randrange(9)
    if kind == 0:
        return bytes(generator.randrange(256) for _ in range(generator.randrange(30)))
    if kind == 1:
        return damaged(generator, generator.choice(generator.choice((english, languages))))
    letters = "".join(generator.choice("aeint \u2581 .\u00e9") for _ in range(generator.randrange(60)))
    return (generator.choice(english), generator.choice(code), generator.choice(languages), of_script(generator),
            spaced(generator, words), with_apostrophe(generator, words), letters)[kind - 2].encode()


@functools.cache
def lines(count):
    """Returns this many texts, as bytes."""
    generator = random.Random(1)
    words = " ".join(sources()[0][:2000] + sources()[2][:2000]).split()
    return [text.encode() for text in ODD] + NO_UTF8 + [one(generator, words) for _ in range(count)]
