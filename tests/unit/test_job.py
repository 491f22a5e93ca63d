# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.modules import job, power
from ansible_collections.sled.fleet.tests.unit.double import TOKEN
from ansible_collections.sled.fleet.tests.unit.front import ROOT
from ansible_collections.sled.fleet.tests.unit.test_inventory import ansible

Run = Callable[..., Json]
ID = "1kq7d2g3r9qa"
MAC = "52:54:00:77:00:01"
OUT, ERR = b"\x00\xff one\r\ntwo", b"warning\n"


class Site:
    """A sledd with one job, and the web server in front of it, which has the files of jobs."""

    def __init__(self) -> None:
        self.jobs: list[Json] = []  # each read takes one, and the last stays
        self.files: dict[str, bytes] = {}
        self.shows: Json = {}  # of the node
        self.asked: list[tuple[str, str, Json]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"site": self}))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers for a site."""

    site: Site
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        assert self.headers["Authorization"] == f"Bearer {TOKEN}"
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        self.site.asked.append((self.command, self.path, body))
        jobs = self.site.jobs
        if "/files/" in self.path:
            return self.answer(self.site.files.get(self.path.rpartition("/")[2]))
        if self.path == "/v1/nodes/n1":
            node = {"name": "n1", "mac": MAC, "declared": True, "status": {"phase": "idle"}} | self.site.shows
            return self.answer(json.dumps(node).encode())
        if self.path.endswith("/energy"):
            jobs[-1] |= {"energy": body}
        if ID not in self.path and self.command != "POST":
            return self.answer(None)
        taken = jobs.pop(0) if self.command == "GET" and len(jobs) > 1 else jobs[0]
        return self.answer(json.dumps(taken).encode())

    do_POST = do_PUT = do_DELETE = do_GET

    def answer(self, content: bytes | None) -> None:
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")


@pytest.fixture
def sledd() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()


def sent(content: bytes) -> Json:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


ENDED: Json = {"id": ID, "state": "done", "exit": 7, "output": sent(OUT), "errors": sent(ERR), "files": sent(b"tar")}

RAN = ENDED | {"started": "2026-11-28T09:00:00Z", "seconds": 2.0}


def test_it_requests_a_job(sledd: Site, module: Run) -> None:
    sledd.jobs = [{"id": ID, "state": "waiting"}]
    wanted = {
        "node": "n1",
        "image": "hpl",
        "command": ["./xhpl", "1"],
        "environment": {"A": 1},
        "secrets": {"key": "s3"},
    }
    assert module(job, **wanted)["job"]["id"] == ID
    method, path, spec = sledd.asked[-1]
    assert (method, path) == ("POST", "/v1/jobs")
    assert spec["command"] == ["./xhpl", "1"] and spec["environment"] == ["A=1"] and spec["secrets"] == {"key": "s3"}
    assert module(job, **wanted, check=True)["changed"]
    assert sledd.asked[-1][1] == "/v1/jobs?dry_run=true"


def test_it_waits_and_stores_the_output(
    sledd: Site, module: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "PAUSE", 0)
    sledd.files = {"out.000001": OUT[:4], "out.000002": OUT[4:], "err.000001": ERR, "files.000001": b"tar"}
    sledd.jobs = [{"id": ID, "state": "running"}, {"id": ID, "state": "running"}, ENDED]
    folder = tmp_path / "results"
    result = module(job, state="ended", id=ID, dest=str(folder))
    assert result["changed"] and result["job"]["exit"] == 7
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {
        "stdout": OUT,
        "stderr": ERR,
        "artefacts.tar": b"tar",
    }
    assert not module(job, state="ended", id=ID, dest=str(folder))["changed"], "they are there"
    sledd.files.pop("out.000002")
    folder.joinpath("stdout").unlink()
    result = module(job, state="ended", id=ID, dest=str(folder))
    assert result["failed"] and "stdout of job" in result["msg"] and not folder.joinpath("stdout").exists()


def test_it_waits_no_longer(sledd: Site, module: Run) -> None:
    sledd.jobs = [{"id": ID, "state": "running"}]
    assert f"end of job {ID}: it is running" in module(job, state="ended", id=ID, wait=0)["msg"]


def test_it_cancels_once(sledd: Site, module: Run) -> None:
    sledd.jobs = [{"id": ID, "state": "running"}]
    assert module(job, state="cancelled", id=ID)["changed"]
    assert sledd.asked[-1][:2] == ("DELETE", f"/v1/jobs/{ID}")
    sledd.jobs = [ENDED]
    assert not module(job, state="cancelled", id=ID)["changed"]
    assert module(job, state="cancelled", id="000000000000")["failed"]


@pytest.mark.parametrize(
    ("job_of", "controls", "reason"),
    [
        (
            RAN,
            [{"watts": ["sh", "-c", "exit 69"]}],
            "n1: watts: command: sh ended with code 69 for watts: exit code 69",
        ),
        (RAN, [{"watts": ["echo", "90"]}], "1 readings in 2 s"),
        (RAN | {"state": "lost", "seconds": 0}, [{"watts": ["echo", "90"]}], "how long the payload ran is not known"),
        (RAN, [{"status": ["echo", "on"]}], None),
        (ENDED, [{"watts": ["echo", "90"]}], None),
    ],
)
def test_the_energy_of_a_job(sledd: Site, module: Run, job_of: Json, controls: list[Json], reason: str | None) -> None:
    sledd.jobs = [dict(job_of)]
    commands = [{"driver": "command", "commands": one} for one in controls]
    result = module(power, node="n1", action="watts", job=ID, controls=commands)
    puts = [asked for asked in sledd.asked if asked[0] == "PUT"]
    stored = reason and {"reason": reason, "source": "command"}
    assert (result["energy"], puts) == (stored, [("PUT", f"/v1/jobs/{ID}/energy", stored)] if stored else [])


def play(sledd: Site, folder: Path, power: Json) -> str:
    """Runs the playbook, and returns what it prints."""
    given = {"run_on": "n1", "run_image": "hpl", "run_command": ["sh"], "run_dest": str(folder / "run")}
    (folder / "token").write_text(TOKEN)
    (folder / "token").chmod(0o600)
    site = {"sled_server": sledd.url, "sled_ca_file": "", "sled_token_file": str(folder / "token")}
    power = {"power_driver": "command", "power_commands": power, "ansible_connection": "local"}
    (folder / "given.json").write_text(json.dumps(given | site | power))
    (folder / "hosts").write_text("[nodes]\nn1\n[boot_servers]\n")
    ran = ansible("playbook", folder, "-i", "hosts", "-e", "@given.json", str(ROOT / "playbooks/run.yml"))
    return ran.stdout + ran.stderr


def test_the_playbook_runs_a_job_and_writes_one_file(sledd: Site, tmp_path: Path) -> None:
    sledd.jobs = [dict(RAN)]
    sledd.files = {"out.000001": OUT, "err.000001": ERR, "files.000001": b"tar"}
    wait = {"kind": "claim", "for": "an operator", "ends_by": "sledctl admit n1 CODE"}
    sledd.shows = {"job": {"id": ID, "state": "waiting"}, "wait": wait}
    said = play(sledd, tmp_path, {"status": ["echo", "on"], "watts": ["echo", "90"]})
    assert "exit 7" in said and "failed=1" not in said, said
    assert "the node waits for an operator; `sledctl admit n1 CODE` ends it" in said, said
    energy = {"reason": "1 readings in 2 s", "source": "command"}
    assert json.loads((tmp_path / "run/run.json").read_text()) == [sledd.jobs[0] | {"energy": energy}]
    assert [asked[:2] for asked in sledd.asked if asked[0] == "PUT"] == [("PUT", f"/v1/jobs/{ID}/energy")]
    assert (tmp_path / "run/n1/stdout").read_bytes() == OUT


@pytest.mark.parametrize(("seen", "did"), [("08:55:00.5Z", ["on", "off", "on"]), ("09:00:00.1234Z", ["on"])])
def test_the_playbook_restarts_a_node_that_hangs(sledd: Site, tmp_path: Path, seen: str, did: list[str]) -> None:
    state = tmp_path / "power"
    state.write_text("on\n")
    power = {word: ["sh", "-c", f"echo {word} >>{state}"] for word in ("on", "off")}
    power |= {"status": ["tail", "-n1", str(state)], "bootdev": ["true"]}
    lost = {"id": ID, "state": "lost", "ended_by": "node", "ended": "2026-11-28T09:00:00.1234Z"}
    sledd.jobs = [lost | {"reason": "the node was silent for 5m0s"}]
    sledd.shows = {"status": {"phase": "idle", "seen": f"2026-11-28T{seen}"}}
    said = play(sledd, tmp_path, power)
    assert "is lost: the node was silent" in said.replace("\n", " "), said
    assert state.read_text().split() == did, said
