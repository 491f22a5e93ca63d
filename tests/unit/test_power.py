# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import OFF, ON, UNKNOWN, Driver, PowerError
from ansible_collections.sled.fleet.plugins.module_utils.power.switch import Exhausted, Switch, Terms
from ansible_collections.sled.fleet.plugins.module_utils.power.window import Window, place


class Machine:
    """What all controls of a node switch, and the time."""

    def __init__(self, state: str = OFF) -> None:
        self.state = state
        self.boots = 1
        self.now = 0.0
        self.done: list[str] = []

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


class Control(Driver):
    """A control that does what it is asked, unless it lies or fails."""

    name: ClassVar[str] = "double"
    verbs: ClassVar[tuple[str, ...]] = ("on", "off", "reset", "status", "bootdev")

    def __init__(self, machine: Machine, address: str, lies: bool = False, fails: str = "", **about: Any) -> None:
        super().__init__("n1", {"address": address, "networks": ["10.0.0.0/24"], **about.pop("options", {})})
        self.machine, self.lies, self.fails = machine, lies, fails
        self.asked = 0
        for name, value in about.items():
            setattr(self, name, value)

    def _do(self, verb: str, state: str = "") -> None:
        if self.fails:
            self.fail(self.fails, "as configured")
        self.machine.done.append(f"{self.address}:{verb}")
        if state and not self.lies:
            self.machine.state = state
            self.machine.boots += 1

    def status(self) -> str:
        self.asked += 1
        if self.fails:
            self.fail(self.fails, "as configured")
        return self.machine.state if self.tells else UNKNOWN

    def on(self) -> None:
        self._do("on", ON)

    def off(self) -> None:
        self._do("off", OFF)

    def reset(self) -> None:
        self._do("reset", ON)

    def cycle(self) -> None:
        self._do("cycle", ON)

    def bootdev(self, device: str, firmware: str) -> None:
        self._do(f"bootdev {device} {firmware}")


class System(Control):
    """A running system: it can end, and tells its boot."""

    name: ClassVar[str] = "system"
    verbs: ClassVar[tuple[str, ...]] = ("off", "reset", "status")
    tells: ClassVar[bool] = False

    def mark(self) -> str:
        return str(self.machine.boots) if self.machine.state == ON and not self.fails else ""


def a_switch(machine: Machine, *drivers: Driver, **terms: Any) -> Switch:
    return Switch("n1", list(drivers), Terms(timeout=5, clock=machine.clock, pause=machine.pause, **terms))


def kinds(switch: Switch) -> list[str]:
    return [entry["kind"] for entry in switch.tried]


@pytest.mark.parametrize(
    ("action", "before", "after", "done"),
    [
        ("on", OFF, ON, ["a:on"]),
        ("on", ON, ON, []),
        ("off", ON, OFF, ["a:off"]),
        ("off", OFF, OFF, []),
        ("cycle", ON, ON, ["a:off", "a:on"]),
        ("cycle", OFF, ON, ["a:on"]),
        ("reset", ON, ON, ["a:reset"]),
        ("bootdev", OFF, OFF, ["a:bootdev disk uefi"]),
        ("boot", OFF, ON, ["a:bootdev disk uefi", "a:on"]),
        ("boot", ON, ON, ["a:bootdev disk uefi", "a:off", "a:bootdev disk uefi", "a:on"]),
    ],
)
def test_one_control_does_it(action: str, before: str, after: str, done: list[str]) -> None:
    machine = Machine(before)
    switch = a_switch(machine, Control(machine, "a"))
    assert switch.do(action, "disk", "uefi") == bool(done)
    assert (machine.done, switch.power, switch.tried) == (done, after, [])


def test_reset_of_a_node_that_is_off() -> None:
    machine = Machine(OFF)
    with pytest.raises(SledError, match="n1 is off and cannot be reset: use on or cycle"):
        a_switch(machine, Control(machine, "a")).do("reset")


def test_a_lie_is_found_out_and_the_next_control_does_it() -> None:
    machine = Machine(ON)
    switch = a_switch(machine, Control(machine, "a", lies=True), Control(machine, "b"))
    assert switch.do("off")
    assert (switch.power, switch.control, kinds(switch)) == (OFF, "double b", ["lied"])
    assert "double a: it accepted off, but after 5 s double a does not say off" in switch.tried[0]["error"]


