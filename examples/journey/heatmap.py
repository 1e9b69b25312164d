#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the attention weights of the journey, normal and causal, as one SVG picture:  journey | heatmap.py >
heatmap.svg"""
import ast
import math
import re
import sys
from html import escape

CELL, GAP, LEFT, TOP = 68, 84, 96, 150
SMALLEST = 0.1  # weights up to this have the lightest colour; from this to 1 the scale is logarithmic
SCALE = [(0.0, (239, 245, 251)), (0.25, (190, 216, 237)), (0.5, (107, 168, 211)), (0.75, (33, 105, 175)),
         (1.0, (8, 42, 98))]
INK, SOFT = "#1b2530", "#5b6875"
FONT = "font-family=\"'DejaVu Sans', 'Helvetica Neue', Arial, sans-serif\""


def table(text, name):
    found = re.search(rf"^{name} = .*\n.*\ntensor\((\[[^()]*\])\)$", text, re.MULTILINE)
    if not found:
        sys.exit(f"heatmap.py: the input has no table {name}: it should be what the journey prints")
    return ast.literal_eval(found[1])


def colour(weight):
    position = 1 + math.log(max(weight, SMALLEST)) / -math.log(SMALLEST)
    for (low, below), (high, above) in zip(SCALE, SCALE[1:]):
        if position <= high:
            share = (position - low) / (high - low)
            return tuple(round(b + share * (a - b)) for b, a in zip(below, above))
    return SCALE[-1][1]


def luminance(rgb):
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(rgb):
    """Returns white or dark, whichever has the larger contrast ratio (as WCAG defines it) to a colour."""
    on_white, on_dark = 1.05 / (luminance(rgb) + 0.05), (luminance(rgb) + 0.05) / 0.065
    return "#ffffff" if on_white > on_dark else INK


def text(x, y, content, size=14, anchor="middle", fill=INK, more=""):
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" {more}>'
            f'{escape(content)}</text>')


def cell(x, y, weight):
    if weight == 0:
        return (f'<rect x="{x + 1.5}" y="{y + 1.5}" width="{CELL - 3}" height="{CELL - 3}" rx="3" fill="none" '
                f'stroke="#c3cbd3" stroke-dasharray="3 4"/>')
    rgb = colour(weight)
    return (f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" rx="3" fill="rgb{rgb}"/>'
            + text(x + CELL / 2, y + CELL / 2 + 5, f"{weight:.4f}", fill=ink_on(rgb)))


def panel(x, title, subtitle, tokens, weights):
    size = CELL * len(tokens)
    yield text(x, TOP - 66, title, 18, "start", more='font-weight="bold"')
    yield text(x, TOP - 45, subtitle, 13, "start", SOFT)
    for j, token in enumerate(tokens):
        yield text(x + CELL * (j + 0.5), TOP - 12, token)
    for i, token in enumerate(tokens):
        yield text(x - 12, TOP + CELL * (i + 0.5) + 5, token, anchor="end")
        for j in range(len(tokens)):
            yield cell(x + CELL * j, TOP + CELL * i, weights[i][j])
    yield text(x + size / 2, TOP + size + 28, "the token that is looked at (key)", 13, fill=SOFT)
    middle = TOP + size / 2
    yield text(x - 80, middle, "the token that looks (query)", 13, fill=SOFT,
               more=f'transform="rotate(-90 {x - 80} {middle:g})"')


def legend(x, y, width):
    yield '<linearGradient id="scale">' + "".join(f'<stop offset="{at}" stop-color="rgb{rgb}"/>' for at,
                                                  rgb in SCALE) + "</linearGradient>"
    yield f'<rect x="{x}" y="{y}" width="{width}" height="14" rx="2" fill="url(#scale)"/>'
    for weight in (0.1, 0.2, 0.5, 1.0):
        yield text(x + width * (1 - math.log(weight) / math.log(SMALLEST)), y + 32, f"{weight:g}", 12, fill=SOFT)
    yield text(x - 14, y + 12, "attention weight", 13, "end", SOFT)
    yield (f'<rect x="{x + width + 48}" y="{y - 4}" width="22" height="22" rx="3" fill="none" stroke="#c3cbd3" '
           'stroke-dasharray="3 4"/>')
    yield text(x + width + 80, y + 12, "hidden by the mask", 13, "start", SOFT)


def picture(tokens, normal, causal):
    size = CELL * len(tokens)
    second = LEFT + size + GAP + LEFT - 40
    width, height = second + size + 32, TOP + size + 108
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" {FONT}>')
    yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    yield text(LEFT, 42, "Attention weights of “" + " ".join(tokens) + "”", 22, "start", more='font-weight="bold"')
    yield from panel(LEFT, "Normal", "every token sees all; each row adds up to 1", tokens, normal)
    yield from panel(second, "Causal", "every token sees itself and the past; each row adds up to 1", tokens, causal)
    yield from legend(width / 2 - 150, TOP + size + 58, 260)
    yield "</svg>"


def main():
    printed = sys.stdin.buffer.read().decode("utf-8")
    tokens = re.search(r"^tokens: (.*)$", printed, re.MULTILINE)
    if not tokens:
        sys.exit("heatmap.py: the input has no line 'tokens: ...': it should be what the journey prints")
    drawing = "\n".join(picture(tokens[1].split(), table(printed, "normal_weights"), table(printed, "causal_weights")))
    sys.stdout.buffer.write((drawing + "\n").encode("utf-8"))


main()
