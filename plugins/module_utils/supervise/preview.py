# SPDX-License-Identifier: Apache-2.0
"""What a run would do to a node: which disk is wiped and what it gets, for check mode and the difference. Pure."""

from __future__ import annotations

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.waiting import done, requested_generation


def wiped(node: Json) -> str:
    """What of the node's disks is lost; empty if nothing is."""
    binding = node["binding"]
    disk = binding.get("disk") or node.get("disk") or "its only disk"
    if binding.get("capture") or binding.get("memory"):
        return ""
    if not binding.get("image"):
        return f"all disks but those kept (wipe: {binding.get('wipe') or 'empty'})"
    if binding.get("mode") in ("delta", "auto"):
        return f"disk {disk} (mode {binding['mode']}: nothing is wiped before it is written)"
    return f"disk {disk} (wipe: {binding.get('wipe') or 'empty'})"


def preview(name: str, node: Json | None) -> Json:
    """The outcome that a run would begin with, and what is there before and after it."""
    if node is None:
        return {"state": "failed", "reason": f"node {name} does not exist", "changed": False}
    if not node.get("binding"):
        return {"state": "failed", "reason": f"{name} has no binding", "changed": False}
    if done(node):
        return {"state": "done", "reason": "", "changed": False, "image": node["binding"].get("image") or ""}
    binding, status = node["binding"], node["status"]
    before = f"generation {status.get('generation', 0)}, image {status.get('image') or 'none known'}\n"
    after = f"generation {requested_generation(node)}, image {binding.get('image') or 'none'}\n"
    if binding.get("capture"):
        after = f"generation {requested_generation(node)}, captured as {binding['capture']}\n"
    elif binding.get("memory"):
        after += "runs from memory, its disk is left as it is\n"
    elif wiped(node):
        after += f"wipes {wiped(node)}\n"
    diff = {"before_header": name, "after_header": name, "before": before, "after": after}
    return {"state": "pending", "reason": "", "changed": True, "wipes": wiped(node), "diff": diff}
