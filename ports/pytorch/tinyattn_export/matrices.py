# SPDX-License-Identifier: MIT
"""Weights that are not floats: which weights of a part they replace, and what each format of them says of itself."""
import dataclasses

LINEARS = ("query", "key", "value", "out_proj", "up", "gate", "down", "head", "linear", "convolution", "input", "recurrent")
EMBEDDING = "token_embedding"


@dataclasses.dataclass(frozen=True)
class StoredMatrix:
    """The weights of a layer, or of an embedding, as the target stores them."""

    weights: str  # what they are, as in ::tinyattn::Weights
    arrays: list  # (member in C++, member of a tinyattn_linear, type of elements in C, rows of numbers) of each
    parameter_count: int
    content: bytes  # in the memory of the target
    remark: str  # what rounding did


def stored(tree, matrix_of, path=""):
    """Returns the tree of a part with matrix_of(rows of floats, whether it is a table, path) for each weight of a
    Linear, a Conv1d, and the token embedding, which is a table. `path`: the members that lead to it."""
    name = path.rpartition(".")[2]
    if isinstance(tree, tuple):
        return tuple(stored(member, matrix_of, f"{path}[{i}]") for i, member in enumerate(tree))
    if isinstance(tree, dict) and name in (*LINEARS, EMBEDDING) and "weight" in tree:
        return {**tree, "weight": matrix_of(tree["weight"], name == EMBEDDING, path)}
    if isinstance(tree, dict):
        return {member: stored(tree[member], matrix_of, f"{path}.{member}".lstrip(".")) for member in tree}
    return tree


def leaves(tree, path=""):
    """Yields (the members that lead to it, the leaf) for each leaf of a tree, in the order of memory: lists of rows,
    single numbers and StoredMatrices."""
    if isinstance(tree, (list, float, StoredMatrix)):
        yield path, tree
    elif isinstance(tree, dict):
        for name, member in tree.items():
            yield from leaves(member, f"{path}.{name}".lstrip("."))
    else:
        for i, member in enumerate(tree or ()):
            yield from leaves(member, f"{path}[{i}]")
