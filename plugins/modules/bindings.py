#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Documentation and options of the action sled.fleet.bindings; what runs is plugins/action/bindings.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bindings
short_description: Binds many nodes as their variables say
version_added: 0.1.0
description:
  - Does for all nodes in one process what M(sled.fleet.binding) does for one. The attributes of each are the variables
    C(node_image), C(node_mode) and so on of its inventory; the role C(node) describes all. The variables C(image),
    C(wipe), C(wipe_method), C(mode), C(verify), C(allow_unsigned), C(boot), C(admission) and C(seed_changes) replace
    them, for the command line.
  - Who decides the image is one rule. What was selected stays until somebody selects again; C(image) selects, and
    C(node_image) where a node has neither an image nor a capture. A node that differs from C(node_image) is returned in
    RV(drift), and takes it with C(on_drift=reimage).
  - A binding with another owner than C(node_owner), such as one of Terraform, keeps its attributes, except for those
    of the command line.
  - The bindings are read as one list, and only those that differ are written.
  - This is no C(sled_bindings) of Terraform, which declares a map of nodes and images. Here the inventory is that map.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
options:
  nodes:
    description: Names of the nodes in the inventory, which are their names in sledd.
    type: list
    elements: str
    required: true
  empty:
    description: Request empty disks instead of an image. Only C(wipe) and C(wipe_method), or C(node_wipe) and
      C(node_wipe_method), are read then.
    type: bool
    default: false
  reimage:
    description: Raise the generations even if nothing changed.
    type: bool
    default: false
  above:
    description: With O(reimage), the generation of each node before the caller started, by node, as
      RV(sled.fleet.rollout#module:from). A binding with a higher generation was raised since, and is not raised again.
    type: dict
    default: {}
  supervised:
    description: Check the variables that M(sled.fleet.supervise) and M(sled.fleet.rollout) read before anything is
      bound, also those that are misspelled. A node with a wrong one is in RV(failures), and is not bound. The task
      fails if C(sled_rollout) is wrong.
    type: bool
    default: false
attributes:
  check_mode:
    description: Sledd checks everything and reports what would be wiped, and nothing is stored. An operator's token
      with the role read is enough, but for user data, which is compared only for the role operate.
    support: full
  diff_mode:
    description: Shows the declaration of each binding before and after.
    support: full
seealso:
  - module: sled.fleet.binding
  - module: sled.fleet.supervise
notes:
  - It is an action that runs on the controller, once for all nodes, with C(run_once).
"""

EXAMPLES = r"""
- name: Bind the nodes of the play
  sled.fleet.bindings:
    nodes: "{{ ansible_play_hosts }}"
  run_once: true
"""

RETURN = r"""
nodes:
  description: The nodes that are bound, by name, each with C(changed), C(generation), C(image), C(satisfied), and in
    check mode C(wipes).
  returned: always, but for an error of sledd
  type: dict
  sample: {n1: {changed: true, generation: 3, image: debian-12-v2, satisfied: false, wipes: "", memory: false}}
to_do:
  description: Those whose binding was changed or is not satisfied.
  returned: as RV(nodes)
  type: list
  elements: str
  sample: [n1]
hooked:
  description: Those with C(sled_hook_before) or C(sled_hook_after).
  returned: as RV(nodes)
  type: list
  elements: str
  sample: [n1]
interactive:
  description: Whether somebody can be asked, as ansible-playbook reads from a terminal.
  returned: as RV(nodes)
  type: bool
  sample: false
images:
  description: The images of all bindings.
  returned: as RV(nodes)
  type: list
  elements: str
  sample: [debian-12-v2]
memory:
  description: Nodes whose image runs from memory, so that their disks are left as they are.
  returned: as RV(nodes)
  type: list
  elements: str
  sample: [n4]
wipes:
  description: What of each node would be wiped and why, a line for each.
  returned: as RV(nodes), empty without check mode
  type: list
  elements: str
  sample: ["n1: serial:LAB-0001 (PM9A3, 1.9 TB), generation 1 -> 2, image d12 -> d13"]
drift:
  description: Nodes whose image is not what C(node_image) or the owner of the binding declares, a line for each kind.
  returned: as RV(nodes)
  type: list
  elements: str
  sample: ["n1, n2 are bound to image d13, as was selected, and not to node_image d12: -e on_drift=reimage takes that"]
failures:
  description: The nodes that could not be bound, and why.
  returned: as RV(nodes)
  type: dict
  sample: {}
"""
