# SPDX-License-Identifier: Apache-2.0
"""What sledd is to know of a node: that it is switched on, and what it drew during a job.

A sledd that is down stops no machine: it is a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import cache

from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.jobs import Jobs
from ansible_collections.sled.fleet.plugins.module_utils.options import read_token
from ansible_collections.sled.fleet.plugins.module_utils.power.meter import Payload, energy_of
from ansible_collections.sled.fleet.plugins.module_utils.power.switch import Switch

LONGEST_NEWS = 15.0  # seconds that telling sledd may hold up a machine
LONGEST_POLL = 1.5  # seconds that a poll of a job may hold up the next reading of a meter
STORING = 600.0  # seconds for which a sledd that does not answer is asked to store an energy
PAUSE = 5.0  # seconds between two such attempts


@cache
def _client(server: str, token: str, ca_file: str | None, timeout: float) -> Client:
    """One for all news of a process, as it keeps connections."""
    return Client(server, token, ca_file, timeout)


def client_of(options: Json, timeout: float = LONGEST_NEWS) -> Client:
    """A client as the options of the module say."""
    token = read_token(options["token"], options["token_file"])
    return _client(options["server"] or "", token, options["ca_file"], timeout)


def job_energy(options: Json, switch: Switch) -> Json | None:
    """Measures the energy of a job, and stores it with the job. None: no control has a meter, or nothing ran."""
    meters = [driver.where for driver in switch.drivers if driver.can("watts")]
    if not meters:
        return None
    polled, terms = Jobs(client_of(options, LONGEST_POLL)), switch.terms
    payload = Payload(lambda: polled.find(options["job"]), terms.clock)
    found = energy_of(payload, lambda span: switch.watts(0, span)[1], terms.pause)
    if found is None:
        return None
    energy = {name: value for name, value in asdict(found).items() if value not in (None, "")}
    energy["source"] = switch.control or ", ".join(meters)
    _store(Jobs(client_of(options)), options["job"], energy, terms.clock() + STORING, switch)
    return energy


def _store(jobs: Jobs, name: str, energy: Json, end: float, switch: Switch) -> None:
    while True:
        try:
            return jobs.put_energy(name, energy)
        except (Unreachable, ApiError) as error:
            if getattr(error, "status", 503) not in (429, 503) or switch.terms.clock() >= end:
                raise
        switch.terms.pause(PAUSE)


def switched_on(options: Json, driver: str, warn: Callable[[str], None]) -> None:
    """What is to be known right before a power-on or a reset. With a driver, the node is off and will boot."""
    power = options["action"] if options["events"] else ""
    if driver and options["expect"]:
        expect(options, driver, warn, power)
    elif power:
        node = options["node"]
        try:
            client_of(options).post_event(node, "power", power)
        except SledError as error:
            warn(f"sledd was not informed that {node} is switched on: {error}")


def expect(options: Json, driver: str, warn: Callable[[str], None], power: str = "") -> None:
    """Makes the boot expected, if that is requested. Without that the machine waits, and an operator admits it.

    Whoever was admitted before has lost its power, unless the control can only wake, or asks the system that runs to
    restart, which may only state so. power: the event, if there is one.
    """
    node, by = options["node"], "wol" if driver == "wol" else "power"
    if not options["expect"]:
        return
    also = {"power": power} if power else {}
    try:
        client_of(options).expect(node, by, options["expect"], revoke=driver not in ("wol", "ssh"), **also)
    except SledError as error:
        warn(f"sledd does not expect {node} to boot, so sledctl admit {node} may be needed: {error}")
