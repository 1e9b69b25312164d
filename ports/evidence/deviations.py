# SPDX-License-Identifier: MIT
"""What clang-tidy finds of deviations.toml's checks, and why it stays. It reads the workloads for one port of
x86-64 and for each Cortex-M."""
import collections
import fnmatch
import re
import textwrap
import tomllib

from . import parts, sources

TABLE = tomllib.loads(parts.HERE.joinpath("deviations.toml").read_text(encoding="utf-8"))
CONFIG = ("{CheckOptions: {misc-non-private-member-variables-in-classes."
          "IgnoreClassesWithAllMemberVariablesBeingPublic: true}}")
FOUND = re.compile(r"^(\S+:\d+:\d+): (?:warning|error): .* \[([a-z0-9.,-]+)\]$", re.MULTILINE)


def findings():
    """Returns {check: number of places}."""
    texts = sources.each_read_by("clang-tidy-19", sources.WORKLOADS, ("avx2", *sources.CORES), "--quiet",
                                 f"--config={CONFIG}", f"--header-filter={sources.FILES}",
                                 f"--checks=-*,{','.join(TABLE['checks'])}")
    return collections.Counter(check.partition(",")[0] for place, check in set(FOUND.findall("\n".join(texts)))
                               if "all.cpp" not in place)


def rules(check):
    """Returns the rules that a check stands for: of all patterns that match it, the last."""
    its = [rule for pattern, rule in TABLE["checks"].items() if fnmatch.fnmatchcase(check, pattern)][-1]
    return its or ("CERT " + check.removeprefix("cert-").upper()) * check.startswith("cert-")


def about(number):
    """Rounds to two digits, so that a new function does not change the page."""
    return round(number, 2 - len(str(number)))


def made():
    found, why = findings(), TABLE["deviations"]
    rows = [(f"`{check}`", rules(check), about(number), why.get(check, "")) for check, number in sorted(found.items())]
    silent = [f"`{check}` ({rules(check)})" for check in TABLE["checks"] if check not in found and "*" not in check]
    problems = [f"{check}: found, but [deviations] does not say why it stays" for check in found if check not in why]
    problems += [f"{check}: [deviations] has a reason, but nothing is found" for check in why if check not in found]
    nothing = f"The other checks `cert-*` and `bugprone-*` find nothing, nor do {', '.join(silent)}."
    table = parts.table(("check", "rules", " findings", "why it stays"), rows)
    return f"{table}\n\n{textwrap.fill(nothing, 140, break_on_hyphens=False)}", problems
