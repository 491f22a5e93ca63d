# SPDX-License-Identifier: Apache-2.0
"""What a stranger's attack on a node of the lab must not have achieved, as the events of the node tell."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

Json = dict[str, Any]
ALARMS = ("rival", "link", "window", "boots", "flood")


class Harm(Exception):
    """What an attack has achieved."""


def unharmed(events: list[Json], report: Json) -> Json:
    """Checks that n1 became operational, and that no stranger got a secret; returns a summary."""
    kinds = [event["kind"] for event in events]
    if report["secrets"]:
        raise Harm(f"the stranger got secrets: {report}")
    if "operational" not in kinds:
        raise Harm(f"n1 did not report that it is operational: {kinds}")
    alarms = [event for event in events if event["kind"] in ALARMS]
    return {
        "admits": [event["detail"] for event in events if event["kind"] == "admit"],
        "alarms": [f"{event['kind']}: {event['detail']}" for event in alarms],
        "stranger": report,
    }


def in_one_go(events: list[Json]) -> None:
    """Checks that no step was repeated, so no token of the machine has ended."""
    starts = Counter(event["verb"] for event in events if event["kind"] == "begin")
    if set(starts.values()) != {1}:
        raise Harm(f"steps were repeated, or there was none: {dict(starts)}")


def never_admitted(report: Json) -> None:
    """Checks that the stranger was not the node for a moment."""
    if report["admitted"]:
        raise Harm(f"the stranger was admitted: {report}")


def refused(code: int, output: str, report: Json) -> None:
    """Checks that a warm start ended at the host key of a machine that is not n1: its exit code and what it printed."""
    if not report["ssh"]:
        raise Harm("the operator's SSH did not reach the stranger")
    if code == 0 or "Host key verification failed" not in " ".join(output.split()):
        raise Harm(f"the host key was not refused: code {code}: {output}")


def admitted_by(events: list[Json], evidence: str) -> None:
    """Checks how the machine was admitted in the end."""
    last = ([event["detail"] for event in events if event["kind"] == "admit"] or ["nobody"])[-1]
    if not last.endswith(f" by {evidence}"):
        raise Harm(f"the machine was not admitted by {evidence} in the end, but: {last}")


def alarms(events: list[Json], *wanted: str) -> None:
    """Checks the kinds of alarms that were raised."""
    found = {event["kind"] for event in events if event["kind"] in ALARMS}
    if found != set(wanted):
        raise Harm(f"alarms: {sorted(found)}, want {sorted(wanted)}")


def seconds_to_alarm(events: list[Json]) -> float:
    """From the hello of the machine to the alarm that there are two."""
    times = {kind: [moment(event) for event in events if event["kind"] == kind] for kind in ("claim", "rival")}
    rival = times["rival"][0]
    return round(rival - max(time for time in times["claim"] if time <= rival), 1)


def seconds_to_admission(events: list[Json]) -> float:
    """From the hello of the machine to its admission: what a boot takes longer than without."""
    claim = max(moment(event) for event in events if event["kind"] == "claim")
    return round(max(moment(event) for event in events if event["kind"] == "admit" and event.get("boot_id")) - claim, 2)


def moment(event: Json) -> float:
    return datetime.fromisoformat(event["time"][:26].rstrip("Z") + "+00:00").timestamp()
