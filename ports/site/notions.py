# SPDX-License-Identifier: MIT
"""Notions, as notions.toml lists them: a page each."""
import html
import json
import pathlib
import tomllib

LIST = pathlib.Path(__file__).with_name("notions.toml")


def read_costs():
    """What tests/bench costs has written."""
    return json.loads(LIST.with_name("costs.json").read_text(encoding="utf-8"))


def read():
    """{id: its entry}, in its order."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def cost_tables(notion, costs):
    """What its calls cost on each board: a table each, in HTML."""
    for name in notion["costs"]:
        row = costs["rows"][name]
        call, _, shapes = row["what"].rpartition(": ")
        caption = f"<caption><code>{html.escape(call, quote=False)}</code> {html.escape(shapes, quote=False)}</caption>"
        lines = [f'<div class="costs-of"><table class="costs doxtable">{caption}',
                 "<tr><th>board</th><th>flash</th><th>scratch</th><th>stack</th><th>instructions</th></tr>"]
        for board, cost in row["boards"].items():
            cells = "".join(f"<td>{cost[what]:,}</td>" for what in ("flash", "scratch", "stack", "instructions"))
            lines.append(f"<tr><td>{costs['cores'][board]}<br/><small>{board}</small></td>{cells}</tr>")
        yield "\n".join([*lines, "</table></div>"])


def notion_of(name):
    """The id of the notion that a header belongs to."""
    return next((notion for notion, entry in read().items() if name in entry["headers"]), "")
