#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.node: spec and glue; the work is in module_utils/objects.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node
short_description: Declares a node of the fleet
version_added: 0.1.0
description:
  - Declares a machine, changes its declaration, accepts a discovered one, or deletes one.
  - An absent option leaves the stored value as it is. An empty value removes it.
  - The module does not touch the machine.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
  - sled.fleet.api.attributes
options:
  name:
    description: Unique name. Required for a node that is not declared yet. With the O(mac) of a declared node, it
      renames the node.
    type: str
  mac:
    description: MAC of the interface that boots, with colons or hyphens. Needed for a node that is not declared yet.
    type: str
  macs:
    description: MACs of further interfaces that the machine may boot from. A MAC belongs to one node.
    type: list
    elements: str
  labels:
    description: All labels of the node, for selection.
    type: dict
  architecture:
    description: Architecture of the machine. sledd takes an absent one for V(x86_64).
    type: str
    choices: [x86_64, arm64]
  flavour:
    description: Kernel and drivers of the Sled system. Without it, the default of sledd applies.
    type: str
    choices: [cloud, generic]
  disk:
    description: Disk selector of bindings without one, such as V(serial:LAB-0001) or V(only).
    type: str
  keep_disks:
    description: Selectors of disks that are never touched.
    type: list
    elements: str
  data_disks:
    description:
      - Disks whose data survives images, at most 16. No image writes them, and a tear-down empties them.
      - A blank one gets a partition, a filesystem and a mount point with the next image; one with other content is
        refused. A change takes effect with the next image.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name, unique within the node. The partition is called C(sled-NAME).
        type: str
        required: true
      disk:
        description: Disk selector, such as V(serial:DATA-0001). Exactly one local disk must match.
        type: str
        required: true
      filesystem:
        description: Filesystem that the installed system makes. sledd takes an absent one for V(ext4).
        type: str
        choices: [ext4, xfs, btrfs]
      mount:
        description: Where the installed system mounts it, such as V(/srv/data).
        type: str
        required: true
  boot_order:
    description:
      - What UEFI firmware boots first; set whenever the node is imaged.
      - sledd takes an absent one for V(keep), which leaves it as it is.
      - Once the node is operational, the result has the firmware's order under C(status.os.boot_order) of RV(node).
    type: str
    choices: [keep, disk, network]
  admission:
    description:
      - Least level at which a machine is admitted as the node. The site or the binding may require a higher one.
      - sledd takes an absent one for V(open).
    type: str
    choices: [open, expected, proven, attested]
  bmc:
    description: How to reach the power control. Credentials stay with the playbooks.
    type: dict
    suboptions:
      driver:
        description: Name of the power driver. The module M(sled.fleet.power) knows the drivers.
        type: str
        required: true
      address:
        description: Name or address.
        type: str
      port:
        description: Port, if it is not the default of the driver.
        type: int
  state:
    description: Whether the node is declared. V(absent) also deletes a discovered one; a bound node cannot be deleted.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: sled.fleet.binding
"""

EXAMPLES = r"""
- name: Declare the nodes of the rack
  sled.fleet.node:
    name: "{{ inventory_hostname }}"
    mac: "{{ mac }}"
    disk: only
    labels:
      rack: a
    bmc:
      driver: ipmi
      address: "{{ bmc_address }}"
  delegate_to: localhost

- name: Forget a node
  sled.fleet.node:
    mac: 52:54:00:77:00:09
    state: absent
  delegate_to: localhost
"""

RETURN = r"""
node:
  description: The node as stored, with its status; in check mode its declaration as it would be.
  returned: success
  type: dict
  sample:
    mac: 52:54:00:77:00:01
    name: n1
    disk: only
    declared: true
    revision: 17
    status: {phase: idle, generation: 0}
activity:
  description:
    - What the node does, for deciding how it gets its plan. V(working) executes the plan of its binding. V(waiting) is
      in the Sled system, or just coming up there, and polls for its plan. V(running) runs an installed system.
      V(unknown) is none of these.
  returned: success
  type: str
  sample: waiting
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils.objects import ensure_node
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run

SPEC = {
    **API,
    "name": {"type": "str"},
    "mac": {"type": "str"},
    "macs": {"type": "list", "elements": "str"},
    "labels": {"type": "dict"},
    "architecture": {"type": "str", "choices": ["x86_64", "arm64"]},
    "flavour": {"type": "str", "choices": ["cloud", "generic"]},
    "disk": {"type": "str"},
    "keep_disks": {"type": "list", "elements": "str"},
    "data_disks": {
        "type": "list",
        "elements": "dict",
        "options": {
            "name": {"type": "str", "required": True},
            "disk": {"type": "str", "required": True},
            "filesystem": {"type": "str", "choices": ["ext4", "xfs", "btrfs"]},
            "mount": {"type": "str", "required": True},
        },
    },
    "boot_order": {"type": "str", "choices": ["keep", "disk", "network"]},
    "admission": {"type": "str", "choices": ["open", "expected", "proven", "attested"]},
    "bmc": {
        "type": "dict",
        "options": {
            "driver": {"type": "str", "required": True},
            "address": {"type": "str"},
            "port": {"type": "int"},
        },
    },
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def main() -> None:
    """Runs as an Ansible module."""
    run(AnsibleModule(SPEC, required_one_of=[("name", "mac")], supports_check_mode=True), ensure_node)


if __name__ == "__main__":
    main()
