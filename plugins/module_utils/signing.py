# SPDX-License-Identifier: Apache-2.0
"""Signs images (contract/image.md, "Digest and trust"). The private key stays on the machine that this runs on."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from ansible_collections.sled.fleet.plugins.module_utils.client import SettingsError

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
except ImportError:
    HAVE_CRYPTOGRAPHY = False
else:
    HAVE_CRYPTOGRAPHY = True

PREFIX = b"sled-image-1:"


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


def sign(path: str, digest: str) -> str:
    """The signature of an image's digest by the key in a file, in base64; the same whenever it is made."""
    if not re.fullmatch("sha256:[0-9a-f]{64}", digest):
        raise SettingsError(f"digest {digest!r}: want sha256: and 64 hexadecimal digits")
    return base64.b64encode(read_key(path).sign(PREFIX + bytes.fromhex(digest[7:]))).decode("ascii")
