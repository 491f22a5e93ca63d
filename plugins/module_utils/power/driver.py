# SPDX-License-Identifier: Apache-2.0
"""What every driver is: a few verbs, the same states, the same errors."""

from __future__ import annotations

import os
import stat
from typing import ClassVar, NoReturn

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.power.destination import addresses_of, allowed, networks_of

ON, OFF, UNKNOWN = "on", "off", "unknown"
VERBS = ("on", "off", "cycle", "reset", "status", "bootdev", "bootorder", "watts")
INSTEAD = {"bootorder": "; declare node_boot_order, which imaging sets itself"}


FINAL = ("settings", "credentials", "untrusted")  # asking again would answer the same, or lock an account


class PowerError(SledError):
    """What went wrong with one control. kind is the same for every driver.

    settings     the settings of the control cannot work
    credentials  user or password are wrong, or may not do this
    untrusted    its certificate or its address is not one that may get the password
    unreachable  no response
    refused      it answers, and will not
    busy         it will not now: a session is lost, the machine is in its POST, too many requests
    lied         it accepted, and nothing changed in time
    unsupported  this driver has no such verb
    """

    def __init__(self, kind: str, where: str, text: str) -> None:
        super().__init__(f"{where}: {text}")
        self.kind = kind


class Driver:
    """One power control of one node.

    A verb returns when it was accepted; whether it came true is asked by module_utils/power/switch.py.
    """

    name: ClassVar[str]
    verbs: ClassVar[tuple[str, ...]]
    port: ClassVar[int] = 0
    tells: ClassVar[bool] = True  # whether its status can be both on and off
    local: ClassVar[bool] = False  # whether its password stays on the controller
    tls: bool = False  # whether it shows a certificate before it gets the password

    def __init__(self, node: str, options: Json) -> None:
        self.node = node
        self.options = options
        self.address = options.get("address") or ""
        self._destination = ""

    @property
    def where(self) -> str:
        """How messages name it."""
        port = self.options.get("port") or self.port
        return " ".join(
            part for part in (self.name, self.address + (f":{port}" if port and self.address else "")) if part
        )

    def can(self, verb: str) -> bool:
        """Reports whether it has this verb."""
        return verb in self.verbs

    def status(self) -> str:
        """Asks for the state: on, off or unknown."""
        return UNKNOWN

    def on(self) -> None:
        """Switches on."""
        self.unsupported("on")

    def off(self) -> None:
        """Switches off, without asking the system."""
        self.unsupported("off")

    def reset(self) -> None:
        """Starts a machine that is on again."""
        self.unsupported("reset")

    def cycle(self) -> None:
        """Off and on by itself, where the control has that."""
        self.unsupported("cycle")

    def bootdev(self, device: str, firmware: str) -> None:
        """Chooses the device of the next boot only. Without a firmware the way it starts stays as it is."""
        self.unsupported("bootdev")

    def bootorder(self) -> list[Json]:
        """The order of every boot to come, as entries of reference, kind (pxe, disk, other) and name."""
        self.unsupported("bootorder")

    def set_bootorder(self, references: list[str]) -> None:
        """Sets that order, of all entries."""
        self.unsupported("bootorder")

    def watts(self) -> float:
        """The power that the machine draws, as its meter reports it."""
        self.unsupported("watts")

    def close(self) -> None:
        """Ends what is kept between two verbs. Another verb may follow."""

    def mark(self) -> str:
        """Something that is another after a restart; empty where there is no such thing."""
        return ""

    def fail(self, kind: str, text: str) -> NoReturn:
        """Fails with one of the kinds."""
        raise PowerError(kind, self.where, text)

    def unsupported(self, verb: str) -> NoReturn:
        """Fails because there is no such verb."""
        has = ", ".join(v for v in VERBS if self.can(v))
        self.fail("unsupported", f"the driver {self.name} has no {verb}: it has {has}{INSTEAD.get(verb, '')}")

    def need(self, *names: str) -> None:
        """Fails if an option that this driver requires is missing."""
        for name in names:
            if not self.options.get(name):
                self.fail("settings", f"the driver {self.name} needs {name}")

    @property
    def timeout(self) -> float:
        """Seconds for one question."""
        return float(min(self.options.get("timeout") or 20, 20))

    def destination(self) -> str:
        """The IP address to connect to: of the allowed networks, or of whoever shows the pinned certificate."""
        self._destination = self._destination or self._allowed()
        return self._destination

    def _allowed(self) -> str:
        pinned, given = self.options.get("fingerprint"), self.options.get("networks") or []
        if pinned and not self.tls:
            self.fail(
                "settings",
                "power_fingerprint is set, but there is no certificate without TLS:"
                " use redfish or port 16993 of amt, or set power_networks in its place",
            )
        if not given and not pinned:
            pin = ", or power_fingerprint to the SHA-256 of its certificate" if self.tls else ""
            self.fail(
                "settings",
                "the inventory allows its password at no address: set power_networks to the networks of the BMCs,"
                f" such as [10.30.0.0/24]{pin}",
            )
        try:
            networks, found = networks_of(given), addresses_of(self.address)
        except ValueError as error:
            self.fail("settings", str(error))
        except OSError as error:
            self.fail("unreachable", f"{error.strerror}: check address")
        address = allowed(found, networks) if given else found[0]
        if not address:
            self.fail(
                "untrusted",
                f"its password is not sent to {', '.join(found)}, which is in none of power_networks"
                f" ({', '.join(given)}): check address, or add its network to power_networks",
            )
        return address

    def secret(self) -> str:
        """The password: of the option, the file or the environment. Only for a destination that may get it."""
        if not self.local:
            self.destination()
        if self.options.get("password"):
            return str(self.options["password"])
        if self.options.get("password_file"):
            return self._secret_of_file(self.options["password_file"])
        name = self.options.get("password_env")
        if not name:
            self.fail("settings", f"no password: the driver {self.name} needs password_file, password_env or password")
        if not os.environ.get(name):
            self.fail("settings", f"password_env {name}: this environment variable is empty or not set")
        return os.environ[name]

    def _secret_of_file(self, path: str) -> str:
        try:
            with open(path, encoding="utf-8") as file:
                if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                    self.fail("settings", f"password_file {path}: it is readable by others: run chmod 600")
                word = file.readline().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            self.fail("settings", f"password_file {path}: {reason}: want a file whose first line is the password")
        if not word:
            self.fail("settings", f"password_file {path}: its first line is empty")
        return word

    @property
    def secret_named(self) -> str:
        """Where the password comes from, for messages."""
        if self.options.get("password"):
            return "password"
        return " ".join(
            f"{name} {self.options[name]}" for name in ("password_file", "password_env") if self.options.get(name)
        )

    def wrong_credentials(self, detail: str = "") -> NoReturn:
        """Fails because user or password are not accepted."""
        user, hint = self.options.get("username") or "", f" ({detail})" if detail else ""
        self.fail(
            "credentials",
            f"user {user!r} or the password is not accepted{hint}: check username and {self.secret_named}",
        )
