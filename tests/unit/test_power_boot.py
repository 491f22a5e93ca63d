# SPDX-License-Identifier: Apache-2.0
"""One start from a device, with BMCs that forget the device, take long, and are busy."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import SledError
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import OFF, ON, Driver
from ansible_collections.sled.fleet.plugins.module_utils.power.switch import FLAG_LIVES as TRUSTED
from ansible_collections.sled.fleet.plugins.module_utils.power.switch import Exhausted, Switch, Terms
from ansible_collections.sled.fleet.plugins.module_utils.power.window import gate_of, window_of

FLAG_LIVES = 60.0  # seconds


class Bmc(Driver):
    """A BMC whose boot flag ends after 60 s and with power; verbs may be busy at first, and off may take long."""

    name: ClassVar[str] = "bmc"
    verbs: ClassVar[tuple[str, ...]] = ("on", "off", "status", "bootdev")

    def __init__(self, off_takes: float = 0.0, busy: dict[str, float] | None = None, kept: bool = True) -> None:
        super().__init__("n1", {"address": "a"})
        self.now, self.off_at, self.flag_until = 0.0, float("inf"), 0.0
        self.off_takes, self.busy, self.kept = off_takes, busy or {}, kept
        self.state, self.booted, self.done = ON, "", list[str]()

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def _take(self, verb: str) -> None:
        if self.now < self.busy.get(verb, 0.0):
            self.fail("busy", "the session is lost")
        self.done.append(verb)

    def status(self) -> str:
        if self.now >= self.off_at:
            self.state, self.off_at, self.flag_until = OFF, float("inf"), 0.0
        return self.state

    def off(self) -> None:
        self._take("off")
        self.off_at = self.now + self.off_takes

    def bootdev(self, device: str, firmware: str) -> None:
        if not self.kept and self.state == OFF:
            self.fail("lied", "it accepted the device, and forgets it")
        self._take("bootdev")
        self.flag_until = self.now + FLAG_LIVES

    def on(self) -> None:
        self._take("on")
        self.state, self.booted = ON, "network" if self.now < self.flag_until else "disk"


def boot(bmc: Bmc, window: float = 0.0, **terms: Any) -> Switch:
    switch = Switch("n1", [bmc], Terms(clock=bmc.clock, pause=bmc.pause, window=lambda: bmc.pause(window), **terms))
    switch.do("boot", "pxe", "uefi")
    return switch


@pytest.mark.parametrize("window", [0.0, 20.0, 90.0])
@pytest.mark.parametrize("off_takes", [3.0, 45.0])
def test_flags_that_end_with_power_and_after_a_minute(off_takes: float, window: float) -> None:
    bmc = Bmc(off_takes)
    boot(bmc, window)
    assert (bmc.booted, bmc.done) == ("network", ["bootdev", "off", "bootdev", "on"])


@pytest.mark.parametrize("verb", ["off", "bootdev", "on"])
@pytest.mark.parametrize("seconds", [1.0, 59.0, 100.0])
def test_a_busy_bmc_is_asked_again(verb: str, seconds: float) -> None:
    bmc = Bmc(busy={verb: seconds})
    switch = boot(bmc)
    assert (bmc.booted, switch.tried) == ("network", [])
    assert seconds <= bmc.now <= seconds + 10


def test_a_bmc_that_stays_busy_is_not_a_wrong_password() -> None:
    bmc = Bmc(busy={"off": 1e9})
    with pytest.raises(Exhausted, match="n1: off: bmc a: the session is lost"):
        boot(bmc)
    assert (bmc.state, bmc.now) == (ON, 120)


def test_a_machine_that_ran_is_not_left_off() -> None:
    bmc = Bmc(kept=False)
    with pytest.raises(Exhausted, match="bootdev: bmc a: it accepted the device, and forgets it"):
        boot(bmc)
    assert (bmc.state, bmc.done) == (ON, ["bootdev", "off", "on"])
    bmc = Bmc(kept=False)
    bmc.state = OFF
    with pytest.raises(Exhausted):
        boot(bmc)
    assert (bmc.state, bmc.done) == (OFF, []), "it was off"


def test_who_cannot_set_the_device_is_not_switched_off() -> None:
    bmc = Bmc()
    setattr(bmc, "verbs", ("on", "off", "status"))  # noqa: B010
    with pytest.raises(Exhausted, match="has no bootdev"):
        boot(bmc)
    assert (bmc.state, bmc.done) == (ON, [])


def test_a_control_with_only_a_cycle_gets_the_device_first() -> None:
    done: list[str] = []
    bmc = Bmc()
    setattr(bmc, "verbs", ("cycle", "status", "bootdev"))  # noqa: B010
    verb: Callable[[], None] = lambda: done.append("cycle")  # noqa: E731
    setattr(bmc, "cycle", verb)  # noqa: B010
    switch = boot(
        bmc, before_on=lambda _: done.append("informed"), expect=lambda driver: done.append(f"expect {driver}")
    )
    assert (bmc.done, done, switch.power) == (["bootdev"], ["informed", "cycle", "expect bmc"], ON)


def test_a_boot_is_expected_only_once_the_device_is_set() -> None:
    bmc, expected = Bmc(kept=False), list[str]()
    bmc.state = OFF
    with pytest.raises(SledError):
        boot(bmc, before_on=expected.append)
    assert not expected


def test_the_request_waits_for_its_turn_after_the_device_is_set() -> None:
    bmc, done = Bmc(), list[str]()
    bmc.state = OFF

    def wait(name: str, seconds: float) -> float:
        done.append(f"{name} after {bmc.done}")
        bmc.pause(seconds)
        return seconds

    boot(bmc, gate=lambda: wait("gate", 10))
    assert (bmc.booted, done) == ("network", ["gate after ['bootdev']"])


def test_a_device_that_waited_long_is_set_again() -> None:
    bmc, turns = Bmc(), [90.0, 5.0]
    bmc.state = OFF

    def gate() -> float:
        bmc.pause(turns[0])
        return turns.pop(0)

    boot(bmc, gate=gate)
    assert (bmc.booted, bmc.done, turns) == ("network", ["bootdev", "bootdev", "on"], [])


def test_requests_keep_the_window_whatever_their_bmcs_need_before(tmp_path: Path) -> None:
    """Eight in five seconds, of nodes that differ in the time between their place and the request."""
    limit, dice = {"nodes": 8, "seconds": 5.0, "file": str(tmp_path / "window")}, random.Random(18)
    window, gate = window_of(limit), gate_of(limit)
    ready = sorted(window.take(1000.0) + 1000.0 + dice.uniform(0.6, 24) for _ in range(400))
    requests = [now + gate.take(now) for now in ready]
    assert min(later - sooner for sooner, later in zip(requests, requests[8:], strict=False)) > 4.999
    assert max(at - now for at, now in zip(requests, ready, strict=True)) < TRUSTED, "a device would be set twice"
    assert min(later - sooner for sooner, later in zip(ready, ready[8:], strict=False)) < 5.0, (
        "the gate had nothing to do"
    )
