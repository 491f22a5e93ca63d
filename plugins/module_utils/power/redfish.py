# SPDX-License-Identifier: Apache-2.0
"""Redfish (DMTF DSP0266): a BMC over HTTPS and JSON."""

from __future__ import annotations

import json
import time
import urllib.parse
from typing import ClassVar, NoReturn

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power.bootorder import kind_of
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import (
    OFF,
    ON,
    UNKNOWN,
    Driver,
    PowerError,
)
from ansible_collections.sled.fleet.plugins.module_utils.power.web import Refusal, Web

STATES = {"On": ON, "Off": OFF}  # PoweringOn and the like are neither yet
TARGETS = {"pxe": "Pxe", "disk": "Hdd"}
RECENT = 1.0  # seconds for which the system is as it was read, unless something was sent since
BUSY = (409, 429, 503)  # statuses of a BMC that may take the same request later
NOT_NOW = (b"duringsystempost", b"is not ready", b"in post")  # in the body of other errors
MODES = {"bios": "Legacy", "uefi": "UEFI"}
TARGET, ENABLED, MODE = "BootSourceOverrideTarget", "BootSourceOverrideEnabled", "BootSourceOverrideMode"
MOVED = (301, 302, 307, 308)  # statuses of services whose paths end with a slash
OTHER_TAG = (412, 428)  # statuses of services that want another ETag than they were sent, or one at all


