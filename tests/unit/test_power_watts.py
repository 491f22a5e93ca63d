# SPDX-License-Identifier: Apache-2.0
"""Watts and joules: drivers against meters that follow known curves, in virtual time."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.power import redfish
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver
from ansible_collections.sled.fleet.plugins.module_utils.power.energy import Energy, Sample, integrate
from ansible_collections.sled.fleet.plugins.module_utils.power.meter import Payload, Span, energy_of, measure
from ansible_collections.sled.fleet.plugins.module_utils.power.switch import Exhausted, Switch, Terms
from ansible_collections.sled.fleet.plugins.module_utils.power.web import Refusal
from ansible_collections.sled.fleet.tests.unit.drivers import a_driver, kind_of

Curve = Callable[[float], float]
IDLE, STEP = 90.0, 0.1
SYSTEM, CHASSIS = "/redfish/v1/Systems/1", "/redfish/v1/Chassis/1"
DCMI = "    Instantaneous power reading:                   {} Watts\n    Power reading state is:                   {}\n"


def load(rng: random.Random, kind: str, seconds: float) -> Curve:
    """The power over idle of a machine that works from 0 to these seconds."""
    top, period, phase = rng.uniform(50, 300), rng.uniform(5, 90), rng.random()
    levels = [rng.random() for _ in range(200)]
    shapes: dict[str, Curve] = {
        "step": lambda at: 1.0,
        "ramp": lambda at: at / seconds,
        "wave": lambda at: 0.5 + 0.5 * math.sin((at / period + phase) * math.tau),
        "burst": lambda at: float((at / period + phase) % 1 < 0.6),
        "phases": lambda at: levels[int(at / 15)],
    }
    return lambda at: top * shapes[kind](at) if 0 <= at < seconds else 0.0


class Meter:
    """What a machine draws, and what its meter shows of it: the moment or the mean of the refresh before."""

    def __init__(self, seed: str, kind: str, seconds: float, refresh: float) -> None:
        rng = random.Random(seed)
        self.phase, self.refresh, self.of_means = rng.uniform(0, refresh), refresh, rng.random() < 0.5
        curve, drift, noise = load(rng, kind, seconds), 0.0, rng.uniform(0.01, 0.05)
        self.drawn: list[float] = []
        for i in range(int((seconds + 80) / STEP)):
            drift = 0.8 * drift + rng.gauss(0, 0.6 * noise)
            self.drawn.append((IDLE + curve(i * STEP - 40)) * (1 + drift))
        self.truth = sum(self.drawn[self._index(0) : self._index(seconds)]) * STEP
        self.now = 0.0

    def _index(self, at: float) -> int:
        return round((at + 40) / STEP)

    def shows(self) -> int:
        """The reading of now."""
        until = self._index(math.floor((self.now - self.phase) / self.refresh) * self.refresh + self.phase)
        near = self.drawn[until - self._index(self.refresh - 40) : until] if self.of_means else self.drawn[until:][:1]
        return round(sum(near) / len(near))

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


class Read(Driver):
    """A driver of such a meter, which may fail after some time."""

    name = "double"

    def __init__(self, meter: Meter, until: float = math.inf, kind: str = "unreachable") -> None:
        super().__init__("n1", {})
        self.meter, self.until, self.kind, self.asked = meter, until, kind, 0

    def watts(self) -> float:
        self.asked += 1
        return self.meter.shows() if self.meter.now < self.until else self.fail(self.kind, "it is gone")


def measured(driver: Read, seconds: float) -> Energy:
    """Over a fixed time."""
    return measure(driver, lambda: Span(0, seconds), driver.meter.clock, driver.meter.pause)


def of_job(driver: Driver, meter: Meter, seconds: float, away: tuple[float, float] = (0, 0)) -> Energy | None:
    """While the payload of a job runs from 0 on; sledd does not answer from one time to another."""
    meter.now = -25 - meter.phase % 1

    def find() -> Json:
        if away[0] <= meter.now < away[1]:
            raise Unreachable("nobody answers")
        if meter.now < 0:
            return {"state": "waiting" if meter.now < -15 else "preparing"}
        return {"started": "2026"} | (
            {"state": "running"} if meter.now < seconds else {"state": "done", "seconds": seconds}
        )

    def read(span: Callable[[], Span | None]) -> Energy:
        return measure(driver, span, meter.clock, meter.pause)

    return energy_of(Payload(find, meter.clock), read, meter.pause)


@pytest.mark.parametrize("refresh", [1.0, 5.0, 10.0])
def test_the_band_holds_the_truth(refresh: float) -> None:
    kinds, held = ["step", "ramp", "wave", "burst", "phases"], 0
    for run in range(100):
        seconds = refresh * (15 + run % 20)
        meter = Meter(f"{refresh} {run}", kinds[run % len(kinds)], seconds, refresh)
        energy = of_job(Read(meter), meter, seconds)
        assert energy is not None
        assert energy.least is not None
        assert energy.most is not None
        held += energy.least <= meter.truth <= energy.most
    assert held >= 95


def test_a_figure_at_one_refresh_a_second() -> None:
    for run in range(30):
        meter = Meter(f"figure {run}", ("step", "ramp", "phases")[run % 3], 120, 1.0)
        for energy in (measured(Read(meter), 120), of_job(Read(meter), meter, 120)):
            assert energy is not None
            assert energy.joules == pytest.approx(meter.truth, rel=0.01)
            assert energy.refresh == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("seconds", "refresh"), [(5.0, 1.0), (60.0, 10.0)])
def test_fewer_than_ten_refreshes_are_no_figure(seconds: float, refresh: float) -> None:
    meter = Meter("short", "step", seconds, refresh)
    energy = of_job(Read(meter), meter, seconds)
    assert energy is not None
    assert energy.joules is None
    assert "a figure needs 10" in energy.reason
    assert energy.least is not None
    assert energy.most is not None
    assert energy.least <= meter.truth <= energy.most


def test_a_meter_that_dies_has_no_figure() -> None:
    energy = measured(Read(Meter("dies", "step", 120, 1.0), until=60), 120)
    assert energy == Energy("no reading from 59 s to 120 s: double: it is gone")
    refused = Read(Meter("locked", "step", 120, 1.0), until=60, kind="credentials")
    assert measured(refused, 120).reason == energy.reason
    assert refused.asked == 61, "another attempt may lock the account"
    assert measured(Read(Meter("never", "step", 120, 1.0), until=0), 120).reason.startswith("0 readings in 120 s")


def test_a_job_whose_start_is_not_known_has_no_figure() -> None:
    meter = Meter("away", "step", 120, 1.0)
    energy = of_job(Read(meter), meter, 120, away=(-3, 17))
    assert energy is not None
    assert energy.joules == pytest.approx(meter.truth, rel=0.01), "the end is known, and how long it ran"
    energy = of_job(Read(meter), meter, 120, away=(-3, 135))
    assert energy is not None
    assert energy.joules is None
    assert "the start is known to within" in energy.reason
    assert energy.least is not None
    assert energy.most is not None
    assert energy.least <= meter.truth <= energy.most


def test_a_job_whose_payload_did_not_start_has_no_energy() -> None:
    meter = Meter("none", "step", 120, 1.0)
    payload = Payload(lambda: {"state": "failed"}, meter.clock)
    assert energy_of(payload, lambda span: measure(Read(meter), span, meter.clock, meter.pause), meter.pause) is None


def test_a_meter_that_repeats_its_last_reading_has_no_figure() -> None:
    samples = [Sample(at, 100.0 + min(at, 60) % 7) for at in range(121)]
    energy = integrate(samples, 0, 120)
    assert energy.joules is None
    assert energy.reason == "the reading stayed the same for 60 s, and changed every 1.0 s before"


def test_one_reading_may_be_missing() -> None:
    samples = [Sample(at, 100.0 + at % 2) for at in range(122) if at not in (50, 51)]
    assert integrate(samples, 0, 120).joules == pytest.approx(120 * 100.5, rel=0.001)
    assert integrate([one for one in samples if one.at != 52], 0, 120).reason == "no reading from 49 s to 53 s"


class Bmc:
    """A Redfish service, in the place of its web client."""

    tag = ""

    def __init__(self, resources: Json) -> None:
        chassis = {name: {"@odata.id": f"{CHASSIS}/{name}"} for name in ("EnvironmentMetrics", "Power")}
        self.asked: list[str] = []
        self.resources: Json = {
            "/redfish/v1/Systems": {"Members": [{"@odata.id": SYSTEM}]},
            SYSTEM: {"PowerState": "On", "Links": {"Chassis": [{"@odata.id": CHASSIS}]}},
            CHASSIS: chassis,
            **{f"{CHASSIS}/{name}": resource for name, resource in resources.items()},
        }

    def __call__(self, *_: Any) -> Bmc:
        return self

    def send(self, method: str, path: str, *_: Any) -> bytes:
        self.asked.append(path)
        if path not in self.resources:
            raise Refusal(404, b"")
        return json.dumps(self.resources[path]).encode()


def test_redfish_reads_the_meter_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    new, old = {"PowerWatts": {"Reading": 214.5}}, {"PowerControl": [{"Name": "x"}, {"PowerConsumedWatts": 210}]}
    for resources, watts in (({"EnvironmentMetrics": new, "Power": old}, 214.5), ({"Power": old}, 210.0)):
        bmc = Bmc(resources)
        monkeypatch.setattr(redfish, "Web", bmc)
        driver = a_driver(driver="redfish")
        assert [driver.watts(), driver.watts()] == [watts, watts]
        assert bmc.asked[-2:] == [bmc.asked[-1]] * 2, "the second reading is one request"
    bmc.resources[f"{CHASSIS}/Power"] = {}
    assert kind_of(driver.watts)[1].endswith(f"it reports no power in {CHASSIS}/Power")
    monkeypatch.setattr(redfish, "Web", Bmc({"EnvironmentMetrics": {"PowerWatts": {"Reading": None}}}))
    assert "EnvironmentMetrics or Power of its chassis" in kind_of(a_driver(driver="redfish").watts)[1]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that print what is in this file, and end with its code."""
    for name in ("ipmitool", "pdu"):
        (tmp_path / name).write_text(f"#!/bin/sh\ncat {tmp_path}/printed\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "printed"


@pytest.mark.parametrize("name", ["ipmi", "redfish", "command"])
def test_drivers_follow_a_curve(name: str, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics: Json = {}
    meter = Meter(name, "phases", 120, 1.0)
    monkeypatch.setattr(redfish, "Web", Bmc({"EnvironmentMetrics": metrics}))
    driver = a_driver(driver=name, commands={"watts": ["pdu"]})

    def show() -> None:
        program.write_text(DCMI.format(meter.shows(), "activated") if name == "ipmi" else f"{meter.shows()}\n")
        metrics["PowerWatts"] = {"Reading": meter.shows()}

    def pause(seconds: float) -> None:
        meter.now += seconds
        show()

    monkeypatch.setattr(meter, "pause", pause)
    show()
    energy = of_job(driver, meter, 120)
    assert energy is not None
    assert energy.joules == pytest.approx(meter.truth, rel=0.01), energy


@pytest.mark.parametrize(
    ("name", "printed", "words"),
    [
        ("ipmi", DCMI.format(170, "deactivated"), "does not measure power by DCMI"),
        ("ipmi", "DCMI request failed", "does not measure power by DCMI"),
        ("command", "214 W", "pdu prints '214 w' for watts: want a number"),
        ("command", "-3", "want a number"),
        ("command", "nan", "want a number"),
    ],
)
def test_what_is_no_reading(name: str, printed: str, words: str, program: Path) -> None:
    program.write_text(printed, encoding="ascii")
    kind, text = kind_of(a_driver(driver=name, commands={"watts": ["pdu"]}).watts)
    assert kind == "refused"
    assert words.lower() in text.lower()


def test_the_next_control_has_the_meter(program: Path) -> None:
    program.write_text("214.5", encoding="ascii")
    controls = [
        a_driver(driver="wol", mac="52:54:00:77:00:01"),
        a_driver(driver="command", commands={"watts": ["pdu"]}),
    ]
    switch = Switch("n1", controls, Terms())
    assert switch.watts(0) == (214.5, None)
    assert switch.control == "command 10.0.0.1"
    with pytest.raises(Exhausted, match="the driver wol has no watts: it has on"):
        Switch("n1", controls[:1], Terms()).watts(0)
