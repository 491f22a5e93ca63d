#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.ready: spec and glue; the work is in module_utils/waiting.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: ready
short_description: Waits until nodes have done what is wished
version_added: 0.1.0
description:
  - Waits until nodes were observed in a phase, of the generation that is wished of them. Without O(phase) that is C(operational) for
    a binding with an image, C(captured) for one that captures, else C(wiped).
  - What was observed of an earlier generation counts neither as success nor as failure.
  - When it fails, C(msg) says for each node why it is not ready, with step, exit code and reason, and RV(nodes) has the end of its log.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
attributes:
  check_mode:
    description: Looks once and does not wait or fail, because what it would wait for was not started.
    support: full
  diff_mode:
    description: The module changes nothing, so there is no difference to show.
    support: full
options:
  nodes:
    description: MACs or names of the nodes.
    type: list
    elements: str
    required: true
  phase:
    description: Phase to wait for. Without it what each node's binding asks for.
    type: str
    choices: [idle, booting, wiping, writing, configuring, capturing, starting, operational, wiped, captured, rescue]
  generation:
    description: Lowest generation that counts, as RV(sled.fleet.binding#module:generation). Without it each node's present binding's.
    type: int
  stage:
    description:
      - How far, without O(phase). V(entered) is as soon as the node does the steps of its plan, V(starting) as soon as the installed
        system is started, V(done) when all is done that is wished. A node that is further than that counts too.
    type: str
    choices: [entered, starting, done]
    default: done
  known:
    description: A failure that is known, by C(status.since) of the node. It does not count, only a later one.
    type: str
  require:
    description: How many of the nodes suffice, a number or V(all). It ends as soon as so many are ready.
    type: str
    default: all
  fail_fast:
    description: Fail as soon as too many nodes have failed for O(require) to be met. Else wait for the verdict on every node.
    type: bool
    default: true
  wait:
    description: Longest time to wait, in seconds.
    type: float
    default: 1800.0
  interval:
    description: Time between two looks, in seconds.
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

- name: Nine of ten will do
  sled.fleet.ready:
    nodes: "{{ groups['label_rack_a'] }}"
    require: 9
    fail_fast: false
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
nodes:
  description: One entry a node.
  returned: always
  type: list
  elements: dict
  contains:
    node: {description: The node as it was asked for., type: str, returned: always, sample: n1}
    outcome: {description: One of C(ready), C(failed) and C(pending)., type: str, returned: always, sample: failed}
    name: {description: Its name., type: str, returned: always, sample: n1}
    mac: {description: Its MAC., type: str, returned: always, sample: "52:54:00:77:00:01"}
    phase: {description: Phase that was observed., type: str, returned: always, sample: failed}
    generation: {description: Generation that was observed., type: int, returned: always, sample: 3}
    wished_generation: {description: Generation of its binding., type: int, returned: always, sample: 3}
    image: {description: Image that was observed on its disk., type: str, returned: always, sample: debian-12-v1}
    verb: {description: Its running or last step., type: str, returned: always, sample: write}
    code: {description: Exit code of the step that failed., type: int, returned: always, sample: 5}
    reason: {description: Why it failed., type: str, returned: always, sample: digest mismatch}
    log: {description: The end of its log., type: list, elements: str, returned: when the outcome is C(failed), sample: ["digest mismatch"]}
ready:
  description: Nodes that are ready.
  returned: always
  type: list
  elements: str
  sample: [n1]
not_ready:
  description: Nodes that failed or are not there yet.
  returned: always
  type: list
  elements: str
  sample: [n2]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SettingsError
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run
from ansible_collections.sled.fleet.plugins.module_utils.waiting import Wish, look, report, wait

PHASES = ["idle", "booting", "wiping", "writing", "configuring", "capturing", "starting", "operational", "wiped", "captured", "rescue"]
SPEC = {
    **API,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "phase": {"type": "str", "choices": PHASES},
    "generation": {"type": "int"},
    "stage": {"type": "str", "choices": ["entered", "starting", "done"], "default": "done"},
    "known": {"type": "str"},
    "require": {"type": "str", "default": "all"},
    "fail_fast": {"type": "bool", "default": True},
    "wait": {"type": "float", "default": 1800.0},
    "interval": {"type": "float", "default": 2.0},
}


def required(text: str, nodes: list[str]) -> int:
    """How many nodes must be ready."""
    if text == "all":
        return len(nodes)
    if not text.isdecimal() or not 1 <= int(text) <= len(nodes):
        raise SettingsError(f"require {text!r}: want all, or a number from 1 to {len(nodes)}")
    return int(text)


def work(client: Client, options: Json, check: bool) -> Json:
    """Waits, or in check mode looks once."""
    nodes = list(dict.fromkeys(options["nodes"]))
    wish = Wish(
        nodes=nodes,
        require=required(options["require"], nodes),
        phase=options["phase"],
        generation=options["generation"],
        stage=options["stage"],
        known=options["known"],
        fail_fast=options["fail_fast"],
        timeout=options["wait"],
        interval=max(options["interval"], 0.1),
    )
    if check:
        return {**report(client, wish, look(client, wish)), "failed": False}
    return report(client, wish, wait(client, wish))


def main() -> None:
    """Runs as an Ansible module."""
    run(AnsibleModule(SPEC, supports_check_mode=True), work)


if __name__ == "__main__":
    main()
