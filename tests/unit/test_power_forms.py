# SPDX-License-Identifier: Apache-2.0
"""The device of one start by Redfish, at services that differ in the form in which they take it.

The habits are those of public reports: iDRAC 10 (settings, -gzip), Lenovo and Fujitsu (tags are required), Supermicro
(the mode is required, or lost, or unknown), HPE iLO (no mode, paths end with a slash), OpenBMC (resets in an
ActionInfo).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power import redfish
from ansible_collections.sled.fleet.plugins.module_utils.power.switch import Exhausted, Switch, Terms
from ansible_collections.sled.fleet.plugins.module_utils.power.web import Refusal

SYSTEM = "/redfish/v1/Systems/1"
SETTINGS = SYSTEM + "/Settings"
INFO = SYSTEM + "/ResetActionInfo"
RESET = SYSTEM + "/Actions/ComputerSystem.Reset"
MODE = "BootSourceOverrideMode"
Tag = Callable[[int], str]


class Bmc:
    """A service, in the place of its web client. Attributes are its habits."""

    shown: Tag | None = None  # ETag of a resource by its number
    wanted: Tag | None = None  # what If-Match has to be
    in_head = False  # the tag is in the head of answers only
    settings = False  # Boot is set in the settings
    slash = False  # paths end with a slash
    refuses: Callable[[Json], bool] = staticmethod(lambda boot: False)  # an override
    resets = ("On", "ForceOff", "ForceRestart")
    described = False  # the resets are described in a resource of their own
    keeps_mode = True  # an override without a mode leaves it
    mode = "UEFI"

    def __init__(self, **habits: Any) -> None:
        for name, value in habits.items():
            setattr(self, name, value)
        self.power, self.number, self.tag = "On", 1, ""
        self.boot: Json = {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideTarget": "None"}
        if self.mode:
            self.boot[MODE] = self.mode
        self.pending: Json = {}
        self.asked: list[str] = []
        self.started: Json = {}

    def __call__(self, *_: Any) -> Bmc:
        return self

    def close(self) -> None:
        """Has nothing to close."""

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        if self.slash and not path.endswith("/"):
            raise Refusal(308, b"")
        path, given = path.rstrip("/"), json.loads(body or b"{}")
        self.asked.append(f"{method} {path.removeprefix(SYSTEM) or '/'}")
        if method == "PATCH":
            self._patch(path, given["Boot"], headers.get("If-Match", ""))
            return b""
        if method == "POST":
            self._reset(given["ResetType"])
            return b""
        tag = self.shown(self.number) if self.shown else ""
        self.tag = tag if self.in_head else ""
        return json.dumps(
            {**self._resource(path), **({"@odata.etag": tag} if tag and not self.in_head else {})}
        ).encode()

    def _resource(self, path: str) -> Json:
        end = "/" if self.slash else ""
        if path == "/redfish/v1/Systems":
            return {"Members": [{"@odata.id": SYSTEM + end}]}
        if path == INFO:
            return {"Parameters": [{"Name": "ResetType", "AllowableValues": self.resets}]}
        if path == SETTINGS:
            return {"Boot": {**self.boot, **self.pending}}
        action = {"@Redfish.ActionInfo": INFO} if self.described else {"ResetType@Redfish.AllowableValues": self.resets}
        system: Json = {"PowerState": self.power, "Boot": self.boot}
        system["Actions"] = {"#ComputerSystem.Reset": {"target": RESET + end, **action}}
        if self.settings:
            system["@Redfish.Settings"] = {"SettingsObject": {"@odata.id": SETTINGS}}
        return system

    def _patch(self, path: str, boot: Json, tag: str) -> None:
        if self.wanted and tag != self.wanted(self.number):
            raise Refusal(412, b"")
        if self.refuses(boot) or (self.settings and path == SYSTEM):
            raise Refusal(400, b'{"error": {"message": "no such property"}}')
        self.number += 1
        (self.pending if path == SETTINGS else self.boot).update(boot)
        if MODE not in boot and not self.keeps_mode:
            self.boot[MODE] = "Legacy"

    def _reset(self, kind: str) -> None:
        if kind not in self.resets:
            raise Refusal(400, b"")
        self.power = "Off" if kind == "ForceOff" else "On"
        self.started = {**self.boot, **self.pending} if self.power == "On" else {}


def strong(number: int) -> str:
    return f'"{number}"'


def has_mode(boot: Json) -> bool:
    return MODE in boot


FORMS: dict[str, Json] = {
    "no tags": {},
    "strong tags": {"shown": strong, "wanted": strong},
    "settings alone": {"settings": True},
    "settings with tags": {"settings": True, "shown": strong, "wanted": strong},
    "weak tag shown, strong wanted": {"shown": lambda n: f'W/"{n}"', "wanted": strong},
    "weak tag shown and wanted": {"shown": lambda n: f'W/"{n}"', "wanted": lambda n: f'W/"{n}"'},
    "-gzip shown": {"shown": lambda n: f'"{n}-gzip"', "wanted": strong},
    "weak -gzip shown": {"shown": lambda n: f'W/"{n}-gzip"', "wanted": strong},
    "tag in the head alone": {"shown": strong, "wanted": strong, "in_head": True},
    "tag shown, any wanted": {"shown": lambda n: '"x"', "wanted": lambda n: "*"},
    "no tag shown, any wanted": {"wanted": lambda n: "*"},
    "tag shown, none wanted": {"shown": strong, "wanted": lambda n: ""},
    "mode refused": {"refuses": has_mode},
    "mode required": {"refuses": lambda boot: MODE not in boot},
    "mode unknown": {"refuses": has_mode, "mode": ""},
    "mode lost without it": {"keeps_mode": False},
    "mode refused, settings": {"refuses": has_mode, "settings": True},
    "slash": {"slash": True},
    "slash, settings and tags": {"slash": True, "settings": True, "shown": strong, "wanted": strong},
    "resets described elsewhere": {"described": True, "resets": ("ForceOn", "ForceOff")},
}


def boot(bmc: Bmc, monkeypatch: pytest.MonkeyPatch, firmware: str) -> None:
    monkeypatch.setattr(redfish, "Web", bmc)
    driver = redfish.Redfish("n1", {"address": "a", "username": "sled"})
    Switch("n1", [driver], Terms(timeout=1, busy=0, interval=0)).do("boot", "pxe", firmware)


@pytest.mark.parametrize("firmware", ["", "uefi"])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_starts_from_the_network(name: str, firmware: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bmc = Bmc(**FORMS[name])
    boot(bmc, monkeypatch, firmware)
    assert bmc.started["BootSourceOverrideTarget"] == "Pxe"
    assert bmc.started.get(MODE, "UEFI") == "UEFI"


@pytest.mark.parametrize("firmware", ["", "uefi"])
@pytest.mark.parametrize("shown", [None, strong])
def test_a_device_that_is_refused_leaves_the_machine_running(
    firmware: str, shown: Tag | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bmc = Bmc(refuses=lambda boot: True, settings=True, shown=shown)
    with pytest.raises(Exhausted, match=r"refuses PATCH .*/Systems/1: 400 .* no such property; then .*/Settings: 400"):
        boot(bmc, monkeypatch, firmware)
    assert (bmc.power, [one for one in bmc.asked if one.startswith("POST")]) == ("On", [])


def test_another_firmware_than_the_service_takes_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    bmc = Bmc(refuses=has_mode, mode="Legacy")
    with pytest.raises(Exhausted, match="no such property"):
        boot(bmc, monkeypatch, "uefi")
    assert (bmc.power, bmc.boot["BootSourceOverrideTarget"]) == ("On", "None")


def test_the_form_that_was_taken_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    bmc = Bmc(settings=True)
    boot(bmc, monkeypatch, "uefi")
    assert [one for one in bmc.asked if one.startswith("PATCH")] == [
        *["PATCH /"] * 2,
        *["PATCH /Settings"] * 2,
    ]


def test_a_reset_that_is_refused_is_asked_for_by_its_other_name(monkeypatch: pytest.MonkeyPatch) -> None:
    bmc = Bmc(resets=("PowerCycle", "ForceOff"))
    monkeypatch.setattr(bmc, "_resource", lambda path: {"Members": [{"@odata.id": SYSTEM}], "PowerState": bmc.power})
    monkeypatch.setattr(redfish, "Web", bmc)
    redfish.Redfish("n1", {"address": "a", "username": "sled"}).reset()
    assert bmc.asked[-2:] == [f"POST {RESET.removeprefix(SYSTEM)}"] * 2
