# SPDX-License-Identifier: Apache-2.0
"""Filter sled.fleet.dhcp_faults: what is wrong with the DHCP servers of a network."""

from __future__ import annotations

DOCUMENTATION = r"""
name: dhcp_faults
short_description: What is wrong with the DHCP servers of a network
version_added: 0.1.0
description:
  - Compares what kinds of client were offered with what each needs. C(playbooks/dhcp_check.yml) asks and prints.
author:
  - The Sled authors (@sled-fleet)
positional: _input, wanted, answers, informed
options:
  _input:
    description: A network, as P(sled.fleet.site_networks#filter) returns it.
    type: dict
    required: true
  wanted:
    description: The file of each kind of client, by its name; empty for one that boots nothing.
    type: dict
    required: true
  answers:
    description: The answers of all servers to each kind of client, by its name.
    type: dict
    required: true
  informed:
    description: The answer to a client that has an address; empty without one.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Print what is wrong
  ansible.builtin.debug:
    msg: "{{ network | sled.fleet.dhcp_faults(wanted, answers, informed) }}"
"""

RETURN = r"""
_value:
  description: The faults, each with its remedy; empty for a sound network.
  type: list
  elements: str
"""

from collections.abc import Callable
from typing import Any

from ansible_collections.sled.fleet.plugins.plugin_utils.dhcp_faults import faults


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by name."""
        return {"dhcp_faults": faults}
