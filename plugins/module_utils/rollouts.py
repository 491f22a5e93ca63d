# SPDX-License-Identifier: Apache-2.0
"""What a playbook does with a rollout: start or resume it, start and end its waves, return the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import datetime, timezone

from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.objects import merged, normal_mac

SPEC = ("desired", "canary", "batch", "max_unavailable", "failure_budget", "pause", "again")
LIMITS = ("max_wipes", "max_reimages")  # of a request, and not of a rollout: one is resumed with others
LONGEST_TEXT = 512
LONGEST_REASON = 2048
LEFT = "its play ended without a result: the node could not be reached, or the playbook ended"
MANY = 32  # nodes of a rollout, above which the table has no line for those that are done or wait
INTERVAL = 5.0  # seconds between two polls of a rollout that pauses
NAMED = 8  # nodes that a sentence names


class References:
    """The nodes of a request, each by its name or MAC."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = {}
        self._macs: dict[str, list[str]] = {}
        for node in nodes:
            self._names.setdefault(node, []).append(node)
            self._macs.setdefault(normal_mac(node), []).append(node)

    def of(self, run: Json) -> list[str]:
        """Those that a run belongs to."""
        return list(dict.fromkeys([*self._names.get(run["node"], []), *self._macs.get(run["mac"], [])]))


def start(client: Client, options: Json, dry: bool = False) -> Json:
    """Starts a rollout of the nodes, or resumes the unfinished one; returns the nodes to process now, by wave.

    dry: sledd checks it, no rollout is started, and no node is to be processed.
    """
    spec = merged({}, {name: options[name] for name in SPEC})
    spec["desired"] = spec["desired"][:LONGEST_TEXT]
    requested = [*options["nodes"], *_unfinished(client, options["kind"], spec, options)]
    if not requested:
        return {"changed": False, "name": "", "waves": []}
    limits: Json = {name: options[name] for name in LIMITS if options[name] is not None}
    if command := options.get("command"):
        limits["command"] = command
    if kept := set(options["memory"]).intersection(requested):
        limits["memory"] = sorted(kept)
    try:
        rollout = client.start_rollout({**spec, **limits, "nodes": requested}, options["kind"], dry)
    except ApiError as error:
        raise _explained(error) from error
    if dry:
        return {"changed": True, "name": "", "waves": []}
    all_of, unsatisfied, waves = References(requested), References(options["nodes"]), dict[int, list[str]]()
    for run in sorted(rollout["runs"], key=lambda run: int(run["wave"])):
        if run["state"] != "done" or (unsatisfied.of(run) and not options["again"]):
            waves.setdefault(run["wave"], []).extend(all_of.of(run))
    return {"changed": True, "name": rollout["name"], "waves": [wave for wave in waves.values() if wave]}


def _explained(error: ApiError) -> SledError:
    """An error, or of a limit that is exceeded how to go on."""
    for name in LIMITS:
        for one in error.errors:
            nodes = one.get("value")
            if one.get("location") == f"body.{name}" and isinstance(nodes, list):
                return SledError(f"{one.get('message')}. Name fewer nodes, or allow it: -e sled_{name}={len(nodes)}")
    return error


def _unfinished(client: Client, kind: str, spec: Json, options: Json) -> list[str]:
    """Nodes of the play whose binding is satisfied by now, and whose run in an unfinished rollout was never ended."""
    nodes = set(options["nodes"])
    others = References(node for node in options["among"] if node not in nodes)
    for rollout in client.rollouts() if not nodes.issuperset(options["among"]) else []:
        same = (
            rollout["name"].rpartition("-")[0] == kind
            and merged({}, {name: rollout.get(name) for name in SPEC}) == spec
        )
        if same and rollout["state"] in ("running", "stopped"):
            return [
                node
                for run in _read(client, rollout["name"])["runs"]
                if run["state"] != "done"
                for node in others.of(run)
            ]
    return []


