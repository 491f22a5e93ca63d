# SPDX-License-Identifier: Apache-2.0
"""Redfish against a small service that keeps its resources, insists on their tags, and speaks TLS."""

from __future__ import annotations

import hashlib
import http.server
import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power import redfish
from ansible_collections.sled.fleet.plugins.module_utils.power.bootorder import arranged, kind_of
from ansible_collections.sled.fleet.plugins.modules import power
from ansible_collections.sled.fleet.tests.unit.arguments import patch_module_args

SYSTEMS = "/redfish/v1/Systems"
SYSTEM = f"{SYSTEMS}/1"
SETTINGS = f"{SYSTEM}/Settings"
OPTIONS = {
    "Boot0000": ("Shell", "Fv(7CB8BDC9)/FvFile(7C04A583)"),
    "Boot0001": ("sled", "HD(1,GPT,5EC6,0x800,0x3E000)/\\EFI\\debian\\shimx64.efi"),
    "Boot0002": ("UEFI PXEv4", "PciRoot(0x0)/Pci(0x2,0x0)/MAC(525400770001,0x1)/IPv4(0.0.0.0,0x0,DHCP)"),
    "Boot0003": ("UEFI HTTPv4", "PciRoot(0x0)/Pci(0x2,0x0)/MAC(525400770001,0x1)/IPv4(0.0.0.0,0x0,DHCP)/Uri()"),
}
Run = Callable[..., Json]


class Service(http.server.ThreadingHTTPServer):
    """A BMC: resources by path, changed by those only who saw their last tag."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.asked: list[str] = []
        self.deaf = False  # says yes, and keeps its order
        boot = {"BootOrder": list(OPTIONS), "BootOptions": {"@odata.id": f"{SYSTEM}/BootOptions"}}
        self.resources: Json = {
            SYSTEMS: {"Members": [{"@odata.id": SYSTEM}]},
            SYSTEM: {"PowerState": "On", "Boot": boot},
            f"{SYSTEM}/BootOptions": {"Members": [{"@odata.id": f"{SYSTEM}/BootOptions/{name}"} for name in OPTIONS]},
        }
        for name, (label, path) in OPTIONS.items():
            option = {"BootOptionReference": name, "DisplayName": label, "UefiDevicePath": path}
            self.resources[f"{SYSTEM}/BootOptions/{name}"] = option

    def handle_error(self, *_: Any) -> None:
        """Says nothing of handshakes that a client broke off."""

    def tag(self, path: str) -> str:
        return f'W/"{hashlib.sha256(json.dumps(self.resources[path]).encode()).hexdigest()[:8]}"'

    def keep_settings_apart(self, **boot: Any) -> None:
        self.resources[SYSTEM]["@Redfish.Settings"] = {"SettingsObject": {"@odata.id": SETTINGS}}
        self.resources[SETTINGS] = {"Boot": boot}

    def order(self, path: str = SYSTEM) -> list[str]:
        order: list[str] = self.resources[path]["Boot"]["BootOrder"]
        return order


class Handler(http.server.BaseHTTPRequestHandler):
    server: Service

    def _answer(self, status: int, body: Json | None = None) -> None:
        data = json.dumps(body or {}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.server.asked.append(f"GET {self.path}")
        found = self.server.resources.get(self.path)
        self._answer(200, {**found, "@odata.etag": self.server.tag(self.path)}) if found else self._answer(404)

    def do_PATCH(self) -> None:
        self.server.asked.append(f"PATCH {self.path}")
        patch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if (self.headers["If-Match"] or "") != self.server.tag(self.path):
            self._answer(412)
            return
        if not self.server.deaf:
            self.server.resources[self.path]["Boot"].update(patch["Boot"])
        self._answer(202)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CA, a certificate of it for 127.0.0.1, and another CA."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words: str) -> None:
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "1",
            *words,
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=30, cwd=folder)

    for name in ("ca", "other"):
        openssl("-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")
    leaf = ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]
    openssl("-CA", "ca.crt", "-CAkey", "ca.key", "-subj", "/CN=bmc", *leaf, "-keyout", "bmc.key", "-out", "bmc.crt")
    return folder


@pytest.fixture
def service(certificates: Path) -> Iterator[Service]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "bmc.crt", certificates / "bmc.key")
    server = Service(context)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(service: Service, certificates: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the module power against the service."""
    control = {
        "driver": "redfish",
        "address": "127.0.0.1",
        "port": service.server_address[1],
        "username": "sled",
        "password": "s3cret",
        "networks": ["127.0.0.1"],
    }

    def run_it(action: str = "bootorder", trust: Json | None = None, **options: Any) -> Json:
        controls = [{**control, **({"ca_file": str(certificates / "ca.crt")} if trust is None else trust)}]
        with (
            patch_module_args({"node": "n1", "action": action, "controls": controls, **options}),
            pytest.raises(SystemExit),
        ):
            power.main()
        result: Json = json.loads(capsys.readouterr().out)
        return result

    return run_it


