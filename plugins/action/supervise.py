# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.supervise: glue.

Its documentation is in plugins/modules/supervise.py, the work in module_utils/supervise/.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils import following
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.options import API, connect
from ansible_collections.sled.fleet.plugins.module_utils.supervise.preview import preview
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Get, Settings, settings_of
from ansible_collections.sled.fleet.plugins.plugin_utils import supervisor
from ansible_collections.sled.fleet.plugins.plugin_utils.action import SledAction
from ansible_collections.sled.fleet.plugins.plugin_utils.variables import Variables

SPEC = {
    **API,
    **supervisor.SPEC,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "entry_methods": {"type": "list", "elements": "str", "choices": ["idle", "warm", "power", "wol", "manual"]},
    "wait": {"type": "float", "default": 0.0},
    "steps": {"type": "dict"},
    "sledc": {"type": "path"},
    "rollout": {"type": "str", "default": ""},
}
INSTEAD = {"supervise_entry_methods": "entry_methods", "supervise_steps": "steps", "supervise_sledc": "sledc"}


class ActionModule(SledAction):
    """Runs on the controller, for all its nodes in one process: their variables are those of the inventory."""

    SPEC = SPEC

    def work(self, options: Json, task_vars: dict[str, Any]) -> Json:
        """Follows the nodes to their ends, or in check mode tells what that would do."""
        names = list(dict.fromkeys(options["nodes"]))
        nodes = [settings_of(name, self._variables(name, task_vars, options)) for name in names]
        rollout, wait = options["rollout"], options["wait"]
        return self._follow(
            [replace(one, policy=replace(one.policy, wait=wait), rollout=rollout) for one in nodes], options
        )

    def _follow(self, nodes: list[Settings], options: Json) -> Json:
        if options["rollout"]:
            following.follow(options["rollout"])
        one = supervisor.Supervisor(connect(options), options)
        planned: dict[str, Json] = {}
        if self._task.check_mode or self._task.diff:
            read = one.runtime.read([node.node for node in nodes])
            planned = {node.name: preview(node.name, read.get(node.node)) for node in nodes}
        diff = [plan.pop("diff") for plan in planned.values() if "diff" in plan]
        if self._task.check_mode:
            return {**report(planned), "diff": diff, "failed": False}
        with one:
            return {**report(one.follow(nodes)), **({"diff": diff} if diff else {})}

    def _variables(self, name: str, task_vars: dict[str, Any], options: Json) -> Get:
        """How to read the variables of a node; options of the task replace them."""
        given = {variable: options[option] for variable, option in INSTEAD.items() if options[option] is not None}
        get = Variables(name, task_vars, self._templar.template)
        return lambda variable: given[variable] if variable in given else get(variable)


def report(outcomes: dict[str, Json]) -> Json:
    """The result of the task."""
    failed = {name: outcome["reason"] for name, outcome in outcomes.items() if outcome["state"] == "failed"}
    lines = [f"{name}: {reason}" for name, reason in failed.items()]
    return {
        "changed": any(outcome["changed"] for outcome in outcomes.values()),
        "failed": bool(failed),
        "msg": "; ".join([f"{len(outcomes) - len(failed)} of {len(outcomes)} nodes did not fail", *lines]),
        "nodes": outcomes,
        "not_done": sorted(failed),
    }
