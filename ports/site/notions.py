# SPDX-License-Identifier: MIT
"""The notions that notions.toml lists; each has a page."""
import functools
import html
import json
import pathlib
import tomllib

from . import errors

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include" / "tinyattn"


@functools.cache
def read():
    """Returns {id: entry} of notions.toml, in its order; a pattern is the headers that it matches."""
    notions = tomllib.loads((HERE / "notions.toml").read_text(encoding="utf-8"))
    for name, notion in notions.items():
        notion.setdefault("title", name.replace("_", " ").capitalize())
        notion["headers"] = [file.relative_to(INCLUDE).as_posix() for pattern in notion.get("headers", [f"{name}.hpp"])
                             for file in sorted(INCLUDE.glob(pattern))]
    return notions


def cost_table(row, cores):
    """Returns a table in HTML: what a call costs on each board."""
    call, _, shapes = html.escape(row["what"], quote=False).rpartition(": ")
    lines = ['<div class="costs-of"><table class="costs doxtable">',
             f"<caption><code>{call}</code> {shapes}</caption>",
             "<tr><th>board</th><th>flash</th><th>scratch</th><th>stack</th><th>instructions</th><th>cycles</th></tr>"]
    for board, cost in row["boards"].items():
        cells = "".join(f"<td>{cost[what]:,}</td>" for what in ("flash", "scratch", "stack", "instructions"))
        cells += f"<td>{' to '.join(f'{bound:,}' for bound in cost['cycles'])}</td>"
        lines.append(f"<tr><td>{cores[board]}<br/><small>{board}</small></td>{cells}</tr>")
    return "\n".join([*lines, "</table></div>"])


def listed(title, links):
    items = "".join(f"<li>{link}</li>" for link in links)
    return f"<h2>{title}</h2>\n<ul>{items}</ul>" if items else ""


def page(name, notion, costs, said, link):
    """Returns the page of a notion: what was `said` of its headers, where it is used, what calls cost, diagnostics."""
    explained = ("<h2>What it costs</h2>\n<p>Bytes, and instructions and cycles of one call, on emulated boards "
                 f"by {costs['compiler']}; flash is what an image grows by, with all that comes. Cycles are estimated: "
                 f"{link('tests/speed/cycles/README.md')}. <code>tests/bench costs</code> measures it anew.</p>")
    tables = [cost_table(costs["rows"][row], costs["cores"]) for row in notion.get("costs", [])]
    diagnostics = errors.links([*notion["headers"], *notion.get("checks", [])])
    parts = [*said, listed("See it used", map(link, notion["see"])),
             *([explained, *tables] if tables else []), listed("What the compiler may say", diagnostics)]
    return f"/** @defgroup {name} {notion['title']}\n\n" + "\n\n".join(parts) + "\n*/\n"


def pages(headers, comment_of, link):
    """Returns the pages of all notions. The filter, headers.py, adds the names of each notion. `headers`: {header: its
    page}; `comment_of` returns what a header says, `link` a link to a page."""
    costs = json.loads((HERE / "costs.json").read_text(encoding="utf-8"))
    said = {header: f'<a class="from" href="{address}">tinyattn/{header}</a>\n\n{comment_of(header)}'
            for header, address in headers.items()}
    return "\n".join(page(name, notion, costs, [said[header] for header in notion["headers"]], link)
                     for name, notion in read().items())
