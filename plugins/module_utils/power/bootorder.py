# SPDX-License-Identifier: Apache-2.0
"""A boot order: what its entries start from, and which come first."""

from __future__ import annotations

import re

from ansible_collections.sled.fleet.plugins.module_utils.client import Json

ALIASES = {"Pxe": "pxe", "UefiHttp": "pxe", "Hdd": "disk"}
PATHS = {"pxe": r"\b(MAC|IPv4|IPv6|Uri)\(", "disk": r"\b(HD|NVMe|Sata|SAS|Scsi|eMMC|SD)\("}


def kind_of(option: Json) -> str:
    """What a Redfish BootOption starts from: pxe, disk, or other. Its device path is as UEFI writes it."""
    path = option.get("UefiDevicePath") or ""
    found = next((kind for kind, pattern in PATHS.items() if re.search(pattern, path)), "")
    return found or ALIASES.get(option.get("Alias") or "", "other")


def arranged(entries: list[Json], first: list[str]) -> list[str]:
    """The references of all entries: the requested ones first, by reference or by kind, then the others as they were.

    Raises ValueError.
    """
    order: dict[str, None] = {}
    for requested in first:
        found = [entry["reference"] for entry in entries if requested in (entry["reference"], entry["kind"])]
        if not found:
            raise ValueError(requested)
        order.update(dict.fromkeys(found))
    order.update(dict.fromkeys(entry["reference"] for entry in entries))
    return list(order)


def described(entry: Json) -> str:
    """How messages name an entry."""
    return " ".join(word for word in (entry["reference"], entry["kind"], entry["name"]) if word)
