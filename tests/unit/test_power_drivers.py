# SPDX-License-Identifier: Apache-2.0
"""The drivers, against programs and servers that answer as real ones do."""

from __future__ import annotations

import base64
import http.server
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.power import amt, ipmi, redfish, wol
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import OFF, ON, UNKNOWN, Driver, PowerError
from ansible_collections.sled.fleet.plugins.module_utils.power.drivers import DRIVERS, make
from ansible_collections.sled.fleet.plugins.module_utils.power.web import Web, digits

Program = Callable[[str, str], None]
SECRET = "s3cret w0rd"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Puts a program in front of PATH; it writes its arguments to the file said."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def make_one(name: str, body: str) -> None:
        file = tmp_path / name
        file.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/said\n{body}\n', encoding="utf-8")
        file.chmod(0o755)

    return make_one


def a_driver(**options: Any) -> Driver:
    return make("n1", {"address": "10.0.0.1", "username": "sled", "password": SECRET, **options})


def kind_of(work: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(PowerError) as caught:
        work()
    return caught.value.kind, str(caught.value)


def test_ipmi_gives_the_password_by_a_pipe(program: Program, tmp_path: Path) -> None:
    program(
        "ipmitool",
        f"""
for word; do case $word in /dev/fd/*) cat "$word" >{tmp_path}/password ;; esac; done
env >{tmp_path}/environment; echo Chassis Power is on""",
    )
    assert a_driver(driver="ipmi", cipher_suite=3, port=6230).status() == ON
    a_driver(driver="ipmi").bootdev("pxe", "uefi")
    a_driver(driver="ipmi").bootdev("disk", "")
    said = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    assert said[0].startswith("-v -I lanplus -C 3 -N 2 -R 3 -H 10.0.0.1 -p 6230 -U sled -f /dev/fd/")
    assert said[0].endswith(" chassis power status")
    assert said[1].endswith(" chassis bootdev pxe options=efiboot")
    assert said[2].endswith(" chassis bootdev disk")
    assert (tmp_path / "password").read_text(encoding="utf-8") == f"{SECRET}\n"
    for name in ("said", "environment"):
        assert SECRET not in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("says", "kind", "words"),
    [
        (
            "> RAKP 2 HMAC is invalid",
            "credentials",
            "user 'sled' or the password is not accepted (hmac is invalid): check username and password",
        ),
        ("RAKP 2 message indicates an error : unauthorized name", "credentials", "(unauthorized name)"),
        (
            "Error in open session response message : invalid authentication algorithm",
            "refused",
            "no cipher suite 17: try cipher_suite 3",
        ),
        ("This BMC does not support IPMI v2 / RMCP+", "refused", "does not speak IPMI 2.0"),
        (
            "Error issuing Get Channel Authentication Capabilities request\nGet Auth Capabilities error",
            "unreachable",
            "check address and port",
        ),
        ("Address lookup for 10.0.0.1 failed\nCould not open socket!", "unreachable", "nobody answers there"),
        (
            "Set Chassis Power Control to Up/On failed: Node busy",
            "refused",
            "it refuses chassis power on: Set Chassis Power Control",
        ),
    ],
)
def test_ipmi_says_why(program: Program, says: str, kind: str, words: str) -> None:
    program("ipmitool", f"echo '{says}' >&2; exit 1")
    found, text = kind_of(a_driver(driver="ipmi").on)
    assert found == kind
    assert text.startswith("ipmi 10.0.0.1:623: ")
    assert words in text


