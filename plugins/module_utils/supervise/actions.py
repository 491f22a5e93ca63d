# SPDX-License-Identifier: Apache-2.0
"""Carries out the actions of the core for one node: events, power, warm starts."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from ansible_collections.sled.fleet.plugins.module_utils.cache import Cache
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.nodes import passing
from ansible_collections.sled.fleet.plugins.module_utils.power import news
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import UNKNOWN, Driver
from ansible_collections.sled.fleet.plugins.module_utils.power.drivers import make
from ansible_collections.sled.fleet.plugins.module_utils.power.switch import Exhausted, Switch, Terms
from ansible_collections.sled.fleet.plugins.module_utils.power.window import gate_of, window_of
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import Acted, Action
from ansible_collections.sled.fleet.plugins.module_utils.supervise.ends import Ends
from ansible_collections.sled.fleet.plugins.module_utils.supervise.login import SshShell
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.plugins.module_utils.supervise.verify import verify
from ansible_collections.sled.fleet.plugins.module_utils.waiting import LONGEST_AWAY
from ansible_collections.sled.fleet.plugins.module_utils.warm_start import CACHE, WarmStart, default_sledc

LONGEST_DETAIL = 512  # characters of an event
LAST_WORDS = 16 << 10  # characters of a console
RETRY = 5.0  # seconds between two attempts to record an event
RECENT = 1.0  # seconds for which a power state that was read for a choice holds for the action that follows


class Tools(NamedTuple):
    """What the actions are carried out with."""

    client: Client
    options: Json  # of the connection to sledd: server, token, token_file, ca_file
    say: Callable[[str], None]
    cache: str = CACHE
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


class Sessions:
    """One session at a time with each BMC: more of them crash some."""

    def __init__(self) -> None:
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def of(self, settings: Settings) -> threading.Lock:
        """The lock of the node's first control; nodes of one chassis share it."""
        first = settings.controls[0] if settings.controls else {}
        place = f"{first.get('driver')} {first.get('address')}:{first.get('port')}" if first.get("address") else ""
        with self._guard:
            return self._locks.setdefault(place or f"node {settings.name}", threading.Lock())


