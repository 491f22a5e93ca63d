#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Documentation and options of the action sled.fleet.waves; what runs is plugins/action/waves.py."""

from __future__ import annotations

DOCUMENTATION = r"""
module: waves
short_description: Carries out a rollout, wave by wave
version_added: 0.1.0
description:
  - For each wave it starts the nodes in the record of the rollout, if the rollout continues (M(sled.fleet.rollout)),
    binds them as their variables say (M(sled.fleet.bindings)), follows them to their ends (M(sled.fleet.supervise)),
    and records these. The next wave starts when all nodes have ended, after the pause of the rollout.
  - One process does it for all waves, so it costs a fraction of what tasks for each node would. A rollout with hooks
    leaves it after each wave, and with O(started) it does the part between the hooks before and after.
  - The failure of a node is recorded, and does not fail the task. The task fails if sledd does not answer.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
  - sled.fleet.supervisor
options:
  rollout:
    description: Name of the rollout, as M(sled.fleet.rollout) returned it.
    type: str
    required: true
  waves:
    description: Names of the nodes in the inventory, wave by wave, as M(sled.fleet.rollout) returned them. Required
      without O(started).
    type: list
    elements: list
    default: []
  started:
    description: Nodes of one wave that the record of the rollout has as running, each with its generation before the
      rollout, as RV(sled.fleet.rollout#module:from). They are bound and followed. Report the RV(results) with
      M(sled.fleet.rollout), O(sled.fleet.rollout#module:state=wave_ended).
    type: dict
    default: {}
  empty:
    description: Request empty disks instead of an image, as M(sled.fleet.bindings) does.
    type: bool
    default: false
  reimage:
    description: Raise the generations even if nothing changed, once in the rollout.
    type: bool
    default: false
attributes:
  check_mode:
    description: Does nothing. M(sled.fleet.bindings) reports what would be wiped.
    support: full
  diff_mode:
    description: M(sled.fleet.bindings) shows in check mode what would change.
    support: none
seealso:
  - module: sled.fleet.bindings
  - module: sled.fleet.rollout
  - module: sled.fleet.supervise
notes:
  - It is an action that runs on the controller, once for all nodes.
  - The task can be interrupted and repeated at any time, because sledd has the record. It ends with its playbook, also
    when that is killed.
"""

EXAMPLES = r"""
- name: Carry out the rollout
  sled.fleet.waves:
    rollout: "{{ rollout.name }}"
    waves: "{{ rollout.waves }}"
  run_once: true
"""

RETURN = r"""
results:
  description: With O(started), the result of each node from M(sled.fleet.supervise), or just the reason of one that
    could not be bound.
  returned: always
  type: dict
  sample: {n1: {state: done, reason: "", entry_method: power}}
"""
