# SPDX-License-Identifier: MIT
"""Writes the bill of materials of this version as SPDX 2.3 in JSON: the archive of the release, and each file in it
with its checksums and its license. Always the same bytes.

    python3 -m ports.packages.bill_of_materials FILE

Specification: https://spdx.github.io/spdx-spec/v2.3/
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from ports.evidence import licenses

from . import firmware, tree

DOCUMENT, SOURCE = "SPDXRef-DOCUMENT", "SPDXRef-Source"
TOOLS = {"arm-none-eabi-g++": "arduino", "doxygen": "site", "em++": "site"}  # and what of a release has their output


def checksums(content, *algorithms):
    return [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, content).hexdigest()} for name in algorithms]


def entry_of(number, name):
    content = (tree.ROOT / name).read_bytes()
    of_file, origin = licenses.of(name)
    return {"SPDXID": f"SPDXRef-File-{number}", "fileName": f"./{name}", "licenseConcluded": of_file,
            "licenseInfoInFiles": [of_file if licenses.LINE.search(content) else "NONE"],
            "checksums": checksums(content, "sha1", "sha256"), "copyrightText": "NOASSERTION",
            **({"comment": origin} if origin else {})}


def package(identifier, file, **more):
    return {"SPDXID": identifier, "name": file.name, "versionInfo": tree.version(), "packageFileName": file.name,
            "supplier": f"Organization: {firmware.authors()}", "homepage": tree.HOMEPAGE,
            "downloadLocation": f"{tree.HOMEPAGE}/releases/download/v{tree.version()}/{file.name}",
            "checksums": checksums(file.read_bytes(), "sha256"), "licenseDeclared": "MIT", "filesAnalyzed": False,
            **more}


def source_package(archive, files):
    """Returns the package of the archive of the release, which has all files."""
    sums = "".join(sorted(file["checksums"][0]["checksumValue"] for file in files))  # SHA-1, as SPDX 2.3 has it
    of_data = {file["licenseConcluded"] for file in files} - {"MIT"}
    repository = tree.HOMEPAGE.removeprefix("https://github.com/")
    return package(
        SOURCE, archive, name=firmware.NAME, filesAnalyzed=True, summary=tree.SUMMARY, primaryPackagePurpose="LIBRARY",
        packageVerificationCode={"packageVerificationCodeValue": hashlib.sha1(sums.encode()).hexdigest()},
        licenseConcluded=" AND ".join(["MIT", *sorted(of_data)]),
        licenseInfoFromFiles=sorted({file["licenseInfoInFiles"][0] for file in files} - {"NONE"}),
        copyrightText=re.search("^Copyright.*", (tree.ROOT / "LICENSE").read_text(encoding="utf-8"), re.MULTILINE)[0],
        externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                       "referenceLocator": f"pkg:github/{repository}@v{tree.version()}"}])


def tool_package(name):
    said = subprocess.run([name, "--version"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    return {"SPDXID": f"SPDXRef-Tool-{name.replace('+', 'p')}", "name": name, "filesAnalyzed": False,
            "versionInfo": re.search(r"\b\d+\.\d+\.\d+\b", said)[0], "downloadLocation": "NOASSERTION"}


def relationship(element, kind, related):
    return {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": related}


def bill(made):
    """Returns the document. `made`: files that were made from this version."""
    files = [entry_of(number, name) for number, name in enumerate(tree.tracked("."), 1)]
    with tempfile.TemporaryDirectory() as folder:
        source = source_package(tree.release(pathlib.Path(folder)), files)
    others = [package(f"SPDXRef-Made-{number}", file) for number, file in enumerate(made, 1)]
    tools = {name: tool_package(name) for name in (TOOLS if made else ())}
    date = tree.changes()[0]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": DOCUMENT, "name": f"tinyattn-{tree.version()}",
        "creationInfo": {"creators": [f"Organization: {firmware.authors()}", f"Tool: tinyattn-{tree.version()}"],
                         "created": f"{'1980-01-01' if date == 'unreleased' else date}T00:00:00Z"},
        "packages": [source, *others, *tools.values()], "files": files,
        "relationships": [
            relationship(DOCUMENT, "DESCRIBES", SOURCE),
            relationship(SOURCE, "DEPENDS_ON", "NONE"),  # at run time
            *(relationship(SOURCE, "CONTAINS", file["SPDXID"]) for file in files),
            *(relationship(other["SPDXID"], "GENERATED_FROM", SOURCE) for other in others),
            *(relationship(tool["SPDXID"], "BUILD_TOOL_OF", other["SPDXID"]) for name, tool in tools.items()
              for other in others if f"-{TOOLS[name]}-" in other["name"])]}
    digest = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    return {"documentNamespace": f"{tree.HOMEPAGE}/spdx/tinyattn-{tree.version()}-{digest}", **document}


def write(file, made=()):
    file.write_text(json.dumps(bill(made), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
