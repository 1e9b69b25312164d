# SPDX-License-Identifier: MIT
"""Which tokens a module takes: those that its tables have rows for, and whose multiples floats hold."""
import torch

from ..desk import MOST_TOKENS, MOST_WHOLE
from ..errors import ExportError
from .checks import has_tokens
from .table import name_of, title

FIRST_NUMBER = 1000003  # no token


def lookups(graph):
    """Yields (what is looked up, the table) of each Embedding, and of each tensor that another one indexes."""
    for node in graph.nodes:
        name = name_of(node) if node.op in ("call_function", "call_method") else None
        arguments = [*node.args, *node.kwargs.values()][:2]
        if name in ("embedding", "getitem") and all(isinstance(each, torch.fx.Node) for each in arguments):
            yield arguments if name == "embedding" else arguments[::-1]


def looked_up(tracer, inputs):
    """Yields (what is looked up, its numbers, the rows of the table) of each lookup. None: they cannot be computed."""
    rows = [len(tracer.value(table)) for _, table in lookups(tracer.graph)]
    tracer.begin_anew(inputs)
    for (index, _), count in zip(lookups(tracer.graph), rows):
        try:
            yield index, tracer.value(index), count
        except Exception:  # of any kind: it is the user's module
            yield index, None, count


def check(tracer, inputs):
    """Raises an ExportError if something is looked up that a table has no row for."""
    for index, found, rows in looked_up(tracer, inputs):
        if found is None or found.dtype != torch.bool and ((found < 0) | (found >= rows)).any():
            raise ExportError(f"{index.target} must have tokens from 0 to {rows - 1}" if index.op == "placeholder" else
                              f"{title(index)} gives rows that a table of {rows} rows has not")


def are_right(tracer, inputs):
    try:
        return check(tracer, inputs) is None
    except ExportError:
        return False


def vocabularies_of(tracer, examples):
    """Returns what each element of the inputs must be below: the rows of the smallest table that it is looked up in.
    What is computed of it, as x // 3, is another number."""
    sizes = [example.numel() for example in examples]
    numbers, most = FIRST_NUMBER + torch.arange(sum(sizes)), torch.full((sum(sizes),), MOST_TOKENS)
    found = [list(looked_up(tracer, [part.view(example.shape) for part, example in zip(each.split(sizes), examples)]))
             for each in (numbers, 2 * numbers + 7)]
    for (_, one, rows), (_, other, _) in zip(*found):
        if one is not None and other is not None:
            places = one[(other == 2 * one + 7) & torch.isin(one, numbers)].long() - FIRST_NUMBER
            most[places] = most[places].clamp(max=rows)
    tracer.begin_anew(examples)
    most = [part.view(example.shape) for part, example in zip(most.split(sizes), examples)]
    return [torch.where(example < limit, limit, MOST_TOKENS) for example, limit in zip(examples, most)]


def check_whole_numbers(tracer, examples, vocabularies):
    """Refuses whole numbers that floats do not hold, of the examples and of the largest tokens."""
    largest = [most.to(example.dtype) - 1 if has_tokens(example) else example
               for example, most in zip(examples, vocabularies)]
    for inputs in (largest, examples):
        tracer.begin_anew(inputs)
        for node in tracer.graph.nodes:
            try:
                value = tracer.value(node) if node.op != "output" else None
            except Exception:  # of any kind: some of these tokens may be too large
                break
            is_whole = isinstance(value, torch.Tensor) and value.dtype in (torch.int64, torch.int32)
            if is_whole and node.op != "get_attr" and (value.abs() > MOST_WHOLE).any():
                raise tracer.refused(node, f"{title(node)} gives whole numbers above {MOST_WHOLE}, which floats do not "
                                     "hold", "compute with smaller ones, as x % 64 * 31 % 64")
