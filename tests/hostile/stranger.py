# SPDX-License-Identifier: Apache-2.0
"""A machine without credentials on the boot network, and what its attack has got it."""

from __future__ import annotations

import contextlib
import itertools
import re
import ssl
from typing import Any

from ansible_collections.sled.fleet.tests.hostile.machine import Machine
from ansible_collections.sled.fleet.tests.hostile.site import ADMIN, KEY, SECRET, Answer, Json
from ansible_collections.sled.fleet.tests.unit.front import UPLOAD

ADDRESSES = itertools.count(1)
TOKEN = re.compile(rb"sled[a-z]_[0-9a-f]{12}_[0-9]+_[0-9a-f]{64}")
CONFIRMS = re.compile(rb"sled[op]_[0-9a-f]{12}_[0-9]+_[0-9a-f]{64}")

# What an attack gets, from the least to the most.
NOTHING, ALARM, HELD, PLAN, FALSE_UP, STOPPED, CHANGED, SECRETS = GAINS = (
    "nothing",
    "nothing; alarm",
    "holds it up; alarm",
    "a plan without secrets",
    "a false up",
    "stops it",
    "changes what is known of it",
    "its secrets",
)


class Stranger:
    """Sends requests from an address where nobody has been, and keeps every answer."""

    def __init__(self, victim: Machine, neighbour: Machine) -> None:
        number = next(ADDRESSES)
        self.victim, self.neighbour, self.site = victim, neighbour, victim.site
        self.address = f"10.99.{number >> 8 & 127}.{number & 255}"
        self.links = self.site.links(self.address)
        self.answers: list[Answer] = []
        self.claim = self.token = ""
        self.own: set[bytes] = set()  # tickets for its own next boot
        self.boot = f"stranger-{number}"
        self.generation, self.run = victim.generation, victim.run
        self.before = known(victim)

    def move(self, address: str) -> None:
        """Sends from another address from here on."""
        self.links.close()
        self.address, self.links = address, self.site.links(address)

    def close(self) -> None:
        """Closes its connections."""
        self.links.close()

    def note(self) -> None:
        """What an operator has just done is none of the stranger's acts."""
        self.generation, self.run = self.victim.generation, self.victim.run
        self.before = known(self.victim)

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Json | None = None, *, plain: bool = False
    ) -> Answer:
        answer = self.links.request(method, path, body, headers, plain=plain)
        self.answers.append(answer)
        return answer

    def say(self, method: str, what: str, body: str | bytes = b"", token: str = "", mac: str = "") -> Answer:
        """A request of the victim's node API."""
        headers: dict[str, Any] = {"Authorization": f"Bearer {token}"} if token else {}
        data = body.encode() if isinstance(body, str) else body
        return self.request(method, f"/node/v1/{mac or self.victim.hyphens}/{what}", data, headers)

    def connect(self) -> ssl.SSLSocket:
        return self.site.connect(self.address)

    def raw(self, data: bytes) -> None:
        """Sends bytes, and keeps all that comes back within a moment as one answer."""
        with self.connect() as link:
            link.sendall(data)
            link.settimeout(0.3)
            found = b""
            with contextlib.suppress(TimeoutError, OSError):
                while part := link.recv(65536):
                    found += part
        self.answers.append(Answer(0, found))

    def hello(self, token: str = "", more: str = "") -> Answer:
        answer = self.say("POST", "hello", f"hello 1\nboot id={self.boot} nic={self.victim.mac}{more}\n", token)
        self.claim = answer.token or self.claim
        return answer

    def enter(self) -> None:
        """Claims to be the victim, and asks for everything that follows."""
        self.hello()
        self.everything(self.claim)

    def everything(self, token: str) -> None:
        """Every request that the node itself may send, with a token."""
        answer = self.say("GET", "plan", token=token)
        if answer.token.startswith("sledb_"):
            self.token = answer.token
            disk = "disk name=vda serial=1 bytes=4294967296 transport=virtio"
            self.say("POST", "facts", f"facts 1\nboot {self.boot}\n{disk}\n", self.token)
            plan = self.say("GET", "plan", token=self.token).body.decode(errors="replace")
            if plan.startswith("plan 1"):
                self.generation, self.run = int(plan.split()[3]), int(plan.split()[5])
        best = self.token or token
        self.say("GET", "seed", token=best)
        if any(b"\nstart as=" in answer.body for answer in self.answers):
            self.run_from_memory(best)
        ticket = self.say("POST", "ticket", token=best).body.decode(errors="replace").strip()
        self.report(best, "begin step=1 of=4 verb=wipe", "end step=1 verb=wipe code=0 seconds=1.0")
        made = f"digest=sha256:{'ee' * 32} bytes=1 file_bytes=1 upload={UPLOAD}"
        self.report(best, f"end step=1 verb=capture code=0 seconds=1.0 {made}")
        self.report(
            best, f"end step=1 verb=rescue code=0 seconds=0.1 detail=10.0.0.66%20{KEY.replace(' ', '%20')[:80]}"
        )
        self.report(best, "end step=4 verb=kexec code=0 seconds=0.1 way=kexec")
        self.operational(best)
        self.say("POST", "log?step=1", "stranger", best)
        self.say("POST", "lastwords", "stranger", best)
        self.say("GET", f"upload?generation={self.generation}", token=best)
        self.run_job(best)
        if ticket.startswith("sledt_"):  # worth what it is itself: it comes back by it
            self.own.add(ticket.encode())
            self.boot += "-again"
            answer = self.hello(ticket)
            self.token = self.say("GET", "plan", token=answer.token).token or self.token
            self.say("GET", "seed", token=self.token)

    def run_job(self, token: str) -> None:
        """Every request of a node that runs a job."""
        job, headers = self.victim.job, {"Authorization": f"Bearer {token}"} if token else {}
        self.say("GET", f"job?job={job}", token=token)
        self.say("GET", f"job/signal?job={job}", token=token)
        for file in ("out.000001", "err.000001", "files.000001"):
            self.request("GET", f"/node/v1/jobs/{job}/{file}", headers=headers)
            self.request("PUT", f"/upload/jobs/{job}/{file}", b"stranger", headers)
        self.report(token, "end step=2 verb=run code=0 seconds=1.0 exit=0 by=payload out=0 err=0 files=0")

    def run_from_memory(self, token: str) -> None:
        """Every statement of a node that runs its image from memory."""
        self.report(token, "begin step=1 of=2 verb=fetch", "end step=1 verb=fetch code=0 seconds=1.0")
        self.report(token, "begin step=2 of=2 verb=start", "end step=2 verb=start code=0 seconds=1.0")
        for found in sorted({text.decode() for answer in self.answers for text in CONFIRMS.findall(answer.body)}):
            self.request("GET", f"/up/{found}", plain=True)
            self.operational(found)

    def report(self, token: str, *lines: str) -> Answer:
        head = f"report 1\ngeneration {self.generation} run {self.run}\nboot {self.boot}\n"
        return self.say("POST", "report", head + "".join(f"{line}\n" for line in lines), token)

    def operational(self, token: str) -> Answer:
        text = (
            f"operational 1\ngeneration {self.generation}\nos id=stranger version=1 kernel=6.1.0 "
            f"machine_id={'0' * 31}2 boot_id={self.boot} uptime=8.1 start=kexec\n"
        )
        return self.say("POST", "operational", text, token)

    # What it has got.

    def secrets(self) -> bool:
        """Whether an answer held user data, a key of the site, or a token that is worth something."""
        return any(
            SECRET.encode() in answer.body
            or ADMIN.encode() in answer.body
            or KEY.encode() in answer.body
            or any(not self.victim.worthless.match(token) for token in {*TOKEN.findall(answer.body)} - self.own)
            for answer in self.answers
        )

    def up(self, now: Json) -> bool:
        """Whether it holds what confirms, or the node seems to run by what it said."""
        was, status = self.before["status"], now["status"]
        again = any(status.get(key) != was.get(key) for key in ("phase", "confirmed"))
        runs = (again or self.admitted()) and status["phase"] in ("operational", "unconfirmed")
        return runs or any(CONFIRMS.search(answer.body) for answer in self.answers)

    def admitted(self) -> bool:
        """Whether it was the node for a moment."""
        return any(answer.token.startswith("sledb_") or answer.body.startswith(b"plan 1") for answer in self.answers)


def known(machine: Machine) -> Json:
    """What is known of a node, but for the time of its last word."""
    node = machine.site.node(machine.name)
    status = {key: value for key, value in node["status"].items() if key not in ("seen", "updated", "since")}
    log = machine.site.operator("GET", f"/v1/nodes/{machine.name}/log", check=False).body
    job = machine.site.operator("GET", f"/v1/jobs/{machine.job}", check=False).body
    made = {"log": log.decode(), "job": job.decode(), "files": machine.site.files(machine.job)}
    return {"status": status, "binding": node.get("binding"), "facts": node.get("facts"), **made}


def gain(stranger: Stranger) -> str:
    """What the attack has got the stranger."""
    victim = stranger.victim
    now, alarm = known(victim), bool(victim.site.admission(victim.name)["alarms"])
    if stranger.secrets():
        return SECRETS
    up = stranger.up(now)
    if up or stranger.admitted():
        return FALSE_UP if up else PLAN
    if now != stranger.before:
        return CHANGED
    if not victim.alive():
        return STOPPED
    if victim.site.admission(victim.name)["state"] == "contested":
        return HELD
    return ALARM if alarm else NOTHING
