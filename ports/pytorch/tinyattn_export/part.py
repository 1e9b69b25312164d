# SPDX-License-Identifier: MIT
"""One object of a header, whatever its type: its numbers, and what is said of it."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Part:
    """One object of the header."""

    type: str  # in C++
    header: str  # of tinyattn, that has the type
    tree: object  # members in the order of the type: a dict of trees, or a list of rows
    summary: str
    sources: dict  # what each member is made of
    remarks: list = dataclasses.field(default_factory=list)

    def rows(self):
        """All numbers, in the order in which they lie in memory."""
        def of(tree):
            return [row for member in tree.values() for row in of(member)] if isinstance(tree, dict) else tree
        return of(self.tree)

    @property
    def parameter_count(self):
        return sum(map(len, self.rows()))


def flag(value):
    return "true" if value else "false"


def source(tensors, places):
    """What a Linear layer is made of, for people."""
    said = []
    for place in places:
        block = f", part {place.block + 1} of {place.blocks}" if place.blocks > 1 else ""
        stored = ", stored in x out" if place.in_by_out else ""
        said.append(f"{tensors[place.weight]}{stored}{block}" + (f" and {tensors[place.bias]}" if place.bias in tensors else ""))
    return "; ".join(said)
