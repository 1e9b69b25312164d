# SPDX-License-Identifier: MIT
"""Which tokens a module takes: those that its tables have rows for."""
import torch

from ..desk import MOST_TOKENS
from .table import name_of

FIRST_NUMBER = 1000003  # no token


def lookups(graph):
    """Yields (what is looked up, the table) of each Embedding, and of each tensor that another one indexes."""
    for node in graph.nodes:
        name = name_of(node) if node.op in ("call_function", "call_method") else None
        arguments = [*node.args, *node.kwargs.values()][:2]
        if name in ("embedding", "getitem") and all(isinstance(each, torch.fx.Node) for each in arguments):
            yield arguments if name == "embedding" else arguments[::-1]


def looked_up(tracer, examples, numbers):
    """Returns what is looked up in each table if the elements of the inputs are numbers. None: these cannot be computed
    with."""
    parts = numbers.split([example.numel() for example in examples])
    tracer.begin_anew([part.view(example.shape) for part, example in zip(parts, examples)])
    found = []
    for index, _ in lookups(tracer.graph):
        try:
            found.append(tracer.value(index))
        except Exception:  # of any kind: it is the user's module
            found.append(None)
    return found


def vocabularies_of(tracer, examples):
    """Returns what each element of the inputs must be below: the rows of the smallest table that it is looked up in. What
    is computed of it, as x // 3, is another number."""
    sizes = [example.numel() for example in examples]
    numbers, most = FIRST_NUMBER + torch.arange(sum(sizes)), torch.full((sum(sizes),), MOST_TOKENS)
    rows = [len(tracer.value(table)) for _, table in lookups(tracer.graph)]
    for found, other, count in zip(*(looked_up(tracer, examples, each) for each in (numbers, 2 * numbers + 7)), rows):
        if found is not None and other is not None:
            places = found[(other == 2 * found + 7) & torch.isin(found, numbers)] - FIRST_NUMBER
            most[places] = most[places].clamp(max=count)
    tracer.begin_anew(examples)
    return [part.view(example.shape) for part, example in zip(most.split(sizes), examples)]
