# SPDX-License-Identifier: Apache-2.0
"""Variables of many hosts, for actions that run once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible import context
from ansible_collections.sled.fleet.plugins.module_utils.client import SettingsError

# Variables that the command line and ansible.cfg set where the inventory does not.
COMMAND_LINE = {
    "ansible_user": "remote_user",
    "ansible_private_key_file": "private_key_file",
    "ansible_become": "become",
    "ansible_ssh_common_args": "ssh_common_args",
    "ansible_ssh_extra_args": "ssh_extra_args",
}


class Variables:
    """Reads the variables of a host: the value by name, None if it is not defined.

    Those of the host that the task runs for may come from a role or the play, those of the others from the inventory,
    facts and the command line. Raises SettingsError for an unknown host.
    """

    def __init__(self, name: str, task_vars: Mapping[str, Any], template: Callable[[Any], Any]) -> None:
        self._here, self._template = name == task_vars.get("inventory_hostname"), template
        if not self._here and name not in task_vars.get("hostvars", {}):
            raise SettingsError(f"nodes: {name} is not a host of the inventory: want its inventory_hostname")
        # Ansible merges them at each access, which takes a millisecond.
        self._variables: Mapping[str, Any] = task_vars if self._here else task_vars["hostvars"][name]

    def __call__(self, variable: str) -> Any:
        """The value."""
        if variable not in self._variables:
            return context.CLIARGS.get(COMMAND_LINE.get(variable, ""))
        value = self._variables[variable]
        return self._template(value) if self._here else value

    def __iter__(self) -> Iterator[str]:
        """Their names."""
        return iter(self._variables)
