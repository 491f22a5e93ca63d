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

# What an attack gets, from the least to the most.
NOTHING, ALARM, HELD, PLAN, STOPPED, CHANGED, SECRETS = GAINS = (
    "nothing",
    "nothing; alarm",
    "holds it up; alarm",
    "a plan without secrets",
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
            self.say("GET", "plan", token=self.token)
        best = self.token or token
        self.say("GET", "seed", token=best)
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
        if ticket.startswith("sledt_"):  # worth what it is itself: it comes back by it
            self.own.add(ticket.encode())
            self.boot += "-again"
            answer = self.hello(ticket)
            self.token = self.say("GET", "plan", token=answer.token).token or self.token
            self.say("GET", "seed", token=self.token)

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
        """Whether an answer held user data, a key of the site, or a token that is worth more than a claim."""
        return any(
            SECRET.encode() in answer.body
            or ADMIN.encode() in answer.body
            or KEY.encode() in answer.body
            or any(not token.startswith(b"sledc_") for token in {*TOKEN.findall(answer.body)} - self.own)
            for answer in self.answers
        )

    def admitted(self) -> bool:
        """Whether it was the node for a moment."""
        return any(answer.token.startswith("sledb_") or answer.body.startswith(b"plan 1") for answer in self.answers)


def known(machine: Machine) -> Json:
    """What is known of a node, but for the time of its last word."""
    node = machine.site.node(machine.name)
    status = {key: value for key, value in node["status"].items() if key not in ("seen", "updated", "since")}
    log = machine.site.operator("GET", f"/v1/nodes/{machine.name}/log", check=False).body
    return {"status": status, "binding": node.get("binding"), "facts": node.get("facts"), "log": log.decode()}


def gain(stranger: Stranger) -> str:
    """What the attack has got the stranger."""
    victim = stranger.victim
    alarm = bool(victim.site.admission(victim.name)["alarms"])
    if stranger.secrets():
        return SECRETS
    if stranger.admitted():
        return PLAN
    if known(victim) != stranger.before:
        return CHANGED
    if not victim.alive():
        return STOPPED
    if victim.site.admission(victim.name)["state"] == "contested":
        return HELD
    return ALARM if alarm else NOTHING
