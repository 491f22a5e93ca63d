# SPDX-License-Identifier: Apache-2.0
"""Checks the signature of an image by ../image.md, "Signature", alone."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

FAILED, USAGE, INTEGRITY = 1, 2, 5
NAME = "[a-z0-9][a-z0-9._-]{0,127}"
STATEMENT = re.compile(
    rf"image 2 name=(?P<name>{NAME}) line=(?P<line>{NAME}) signed=(?P<signed>[^ ]+) "
    "digest=(?P<digest>sha256:[0-9a-f]{64})"
)
DATE = "%Y-%m-%dT%H:%M:%SZ"


class Refused(Exception):
    """The signature is not accepted."""

    def __init__(self, text: str, code: int = INTEGRITY) -> None:
        super().__init__(text)
        self.code = code


def must(fact: bool, text: str, code: int = INTEGRITY) -> None:
    """Refuses unless the fact holds."""
    if not fact:
        raise Refused(text, code)


def is_date(text: str) -> bool:
    """A date in its only form. Two dates compare as their texts do."""
    try:
        found = datetime.strptime(text, DATE)
    except ValueError:
        return False
    return found.year >= 2000 and found.strftime(DATE) == text


@dataclass(frozen=True)
class Claim:
    """What a plan states of an image."""

    name: str
    digest: str
    statement: str | None = None
    signature: str | None = None


def parse_floors(text: str) -> dict[str, str]:
    """The date of each line."""
    floors: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split(" ")
        must(len(words) == 2 and re.fullmatch(NAME, words[0]) is not None, f"floor {line!r}", FAILED)
        must(is_date(words[1]), f"floor {line!r}", FAILED)
        must(words[0] not in floors, f"floor of {words[0]} twice", FAILED)
        floors[words[0]] = words[1]
    return floors


def signed_bytes(claim: Claim, floors: dict[str, str]) -> bytes:
    """What the signature must be over."""
    must(claim.statement is not None or claim.signature is not None, "not signed")
    must(claim.statement is not None and claim.signature is not None, "a statement or a signature alone", USAGE)
    statement = claim.statement or ""
    found = STATEMENT.fullmatch(statement)
    if found is None or not is_date(found["signed"]):
        raise Refused(f"statement {statement!r}", USAGE)
    must(found["digest"] == claim.digest, "the statement is of another digest")
    must(found["name"] == claim.name, "the statement is of another name")
    floor = floors.get(found["line"], "")
    must(found["signed"] >= floor, f"signed before {floor}")
    return statement.encode("ascii")


def read_keys(path: Path) -> list[Ed25519PublicKey]:
    """Every public key of a PEM file."""
    found = [
        load_pem_public_key(block)
        for block in re.findall(
            rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----\n?", path.read_bytes(), re.DOTALL
        )
    ]
    keys = [key for key in found if isinstance(key, Ed25519PublicKey)]
    if not keys or len(keys) != len(found):
        raise ValueError(f"{path}: not Ed25519 public keys")
    return keys


def check(claim: Claim, keys: Iterable[Ed25519PublicKey], floor: str = "") -> None:
    """Refuses what is not signed by one of the keys, or not as the site's floors demand."""
    message = signed_bytes(claim, parse_floors(floor))
    try:
        signature = base64.b64decode(claim.signature or "", validate=True)
    except binascii.Error as error:
        raise Refused(f"signature {claim.signature!r}: {error}", USAGE) from error
    must(len(signature) == 64, f"signature {claim.signature!r}: {len(signature)} bytes", USAGE)
    for key in keys:
        try:
            key.verify(signature, message)
        except InvalidSignature:
            continue
        return
    raise Refused("signed by none of the keys")
