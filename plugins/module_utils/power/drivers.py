# SPDX-License-Identifier: Apache-2.0
"""The power drivers by name. A new driver is one file in this folder, and its class here."""

from __future__ import annotations

import shlex

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.power.amt import Amt
from ansible_collections.sled.fleet.plugins.module_utils.power.command import Command
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver
from ansible_collections.sled.fleet.plugins.module_utils.power.ipmi import Ipmi
from ansible_collections.sled.fleet.plugins.module_utils.power.redfish import Redfish
from ansible_collections.sled.fleet.plugins.module_utils.power.ssh import Ssh
from ansible_collections.sled.fleet.plugins.module_utils.power.wol import Wol

DRIVERS: dict[str, type[Driver]] = {driver.name: driver for driver in (Ipmi, Redfish, Wol, Amt, Command, Ssh)}


def make(node: str, options: Json, ssh_common_args: str = "") -> Driver:
    """The driver of a control. The arguments, in the form of a shell, are those of ssh after its own."""
    if options["driver"] not in DRIVERS:
        raise SledError(f"{node}: unknown power driver {options['driver']}: known are {', '.join(sorted(DRIVERS))}")
    try:
        words = [*(options.get("ssh_arguments") or []), *shlex.split(ssh_common_args)]
    except ValueError as error:
        raise SledError(f"{node}: ssh_common_args {ssh_common_args!r}: {error}: want words as in a shell") from None
    return DRIVERS[options["driver"]](node, {**options, "ssh_arguments": words})
