# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.waves: glue.

Its documentation is in plugins/modules/waves.py, the work in module_utils/waves.py.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils import following
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.options import API, connect
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Get
from ansible_collections.sled.fleet.plugins.module_utils.waves import carry_out
from ansible_collections.sled.fleet.plugins.plugin_utils import supervisor
from ansible_collections.sled.fleet.plugins.plugin_utils.action import SledAction
from ansible_collections.sled.fleet.plugins.plugin_utils.variables import Variables

SPEC = {
    **API,
    **supervisor.SPEC,
    "rollout": {"type": "str", "required": True},
    "waves": {"type": "list", "elements": "list", "default": []},
    "empty": {"type": "bool", "default": False},
    "started": {"type": "dict", "default": {}},
    "reimage": {"type": "bool", "default": False},
}


class ActionModule(SledAction):
    """Runs on the controller, once for all nodes: their variables are those of the inventory."""

    SPEC = SPEC

    def work(self, options: Json, task_vars: dict[str, Any]) -> Json:
        """Carries out the waves; in check mode it does nothing."""
        if self._task.check_mode:
            return {"changed": bool(options["waves"]), "results": {}}

        def variables(name: str) -> Get:
            return Variables(name, task_vars, self._templar.template)

        following.follow(options["rollout"])
        client = connect(options)
        with supervisor.Supervisor(client, options) as one:
            return carry_out(client, options, variables, one)
