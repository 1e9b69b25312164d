# SPDX-License-Identifier: MIT
"""The notions that notions.toml lists; each has a page."""
import html
import json
import pathlib
import tomllib

LIST = pathlib.Path(__file__).with_name("notions.toml")


def read_costs():
    """Returns the content of costs.json, which `tests/bench costs` writes."""
    return json.loads(LIST.with_name("costs.json").read_text(encoding="utf-8"))


def read():
    """Returns {id: entry} of notions.toml, in its order."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def cost_tables(notion, costs):
    """Yields a table in HTML for each call of a notion: what it costs on each board."""
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
    """Returns the id of the notion of a header, or an empty string."""
    return next((notion for notion, entry in read().items() if name in entry["headers"]), "")
