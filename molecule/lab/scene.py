# SPDX-License-Identifier: Apache-2.0
"""The lab as its operator sees it, with machines that attack it; for molecule/lab/neighbour."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ansible_collections.sled.fleet.molecule.lab.verdict import Harm, Json

HERE = Path(__file__).resolve().parent
PATIENCE = 900.0  # seconds until a node is where it is waited for, on a busy machine
IMPOSTOR = "10.77.0.30"
CODE = re.compile(r"sled: claim ([0-9A-Z-]{9})")


class Attack:
    """A stranger that attacks."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.report: Json = {}

    def end(self) -> None:
        """Ends it, and keeps what it prints of itself."""
        if self.process.poll() is None:
            self.process.terminate()
        self.report = json.loads(self.process.communicate(timeout=60)[0] or "{}")  # nothing: it had hardly started


class Run:
    """An operator's run."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self.log = process, log

    def wait(self) -> None:
        """Waits for its success."""
        if code := self.process.wait(PATIENCE):
            raise Harm(f"the run ended with code {code}:\n{self.log.read_text()}")


class Lab:
    """The lab, as its operator sees it."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.ssh = dict(pair.split("=", 1) for pair in args.ssh)
        self.before = 0
        self.begin()

    def begin(self) -> None:
        """Forgets what has happened to n1."""
        self.ask("ack", "n1")  # an alarm that was raised before would only be counted
        self.before = max(int(event["id"]) for event in self.ask("events", "n1"))

    def ask(self, *words: str) -> Any:
        """Asks sledctl."""
        command = [*self.args.sledctl, *words, "-o", "json"]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=True).stdout)

    def events(self) -> list[Json]:
        """What happened to n1 since the start."""
        return [event for event in self.ask("events", "n1") if event["id"] > self.before]

    def generation(self) -> int:
        return int(self.ask("node", "get", "n1")["binding"]["generation"])

    def phase(self, generation: int) -> str:
        """The phase of n1 in a generation; empty: it is in an earlier one."""
        status = self.ask("node", "get", "n1")["status"]
        return str(status["phase"]) if status["generation"] == generation else ""

    def until(self, what: str, reached: Callable[[], Any]) -> Any:
        """Waits until something is so, and returns it."""
        deadline = time.monotonic() + PATIENCE
        while not (found := reached()):
            if time.monotonic() > deadline:
                raise Harm(f"waited {PATIENCE:.0f} s: {what}")
            time.sleep(0.5)
        return found

    @contextlib.contextmanager
    def reimaging(self, nodes: str, method: str) -> Iterator[Run]:
        """Images nodes by one entry method, as an operator does who was never connected to them before."""
        terms = {"again": True, "image": self.args.image, "supervise_entry_methods": [method]}
        terms |= {"ansible_control_path": "none"}
        command = [*shlex.split(self.args.playbook), "--limit", nodes, "-e", json.dumps(terms)]
        log = Path(self.args.lab, "neighbour.log")
        with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
            try:
                yield Run(process, log)
            finally:
                process.terminate()

    @contextlib.contextmanager
    def imaging(self, nodes: str) -> Iterator[Run]:
        """Images nodes by their BMCs. Yields the run when the BMC has reset n1."""
        with self.reimaging(nodes, "power") as run:
            ended = run.process.poll
            self.until("no boot of n1 is expected", lambda: ended() is not None or self.happened("expect"))
            yield run

    def finish(self, run: Run) -> None:
        """Waits until n1 is operational. SSH, with which the run continues, needs MACs that are unique."""
        self.until("n1 is not operational", lambda: run.process.poll() is not None or self.happened("operational"))

    def happened(self, kind: str) -> bool:
        return any(event["kind"] == kind for event in self.events())

    @contextlib.contextmanager
    def host(self, addresses: list[str], *mac: str) -> Iterator[list[str]]:
        """A further host on the bridge; yields how a command is run there."""
        program = str(HERE / "host")
        subprocess.run([program, "down", "neighbour"], check=True)  # of a run that was killed
        up = [program, "up", "neighbour", ",".join(f"{address}/24" for address in addresses), *mac]
        try:
            name = subprocess.run(up, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
            yield ["ip", "netns", "exec", name]
        finally:
            subprocess.run([program, "down", "neighbour"], check=True)

    @contextlib.contextmanager
    def at_address(self) -> Iterator[Path]:
        """Another machine with the address of n1, where the operator's packets arrive; yields the log of its SSH."""
        key, log = Path(self.args.lab, "neighbour.key"), Path(self.args.lab, "neighbour.ssh.log")
        key.unlink(missing_ok=True)
        subprocess.run(["dropbearkey", "-t", "ed25519", "-f", key], check=True, stdout=subprocess.DEVNULL)
        entry = [self.args.address, "dev", "br0"]
        with self.host([self.args.address]) as inside, log.open("wb") as out:
            show = [*inside, "cat", "/sys/class/net/other0/address"]
            mac = subprocess.run(show, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
            options = ["-P", f"{key}.pid", "-r", str(key), "-p", f"{self.args.address}:22"]
            server = [*inside, "dropbear", "-F", "-E", *options]
            with subprocess.Popen(server, stdout=out, stderr=out) as process:
                try:
                    subprocess.run(["ip", "neigh", "replace", *entry, "lladdr", mac, "nud", "permanent"], check=True)
                    yield log
                finally:
                    subprocess.run(["ip", "neigh", "del", *entry], check=False)
                    process.terminate()

    def tickets(self) -> int:
        """How many tickets sledd has given to operators."""
        records = self.ask("audit", "--limit", "20000")
        return sum(record["method"] == "POST" and record["path"].endswith(("/boot", "/tickets")) for record in records)

    @contextlib.contextmanager
    def process_on(self, node: str) -> Iterator[list[str]]:
        """An unprivileged process on a node that connects to the boot server; yields where it can be reached."""
        root = shlex.split(self.ssh[node])
        make = (
            "id stranger >/dev/null 2>&1 || useradd --create-home --password '*' stranger; "
            "install -d -o stranger /home/stranger/.ssh; "
            "install -o stranger -m 600 /root/.ssh/authorized_keys /home/stranger/.ssh/"
        )
        subprocess.run([*root, make], check=True, timeout=60)
        user = [word.replace("root@", "stranger@") for word in root]
        ports = [free_port(), free_port()]
        forwards = [f"-L127.0.0.1:{port}:{self.args.server}:{to}" for port, to in zip(ports, (80, 443), strict=True)]
        command = [
            *user[:-1],
            "-N",
            "-o",
            "ExitOnForwardFailure=yes",
            "-o",
            "ServerAliveInterval=5",
            *forwards,
            user[-1],
        ]
        with subprocess.Popen(command) as tunnel:
            try:
                if self.until(f"no way through {node}", lambda: listens(ports[1]) or tunnel.poll()) is not True:
                    raise Harm(f"nobody enters {node} by SSH without rights: code {tunnel.returncode}")
                yield [f"127.0.0.1:{port}" for port in ports]
            finally:
                tunnel.terminate()

    @contextlib.contextmanager
    def stranger(
        self, *options: str, inside: list[str] | None = None, through: list[str] | None = None
    ) -> Iterator[Attack]:
        """A stranger that claims to be n1 meanwhile."""
        plain, tls = through or [f"{self.args.server}:80", f"{self.args.server}:443"]
        program = [sys.executable, str(HERE / "stranger"), "--mac", self.args.mac, "--plain", plain, "--tls", tls]
        process = subprocess.Popen([*(inside or []), *program, *options], stdout=subprocess.PIPE, text=True)
        attack = Attack(process)
        try:
            yield attack
        finally:
            attack.end()

    @contextlib.contextmanager
    def impostor(self) -> Iterator[Attack]:
        """A stranger whose frames have the MAC of n1."""
        with self.host([IMPOSTOR], self.args.mac) as inside, self.stranger(inside=inside) as attack:
            yield attack

    def contested(self) -> Json | None:
        """Who claims to be n1, while there are two."""
        shown = [found for found in self.ask("claims") if found.get("name") == "n1"]
        return shown[0] if shown and shown[0]["state"] == "contested" else None

    def power(self, verb: str) -> None:
        """The button of n1."""
        subprocess.run([f"{self.args.lab}/bin/machine", f"{self.args.lab}/nodes/n1", verb], check=True, timeout=60)

    def code(self) -> str:
        """The newest claim code on the screen of n1 since it was switched on; empty: none."""
        text = Path(self.args.lab, "nodes/n1/console.log").read_bytes().decode(errors="replace")
        return (CODE.findall(text.rpartition("--- power on")[2]) or [""])[-1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
