# SPDX-License-Identifier: MIT
"""Why something cannot be exported: one sentence."""
import contextlib
import typing

LONGEST_NAME = 120
MOST_NAMES = 12


class Spelling(typing.NamedTuple):
    """How a setting is written: as an option of the command line, and as a key of TOML and Python."""

    option: str
    key: str


class ExportError(Exception):
    """A sentence of texts and Spellings. str() of it has the keys."""

    def __init__(self, *parts):
        super().__init__(*parts)
        self.parts = parts

    def __str__(self):
        return "".join(part.key if isinstance(part, Spelling) else part for part in self.parts)

    def on_command_line(self):
        return "".join(part.option if isinstance(part, Spelling) else part for part in self.parts)


def printable(text):
    """A name out of a file, which may hold anything, as it may appear in a message, a comment or a terminal."""
    clean = "".join(character if character.isprintable() and character != "\\" else "?" for character in str(text))
    return clean if len(clean) <= LONGEST_NAME else clean[:LONGEST_NAME] + "..."


def listing(names):
    """The first of them, and how many more there are."""
    names = list(names)
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*map(printable, names[:MOST_NAMES]), *more])


@contextlib.contextmanager
def within(context, *others):
    """Puts the context before the sentence of each error from within, and makes an ExportError of the other
    exceptions."""
    try:
        yield
    except ExportError as error:
        raise ExportError(f"{context}: ", *error.parts) from None
    except others as error:
        raise ExportError(f"{context}: {getattr(error, 'strerror', None) or printable(error)}") from None
