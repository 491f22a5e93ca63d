# SPDX-License-Identifier: Apache-2.0
"""The inventory of a fleet without hardware: what all nodes have in common is declared of their group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml
from ansible_collections.sled.fleet.plugins.module_utils.client import Json

if TYPE_CHECKING:
    from ansible_collections.sled.fleet.tests.rollout.fleet import Fleet


def write(fleet: Fleet) -> None:
    """Writes the inventory, and the hooks that it names."""
    for when in ("before", "after"):
        note = f"echo $(date +%s.%N) {when} {{{{ inventory_hostname }}}} >> {fleet.hooks}"
        task = {"name": "Note it", "ansible.builtin.shell": note, "delegate_to": "localhost", "changed_when": False}
        (fleet.folder / f"{when}.yml").write_text(yaml.safe_dump([task]))
    switched = {"hosts": {node: {} for node in fleet.nodes if node not in fleet.own}, "vars": fleet.controls()}
    nodes = {"hosts": {node: _node(fleet, node) for node in fleet.nodes}, "children": {"switched": switched}}
    groups = {"controllers": {"hosts": {"localhost": {"ansible_connection": "local"}}}, "nodes": nodes}
    (fleet.folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"vars": _common(fleet), "children": groups}}))


def _common(fleet: Fleet) -> Json:
    hooks = {
        f"sled_hook_{when}": str(fleet.folder / f"{when}.yml") if fleet.has_hooks else ""
        for when in ("before", "after")
    }
    return {
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "sled_server": fleet.url,
        "sled_ca_file": str(fleet.folder / "ca.crt"),
        "sled_token_file": str(fleet.folder / "admin.token"),
        "sled_authorized_keys": [],
        "sled_max_wipes": 10000,
        "sled_report_dir": str(fleet.folder / "reports"),
        **hooks,
        "supervise_entry_methods": ["idle", "power"],
        "node_image": "v1",
        "node_flavour": "cloud",
    }


def _node(fleet: Fleet, node: str) -> Json:
    about: Json = {
        "node_mac": fleet.macs[node],
        "node_disk": f"serial:{node}",
        "node_labels": {"rack": fleet.racks[node]},
    }
    address, port = fleet.logins[node].split(":")
    about |= {"ansible_host": address, "ansible_port": int(port)}
    return about | fleet.own.get(node, fleet.control(node))
