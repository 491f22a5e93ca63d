# SPDX-License-Identifier: Apache-2.0
"""An SPDX 2.3 document of what scanners do not see: what is linked statically, and the files of the initrds."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deb import HOMEPAGE, Release
from parts import Part, Piece

NOWHERE = "NOASSERTION"


def _id(*words: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(words)).strip("-")


def _url(part: Part) -> str:
    distribution = {"deb": "debian/"}.get(part.kind, "")
    return f"pkg:{part.kind}/{distribution}{quote(part.name)}@{quote(part.version)}"


def _part(part: Part) -> dict[str, Any]:
    reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": _url(part)}
    return {
        "SPDXID": _id(part.kind, part.name, part.version),
        "name": part.name,
        "versionInfo": part.version,
        "licenseConcluded": part.licence,
        "licenseDeclared": part.licence,
        "copyrightText": NOWHERE,
        "downloadLocation": NOWHERE,
        "filesAnalyzed": False,
        "externalRefs": [reference],
    }


def _piece(piece: Piece, release: Release) -> dict[str, Any]:
    digest = hashlib.sha256(piece.file.read_bytes()).hexdigest()
    sums = "".join(sorted(one for _, one, _ in piece.files)).encode()
    code = {"packageVerificationCodeValue": hashlib.sha1(sums, usedforsecurity=False).hexdigest()}
    return {
        **({"packageVerificationCode": code, "licenseInfoFromFiles": ["NOASSERTION"]} if piece.files else {}),
        "SPDXID": _id("piece", piece.name),
        "name": piece.name,
        "versionInfo": piece.whole.version if piece.whole else release.version,
        "packageFileName": piece.file.name,
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        "licenseConcluded": NOWHERE,
        "licenseDeclared": NOWHERE,
        "copyrightText": NOWHERE,
        "downloadLocation": NOWHERE,
        "filesAnalyzed": bool(piece.files),
    }


def _relation(one: str, kind: str, other: str) -> dict[str, str]:
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def _file(piece: Piece, path: str, digest: str, part: Part) -> dict[str, Any]:
    return {
        "SPDXID": _id("file", piece.name, path, digest[:12]),
        "fileName": f"./{piece.name}{path}",
        "checksums": [{"algorithm": "SHA1", "checksumValue": digest}],
        "licenseConcluded": part.licence,
        "licenseInfoInFiles": [NOWHERE],
        "copyrightText": NOWHERE,
    }


def parts_of(pieces: list[Piece]) -> list[Part]:
    """Every part of all pieces, once."""
    linked = {part for piece in pieces for part in piece.linked}
    contained = {part for piece in pieces for _, _, part in piece.files}
    return sorted(linked | contained | {piece.whole for piece in pieces if piece.whole})


def document(pieces: list[Piece], release: Release) -> dict[str, Any]:
    """The document, as JSON has it."""
    packages = [_part(part) for part in parts_of(pieces)]
    files, relations = [], []
    for piece in pieces:
        shown = _piece(piece, release)
        packages.append(shown)
        relations.append(_relation("SPDXRef-DOCUMENT", "DESCRIBES", shown["SPDXID"]))
        if piece.whole:
            relations.append(_relation(shown["SPDXID"], "COPY_OF", _part(piece.whole)["SPDXID"]))
        relations += [_relation(shown["SPDXID"], "STATIC_LINK", _part(part)["SPDXID"]) for part in piece.linked]
        for path, digest, part in piece.files:
            entry = _file(piece, path, digest, part)
            files.append(entry)
            relations.append(_relation(shown["SPDXID"], "CONTAINS", entry["SPDXID"]))
            relations.append(_relation(entry["SPDXID"], "GENERATED_FROM", _part(part)["SPDXID"]))
    created = datetime.fromtimestamp(release.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    domain = {"licenseId": "LicenseRef-public-domain", "name": "public domain", "extractedText": "Public domain."}
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"sled-{release.version}",
        "documentNamespace": f"{HOMEPAGE}/spdx/{release.version}/{release.epoch}",
        "creationInfo": {"created": created, "creators": ["Tool: sled-packaging"]},
        "hasExtractedLicensingInfos": [domain],
        "packages": packages,
        "files": files,
        "relationships": relations,
    }


def write(to: Path, pieces: list[Piece], release: Release) -> Path:
    """Writes sled_VERSION.spdx.json."""
    file = to / f"sled_{release.version}.spdx.json"
    file.write_text(json.dumps(document(pieces, release), indent=1) + "\n")
    return file
