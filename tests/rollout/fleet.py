# SPDX-License-Identifier: Apache-2.0
"""A fleet without hardware: a real sledd with TLS on loopback, and machines that are `sled-double` processes."""

from __future__ import annotations

import collections
import functools
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.tests.rollout import inventory

TREE = Path(__file__).resolve().parents[2]
BIN = TREE / "build/bin"
TOKEN = "0123456789abcdef0123456789abcdef"
PATIENCE = 600.0  # seconds for what takes ten on an idle machine
# Of admission. At proven, the consoles of doubles are recorded.
LEVEL = os.environ.get("SLED_ADMISSION", "open")


class Fleet:
    """A sledd, nodes n1 to n<count> spread over racks r0, r1, ..., and the inventory that playbooks run with.

    `own`: variables of nodes that have not the power control of all others, which does everything; `doubles`: the
    folder of the machines.
    """

    environment: Mapping[str, str] = MappingProxyType({})  # of playbooks, beside that of this process

    def __init__(
        self,
        folder: Path,
        count: int,
        racks: int,
        *,
        own: dict[str, Json] | None = None,
        hooks: bool = True,
        doubles: Path | None = None,
    ) -> None:
        self.folder, self.has_hooks = folder, hooks
        self.own = own or {}
        self.nodes = [f"n{i + 1}" for i in range(count)]
        self.racks = {node: f"r{i % racks}" for i, node in enumerate(self.nodes)}
        self.macs = {node: f"52:54:00:99:{i >> 8:02x}:{i & 255:02x}" for i, node in enumerate(self.nodes)}
        port = free_port()  # of the SSH servers of the installed systems, whose host keys sledd has from their reports
        self.logins = {node: f"127.78.{i >> 8}.{i & 255}:{port}" for i, node in enumerate(self.nodes)}
        self.doubles = doubles or folder / "doubles"
        self.hooks = folder / "hooks.log"
        self.doubles.mkdir()
        self.url = f"https://127.0.0.1:{free_port()}"
        (folder / "admin.token").write_text(TOKEN)
        certificate(folder)
        shutil.copy(folder / "ca.crt", folder / "shown.crt")  # what the metrics are made from
        self._playbooks: list[subprocess.Popen[str]] = []
        self._sledd = self._start()
        self.client = Client(self.url, TOKEN, str(folder / "ca.crt"), timeout=10)

    def begin(self) -> None:
        """Waits for sledd, declares everything, and writes the inventory."""
        wait_for("sledd's answer", self._answers)
        for name in ("v1", "v2"):
            spec: Json = {
                "name": name,
                "digest": "sha256:" + hashlib.sha256(name.encode()).hexdigest(),
                "urls": [f"http://127.0.0.1/{name}"],
                "bytes": 1 << 30,
                "file_bytes": 1 << 28,
            }
            self.client.put("images", name, spec, 0)
        for node in self.nodes:
            spec = {
                "mac": self.macs[node],
                "name": node,
                "disk": f"serial:{node}",
                "labels": {"rack": self.racks[node]},
            }
            self.client.put("nodes", node, spec, 0)
            self.set(node)
        self.set(None, server=self.url, ca=str(self.folder / "ca.crt"), step_seconds=0.4, boot_seconds=0.2)
        inventory.write(self)

    def end(self) -> None:
        """Switches everything off, a playbook that runs still as well."""
        for playbook in self._playbooks:
            if playbook.poll() is None:
                os.killpg(playbook.pid, signal.SIGKILL)
                playbook.wait(PATIENCE)
        self.cut_power()
        self._sledd.terminate()
        try:
            self._sledd.wait(20)
        except subprocess.TimeoutExpired:
            self._sledd.kill()
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        address = self.url.removeprefix("https://")
        options = {
            "listen": address,
            "data-dir": str(self.folder / "etcd"),
            "boot-url": "http://127.0.0.1",
            "node-urls": self.url,
            "admin-token-file": str(self.folder / "admin.token"),
            "log-level": "warn",
            "admission": LEVEL,
            "rival-time": "45s",
            "console-directory": str(self.doubles) if LEVEL == "proven" else "",
            "tls-cert": str(self.folder / "ca.crt"),
            "tls-key": str(self.folder / "ca.key"),
            "certificate": str(self.folder / "shown.crt"),
        }
        command = [str(BIN / "sledd"), *(word for name, value in options.items() for word in (f"--{name}", value))]
        with (self.folder / "sledd.log").open("wb") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def _answers(self) -> bool:
        if self._sledd.poll() is not None:
            raise AssertionError(f"sledd ended: {(self.folder / 'sledd.log').read_text()}")
        try:
            list(self.client.nodes())
        except SledError:
            return False
        return True

    # What an operator does.

    def set(self, node: str | None, ssh_fault: str = "", **settings: Any) -> None:
        """Changes what a double does; None: what all do. Its disk has the name of the node as serial number."""
        name, own = "defaults", Json()
        if node is not None:
            ssh = {"address": self.logins[node], "fault": ssh_fault}
            name, own = self.macs[node].replace(":", "-"), {"disk": node, "ssh": ssh}
        (self.doubles / f"{name}.yaml").write_text(yaml.safe_dump(own | settings))

    def power(self, node: str, *words: str) -> str:
        """Presses the node's button."""
        command = [str(BIN / "sled-double"), "power", str(self.doubles), self.macs[node], *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout.strip()

    def cut_power(self) -> None:
        """Switches everything off."""
        for node in self.nodes:
            self.power(node, "off")

    def control(self, node: str) -> Json:
        """The variables of a node's power control, apart from those of all nodes."""
        return {}

    def controls(self) -> Json:
        """The variables of the power controls of all nodes."""
        words = [str(BIN / "sled-double"), "power", str(self.doubles), "{{ node_mac }}"]
        verbs = ("on", "off", "cycle", "reset", "status", "bootdev")
        return {"power_driver": "command", "power_commands": {name: [*words, name] for name in verbs}}

    def settle(self, image: str, nodes: Iterable[str]) -> None:
        """Brings nodes to an image without a playbook."""
        chosen = list(nodes)
        for node in chosen:
            self.client.put("bindings", node, {"node": node, "image": image}, 0)
            self.client.expect(node, "test", 900)
            self.power(node, "cycle")
        for node in chosen:
            wait_for(f"{node} to be operational", functools.partial(self.is_operational, node))

    def is_operational(self, node: str) -> bool:
        return bool(self.node(node)["status"]["phase"] == "operational")

    def play(
        self, *extra: str, rollout: Json | None = None, playbook: str | Path = "playbooks/reimage.yml"
    ) -> subprocess.Popen[str]:
        """Starts the playbook, in a session of its own as in a terminal."""
        command = ["ansible-playbook", "-i", str(self.folder / "hosts.yml"), str(playbook), *extra]
        if rollout is not None:
            command += ["-e", json.dumps({"sled_rollout": rollout})]
        about = {"ANSIBLE_CONFIG": str(TREE / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
        environment = {**os.environ, **about, **self.environment}
        with (self.folder / "playbook.log").open("a") as log:
            running = subprocess.Popen(
                command, cwd=TREE, stdout=log, stderr=log, text=True, start_new_session=True, env=environment
            )
        self._playbooks.append(running)
        return running

    def run(self, *extra: str, **how: Any) -> Result:
        """Runs the playbook to its end."""
        start = self._log_size()
        code = self.play(*extra, **how).wait(4 * PATIENCE)
        return Result(code, (self.folder / "playbook.log").read_text()[start:])

    def _log_size(self) -> int:
        log = self.folder / "playbook.log"
        return len(log.read_text()) if log.exists() else 0

    def interrupt(self, playbook: subprocess.Popen[str], how: signal.Signals, reached: Callable[[], bool]) -> None:
        """Ends a playbook as soon as something was reached, as Ctrl-C or a crash of the control machine does."""
        self.reach(playbook, reached)
        os.killpg(playbook.pid, how)
        playbook.wait(PATIENCE)

    def reach(self, playbook: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
        """Waits for a fact while a playbook runs."""

        def reached_or_ended() -> bool:
            assert playbook.poll() is None, (
                f"the playbook ended before it could be interrupted, see {self.folder}/playbook.log"
            )
            return reached()

        wait_for("the moment to interrupt", reached_or_ended)

    def kill_sledd(self) -> None:
        """Kills sledd as a crash of the boot server does."""
        self._sledd.kill()
        self._sledd.wait(PATIENCE)

    def start_sledd(self) -> None:
        """Starts it again, with the state that it had."""
        self._sledd = self._start()
        wait_for("sledd's answer", self._answers)

    # What was seen.

    def node(self, node: str) -> Json:
        """Reads a node."""
        found = self.client.find("nodes", node)
        assert found is not None, f"{node} is not declared"
        return found

    def events(self, node: str) -> list[Json]:
        """All events of a node, oldest first."""
        answer = self.client._json("GET", f"/v1/nodes/{node}/events", {"limit": 500})
        return sorted(answer["items"], key=lambda event: int(event["id"]))

    def entries(self, node: str) -> list[str]:
        """The entry methods that were tried, and why some failed."""
        return [event["detail"] for event in self.events(node) if event["kind"] == "entry"]

    def marks(self) -> dict[str, int]:
        """The newest event of each node: nothing touched a node whose mark stays."""
        return {node: max((int(event["id"]) for event in self.events(node)), default=0) for node in self.nodes}

    def writes(self, node: str) -> dict[int, int]:
        """How often a write began, by generation."""
        found = [event for event in self.events(node) if event["kind"] == "begin" and event.get("verb") == "write"]
        return dict(collections.Counter(int(event["generation"]) for event in found))

    def written(self) -> int:
        """How many writes were started, of all nodes."""
        return sum(sum(self.writes(node).values()) for node in self.nodes)

    def away(self, node: str, generation: int) -> tuple[float, float]:
        """From when to when a node was not in service for a generation: from the first touch to operational."""
        of = [event for event in self.events(node) if event.get("generation") == generation]
        started = next(at(event) for event in of if event["kind"] in ("plan", "begin"))
        return started, next(at(event) for event in of if event["kind"] == "operational")

    def hooked(self) -> list[tuple[float, str, str]]:
        """When which hook ran for which node."""
        if not self.hooks.exists():
            return []
        lines = [line.split() for line in self.hooks.read_text().splitlines()]
        return [(float(when), kind, node) for when, kind, node in lines]

    def rollouts(self) -> list[Json]:
        """All rollouts, newest first."""
        found: list[Json] = self.client._json("GET", "/v1/rollouts")["items"]
        return found


class Result:
    """A playbook that ended."""

    def __init__(self, code: int, text: str) -> None:
        self.code, self.text = code, text
        self.flat = " ".join(text.split())

    def changed(self) -> int:
        """How many tasks changed something, of all hosts."""
        recap = self.text.rpartition("PLAY RECAP")[2]
        return sum(int(word.partition("=")[2]) for word in recap.split() if word.startswith("changed="))


def at(event: Json) -> float:
    """When an event happened."""
    return datetime.fromisoformat(event["time"][:26].rstrip("Z") + "+00:00").timestamp()


def most_at_once(spans: Iterable[tuple[float, float]]) -> int:
    """How many spans of time overlap at most."""
    changes = sorted((moment, change) for begin, end in spans for moment, change in ((begin, 1), (end, -1)))
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def wait_for(what: str, reached: Callable[[], bool]) -> None:
    """Waits for a fact."""
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < deadline, f"waited {PATIENCE:.0f} s for {what}"
        time.sleep(0.05)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def certificate(folder: Path) -> None:
    """Makes ca.crt and ca.key for loopback."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*command, "-keyout", "ca.key", "-out", "ca.crt"], check=True, capture_output=True, timeout=30, cwd=folder
    )