def message(body: bytes) -> str:
    """The messages of an error response."""
    try:
        error = json.loads(body)["error"]
        extended = [info.get("Message") for info in error.get("@Message.ExtendedInfo") or [] if info.get("Message")]
        return str("; ".join(extended) or error.get("message") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


def tags_of(shown: str) -> list[str]:
    """What If-Match may have to be for a resource that shows this ETag, most exact first; empty: no If-Match.

    Some services show a weak tag and compare strongly, some add -gzip to the tag of a compressed answer.
    """
    strong = shown.removeprefix("W/")
    plain = strong.replace('-gzip"', '"')
    return list(dict.fromkeys([*filter(None, (shown, strong, plain)), "*", ""]))


def bodies_of(override: Json, mode: str, shown: str) -> list[Json]:
    """The overrides to try, with and without the mode.

    Some services require the mode, or choose one without it; some refuse it, even if it stays the same, and some have
    none. Without it the machine starts as the service shows, so a mode that differs is never left out.
    """
    with_mode = {**override, MODE: mode or shown}
    if not mode:
        return [override, with_mode] if shown else [override]
    return [with_mode, override] if shown in ("", mode) else [with_mode]


def difference(have: Json, override: Json, shown: str) -> str:
    """What a service reports instead of the override that it accepted. shown: the mode before."""
    for name, value in {MODE: shown, **override}.items():
        seen = have.get(name)
        # Some say Continuous of what they will do once, and some have no mode.
        differs = seen == "Disabled" if name == ENABLED else seen != value and (name != MODE or bool(seen))
        if differs:
            return f"it accepted {name} {value}, and reports {seen}"
    return ""


def watts_of(resource: Json) -> float | None:
    """The power that an EnvironmentMetrics or a Power reports."""
    controls = [one.get("PowerConsumedWatts") for one in resource.get("PowerControl") or []]
    for found in ((resource.get("PowerWatts") or {}).get("Reading"), *controls):
        if isinstance(found, int | float):
            return float(found)
    return None


class Redfish(Driver):
    """A BMC that speaks Redfish."""

    name: ClassVar[str] = "redfish"
    verbs: ClassVar[tuple[str, ...]] = ("on", "off", "reset", "status", "bootdev", "bootorder", "watts")
    port: ClassVar[int] = 443
    tls = True

    def __init__(self, node: str, options: Json) -> None:
        super().__init__(node, options)
        self._path = ""
        self._meter = ""  # resource that reported the power first
        self._web: Web | None = None
        self._action: Json = {}  # of its resets, as it was read last
        self._form: tuple[str, bool] | None = None  # resource that took an override, and whether that had a mode
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
        """Overrides the boot source once, in the first form that the service takes and reports."""
        system = self._recent() or self._system()
        shown = str((system.get("Boot") or {}).get(MODE) or "")
        bodies = bodies_of({TARGET: TARGETS[device], ENABLED: "Once"}, MODES.get(firmware, ""), shown)
        forms = [(path, body) for path in self._keepers(system) for body in bodies]
        forms.sort(key=lambda form: (form[0], MODE in form[1]) != self._form)
        errors: list[PowerError] = []
        for path, body in forms:
            try:
                self._override(path, system, body, shown)
            except PowerError as error:
                if error.kind not in ("refused", "lied"):
                    raise
                errors.append(error)
            else:
                self._form = path, MODE in body
                return
        said = dict.fromkeys(str(error).removeprefix(f"{self.where}: ") for error in errors)
        self.fail(errors[-1].kind, "; then ".join(said))

    def _override(self, path: str, system: Json, body: Json, shown: str) -> None:
        """Sets an override in the system or its settings, and reads it back where it was set: settings wait there."""
        self._set_boot(path, system if path == self._path else self._ask("GET", path), body)
        missing = difference(self._system().get("Boot") or {}, body, shown)
        if missing and path != self._path:
            missing = difference(self._ask("GET", path).get("Boot") or {}, body, shown)
        if missing:
            self.fail("lied", missing)

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

    def watts(self) -> float:
        """Reads the power of the system's chassis: of its EnvironmentMetrics, or else of its older Power."""
        for path in [self._meter] if self._meter else self._meters():
            try:
                found = watts_of(self._ask("GET", path))
            except PowerError as error:
                if self._meter or error.kind != "refused":
                    raise
                continue
            if found is not None:
                self._meter = path
                return found
        return self.fail(
            "refused", f"it reports no power in {self._meter or 'EnvironmentMetrics or Power of its chassis'}"
        )

    def _meters(self) -> list[str]:
        linked = ((self._recent() or self._system()).get("Links") or {}).get("Chassis") or []
        chassis = [self._ask("GET", one["@odata.id"]) for one in linked if one.get("@odata.id")]
        found = [(one.get(name) or {}).get("@odata.id") for name in ("EnvironmentMetrics", "Power") for one in chassis]
        return [str(path) for path in found if path]

    def _keepers(self, system: Json) -> list[str]:
        """The resources that may take a change of Boot: the system, and its settings where the service has such."""
        settings = ((system.get("@Redfish.Settings") or {}).get("SettingsObject") or {}).get("@odata.id")
        return [self._path, *([str(settings)] if settings else [])]

    def _keeper(self, system: Json) -> tuple[str, Json]:
        """The resource that takes the order: the system, or its settings where the BMC keeps these apart."""
        path = self._keepers(system)[-1]
        settings = self._ask("GET", path) if path != self._path else {}
        return (path, settings) if "BootOrder" in (settings.get("Boot") or {}) else (self._path, system)

    def _options(self, collection: str | None) -> list[Json]:
        members = self._ask("GET", collection).get("Members") or [] if collection else []
        return [self._ask("GET", one["@odata.id"]) for one in members if one.get("@odata.id")]

    def _set_boot(self, path: str, seen: Json, override: Json) -> None:
        """Sets it in the resource as it was seen. The tag is read again where the service wants another."""
        tags, read = [seen.get("@odata.etag") or ""], False
        while True:
            tag = tags.pop(0)
            try:
                self._send("PATCH", path, {"Boot": override}, {"If-Match": tag} if tag else {})
            except Refusal as error:
                if error.status not in OTHER_TAG or (read and not tags):
                    self._refuse("PATCH", path, error)
            else:
                return
            if not read:
                tags, read = tags_of(self._ask("GET", path).get("@odata.etag") or ""), True

    def _reset(self, *types: str) -> None:
        if not self._path:
            self._system()
        allowed = self._reset_types() or list(types)
        chosen = [one for one in types if one in allowed]
        if not chosen:
            self.fail("refused", f"it has none of {', '.join(types)}, but {', '.join(allowed)}")
        target = self._action.get("target") or f"{self._path}/Actions/ComputerSystem.Reset"
        while True:
            try:
                self._ask("POST", target, {"ResetType": chosen.pop(0)})
            except PowerError as error:
                if error.kind != "refused" or not chosen:
                    raise
            else:
                return

    def _reset_types(self) -> list[str]:
        """The resets that it has, of the action or of the resource that describes it; none: it does not tell."""
        action = self._action
        described = action.get("@Redfish.ActionInfo")
        if described and not action.get("ResetType@Redfish.AllowableValues"):
            for parameter in self._ask("GET", described).get("Parameters") or []:
                if parameter.get("Name") == "ResetType":
                    action["ResetType@Redfish.AllowableValues"] = parameter.get("AllowableValues")
        return list(action.get("ResetType@Redfish.AllowableValues") or [])

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

    def _ask(self, method: str, path: str, body: Json | None = None) -> Json:
        try:
            return self._send(method, path, body)
        except Refusal as error:
            self._refuse(method, path, error)

    def _refuse(self, method: str, path: str, error: Refusal) -> NoReturn:
        passing = error.status in BUSY or any(sign in error.body.lower() for sign in NOT_NOW)
        self.fail(
            "busy" if passing else "refused", f"it refuses {method} {path}: {error} {message(error.body)}".rstrip()
        )

    def _send(self, method: str, path: str, body: Json | None = None, headers: dict[str, str] | None = None) -> Json:
        """One request; a resource has its ETag, also where only the head of the answer shows it."""
        self.need("address", "username")
        if method != "GET":
            self._read = None
        self._web = self._web or Web(self, f"https://{self.address}:{self.options.get('port') or self.port}")
        sent = {
            "Accept": "application/json",
            **({"Content-Type": "application/json"} if body else {}),
            **(headers or {}),
        }
        path, data = urllib.parse.urlsplit(path).path, json.dumps(body).encode() if body else None
        try:
            try:
                answer = self._web.send(method, path, data, sent)
            except Refusal as error:
                if error.status not in MOVED or path.endswith("/"):
                    raise
                answer = self._web.send(method, path + "/", data, sent)  # of the same service, wherever it points to
            decoded = json.loads(answer) if answer.strip() else {}
        except ValueError:
            self.fail("refused", f"its answer to {method} {path} is not JSON: is it a Redfish service?")
        if not isinstance(decoded, dict):
            return {}
        return {"@odata.etag": self._web.tag, **decoded} if self._web.tag else decoded