def references(result: Json) -> list[str]:
    return [entry["reference"] for entry in result["boot_order"]]


def test_the_order_is_read(run: Run, service: Service) -> None:
    result = run()
    assert not result["changed"]
    assert [tuple(entry.values()) for entry in result["boot_order"]] == [
        ("Boot0000", "other", "Shell"),
        ("Boot0001", "disk", "sled"),
        ("Boot0002", "pxe", "UEFI PXEv4"),
        ("Boot0003", "pxe", "UEFI HTTPv4"),
    ]
    assert not [one for one in service.asked if one.startswith("PATCH")]


def test_the_order_is_set_once(run: Run, service: Service) -> None:
    expected = ["Boot0003", "Boot0002", "Boot0001", "Boot0000"]
    result = run(order=["Boot0003", "pxe", "disk"])
    assert (result["changed"], references(result), service.order()) == (True, expected, expected)
    assert not run(order=["Boot0003", "pxe", "disk"])["changed"]
    assert [one for one in service.asked if one.startswith("PATCH")] == [f"PATCH {SYSTEM}"]


def test_check_mode_sets_nothing(run: Run, service: Service) -> None:
    result = run(order=["pxe"], _ansible_check_mode=True)
    assert (result["changed"], references(result), service.order()) == (True, list(OPTIONS), list(OPTIONS))


@pytest.mark.parametrize("pending", [[], ["Boot0001", "Boot0000", "Boot0002", "Boot0003"]])
def test_settings_that_wait_for_the_next_start(run: Run, service: Service, pending: list[str]) -> None:
    service.keep_settings_apart(BootOrder=pending)
    before = pending or list(OPTIONS)
    assert references(run()) == before
    result = run(order=["pxe"])
    after = ["Boot0002", "Boot0003", *[one for one in before if one < "Boot0002"]]
    assert (references(result), service.order(SETTINGS), service.order()) == (after, after, list(OPTIONS))


def test_settings_that_hold_no_order(run: Run, service: Service) -> None:
    service.keep_settings_apart(BootSourceOverrideTarget="None")
    assert run(order=["disk"])["changed"]
    assert service.order()[0] == "Boot0001"


def test_an_order_that_cannot_be(run: Run, service: Service) -> None:
    failed = run(order=["Boot0009"])
    assert failed["kind"] == "refused"
    assert "it has no boot entry Boot0009, but Boot0000 other Shell, Boot0001 disk sled, " in failed["msg"]
    service.deaf = True
    failed = run(order=["disk"], timeout=0.1)
    assert failed["kind"] == "lied"
    assert "it accepted bootorder, but after 0.1 s it does not show that order" in failed["msg"]
    service.resources[SYSTEM]["Boot"]["BootOrderPropertySelection"] = "AliasBootOrder"
    assert "it reports no order of boot entries (Boot.BootOrder)" in run()["msg"]


