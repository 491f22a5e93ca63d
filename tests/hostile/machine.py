# SPDX-License-Identifier: Apache-2.0
"""The machine that is the node, in the states in which a stranger may find it; contract/admission.md, report.md."""

from __future__ import annotations

import io
import itertools
import re
import tarfile
import time
from collections.abc import Callable

from ansible_collections.sled.fleet.tests.hostile.site import DIGEST, KEY, SECRET, Answer, Site
from ansible_collections.sled.fleet.tests.unit.front import UPLOAD

BOOTS = itertools.count(1)
HOST_KEY = KEY.rsplit(" ", 1)[0]
NO_JOB = "1kq7d2g3r9qa"  # nobody's


class Machine:
    """A node of a site, and the machine that it is."""

    worthless = re.compile(rb"sledc_")  # tokens from which nobody gains anything

    def __init__(self, site: Site) -> None:
        number = site.number()
        self.site = site
        self.name = f"n{number}"
        self.mac = f"52:54:00:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
        self.hyphens = self.mac.replace(":", "-")
        self.other = self.mac.replace("52:54:00", "52:54:01")
        self.address = f"10.99.{128 + (number >> 8)}.{number & 255}"
        self.links = site.links(self.address)
        self.claim = self.token = self.installed = self.ticket = self.code = self.up = ""
        self.generation = self.run = 0
        self.job = NO_JOB
        self.boot = f"boot-{next(BOOTS)}"
        self.told = ""  # the boot that has sent its facts
        spec = {"mac": self.mac, "macs": [self.other], "name": self.name, "disk": "serial:1"}
        site.operator("PUT", f"/v1/nodes/{self.name}", spec)

    # What an operator does.

    def bind(self, again: bool = False, **spec: object) -> None:
        path = f"/v1/bindings/{self.name}{'?reimage=true' if again else ''}"
        answer = self.site.operator("PUT", path, {"node": self.name, **spec})
        self.generation = answer.json()["generation"]

    def image(self) -> None:
        self.bind(image="d12", user_data=SECRET, authorized_keys=[KEY])

    def expect(self, **more: object) -> None:
        spec = {"by": "power", "seconds": 900, **more}
        self.site.operator("POST", f"/v1/nodes/{self.name}/expect", spec)

    def get_ticket(self) -> None:
        self.ticket = self.site.operator("POST", f"/v1/nodes/{self.name}/tickets").json()["token"]

    # What the machine says.

    def say(self, method: str, what: str, body: str = "", token: str | None = None) -> Answer:
        bearer = self.token if token is None else token
        headers = {"Content-Type": "text/plain"} | ({"Authorization": f"Bearer {bearer}"} if bearer else {})
        path = f"/node/v1/{self.hyphens}/{what}"
        return self.links.request(method, path, body.encode(), headers)

    def hello(self, token: str = "") -> Answer:
        answer = self.say("POST", "hello", f"hello 1\nboot id={self.boot} nic={self.mac}\n", token)
        self.claim = answer.token or self.claim
        self.code = code_of(answer)
        return answer

    def restart(self, ticket: str = "") -> None:
        """Loses all that was in its memory, and says hello."""
        self.boot, self.claim, self.token, self.ticket, self.run = f"boot-{next(BOOTS)}", "", "", ticket, 0
        answer = self.hello(ticket)
        assert answer.status == 200, answer

    def shows_code(self) -> None:
        """Prints the code of its claim to its console."""
        self.site.shows(self.mac, f"sled: claim {self.code}")

    def waits(self, seconds: float) -> float:
        """Polls, and prints its code each second, until it is admitted; returns how long that took."""
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            self.shows_code()
            answer = self.say("GET", "plan?wait=1", token=self.claim)
            assert answer.status in (200, 204), answer
            if answer.token.startswith("sledb_"):
                self.token = answer.token
                return time.monotonic() - begin
        raise AssertionError(f"not admitted within {seconds} s: {self.site.admission(self.name)}")

    def enter(self, by: str) -> None:
        """Becomes the node: by a window, by a ticket, or by nothing where that is enough."""
        if by == "window":
            self.expect()
        if by == "ticket":
            self.get_ticket()
        answer = self.hello(self.ticket)
        assert answer.status == 200, answer
        self.token = self.say("GET", "plan", token=self.claim).token
        assert self.token.startswith("sledb_"), self.site.admission(self.name)

    def facts(self) -> Answer:
        disk = "disk name=vda serial=1 bytes=4294967296 transport=virtio"
        answer = self.say("POST", "facts", f"facts 1\nboot {self.boot}\n{disk}\n")
        self.token, self.told = answer.token or self.token, self.boot
        return answer

    def plan(self) -> str:
        if self.told != self.boot:
            assert self.facts().status == 204
        answer = self.say("GET", "plan")
        assert answer.status == 200, answer
        self.token = answer.token or self.token
        return self.received(answer)

    def received(self, answer: Answer) -> str:
        """Takes the run of the plan in an answer, which the next poll and the reports name."""
        text = answer.body.decode()
        self.run = int(text.split()[5])
        return text

    def report(self, *lines: str) -> Answer:
        head = f"report 1\ngeneration {self.generation} run {self.run}\nboot {self.boot}\n"
        answer = self.say("POST", "report", head + "".join(f"{line}\n" for line in lines))
        self.token = answer.token or self.token
        return answer

    def does(self, *verbs: str, of: int = 4) -> None:
        """Runs the first steps of its plan."""
        for step, verb in enumerate(verbs, 1):
            for line in (f"begin step={step} of={of} verb={verb}", f"end step={step} verb={verb} code=0 seconds=1.0"):
                answer = self.report(line)
                assert answer.status == 204, (verb, answer)

    def seed(self) -> None:
        answer = self.say("GET", "seed")
        assert answer.status == 200, answer
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as files:
            member = files.extractfile("operational")
            assert member
            self.installed = member.read().decode().strip().rpartition("token=")[2]

    def operational(self) -> None:
        """Its system reports that it runs."""
        body = (
            f"operational 1\ngeneration {self.generation}\nos id=debian version=12 kernel=6.1.0 "
            f"machine_id={'0' * 31}1 boot_id={self.boot}-2 uptime=8.1 start=kexec\n"
        )
        answer = self.say("POST", "operational", body, self.installed)
        assert answer.status == 204, answer

    def alive(self) -> bool:
        """Whether it can still go on with what it does."""
        if self.token:
            return self.say("GET", f"plan?run={self.run}").status in (200, 204)
        return True


