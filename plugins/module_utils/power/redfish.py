# SPDX-License-Identifier: Apache-2.0
"""Redfish (DMTF DSP0266): a BMC over HTTPS and JSON."""

from __future__ import annotations

import json
import time
from typing import ClassVar

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power.bootorder import kind_of
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import OFF, ON, UNKNOWN, Driver
from ansible_collections.sled.fleet.plugins.module_utils.power.web import Refusal, Web

STATES = {"On": ON, "Off": OFF}  # PoweringOn and the like are neither yet
TARGETS = {"pxe": "Pxe", "disk": "Hdd"}
RECENT = 1.0  # seconds for which the system is as it was read, unless something was sent since
BUSY = (409, 429, 503)  # statuses of a BMC that may take the same request later
NOT_NOW = (b"duringsystempost", b"is not ready", b"in post")  # in the body of other errors
MODES = {"bios": "Legacy", "uefi": "UEFI"}


def message(body: bytes) -> str:
    """The messages of an error response."""
    try:
        error = json.loads(body)["error"]
        extended = [info.get("Message") for info in error.get("@Message.ExtendedInfo") or [] if info.get("Message")]
        return str("; ".join(extended) or error.get("message") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


class Redfish(Driver):
    """A BMC that speaks Redfish."""

    name: ClassVar[str] = "redfish"
    verbs: ClassVar[tuple[str, ...]] = ("on", "off", "reset", "status", "bootdev", "bootorder")
    port: ClassVar[int] = 443
    tls = True

    def __init__(self, node: str, options: Json) -> None:
        super().__init__(node, options)
        self._path = ""
        self._web: Web | None = None
        self._action: Json = {}  # of its resets, as it was read last
        self._read: tuple[float, Json] | None = None  # when the system was read last, if nothing was sent since

    def close(self) -> None:
        """Ends the connection."""
        if self._web:
            self._web.close()

    def status(self) -> str:
        """Reads the system's power state."""
        return STATES.get(self._system().get("PowerState", ""), UNKNOWN)

    def on(self) -> None:
        """Switches on."""
        self._reset("On", "ForceOn")

    def off(self) -> None:
        """Switches off hard."""
        self._reset("ForceOff")

    def reset(self) -> None:
        """Resets."""
        self._reset("ForceRestart", "PowerCycle")

    def bootdev(self, device: str, firmware: str) -> None:
        """Overrides the boot source once, and reads that back."""
        system = self._recent() or self._system()
        override = {"BootSourceOverrideTarget": TARGETS[device], "BootSourceOverrideEnabled": "Once"}
        if firmware:
            override["BootSourceOverrideMode"] = MODES[firmware]
        self._set_boot(self._path, system, override)
        have = self._system().get("Boot") or {}
        for name, value in override.items():
            # Some say Continuous of what they will do once.
            differs = have.get(name) == "Disabled" if name == "BootSourceOverrideEnabled" else have.get(name) != value
            if differs:
                self.fail("lied", f"it accepted {name} {value}, and reports {have.get(name)}")

    def bootorder(self) -> list[Json]:
        """Reads the order as it will be from the next start on, and what its entries are."""
        system = self._system()
        boot = system.get("Boot") or {}
        order = (self._keeper(system)[1].get("Boot") or {}).get("BootOrder") or boot.get("BootOrder")
        if not order or boot.get("BootOrderPropertySelection") == "AliasBootOrder":
            self.fail("refused", "it reports no order of boot entries (Boot.BootOrder)")
        options = {
            one.get("BootOptionReference"): one
            for one in self._options((boot.get("BootOptions") or {}).get("@odata.id"))
        }
        about = [(one, options.get(one, {})) for one in order]
        return [
            {"reference": one, "kind": kind_of(option), "name": option.get("DisplayName") or ""}
            for one, option in about
        ]

    def set_bootorder(self, references: list[str]) -> None:
        """Sets the order, of all entries."""
        path, seen = self._keeper(self._system())
        self._set_boot(path, seen, {"BootOrder": references})

    def _keeper(self, system: Json) -> tuple[str, Json]:
        """The resource that takes the order: the system, or its settings where the BMC keeps these apart."""
        path = ((system.get("@Redfish.Settings") or {}).get("SettingsObject") or {}).get("@odata.id") or ""
        settings = self._ask("GET", path) if path else {}
        return (path, settings) if "BootOrder" in (settings.get("Boot") or {}) else (self._path, system)

    def _options(self, collection: str | None) -> list[Json]:
        members = self._ask("GET", collection).get("Members") or [] if collection else []
        return [self._ask("GET", one["@odata.id"]) for one in members if one.get("@odata.id")]

    def _set_boot(self, path: str, seen: Json, override: Json) -> None:
        """Sets it in the resource as it was seen: a BMC that sends ETags requires them."""
        self._ask(
            "PATCH", path, {"Boot": override}, {"If-Match": seen["@odata.etag"]} if seen.get("@odata.etag") else {}
        )

    def _reset(self, *types: str) -> None:
        if not self._path:
            self._system()
        action = self._action
        allowed = action.get("ResetType@Redfish.AllowableValues") or list(types)
        chosen = next((one for one in types if one in allowed), None)
        if not chosen:
            self.fail("refused", f"it has none of {', '.join(types)}, but {', '.join(allowed)}")
        self._ask("POST", action.get("target") or f"{self._path}/Actions/ComputerSystem.Reset", {"ResetType": chosen})

    def _system(self) -> Json:
        if not self._path:
            self._path = self._find()
        at = time.monotonic()
        system = self._ask("GET", self._path)
        self._read = (at, system)
        self._action = (system.get("Actions") or {}).get("#ComputerSystem.Reset") or {}
        return system

    def _recent(self) -> Json:
        """The system as the power state was read from it just before; else empty. A tag may be another one by now."""
        at, system = self._read or (0.0, {})
        recent = self._read and time.monotonic() - at < RECENT and not system.get("@odata.etag")
        return system if recent else {}

    def _find(self) -> str:
        members = [one.get("@odata.id", "") for one in self._ask("GET", "/redfish/v1/Systems").get("Members") or []]
        wanted = self.options.get("system")
        found = [path for path in members if not wanted or path.rstrip("/").rpartition("/")[2] == wanted]
        if len(found) != 1:
            names = ", ".join(path.rstrip("/").rpartition("/")[2] for path in members)
            self.fail(
                "settings",
                f"system {wanted or 'is not given'}: it has {len(members)} systems ({names}): name one of them",
            )
        return str(found[0])

    def _ask(self, method: str, path: str, body: Json | None = None, headers: dict[str, str] | None = None) -> Json:
        self.need("address", "username")
        if method != "GET":
            self._read = None
        self._web = self._web or Web(self, f"https://{self.address}:{self.options.get('port') or self.port}")
        sent = {
            "Accept": "application/json",
            **({"Content-Type": "application/json"} if body else {}),
            **(headers or {}),
        }
        try:
            answer = self._web.send(method, path, json.dumps(body).encode() if body else None, sent)
            decoded = json.loads(answer) if answer.strip() else {}
        except Refusal as error:
            passing = error.status in BUSY or any(sign in error.body.lower() for sign in NOT_NOW)
            self.fail(
                "busy" if passing else "refused", f"it refuses {method} {path}: {error} {message(error.body)}".rstrip()
            )
        except ValueError:
            self.fail("refused", f"its answer to {method} {path} is not JSON: is it a Redfish service?")
        return decoded if isinstance(decoded, dict) else {}