def test_who_has_no_boot_order_says_what_has(capsys: pytest.CaptureFixture[str]) -> None:
    control = {"driver": "wol", "mac": "52:54:00:77:00:01"}
    with patch_module_args({"node": "n1", "action": "bootorder", "controls": [control]}), pytest.raises(SystemExit):
        power.main()
    failed = json.loads(capsys.readouterr().out)
    assert failed["kind"] == "unsupported"
    assert failed["msg"].endswith(
        "the driver wol has no bootorder: it has on; declare node_boot_order, which imaging sets itself"
    )


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ({"UefiDevicePath": "PciRoot(0x0)/Pci(0x1D,0x0)/NVMe(0x1,00-25)"}, "disk"),
        ({"UefiDevicePath": "PciRoot(0x0)/Pci(0x14,0x0)/USB(0x0,0x0)"}, "other"),
        ({"Alias": "UefiHttp"}, "pxe"),
        ({"Alias": "Hdd", "UefiDevicePath": None}, "disk"),
        ({"Alias": "Cd"}, "other"),
        ({}, "other"),
    ],
)
def test_what_an_entry_starts_from(option: Json, kind: str) -> None:
    assert kind_of(option) == kind


def test_nothing_is_lost_and_nothing_twice() -> None:
    entries = [{"reference": name, "kind": kind} for name, kind in (("a", "pxe"), ("b", "disk"), ("c", "pxe"))]
    assert arranged(entries, ["c", "pxe", "c"]) == ["c", "a", "b"]
    assert arranged(entries, []) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="d"):
        arranged(entries, ["d"])


def fingerprint(file: Path) -> str:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(file.read_text(encoding="ascii"))).hexdigest().upper()


def test_a_pinned_certificate_needs_no_ca(run: Run, certificates: Path) -> None:
    assert run("status", {"fingerprint": fingerprint(certificates / "bmc.crt")})["power_state"] == "on"


def test_a_certificate_of_the_ca_that_is_named(run: Run) -> None:
    assert run("status")["power_state"] == "on"


@pytest.mark.parametrize(
    ("trust", "words"),
    [
        ({"ca_file": "other.crt"}, "its certificate is not trusted"),
        ({}, "set ca_file or fingerprint"),
        ({"fingerprint": "other.crt"}, "not the pinned one"),
        ({"fingerprint": "ca.crt"}, "not the pinned one"),
    ],
)
def test_a_certificate_that_is_not_trusted_is_told_nothing(
    run: Run, service: Service, certificates: Path, trust: Json, words: str
) -> None:
    given = {
        name: str(certificates / file) if name == "ca_file" else fingerprint(certificates / file)
        for name, file in trust.items()
    }
    failed = run("status", given)
    assert failed["kind"] == "untrusted"
    assert words in failed["msg"]
    assert service.asked == []


def test_a_pinned_certificate_needs_no_network(run: Run, service: Service, certificates: Path) -> None:
    pin = {"fingerprint": fingerprint(certificates / "bmc.crt"), "networks": []}
    assert run("status", pin)["power_state"] == "on"
    service.asked.clear()
    failed = run("status", {**pin, "networks": ["10.30.0.0/24"]})
    assert (failed["kind"], service.asked) == ("untrusted", []), "both must match where both are set"


def test_a_certificate_of_a_ca_alone_is_not_enough(run: Run, service: Service, certificates: Path) -> None:
    failed = run("status", {"ca_file": str(certificates / "ca.crt"), "networks": []})
    assert (failed["kind"], service.asked) == ("settings", [])
    assert (
        "set power_networks to the networks of the BMCs, such as [10.30.0.0/24], or power_fingerprint" in failed["msg"]
    )


@pytest.mark.parametrize("case", [(False, 1.0, 0), (False, 0.0, 1), (True, 1.0, 1)])
def test_the_device_is_set_by_what_the_state_was_read_from(
    service: Service, certificates: Path, monkeypatch: pytest.MonkeyPatch, case: tuple[bool, float, int]
) -> None:
    tagged, seconds, again = case
    monkeypatch.setattr(redfish, "RECENT", seconds)
    if not tagged:
        monkeypatch.setattr(service, "tag", lambda path: "")
    options = {"address": "127.0.0.1", "port": service.server_address[1], "username": "sled", "password": "s3cret"}
    trust = {"ca_file": str(certificates / "ca.crt"), "networks": ["127.0.0.1"]}
    driver = redfish.Redfish("n1", {**options, **trust})
    assert driver.status() == "on"
    driver.bootdev("pxe", "")
    driver.close()
    system = f"GET {SYSTEM}"
    assert service.asked == [f"GET {SYSTEMS}", system, *[system] * again, f"PATCH {SYSTEM}", system]
