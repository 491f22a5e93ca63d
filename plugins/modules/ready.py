#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.ready: spec and glue; the work is in module_utils/supervise/watch.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: ready
short_description: Waits until nodes have what their bindings request
version_added: 0.1.0
description:
  - Waits until sledd reports that each node's binding is satisfied, or with O(phase), until the node is in that phase.
    A node without a binding must have ended its last plan.
  - An observation of an earlier generation counts neither as success nor as failure.
  - When it fails, C(msg) has one line for each node that is not ready, with step, exit code and reason, and RV(nodes)
    has the end of its log.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
attributes:
  check_mode:
    description: Polls once and does not wait or fail, because what it would wait for was not started.
    support: full
  diff_mode:
    description: The module changes nothing, so it has no difference to show.
    support: full
options:
  nodes:
    description: MACs or names of the nodes.
    type: list
    elements: str
    required: true
  phase:
    description: Phase to wait for. Without it, the state that each node's binding requests.
    type: str
    # BEGIN words: ready-phases
    choices:
      - idle
      - booting
      - wiping
      - writing
      - configuring
      - capturing
      - starting
      - operational
      - unconfirmed
      - wiped
      - captured
      - rescue
    # END words
  generation:
    description: Lowest generation that counts, as RV(sled.fleet.binding#module:generation). Without it that of each
      node's present binding.
    type: int
  stage:
    description:
      - The stage to wait for, without O(phase). With V(entered), until the node executes its plan; with V(starting),
        until the installed system is started; with V(done), until the binding is satisfied. Later stages count too.
    type: str
    choices: [entered, starting, done]
    default: done
  known:
    description: The C(status.since) of a known failure. Only a later failure counts.
    type: str
  require:
    description: Number of nodes that must be ready, or V(all). The wait ends as soon as that many are ready.
    type: str
    default: all
  fail_fast:
    description: Fail as soon as too many nodes have failed for O(require) to be met. Otherwise wait for the outcome of
      every node.
    type: bool
    default: true
  wait:
    description: Longest time to wait, in seconds.
    type: float
    default: 1800.0
  silent:
    description:
      - Longest time without movement of a node, in seconds, by step (V(wipe), V(write), V(capture), V(configure) and
        so on). V(any) is the limit of every step without its own, and is required. Without this option only O(wait)
        counts.
      - Movement is what advances, such as the bytes of a step, the next step or a start of the machine, not a
        repeated report. A node that moves is waited for up to O(wait), however slow it is. The silence of sledd is
        not that of a node, but ends the wait after 15 minutes.
    type: dict
    default: {}
  interval:
    description: Time between two polls, in seconds.
    type: float
    default: 2.0
seealso:
  - module: sled.fleet.binding
"""

EXAMPLES = r"""
- name: Wait for all nodes of the wave
  sled.fleet.ready:
    nodes: "{{ ansible_play_batch }}"
    wait: 900
  delegate_to: localhost
  run_once: true

- name: Wait as long as bytes are written, at most three days
  sled.fleet.ready:
    nodes: [n1]
    wait: 259200
    silent: {any: 600, write: 300}
  delegate_to: localhost

- name: Wait for nine of ten
  sled.fleet.ready:
    nodes: "{{ groups['label_rack_a'] }}"
    require: 9
    fail_fast: false
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
nodes:
  description: One entry per node.
  returned: always
  type: list
  elements: dict
  contains:
    node:
      description: The node, as in O(nodes).
      type: str
      returned: always
      sample: n1
    outcome:
      description: One of V(ready), V(failed) and V(pending).
      type: str
      returned: always
      sample: failed
    detail:
      description: Why it is not ready, in one line for people. Empty for a node that is ready.
      type: str
      returned: always
      sample: "write: code 5 integrity: digest mismatch"
    name:
      description: Its name.
      type: str
      returned: always
      sample: n1
    mac:
      description: Its MAC.
      type: str
      returned: always
      sample: "52:54:00:77:00:01"
    phase:
      description: Phase that was observed.
      type: str
      returned: always
      sample: failed
    generation:
      description: Generation that was observed.
      type: int
      returned: always
      sample: 3
    desired_generation:
      description: Generation of its binding.
      type: int
      returned: always
      sample: 3
    image:
      description: Image that was observed on its disk.
      type: str
      returned: always
      sample: debian-12-v1
    verb:
      description: Its running or last step.
      type: str
      returned: always
      sample: write
    code:
      description: Exit code of the step that failed.
      type: int
      returned: always
      sample: 5
    reason:
      description: Why it failed, as the node reported it.
      type: str
      returned: always
      sample: digest mismatch
    log:
      description: The end of its log.
      type: list
      elements: str
      returned: when RV(nodes[].outcome) is V(failed)
      sample: [digest mismatch]
ready:
  description: Nodes that are ready.
  returned: always
  type: list
  elements: str
  sample: [n1]
not_ready:
  description: Nodes that failed or are pending.
  returned: always
  type: list
  elements: str
  sample: [n2]
"""

import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SettingsError
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import Goal
from ansible_collections.sled.fleet.plugins.module_utils.supervise.patience import limits
from ansible_collections.sled.fleet.plugins.module_utils.supervise.watch import Target, Watch, report, wait
from ansible_collections.sled.fleet.plugins.module_utils.waiting import WAITABLE

SPEC = {
    **API,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "phase": {"type": "str", "choices": WAITABLE},
    "generation": {"type": "int"},
    "stage": {"type": "str", "choices": ["entered", "starting", "done"], "default": "done"},
    "known": {"type": "str"},
    "require": {"type": "str", "default": "all"},
    "fail_fast": {"type": "bool", "default": True},
    "wait": {"type": "float", "default": 1800.0},
    "silent": {"type": "dict", "default": {}},
    "interval": {"type": "float", "default": 2.0},
}


def required(text: str, nodes: list[str]) -> int:
    """How many nodes must be ready."""
    if text == "all":
        return len(nodes)
    if not text.isdecimal() or not 1 <= int(text) <= len(nodes):
        raise SettingsError(f"require {text!r}: want all, or a number from 1 to {len(nodes)}")
    return int(text)


def silences(given: Json) -> dict[str, float]:
    """The limits of silence."""
    try:
        return limits(given)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def work(client: Client, options: Json, check: bool) -> Json:
    """Waits, or in check mode polls once."""
    nodes = list(dict.fromkeys(options["nodes"]))
    target = Target(
        nodes=nodes,
        require=required(options["require"], nodes),
        goal=Goal(options["phase"], options["generation"], options["stage"], options["known"]),
        fail_fast=options["fail_fast"],
        timeout=options["wait"],
        silent=silences(options["silent"] or {}),
        interval=max(options["interval"], 0.1),
    )
    if check:
        watch = Watch(target)
        watch.look(client, time.monotonic)
        return {**report(client, watch), "failed": False}
    return report(client, wait(client, target))


def main() -> None:
    """Runs as an Ansible module."""
    run(AnsibleModule(SPEC, supports_check_mode=True), work)


if __name__ == "__main__":
    main()
