# SPDX-License-Identifier: MIT
"""What was measured when someone last looked: figures.json. Figures belong to a compiler's release, and times to a processor as well."""
import json
import pathlib
import platform

FILE = pathlib.Path(__file__).with_name("figures.json")

# A time has changed if it differs by more than this share and by more than it scatters within a run.
NOISE = 0.03
SPREADS = 4


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def counted(core_title, level, compiler, counts):
    """As the file holds it: {heading: {row name: instructions}}"""
    return {f"{core_title} {level}, {compiler}": {name: count.instructions for name, count in counts.items()}}


def timed(column_title, compiler, times):
    """What the roof does while a row runs once: there is no clock in it."""
    return {f"{processor()}, {column_title}, {compiler}":
            {name: {"roof operations": round(time.ns * time.roof, 2), "spread": round(time.spread, 3)} for name, time in times.items()}}


def read():
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}


def write(sections):
    """Replaces what was measured and keeps the rest."""
    held = read()
    for heading, figures in sections.items():
        held.setdefault(heading, {}).update(figures)
    FILE.write_text(json.dumps(held, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def change(old, new):
    """In words, or nothing."""
    if isinstance(new, int):
        return "" if old == new else f"{old} instructions, now {new} ({100 * (new / old - 1):+.1f} %)"
    before, now = old["roof operations"], new["roof operations"]
    noise = max(NOISE, SPREADS * (old["spread"] + new["spread"]))
    return "" if abs(now / before - 1) <= noise else f"{100 * (now / before - 1):+.0f} % time"


def changes(sections):
    """A line for each figure that differs from the file's, and for each heading that has new rows."""
    held = read()
    lines = []
    for heading, measured in sections.items():
        before = held.get(heading, {})
        known = [name for name in measured if name in before]
        said = {name: change(before[name], measured[name]) for name in known}
        lines += [f"{heading}: {name}: {words}" for name, words in said.items() if words]
        if len(known) < len(measured):
            lines.append(f"{heading}: {len(measured) - len(known)} rows that the figures do not know")
    return lines


def report(sections, rewrite):
    """Prints what changed; then the file says so too, if it shall."""
    found = changes(sections)
    print("\n".join(["Changed since the figures were noted:", *(f"  {line}" for line in found)]) if found else "As the figures say.")
    if rewrite:
        write(sections)
