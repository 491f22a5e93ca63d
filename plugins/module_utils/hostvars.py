# SPDX-License-Identifier: Apache-2.0
"""What the inventory says of a node."""

from __future__ import annotations

from ansible_collections.sled.fleet.plugins.module_utils.client import Json


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
    return str(node.get("name") or node["mac"].replace(":", "-"))


def variables(node: Json) -> Json:
    """Host variables of a node.

    Those that nothing is known of are empty, not absent, so that templates need no defaults.
    """
    status, binding = node["status"], node.get("binding") or {}
    found = {
        "sled_mac": node["mac"],
        "sled_declared": node["declared"],
        "sled_phase": status.get("phase", ""),
        "sled_generation": status.get("generation", 0),
        "sled_image": status.get("image", ""),
        "sled_code": status.get("code", 0),
        "sled_reason": status.get("reason", ""),
        "sled_os": status.get("os") or {},
        "sled_labels": node.get("labels") or {},
        "sled_architecture": node.get("architecture") or "x86_64",
        "sled_bmc": node.get("bmc") or {},
        "sled_wished_image": binding.get("image", ""),
        "sled_wished_generation": binding.get("generation", 0),
        "sled_satisfied": binding.get("satisfied", False),
        "sled_owner": binding.get("owner", ""),
    }
    if node.get("facts"):
        found["sled_facts"] = node["facts"]
        address = boot_address(node)
        if address:
            found["ansible_host"] = address
    return found


def boot_address(node: Json) -> str:
    """The address that the interface which boots had, where the facts tell it."""
    for nic in node["facts"].get("nics") or []:
        if nic.get("mac") == node["mac"] and nic.get("address"):
            return str(nic["address"]).partition("/")[0]
    return ""
