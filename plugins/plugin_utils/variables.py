# SPDX-License-Identifier: Apache-2.0
"""Variables of many hosts, for actions that run once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def variables_of(name: str, task_vars: Mapping[str, Any], template: Callable[[Any], Any]) -> Callable[[str], Any]:
    """How to read the variables of a host: the value by name, None if it is not defined.

    Those of the host that the task runs for may come from a role or the play, those of the others from the inventory,
    facts and the command line. Raises SettingsError for an unknown host.
    """
    here, variables = _of(name, task_vars)

    def get(variable: str) -> Any:
        if variable not in variables:
            return context.CLIARGS.get(COMMAND_LINE.get(variable, ""))
        return template(variables[variable]) if here else variables[variable]

    return get


def names_of(name: str, task_vars: Mapping[str, Any]) -> list[str]:
    """The names of the variables of a host. Raises SettingsError for an unknown host."""
    return list(_of(name, task_vars)[1])


def _of(name: str, task_vars: Mapping[str, Any]) -> tuple[bool, Mapping[str, Any]]:
    """Whether the task runs for a host, and its variables."""
    here = name == task_vars.get("inventory_hostname")
    if not here and name not in task_vars.get("hostvars", {}):
        raise SettingsError(f"nodes: {name} is not a host of the inventory: want its inventory_hostname")
    return here, task_vars if here else task_vars["hostvars"][name]
