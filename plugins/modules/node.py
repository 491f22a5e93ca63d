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
  - A node that is not declared yet needs O(name) and O(mac). O(name) with the O(mac) of a declared one renames it. MACs
    may be written with hyphens, too.
  - An absent option leaves the stored value as it is. An empty value removes it.
  - The module does not touch the machine.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
  - sled.fleet.api.attributes
options:
  # BEGIN words: node-options (contract/words/nodes.yml, by make generate)
  name:
    description: >-
      Unique host name. A change renames the node.
    type: str
  mac:
    description: >-
      MAC of the interface that boots, lower case with colons; neither a group address nor zero. It is changed only
      by a replacement, which keeps the history of the node.
    type: str
  macs:
    description: >-
      MACs of further interfaces that the machine may boot from, in the form of mac. A MAC belongs to one node.
    type: list
    elements: str
  architecture:
    description: >-
      Architecture of the machine. If it is absent, sledd uses V(x86_64).
    type: str
    choices: [x86_64, arm64]
  flavour:
    description: >-
      Kernel and drivers of the Sled system, cloud for virtual machines. If it is absent, sledd uses the boot
      server's setting.
    type: str
    choices: [cloud, generic]
  disk:
    description: >-
      Selector of the disk that images go to, for bindings without one. Terms are joined by commas, as in
      smallest,transport:nvme; exactly one disk must match.
    type: str
  keep_disks:
    description: >-
      Selectors of disks that are never written.
    type: list
    elements: str
  data_disks:
    description: >-
      Disks whose data survives images. No image writes them. A blank one gets a partition, a filesystem and a mount
      point with the next image; one with other content is refused. A tear-down empties them. A change takes effect
      with the next image.
    type: list
    elements: dict
    suboptions:
      name:
        description: >-
          Name, unique within the node. The partition is called sled-NAME.
        type: str
        required: true
      disk:
        description: >-
          Selector of the disk. Exactly one local disk must match.
        type: str
        required: true
      filesystem:
        description: >-
          Filesystem that the installed system makes on a blank disk. If it is absent, sledd uses V(ext4).
        type: str
        choices: [ext4, xfs, btrfs]
      mount:
        description: >-
          Where the installed system mounts it.
        type: str
        required: true
  boot_order:
    description: >-
      What UEFI firmware boots first; keep leaves it unchanged. It is set whenever the node is imaged, and compared
      with what its system reports then. A change takes effect with the next image. If it is absent, sledd uses
      V(keep).
    type: str
    choices: [keep, disk, network]
  network:
    description: >-
      Network of the installed system. image is what the image brings. dhcp is DHCP on the interface that booted. A
      mapping declares interfaces, in a subset of the language of netplan. Both are in place of all that the image
      has. A change takes effect with the next image. If it is absent, sledd uses V(image).
    type: raw
  admission:
    description: >-
      Least level at which a machine is admitted as the node. The site or the binding may require a higher one. If
      it is absent, sledd uses V(open).
    type: str
    choices: [open, expected, proven, attested]
  bmc:
    description: >-
      Address of its power control. The playbooks have the credentials.
    type: dict
    suboptions:
      driver:
        description: >-
          Name of the power driver, which the playbooks know.
        type: str
        required: true
      address:
        description: >-
          Host name or IP address.
        type: str
      port:
        description: >-
          Its port. Default: the driver's.
        type: int
  labels:
    description: >-
      Labels for selection, free to choose.
    type: dict
  # END words
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
from ansible_collections.sled.fleet.plugins.module_utils import words
from ansible_collections.sled.fleet.plugins.module_utils.objects import ensure_node
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run

SPEC = {
    **API,
    **words.NODE_OPTIONS,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def main() -> None:
    """Runs as an Ansible module."""
    run(AnsibleModule(SPEC, required_one_of=[("name", "mac")], supports_check_mode=True), ensure_node)


if __name__ == "__main__":
    main()
