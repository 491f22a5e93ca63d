#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.rollout: spec and glue; the work is in module_utils/rollouts.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: rollout
short_description: Runs through a fleet in waves
version_added: 0.1.0
description:
  - A rollout is the record of a run over many nodes. sledd keeps it, divides the nodes into waves, and stops it when
    the canary fails or more nodes than the budget. A playbook that was interrupted resumes it by asking for the same
    again.
  - The module says to sledd where a node is; it does nothing to nodes. C(playbooks/reimage.yml) shows all of it.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
attributes:
  check_mode:
    description: Begins nothing and tells sledd nothing; O(state=begun) reports a change when there are nodes.
    support: full
  diff_mode:
    description: There is no difference to show.
    support: none
options:
  state:
    description:
      - V(begun) starts a rollout of O(nodes), or resumes the unfinished one of the same O(wish) and the same waves.
        Without nodes, and without a rollout to resume, it does nothing.
      - V(running) waits for the pause before the wave of O(node) and begins the node, if the rollout goes on.
      - V(done) and V(failed) end the node's run. V(done) is refused for a node whose binding is not satisfied.
      - V(ended) tells how it went. Nodes of O(nodes) that are still said to run are failed by it.
    type: str
    choices: [begun, running, done, failed, ended]
    required: true
  name:
    description: Name of the rollout, as O(state=begun) returned it. Needed for all others.
    type: str
  kind:
    description: What is done to the nodes; the name begins with it. For O(state=begun).
    type: str
    default: reimage
  wish:
    description: The desired state of all of them, for people; another text is another rollout. Needed for
      O(state=begun).
    type: str
  nodes:
    description: For O(state=begun), MACs or names of the nodes that have something to do, in order. For
      O(state=running) and O(state=ended), the nodes that this play does.
    type: list
    elements: str
    default: []
  among:
    description: For O(state=begun), all nodes of the play. One of them whose binding is satisfied, but whose run in the
      resumed rollout was never ended, has its turn too.
    type: list
    elements: str
    default: []
  canary:
    description: Nodes of the first wave, a number or a percentage of all. One failure in it stops the rollout.
    type: str
  batch:
    description: Nodes of each wave after it, a number or a percentage of all. sledd takes an absent one for V(100%).
    type: str
  max_unavailable:
    description: Name of a label to the most nodes with one value of it that one wave may hold.
    type: dict
  failure_budget:
    description: Nodes that may fail, a number or a percentage of all; one more stops the rollout. sledd takes an absent
      one for V(0).
    type: str
  pause:
    description: Seconds between two waves.
    type: int
  again:
    description: The rollout images nodes whose binding is satisfied too.
    type: bool
    default: false
  node:
    description: MAC or name of the node. Needed for O(state=running), O(state=done) and O(state=failed).
    type: str
  way:
    description: By which way the node came into the Sled system.
    type: str
  reason:
    description: Why it failed.
    type: str
seealso:
  - module: sled.fleet.binding
"""

EXAMPLES = r"""
- name: Begin
  sled.fleet.rollout:
    state: begun
    wish: image debian-12-v2
    nodes: "{{ ansible_play_hosts }}"
    canary: 1
    batch: 25%
    max_unavailable: {rack: 4}
    failure_budget: 5%
  register: rollout
  run_once: true
  delegate_to: localhost

- name: Begin a node
  sled.fleet.rollout:
    state: running
    name: "{{ rollout.name }}"
    node: "{{ inventory_hostname }}"
  register: run
  delegate_to: localhost
"""

RETURN = r"""
name:
  description: Name of the rollout, empty when there is nothing to do.
  returned: when O(state=begun)
  type: str
  sample: reimage-7
waves:
  description: The nodes to be done now, wave by wave, as they were asked for.
  returned: when O(state=begun)
  type: list
  elements: list
  sample: [[n1], [n2, n3]]
begun:
  description: Whether the node was begun.
  returned: when O(state=running)
  type: bool
reason:
  description: Why it was not.
  returned: when O(state=running)
  type: str
run:
  description: The node's run, as stored.
  returned: when O(state=running), O(state=done) or O(state=failed)
  type: dict
  sample: {node: n1, wave: 1, state: running, from: 3}
rollout:
  description: The rollout, without its nodes.
  returned: when something was said of it
  type: dict
  sample: {name: reimage-7, state: running, counts: {waiting: 6, running: 1, done: 1, failed: 0}}
state:
  description: State of the rollout.
  returned: when O(state=ended)
  type: str
  sample: done
failures:
  description: Those of O(nodes) that failed, and why.
  returned: when O(state=ended)
  type: dict
  sample: {n2: "write: code 5 integrity: digest mismatch"}
table:
  description: A line for each node of the rollout, failures first, and one for all.
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
    "state": {"type": "str", "choices": ["begun", "running", "done", "failed", "ended"], "required": True},
    "name": {"type": "str"},
    "kind": {"type": "str", "default": "reimage"},
    "wish": {"type": "str"},
    "nodes": {"type": "list", "elements": "str", "default": []},
    "among": {"type": "list", "elements": "str", "default": []},
    "canary": {"type": "str"},
    "batch": {"type": "str"},
    "max_unavailable": {"type": "dict"},
    "failure_budget": {"type": "str"},
    "pause": {"type": "int"},
    "again": {"type": "bool", "default": False},
    "node": {"type": "str"},
    "way": {"type": "str"},
    "reason": {"type": "str"},
}
NEEDED = [
    ("state", "begun", ["wish"]),
    ("state", "running", ["name", "node"]),
    ("state", "done", ["name", "node"]),
    ("state", "failed", ["name", "node", "reason"]),
    ("state", "ended", ["name"]),
]


def work(client: Client, options: Json, check: bool) -> Json:
    """Does what the state says."""
    if check:
        begun = options["state"] == "begun"
        return {
            "changed": bool(begun and options["nodes"]),
            "begun": False,
            "reason": "check mode",
            "name": "",
            "waves": [],
        }
    if options["state"] == "begun":
        return rollouts.begin(client, options)
    if options["state"] == "running":
        return rollouts.start(client, options)
    return rollouts.end(client, options) if options["state"] == "ended" else rollouts.say(client, options)


def main() -> None:
    """Runs as an Ansible module."""
    run(AnsibleModule(SPEC, required_if=NEEDED, supports_check_mode=True), work)


if __name__ == "__main__":
    main()
