# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.bindings: glue.

Its documentation is in plugins/modules/bindings.py, the work in module_utils/bulk.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils.bulk import ensure_bindings
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.known import check_rollout, check_variables
from ansible_collections.sled.fleet.plugins.module_utils.options import API, connect
from ansible_collections.sled.fleet.plugins.module_utils.rollouts import by_value, some
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import settings_of
from ansible_collections.sled.fleet.plugins.module_utils.words import BINDING_VARIABLES
from ansible_collections.sled.fleet.plugins.plugin_utils.action import SledAction
from ansible_collections.sled.fleet.plugins.plugin_utils.variables import Variables

# Read where ansible-playbook loads the class: the process of a task has another standard input.
INTERACTIVE = sys.stdin is not None and sys.stdin.isatty()
SPEC = {
    **API,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "empty": {"type": "bool", "default": False},
    "reimage": {"type": "bool", "default": False},
    "above": {"type": "dict", "default": {}},
    "supervised": {"type": "bool", "default": False},
}


class ActionModule(SledAction):
    """Runs on the controller, once for all nodes: their variables are those of the inventory."""

    SPEC = SPEC

    def elsewhere(self, given: Iterable[str]) -> str:
        """Attributes of a binding, which sled.fleet.binding and Terraform's sled_bindings have."""
        return elsewhere(given)

    def work(self, options: Json, task_vars: dict[str, Any]) -> Json:
        """Binds the nodes, or in check mode tells what that would do."""
        names = dict.fromkeys(options["nodes"])
        nodes = {name: Variables(name, task_vars, self._templar.template) for name in names}
        faults: dict[str, str] = {}
        if options["supervised"]:
            faults = self._faults(nodes, task_vars)
        sound = {name: get for name, get in nodes.items() if name not in faults}
        bound, failures = ensure_bindings(connect(options), sound, options, dry=self._task.check_mode)
        hooked = [name for name, get in nodes.items() if get("sled_hook_before") or get("sled_hook_after")]
        return {**report(bound, faults | failures), "hooked": hooked, "interactive": INTERACTIVE}

    def _faults(self, nodes: dict[str, Variables], task_vars: dict[str, Any]) -> dict[str, str]:
        """What is wrong with the variables that the nodes are supervised by. Raises SettingsError if that is of all."""
        check_rollout(self._templar.template(task_vars.get("sled_rollout") or {}))
        faults: dict[str, str] = {}
        for name, get in nodes.items():
            try:
                check_variables(name, get)
                settings_of(name, get)
            except SledError as error:
                faults[name] = str(error)
        return faults


def elsewhere(given: Iterable[str]) -> str:
    """Where attributes of a binding belong; empty: none is given."""
    wrong = {one: BINDING_VARIABLES[one][0] for one in given if one in BINDING_VARIABLES}
    if not wrong:
        return ""
    return (
        f"{', '.join(wrong)}: no option of sled.fleet.bindings, which binds nodes as their variables state: set"
        f" {', '.join(wrong.values())} in the inventory, or use sled.fleet.binding for one node. It is no sled_bindings"
        " of Terraform, which declares a map of nodes"
    )


def report(bound: dict[str, Json], failures: dict[str, str]) -> Json:
    """The result of the task."""
    nodes = {name: shown(one) for name, one in bound.items()}
    return {
        "changed": any(one["changed"] for one in nodes.values()),
        "failed": bool(failures),
        "msg": "; ".join([f"{len(bound)} nodes are bound", *failures.values()]),
        "nodes": nodes,
        "to_do": [name for name, one in nodes.items() if one["changed"] or not one["satisfied"]],
        "memory": [name for name, one in nodes.items() if one["memory"]],
        "images": sorted({one["image"] for one in nodes.values()}),
        "wipes": [one["wipes"] for one in nodes.values() if one["wipes"]],
        "drift": [
            f"{some(names)} {text}"
            for text, names in by_value({name: one["drift"] for name, one in bound.items() if one["drift"]}).items()
        ],
        "failures": failures,
        "diff": [
            {"before_header": name, "after_header": name, **one["diff"]}
            for name, one in bound.items()
            if one["changed"]
        ],
    }


def shown(result: Json) -> Json:
    """What is returned of a node."""
    binding = result["binding"]
    outlook = binding.get("outlook") or {}
    return {
        "changed": result["changed"],
        "generation": result["generation"],
        "image": binding.get("image") or "",
        "satisfied": bool(binding.get("satisfied")),
        "wipes": outlook.get("wipes") or "",
        "memory": bool(binding.get("memory")) and not outlook.get("wipes") and not binding.get("hands_over"),
    }
