# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.rollout: glue.

Its documentation is in plugins/modules/rollout.py, the work in module_utils/rollouts.py. A module would be sent as an
archive to a process that imports all of it again: a second for each request of a wave.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils import command_line, following, rollouts
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json
from ansible_collections.sled.fleet.plugins.module_utils.options import API, connect
from ansible_collections.sled.fleet.plugins.plugin_utils.action import SledAction

SPEC = {
    **API,
    "state": {"type": "str", "choices": ["started", "running", "wave_ended", "ended"], "required": True},
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
    "max_wipes": {"type": "int"},
    "max_reimages": {"type": "int"},
    "memory": {"type": "list", "elements": "str", "default": []},
    "again": {"type": "bool", "default": False},
    "wave": {"type": "list", "elements": "str"},
    "results": {"type": "dict", "default": {}},
}
NEEDED = [
    ("state", "started", ["desired"]),
    ("state", "running", ["name", "wave"]),
    ("state", "wave_ended", ["name"]),
    ("state", "ended", ["name"]),
]
FOLLOWED = ("running", "wave_ended")  # states whose requests show that the rollout is followed
WORK: dict[str, Callable[[Client, Json], Json]] = {
    "started": rollouts.start,
    "running": rollouts.start_wave,
    "wave_ended": rollouts.end_wave,
    "ended": rollouts.end,
}


class ActionModule(SledAction):
    """Runs on the controller, in the process of its task."""

    SPEC = SPEC
    NEEDED = NEEDED

    def work(self, options: Json, task_vars: dict[str, Any]) -> Json:
        """Brings the rollout, or the nodes of a wave, to the state."""
        if options["state"] in FOLLOWED:
            following.follow(options["name"])
        return work(connect(options), {**options, "command": command_line.shown(sys.argv)}, self._task.check_mode)


def work(client: Client, options: Json, check: bool) -> Json:
    """The same by a client; in check mode what it would begin with."""
    if not check:
        return WORK[options["state"]](client, options)
    if options["state"] == "started":
        return rollouts.start(client, options, dry=True)
    return {
        "changed": False,
        "started": [],
        "not_started": dict.fromkeys(options["wave"] or [], "check mode"),
        "untouched": [],
    }
