# SPDX-License-Identifier: Apache-2.0
"""SSH public keys are checked here before they are sent, so that a private key stays where it is. sledd parses them."""

from __future__ import annotations

import base64
import binascii
import re

from ansible_collections.sled.fleet.plugins.module_utils.client import SledError

PUBLIC = re.compile(r"(?:^|\s)((?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+)\s+([A-Za-z0-9+/]+=*)(?:\s|$)")


def public_keys(node: str, lines: list[str]) -> list[str]:
    """The keys without the white space of their files. Raises SledError, which quotes none of them."""
    for number, line in enumerate(lines, 1):
        reason = fault(line.strip())
        if reason:
            raise SledError(f"{node}: authorized key {number} {reason}")
    return [line.strip() for line in lines]


def fault(line: str) -> str:
    """Why a text is no line of authorized_keys, a public key or a comment; empty: it is one."""
    if "PRIVATE KEY-----" in line or "PRIVATE KEY ----" in line or line.startswith("PuTTY-User-Key-File"):
        return "is a private key: give the public key, the file that ends in .pub"
    if line.startswith("---- BEGIN SSH2"):
        return "is a key in the format of RFC 4716: convert its file with ssh-keygen -i -f FILE"
    if line.startswith("-----BEGIN"):
        return "is PEM, which sshd does not read: convert its file with ssh-keygen -i -m PKCS8 -f FILE"
    if not line or "\n" in line or "\r" in line:
        return "is not one line: give each key as an element, such as lookup('file', 'id.pub').splitlines()"
    if line.startswith("#") or any(_is_of(kind, blob) for kind, blob in PUBLIC.findall(line)):
        return ""
    return 'is not an SSH public key, such as "ssh-ed25519 AAAA... alice": give the content of a .pub file'


def _is_of(kind: str, blob: str) -> bool:
    """Whether the blob of a key starts with its kind, after 4 bytes of length."""
    try:
        decoded = base64.b64decode(blob, validate=True)
    except binascii.Error:
        return False
    return decoded.startswith(len(kind).to_bytes(4, "big") + kind.encode())
