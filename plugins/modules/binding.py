#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.binding: spec and glue; the work is in module_utils/objects.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: binding
short_description: Wishes for an image on a node, or of it
version_added: 0.1.0
description:
  - Declares which image a node gets, and how, or that its disk becomes an image; or takes the wish away, which leaves the machine as it is.
  - What no option says stays as it is stored. An empty value takes the old one away.
  - A change of image, disk, hostname, user data, keys or kernel arguments raises the generation, so that the node is imaged again
    at its next boot, or at once when it waits in the Sled system. This module does not switch power.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
  - sled.fleet.api.attributes
options:
  node:
    description: MAC or name of the node.
    type: str
    required: true
  image:
    description: Name of a registered image. The empty string asks for a wipe only. It or O(capture) is needed for a node that is not
      bound yet.
    type: str
  capture:
    description: Name under which the content of the node's disk is to be registered as an image. Journals are replayed, else
      the disk is only read; the node then starts its own system again. Instead of O(image).
    type: str
  disk:
    description: Disk selector. Without it the node's.
    type: str
  wipe:
    description: What a wipe does. sledd takes an absent one for V(clear).
    type: str
    choices: [clear, signatures]
  mode:
    description:
      - V(full) writes all of the image. V(delta) writes what differs from what is on the disk, V(auto) whichever is faster; with these
        nothing is wiped before.
      - sledd takes an absent one for V(full).
    type: str
    choices: [full, delta, auto]
  verify:
    description: How much of what was written is read back. sledd takes an absent one for V(sample).
    type: str
    choices: [none, sample, full]
  allow_unsigned:
    description: Let an image without a signature pass. It counts only at a site whose nodes allow it (role C(initrd),
      C(initrd_unsigned_images)).
    type: bool
  boot:
    description: How the installed system is started. sledd takes an absent one for V(auto), kexec where there is a kernel to load.
    type: str
    choices: [auto, kexec, reboot]
  hostname:
    description: Host name of the installed system. Without it the node's name.
    type: str
  authorized_keys:
    description: SSH public keys for the installed system.
    type: list
    elements: str
  user_data:
    description:
      - cloud-init user data. sledd gives out only its digest, which is what is compared.
      - Needed, or V('') to drop it, whenever a binding that has user data is changed.
    type: str
  kernel_arguments:
    description: Added to the installed kernel's own on kexec.
    type: str
  owner:
    description:
      - Who declares the binding, such as C(terraform:rack-a). A binding that has an owner keeps it, whoever changes the rest, so that
        playbooks go on working for nodes that Terraform declares.
      - With O(state=absent) it must be named, or O(take_over) given, for a binding that has one.
    type: str
  take_over:
    description: Change the owner of a binding that has one, to O(owner), or without that to nobody; or take such a binding away.
    type: bool
    default: false
  reimage:
    description: Raise the generation even when nothing changed. The task then always reports a change.
    type: bool
    default: false
  above:
    description: With O(reimage), the generation before whoever asks began, as a rollout remembers it. A wish that is above it was raised
      then, and is not raised again.
    type: int
  state:
    description: Whether the node is bound.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: sled.fleet.ready
"""

EXAMPLES = r"""
- name: Wish for Debian
  sled.fleet.binding:
    node: "{{ inventory_hostname }}"
    image: debian-12-v1
    authorized_keys: ["{{ lookup('ansible.builtin.file', '~/.ssh/id_ed25519.pub') }}"]
  delegate_to: localhost
  register: wish

- name: Wait for it
  sled.fleet.ready:
    nodes: ["{{ inventory_hostname }}"]
    generation: "{{ wish.generation }}"
  delegate_to: localhost

- name: Make an image of what a node runs
  sled.fleet.binding:
    node: n1
    capture: golden-1
  delegate_to: localhost

- name: Wipe a node and let it wait
  sled.fleet.binding:
    node: n1
    image: ""
  delegate_to: localhost
"""

RETURN = r"""
binding:
  description: The binding as stored, without its user data; in check mode as it would be.
  returned: success
  type: dict
  sample: {node: n1, mac: "52:54:00:77:00:01", image: debian-12-v1, generation: 3, revision: 42, satisfied: false}
generation:
  description: Generation of the binding, to wait for. In check mode the present one, 0 when there is none.
  returned: when O(state=present)
  type: int
  sample: 3
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils.objects import ensure_binding
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run

SPEC = {
    **API,
    "node": {"type": "str", "required": True},
    "image": {"type": "str"},
    "capture": {"type": "str"},
    "disk": {"type": "str"},
    "wipe": {"type": "str", "choices": ["clear", "signatures"]},
    "mode": {"type": "str", "choices": ["full", "delta", "auto"]},
    "verify": {"type": "str", "choices": ["none", "sample", "full"]},
    "allow_unsigned": {"type": "bool"},
    "boot": {"type": "str", "choices": ["auto", "kexec", "reboot"]},
    "hostname": {"type": "str"},
    "authorized_keys": {"type": "list", "elements": "str", "no_log": False},
    "user_data": {"type": "str", "no_log": True},
    "kernel_arguments": {"type": "str"},
    "owner": {"type": "str"},
    "take_over": {"type": "bool", "default": False},
    "reimage": {"type": "bool", "default": False},
    "above": {"type": "int"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def main() -> None:
    """Runs as an Ansible module."""
    run(AnsibleModule(SPEC, mutually_exclusive=[("image", "capture")], supports_check_mode=True), ensure_binding)


if __name__ == "__main__":
    main()
