#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Documentation and options of the action sled.fleet.warm; what runs is plugins/action/warm.py, on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: warm
short_description: Starts the Sled system out of a node's running one, without its firmware
version_added: 0.1.0
description:
  - Copies kernel and initrd of the Sled system into the memory of the node by the connection of the inventory,
    compares their SHA-256 there, loads them with kexec_file_load(2) and ends the running system. The node then does
    what its binding requests.
  - Refused for a node whose binding is satisfied, since it would only start its own disk again.
  - The task ends when the jump is ordered. M(sled.fleet.supervise) waits for the result.
  - A task that fails leaves the running system as it was.
  - The node needs a shell, C(mount) and C(sha256sum), and no Python. Root, or a user with C(become).
  - A ticket of sledd is appended to the initrd on the node, in memory. It proves to sledd that the machine that
    starts is the node (contract/admission.md), and ends after 15 minutes. It is in no command and no result.
  - The running system is ended by C(systemctl kexec) where that jumps (systemd 255, or a program C(kexec)). Else its
    services are stopped, filesystems made read-only, and C(sledc) jumps.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
options:
  node:
    description: MAC or name of the node. The default is the host of the inventory.
    type: str
  cache:
    description: Folder on the controller that keeps kernel and initrd, for all nodes. Its content may be deleted.
    type: path
    default: ~/.cache/sled/warm
  sledc:
    description: The program C(sledc) for the node's architecture, on the controller. Without it C(build/bin/sledc) of
      the collection.
    type: path
attributes:
  check_mode:
    description: Checks whether the running system supports it, and changes nothing.
    support: full
seealso:
  - module: sled.fleet.binding
  - module: sled.fleet.supervise
notes:
  - It is an action and runs for the node itself, not with C(delegate_to).
"""

EXAMPLES = r"""
- name: Image the node again, without its firmware
  sled.fleet.warm:

- name: Wait for it
  sled.fleet.supervise:
    nodes: ["{{ inventory_hostname }}"]
    entry_methods: []
    wait: 600
"""

RETURN = r"""
end:
  description: How the running system was ended, in words.
  returned: success
  type: str
  sample: systemctl kexec
node:
  description: The node, as named.
  returned: success
  type: str
  sample: n1
mac:
  description: MAC of the interface that it boots from.
  returned: success
  type: str
  sample: "52:54:00:77:00:01"
kernel_sha256:
  description: SHA-256 of the kernel that was started.
  returned: success, not in check mode
  type: str
initrd_sha256:
  description: SHA-256 of the initrd that was started.
  returned: success, not in check mode
  type: str
bytes:
  description: Number of bytes that were copied to the node.
  returned: success, not in check mode
  type: int
"""
