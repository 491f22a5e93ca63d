# SPDX-License-Identifier: Apache-2.0
"""The host variables of a node."""

from __future__ import annotations

import ipaddress
import re
import shlex
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError


def groups(found: Json, group_by: list[str]) -> list[str]:
    """Names of the groups that a node with these variables is in; not yet safe as names of groups."""
    named = {
        "phase": [found["sled_phase"]],
        "image": [found["sled_image"]],
        "label": [f"{key}_{value}" for key, value in sorted(found["sled_labels"].items())],
    }
    return [f"{kind}_{value}" for kind in group_by for value in named[kind] if value]


def inventory_name(node: Json) -> str:
    """The node's name; of one that is not declared, its MAC with hyphens."""
    name = str(node.get("name") or node["mac"].replace(":", "-"))
    if not re.fullmatch(r"[a-z0-9-]{1,63}", name):
        raise SledError(f"node {name!r}: its name has other characters than a-z, 0-9 and -")
    return name


def host_key(node: Json) -> str:
    """Public host key of the SSH server that the node runs, which may be that of a rescue; empty if none is known."""
    system = node["status"].get("os") or {}
    key = (node.get("rescue") or {}).get("host_key") or system.get("host_key") or ""
    return str(key) if re.fullmatch(r"ssh-ed25519 [A-Za-z0-9+/]{68}", str(key)) else ""


def ssh_arguments(mac: str, sledctl: list[str]) -> str:
    """Arguments with which ssh accepts the host key that sledd knows at that time, and no other.

    A file of keys would be outdated as soon as a playbook has imaged the node.
    """
    for word in sledctl:
        if not word.isprintable() or set(word) & set("'\"\\$"):
            raise SledError(f"{word!r} cannot be an argument of ssh: use a path without quotes, backslashes and $")
    program, *words = [f'"{word}"' for word in [*sledctl, "known-hosts", mac]]
    command = " ".join([program, *(word.replace("%", "%%") for word in words)])  # ssh expands arguments only
    options = [
        "StrictHostKeyChecking=yes",
        "UserKnownHostsFile=/dev/null",
        f"HostKeyAlias={mac}",
        f"KnownHostsCommand={command}",
    ]
    return " ".join(f"-o {shlex.quote(option)}" for option in options)


def variables(node: Json) -> Json:
    """Host variables of a node.

    Those that nothing is known of are empty, not absent, so that templates need no defaults.
    """
    status, binding = node["status"], node.get("binding") or {}
    found = {
        "sled_mac": node["mac"],
        "sled_macs": node.get("macs") or [],
        "sled_declared": node["declared"],
        "sled_phase": status.get("phase", ""),
        "sled_generation": status.get("generation", 0),
        "sled_image": status.get("image", ""),
        "sled_code": status.get("code", 0),
        "sled_reason": status.get("reason", ""),
        "sled_os": status.get("os") or {},
        "sled_host_key": host_key(node),
        "sled_labels": node.get("labels") or {},
        "sled_architecture": node.get("architecture") or "x86_64",
        "sled_bmc": node.get("bmc") or {},
        "sled_desired_image": binding.get("image", ""),
        "sled_desired_generation": binding.get("generation", 0),
        "sled_satisfied": binding.get("satisfied", False),
        "sled_owner": binding.get("owner", ""),
    }
    if node.get("facts"):
        found["sled_facts"] = node["facts"]
        address = unicast(status.get("address"))  # facts may name any address
        if address:
            found["ansible_host"] = address
    return found


def unicast(text: Any) -> str:
    """Returns the address of another machine in a text such as 10.77.0.51; empty if there is none."""
    try:
        address = ipaddress.ip_address(text if isinstance(text, str) else "")
    except ValueError:
        return ""
    if getattr(address, "scope_id", None) or (address.version == 4 and address.packed[0] == 0):
        return ""
    here = address.is_loopback or address.is_link_local or address.is_unspecified
    return "" if here or address.is_multicast or address.is_reserved else str(address)
