# SPDX-License-Identifier: Apache-2.0
"""A callback that brings ansible-playbook one more power driver, `button`, which switches machines of a rack.

It is the double of a driver: it has no BMC to ask, so what remains is what a rollout costs apart from that.
"""

from __future__ import annotations

import http.client
from typing import ClassVar

from ansible.plugins.callback import CallbackBase
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import OFF, ON, Driver
from ansible_collections.sled.fleet.plugins.module_utils.power.drivers import DRIVERS

DOCUMENTATION = """
name: button
type: notification
short_description: The power driver button
description: Brings the power driver button, for benchmarks.
"""


class Button(Driver):
    """Knows the state of its machine, as nobody else switches it, and its device (options port and mac)."""

    name: ClassVar[str] = "button"
    verbs: ClassVar[tuple[str, ...]] = ("on", "off", "status", "bootdev")
    states: ClassVar[dict[str, str]] = {}
    devices: ClassVar[dict[str, str]] = {}

    def status(self) -> str:
        """What was done last."""
        return self.states.get(self.node, OFF)

    def bootdev(self, device: str, firmware: str) -> None:
        """For the next start."""
        self.devices[self.node] = device

    def on(self) -> None:
        """Starts the machine."""
        self._push(f"on?from={self.devices.pop(self.node, '')}", ON)

    def off(self) -> None:
        """Ends it."""
        self._push("off", OFF)

    def _push(self, what: str, state: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", int(self.options["port"]), timeout=self.timeout)
        try:
            connection.request("POST", f"/{self.options['mac']}/{what}")
            status = connection.getresponse().status
        except OSError as error:
            self.fail("unreachable", str(error))
        finally:
            connection.close()
        if status != http.client.NO_CONTENT:
            self.fail("refused", f"{what}: {status}")
        self.states[self.node] = state


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Does nothing: it is loaded before the first task, and tasks run in forks of that process."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "button"
    CALLBACK_NEEDS_ENABLED = True


DRIVERS[Button.name] = Button
