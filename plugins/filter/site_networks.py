# SPDX-License-Identifier: Apache-2.0
"""Filter sled.fleet.site_networks: the networks of a site as one boot server needs them."""

from __future__ import annotations

DOCUMENTATION = r"""
name: site_networks
short_description: Networks of a site as one boot server needs them
version_added: 0.1.0
description:
  - Checks the list and completes each network with the boot server's address and range in it. Fails with everything
    that is wrong with the list.
author:
  - The Sled authors (@sled-fleet)
positional: _input, server, address, servers, leases
options:
  _input:
    description: The list, as C(dnsmasq_networks) of role C(dnsmasq).
    type: list
    elements: dict
    required: true
  server:
    description: Name of the boot server, by which the networks have its range.
    type: str
    required: true
  address:
    description: Its address, as nodes reach it.
    type: str
    required: true
  servers:
    description: All boot servers, which may have ranges.
    type: list
    elements: str
    default: []
  leases:
    description: Fixed addresses, as C(dnsmasq_static_leases).
    type: list
    elements: dict
    default: []
"""

EXAMPLES = r"""
- name: Show which address a network boots from
  ansible.builtin.debug:
    msg: "{{ (dnsmasq_networks | sled.fleet.site_networks(inventory_hostname, sled_address))[0].address }}"
"""

RETURN = r"""
_value:
  description: The networks, in their order.
  type: list
  elements: dict
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.sled.fleet.plugins.plugin_utils.networks import resolve


def site_networks(
    networks: Sequence[Mapping[str, Any]],
    server: str,
    address: str,
    servers: Sequence[str] = (),
    leases: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """The networks, completed."""
    try:
        return resolve(networks, server, address, servers, leases)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by name."""
        return {"site_networks": site_networks}
