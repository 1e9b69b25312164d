# SPDX-License-Identifier: MIT
"""Reports the lines, the branches and the conditions of the library that the tests of a build have run, by Clang's count,
over all programs and instantiations. A condition of a decision counts by MC/DC: two runs in which only it differs, and the
decision. Writes coverage.json for ports/evidence: {folder: {what: [how many were run, how many there are]}}.

    coverage.py BUILD COMPILER...

The port avx512 is left out, since few machines can run it. Code that only the compiler evaluates counts as never
run.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import sys

from tests.support import tap
from tests.support.processes import ROOT, call

LEAST = {"lines": 94.0, "branches": 94.0, "conditions": 75.0}  # of code that runs, and that only the compiler evaluates
OTHERS = "tests/|boards/|avx512|^/usr/"
LINE = re.compile(r" *(\d+)\| *([\d.]+)[kMGTPE]?\|(.*)")
BRANCH = re.compile(r" *\|  Branch \((\d+:\d+)\): \[True: ([\d.]+).*, False: ([\d.]+)")


def llvm_cov(build, compiler):
    """Returns llvm-cov as a function of its words, for the profiles of all programs. Removes the profiles, so that the next
    run counts from 0."""
    profdata, cov = (call([*compiler, f"-print-prog-name={tool}"]).strip() for tool in ("llvm-profdata", "llvm-cov"))
    merged, profiles = build / "all.profdata", list(build.glob("profiles/*"))
    if profiles:
        call([profdata, "merge", *profiles, "-o", merged])
    for profile in profiles:
        profile.unlink()
    first, *others = (file for file in build.glob("tests/**/*") if file.is_file() and os.access(file, os.X_OK))
    return lambda kind, *words: call([cov, kind, f"-instr-profile={merged}", first, *(f"-object={file}" for file in others),
                                      *words, f"-ignore-filename-regex={OTHERS}"])


def counts(text):
    """Returns how often each was run: {file: {"lines": {line: number}, "branches": {condition and outcome: number},
    "conditions": {}}}"""
    files = {}
    for row in text.splitlines():
        if row.startswith("/"):
            file = files[row[len(f"{ROOT}/"):-1]] = {what: collections.Counter() for what in LEAST}
        elif found := LINE.match(row):
            file["lines"][f"{found[1]}: never run: {found[3].strip()}"] = float(found[2])
        elif found := BRANCH.match(row):
            file["branches"].update({f"{found[1]}: never true": float(found[2]),
                                     f"{found[1]}: never false": float(found[3])})
    return files


def add_conditions(files, exported):
    """Adds the conditions that some instance of their function has shown to decide, and the others, as 0."""
    text = exported[exported.index('{"data"'):]  # after warnings
    for function in json.JSONDecoder().raw_decode(text)[0]["data"][0]["functions"]:
        for line, column, _, _, file, _, conditions in function["mcdc_records"]:
            if its := files.get(function["filenames"][file].removeprefix(f"{ROOT}/")):
                for number, decides in enumerate(conditions, 1):
                    its["conditions"][f"{line}:{column}: never decided by condition {number}"] += decides


def share(count):
    """Returns the percentage of counts that are not 0."""
    return 100 * sum(map(bool, count.values())) / max(len(count), 1)


def of_folders(files):
    """Returns {folder: {what: [how many were run, how many there are]}}."""
    folders = {}
    for name, file in files.items():
        its = folders.setdefault(str(pathlib.PurePosixPath(name).parent), {what: [0, 0] for what in LEAST})
        for what, count in file.items():
            its[what] = [its[what][0] + sum(map(bool, count.values())), its[what][1] + len(count)]
    return folders


def main(build, *compiler):
    if not shutil.which("llvm-cov-19"):
        tap.report([("coverage", tap.Skip("there is no llvm-cov-19"))])
    cov = llvm_cov(pathlib.Path(build), compiler)
    files = counts(cov("show", "-show-branches=count", "-show-instantiations=false"))
    add_conditions(files, cov("export", "-skip-expansions"))
    pathlib.Path(build, "coverage.json").write_text(json.dumps(of_folders(files)), encoding="utf-8")
    in_all = {what: {f"{name}:{place}": number for name, file in files.items() for place, number in file[what].items()}
              for what in LEAST}
    for name, file in [*files.items(), ("in all", in_all)]:
        print(f"# {name:<50}", *(f"{share(count):8.1f} % of {len(count):>4} {what}"
                                 for what, count in file.items() if count))
    print("\n".join(f"# {place}" for count in in_all.values() for place, number in count.items() if not number))
    tap.report([(f"{least} % of all {what}", lambda count, least: "" if share(count) >= least else "it is less",
                 in_all[what], least)
                for what, least in LEAST.items()])


main(*sys.argv[1:])
