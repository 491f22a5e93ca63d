# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.warm: glue.

Its documentation is in plugins/modules/warm.py, the work in module_utils/warm_start.py, warm_commands.py and cache.py.
"""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible_collections.sled.fleet.plugins.module_utils import warm_commands
from ansible_collections.sled.fleet.plugins.module_utils.cache import Cache
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.options import API, connect
from ansible_collections.sled.fleet.plugins.module_utils.warm_start import CACHE, Gone, WarmStart, default_sledc
from ansible_collections.sled.fleet.plugins.plugin_utils.action import SledAction

SPEC = {
    **API,
    "node": {"type": "str"},
    "cache": {"type": "path", "default": CACHE},
    "sledc": {"type": "path"},
}


class ActionModule(SledAction):
    """Runs on the controller, and speaks to the node by its connection alone: no Python is needed there."""

    _requires_connection = True

    SPEC = SPEC

    def work(self, options: Json, task_vars: dict[str, Any]) -> Json:
        """Orders the jump, or leaves the running system as it was."""
        name = options["node"] or str(task_vars.get("inventory_hostname", ""))
        cache = Cache(options["cache"], options["ca_file"], options["timeout"])
        start = WarmStart(connect(options), Connected(self), cache, options["sledc"] or default_sledc())
        return start.run(name, dry=self._task.check_mode)


class Connected:
    """The node's connection of the inventory as a shell."""

    def __init__(self, action: ActionModule) -> None:
        self._action = action

    def run(self, command: str, what: str, become: bool = True) -> str:
        """Runs a command."""
        # Not for Ansible to see as unreachable: another entry method may be tried for that node.
        try:
            answer = self._action._low_level_execute_command(command, sudoable=become, executable="/bin/sh")
        except AnsibleConnectionFailure as error:
            raise Gone(f"cannot {what}: {error}") from error
        if answer["rc"] == 0:
            return str(answer["stdout"])
        printed = (answer.get("stderr") or answer.get("stdout") or "").strip().splitlines()
        raise SledError(f"cannot {what}: {'; '.join(printed[-5:]) or 'no output'} (code {answer['rc']})")

    def put(self, local: str, name: str) -> None:
        """Copies a file."""
        try:
            self._action._connection.put_file(local, f"{warm_commands.FOLDER}/{name}")
        except AnsibleError as error:
            raise Gone(f"cannot copy {name} to the node: {error}") from error

    def close(self) -> None:
        """Ends the connection."""
        self._action._connection.reset()
