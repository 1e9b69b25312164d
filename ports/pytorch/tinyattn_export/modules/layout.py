# SPDX-License-Identifier: MIT
"""Lines of C++ of at most 100 columns, broken as clang-format breaks them."""
import array
import dataclasses

from ..parts import initializer

COLUMNS = 100
STRIDES = ", tinyattn::Strides<"  # of a StridedView


@dataclasses.dataclass
class Line:
    text: str
    comment: str = ""


def literal(number):
    """Returns the shortest decimal literal of the float nearest to a number."""
    (single,) = array.array("f", [number])
    for digits in range(1, 10):
        text = f"{single:.{digits}g}"
        if array.array("f", [float(text)])[0] == single:
            break
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def configuration(members, indent):
    """Returns the lines of an initializer, a member in each."""
    lines = []
    for name, value in members.items():
        if isinstance(value, dict):
            inner = configuration(value, indent + " " * 8)
            lines += [f"{indent}.{name} =", f"{indent}    {{", *inner, f"{indent}    }},"]
        else:
            lines.append(f"{indent}.{name} = {initializer(value).replace('::tinyattn::', 'tinyattn::')},")
    return lines


def fits(text, comment):
    """Whether a statement of forward and its comment fit into a line."""
    return 4 + len(text) + 4 + len(comment) <= COLUMNS


def arguments(text):
    """Returns the arguments of the outermost call of a statement, what precedes them, and what follows."""
    start, depth, parts, last = text.index("("), 0, [], 0
    for i in range(start, len(text)):
        depth += (text[i] in "({[<") - (text[i] in ")}]>")
        if depth == 1 and text[i] == "," or depth == 0:
            parts.append(text[last or start + 1:i].strip())
            last = i + 1
        if depth == 0:
            return text[:start + 1], parts, text[i:]
    raise AssertionError(text)


def broken(text, comment, indent):
    """Returns the lines of a statement: a call that is too long has its arguments below each other."""
    room = COLUMNS - (len(comment) + 5 if comment else 0)
    body = text.lstrip()
    indent += " " * (len(text) - len(body))
    if len(indent) + len(body) <= room or body.startswith("for ("):
        return [indent + body]
    if " = " in body:
        left, _, right = body.partition(" = ")
        return [f"{indent}{left} =", f"{indent}    {right}"]
    if "(" not in body:
        return [indent + body]
    head, parts, tail = arguments(body)
    column, lines, line = len(indent) + len(head), [], indent + head
    least = [part if len(indent) + 4 + len(part.partition("{")[0]) < COLUMNS else part.partition(STRIDES)[0]
             for part in (*parts[:-1], parts[-1].partition("{")[0])]
    if any(column + len(part) >= COLUMNS for part in least):  # below the call
        column, lines, line = len(indent) + 4, [line], ""
    for i, part in enumerate(parts):
        part += tail if i + 1 == len(parts) else ","
        most = room if i + 1 == len(parts) else COLUMNS
        follows_braces = line.endswith("},") and len(line) - len(line.lstrip()) > column
        if follows_braces or len(line) + 1 + len(part) > most and i > 0:
            lines.append(line)
            line = ""
        line = f"{line}{'' if line.endswith('(') else ' '}{part}" if line else " " * column + part
        if len(line) > most and "{" in part:
            start, brace, inner = line.partition("{")
            if len(start) >= COLUMNS:  # of a StridedView
                view, strides, rest = start.partition(STRIDES)
                lines.append(f"{view},")
                start = " " * (view.index("<") + 1) + strides[2:] + rest
                if len(start + brace + inner) <= most:
                    line = start + brace + inner
                    continue
            lines.append(start + brace)
            line = " " * (len(line) - len(part) + 4) + inner
    if head.endswith(">(") and len(line) > room:  # of a template
        others = [f"{indent}    {', '.join(parts[:-1])},"] if parts[1:] else []
        return [indent + head, *others, f"{indent}    {parts[-1]}{tail}"]
    return [*lines, line]


def share_a_column(commented):
    """Whether the comments of lines fit into one column."""
    return max(len(text) + 2 for text, _ in commented) <= min(COLUMNS - len(comment) - 3 for _, comment in commented)


def with_comments(commented):
    width = max((len(text) for text, _ in commented), default=0)
    return [f"{text.ljust(width)}  // {comment}" for text, comment in commented]


def aligned(lines, indent):
    """Returns the text of lines, with the comments of neighbouring lines in one column."""
    result, group = [], []
    for line in lines:
        *before, text = broken(line.text, line.comment, indent)
        last = (text, line.comment)
        if before or not line.comment or not share_a_column([*group, last]):
            result += with_comments(group)
            group = []
        result += before
        if line.comment:
            group.append(last)
        else:
            result.append(text)
    return result + with_comments(group)