def test_a_control_s_own_timeout() -> None:
    machine = Machine(ON)
    switch = a_switch(machine, Control(machine, "a", lies=True, options={"timeout": 90}), Control(machine, "b"))
    switch.do("off")
    assert machine.now == 90


def test_all_failed_all_is_told() -> None:
    machine = Machine(ON)
    switch = a_switch(machine, Control(machine, "a", lies=True), Control(machine, "b", fails="refused"))
    with pytest.raises(Exhausted, match=r"n1: off: double a: it accepted off.*; then double b: as configured"):
        switch.do("off")
    assert kinds(switch) == ["lied", "refused"]


@pytest.mark.parametrize("kind", ["settings", "credentials", "untrusted", "unreachable"])
def test_who_cannot_be_reached_is_asked_once(kind: str) -> None:
    machine = Machine(ON)
    first = Control(machine, "a", fails=kind)
    switch = a_switch(machine, first, Control(machine, "b"))
    switch.do("cycle")
    assert (first.asked, kinds(switch), machine.done) == (1, [kind], ["b:off", "b:on"])
    alone = a_switch(machine, Control(machine, "a", fails=kind))
    with pytest.raises(Exhausted):
        alone.do("on")
    assert kinds(alone) == [kind]


def test_two_controls_of_one_name_are_two() -> None:
    machine = Machine(ON)
    switch = a_switch(machine, Control(machine, "a", fails="unreachable"), Control(machine, "a"))
    assert switch.status() == ON


def test_a_system_ends_and_the_bmc_starts_it() -> None:
    machine = Machine(ON)
    switch = a_switch(machine, System(machine, "s"), Control(machine, "b"))
    switch.do("cycle")
    assert (machine.done, switch.power) == (["s:off", "b:on"], ON)
    assert kinds(switch) == ["unsupported"]


def test_a_system_alone_restarts_itself_and_that_is_seen() -> None:
    machine = Machine(ON)
    switch = a_switch(machine, System(machine, "s"))
    switch.do("cycle")
    assert machine.done == ["s:reset"]
    with pytest.raises(Exhausted, match="the system that ran still runs"):
        a_switch(machine, System(machine, "s", lies=True)).do("reset")


def test_a_control_with_a_cycle_of_its_own() -> None:
    machine = Machine(ON)
    switch = a_switch(machine, Control(machine, "a", verbs=("cycle", "status")))
    switch.do("cycle")
    assert (machine.done, switch.power) == (["a:cycle"], ON)


def test_who_can_only_wake() -> None:
    machine = Machine(OFF)
    waker = Control(machine, "w", verbs=("on",), tells=False)
    switch = a_switch(machine, waker)
    assert switch.do("on")
    assert (machine.state, switch.power) == (ON, UNKNOWN)
    assert a_switch(machine, waker).status() == UNKNOWN
    with pytest.raises(Exhausted, match="has no off: it has on"):
        a_switch(machine, waker).do("off")
    machine.state = OFF
    witness = Control(machine, "b", verbs=("status",))
    switch = a_switch(machine, waker, witness)
    switch.do("on")
    assert (switch.power, switch.control) == (ON, "double w")
    liar = Control(machine, "w", verbs=("on",), tells=False, lies=True)
    machine.state = OFF
    with pytest.raises(Exhausted, match="double w: it accepted on, but after 5 s double b does not say on"):
        a_switch(machine, liar, witness).do("on")


def test_status_that_fails_is_an_error_and_not_unknown() -> None:
    machine = Machine(ON)
    waker = Control(machine, "w", verbs=("on",), tells=False)
    with pytest.raises(Exhausted, match="n1: status: double a: as configured"):
        a_switch(machine, Control(machine, "a", fails="unreachable"), waker).status()