def test_ipmi_without_what_it_needs(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    program("ipmitool", "echo perhaps")
    assert "want on or off" in kind_of(a_driver(driver="ipmi").status)[1]
    assert kind_of(a_driver(driver="ipmi", username="").status) == (
        "settings",
        "ipmi 10.0.0.1:623: the driver ipmi needs username",
    )
    monkeypatch.setenv("PATH", "/nowhere")
    assert "there is no program ipmitool" in kind_of(a_driver(driver="ipmi").status)[1]
    assert set(ipmi.Ipmi.verbs) == {"on", "off", "reset", "status", "bootdev"}


def test_command(program: Program, tmp_path: Path) -> None:
    program(
        "pdu",
        f'echo "$SLED_NODE $SLED_VERB $SLED_DEVICE $SLED_FIRMWARE $SLED_PASSWORD" >>{tmp_path}/environment\n'
        'echo " ON "',
    )
    verbs: Json = {"True": ["pdu", 7, "up"], "off": ["pdu", "down"], "status": ["pdu"], "bootdev": ["pdu", "boot"]}
    driver = a_driver(driver="command", commands=verbs)
    assert [verb for verb in ("on", "off", "cycle", "reset", "status", "bootdev") if driver.can(verb)] == [
        "on",
        "off",
        "status",
        "bootdev",
    ]
    driver.on()
    driver.bootdev("pxe", "uefi")
    assert driver.status() == ON
    assert (tmp_path / "said").read_text(encoding="utf-8").splitlines() == ["7 up", "boot pxe", ""]
    assert (tmp_path / "environment").read_text(encoding="utf-8").splitlines()[:2] == [
        f"n1 on   {SECRET}",
        f"n1 bootdev pxe uefi {SECRET}",
    ]


@pytest.mark.parametrize(("code", "kind"), [(1, "refused"), (69, "unreachable"), (77, "credentials")])
def test_command_that_fails(program: Program, code: int, kind: str) -> None:
    program("pdu", f"echo first >&2; echo socket 7 is locked >&2; exit {code}")
    found, text = kind_of(a_driver(driver="command", commands={"on": ["pdu"]}).on)
    assert (found, text) == (kind, f"command 10.0.0.1: pdu ended with code {code} for on: socket 7 is locked")


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ({}, "needs commands"),
        ({"up": ["pdu"]}, "'up' is no verb: want on, off"),
        ({"on": "pdu up"}, "want a list of words, the program first, not 'pdu up'"),
        ({"on": []}, "want a list of words"),
    ],
)
def test_commands_that_cannot_work(commands: Json, words: str) -> None:
    kind, text = kind_of(lambda: a_driver(driver="command", commands=commands))
    assert kind == "settings"
    assert words in text


def test_command_that_hangs_and_status_that_says_nothing(program: Program) -> None:
    program("pdu", "exec sleep 30")
    assert kind_of(a_driver(driver="command", commands={"on": ["pdu"]}, timeout=0.2).on)[0] == "unreachable"
    program("pdu", "echo perhaps")
    assert (
        "pdu prints 'perhaps' for status: want on or off"
        in kind_of(a_driver(driver="command", commands={"status": ["pdu"]}).status)[1]
    )


def test_ssh(program: Program, tmp_path: Path) -> None:
    program("ssh", "echo 1234-boot")
    driver = a_driver(driver="ssh", username="debian", key_file="/k", ssh_arguments=["-o", "StrictHostKeyChecking=no"])
    assert driver.status() == ON
    assert driver.mark() == "1234-boot"
    driver.off()
    said = (tmp_path / "said").read_text(encoding="utf-8").splitlines()
    assert said[0].startswith(
        "-o BatchMode=yes -o ConnectTimeout=10 -o StrictHostKeyChecking=no -l debian -i /k -- 10.0.0.1 cat /proc/"
    )
    assert "sudo -n systemd-run --quiet --on-active=1 systemctl poweroff" in said[-1]
    a_driver(driver="ssh", username="root").reset()
    assert (
        "then systemd-run --quiet --on-active=1 systemctl reboot"
        in (tmp_path / "said").read_text(encoding="utf-8").splitlines()[-1]
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("echo 'ssh: connect to host 10.0.0.1 port 22: No route to host' >&2; exit 255", "unreachable"),
        ("echo 'debian@10.0.0.1: Permission denied (publickey).' >&2; exit 255", "credentials"),
        ("echo 'sudo: a password is required' >&2; exit 1", "refused"),
    ],
)
def test_ssh_says_why(program: Program, body: str, kind: str) -> None:
    program("ssh", body)
    driver = a_driver(driver="ssh")
    assert driver.status() == UNKNOWN
    assert kind_of(driver.off)[0] == kind


