#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.rescue."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rescue
short_description: Puts a node under rescue, or ends the rescue
version_added: 0.2.0
description:
  - A node under rescue boots the Sled system with an SSH server for root. Its disks are not touched, and its
    binding waits.
  - A node that waits in the Sled system enters rescue at once, any other at its next boot. The module does not switch
    power.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
  - sled.fleet.api.attributes
options:
  node:
    description: Name or MAC of the node.
    type: str
    required: true
  authorized_keys:
    description: SSH public keys for root, at most 2,048 bytes in all. Required for O(state=present).
    type: list
    elements: str
  state:
    description: Whether the node is under rescue.
    type: str
    choices: [present, absent]
    default: present
  wait:
    description: Seconds to wait until the SSH server of the node answers, or the node reports why it cannot. V(0), do
      not wait.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Let us in
  sled.fleet.rescue:
    node: "{{ inventory_hostname }}"
    authorized_keys: "{{ sled_authorized_keys }}"
    wait: 600
  delegate_to: localhost
"""

RETURN = r"""
rescue:
  description: The rescue, with address and host key once the SSH server answers.
  returned: success
  type: dict
  sample:
    started: "2026-11-21T23:00:00Z"
    entered: "2026-11-21T23:01:00Z"
    address: 10.77.0.101
    host_key: ssh-ed25519 AAAA
    fingerprint: SHA256:x
"""

import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run
from ansible_collections.sled.fleet.plugins.module_utils.ssh_keys import public_keys

SPEC = {
    **API,
    "node": {"type": "str", "required": True},
    "authorized_keys": {"type": "list", "elements": "str", "no_log": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "wait": {"type": "int", "default": 0},
}
PAUSE = 1.0  # seconds between two looks


def ensure_rescue(client: Client, options: Json, check: bool) -> Json:
    """Starts, changes or ends a rescue."""
    name = options["node"]
    node = client.find("nodes", name)
    if node is None:
        raise SledError(f"node {name} does not exist")
    have = node.get("rescue") or {}
    if options["state"] == "absent":
        if have:
            client.delete_rescue(name, check)
        return {"changed": bool(have), "rescue": {}}
    keys = public_keys(name, options["authorized_keys"])
    changed = have.get("authorized_keys") != keys
    if changed:
        have = client.put_rescue(name, keys, check)["rescue"]
    if options["wait"] and not check:
        have = entered(client, name, options["wait"])
    return {"changed": changed, "rescue": have}


def entered(client: Client, name: str, seconds: int) -> Json:
    """Waits until the node reports that its SSH server answers."""
    end = time.monotonic() + seconds
    while True:
        node = client.find("nodes", name) or {}
        rescue: Json = node.get("rescue") or {}
        if not rescue:
            raise SledError(f"the rescue of node {name} was ended by somebody else")
        if rescue.get("reason"):
            raise SledError(f"the rescue of node {name} failed: {rescue['reason']}")
        if rescue.get("entered"):
            return rescue
        if time.monotonic() >= end:
            raise SledError(f"waited {seconds} s for the SSH server of node {name}: {_where(node)}")
        time.sleep(PAUSE)


def _where(node: Json) -> str:
    """Why the SSH server of a node does not answer yet, as far as sledd knows, and what to look at."""
    name, phase = node.get("name") or node.get("mac"), node.get("status", {}).get("phase")
    if phase == "rescue":
        return (
            f"{name} runs the rescue system, and has not reported that the server answers:"
            " look at its console, or wait longer"
        )
    return (
        f"{name} has not booted the Sled system since; its phase is {phase or 'unknown'}:"
        " does it boot from the network?"
    )


def main() -> None:
    """Runs as an Ansible module."""
    run(
        AnsibleModule(SPEC, required_if=[("state", "present", ["authorized_keys"])], supports_check_mode=True),
        ensure_rescue,
    )


if __name__ == "__main__":
    main()
