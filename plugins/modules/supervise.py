#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Documentation and options of the action sled.fleet.supervise; what runs is plugins/action/supervise.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: supervise
short_description: Brings nodes to what their bindings request
version_added: 0.1.0
description:
  - Brings each node into the Sled system by the first entry method that works, follows its plan, and ends when all
    nodes have ended. The binding of each must exist (M(sled.fleet.binding)). A node whose binding is satisfied is left
    alone.
  - One process follows all nodes, by one event stream of sledd. Power is switched by the drivers of
    M(sled.fleet.power), with one session for each BMC.
  - A node whose binding is satisfied is verified over SSH, unless its C(supervise_verify) is V(none), 32 nodes at a
    time. Host name, boot ID and image must be those that sledd has. A node without an image, or with
    C(configure=none), is not verified.
  - A node that moves is not interrupted, however long it takes. A step that stands still for too long is tried again.
    C(reason) then names what was seen last.
  - What each node is entered by, and how long that may take, are variables of its inventory, see the notes.
  - Each attempt is an event C(entry) of the node. A system that does not confirm is started once more, from its disk,
    or from the network if it runs from memory (event C(fallback)), and given up after that (event C(lost)).
  - The task can be interrupted and repeated at any time, because sledd has the record. It ends with its playbook, also
    when that is killed. A node that executes its plan is only followed. If sledd is away, the nodes are left alone, and
    fail after 15 minutes of that.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
  - sled.fleet.supervisor
options:
  nodes:
    description: Names of the nodes in the inventory.
    type: list
    elements: str
    required: true
  entry_methods:
    description:
      - Entry methods in the order in which they are tried, for all nodes, instead of C(supervise_entry_methods) of
        each.
      - With an empty list no node is entered. The task follows nodes that something else starts, for example
        M(sled.fleet.warm), or a change of the binding of nodes that wait in the Sled system. See O(wait).
    type: list
    elements: str
    choices: [idle, warm, power, wol, manual]
  wait:
    description: With an empty list of O(entry_methods), seconds within which a node must start its plan. After that
      the timeouts of O(steps) count. With V(0) a node that neither executes its plan nor has ended it fails at once.
    type: float
    default: 0.0
  steps:
    description: Timeouts and failure policies, for all nodes, instead of C(supervise_steps) of each. The table in
      docs/rollouts.md has the defaults.
    type: dict
  sledc:
    description: The program C(sledc) for the architecture of all nodes, for the entry method V(warm), instead of
      C(supervise_sledc) of each. Without either C(sled_sledc), C(bin/sledc) in C(sled_dist), or C(build/bin/sledc) of
      the collection.
    type: path
  rollout:
    description: Name of a rollout to which the end of each node is reported when the node ends. Of a node with
      C(sled_hook_after) only a failure is reported, as more is to be done.
    type: str
    default: ""
attributes:
  check_mode:
    description: Reads the nodes, reports which disks would be wiped, and changes nothing.
    support: full
  diff_mode:
    description: Shows generation and image of each node before and after, and what is wiped.
    support: full
seealso:
  - module: sled.fleet.binding
  - module: sled.fleet.power
  - module: sled.fleet.warm
notes:
  - It is an action that runs on the controller, once for all nodes, with C(run_once).
  - Of each node it reads C(supervise_node) (its name or MAC in sledd, if that is not its name in the inventory),
    C(supervise_entry_methods), C(supervise_steps), C(supervise_sledc), C(supervise_verify), the variables C(power_*)
    of the role C(power), and for ssh C(ansible_host), C(ansible_port), C(ansible_user),
    C(ansible_ssh_private_key_file), C(ansible_ssh_common_args), C(ansible_ssh_extra_args) and C(ansible_become).
    Defaults of roles are not among them.
  - Warm starts and the verification run the program C(ssh), which must log in without a question. Pin the host key by
    C(ansible_ssh_common_args), as docs/admission.md describes. The verification accepts no other host key than the one
    that sledd has of the node.
"""

EXAMPLES = r"""
- name: Bring the wave to its bindings
  sled.fleet.supervise:
    nodes: "{{ ansible_play_batch }}"
  run_once: true
  register: wave

- name: Wait for a node that something else has started
  sled.fleet.supervise:
    nodes: ["{{ inventory_hostname }}"]
    entry_methods: []
    wait: 900

- name: Go on with a node that is done
  ansible.builtin.debug:
    msg: "{{ inventory_hostname }} was entered by {{ wave.nodes[inventory_hostname].entry_method }}"
"""

RETURN = r"""
nodes:
  description: One entry for each node, by its name in O(nodes).
  returned: always, but for an error of the options or of sledd
  type: dict
  contains:
    state:
      description: V(done), V(failed), or in check mode V(pending).
      type: str
      returned: always
      sample: done
    reason:
      description: Why it failed. Empty if it did not.
      type: str
      returned: always
      sample: "power failed: silent 912 of 900 s, because phase is operational; last moved: phase operational"
    entry_method:
      description: The entry method that was tried last. Empty for a node that was only followed.
      type: str
      returned: not in check mode
      sample: power
    changed:
      description: Whether an entry method was tried, or in check mode would be.
      type: bool
      returned: always
    fallback:
      description: Whether its system was started once more, because it did not confirm.
      type: bool
      returned: not in check mode
    generation:
      description: Generation of its binding.
      type: int
      returned: not in check mode
      sample: 3
    seconds:
      description: Time until its end.
      type: float
      returned: not in check mode
      sample: 94.5
    image:
      description: Image of its binding. Empty for a wipe.
      type: str
      returned: not in check mode, or if it is done
      sample: debian-12-v2
    wipes:
      description: What of its disks would be lost. Empty if nothing would.
      type: str
      returned: in check mode, if it is not done
      sample: "disk serial:LAB-0001 (wipe: empty)"
not_done:
  description: Nodes that failed.
  returned: as RV(nodes)
  type: list
  elements: str
  sample: [n2]
"""
