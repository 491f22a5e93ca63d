#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.binding: spec and glue; the work is in module_utils/objects.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: binding
short_description: Binds a node to an image, or captures its disk as one
version_added: 0.1.0
description:
  - Declares which image a node gets and how, or that its disk becomes an image. C(state=absent) removes the binding
    and leaves the machine as it is.
  - An absent option leaves the stored value as it is. An empty value removes it.
  - A node that is not bound yet needs O(image) or O(capture). An empty O(image) requests a wipe only.
  - A capture replays journals, and otherwise only reads the disk. The node then starts its own system again.
  - With O(mode=delta) or O(mode=auto) nothing is wiped before the image is written.
  - O(allow_unsigned) has an effect only at a site whose nodes allow it (role C(initrd), C(initrd_unsigned_images)).
  - sledd returns only the digest of O(user_data), and compares that. Every change of a binding with user data must
    repeat O(user_data), or remove it with V('').
  - A binding keeps its O(owner) when others change the rest, so that playbooks keep working for nodes that Terraform
    declares. O(state=absent) requires the O(owner), or O(take_over).
  - Another image or disk raises the generation, so that the node is imaged again at its next boot, or at once when it
    waits in the Sled system. Another hostname, other user data or keys are for the next image, unless O(seed_changes)
    is V(reimage). The same content under another name, a default that is spelled out, the order of keys and their
    comments raise nothing. This module does not switch power.
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
  # BEGIN words: binding-options (contract/words/binding.yml, by make generate)
  image:
    description:
      - >-
        Name of a registered image.
      - "An empty value means: none, the disk is wiped and the node waits."
    type: str
  capture:
    description:
      - >-
        Name of the image that the node's disk becomes; the disk is only read. Instead of an image.
      - "An empty value means: none."
    type: str
  disk:
    description:
      - >-
        Selector of the disk. Exactly one disk must match.
      - "An empty value means: the node's."
    type: str
  partition:
    description:
      - >-
        Partition of the disk that an image of kind partition replaces: its number, part-label:NAME or
        part-uuid:UUID. Nothing is wiped, and every byte outside of it stays: nothing grows, and the
        boot order is not set. A capture makes an image of kind partition of it.
      - "An empty value means: none, the image is of the whole disk."
    type: str
  wipe:
    description:
      - >-
        How the disk is wiped before it is written, or all disks of a node without an image: only
        signatures, every block empty, every block overwritten, or by the drive itself.
      - If it is absent, sledd uses V(empty).
    type: str
    choices: [signatures, empty, clear, purge]
  wipe_method:
    description:
      - >-
        Command by which drives erase themselves, with the levels purge and clear of wipe. A command of
        which a drive estimates no time must be named.
      - If it is absent, sledd uses V(auto).
    type: str
    choices:
      - auto
      - nvme-format-user
      - nvme-format-crypto
      - nvme-sanitize-block
      - nvme-sanitize-crypto
      - nvme-sanitize-overwrite
      - scsi-sanitize-block
      - scsi-sanitize-crypto
      - scsi-sanitize-overwrite
      - ata-sanitize-block
      - ata-sanitize-crypto
      - ata-sanitize-overwrite
      - ata-security-erase
      - ata-security-erase-enhanced
      - mmc-sanitize
      - mmc-secure-erase
      - opal-psid-revert
  mode:
    description:
      - >-
        Write all of the image, only what differs from the disk, or whichever is faster.
      - If it is absent, sledd uses V(full).
    type: str
    choices: [full, delta, auto]
  verify:
    description:
      - >-
        How much of what was written, or without an image emptied, is read back.
      - If it is absent, sledd uses V(sample).
    type: str
    choices: [none, sample, full]
  transport:
    description:
      - >-
        How the image reaches the node. auto and multicast receive it from the multicast sender of the
        boot server, and fetch what does not come; without a sender, auto fetches everything and
        multicast is refused. unicast fetches everything.
      - If it is absent, sledd uses V(auto).
    type: str
    choices: [auto, multicast, unicast]
  allow_unsigned:
    description:
      - >-
        Accept an image without a signature. Works only where the site's Sled system allows it.
    type: bool
  configure:
    description:
      - >-
        system configures the system in the image. none starts the image as it was written, for systems
        that cannot be read (LUKS, ZFS, Windows): it gets no host name, keys or user data, and the node
        ends in phase unconfirmed.
      - If it is absent, sledd uses V(system).
    type: str
    choices: [system, none]
  grow:
    description:
      - >-
        What of a configured image grows to the end of a larger disk: the last partition and a root on
        LVM, as far as the image keeps nothing there, or none, now and when the installed system starts.
      - If it is absent, sledd uses V(last).
    type: str
    choices: [last, none]
  boot:
    description:
      - >-
        How the installed system is started. auto is kexec where there is a kernel to load, else reboot.
      - If it is absent, sledd uses V(auto).
    type: str
    choices: [auto, kexec, reboot]
  admission:
    description:
      - >-
        Least level at which a machine is admitted as the node. The node or the site may require a
        higher one, and a level at which it was admitted does not fall within a generation.
      - If it is absent, sledd uses V(open).
    type: str
    choices: [open, expected, proven, attested]
  handover:
    description:
      - >-
        The machine changes hands with each image: nothing that ran before it counts, nobody is admitted
        before a reset, and all disks that are not kept are overwritten first. Setting it images the
        node again. Another owner than of the image before implies it.
    type: bool
  seed_changes:
    description:
      - >-
        When a change of host name, keys or user data takes effect: with the next image, or by imaging
        the node again.
      - If it is absent, sledd uses V(next_image).
    type: str
    choices: [next_image, reimage]
  hostname:
    description:
      - >-
        Host name of the installed system.
      - "An empty value means: the node's name."
    type: str
  authorized_keys:
    description:
      - >-
        SSH public keys of the installed system.
      - "An empty value means: none."
    type: list
    elements: str
  user_data:
    description:
      - >-
        cloud-init user data. Write-only; only a hash of it is returned.
      - "An empty value means: none."
    type: str
  kernel:
    description:
      - >-
        Name of an image of kind kernel, for an image of kind root: the Sled system is started on that
        kernel first, at each boot, and the root then runs on it.
      - "An empty value means: the kernel of the Sled system."
    type: str
  kernel_arguments:
    description:
      - >-
        Added to the arguments of the kernel that is started: the installed one, when it is started by
        kexec, a payload, or the one that kernel names.
      - "An empty value means: none."
    type: str
  owner:
    description:
      - >-
        Who declares the binding. Once an owner is set, a request that changes the owner, or removes the
        binding without naming the owner, is refused unless take_over is requested. Other attributes can
        be changed if the owner is kept.
      - "An empty value means: nobody."
    type: str
  # END words
  take_over:
    description: Change the owner of a binding that has one, to O(owner), or without that to nobody; or remove such a
      binding.
    type: bool
    default: false
  reimage:
    description: Raise the generation even if nothing changed. The task then always reports a change.
    type: bool
    default: false
  above:
    description: With O(reimage), the generation before the caller started, as a rollout records it. A binding with a
      higher generation was raised since, and is not raised again.
    type: int
  state:
    description: Whether the node is bound.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: sled.fleet.supervise
