# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.supervise: glue.

Its documentation is in plugins/modules/supervise.py, the work in module_utils/supervise/.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import replace
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.sled.fleet.plugins.module_utils import following
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.options import API, connect
from ansible_collections.sled.fleet.plugins.module_utils.supervise.acts import Acts, Tools
from ansible_collections.sled.fleet.plugins.module_utils.supervise.lines import Lines
from ansible_collections.sled.fleet.plugins.module_utils.supervise.preview import preview
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Get, Settings, settings_of
from ansible_collections.sled.fleet.plugins.module_utils.supervise.table import Table
from ansible_collections.sled.fleet.plugins.module_utils.supervise.wave import Wave
from ansible_collections.sled.fleet.plugins.module_utils.supervise.world import WARM, RealWorld
from ansible_collections.sled.fleet.plugins.module_utils.warmstart import CACHE
from ansible_collections.sled.fleet.plugins.plugin_utils.variables import variables_of

SPEC = {
    **API,
    "nodes": {"type": "list", "elements": "str", "required": True},
    "entry_methods": {"type": "list", "elements": "str", "choices": ["idle", "warm", "power", "wol", "manual"]},
    "steps": {"type": "dict"},
    "sledc": {"type": "path"},
    "cache": {"type": "path", "default": CACHE},
    "warm": {"type": "int", "default": WARM},
    "rollout": {"type": "str", "default": ""},
}
# Read where ansible-playbook loads the class: the process of a task has another standard output.
TERMINAL = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
SIZE = shutil.get_terminal_size()
INSTEAD = {"supervise_entry_methods": "entry_methods", "supervise_steps": "steps", "supervise_sledc": "sledc"}


class ActionModule(ActionBase):
    """Runs on the controller, for all its nodes in one process: their variables are those of the inventory."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> Json:
        """Follows the nodes to their ends, or in check mode tells what that would do."""
        result: Json = super().run(tmp, task_vars)
        _, options = self.validate_argument_spec(SPEC)
        try:
            names = list(dict.fromkeys(options["nodes"]))
            nodes = [settings_of(name, self._variables(name, task_vars or {}, options)) for name in names]
            result.update(self._work([replace(one, rollout=options["rollout"]) for one in nodes], options))
        except SledError as error:
            result.update(failed=True, msg=str(error), status=getattr(error, "status", 0))
        return result

    def _work(self, nodes: list[Settings], options: Json) -> Json:
        if options["rollout"]:
            os.environ[following.VARIABLE] = options[
                "rollout"
            ]  # of this process alone, which Ansible makes for the task
        client = connect(options)
        table = Table(self._draw, time.monotonic, SIZE.columns, SIZE.lines) if TERMINAL else None
        lines = Lines(len(nodes), self._say, time.monotonic)
        acts = Acts(Tools(client, options, table.note if table else self._say, options["cache"]))
        world = RealWorld(client, acts, nodes, options["warm"])
        planned: dict[str, Json] = {}
        if self._task.check_mode or self._task.diff:
            read = world.read([one.node for one in nodes])
            planned = {one.name: preview(one.name, read.get(one.node)) for one in nodes}
        diff = [one.pop("diff") for one in planned.values() if "diff" in one]
        if self._task.check_mode:
            return {**report(planned, nodes), "diff": diff, "failed": False}
        with world:
            wave = Wave(nodes, world, table.tell, table.tick) if table else Wave(nodes, world, lines.tell)
            return {**report(wave.run(), nodes), **({"diff": diff} if diff else {})}

    def _variables(self, name: str, task_vars: dict[str, Any], options: Json) -> Get:
        """How to read the variables of a node; options of the task replace them."""
        given = {variable: options[option] for variable, option in INSTEAD.items() if options[option] is not None}
        get = variables_of(name, task_vars, self._templar.template)
        return lambda variable: given[variable] if variable in given else get(variable)

    @staticmethod
    def _draw(text: str) -> None:
        """Prints on the terminal, and not in a log."""
        Display().display(text, screen_only=True)

    @staticmethod
    def _say(text: str) -> None:
        """Prints a line while the task runs."""
        Display().display(text)


def report(outcomes: dict[str, Json], nodes: list[Settings]) -> Json:
    """The result of the task."""
    done = {name for name, outcome in outcomes.items() if outcome["state"] == "done" and outcome["image"]}
    failed = {name: outcome["reason"] for name, outcome in outcomes.items() if outcome["state"] == "failed"}
    lines = [f"{name}: {reason}" for name, reason in failed.items()]
    return {
        "changed": any(outcome["changed"] for outcome in outcomes.values()),
        "failed": bool(failed),
        "msg": "; ".join([f"{len(outcomes) - len(failed)} of {len(outcomes)} nodes did not fail", *lines]),
        "nodes": outcomes,
        "not_done": sorted(failed),
        "to_verify": [one.name for one in nodes if one.verified and one.name in done],
    }
