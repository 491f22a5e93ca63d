# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.rollout: glue. What it does is in plugins/modules/rollout.py, with its documentation.

A module is sent as an archive to a process that imports all of it again: a second for each request of a wave.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils import following
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.options import connect
from ansible_collections.sled.fleet.plugins.modules.rollout import FOLLOWED, NEEDED, SPEC, work
from ansible_collections.sled.fleet.plugins.plugin_utils.action import SledAction


class ActionModule(SledAction):
    """Runs on the controller, in the process of its task."""

    SPEC = SPEC
    NEEDED = NEEDED

    def work(self, options: Json, task_vars: dict[str, Any]) -> Json:
        """Brings the rollout, or its nodes, to the state."""
        if options["state"] in FOLLOWED:
            following.follow(options["name"])
        return work(connect(options), options, self._task.check_mode)