"""

EXAMPLES = r"""
- name: Bind the node to Debian
  sled.fleet.binding:
    node: "{{ inventory_hostname }}"
    image: debian-12-v1
    authorized_keys: ["{{ lookup('ansible.builtin.file', '~/.ssh/id_ed25519.pub') }}"]
  delegate_to: localhost

- name: Bring it to that
  sled.fleet.supervise:
    nodes: ["{{ inventory_hostname }}"]

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
  description: Generation of the binding, to wait for; in check mode the one that it would have.
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
    # BEGIN words: binding-spec
    "image": {"type": "str"},
    "capture": {"type": "str"},
    "disk": {"type": "str"},
    "partition": {"type": "str"},
    "wipe": {"type": "str", "choices": ["signatures", "empty", "clear", "purge"]},
    "wipe_method": {
        "type": "str",
        "choices": [
            "auto",
            "nvme-format-user",
            "nvme-format-crypto",
            "nvme-sanitize-block",
            "nvme-sanitize-crypto",
            "nvme-sanitize-overwrite",
            "scsi-sanitize-block",
            "scsi-sanitize-crypto",
            "scsi-sanitize-overwrite",
            "ata-sanitize-block",
            "ata-sanitize-crypto",
            "ata-sanitize-overwrite",
            "ata-security-erase",
            "ata-security-erase-enhanced",
            "mmc-sanitize",
            "mmc-secure-erase",
            "opal-psid-revert",
        ],
    },
    "mode": {"type": "str", "choices": ["full", "delta", "auto"]},
    "verify": {"type": "str", "choices": ["none", "sample", "full"]},
    "transport": {"type": "str", "choices": ["auto", "multicast", "unicast"]},
    "allow_unsigned": {"type": "bool"},
    "configure": {"type": "str", "choices": ["system", "none"]},
    "grow": {"type": "str", "choices": ["last", "none"]},
    "boot": {"type": "str", "choices": ["auto", "kexec", "reboot"]},
    "admission": {"type": "str", "choices": ["open", "expected", "proven", "attested"]},
    "handover": {"type": "bool"},
    "seed_changes": {"type": "str", "choices": ["next_image", "reimage"]},
    "hostname": {"type": "str"},
    "authorized_keys": {"type": "list", "elements": "str", "no_log": False},
    "user_data": {"type": "str", "no_log": True},
    "kernel": {"type": "str"},
    "kernel_arguments": {"type": "str"},
    "owner": {"type": "str"},
    # END words
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
