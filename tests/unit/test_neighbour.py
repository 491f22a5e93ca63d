# SPDX-License-Identifier: Apache-2.0
"""The attacker of the lab's story hostile_neighbour, and what it must not have achieved."""

from __future__ import annotations

import argparse
import re
import runpy
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from ansible_collections.sled.fleet.molecule.lab import verdict
from ansible_collections.sled.fleet.tests.hostile.site import Answer

PROGRAM = Path(__file__).parents[2] / "molecule/lab/stranger"
MAC = "52:54:00:77:00:01"
CLAIM, BOOT, INSTALLED = (f"sled{kind}_525400770001_3_{'0' * 64}" for kind in "cbo")
Json = dict[str, Any]


class Server:
    """A boot server that admits a claim at its first poll, or refuses all."""

    def __init__(self, admits: bool) -> None:
        self.admits, self.asked = admits, ""

    def request(self, method: str, path: str, body: bytes, headers: Json | None, *, plain: bool) -> Answer:
        what = path.rpartition("/")[2]
        bearer = (headers or {}).get("Authorization", "").removeprefix("Bearer ")
        self.asked += f"{what} {bearer[:5]}\n".replace(" \n", "\n")
        if what == "hello":
            return Answer(200, b"claim 1\n", {"sled-token": CLAIM})
        if what == "plan" and bearer == CLAIM:
            return Answer(204, b"", {"sled-token": BOOT}) if self.admits else Answer(401, b"")
        if what == "plan":
            return Answer(200, b"plan 1\n")
        return Answer(200, INSTALLED.encode()) if what == "seed" else Answer(200, b"#!ipxe\n")

    def links(self, _: str) -> Server:
        return self

    def node(self, _: str) -> Json:
        return {"status": {}}

    def files(self, _: str) -> dict[str, bytes]:
        return {}

    def operator(self, *_: Any, **__: Any) -> Answer:
        return Answer(401, b"")


@pytest.fixture
def attack() -> Callable[..., Any]:
    """Takes four turns against a server, and returns the attack."""
    program = runpy.run_path(str(PROGRAM), run_name="stranger")

    def run(server: Server) -> Any:
        done = program["Attack"](argparse.Namespace(plain="", tls="", mac=MAC))
        victim = program["Victim"](server, MAC)
        stranger = program["Stranger"](victim, victim)
        for _ in range(4):
            done.turn(stranger)
        return done

    return run


def test_a_stranger_that_is_admitted_asks_for_the_seed(attack: Any) -> None:
    server = Server(admits=True)
    report = attack(server).report()
    boot = "52-54-00-77-00-01.ipxe\n"
    assert (
        server.asked == boot + "hello\n" + boot + "plan sledc\nseed sledb\n" + (boot + "plan sledb\nseed sledb\n") * 2
    )
    assert report["admitted"] and report["secrets"] and report["turns"] == 4
    assert report["answers"] == {"hello 200": 1, "plan 200": 2, "plan 204": 1, "script 200": 4, "seed 200": 3}


def test_a_stranger_that_is_refused_claims_again(attack: Any) -> None:
    report = attack(Server(admits=False)).report()
    assert not report["admitted"] and not report["secrets"]
    assert report["answers"] == {"hello 200": 2, "plan 401": 2, "script 200": 4}


