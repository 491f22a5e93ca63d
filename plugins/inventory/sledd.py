# SPDX-License-Identifier: Apache-2.0
"""Inventory plugin sled.fleet.sledd: the nodes that sledd knows.

module_utils/hostvars.py makes their variables.
"""

from __future__ import annotations

DOCUMENTATION = r"""
name: sledd
short_description: Nodes of a Sled fleet
version_added: 0.1.0
description:
  - Lists the nodes of sledd. The configuration file is named C(*sledd.yml) or C(*sledd.yaml).
  - Host variables are C(sled_mac), C(sled_macs) (of further interfaces), C(sled_declared), C(sled_phase),
    C(sled_generation), C(sled_image) (as observed), C(sled_code), C(sled_reason), C(sled_os), C(sled_host_key) (of its
    SSH server, as in known_hosts), C(sled_labels), C(sled_architecture), C(sled_bmc), C(sled_desired_image),
    C(sled_desired_generation), C(sled_satisfied), C(sled_owner) (who declares the binding), and with O(facts)
    C(sled_facts).
  - Text of nodes is marked as unsafe, so Ansible never evaluates it as a template. Characters of a group name other
    than letters, digits, C(_), C(.) and C(-) are replaced by C(_).
  - Playbooks give secrets of the site to the hosts of C(boot_servers), C(controllers), C(etcd) and C(relays). A label
    or the name of a node that leads into one of these groups stops the inventory.
  - With O(cache) the nodes are read again after O(cache_timeout), with C(--flush-cache) and after C(meta) with
    C(refresh_inventory). Phases and images are as old as the cache. Host keys are not cached.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - constructed
  - inventory_cache
  - sled.fleet.api.inventory
options:
  plugin:
    description: Marks the file as this plugin's.
    type: str
    required: true
    choices: [sled.fleet.sledd]
  labels:
    description: Only nodes with all of these labels.
    type: dict
    default: {}
  phase:
    description: Only nodes in this phase.
    type: str
  image:
    description: Only nodes with this image.
    type: str
  sledctl:
    description:
      - Absolute path of the program C(sledctl) on the controller. C(ansible_ssh_common_args) then makes ssh accept only
        the host key that sledd knows, which ssh requests with C(sledctl known-hosts) each time it connects. So the
        key of a node that a playbook has just imaged is accepted.
      - Needs OpenSSH 8.5 and O(token_file), or E(SLED_TOKEN). O(compose) can set other arguments.
    type: path
  discovered:
    description: Also nodes that were discovered and not declared. Their names are their MACs with hyphens.
    type: bool
    default: false
  facts:
    description:
      - Read each node's hardware into C(sled_facts), one more request per node.
      - The address that the machine spoke from when sledd admitted it as the node then becomes C(ansible_host), unless
        O(compose) sets that. Addresses in facts are only shown, because a machine may report any.
    type: bool
    default: false
  group_by:
    description: Groups to make. C(phase_PHASE), C(image_IMAGE) and C(label_KEY_VALUE); others with O(keyed_groups).
    type: list
    elements: str
    choices: [phase, image, label]
    default: [phase, image, label]
"""

