# SPDX-License-Identifier: Apache-2.0
"""Switches a node by its controls, tried in turn, and believes none of them: a verb is done when the state is seen."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.power.bootorder import arranged, described
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import (
    FINAL,
    OFF,
    ON,
    UNKNOWN,
    Driver,
    PowerError,
)
from ansible_collections.sled.fleet.plugins.module_utils.power.energy import Energy
from ansible_collections.sled.fleet.plugins.module_utils.power.meter import Span, measure

TARGETS = {"on": ON, "off": OFF, "cycle": ON, "reset": ON, "boot": ON}
FLAG_LIVES = 30.0  # seconds for which a device that was set is trusted; IPMI forgets it after 60
GATES = 3  # turns that are waited for, at most
HOPELESS = (*FINAL, "unreachable")


@dataclass
class Terms:
    """How to go about it."""

    timeout: float = 60.0  # seconds within which the requested state must be observed, unless the control sets another
    interval: float = 1.0  # seconds between two looks
    busy: float = 120.0  # seconds for which a busy control is asked again
    again: float = 5.0  # seconds between two such requests: more of them crash some BMCs
    # Called right before each power-on and reset; the driver if the node is off, so that its boot is expected.
    before_on: Callable[[str], None] = lambda driver: None
    # Called before that and before the device is set, where power comes back.
    window: Callable[[], object] = lambda: None
    # Called right before the request that switches on; returns the seconds waited.
    gate: Callable[[], float] = lambda: 0.0
    expect: Callable[[str], None] = lambda driver: None  # called when a cycle or a reset has ended what ran
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


class Exhausted(SledError):
    """Every control was tried. Final: each would answer the same again."""

    def __init__(self, message: str, final: bool) -> None:
        super().__init__(message)
        self.final = final


@dataclass
class Switch:
    """The switch of one node."""

    node: str
    drivers: list[Driver]
    terms: Terms = field(default_factory=Terms)
    tried: list[Json] = field(default_factory=list)  # what failed, in order
    control: str = ""  # the one that did it, or reported the state
    boot_order: list[Json] = field(default_factory=list)  # as it was read last
    power: str = UNKNOWN  # the state as it was seen last
    gone: list[Driver] = field(default_factory=list)  # asking these again would answer the same, or lock an account

    def status(self) -> str:
        """Return the power state; raise if no capable control reported it."""
        if self._look() == UNKNOWN and self.tried:
            raise self._exhausted("status")
        return self.power

    def do(self, action: str, device: str = "pxe", firmware: str = "", known: str = UNKNOWN) -> bool:
        """Does it, and returns whether that changed something. known: the state, if it was read just before."""
        self.power = known
        if known == UNKNOWN:
            self._look()
        if self.power == action:
            return False
        if action == "reset" and self.power == OFF:
            raise SledError(f"{self.node} is off and cannot be reset: use on or cycle")
        if action == "wait_off":
            self._wait_off()
        elif action == "bootdev":
            self._flag(device, firmware)
        elif action == "boot":
            self._boot(lambda: self._flag(device, firmware))
        elif action != "cycle":
            self._climb(lambda driver: action, lambda driver: self._switch(driver, action))
        elif self.power == OFF or not self._down(("cycle", "off", "reset")):
            self._climb(lambda driver: "on", lambda driver: self._switch(driver, "on"))
        return action != "wait_off"

    def _flag(self, device: str, firmware: str) -> None:
        self._climb(lambda driver: "bootdev", lambda driver: self._ask(driver.bootdev, device, firmware))

    def _boot(self, flag: Callable[[], None]) -> None:
        """Starts it once from a device. Flags of many BMCs live 60 s, or until power goes off: set again before on."""
        was = self.power
        if was != OFF and self._down(("off", "cycle", "reset"), flag):
            return
        try:
            self._climb(lambda driver: "on", lambda driver: self._switch(driver, "on", flag))
        except Exhausted:
            if was == ON and self.power == OFF:  # it ran, so it shall run again, from whatever it boots
                with contextlib.suppress(SledError):
                    self._climb(lambda driver: "on", lambda driver: self._switch(driver, "on"))
            raise

    def order(self, first: list[str], dry: bool = False) -> bool:
        """Puts what is named first in the boot order, or only reads it; returns whether that changes something."""
        changed = False

        def act(driver: Driver) -> None:
            nonlocal changed
            before = self._read_order(driver)
            try:
                wanted = arranged(self.boot_order, first)
            except ValueError as missing:
                driver.fail(
                    "refused", f"it has no boot entry {missing}, but {', '.join(map(described, self.boot_order))}"
                )
            changed = wanted != before
            if changed and not dry:
                driver.set_bootorder(wanted)
                self._until(
                    driver, "bootorder", lambda: self._read_order(driver) == wanted, "it does not show that order"
                )

        self._look()
        self._climb(lambda driver: "bootorder", act)
        return changed

    def watts(self, seconds: float, span: Callable[[], Span | None] | None = None) -> tuple[float, Energy | None]:
        """Reads the power, and the energy of the next seconds, or of a span."""
        found: tuple[float, Energy | None] = 0.0, None

        def act(driver: Driver) -> None:
            nonlocal found
            read, now = self._ask(driver.watts), self.terms.clock()
            found = read, None
            if span or seconds > 0:
                fixed = Span(now, now + seconds)
                found = read, measure(driver, span or (lambda: fixed), self.terms.clock, self.terms.pause)

        self._look()
        self._climb(lambda driver: "watts", act)
        return found

    def _read_order(self, driver: Driver) -> list[str]:
        self.boot_order = driver.bootorder()
        return [entry["reference"] for entry in self.boot_order]

    def _look(self) -> str:
        """Asks the controls in turn, until one tells. Those that cannot be reached are not asked again."""
        for driver in self.drivers:
            if not driver.can("status") or self._gave_up(driver):
                continue
            try:
                self.power = self._ask(driver.status)
            except PowerError as error:
                self._note(driver, "status", error)
                continue
            if self.power != UNKNOWN:
                self.control = driver.where
                return self.power
        if all(self._gave_up(driver) for driver in self.drivers):
            raise self._exhausted("status")
        return UNKNOWN

    def _down(self, order: tuple[str, ...], flag: Callable[[], None] = lambda: None) -> bool:
        """The first half of a cycle; True when a control did all of it."""
        ups = any(driver.can("on") for driver in self.drivers)
        preferred = [one for one in order if ups or one != "off"]

        def verb(driver: Driver) -> str:
            return next((one for one in preferred if driver.can(one)), "cycle")

        return verb(self._climb(verb, lambda driver: self._switch(driver, verb(driver), flag))) != "off"

    def _ask(self, verb: Callable[..., Any], *operands: str, before: Callable[[], None] = lambda: None) -> Any:
        """Asks a control, and while it is busy again, after what comes before that."""
        end = self.terms.clock() + self.terms.busy
        while True:
            try:
                return verb(*operands)
            except PowerError as error:
                left = end - self.terms.clock()
                if error.kind != "busy" or left <= 0:
                    raise
            self.terms.pause(min(self.terms.again, left))
            before()

    def _switch(self, driver: Driver, verb: str, flag: Callable[[], None] = lambda: None) -> None:
        mark = driver.mark() if verb != "on" else ""
        if verb in ("on", "cycle"):
            self.terms.window()
        flag()  # before off too: who refuses the device is left running
        if verb != "off":
            self.terms.before_on(driver.name if verb == "on" else "")  # it is off, as far as a control can tell
        if verb in ("on", "cycle"):
            self._pass_gate(flag)
        self._ask(getattr(driver, verb), before=lambda: self._pass_gate(flag, True) if verb != "off" else None)
        self._see(driver, verb, mark)
        if verb in ("cycle", "reset"):
            self.terms.expect(driver.name)

    def _pass_gate(self, flag: Callable[[], None], stale: bool = False) -> None:
        """Waits for its turn after the device is set: the time that takes differs by BMC, so places move together."""
        for _ in range(GATES):
            if stale:
                flag()
            stale = self.terms.gate() > FLAG_LIVES
            if not stale:
                return

    def _climb(self, verb: Callable[[Driver], str], act: Callable[[Driver], None]) -> Driver:
        """Tries the controls in turn, until one did it and that was seen."""
        for driver in self.drivers:
            if self._gave_up(driver):
                continue
            try:
                if not driver.can(verb(driver)):
                    driver.unsupported(verb(driver))
                act(driver)
            except PowerError as error:
                self._note(driver, verb(driver), error)
            else:
                self.control = driver.where
                return driver
        raise self._exhausted(verb(self.drivers[-1]))

    def _see(self, driver: Driver, verb: str, mark: str) -> None:
        """Waits until the state is what the verb leads to; and until the mark is another one, where there is a mark."""
        target, witness = TARGETS[verb], self._witness(driver)
        self.power = UNKNOWN
        if witness:
            self._until(driver, verb, lambda: witness.status() == target, f"{witness.where} does not say {target}")
            self.power = target
        if mark and (verb != "off" or not witness):
            self._until(driver, verb, lambda: driver.mark() != mark, "the system that ran still runs")

    def _witness(self, driver: Driver) -> Driver | None:
        """Who tells whether it came true: the control itself, or else the first other that can and has not failed."""
        others = [one for one in self.drivers if one is not driver and not self._gave_up(one)]
        return next((one for one in (driver, *others) if one.tells and one.can("status")), None)

    def _until(self, driver: Driver, verb: str, fact: Callable[[], bool], otherwise: str) -> None:
        timeout = float(driver.options.get("timeout") or self.terms.timeout)
        end = self.terms.clock() + timeout
        while True:
            trouble = ""
            try:
                if fact():
                    return
            except PowerError as error:  # BMCs go away for a while when power changes
                trouble = f" ({error})"
            left = end - self.terms.clock()
            if left <= 0:
                driver.fail(
                    "lied",
                    f"it accepted {verb}, but after {timeout:g} s {otherwise}{trouble}:"
                    " look at the machine, or add power_escalation",
                )
            self.terms.pause(min(self.terms.interval, left))

    def _wait_off(self) -> None:
        driver = next((one for one in self.drivers if one.tells and one.can("status") and not self._gave_up(one)), None)
        if driver is None:
            raise SledError(
                f"{self.node}: no power control reports whether it is off: wol and ssh cannot, command only with status"
            )
        end = self.terms.clock() + self.terms.timeout
        while self.power != OFF:
            left = end - self.terms.clock()
            if left <= 0:
                raise SledError(
                    f"{self.node} has not switched itself off within {self.terms.timeout:g} s:"
                    f" {driver.where} says {self.power}"
                )
            self.terms.pause(min(self.terms.interval, left))
            with contextlib.suppress(PowerError):  # asked again, until time is up
                self.power = driver.status()
        self.control = driver.where

    def _gave_up(self, driver: Driver) -> bool:
        return any(driver is one for one in self.gone)

    def _note(self, driver: Driver, verb: str, error: PowerError) -> None:
        if error.kind in HOPELESS:
            self.gone.append(driver)
        self.tried.append(
            {"driver": driver.name, "control": driver.where, "verb": verb, "kind": error.kind, "error": str(error)}
        )

    def _exhausted(self, verb: str) -> Exhausted:
        able = [entry for entry in self.tried if entry["kind"] != "unsupported"]
        said = dict.fromkeys(entry["error"] for entry in able or self.tried)
        final = all(entry["kind"] in FINAL for entry in able)
        return Exhausted(f"{self.node}: {verb}: " + "; then ".join(said), bool(able) and final)