def test_wol_packet() -> None:
    packet = wol.magic("52-54-00-77-00-01")
    assert packet == b"\xff" * 6 + b"\x52\x54\x00\x77\x00\x01" * 16
    framed = wol.frame("52:54:00:77:00:01", b"\x02" * 6)
    assert framed == b"\xff" * 6 + b"\x02" * 6 + b"\x08\x42" + packet
    assert kind_of(a_driver(driver="wol", mac="52:54").on)[0] == "settings"
    assert kind_of(a_driver(driver="wol").on) == ("settings", "wol  by 10.0.0.1: the driver wol needs mac")


class Bmc(http.server.BaseHTTPRequestHandler):
    """Returns the configured answers, and records requests."""

    answers: ClassVar[dict[str, tuple[int, bytes]]] = {}
    asked: ClassVar[list[tuple[str, str, bytes, Any]]] = []

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append((self.command, self.path, body, self.headers))
        status, answer = self.answers.get(f"{self.command} {self.path}", (404, b"{}"))
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Digest realm="R", nonce="abc", qop="auth"')
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PATCH = _any

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def bmc(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A plain HTTP server; Redfish is made to speak HTTP for it. TLS is proven by molecule/power."""
    Bmc.answers.clear()
    Bmc.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bmc)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    real = Web
    monkeypatch.setattr(redfish, "Web", lambda driver, base: real(driver, base.replace("https:", "http:")))
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


SYSTEM = "/redfish/v1/Systems/1"


def system(**values: Any) -> bytes:
    reset = {"target": f"{SYSTEM}/Actions/Reset", "ResetType@Redfish.AllowableValues": ["On", "ForceOff", "PowerCycle"]}
    return json.dumps(
        {"PowerState": "On", "@odata.etag": 'W/"7"', "Actions": {"#ComputerSystem.Reset": reset}, **values}
    ).encode()


def members(*names: str) -> tuple[int, bytes]:
    return 200, json.dumps({"Members": [{"@odata.id": f"/redfish/v1/Systems/{name}"} for name in names]}).encode()


def test_redfish(bmc: int) -> None:
    Bmc.answers.update(
        {
            "GET /redfish/v1/Systems": members("1"),
            f"GET {SYSTEM}": (200, system()),
            f"POST {SYSTEM}/Actions/Reset": (204, b""),
        }
    )
    driver = a_driver(driver="redfish", address="127.0.0.1", port=bmc)
    assert driver.status() == ON
    driver.on()
    assert Bmc.asked[-1][2] == b'{"ResetType": "On"}'
    driver.reset()
    assert Bmc.asked[-1][2] == b'{"ResetType": "PowerCycle"}'
    assert Bmc.asked[-1][3]["Authorization"] == "Basic " + base64.b64encode(f"sled:{SECRET}".encode()).decode()
    Bmc.answers[f"GET {SYSTEM}"] = (200, system(PowerState="PoweringOn"))
    assert driver.status() == UNKNOWN


def test_redfish_next_boot_is_read_back(bmc: int) -> None:
    boot = {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once", "BootSourceOverrideMode": "UEFI"}
    Bmc.answers.update(
        {
            "GET /redfish/v1/Systems": members("1"),
            f"GET {SYSTEM}": (200, system(Boot=boot)),
            f"PATCH {SYSTEM}": (200, b""),
        }
    )
    driver = a_driver(driver="redfish", address="127.0.0.1", port=bmc)
    driver.bootdev("pxe", "uefi")
    patched = next(one for one in Bmc.asked if one[0] == "PATCH")
    assert (json.loads(patched[2]), patched[3]["If-Match"]) == ({"Boot": boot}, 'W/"7"')
    kind, text = kind_of(lambda: driver.bootdev("disk", ""))
    assert kind == "lied"
    assert "accepted BootSourceOverrideTarget Hdd, and says Pxe" in text


def test_redfish_says_why(bmc: int) -> None:
    driver = a_driver(driver="redfish", address="127.0.0.1", port=bmc)
    Bmc.answers["GET /redfish/v1/Systems"] = (401, b"")
    assert kind_of(driver.status)[0] == "credentials"
    Bmc.answers["GET /redfish/v1/Systems"] = members("1", "2")
    assert "it has 2 systems (1, 2): name one of them" in kind_of(driver.status)[1]
    Bmc.answers["GET /redfish/v1/Systems"] = (200, b"<html>")
    assert "is no JSON: is it a Redfish service?" in kind_of(driver.status)[1]
    busy = {"error": {"message": "general", "@Message.ExtendedInfo": [{"Message": "The chassis is locked."}]}}
    Bmc.answers["GET /redfish/v1/Systems"] = (503, json.dumps(busy).encode())
    kind, text = kind_of(driver.status)
    assert kind == "refused"
    assert text.endswith("it refuses GET /redfish/v1/Systems: 503 Service Unavailable The chassis is locked.")
    gone = a_driver(driver="redfish", address="127.0.0.1", port=9)
    assert kind_of(gone.status) == ("unreachable", "redfish 127.0.0.1:9: Connection refused: check address and port")
    driver.options["system"] = "2"
    Bmc.answers["GET /redfish/v1/Systems"] = members("1", "2")
    Bmc.answers["GET /redfish/v1/Systems/2"] = (200, system(PowerState="Off"))
    assert driver.status() == OFF


def test_amt_answers_one_challenge_only(bmc: int) -> None:
    Bmc.answers["POST /wsman"] = (401, b"")
    assert kind_of(a_driver(driver="amt", address="127.0.0.1", port=bmc).status)[0] == "credentials"
    assert len(Bmc.asked) == 2
    assert SECRET not in str([str(one[3]) for one in Bmc.asked])


@pytest.mark.parametrize(("state", "found"), [("2", ON), ("8", OFF), ("6", OFF), ("11", UNKNOWN), ("x", UNKNOWN)])
def test_amt_states(bmc: int, state: str, found: str) -> None:
    Bmc.answers["POST /wsman"] = (200, f"<e xmlns:p='u'><p:PowerState>{state}</p:PowerState></e>".encode())
    assert a_driver(driver="amt", address="127.0.0.1", port=bmc).status() == found


def test_amt_requests(bmc: int) -> None:
    Bmc.answers["POST /wsman"] = (200, b"<e><ReturnValue>0</ReturnValue></e>")
    driver = a_driver(driver="amt", address="127.0.0.1", port=bmc)
    driver.off()
    assert amt.value(Bmc.asked[-1][2], "PowerState") == "8"
    assert amt.value(Bmc.asked[-1][2], "Action").endswith("CIM_PowerManagementService/RequestPowerStateChange")
    driver.bootdev("pxe", "")
    order, role = Bmc.asked[-2][2], Bmc.asked[-1][2]
    assert b"Intel(r) AMT: Force PXE Boot" in order
    assert amt.value(role, "Role") == "1"
    Bmc.answers["POST /wsman"] = (200, b"<e><ReturnValue>1</ReturnValue></e>")
    assert kind_of(driver.on) == (
        "refused",
        f"amt 127.0.0.1:{bmc}: it refuses RequestPowerStateChange: ReturnValue 1 not supported",
    )


@pytest.mark.parametrize("bad", [b"", b"<a>", b"not xml", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", b"\xff\xfe<"])
def test_amt_refuses_what_is_no_plain_xml(bad: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        amt.value(bad, "PowerState")


def test_fingerprints_however_written() -> None:
    assert digits("SHA256:AB:cd:01") == digits("abcd01") == "abcd01"


@pytest.mark.parametrize("body", [b"", b"[]", b'{"error": 3}', b"\xff"])
def test_redfish_errors_without_words(body: bytes) -> None:
    assert redfish.message(body) == ""


def test_an_unknown_driver_is_named_beside_the_known_ones() -> None:
    with pytest.raises(SledError, match=r"n1: there is no power driver telnet: known are amt, command, "):
        a_driver(driver="telnet")


def test_every_driver_of_the_folder_is_known() -> None:
    folder = Path(__file__).resolve().parents[2] / "plugins/module_utils/power"
    text = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    found = re.findall(r'^    name: ClassVar\[str\] = "([a-z0-9_]+)"', text, re.M)
    assert sorted(found) == sorted(DRIVERS)