def code_of(answer: Answer) -> str:
    """The code in the response to a hello; empty if it was refused."""
    return answer.body.decode().partition("code=")[2].partition(" ")[0]


# States. Each returns how the machine enters at the level of the site, and what it has done by then.


def by_level(machine: Machine) -> str:
    return {"open": "", "expected": "window", "proven": "ticket"}[machine.site.level]


def idle(machine: Machine) -> None:
    """Admitted, without a binding."""
    machine.enter(by_level(machine))
    machine.received(machine.say("GET", "plan"))


def waiting(machine: Machine) -> None:
    """Bound, its power is on, and its firmware has not finished: an operator's act expects it."""
    machine.image()
    if machine.site.level == "expected":
        machine.expect()


def writing(machine: Machine) -> None:
    """In the middle of writing its disk."""
    machine.image()
    machine.enter(by_level(machine))
    machine.plan()
    machine.does("wipe")
    machine.report("begin step=2 of=4 verb=write")


def rescued(machine: Machine) -> None:
    """Under rescue; an operator reads its address and host key."""
    machine.site.operator("PUT", f"/v1/nodes/{machine.name}/rescue", {"authorized_keys": [KEY]})
    machine.enter("ticket")
    machine.plan()
    machine.report(
        "begin step=1 of=1 verb=rescue",
        f"end step=1 verb=rescue code=0 seconds=0.1 detail={machine.address}%20{HOST_KEY.replace(' ', '%20')}",
    )


def running(machine: Machine) -> None:
    """Running a job that has a secret, and has sent the first of its output."""
    spec = {"node": machine.name, "image": "hpl", "secrets": {"key": SECRET}}
    machine.job = machine.site.operator("POST", "/v1/jobs", spec).json()["id"]
    machine.enter("ticket")
    machine.plan()
    machine.does("fetch", of=2)
    machine.report("begin step=2 of=2 verb=run")
    answer = machine.say("GET", f"job?job={machine.job}")
    assert SECRET.encode() in answer.body, answer
    headers = {"Authorization": f"Bearer {machine.token}"}
    answer = machine.links.request("PUT", f"/upload/jobs/{machine.job}/out.000001", b"output", headers)
    assert answer.status == 201, answer


def capturing(machine: Machine) -> None:
    """Its disk is read and becomes an image."""
    machine.bind(capture=f"c-{machine.name}")
    machine.enter("ticket")
    machine.plan()
    file = f"{machine.hyphens}-{machine.generation}-{UPLOAD}.raw.zst"
    (machine.site.folder / "images/captured" / file).write_text(f"a disk with {SECRET}")
    machine.report("begin step=1 of=2 verb=capture")


def captured(machine: Machine) -> None:
    """Its disk has become an image, and it has started its disk again."""
    capturing(machine)
    made = f"digest={DIGEST} bytes=4294967296 file_bytes=6123456 upload={UPLOAD}"
    machine.report(
        f"end step=1 verb=capture code=0 seconds=1.0 {made}",
        "begin step=2 of=2 verb=reboot",
        "end step=2 verb=reboot code=0 seconds=0.1",
    )
    machine.token = ""


def starting(machine: Machine) -> None:
    """Imaged; its system starts for the first time and has the token that states so."""
    machine.image()
    machine.enter("ticket")
    machine.plan()
    machine.does("wipe", "write")
    machine.report("begin step=3 of=4 verb=configure")
    machine.seed()
    machine.report("end step=3 verb=configure code=0 seconds=0.1", "begin step=4 of=4 verb=kexec")
    answer = machine.report("end step=4 verb=kexec code=0 seconds=0.1 way=kexec")
    assert answer.status == 204, answer
    machine.token = ""


def operational(machine: Machine) -> None:
    """Imaged, and its system has reported so."""
    starting(machine)
    machine.operational()


STATES: dict[str, Callable[[Machine], None]] = {
    state.__name__: state
    for state in (idle, waiting, writing, rescued, running, capturing, captured, starting, operational)
}
