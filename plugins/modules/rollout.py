#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Documentation and options of the action sled.fleet.rollout; what runs is plugins/action/rollout.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout
short_description: Processes many nodes in waves
version_added: 0.1.0
description:
  - A rollout is the record of a run over many nodes. sledd stores it, divides the nodes into waves, and stops it when
    the canary fails or when more nodes fail than the budget allows. A playbook that was interrupted resumes the rollout
    by the same request.
  - The module reports to sledd; it does nothing to nodes. C(playbooks/reimage.yml) shows its use.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
attributes:
  check_mode:
    description: Sledd checks what O(state=started) requests and its limits, and starts nothing. The others do nothing.
    support: full
  diff_mode:
    description: There is no difference to show.
    support: none
options:
  state:
    description:
      - V(started) starts a rollout of O(nodes), or resumes the unfinished one with the same O(desired) and waves.
        Without nodes, and without a rollout to resume, it does nothing.
      - V(running) waits for the pause before O(wave), and starts its nodes, if the rollout continues.
      - V(wave_ended) ends the runs of the nodes of O(results).
      - V(ended) returns the result. Nodes of O(nodes) that are still recorded as running become failed.
    type: str
    choices: [started, running, wave_ended, ended]
    required: true
  name:
    description: Name of the rollout, as O(state=started) returned it. Required for all others.
    type: str
  kind:
    description: Kind of work on the nodes; prefix of the name. For O(state=started).
    type: str
    default: reimage
  desired:
    description: The desired state of all nodes, as a text for people; another text is another rollout. Required for
      O(state=started).
    type: str
  nodes:
    description: For O(state=started), MACs or names of the nodes to process, in order. For O(state=running) and
      O(state=ended), the nodes of this play.
    type: list
    elements: str
    default: []
  among:
    description: For O(state=started), all nodes of the play. A node whose binding is satisfied, but whose run in the
      resumed rollout never ended, is processed too.
    type: list
    elements: str
    default: []
  canary:
    description: Nodes of the first wave, a number or a percentage of all. One failure in it stops the rollout.
    type: str
  batch:
    description: Nodes of each wave after it, a number or a percentage of all. Without it, sledd uses V(100%).
    type: str
  max_unavailable:
    description: For each label, the most nodes with the same value of it in one wave.
    type: dict
  failure_budget:
    description: Nodes that may fail, a number or a percentage of all; one more stops the rollout. Without it, sledd
      uses V(0).
    type: str
  pause:
    description: Seconds between two waves.
    type: int
  max_wipes:
    description: Most nodes whose disks this rollout may wipe, first images included. sledd refuses a rollout of more
      as a whole, and names them. Each node counts that is still to be imaged or wiped. Without it there is no limit.
    type: int
  max_reimages:
    description: Like O(max_wipes), of the nodes that are imaged or wiped again; a node's first image does not count.
    type: int
  memory:
    description: For O(state=started), those of O(nodes) and O(among) whose disks are left as they are, since their
      image runs from memory; M(sled.fleet.bindings) returns them. They count for no limit.
    type: list
    elements: str
    default: []
  again:
    description: Image nodes whose binding is satisfied too.
    type: bool
    default: false
  wave:
    description: MACs or names of the nodes of one wave. Required for O(state=running).
    type: list
    elements: str
  results:
    description: For O(state=wave_ended), dictionaries of C(state), C(reason) and C(entry_method) by node, as
      M(sled.fleet.supervise) returns them, or just the reason of a node that failed. Nodes whose end is recorded are
      left as they are. A node that cannot be done, because its binding is not satisfied, becomes failed.
    type: dict
    default: {}
seealso:
  - module: sled.fleet.binding
notes:
  - It is an action that runs on the controller.
"""

EXAMPLES = r"""
- name: Start the rollout
  sled.fleet.rollout:
    state: started
    desired: image debian-12-v2
    nodes: "{{ ansible_play_hosts }}"
    canary: 1
    batch: 25%
    max_unavailable: {rack: 4}
    failure_budget: 5%
  register: rollout
  run_once: true

- name: Start the nodes of its first wave
  sled.fleet.rollout:
    state: running
    name: "{{ rollout.name }}"
    wave: "{{ rollout.waves[0] }}"
  run_once: true
"""

RETURN = r"""
name:
  description: Name of the rollout; empty when there is nothing to do.
  returned: when O(state=started)
  type: str
  sample: reimage-7
waves:
  description: The nodes to process now, wave by wave, by the names of the request.
  returned: when O(state=started)
  type: list
  elements: list
  sample: [[n1], [n2, n3]]
started:
  description: The nodes that were started.
  returned: when O(state=running)
  type: list
  elements: str
  sample: [n1]
not_started:
  description: Why the other nodes of the wave were not started, by node.
  returned: when O(state=running)
  type: dict
  sample: {}
untouched:
  description: The same for people, a line for each reason.
  returned: when O(state=running)
  type: list
  elements: str
  sample: []
from:
  description: The generation before the rollout, by node that was started.
  returned: when O(state=running)
  type: dict
  sample: {n1: 3}
refused:
  description: Nodes that could not be done, and why.
  returned: when O(state=wave_ended)
  type: dict
  sample: {}
rollout:
  description: The rollout, without its nodes.
  returned: when O(state=ended)
  type: dict
  sample: {name: reimage-7, state: running, counts: {waiting: 6, running: 1, done: 1, failed: 0}}
state:
  description: State of the rollout.
  returned: when O(state=ended)
  type: str
  sample: done
failures:
  description: The nodes of O(nodes) that failed, with their reasons.
  returned: when O(state=ended)
  type: dict
  sample: {n2: "write: code 5 integrity: digest mismatch"}
table:
  description: One line for each node of the rollout, failures first, and one for all.
  returned: when O(state=ended)
  type: list
  elements: str
"""