EXAMPLES = r"""
# rack-a.sledd.yml. The plugin's name alone suffices where SLED_SERVER, SLED_TOKEN_FILE and SLED_CA are set.
plugin: sled.fleet.sledd
server: https://10.77.0.1
token_file: secrets/admin.token
ca_file: secrets/ca.crt
labels:
  rack: a
compose:
  ansible_host: inventory_hostname ~ '.rack-a.example.org'
keyed_groups:
  - key: sled_bmc.driver | default('none')
    prefix: bmc
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.utils.unsafe_proxy import wrap_var
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.hostvars import (
    groups,
    inventory_name,
    ssh_arguments,
    variables,
)
from ansible_collections.sled.fleet.plugins.module_utils.options import read_token

SECRETIVE = frozenset({"boot_servers", "controllers", "etcd", "relays"})  # whose hosts get secrets


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """Fills the inventory from sledd."""

    NAME = "sled.fleet.sledd"

    def verify_file(self, path: str) -> bool:
        """Takes files named *sledd.yml and *sledd.yaml."""
        return bool(super().verify_file(path)) and path.endswith(("sledd.yml", "sledd.yaml"))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Reads the nodes; a failure stops the inventory rather than giving an empty one."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        try:
            known_hosts = self._known_hosts(Path(path).parent)
            for node in self._cached(path, cache):
                self._add(node, known_hosts)
        except SledError as error:
            raise AnsibleParserError(f"{path}: {error}") from error

    def _cached(self, path: str, cache: bool) -> list[Json]:
        """The nodes of the cache, if it is in use and has those that the options request; else of sledd."""
        if not self.get_option("cache"):
            return self._nodes(Path(path).parent)
        asked = [self.get_option(one) for one in ("server", "labels", "phase", "image", "discovered", "facts")]
        key = f"{self.get_cache_key(path)}_{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]}"
        found = self._cache.get(key) if cache else None
        if found is None:
            found = json.dumps(self._nodes(Path(path).parent))  # a text: a cache may give keys of an object a meaning
            self._cache[key] = found
        return list(json.loads(found))

    def _nodes(self, folder: Path) -> list[Json]:
        token = read_token(self.get_option("token"), self._file("token_file", folder))
        client = Client(self.get_option("server"), token, self._file("ca_file", folder), self.get_option("timeout"))
        labels = [f"{key}={value}" for key, value in self.get_option("labels").items()]
        found = list(client.nodes(labels, self.get_option("phase"), self.get_option("image")))
        wanted = [node for node in found if node["declared"] or self.get_option("discovered")]
        if not self.get_option("facts"):
            return wanted
        return [client.find("nodes", node["mac"]) or node for node in wanted]

    def _known_hosts(self, folder: Path) -> list[str]:
        """The command that prints host keys, without its verb; empty: host keys are not checked here."""
        program = self.get_option("sledctl")
        if not program:
            return []
        files = {"--token-file": self._file("token_file", folder), "--ca": self._file("ca_file", folder)}
        given = [f"{option}={Path(file).resolve()}" for option, file in files.items() if file]
        return [program, f"--server={self.get_option('server')}", *given]

    def _file(self, option: str, folder: Path) -> str | None:
        """A file beside the inventory file if it exists, else the path as configured."""
        name = self.get_option(option)
        if not name:
            return None
        beside = folder / Path(name).expanduser()
        return str(beside if beside.exists() else Path(name).expanduser())

    def _sanitize_group_name(self, name: Any) -> str:
        """Keyed groups are named by text of nodes, and names of groups are templates in magic variables."""
        group = str(super()._sanitize_group_name(re.sub(r"[^A-Za-z0-9_.-]", "_", str(name))))
        if group in SECRETIVE:
            raise SledError(f"group {group}: nodes of sledd cannot be in it: change the label, or set a prefix")
        return group

    def _add(self, node: Json, known_hosts: list[str]) -> None:
        name, strict = inventory_name(node), self.get_option("strict")
        known = self.inventory.get_host(name)
        taken = {group.name for group in known.get_groups()} & SECRETIVE if known else set()
        if taken or name == "localhost":
            raise SledError(
                f"node {name}: {', '.join(sorted(taken)) or 'the controller'} has this name: rename the node"
            )
        self.inventory.add_host(name)
        found = variables(node)
        if known_hosts:
            found["ansible_ssh_common_args"] = ssh_arguments(node["mac"], known_hosts)
        found = wrap_var(found)  # text of nodes is never a template
        for key, value in found.items():
            self.inventory.set_variable(name, key, value)
        self._set_composite_vars(self.get_option("compose"), found, name, strict=strict)
        self._add_host_to_composed_groups(self.get_option("groups"), found, name, strict=strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), found, name, strict=strict)
        for group in groups(found, self.get_option("group_by")):
            self.inventory.add_host(name, self.inventory.add_group(self._sanitize_group_name(group)))
