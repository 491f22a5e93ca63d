# SPDX-License-Identifier: Apache-2.0
"""Whether a node has what its binding requests, as sledd decides, what it does, and why it is not ready. Pure."""

from __future__ import annotations

from datetime import datetime, timezone

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.words import CODES, WORKING

LONGEST_AWAY = 900.0  # seconds for which sledd may be away
SILENT = 90.0  # seconds after which a node no longer counts as one that polls for its plan
ENTERED = (*WORKING, "starting")  # phases of a node that executes its plan


def requested_generation(node: Json) -> int:
    """The generation of the node's binding, 0 without one."""
    return int((node.get("binding") or {}).get("generation", 0))


def judge(node: Json, stage: str = "done", known: str = "") -> str:
    """Returns ready, failed or pending. Whether a binding is satisfied is sledd's decision, never made here.

    Stage: entered, starting or done. Known: the time of a failure that does not count.
    """
    status = node["status"]
    current = status.get("generation", 0) >= requested_generation(node)
    if done(node) or (current and status.get("phase") in reached(stage)):
        return "ready"
    failed = current and status.get("phase") == "failed"
    return "failed" if failed and not (known and status.get("since") == known) else "pending"


def done(node: Json) -> bool:
    """Whether the node has what its binding requests."""
    return bool((node.get("binding") or {}).get("satisfied"))


def reached(stage: str) -> tuple[str, ...]:
    """The phases before the end that suffice for a stage."""
    return {"entered": ENTERED, "starting": ("starting",)}.get(stage, ())


def activity(node: Json, now: datetime) -> str:
    """What the node does: working, waiting for a plan, running an installed system, or unknown."""
    status = node["status"]
    phase, behind = status.get("phase"), status.get("generation", 0) < requested_generation(node)
    if node.get("binding") and status.get("generation", 0) == requested_generation(node) and phase in ENTERED:
        return "working"
    if phase in ("operational", "unconfirmed", "captured"):
        return "running"
    polls = phase in ("idle", "wiped", "booting") or (phase == "failed" and behind)
    return "waiting" if polls and silence(status, now) < SILENT else "unknown"


def silence(status: Json, now: datetime) -> float:
    """Seconds since the node was seen."""
    if not status.get("seen"):
        return float("inf")
    seen = datetime.strptime(status["seen"][:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return (now - seen).total_seconds()


def waits(node: Json) -> str:
    """What a node waits for and what ends that, as sledd states it; empty: nothing."""
    wait = node.get("wait")
    if not wait:
        return ""
    until = f" until {clock(wait['until'])}" if wait.get("until") else ""
    end = f"; `{wait['ends_by']}` ends it" if wait.get("ends_by") else ""
    return f"waits{until} for {wait['for']}{end}"


def clock(time: str) -> str:
    """A time of sledd in hours and minutes of the local zone."""
    return datetime.strptime(time[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).astimezone().strftime("%H:%M")


def failure(node: Json) -> str:
    """Why a node failed, in one line."""
    status = node["status"]
    code = status.get("code", 0)
    if not code:  # no step failed
        return str(status.get("reason", ""))
    words = [status.get("verb", ""), f"code {code} {CODES.get(code, '')}".rstrip(), status.get("reason", "")]
    return ": ".join(word for word in words if word)


def from_memory(node: Json) -> bool:
    """Whether its binding runs from memory: what is on its disk is another system."""
    return bool((node.get("binding") or {}).get("memory"))


def silent(node: Json) -> bool:
    """Whether sledd has given up the payload of the node, which did not confirm in time."""
    return from_memory(node) and node["status"].get("phase") == "failed" and not node["status"].get("code")


def seen(node: Json) -> str:
    """What the node does instead of its plan, in one line."""
    status, requested = node["status"], requested_generation(node)
    text = f"it is {status.get('phase') or 'not seen yet'}, generation {status.get('generation', 0)}"
    return text + (f" (requested {requested})" if requested != status.get("generation", 0) else "")
