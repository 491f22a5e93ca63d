# SPDX-License-Identifier: Apache-2.0
"""IPMI 2.0 by ipmitool."""

from __future__ import annotations

import re
from typing import ClassVar, NoReturn

from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver, PowerError
from ansible_collections.sled.fleet.plugins.module_utils.power.programs import Ended, run

# Messages of ipmitool -v, in lower case, and what they mean. When a busy BMC loses the session, ipmitool also prints
# that the privilege is insufficient: BUSY is checked before WRONG.
BUSY = (
    "no response from rakp",
    "unexpected rakp",
    "insufficient resources for session",
    "inactive session id",
    "node busy",
    "bmc initialization in progress",
    "unsupported in present state",
    "not supported in present state",
)
WRONG = ("hmac is invalid", "unauthorized name", "unauthorized role", "insufficient privilege", "invalid role")
SUITE = (
    "invalid authentication algorithm",
    "invalid integrity algorithm",
    "invalid confidentiality algorithm",
    "no cipher suite match",
)
SILENT = (
    "get auth capabilities error",
    "address lookup for",
    "could not open socket",
    "no response from remote controller",
)


class Ipmi(Driver):
    """A BMC that speaks IPMI over LAN."""

    name: ClassVar[str] = "ipmi"
    verbs: ClassVar[tuple[str, ...]] = ("on", "off", "reset", "status", "bootdev", "watts")
    port: ClassVar[int] = 623

    def status(self) -> str:
        """Reads the chassis' power."""
        printed = self._chassis("power", "status").strip().rpartition(" ")[2]
        if printed not in ("on", "off"):
            self.fail("refused", f"it reports the power state as {printed!r}: want on or off")
        return printed

    def on(self) -> None:
        """Switches on."""
        self._chassis("power", "on")

    def off(self) -> None:
        """Switches off hard."""
        self._chassis("power", "off")

    def reset(self) -> None:
        """Resets."""
        self._chassis("power", "reset")

    def bootdev(self, device: str, firmware: str) -> None:
        """Sets the boot flags for the next boot."""
        self._chassis("bootdev", device, *(["options=efiboot"] if firmware == "uefi" else []))
        try:
            kept = self._chassis("bootparam", "get", "5")
        except PowerError as error:
            if error.kind != "refused":
                raise
            return  # many cannot be read
        # Not "Boot Flag Invalid": ipmi_sim prints that of a flag it keeps. It also keeps none for the disk.
        if device == "pxe" and "boot device selector : no override" in kept.lower():
            self.fail("lied", f"it accepted the boot device {device}, and reports none")

    def watts(self) -> float:
        """Reads the power by DCMI."""
        printed = self._run("dcmi", "power", "reading")
        found = re.search(r"Instantaneous power reading: +(\d+) Watts", printed)
        if not found or "state is: deactivated" in re.sub(" +", " ", printed):
            self.fail("refused", "it does not measure power by DCMI: try ipmitool dcmi power activate")
        return float(found[1])

    def _chassis(self, *words: str) -> str:
        return self._run("chassis", *words)

    def _run(self, *words: str) -> str:
        ended = run(self, [*self._tool(), *words], self.secret(), timeout=30)
        if ended.code:
            self._explain(" ".join(words), ended)
        return ended.out

    def _tool(self) -> list[str]:
        # The suite is always named: finding it out takes 10 s on many BMCs. -v prints why there is no session.
        self.need("address", "username")
        suite, port = self.options.get("cipher_suite") or 17, self.options.get("port") or self.port
        tool = ["ipmitool", "-v", "-I", "lanplus", "-C", str(suite), "-N", "2", "-R", "3"]
        return [*tool, "-H", self.destination(), "-p", str(port), "-U", self.options["username"], "-f", "@SECRET@"]

    def _explain(self, words: str, ended: Ended) -> NoReturn:
        printed = (ended.err + ended.out).lower()
        for sign in BUSY:
            if sign in printed:
                self.fail("busy", f"it does not take {words} now ({sign})")
        for sign in WRONG:
            if sign in printed:
                self.wrong_credentials(sign)
        if any(sign in printed for sign in SUITE):
            suite = self.options.get("cipher_suite") or 17
            self.fail("refused", f"it has no cipher suite {suite}: try cipher_suite {3 if suite == 17 else 17}")
        if "does not support ipmi v2" in printed:
            self.fail(
                "refused",
                "it does not speak IPMI 2.0, or IPMI over LAN is switched off for this user: allow it in the BMC",
            )
        if any(sign in printed for sign in SILENT):
            self.fail("unreachable", "no response: check address and port, and that IPMI over LAN is enabled")
        self.fail("refused", f"it refuses {words}: {ended.last}")
