# SPDX-License-Identifier: Apache-2.0
"""Signs images (contract/image.md, "Signature"). The private key stays on the machine that this runs on."""

from __future__ import annotations

import base64
import re
from datetime import datetime, timezone
from pathlib import Path

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SettingsError

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
except ImportError:
    HAVE_CRYPTOGRAPHY = False
else:
    HAVE_CRYPTOGRAPHY = True

NAME = "[a-z0-9][a-z0-9._-]{0,127}"


def read_key(path: str) -> Ed25519PrivateKey:
    """The Ed25519 private key of a PEM file, which has no password."""
    if not HAVE_CRYPTOGRAPHY:
        raise SettingsError(
            "signing needs the Python library cryptography, which ansible-core brings: set ansible_python_interpreter"
        )
    try:
        key = load_pem_private_key(Path(path).read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:
        raise SettingsError(f"key {path}: {error}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise SettingsError(f"key {path} is not an Ed25519 key: create one with openssl genpkey -algorithm ed25519")
    return key


def line_of(name: str) -> str:
    """The line of an image if none is given: its name without a version such as -v7 at the end."""
    return re.sub(r"(?<=.)-v[0-9][0-9.]*\Z", "", name)


def statement_of(name: str, line: str, digest: str, now: datetime) -> str:
    """What is signed."""
    for word in (name, line):
        if not re.fullmatch(NAME, word):
            raise SettingsError(f"{word!r} is not the name of an image: want a-z 0-9 . _ -, at most 128")
    if not re.fullmatch("sha256:[0-9a-f]{64}", digest):
        raise SettingsError(f"digest {digest!r}: want sha256: and 64 hexadecimal digits")
    signed = now.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"image 2 name={name} line={line} signed={signed} digest={digest}"


def sign(path: str, statement: str) -> str:
    """The signature of a statement by the key in a file, in base64."""
    return base64.b64encode(read_key(path).sign(statement.encode("ascii"))).decode("ascii")


def is_signed(path: str, stored: Json, name: str, line: str) -> bool:
    """Whether the key in a file has signed a stored image for this name and line, at any time."""
    found = re.fullmatch(
        f"image 2 name=({NAME}) line=({NAME}) signed=[^ ]+ digest=(sha256:[0-9a-f]+)", stored.get("statement", "")
    )
    if not found or found.groups() != (name, line, stored.get("digest")):
        return False
    try:
        read_key(path).public_key().verify(base64.b64decode(stored["signature"]), stored["statement"].encode("ascii"))
    except InvalidSignature:
        return False
    return True