def _read(client: Client, name: str) -> Json:
    rollout = client.find("rollouts", name)
    if rollout is None:
        raise SledError(f"rollout {name} does not exist: sledctl rollout list")
    return rollout


def start_wave(
    client: Client, options: Json, clock: Callable[[], float] = time.time, pause: Callable[[float], None] = time.sleep
) -> Json:
    """Starts the nodes of a wave when it may start, after the pause, and returns which were started.

    What keeps the first node from starting keeps all: they are of one wave.
    """
    nodes = list(dict.fromkeys(options["wave"]))
    closed = _wait_turn(client, options, nodes[0], clock, pause)
    items = [{"node": node, "state": "running"} for node in nodes]
    found = [{"refused": closed}] * len(nodes) if closed else client.put_runs(options["name"], items)["items"]
    runs = dict(zip(nodes, found, strict=True))
    # One is refused, too, if the rollout was stopped at the same moment.
    reasons = {node: str(run["refused"]) for node, run in runs.items() if run.get("refused")}
    started = [node for node in nodes if node not in reasons]
    return {
        "changed": bool(started),
        "started": started,
        "not_started": reasons,
        "untouched": [f"{some(names)} not touched: {reason}" for reason, names in by_value(reasons).items()],
        "from": {node: int(runs[node]["run"].get("from", 0)) for node in started},
    }


def _wait_turn(
    client: Client, options: Json, node: str, clock: Callable[[], float], pause: Callable[[float], None]
) -> str:
    """Waits for the pause before the wave of a node; returns why it may not start, empty if it may."""
    only = References([node])
    while True:
        rollout = _read(client, options["name"])
        mine = next((run for run in rollout["runs"] if only.of(run)), None)
        if mine is None:
            raise SledError(f"node {node} is not one of rollout {options['name']}")
        _give_up(client, rollout, options["name"], options["nodes"], int(mine["wave"]))
        closed = _closed(rollout, mine)
        left = _left(rollout, mine, clock())
        if closed or left <= 0:
            return closed
        pause(min(left, INTERVAL))


def by_value(found: Json) -> dict[str, list[str]]:
    """The names of each value."""
    names: dict[str, list[str]] = {}
    for name, value in found.items():
        names.setdefault(value, []).append(name)
    return names


def some(names: list[str]) -> str:
    """Names as the subject of a sentence, with its verb; of many the first ones."""
    if len(names) == 1:
        return f"{names[0]} is"
    more = len(names) - NAMED
    return f"{', '.join(names[:NAMED])} and {more} more are" if more > 0 else f"{', '.join(names)} are"


def end_wave(client: Client, options: Json) -> Json:
    """Reports the ends of nodes whose runs are recorded as running."""
    rollout = _read(client, options["name"])
    ended = References(options["results"])
    running = {node for run in rollout["runs"] if run["state"] == "running" for node in ended.of(run)}
    results = {
        node: {"state": "failed", "reason": given} if isinstance(given, str) else given
        for node, given in options["results"].items()
        if node in running
    }
    refused = end_nodes(client, options["name"], results)
    failed = {node: {"state": "failed", "reason": reason} for node, reason in refused.items()}
    for node, reason in end_nodes(client, options["name"], failed).items():
        raise SledError(f"the end of {node} was not recorded: {reason}")
    return {"changed": bool(options["results"]), "refused": refused}


def end_nodes(client: Client, name: str, results: dict[str, Json]) -> dict[str, str]:
    """Reports how nodes ended, each with state, entry_method and reason; returns those that are refused, and why."""
    items = [{"node": node, **_body(result)} for node, result in results.items()]
    found = client.put_runs(name, items)["items"] if items else []
    return {node: one["refused"] for node, one in zip(results, found, strict=True) if one.get("refused")}


def _body(result: Json) -> Json:
    """What is reported of a node."""
    reason = (result.get("reason") or "")[:LONGEST_REASON]
    return merged({}, {"state": result["state"], "entry_method": result.get("entry_method"), "reason": reason})


