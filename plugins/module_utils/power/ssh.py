# SPDX-License-Identifier: Apache-2.0
"""The running system itself, asked by SSH to end: the first rung, before anything cuts its power."""

from __future__ import annotations

from typing import ClassVar

from ansible_collections.sled.fleet.plugins.module_utils.power.driver import ON, UNKNOWN, Driver, PowerError
from ansible_collections.sled.fleet.plugins.module_utils.power.programs import Ended, run

REFUSED = (
    "permission denied",
    "too many authentication failures",
    "host key verification failed",
    "no matching host key",
)


class Ssh(Driver):
    """A system that lets its operator in by key."""

    name: ClassVar[str] = "ssh"
    verbs: ClassVar[tuple[str, ...]] = ("off", "reset", "status")
    port: ClassVar[int] = 22
    tells: ClassVar[bool] = False  # silence is not off

    def status(self) -> str:
        """A system that answers is on. One that does not may be anything."""
        return ON if self.mark() else UNKNOWN

    def mark(self) -> str:
        """Number of this boot."""
        try:
            ended = self._ssh("cat /proc/sys/kernel/random/boot_id")
        except PowerError:
            return ""
        return ended.out.strip() if not ended.code else ""

    def off(self) -> None:
        """Lets the system end and switch itself off."""
        self._end("poweroff")

    def reset(self) -> None:
        """Lets the system end and start again."""
        self._end("reboot")

    def _end(self, verb: str) -> None:
        # A second later, so that this connection ends well; without systemd at once.
        become = "" if self.options.get("username") in (None, "", "root") else "sudo -n "
        later = f"{become}systemd-run --quiet --on-active=1 systemctl {verb}"
        ended = self._ssh(f"if command -v systemd-run >/dev/null; then {later}; else {become}{verb}; fi")
        if ended.code:
            self.fail("refused", f"{verb} ended with code {ended.code}: {ended.last}")

    def _ssh(self, command: str) -> Ended:
        self.need("address")
        argv = [
            "ssh",
            "-o",
            "BatchMode=yes",
            "-o",
            f"ConnectTimeout={self.timeout / 2:.0f}",
            *(self.options.get("ssh_arguments") or []),
        ]
        for flag, name in (("-p", "port"), ("-l", "username"), ("-i", "key_file")):
            if self.options.get(name):
                argv += [flag, str(self.options[name])]
        ended = run(self, [*argv, "--", self.address, command])
        if ended.code != 255:
            return ended
        if any(sign in ended.err.lower() for sign in REFUSED):
            self.fail("credentials", f"{ended.last}: check username, key_file and the host key (ssh_arguments)")
        return self.fail("unreachable", f"{ended.last}: check address, and that the system runs")
