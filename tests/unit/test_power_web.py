# SPDX-License-Identifier: Apache-2.0
"""The drivers of Redfish and AMT, against a server that answers as real ones do."""

from __future__ import annotations

import base64
import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.power import amt, redfish, web
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import OFF, ON, UNKNOWN
from ansible_collections.sled.fleet.plugins.module_utils.power.web import Web, digits
from ansible_collections.sled.fleet.tests.unit.drivers import SECRET, a_driver, kind_of


class Bmc(http.server.BaseHTTPRequestHandler):
    """Returns the configured answers, and records requests."""

    answers: ClassVar[dict[str, tuple[int, bytes]]] = {}
    asked: ClassVar[list[tuple[str, str, bytes, Any]]] = []
    taken: ClassVar[list[Any]] = []  # connections
    ends: ClassVar[bool] = False  # each after one answer, without a word
    mute: ClassVar[int] = 0  # requests that it takes, to end the connection without an answer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        self.taken.append(self.client_address)
        super().setup()

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append((self.command, self.path, body, self.headers))
        if Bmc.mute:
            Bmc.mute, self.close_connection = Bmc.mute - 1, True
            return
        status, answer = self.answers.get(f"{self.command} {self.path}", (404, b"{}"))
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Digest realm="R", nonce="abc", qop="auth"')
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.close_connection = self.close_connection or Bmc.ends

    do_GET = do_POST = do_PATCH = _any

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def bmc(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A plain HTTP server; Redfish is made to speak HTTP for it. TLS is proven by molecule/power."""
    Bmc.answers.clear()
    Bmc.asked.clear()
    Bmc.taken.clear()
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


@pytest.mark.parametrize(("ends", "idle", "taken"), [(False, 2.0, 1), (False, 0.0, 3), (True, 2.0, 3)])
def test_redfish_keeps_its_connection(
    bmc: int, monkeypatch: pytest.MonkeyPatch, ends: bool, idle: float, taken: int
) -> None:
    monkeypatch.setattr(Bmc, "ends", ends)
    monkeypatch.setattr(web, "IDLE", idle)
    Bmc.answers |= {"GET /redfish/v1/Systems": members("1"), f"GET {SYSTEM}": (200, system())}
    Bmc.answers[f"POST {SYSTEM}/Actions/Reset"] = (204, b"")
    driver = a_driver(driver="redfish", address="127.0.0.1", port=bmc)
    assert driver.status() == ON
    driver.off()
    assert len(Bmc.taken) == taken
    driver.close()
    assert driver.status() == ON, "it may be asked again"


def test_redfish_asks_once_more_where_a_connection_ends(bmc: int, monkeypatch: pytest.MonkeyPatch) -> None:
    Bmc.answers |= {"GET /redfish/v1/Systems": members("1"), f"GET {SYSTEM}": (200, system())}
    Bmc.answers[f"POST {SYSTEM}/Actions/Reset"] = (204, b"")
    driver = a_driver(driver="redfish", address="127.0.0.1", port=bmc)
    assert driver.status() == ON
    monkeypatch.setattr(Bmc, "mute", 1)
    driver.reset()
    assert [method for method, *_ in Bmc.asked].count("POST") == 2
    monkeypatch.setattr(Bmc, "mute", 2)
    assert kind_of(driver.off)[0] == "unreachable"


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
    assert "accepted BootSourceOverrideTarget Hdd, and reports Pxe" in text


def test_redfish_says_why(bmc: int) -> None:
    driver = a_driver(driver="redfish", address="127.0.0.1", port=bmc)
    Bmc.answers["GET /redfish/v1/Systems"] = (401, b"")
    assert kind_of(driver.status)[0] == "credentials"
    for status in (409, 429, 503):
        Bmc.answers["GET /redfish/v1/Systems"] = (status, b"")
        assert kind_of(driver.status)[0] == "busy"
    Bmc.answers["GET /redfish/v1/Systems"] = (400, b'{"error": {"message": "iDRAC is not ready"}}')
    assert kind_of(driver.status)[0] == "busy"
    Bmc.answers["GET /redfish/v1/Systems"] = (400, b"")
    assert kind_of(driver.status)[0] == "refused"
    Bmc.answers["GET /redfish/v1/Systems"] = members("1", "2")
    assert "it has 2 systems (1, 2): name one of them" in kind_of(driver.status)[1]
    Bmc.answers["GET /redfish/v1/Systems"] = (200, b"<html>")
    assert "is not JSON: is it a Redfish service?" in kind_of(driver.status)[1]
    busy = {"error": {"message": "general", "@Message.ExtendedInfo": [{"Message": "The chassis is locked."}]}}
    Bmc.answers["GET /redfish/v1/Systems"] = (503, json.dumps(busy).encode())
    kind, text = kind_of(driver.status)
    assert kind == "busy"
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