def _closed(rollout: Json, mine: Json) -> str:
    """Why no node of this wave may start; empty when it may."""
    if rollout["state"] != "running":
        return f"rollout {rollout['name']} is {rollout['state']}: {rollout.get('reason', '')}".removesuffix(": ")
    canaries = [run["node"] for run in rollout["runs"] if run["wave"] == 1 and run["state"] != "done"]
    if rollout.get("canary", "0") not in ("", "0", "0%") and mine["wave"] > 1 and canaries:
        return f"the canary of rollout {rollout['name']} is not done: {', '.join(canaries)}"
    return ""


def _left(rollout: Json, mine: Json, now: float) -> float:
    """Remaining seconds of the pause; never more than the whole, as clocks may differ."""
    length = float(rollout.get("pause") or 0)
    ends = [_seconds(run["end"]) for run in rollout["runs"] if run["wave"] < mine["wave"] and run.get("end")]
    return min(max(max(ends) + length - now, 0.0), length) if ends and mine["state"] != "running" else 0.0


def _seconds(when: str) -> float:
    """A time of the API, which may have nanoseconds, in seconds."""
    return datetime.strptime(when[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()


def _give_up(client: Client, rollout: Json, name: str, nodes: list[str], wave: int) -> bool:
    """Ends the runs of earlier waves that are still recorded as running; returns whether there were any.

    A wave starts only when the one before has ended, so no play runs them.
    """
    ours = References(nodes)
    left = [run for run in rollout["runs"] if run["state"] == "running" and run["wave"] < wave and ours.of(run)]
    if not left:
        return False
    answer = client.put_runs(name, [{"node": run["node"], "state": "failed", "reason": LEFT} for run in left])
    rollout["state"], rollout["reason"] = answer["rollout"]["state"], answer["rollout"].get("reason", "")
    for run, one in zip(left, answer["items"], strict=True):
        run["state"] = (one.get("run") or run)["state"]
    return True


def end(client: Client, options: Json) -> Json:
    """Returns the result. Nodes of this play that are still recorded as running have failed."""
    rollout = _read(client, options["name"])
    if _give_up(client, rollout, options["name"], options["nodes"], 1 << 30):
        rollout = _read(client, options["name"])
    ours = References(options["nodes"])
    failed = {
        node: run.get("reason", "") for run in rollout["runs"] if run["state"] == "failed" for node in ours.of(run)
    }
    return {
        "changed": False,
        "rollout": {**rollout, "runs": []},
        "state": rollout["state"],
        "failures": failed,
        "table": table(rollout),
    }


def table(rollout: Json) -> list[str]:
    """One line for each node, failures first, and one for all. Of many, who is done or waits is only counted."""
    order = {"failed": 0, "running": 1, "waiting": 2, "done": 3}
    runs = sorted(rollout["runs"], key=lambda run: (order[run["state"]], run["wave"]))
    rows = [["node", "wave", "state", "entry", "start", "seconds", "reason"]]
    rows += [[str(cell or "-") for cell in _cells(run)] for run in runs]
    left_out = len([run for run in runs if run["state"] in ("done", "waiting")]) if len(runs) > MANY else 0
    rows = rows[: len(rows) - left_out]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(" -") for row in rows]
    counts = ", ".join(f"{count} {state}" for state, count in rollout["counts"].items() if count)
    return [
        *(lines if len(lines) > 1 else []),
        f"rollout {rollout['name']} is {rollout['state']}: {counts or 'nothing'}. {rollout.get('reason', '')}".rstrip(),
    ]


def _cells(run: Json) -> list[object]:
    times = [_seconds(run[name]) for name in ("begin", "end") if run.get(name)]
    took = f"{times[1] - times[0]:.0f}" if len(times) == 2 else ""
    return [run["node"], run["wave"], run["state"], run.get("entry_method"), run.get("start"), took, run.get("reason")]
