# SPDX-License-Identifier: Apache-2.0
"""The operator's own programs: a switched socket, a hypervisor, a relay."""

from __future__ import annotations

import re
from typing import ClassVar, NoReturn

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver
from ansible_collections.sled.fleet.plugins.module_utils.power.programs import Ended, run

YAML_BOOLEANS = {"true": "on", "false": "off"}  # a bare on or off in YAML
KINDS = {69: "unreachable", 77: "credentials"}  # sysexits.h: EX_UNAVAILABLE, EX_NOPERM


class Command(Driver):
    """A program for each verb that the operator gave one for."""

    name: ClassVar[str] = "command"
    verbs: ClassVar[tuple[str, ...]] = ("on", "off", "cycle", "reset", "status", "bootdev", "watts")
    local: ClassVar[bool] = True

    def __init__(self, node: str, options: Json) -> None:
        super().__init__(node, options)
        given = options.get("commands") or {}
        self.commands: dict[str, list[str]] = {
            YAML_BOOLEANS.get(str(v).lower(), str(v)): argv for v, argv in given.items()
        }
        for verb, argv in self.commands.items():
            if verb not in self.verbs:
                self.fail("settings", f"commands: {verb!r} is not a verb: want {', '.join(self.verbs)}")
            if not isinstance(argv, list) or not argv:
                self.fail("settings", f"commands: {verb}: want a list of words, the program first, not {argv!r}")
        if not self.commands:
            self.fail("settings", "the driver command needs commands, such as {'on': [pdu, socket, '7', 'on']}")

    def can(self, verb: str) -> bool:
        """Reports whether a program is configured for it."""
        return verb in self.commands

    @property
    def timeout(self) -> float:
        """Seconds for one program."""
        return float(self.options.get("timeout") or 60)

    def status(self) -> str:
        """Runs the program that prints on or off."""
        printed = self._run("status").out.strip().lower()
        if printed not in ("on", "off"):
            self.fail("refused", f"{self.commands['status'][0]} prints {printed[:80]!r} for status: want on or off")
        return printed

    def on(self) -> None:
        """Runs the program that switches on."""
        self._run("on")

    def off(self) -> None:
        """Runs the program that switches off."""
        self._run("off")

    def reset(self) -> None:
        """Runs the program that resets."""
        self._run("reset")

    def cycle(self) -> None:
        """Runs the program that switches off and on."""
        self._run("cycle")

    def bootdev(self, device: str, firmware: str) -> None:
        """Runs the program that chooses; its last argument is the device."""
        self._run("bootdev", device, firmware)

    def watts(self) -> float:
        """Runs the program that prints a number of watts."""
        printed = self._run("watts").out.strip()
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", printed):
            self.fail("refused", f"{self.commands['watts'][0]} prints {printed[:80]!r} for watts: want a number")
        return float(printed)

    def _run(self, verb: str, *operands: str) -> Ended:
        device, firmware = (*operands, "", "")[:2]
        about = {"SLED_NODE": self.node, "SLED_VERB": verb, "SLED_DEVICE": device, "SLED_FIRMWARE": firmware}
        if self.secret_named:
            about["SLED_PASSWORD"] = self.secret()
        argv = [str(word) for word in self.commands[verb]] + ([device] if device else [])
        ended = run(self, argv, environment=about)
        if ended.code:
            self._explain(verb, argv[0], ended)
        return ended

    def _explain(self, verb: str, program: str, ended: Ended) -> NoReturn:
        self.fail(KINDS.get(ended.code, "refused"), f"{program} ended with code {ended.code} for {verb}: {ended.last}")
