#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.rollout: spec and glue; the work is in module_utils/rollouts.py.

Playbooks run it by the action of the same name.
"""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout
short_description: Processes many nodes in waves
version_added: 0.1.0
description:
  - A rollout is the record of a run over many nodes. sledd stores it, divides the nodes into waves, and stops it when
    the canary fails or when more nodes fail than the budget allows. A playbook that was interrupted resumes the rollout
    by the same request.
  - The module reports the state of a node to sledd; it does nothing to nodes. C(playbooks/reimage.yml) shows its use.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
attributes:
  check_mode:
    description: Starts nothing and reports nothing to sledd; O(state=started) reports a change when there are nodes.
    support: full
  diff_mode:
    description: There is no difference to show.
    support: none
options:
  state:
    description:
      - V(started) starts a rollout of O(nodes), or resumes the unfinished one with the same O(desired) and waves.
        Without nodes, and without a rollout to resume, it does nothing.
      - V(running) waits for the pause before the wave of O(node), or O(wave), and starts these, if the rollout
        continues.
      - V(done) and V(failed) end the node's run, V(wave_ended) those of O(results). V(done) is refused for a node whose
        binding is not satisfied.
      - V(ended) returns the result. Nodes of O(nodes) that are still recorded as running become failed.
    type: str
    choices: [started, running, done, failed, wave_ended, ended]
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
  again:
    description: Image nodes whose binding is satisfied too.
    type: bool
    default: false
  node:
    description: MAC or name of the node. Required for O(state=done) and O(state=failed), and for O(state=running)
      without O(wave).
    type: str
  wave:
    description: MACs or names of the nodes of one wave, for O(state=running).
    type: list
    elements: str
  results:
    description: For O(state=wave_ended), dictionaries of C(state), C(reason) and C(entry_method) by node, as
      M(sled.fleet.supervise) returns them, or just the reason of a node that failed. Nodes whose end is recorded are
      left as they are. A node that cannot be V(done), because its binding is not satisfied, becomes V(failed).
    type: dict
    default: {}
  entry_method:
    description: Entry method by which the node got into the Sled system.
    type: str
  reason:
    description: Why it failed. Required for O(state=failed).
    type: str
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
  delegate_to: localhost

- name: Start a node
  sled.fleet.rollout:
    state: running
    name: "{{ rollout.name }}"
    node: "{{ inventory_hostname }}"
  register: run
  delegate_to: localhost
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
  description: Whether the node was started; with O(wave), the nodes that were started.
  returned: when O(state=running)
  type: raw
not_started:
  description: Why the other nodes of the wave were not started, by node.
  returned: when O(state=running) with O(wave)
  type: dict
  sample: {}
untouched:
  description: The same for people, a line for each reason.
  returned: when O(state=running) with O(wave)
  type: list
  elements: str
  sample: []
from:
  description: The generation before the rollout, by node that was started.
  returned: when O(state=running) with O(wave)
  type: dict
  sample: {n1: 3}
refused:
  description: Nodes that could not be V(done), and why.
  returned: when O(state=wave_ended)
  type: dict
  sample: {}
reason:
  description: Why it was not started.
  returned: when O(state=running)
  type: str
run:
  description: The node's run, as stored.
  returned: when O(state=running), O(state=done) or O(state=failed)
  type: dict
  sample: {node: n1, wave: 1, state: running, from: 3}
rollout:
  description: The rollout, without its nodes.
  returned: when O(state=running), O(state=done), O(state=failed) or O(state=ended)
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

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils import rollouts
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run

SPEC = {
    **API,
    "state": {
        "type": "str",
        "choices": ["started", "running", "done", "failed", "wave_ended", "ended"],
        "required": True,
    },
    "name": {"type": "str"},
    "kind": {"type": "str", "default": "reimage"},
    "desired": {"type": "str"},
    "nodes": {"type": "list", "elements": "str", "default": []},
    "among": {"type": "list", "elements": "str", "default": []},
    "canary": {"type": "str"},
    "batch": {"type": "str"},
    "max_unavailable": {"type": "dict"},
    "failure_budget": {"type": "str"},
    "pause": {"type": "int"},
    "again": {"type": "bool", "default": False},
    "node": {"type": "str"},
    "wave": {"type": "list", "elements": "str"},
    "results": {"type": "dict", "default": {}},
    "entry_method": {"type": "str"},
    "reason": {"type": "str"},
}
NEEDED = [
    ("state", "started", ["desired"]),
    ("state", "running", ["name"]),
    ("state", "running", ["node", "wave"], True),
    ("state", "wave_ended", ["name"]),
    ("state", "done", ["name", "node"]),
    ("state", "failed", ["name", "node", "reason"]),
    ("state", "ended", ["name"]),
]
FOLLOWED = ("running", "done", "failed", "wave_ended")  # states whose requests show that the rollout is followed


def work(client: Client, options: Json, check: bool) -> Json:
    """Brings the rollout, or its node, to the state."""
    if check:
        start = options["state"] == "started"
        return {
            "changed": bool(start and options["nodes"]),
            "started": False if options["wave"] is None else [],
            "reason": "check mode",
            "not_started": dict.fromkeys(options["wave"] or [], "check mode"),
            "untouched": [],
            "name": "",
            "waves": [],
        }
    if options["state"] == "started":
        return rollouts.start(client, options)
    if options["state"] == "running":
        start = rollouts.start_node if options["wave"] is None else rollouts.start_wave
        return start(client, options)
    if options["state"] == "wave_ended":
        return rollouts.end_wave(client, options)
    return rollouts.end(client, options) if options["state"] == "ended" else rollouts.end_node(client, options)


def main() -> None:
    """Runs as an Ansible module."""
    run(AnsibleModule(SPEC, required_if=NEEDED, supports_check_mode=True), work)


if __name__ == "__main__":
    main()
