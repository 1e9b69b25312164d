# SPDX-License-Identifier: MIT
"""The error of an export: one sentence that says why something cannot be exported."""
import contextlib
import typing

LONGEST_NAME = 120
MOST_NAMES = 12


class Spelling(typing.NamedTuple):
    """How a setting is written: as an option of the command line, and as a key of TOML and Python."""

    option: str
    key: str


class ExportError(Exception):
    """One sentence, made of texts and Spellings. str() spells each setting as a key."""

    def __init__(self, *parts):
        super().__init__(*parts)
        self.parts = parts

    def __str__(self):
        return "".join(part.key if isinstance(part, Spelling) else part for part in self.parts)

    def on_command_line(self):
        return "".join(part.option if isinstance(part, Spelling) else part for part in self.parts)


def printable(text):
    """Makes a name from a file, which may hold any characters, safe for a message, a comment or a terminal."""
    clean = "".join(character if character.isprintable() and character != "\\" else "?" for character in str(text))
    return clean if len(clean) <= LONGEST_NAME else clean[:LONGEST_NAME] + "..."


def listing(names):
    """Returns the first names as text, and how many more there are."""
    names = list(names)
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*map(printable, names[:MOST_NAMES]), *more])


@contextlib.contextmanager
def within(context, *others):
    """Puts the context before the sentence of an ExportError that is raised inside; turns the exceptions `others` into
    an ExportError, too."""
    try:
        yield
    except ExportError as error:
        raise ExportError(f"{context}: ", *error.parts) from None
    except others as error:
        raise ExportError(f"{context}: {getattr(error, 'strerror', None) or printable(error)}") from None