def test_waiting_for_off_has_a_deadline() -> None:
    machine = Machine(ON)
    with pytest.raises(SledError, match="n1 has not switched itself off within 5 s: double a says on"):
        a_switch(machine, Control(machine, "a")).do("wait_off")
    assert machine.now == 5
    machine.state = OFF
    assert not a_switch(machine, Control(machine, "a")).do("wait_off")
    with pytest.raises(SledError, match="no power control reports whether it is off"):
        a_switch(machine, System(machine, "s")).do("wait_off")


def test_what_comes_right_before_power() -> None:
    machine = Machine(ON)
    terms: Json = {
        "before_on": lambda _: machine.done.append("informed"),
        "window": lambda: machine.done.append("window"),
    }
    a_switch(machine, Control(machine, "a"), **terms).do("cycle")
    assert machine.done == ["a:off", "window", "informed", "a:on"]
    machine.done.clear()
    a_switch(machine, Control(machine, "a"), **terms).do("reset")
    assert machine.done == ["informed", "a:reset"]


@pytest.mark.parametrize(
    ("action", "before", "done"),
    [
        ("on", OFF, ["expect double", "a:on"]),
        ("cycle", OFF, ["expect double", "a:on"]),
        ("cycle", ON, ["a:off", "expect double", "a:on"]),  # not before it is off: what runs there may claim, too
        ("reset", ON, ["a:reset", "expect double"]),
        ("on", ON, []),
        ("off", ON, ["a:off"]),
        ("bootdev", ON, ["a:bootdev pxe "]),
    ],
)
def test_when_a_boot_is_expected(action: str, before: str, done: list[str]) -> None:
    machine = Machine(before)

    def expect(driver: str) -> None:
        machine.done += [f"expect {driver}"] if driver else []

    a_switch(machine, Control(machine, "a"), before_on=expect, expect=expect).do(action)
    assert machine.done == done


def test_nothing_is_expected_of_a_reset_that_failed() -> None:
    machine = Machine(ON)
    expected: list[str] = []
    control = Control(machine, "a", fails="refused", verbs=("reset",))
    with pytest.raises(Exhausted):
        a_switch(machine, control, expect=expected.append).do("reset")
    assert not expected


@pytest.mark.parametrize(
    ("taken", "at"),
    [
        ([], 100.0),
        ([99.0], 100.0),
        ([98.0, 99.0], 108.0),
        ([80.0, 99.0], 100.0),
        ([99.0, 100.0, 109.0, 110.0], 119.0),
        ([90.0, 90.0], 100.0),
        ([1e9, 1e9], 100.0),  # a clock that was set back
    ],
)
def test_place_in_the_window(taken: list[float], at: float) -> None:
    assert place(taken, 100.0, 2, 10.0)[0] == at


def test_window_is_shared_by_its_file(tmp_path: Path) -> None:
    file = str(tmp_path / "new" / "window")
    waits = [Window(2, 10.0, file).wait(lambda: 100.0, lambda s: None) for _ in range(5)]
    assert waits == [0, 0, 10, 10, 20]
    (tmp_path / "new" / "window").write_text('[99.0, "', encoding="ascii")
    assert Window(2, 10.0, file).take(100.0) == 0
    with pytest.raises(SledError, match="a file that this user may write"):
        Window(2, 10.0, str(tmp_path)).take(100.0)


def test_password_of_file_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bmc"
    machine = Machine()
    control = Control(machine, "10.0.0.1", options={"password_file": str(file)})
    with pytest.raises(PowerError, match="No such file"):
        control.secret()
    file.write_text("s3cret\nnotes\n", encoding="ascii")
    file.chmod(0o640)
    with pytest.raises(PowerError, match="readable by others: run chmod 600"):
        control.secret()
    file.chmod(0o600)
    assert control.secret() == "s3cret"
    file.write_text("\n", encoding="ascii")
    with pytest.raises(PowerError, match="its first line is empty"):
        control.secret()
    monkeypatch.setenv("BMC", "fr0m")
    assert Control(machine, "10.0.0.1", options={"password_env": "BMC"}).secret() == "fr0m"
    for options, words in (({"password_env": "NONE"}, "empty or not set"), ({}, "no password")):
        with pytest.raises(PowerError, match=words):
            Control(machine, "10.0.0.1", options=options).secret()
