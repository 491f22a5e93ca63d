#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.image: spec and glue; the work is in module_utils/objects.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image
short_description: Registers an image
version_added: 0.1.0
description:
  - Registers a published image under a name, or removes the registration. The file itself is not touched.
  - A name always means the same bytes. Other content under a registered name is an error; only URLs, labels and
    signature may change.
  - An image that is not registered yet needs O(digest), O(urls), O(bytes) and O(file_bytes).
  - Nodes write only images that are signed by a key of their site, unless the site allows unsigned ones.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
  - sled.fleet.api.attributes
options:
  # BEGIN words: image-options (contract/words/images.yml, by make generate)
  name:
    description: >-
      Name of the image.
    type: str
    required: true
  digest:
    description: >-
      SHA-256 of the index of the image, as sledc inspect prints it.
    type: str
  urls:
    description: >-
      Where nodes fetch the image, tried in turn. They can change while nodes are bound to it, and must have the
      same content.
    type: list
    elements: str
  bytes:
    description: >-
      Size of the raw disk, in bytes.
    type: int
  file_bytes:
    description: >-
      Size of the served file, in bytes.
    type: int
  used_bytes:
    description: >-
      Bytes of the disk that are in use. Default: not known.
    type: int
  signature:
    description: >-
      Ed25519 signature of statement, 64 bytes in base64, as sledc sign prints it. It can be added or replaced
      later.
    type: str
  statement:
    description: >-
      What signature is over, as sledc sign prints it, image 2 name=NAME line=LINE signed=DATE digest=DIGEST. Set
      both or neither.
    type: str
  architecture:
    description: >-
      Architecture of the system in it. If it is absent, sledd uses V(x86_64).
    type: str
    choices: [x86_64, arm64]
  kind:
    description: >-
      What the image holds: a whole disk, one partition, or one squashfs with a root filesystem or a kernel. Nodes
      are bound to disks, partitions, roots and payloads. If it is absent, sledd uses V(disk).
    type: str
    choices: [disk, partition, root, kernel]
  nfs:
    description: >-
      NFS export, HOST:/PATH, that has the unpacked image as DIGEST.squashfs, for kind root. Jobs with root net read
      it there.
    type: str
  container:
    description: >-
      How its container image is started, for kind root. Role image reads it from the registry.
    type: dict
    suboptions:
      reference:
        description: >-
          The container image, with the digest of its manifest.
        type: str
      entrypoint:
        description: >-
          Program and arguments before the command.
        type: list
        elements: str
      command:
        description: >-
          Arguments, or the whole command without an entry point.
        type: list
        elements: str
      environment:
        description: >-
          Variables, each as NAME=VALUE.
        type: list
        elements: str
      folder:
        description: >-
          Working directory. Default: /.
        type: str
      user:
        description: >-
          User and group, as numbers. Default: 0:0.
        type: str
  kernel:
    description: >-
      What its kernel is, for kind kernel. Role image reads it from the files.
    type: dict
    suboptions:
      release:
        description: >-
          Release of the kernel, as uname -r prints it.
        type: str
        required: true
      drivers:
        description: >-
          Its drivers of network interfaces, and nfsv3 and dm_verity if it has them, as lsmod shows them.
        type: list
        elements: str
  payload:
    description: >-
      How its kernel is started instead of an installed system, for kind kernel: an image has kernel or payload.
      Role image sets it.
    type: dict
    suboptions:
      format:
        description: >-
          How the kernel is loaded.
        type: str
        required: true
        choices: [linux, multiboot]
      arguments:
        description: >-
          Arguments of the kernel. The node replaces {address}, {mac}, {rsdp} (address of the ACPI tables) and {confirm}
          (URL of the confirmation).
        type: str
      real_mode:
        description: >-
          Enter the kernel in real mode, as loaders that call the BIOS need. For format linux. Default: false.
        type: bool
      confirm:
        description: >-
          How it reports that it runs: it requests the URL of the confirmation, its console shows console, or none,
          which ends in phase unconfirmed.
        type: str
        choices: [none, http, console]
      console:
        description: >-
          Text on the recorded console that confirms, for confirm console.
        type: str
      timeout:
        description: >-
          Seconds from the start to the confirmation. Default: 300.
        type: int
  labels:
    description: >-
      Labels for selection, free to choose.
    type: dict
  # END words
  key:
    description:
      - PEM file with the Ed25519 private key to sign the image with, on the machine that the module runs on.
      - The module computes the digest from the index of the image, in O(file) or at its URLs, and signs nothing if it
        is not the registered one. An image that the key has signed for the same name and line is not signed again.
    type: path
  line:
    description: Images that replace one another, for the statement. The default is the name without a version such as
      V(-v7) at its end.
    type: str
  file:
    description: The image on the machine that the module runs on. Without it the module reads the URLs; a captured
      image that is not signed yet is read from the server of the API.
    type: path
  state:
    description: Whether the image is registered. A bound image cannot be removed.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: sled.fleet.binding
"""

EXAMPLES = r"""
- name: Register an image
  sled.fleet.image:
    name: debian-12-v1
    digest: sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d
    urls: [http://10.77.0.1/images/8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d.raw.zst]
    bytes: 2147483648
    file_bytes: 312345678
    key: secrets/image.key
    file: build/debian-12-v1.raw.zst
  delegate_to: localhost

- name: Sign an image that a node has captured
  sled.fleet.image:
    name: golden
    key: secrets/image.key
  delegate_to: localhost
"""

RETURN = r"""
image:
  description: The image as registered.
  returned: success
  type: dict
  sample:
    name: debian-12-v1
    digest: sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d
    urls: ["http://10.77.0.1/images/8f3c.raw.zst"]
    bytes: 2147483648
    used_bytes: 912345088
    file_bytes: 312345678
    revision: 12
content:
  description: What was read from the image before it was signed.
  returned: when it was signed
  type: dict
  sample:
    digest: sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d
    kind: disk
    bytes: 2147483648
    used_bytes: 912345088
    file_bytes: 312345678
    partitions: [{content: ext4, start: 1048576, bytes: 2145386496, used_bytes: 912340992}]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils import words
from ansible_collections.sled.fleet.plugins.module_utils.objects import ensure_image
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run

SPEC = {
    **API,
    **words.IMAGE_OPTIONS,
    "key": {"type": "path", "no_log": False},
    "line": {"type": "str"},
    "file": {"type": "path"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def main() -> None:
    """Runs as an Ansible module."""
    module = AnsibleModule(
        SPEC,
        mutually_exclusive=[("signature", "key")],
        required_together=[("statement", "signature")],
        required_by={"line": ["key"], "file": ["key"]},
        supports_check_mode=True,
    )
    run(module, ensure_image)


if __name__ == "__main__":
    main()