class Actions:
    """Carries out actions. Every method may be called from any thread."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.reported: set[str] = set()  # nodes whose ends their rollout has
        self._sessions, self._ends = Sessions(), Ends(tools.client)
        self._drivers: dict[str, list[Driver]] = {}  # of nodes whose power was read for a choice
        self._seen: dict[str, tuple[str, float]] = {}  # that state, and when

    def carry_out(self, settings: Settings, actions: list[Action], node: Json) -> Acted:
        """Carries out the actions in order, up to the first that fails.

        The node is as it was read last.
        """
        verbs = {
            "note": self._note,
            "enter": self._enter,
            "disk": self._disk,
            "network": self._network,
            "lost": self._lost,
            "verify": self._verify,
            "end": self._end,
        }
        for action in actions:
            try:
                verbs[action.verb](settings, action, node)
            except SledError as error:
                return Acted(str(error), isinstance(error, Exhausted) and error.final)
        return Acted()

    def power(self, settings: Settings) -> str:
        """The power state; unknown if no control reports it."""
        if not settings.controls:
            return UNKNOWN
        state, at = UNKNOWN, self._tools.clock()
        with contextlib.suppress(SledError), self._sessions.of(settings):
            state = self._switch(settings, self._made(settings), 0).status()
        self._seen[settings.name] = (state, at)
        if state == UNKNOWN:
            self._leave(settings)
        return state  # the entry method by power reports why

    def _note(self, settings: Settings, action: Action, _: Json) -> None:
        self._record(settings, "entry", action.detail)

    def _enter(self, settings: Settings, action: Action, node: Json) -> None:
        if action.method != "power":
            self._leave(settings)
        timeout = int(settings.policy.methods[action.method].timeout)
        if action.method == "idle":
            return  # it polls for its plan by itself
        if action.method == "warm":
            self._warm(settings)
        elif action.method == "power":
            self._boot(settings, node, "pxe", timeout)
        elif action.method == "wol":
            wake = dict(settings.woken[0])
            wake["mac"], wake["macs"] = wake.get("mac") or node["mac"], wake.get("macs") or node.get("macs") or []
            self._switch(settings, [make(settings.name, wake)], timeout, "on").do("on")
        elif (node.get("binding") or {}).get("hands_over"):
            self._tools.say(
                f"{settings.name} ({node['mac']}) changes hands: switch it off by hand, run `sledctl admit"
                f" {settings.node} --within 15m --reset`, then start it from the network, all within {timeout} s"
            )
        else:
            self._tools.client.expect(settings.node, "manual", timeout)
            self._tools.say(
                f"{settings.name} ({node['mac']}): start it from the network, by hand, within {timeout} s. Its console"
                f" prints a claim code: with `sledctl admit {settings.node} CODE` it is proven to be the node, and gets"
                " its secrets at once"
            )

    def _disk(self, settings: Settings, action: Action, node: Json) -> None:
        # Recorded first: from then on sledd sends the node to its disk even if it boots from the network.
        self._record(settings, "fallback", action.detail, self._last_words(settings))
        self._boot(settings, node, "disk", 0)

    def _network(self, settings: Settings, action: Action, node: Json) -> None:
        self._record(settings, "fallback", action.detail, self._last_words(settings))
        self._boot(settings, node, "pxe", int(settings.policy.confirm))

    def _lost(self, settings: Settings, action: Action, _: Json) -> None:
        try:
            self._record(settings, "lost", action.detail, self._last_words(settings))
        except ApiError as error:
            if error.status != 409:  # 409: it is no longer starting, so it is not lost but failed
                raise

    def _verify(self, settings: Settings, _: Action, node: Json) -> None:
        verify(settings.login, node, settings.policy.verify, self._tools.clock, self._tools.pause)

    def _end(self, settings: Settings, action: Action, _: Json) -> None:
        """Reports the end of the node to its rollout. What cannot be reported is left to the end of the wave."""
        if not settings.rollout or not (action.detail or settings.last):
            return
        result = {
            "state": "failed" if action.detail else "done",
            "entry_method": action.method,
            "reason": action.detail,
        }
        if refused := self._ends.report(settings.rollout, settings.name, result):
            self._tools.say(f"{settings.name}: its end was not reported to rollout {settings.rollout}: {refused}")
        else:
            self.reported.add(settings.name)

    def _boot(self, settings: Settings, node: Json, device: str, expect: int) -> None:
        """Starts it once from a device: off, seen, window, device, on."""
        reported = ((node.get("facts") or {}).get("firmware") or {}).get("type") or ""
        with self._sessions.of(settings):
            drivers, (known, at) = self._made(settings), self._seen.get(settings.name, (UNKNOWN, 0.0))
            if self._tools.clock() - at >= RECENT:
                known = UNKNOWN
            try:
                self._switch(settings, drivers, expect, "boot").do("boot", device, settings.firmware or reported, known)
            finally:
                self._leave(settings)

    def _made(self, settings: Settings) -> list[Driver]:
        """The node's drivers. They are kept from a look at its power to the action that is chosen by it."""
        if settings.name not in self._drivers:
            self._drivers[settings.name] = [make(settings.name, control) for control in settings.controls]
        return self._drivers[settings.name]

    def _leave(self, settings: Settings) -> None:
        self._seen.pop(settings.name, None)
        for driver in self._drivers.pop(settings.name, []):
            driver.close()

    def _switch(self, settings: Settings, drivers: list[Driver], expect: int, action: str = "status") -> Switch:
        options = {**self._tools.options, "node": settings.node, "action": action, "events": True, "expect": expect}
        terms = Terms(timeout=settings.timeout, clock=self._tools.clock, pause=self._tools.pause)
        terms.before_on = lambda driver: news.switched_on(options, driver, self._tools.say)
        terms.expect = lambda driver: news.expect(options, driver, self._tools.say)
        if settings.window:
            terms.window, terms.gate = window_of(settings.window).wait, gate_of(settings.window).wait
        return Switch(settings.name, drivers, terms)

    def _warm(self, settings: Settings) -> None:
        options = self._tools.options
        shell = SshShell(settings.login)
        try:
            cache = Cache(self._tools.cache, options.get("ca_file"))
            WarmStart(self._tools.client, shell, cache, settings.sledc or default_sledc()).run(settings.node)
        finally:
            shell.close()

    def _last_words(self, settings: Settings) -> str:
        """The end of the node's console. One that cannot be read is no reason to hide the event."""
        try:
            return self._tools.client.console(settings.node)[-LAST_WORDS:]
        except SledError as error:
            return f"the console cannot be read: {error}"

    def _record(self, settings: Settings, kind: str, detail: str, log: str = "") -> None:
        """Adds an event of the node, before it is acted on. Waits for a sledd that is away."""
        end = self._tools.clock() + LONGEST_AWAY
        while True:
            try:
                return self._tools.client.post_event(settings.node, kind, detail[:LONGEST_DETAIL], log)
            except SledError as error:
                if not passing(error) or self._tools.clock() >= end:
                    raise
            self._tools.pause(RETRY)
