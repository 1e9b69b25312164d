# SPDX-License-Identifier: MIT
"""Joins all headers in one text: each once, after those that it includes.

In the tree `native.hpp` chooses a port by the compiler's macros, and includes its header by a macro. Here all ports
replace that include; each is in an #if, which is true for the chosen port and for the ports on which it builds.
"""
import re
import sys

from ports.simd import priorities

from .. import tree

ALWAYS = ("tinyattn/tinyattn.hpp", "tinyattn/generate.hpp", "tinyattn/tokenizer.hpp")
# Headers that are included only if a program defines a macro: the namespace tinyattn::compiled could clash with a name
# `compiled` of the program; <memory> takes as long as all the others; and most programs do not train.
IF_DEFINED = {
    "TINYATTN_COMPILED": ("if the program links libtinyattn", (
        "tinyattn/compiled.hpp", "tinyattn/tinyattn_models.h", "tinyattn/tinyattn_operations.h",
        "tinyattn/tokenizer_for_c.hpp")),
    "TINYATTN_LIFETIME": ("if workspaces share memory in unions", ("tinyattn/lifetime.hpp",)),
    "TINYATTN_TRAINING": ("if the program trains", ("tinyattn/training.hpp",))}
CHOOSER = "tinyattn/port/native.hpp"
ONE_LANE = "tinyattn/port/one_lane.hpp"
COMPILERS = "tinyattn/port/compiler.hpp"  # its #error precedes headers that an old compiler lacks
REFERENCE = "tinyattn/port/scalar.hpp"
CONTRACT = "tinyattn/port/contract.hpp"  # only for authors of ports, and for tests
OURS = re.compile(r'#include "(tinyattn/[\w/.]+)"')
STANDARD = re.compile(r"#include <(\w+)>$")
CHOSEN = "#include TINYATTN_PORT_HEADER(TINYATTN_PORT)"
NOT_HERE = re.compile(r"// SPDX-License-Identifier|#pragma once|// clang-format |#define TINYATTN_PORT_HEADER\(")


def ports():
    """Returns {header: name} of every port that a build may choose."""
    names = [name for file in (priorities.VECTORS, priorities.ONE_LANE) for name, _ in priorities.entries(file)]
    return {f"tinyattn/port/{name}.hpp": name for name in names}


class Single:
    def __init__(self):
        self.files = {name: file.read_text(encoding="utf-8") for name, file in tree.headers().items()}
        self.ports = ports()
        self.written = []  # names of the headers that are in the text
        self.standard = set()  # standard headers that they include
        self.parts = []

    def included(self, name):
        return [included for included in OURS.findall(self.files[name]) if included in self.files]

    def foundation(self, name):
        """Returns the headers of a port and of all ports on which it builds."""
        below = [self.foundation(included) for included in self.included(name) if included in self.ports]
        return {name}.union(*below)

    def write(self, name):
        """Appends a header and, before it, the headers that it includes. Ports come where native.hpp chooses one."""
        if name in self.written:
            return
        self.written.append(name)
        for included in self.included(name):
            if included not in self.ports or included == REFERENCE and name in self.ports:
                self.write(included)
        if name == CHOOSER:
            before, after = self.text(name).split(CHOSEN)
            self.add(name, before)
            self.write_ports()
            self.add(f"{name}, the rest", after)
        else:
            self.add(name, self.text(name))

    def text(self, name):
        kept = []
        for line in self.files[name].splitlines():
            if header := STANDARD.match(line):
                self.standard.add(header[1])
            elif not OURS.match(line) and not NOT_HERE.match(line):
                kept.append(line)
        return "\n".join(kept)

    def add(self, name, text):
        text = re.sub(r"\n{3,}", "\n\n", text.removeprefix("//\n").strip())
        self.parts.append(f"// --- {name} ---\n\n{text}\n")

    def write_ports(self):
        self.write(REFERENCE)
        others = [port for port in self.ports if port != REFERENCE]
        self.add("which ports this program needs", self.numbers())
        for port in sorted(others, key=lambda port: (ONE_LANE in self.included(port), len(self.foundation(port)))):
            for included in self.included(port):
                if included not in self.ports:
                    self.write(included)
            needs = [f"TINYATTN_IS({self.ports[other]})" for other in others if port in self.foundation(other)]
            self.parts.append(f"#if {' || '.join(needs)}\n")
            self.write(port)
            self.parts.append("#endif\n")

    def write_if(self, macro, condition, names):
        """Appends headers that a macro asks for, and the standard headers that only they include."""
        start, before = len(self.parts), self.standard
        self.standard = set()
        for name in names:
            self.write(name)
        alone = [f"#include <{name}>\n" for name in sorted(self.standard - before)]
        self.standard = before
        head = f"// Define {macro} before the include {condition}.\n#ifdef {macro}\n{''.join(alone)}"
        self.parts[start:start] = [head]
        self.parts.append("#endif\n")

    def numbers(self):
        """Returns macros that number the ports: the preprocessor can compare numbers, but not names."""
        lines = [f"#define TINYATTN_NUMBER_OF_{name} {number}" for number, name in enumerate(self.ports.values(), 1)]
        return "\n".join([*lines, """\
#define TINYATTN_NUMBER_OF(name) TINYATTN_NUMBER_OF_##name
#define TINYATTN_NUMBER(name) TINYATTN_NUMBER_OF(name)
#define TINYATTN_IS(name)                                               \\
  (TINYATTN_NUMBER(TINYATTN_PORT) == TINYATTN_NUMBER_OF(name) ||        \\
   TINYATTN_NUMBER(TINYATTN_ONE_LANE) == TINYATTN_NUMBER_OF(name))
#if !TINYATTN_NUMBER(TINYATTN_PORT)
#error "tinyattn has no port of the name that -DTINYATTN_PORT asks for"
#endif"""])


def single():
    header = Single()
    for name in (COMPILERS, ONE_LANE, *ALWAYS):
        header.write(name)
    for macro, (condition, names) in IF_DEFINED.items():
        header.write_if(macro, condition, names)
    unused = header.files.keys() - header.written - {CONTRACT}
    if unused:
        sys.exit(f"no header includes {', '.join(sorted(unused))}")
    notice = (tree.ROOT / "LICENSE").read_text(encoding="utf-8")
    head = [
        "// SPDX-License-Identifier: MIT",
        "//",
        f"// tinyattn {tree.version()} in one file: all of include/tinyattn and every port. Made by "
        "ports/packages/make single.",
        "//",
        *(f"// {line}".rstrip() for line in notice.splitlines()),
        "#pragma once",
        ""]
    standard = [f"#include <{name}>" for name in sorted(header.standard)]
    return "\n".join(["\n".join(head), header.parts[0], "\n".join(standard), "", *header.parts[1:]])
