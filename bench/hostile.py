# SPDX-License-Identifier: Apache-2.0
"""Line 8: a stranger at the same switch attacks a write by 4, each attack alone, without and with a key."""

from __future__ import annotations

import hashlib
import hmac
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hosted import Case
from packed import Image
from rack import Bar, Rack, make_image, multicast
from writers import show, write_all

ATTACKS = ("data", "replay", "cut", "need", "needs", "alone", "leave", "rates")
STRANGER = "initrd/test/net/stranger.py"
LEAST = "refused_session limited refused_tag refused_field refused_size refused_magic"
MEMORY = 32.0  # MiB more than without an attack
SECRET = b"of the site"


def memory(process: subprocess.Popen[str]) -> float:
    """The most that it had, in MiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text(encoding="ascii"))
    return int(found[1]) / 1024 if found else 0.0


def attacked(directory: Path, image: Image, attack: str, words: list[str], key: str) -> Mapping[str, Any]:
    """One write by 4, beside one attack ("": none)."""
    chunks = image.index().chunks
    symbols = -(-max(chunk.frame for chunk in chunks) // 1408)
    with Rack(directory, 5, 100, 50, words) as rack:
        if attack:
            command = ["env", "SLED_VECTORS=contract/vectors", "python3", STRANGER, image.digest.partition(":")[2]]
            stranger = rack.switch.start("4", *command, len(chunks), symbols, attack)
        ended = write_all(rack, image, 4, *multicast("mode=full", nodes=4, key=key))
        if attack and stranger.poll() is not None:
            raise SystemExit(f"bench: the stranger has ended: {attack}")
        told = rack.state()[""]
        return {
            "wall": show(f"{attack or 'no attack'}{', key' if key else ''}", ended),
            "sender_memory": memory(rack.sender),
            "refused": {name: int(number) for name, number in told.items() if name in LEAST.split() and number != "0"},
            "refused_by_nodes": sum(int(found) for one in ended for found in re.findall(r"(\d+) refused", one.out)),
        }


def hostile(directory: Path, _rounds: int) -> Case:
    """Each attack."""
    image = make_image(directory, "small", 66, 308_000)
    secret = directory / "secret"
    secret.write_bytes(SECRET)
    key = hmac.new(SECRET, bytes.fromhex(image.digest.partition(":")[2]), hashlib.sha256).hexdigest()[:32]
    with Rack(directory, 4, 100) as rack:
        unicast = show("HTTP alone", write_all(rack, image, 4, "mode=full"))
    figures: dict[str, Any] = {"HTTP alone": {"wall": unicast}}
    bars = []
    for name, words, given, most in (("", [], "", 3.0), (", with a key", [f"secret={secret}"], key, 1.2)):
        usual = attacked(directory, image, "", words, given)
        figures[f"no attack{name}"] = usual
        for attack in ATTACKS:
            found = attacked(directory, image, attack, words, given)
            figures[f"{attack}{name}"] = found
            by = unicast if not given else usual["wall"]
            more = found["sender_memory"] - usual["sender_memory"]
            bars.append(Bar(f"{attack}{name}: time by {'no attack' if given else 'HTTP'}", found["wall"] / by, most))
            bars.append(Bar(f"{attack}{name}: MiB more of the sender", max(0.0, more), MEMORY))
    return figures, bars
