# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.rollout: glue. What it does is in plugins/modules/rollout.py, with its documentation.

A module is sent as an archive to a process that imports all of it again: a second for each request of a wave.
"""

from __future__ import annotations

import os
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.sled.fleet.plugins.module_utils import following
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.options import connect
from ansible_collections.sled.fleet.plugins.modules.rollout import FOLLOWED, NEEDED, SPEC, work


class ActionModule(ActionBase):
    """Runs on the controller, in the process of its task."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = False
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> Json:
        """Brings the rollout, or its nodes, to the state."""
        result: Json = super().run(tmp, task_vars)
        _, options = self.validate_argument_spec(SPEC, required_if=NEEDED)
        if options["state"] in FOLLOWED:
            os.environ[following.VARIABLE] = options["name"]  # of this process alone, which Ansible makes for the task
        try:
            result.update(work(connect(options), options, self._task.check_mode))
        except SledError as error:
            result.update(failed=True, msg=str(error), status=getattr(error, "status", 0))
        return result
