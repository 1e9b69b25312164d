# SPDX-License-Identifier: MIT
"""Finds statements that are the same for each element of an array of modules, and writes them as a loop."""
import re

from .layout import Line

BEGIN = re.compile(r"tinyattn::begin_lifetime\((workspace\.\w+)\)")


def without_begin(line):
    return BEGIN.sub(r"\1", line.text), line.comment


def common(lines):
    """Returns the line of a loop whose passes have these lines, or None if they differ. What one pass begins, each may:
    a pass that need not has the same object, which it writes anew."""
    if any(without_begin(line) != without_begin(lines[0]) for line in lines):
        return None
    return max(lines, key=lambda line: len(line.text))


def rolled(lines, array, count, element, type):
    """Returns the lines with a loop over an array, if they have a pass for each of its elements."""
    elements = [re.compile(rf"(?<![\w.]){re.escape(array)}\[{i}\]") for i in range(count)]
    places = [[i for i, line in enumerate(lines) if each.search(line.text)] for each in elements]
    if count < 2 or not all(places) or any(before[-1] >= after[0] for before, after in zip(places, places[1:])):
        return lines
    first, length = places[0][0], places[1][0] - places[0][0]
    end = first + count * length
    if places[-1][-1] >= end or end > len(lines):
        return lines
    passes = [[Line(each.sub(element, line.text), line.comment)
               for line in lines[first + i * length:first + (i + 1) * length]] for i, each in enumerate(elements)]
    body = [common(group) for group in zip(*passes)]
    if None in body:
        return lines
    head = Line(f"for (const {type}& {element} : {array}) {{")
    return [*lines[:first], head, *(Line(f"  {line.text}", line.comment) for line in body), Line("}"), *lines[end:]]
