# SPDX-License-Identifier: Apache-2.0
"""What a playbook does with a rollout: begin or resume it, begin and end its nodes, tell how it went."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.objects import merged, normal_mac

SPEC = ("wish", "canary", "batch", "max_unavailable", "failure_budget", "pause", "again")
LONGEST_TEXT = 512
LONGEST_REASON = 2048
LEFT = "its play ended without a result: the node could not be reached, or the playbook ended"
INTERVAL = 5.0  # seconds between two looks at a rollout that pauses


def references(run: Json, nodes: list[str]) -> list[str]:
    """Those of the nodes, as they were asked for by name or MAC, that this run is of."""
    return [node for node in nodes if node == run["node"] or normal_mac(node) == run["mac"]]


def begin(client: Client, options: Json) -> Json:
    """Starts a rollout of the nodes, or resumes the unfinished one, and returns the nodes to do now, wave by wave."""
    spec = merged({}, {name: options[name] for name in SPEC})
    spec["wish"] = spec["wish"][:LONGEST_TEXT]
    asked = [*options["nodes"], *_unfinished(client, options["kind"], spec, options)]
    if not asked:
        return {"changed": False, "name": "", "waves": []}
    rollout = client.begin_rollout({**spec, "nodes": asked}, options["kind"])
    waves: dict[int, list[str]] = {}
    for run in sorted(rollout["runs"], key=lambda run: int(run["wave"])):
        if run["state"] != "done" or (references(run, options["nodes"]) and not options["again"]):
            waves.setdefault(run["wave"], []).extend(references(run, asked))
    return {"changed": True, "name": rollout["name"], "waves": [wave for wave in waves.values() if wave]}


def _unfinished(client: Client, kind: str, spec: Json, options: Json) -> list[str]:
    """Nodes of the play whose binding is satisfied by now, and whose run in an unfinished rollout was never ended."""
    others = [node for node in options["among"] if node not in options["nodes"]]
    for rollout in client.rollouts() if others else []:
        same = (
            rollout["name"].rpartition("-")[0] == kind
            and merged({}, {name: rollout.get(name) for name in SPEC}) == spec
        )
        if same and rollout["state"] in ("running", "stopped"):
            return [
                node
                for run in _read(client, rollout["name"])["runs"]
                if run["state"] != "done"
                for node in references(run, others)
            ]
    return []


def _read(client: Client, name: str) -> Json:
    rollout = client.find("rollouts", name)
    if rollout is None:
        raise SledError(f"rollout {name} does not exist: sledctl rollout list")
    return rollout


def start(
    client: Client, options: Json, clock: Callable[[], float] = time.time, pause: Callable[[float], None] = time.sleep
) -> Json:
    """Begins a node when its wave may begin, after the pause, and says whether it was begun."""
    while True:
        rollout = _read(client, options["name"])
        mine = next((run for run in rollout["runs"] if references(run, [options["node"]])), None)
        if mine is None:
            raise SledError(f"node {options['node']} is not one of rollout {options['name']}")
        _give_up(client, rollout, options["name"], options["nodes"], int(mine["wave"]))
        if closed := _closed(rollout, mine):
            return {"changed": False, "begun": False, "reason": closed}
        left = _left(rollout, mine, clock())
        if left <= 0:
            break
        pause(min(left, INTERVAL))
    try:
        return {
            "changed": True,
            "begun": True,
            "reason": "",
            **client.put_run(options["name"], options["node"], {"state": "running"}),
        }
    except ApiError as error:
        if error.status == 409:  # stopped in this very moment
            return {"changed": False, "begun": False, "reason": error.detail}
        raise


def _closed(rollout: Json, mine: Json) -> str:
    """Why no node of this wave may begin; empty when it may."""
    if rollout["state"] != "running":
        return f"rollout {rollout['name']} is {rollout['state']}: {rollout.get('reason', '')}".removesuffix(": ")
    canaries = [run["node"] for run in rollout["runs"] if run["wave"] == 1 and run["state"] != "done"]
    if rollout.get("canary", "0") not in ("", "0", "0%") and mine["wave"] > 1 and canaries:
        return f"the canary of rollout {rollout['name']} is not done: {', '.join(canaries)}"
    return ""


def _left(rollout: Json, mine: Json, now: float) -> float:
    """Seconds of the pause that are left; never more than all of it, as clocks may differ."""
    length = float(rollout.get("pause") or 0)
    ends = [_seconds(run["end"]) for run in rollout["runs"] if run["wave"] < mine["wave"] and run.get("end")]
    return min(max(max(ends) + length - now, 0.0), length) if ends and mine["state"] != "running" else 0.0


def _seconds(when: str) -> float:
    """A time of the API, which may have nanoseconds, in seconds."""
    return datetime.strptime(when[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp()


def _give_up(client: Client, rollout: Json, name: str, nodes: list[str], wave: int) -> None:
    """Ends the runs of earlier waves that are still recorded as running.

    A wave starts only when the one before has ended, so nobody runs them.
    """
    for run in rollout["runs"]:
        if run["state"] == "running" and run["wave"] < wave and references(run, nodes):
            said = client.put_run(name, run["node"], {"state": "failed", "reason": LEFT})
            run["state"], rollout["state"], rollout["reason"] = (
                "failed",
                said["rollout"]["state"],
                said["rollout"].get("reason", ""),
            )


def say(client: Client, options: Json) -> Json:
    """Says that a node is done, or failed and why."""
    body = {"state": options["state"], "way": options["way"], "reason": (options["reason"] or "")[:LONGEST_REASON]}
    return {"changed": True, **client.put_run(options["name"], options["node"], merged({}, body))}


def end(client: Client, options: Json) -> Json:
    """Tells how it went. Nodes of this play that are still said to run have failed."""
    rollout = _read(client, options["name"])
    _give_up(client, rollout, options["name"], options["nodes"], 1 << 30)
    rollout = _read(client, options["name"])
    failed = {
        node: run.get("reason", "")
        for run in rollout["runs"]
        if run["state"] == "failed"
        for node in references(run, options["nodes"])
    }
    return {
        "changed": False,
        "rollout": {**rollout, "runs": []},
        "state": rollout["state"],
        "failures": failed,
        "table": table(rollout),
    }


def table(rollout: Json) -> list[str]:
    """A line for each node, failures first, and one for all."""
    order = {"failed": 0, "running": 1, "waiting": 2, "done": 3}
    runs = sorted(rollout["runs"], key=lambda run: (order[run["state"]], run["wave"]))
    rows = [["node", "wave", "state", "way", "start", "seconds", "reason"]]
    rows += [[str(cell or "-") for cell in _cells(run)] for run in runs]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(" -") for row in rows]
    counts = ", ".join(f"{count} {state}" for state, count in rollout["counts"].items() if count)
    return [
        *lines,
        f"rollout {rollout['name']} is {rollout['state']}: {counts or 'nothing'}. {rollout.get('reason', '')}".rstrip(),
    ]


def _cells(run: Json) -> list[object]:
    times = [_seconds(run[name]) for name in ("begin", "end") if run.get(name)]
    took = f"{times[1] - times[0]:.0f}" if len(times) == 2 else ""
    return [run["node"], run["wave"], run["state"], run.get("way"), run.get("start"), took, run.get("reason")]