class Asked(BaseHTTPRequestHandler):
    """Notes what is requested, and closes a connection after its third request."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[str]] = []
    served = 0

    def do_GET(self) -> None:
        self.seen.append(self.path.rpartition("/")[2])
        self.answer(b"#!ipxe\n" * 20_000)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        assert re.fullmatch(rf"hello 1\nboot id=stranger-[0-9a-f-]+ nic={MAC}\n", body), body
        self.seen.append(self.path.rpartition("/")[2])
        self.answer(b"")

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Sled-Token", BOOT)
        self.end_headers()
        self.wfile.write(body)
        self.served += 1
        self.close_connection = self.served == 3

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


def test_a_flood_is_scripts_and_claims() -> None:
    program = runpy.run_path(str(PROGRAM), run_name="stranger")
    Asked.seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Asked) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{server.server_port}"
        args = argparse.Namespace(plain=host, tls=host, mac=MAC)
        attack, source = program["Attack"](args), program["Flood"](args, "127.0.0.1")
        source._tls = argparse.Namespace(wrap_socket=lambda link: link)
        for _ in range(4):
            attack.flood(source)
        source.close()
        server.shutdown()
    report = attack.report()
    assert Asked.seen == ["52-54-00-77-00-01.ipxe", "hello"] * 4
    assert report["answers"] == {"hello 200": 4, "script 200": 4} and report["admitted"] and report["turns"] == 4
    attack.flood(source)  # to a server that is away
    assert attack.report()["answers"] == report["answers"] and attack.report()["turns"] == 5


def test_a_server_that_is_away_ends_nothing(attack: Any) -> None:
    server = Server(admits=True)

    def away(*_: Any, **__: Any) -> Answer:
        raise ConnectionRefusedError

    server.request = away  # type: ignore[method-assign]
    assert attack(server).report()["turns"] == 4


def event(kind: str, second: float = 0.0, detail: str = "", **more: str) -> Json:
    return {"kind": kind, "time": f"2026-01-02T03:04:{second:09.6f}Z", "detail": detail, **more}


EVENTS = [
    event("claim", 5.0, "AAAA-AAAA from 10.77.0.30"),
    event("admit", 6.0, "AAAA-AAAA from 10.77.0.30 at level expected by window"),
    event("claim", 20.0, "BBBB-BBBB from 10.77.0.101"),
    event("rival", 20.5, "BBBB-BBBB from 10.77.0.101: the incumbent at 10.77.0.30 lives"),
    event("admit", 22.0, "BBBB-BBBB from 10.77.0.101 at level proven by console"),
    event("begin", verb="wipe"),
    event("begin", verb="write"),
    event("operational"),
]
REPORT: Json = {"admitted": True, "secrets": False}


def test_a_run_that_was_attacked_in_vain() -> None:
    summary = verdict.unharmed(EVENTS, REPORT)
    verdict.in_one_go(EVENTS)
    verdict.alarms(EVENTS, "rival")
    verdict.admitted_by(EVENTS, "console")
    verdict.never_admitted({"admitted": False})
    assert len(summary["admits"]) == 2 and summary["alarms"][0].startswith("rival: BBBB")
    assert verdict.seconds_to_alarm(EVENTS) == 0.5


def test_what_an_admission_costs() -> None:
    raised = event("admit", 24.0, "BBBB-BBBB from 10.77.0.101 at level proven by person")  # no boot
    assert verdict.seconds_to_admission([*EVENTS[:4], event("admit", 22.0, boot_id="b2"), raised]) == 2.0


WARM = "FAILED: cannot ask the running system: Host key verification\n  failed."
REACHED: Json = {"ssh": ["Child connection from 10.77.0.254:40000"]}


def test_a_warm_start_that_was_refused() -> None:
    verdict.refused(2, WARM, REACHED)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: verdict.refused(2, WARM, {"ssh": []}), "did not reach"),
        (lambda: verdict.refused(2, WARM[:40], REACHED), "was not refused"),
        (lambda: verdict.refused(0, WARM, REACHED), "was not refused: code 0"),
        (lambda: verdict.unharmed(EVENTS, REPORT | {"secrets": True}), "got secrets"),
        (lambda: verdict.unharmed(EVENTS[:-1], REPORT), "operational"),
        (lambda: verdict.in_one_go([*EVENTS, event("begin", verb="write")]), "'write': 2"),
        (lambda: verdict.in_one_go(EVENTS[:5]), "there was none"),
        (lambda: verdict.alarms(EVENTS), "want"),
        (lambda: verdict.alarms(EVENTS, "rival", "link"), "want"),
        (lambda: verdict.admitted_by(EVENTS, "person"), "by console"),
        (lambda: verdict.admitted_by([], "person"), "nobody"),
        (lambda: verdict.never_admitted(REPORT), "was admitted"),
    ],
)
def test_harm_is_found(check: Callable[[], object], message: str) -> None:
    with pytest.raises(verdict.Harm, match=message):
        check()
