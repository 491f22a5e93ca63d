# SPDX-License-Identifier: Apache-2.0
"""How one node is brought to what its binding requests. Pure: a state and an event in, a state and actions out.

The caller reads sledd, carries out the actions in order, and reports each look and the end of each action. Neither
clock nor I/O is here, so a schedule of events is a test. A new run starts with a new state: sledd reports what a node
executes.

loop.py calls it for each node of a wave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.supervise.stall import ANY, StallTimer
from ansible_collections.sled.fleet.plugins.module_utils.waiting import (
    LONGEST_AWAY,
    done,
    failure,
    from_memory,
    judge,
    requested_generation,
    seen,
    silent,
    waits,
)

CHOOSING, ACTING, ENTERING, IMAGING, CONFIRMING, VERIFYING, DONE, FAILED = (
    "choosing",
    "acting",  # an action is carried out, and its end is awaited
    "entering",
    "imaging",
    "confirming",
    "verifying",  # the same of an action that changes nothing
    "done",
    "failed",
)
ENDED = (DONE, FAILED)


@dataclass(frozen=True)
class Method:
    """An entry method: seconds without a sign of life until it has failed, and how often it is repeated."""

    timeout: float
    retries: int = 0


@dataclass(frozen=True)
class Policy:
    """What the operator allows."""

    methods: Mapping[str, Method]  # in the order in which they are tried; none: somebody else starts the node
    silent: Mapping[str, float]  # of the plan, by step
    timeout: float = 259200.0  # of the plan, whatever moves
    retries: int = 1  # of the plan
    codes: Sequence[int] = (1, 6)  # exit codes after which it is tried again
    confirm: float = 900.0
    fallback: bool = True  # a system that does not confirm is started once more, from its disk or the network
    verify: float = 0.0  # seconds within which the system must answer over SSH; 0: it is not verified
    wait: float = 0.0  # seconds until it executes its plan, if there are no methods


@dataclass(frozen=True)
class Look:
    """The node was read at a time; open: the entry methods that it has now."""

    now: float
    node: Json
    activity: str
    open: frozenset[str] = frozenset()
    power: bool = False  # whether its power can be switched


@dataclass(frozen=True)
class Away:
    """Sledd did not answer."""

    now: float
    reason: str


@dataclass(frozen=True)
class Acted:
    """The action has ended; a reason if it failed, final if the same again would fail too."""

    reason: str = ""
    final: bool = False


@dataclass(frozen=True)
class Action:
    """What the caller does: enter (by a method), note (an event), disk, network (a start there), lost, verify, end."""

    verb: str
    method: str = ""
    detail: str = ""


class State(NamedTuple):
    """One node of a run."""

    name: str
    stage: str = CHOOSING
    method: str = ""  # of the present attempt, and at the end the one that worked
    tried: tuple[str, ...] = ()  # the methods of the attempts of this round
    round: int = 0  # how often the plan itself has failed
    generation: int = 0
    known: str = ""  # time of a failure that is known
    fallen: str = ""  # from what it was started once more
    jumped: str = ""  # time of the jump into what runs from memory
    found: bool = False  # its binding was satisfied when it was read first
    reason: str = "no entry method is available"
    timer: StallTimer = StallTimer({ANY: 0.0})
    at: float | None = None  # of the last answer
    missed: float | None = None  # since when sledd is away
    spent: float = 0.0  # seconds in this stage while sledd answered
    waits: str = ""  # what sledd states that it waits for


def advance(state: State, event: Look | Away | Acted, policy: Policy) -> tuple[State, list[Action]]:
    """The next state, and what is to be done now."""
    if state.stage in ENDED:
        return state, []
    if isinstance(event, Acted):
        return _acted(state, event, policy)
    if isinstance(event, Away):
        return _away(state, event)
    return _looked(state, event, policy)


def _looked(state: State, event: Look, policy: Policy) -> tuple[State, list[Action]]:
    spent = state.spent + (event.now - state.at if state.at is not None else 0.0)
    state = state._replace(at=event.now, missed=None, spent=spent)
    if state.stage in (ACTING, VERIFYING):
        return state, []
    if not event.node.get("binding"):
        return _fail(state, f"{state.name} has no binding")
    if requested_generation(event.node) != state.generation:
        if state.generation:
            return _fail(state, f"its binding was changed to generation {requested_generation(event.node)} in this run")
        state = state._replace(generation=requested_generation(event.node))
    if done(event.node):
        return _satisfied(state, event.node, policy)
    boots = (event.node.get("wait") or {}).get("kind") == "boot"
    state = state._replace(waits="" if boots and policy.methods else waits(event.node))
    return STAGES[state.stage](state, event, policy)


def _away(state: State, event: Away) -> tuple[State, list[Action]]:
    missed = event.now if state.missed is None else state.missed
    state = state._replace(missed=missed, at=None, timer=state.timer.away())
    if state.stage in (ACTING, VERIFYING) or event.now - missed < LONGEST_AWAY:
        return state, []
    return _fail(state, f"sledd has not answered for {event.now - missed:.0f} s: {event.reason}")


def _acted(state: State, event: Acted, policy: Policy) -> tuple[State, list[Action]]:
    if state.stage == VERIFYING:
        return _fail(state, event.reason) if event.reason else _end(state)
    if state.stage != ACTING:
        return state, []
    if state.fallen:
        if event.reason:
            return _lose(state, event.reason)
        return _stage(state._replace(jumped=""), CONFIRMING, {ANY: policy.confirm}), []
    if event.reason:
        used = [state.method] * (policy.methods[state.method].retries if event.final else 0)
        return _missed(state._replace(tried=(*state.tried, *used)), event.reason)
    return _stage(state, ENTERING, {ANY: policy.methods[state.method].timeout}), []


def _choose(state: State, look: Look, policy: Policy) -> tuple[State, list[Action]]:
    """Follows a plan that it executes already, or again; else the first method that is open and not used up."""
    new = not _is_known(state, look.node)
    state = state._replace(timer=state.timer.look(look.now, look.node["status"]))
    if look.activity == "working" and (new or state.timer.silent == 0):
        return _follow(state, look, policy)
    if state.known and new and judge(look.node) == "failed":  # since the last attempt
        return _again(state, look, policy, failure(look.node))
    for name, method in policy.methods.items():
        if name in look.open and state.tried.count(name) <= method.retries:
            known = str(look.node["status"].get("since") or "")
            return state._replace(stage=ACTING, method=name, tried=(*state.tried, name), known=known), [
                Action("note", name, name),
                Action("enter", name),
            ]
    return _expect(state, look, policy) if not policy.methods and not state.round else _fail(state, state.reason)


def _expect(state: State, look: Look, policy: Policy) -> tuple[State, list[Action]]:
    """Until somebody else has started it."""
    if judge(look.node) == "failed":
        return _fail(state, failure(look.node))
    if state.spent < policy.wait:
        return state, []
    return _fail(state, f"its plan has not started within {policy.wait:.0f} s: {seen(look.node)}")


def _is_known(state: State, node: Json) -> bool:
    """Whether this is the state before the entry, such as the step that stands still, and no new one."""
    return bool(state.known) and state.known == str(node["status"].get("since") or "")


def _follow(state: State, look: Look, policy: Policy) -> tuple[State, list[Action]]:
    if look.node["status"].get("phase") == "starting":
        return _confirm(_stage(state, CONFIRMING, {ANY: policy.confirm}), look, policy)
    return _image(_stage(state, IMAGING, policy.silent), look, policy)


def _enter(state: State, look: Look, policy: Policy) -> tuple[State, list[Action]]:
    """Until it executes its plan."""
    outcome = judge(look.node, "entered", state.known)
    if outcome == "ready" and not _is_known(state, look.node):
        return _follow(state, look, policy)
    if outcome == "failed":
        return _again(state, look, policy, failure(look.node))
    state, over = _wait(state, look)
    return _missed(state, over) if over else (state, [])


def _image(state: State, look: Look, policy: Policy) -> tuple[State, list[Action]]:
    """Until its system starts."""
    outcome = judge(look.node, "starting", state.known)
    if outcome == "ready":
        return _confirm(_stage(state, CONFIRMING, {ANY: policy.confirm}), look, policy)
    if outcome == "failed":
        return _again(state, look, policy, failure(look.node))
    state, over = _wait(state, look)
    if not over and state.spent >= policy.timeout:
        over = f"its plan has not ended within {policy.timeout:.0f} s"
    return _again(state, look, policy, over) if over else (state, [])


def _confirm(state: State, look: Look, policy: Policy) -> tuple[State, list[Action]]:
    """Until its system reports. How long a payload has for that, its image states, and sledd counts it."""
    outcome = judge(look.node, known=state.known)
    if outcome == "failed":
        return _again(state, look, policy, failure(look.node))
    if (look.node.get("wait") or {}).get("kind") == "payload":
        return _returned(state, look, policy)
    state, over = _wait(state, look)
    return _fall(state, look, policy, over) if over else _returned(state, look, policy)


def _returned(state: State, look: Look, policy: Policy) -> tuple[State, list[Action]]:
    """What runs from memory starts at each boot again: a node that restarts by itself would do so forever."""
    if not from_memory(look.node):
        return state, []
    status = look.node["status"]
    starts = status.get("phase") == "starting" and not _is_known(state, look.node)
    since = str(status.get("since") or "") if starts else ""
    if not state.jumped or since == state.jumped:
        return state._replace(jumped=since), []
    return _fall(state._replace(jumped=""), look, policy, "the node restarted before its system had confirmed")


def _fall(state: State, look: Look, policy: Policy, reason: str) -> tuple[State, list[Action]]:
    """Its system did not confirm: it is started once more, or lost. What runs from memory is not on its disk."""
    if state.fallen or not policy.fallback or not look.power:
        return _lose(state, reason)
    verb, place = ("network", "the network") if from_memory(look.node) else ("disk", "its disk")
    known = str(look.node["status"].get("since") or "")
    state = state._replace(stage=ACTING, fallen=place, reason=reason, known=known)
    return state, [Action(verb, detail=f"its system did not confirm, so it is started from {place}: {reason}")]


def _wait(state: State, look: Look) -> tuple[State, str]:
    """Waits for as long as the node moves; the words if it stood still for too long."""
    status = look.node["status"]
    timer = state.timer.look(look.now, status)
    return state._replace(timer=timer), timer.words(status) if timer.over(status) else ""


def _again(state: State, look: Look, policy: Policy, reason: str) -> tuple[State, list[Action]]:
    """The plan failed or stands still: another round, if that may mend it. What the node may be doing is known."""
    if silent(look.node):
        return _fall(state, look, policy, reason)
    status = look.node["status"]
    mends = status.get("phase") != "failed" or status.get("code") in policy.codes
    if not mends or state.round >= policy.retries:
        return _fail(state, reason)
    known = str(status.get("since") or "")
    return state._replace(stage=CHOOSING, round=state.round + 1, tried=(), reason=reason, known=known), []


def _missed(state: State, reason: str) -> tuple[State, list[Action]]:
    """The entry method failed: the same again, or the next one."""
    reason = f"{state.method} failed: {reason}"
    return state._replace(stage=CHOOSING, reason=reason), [Action("note", state.method, reason)]


def _lose(state: State, reason: str) -> tuple[State, list[Action]]:
    also = f", nor after a start from {state.fallen}" if state.fallen else ""
    reason = f"its system did not confirm{also}: {reason}"
    state, actions = _fail(state, reason)
    return state, [Action("lost", detail=reason), *actions]


def _satisfied(state: State, node: Json, policy: Policy) -> tuple[State, list[Action]]:
    """Its binding is satisfied: its system is verified, if it has one that lets us in."""
    state = state._replace(found=state.stage == CHOOSING and not state.tried)
    binding, payload = node["binding"], from_memory(node) and not node["status"].get("os")
    if policy.verify and binding.get("image") and binding.get("configure") != "none" and not payload:
        return state._replace(stage=VERIFYING), [Action("verify", state.method)]
    return _end(state)


def _end(state: State) -> tuple[State, list[Action]]:
    return state._replace(stage=DONE, reason=""), [Action("end", state.method)]


def _fail(state: State, reason: str) -> tuple[State, list[Action]]:
    return state._replace(stage=FAILED, reason=reason), [Action("end", state.method, reason)]


def _stage(state: State, stage: str, limits: Mapping[str, float]) -> State:
    return state._replace(stage=stage, timer=StallTimer(limits), spent=0.0)


STAGES = {CHOOSING: _choose, ENTERING: _enter, IMAGING: _image, CONFIRMING: _confirm}
