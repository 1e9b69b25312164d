# SPDX-License-Identifier: MIT
"""What cannot be exported is said in one sentence."""
import contextlib

LONGEST_NAME = 120
MOST_NAMES = 12


class Refusal(Exception):
    """str() of it is the sentence."""

    def within(self, what):
        return Refusal(f"{what}: {self}")


class Advised(Refusal):
    """A sentence that says how to go on. `text` makes it of a function that chooses from each pair of spellings: an option of the command
    line, or a key of TOML and Python, which is what str() has."""

    def __init__(self, text):
        super().__init__()
        self.text = text

    def within(self, what):
        return Advised(lambda spelled: f"{what}: {self.text(spelled)}")

    def on_command_line(self):
        return self.text(lambda option, key: option)

    def __str__(self):
        return self.text(lambda option, key: key)


def shown(text):
    """A name out of a file, which may hold anything, as it may stand in a message, a comment or a terminal."""
    clean = "".join(character if character.isprintable() and character != "\\" else "?" for character in str(text))
    return clean if len(clean) <= LONGEST_NAME else clean[:LONGEST_NAME] + "..."


def listed(names):
    """The first of them, and how many more there are."""
    names = list(names)
    more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([shown(name) for name in names[:MOST_NAMES]] + more)


@contextlib.contextmanager
def refusing(what, *others):
    """Puts `what` before each Refusal from within, and makes one of the other exceptions."""
    try:
        yield
    except (Refusal, *others) as problem:
        refusal = problem if isinstance(problem, Refusal) else Refusal(getattr(problem, "strerror", None) or shown(problem))
        raise refusal.within(what) from None
