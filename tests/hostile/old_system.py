# SPDX-License-Identifier: Apache-2.0
"""Root of an installed system, whose machine an operator gives to somebody else, and what it gets of the next image."""

from __future__ import annotations

import concurrent.futures
import contextlib
import inspect
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

from ansible_collections.sled.fleet.tests.hostile.machine import STATES, Machine, code_of, operational
from ansible_collections.sled.fleet.tests.hostile.site import DEADLINE, SECRET, Site
from ansible_collections.sled.fleet.tests.hostile.stranger import GAINS, NOTHING, PLAN, SECRETS, Stranger

SEARCH = 1.5  # seconds within which the console is searched

# What operators do to image the machine again, from what suspects least to what suspects most.


def warm(thief: Thief) -> None:
    """A warm start, whose ticket root does not use."""
    thief.next_image()
    thief.tries()
    ticket = thief.site.operator("POST", f"/v1/nodes/{thief.victim.name}/boot").json()["ticket"]
    thief.tries()
    thief.restart(ticket)


def power(thief: Thief) -> None:
    """A reset by the BMC."""
    thief.next_image()
    thief.tries()
    thief.reset()


def handover(thief: Thief) -> None:
    """A binding with `handover`, then a reset by the BMC."""
    thief.next_image(handover=True)
    thief.started = True  # what an operator has trusted is nothing any more
    thief.tries()
    for what in ("boot", "tickets"):
        answer = thief.site.operator("POST", f"/v1/nodes/{thief.victim.name}/{what}", check=False)
        assert answer.status == 409, answer
    thief.reset()


ACTS: tuple[Callable[[Thief], None], ...] = (warm, power, handover)


class Thief(Stranger):
    """Root of the old system, and a machine elsewhere that works with it."""

    def __init__(self, victim: Machine, neighbour: Machine, attempt: Callable[[Thief], None]) -> None:
        super().__init__(victim, neighbour)
        self._attempt = attempt
        self.tickets: list[str] = []
        self.started = False  # the machine, by a reset
        self.claims: list[str] = []

    def claims_it(self, ticket: str = "") -> str:
        """Claims to be the node, and returns the code."""
        answer = self.hello(ticket)
        if answer.token:
            self.claims.append(answer.token)
        return code_of(answer)

    def tries(self) -> None:
        """Does once more what the old system can do, and requests all that it might have got by that."""
        self.boot = f"{self.boot.partition('/')[0]}-{len(self.answers)}"[:60]
        self._attempt(self)
        time.sleep(SEARCH)
        self.requests()

    def requests(self) -> None:
        """Requests everything with all that it ever got."""
        if self._attempt in PATIENT and not self.started:
            return
        for ticket in self.tickets:
            self.claims_it(ticket)
        for token in list(self.claims):
            self.everything(token)
        if self.token:
            answer = self.say("GET", "plan", token=self.token)
            self.token = answer.token if answer.token.startswith("sledb_") else self.token
            self.say("GET", "seed", token=self.token)

    def next_image(self, **more: object) -> None:
        """An operator binds the next owner's image. What the thief got before that was its own."""
        self.victim.bind(again=True, image="d12", user_data=SECRET, hostname="next", **more)
        self.answers.clear()
        self.note()

    def reset(self) -> None:
        """The BMC resets the machine. The thief is the first that sends a request after that."""
        self.victim.expect(revoke=True)
        self.started = True
        self.requests()
        self.restart("")

    def restart(self, ticket: str) -> None:
        """The machine boots the Sled system, and becomes the node."""
        time.sleep(1)  # a line of the second of the reset does not count
        self.victim.restart(ticket)
        self.victim.waits(DEADLINE)
        self.requests()


# What the old system does, each before and after the next image is bound.


def print_a_code(thief: Thief) -> None:
    """Prints the code of another machine's claim on the console, and has that claim poll."""
    thief.site.shows(thief.victim.mac, f"sled: claim {thief.claims_it()}")


def ask_for_its_code(thief: Thief) -> None:
    """Shows an operator, who enters it, the code of another machine's claim, which polls after the reset."""
    spec = {"code": thief.claims_it()}
    thief.site.operator("POST", f"/v1/nodes/{thief.victim.name}/admit", spec, check=False)


def keep_a_ticket(thief: Thief) -> None:
    """Keeps the ticket of a warm start that did not happen, and uses it for another machine after the reset."""
    if not thief.tickets:
        thief.victim.get_ticket()
        thief.tickets.append(thief.victim.ticket)


def keep_its_tokens(thief: Thief) -> None:
    """Uses the tokens of the boot that it had."""
    thief.claims = [token for token in (thief.victim.claim, thief.victim.installed) if token]


ATTEMPTS = (print_a_code, ask_for_its_code, keep_a_ticket, keep_its_tokens)
# An operator has trusted the old system. If it uses that before the reset, it is the node until then.
PATIENT = (ask_for_its_code, keep_a_ticket)


def gain_of(thief: Thief) -> str:
    """The most that the thief got of the next image."""
    return SECRETS if thief.secrets() else PLAN if thief.admitted() else NOTHING


def attack(site: Site, neighbour: Machine, act: Callable[[Thief], None], attempt: Callable[[Thief], None]) -> str:
    """One attempt of the old system of a new node."""
    victim = Machine(site)
    operational(victim)
    with contextlib.closing(victim.links), contextlib.closing(Thief(victim, neighbour, attempt)) as thief:
        thief.tries()
        act(thief)
        return gain_of(thief)


def run(level: str, folder: Path) -> dict[str, str]:
    """What the old system gets of the next image at one level, by act of the operator."""
    site = Site(folder / f"old-{level}", level)
    try:
        site.begin()
        neighbour = Machine(site)
        STATES["idle"](neighbour)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            gains = {act: [pool.submit(attack, site, neighbour, act, attempt) for attempt in ATTEMPTS] for act in ACTS}
            return {
                act.__name__: max((future.result() for future in futures), key=GAINS.index)
                for act, futures in gains.items()
            }
    finally:
        site.end()


def described(what: Callable[..., None]) -> str:
    """The description, as an item of a list."""
    return " ".join((inspect.getdoc(what) or "").split()).rstrip(".")


def broken(results: dict[str, dict[str, str]]) -> list[str]:
    """Where the old system gets something, at level open only after a handover."""
    return [
        f"old system at level {level}: {act}: {found}"
        for level, gains in results.items()
        for act, found in gains.items()
        if (level != "open" or act == handover.__name__) and found != NOTHING
    ]


def table(results: dict[str, dict[str, str]]) -> str:
    """What the old system gets of the next image, by act and level."""
    head = f"| the operator's act | {' | '.join(results)} |\n{'|---' * (len(results) + 1)}|\n"
    rows = "".join(
        f"| {described(act)} | {' | '.join(found[act.__name__] for found in results.values())} |\n" for act in ACTS
    )
    attempts = "; ".join(described(attempt)[0].lower() + described(attempt)[1:] for attempt in ATTEMPTS)
    text = f"""An operator images a machine again. Root of the system before works with another machine, before and
    after the next image is bound, and sends the first request after the reset. It {attempts}. It gets of the next
    image:"""
    return f"{textwrap.fill(' '.join(text.split()), 100)}\n\n{head}{rows}\n"
