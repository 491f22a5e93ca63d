# SPDX-License-Identifier: Apache-2.0
"""A warm start: the Sled system is started out of the one that runs on a node, over its shell."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Protocol

from ansible_collections.sled.fleet.plugins.module_utils import warm_commands
from ansible_collections.sled.fleet.plugins.module_utils.cache import Cache, digest_of
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError

CACHE = "~/.cache/sled/warm"  # default folder on the controller


def default_sledc() -> str:
    """The program sledc of the checkout that this collection is in."""
    return str(Path(__file__).resolve().parents[2] / "build" / "bin" / "sledc")


class Gone(SledError):
    """The node does not answer its connection."""


class Shell(Protocol):
    """A connection to the node. Its verbs raise Gone when the node does not answer."""

    def run(self, command: str, what: str, become: bool = True) -> str:
        """Runs a command of /bin/sh, and returns its output. Raises SledError if it fails; what names it in errors."""

    def put(self, local: str, name: str) -> None:
        """Copies a file of the controller into the folder of the warm start."""

    def close(self) -> None:
        """Ends the connection; one that is kept would hang on a machine that is gone."""


class WarmStart:
    """One warm start of one node. What fails leaves the running system as it was."""

    def __init__(self, client: Client, shell: Shell, cache: Cache, sledc: str) -> None:
        self._client, self._shell, self._cache, self._sledc = client, shell, cache, sledc

    def run(self, name: str, dry: bool = False) -> Json:
        """Orders the jump, and returns what was done; dry: only checks whether the running system supports it."""
        node = self._client.find("nodes", name)
        if node is None:
            raise SledError(f"node {name} does not exist")
        running = warm_commands.read_probe(self._shell.run(warm_commands.PROBE, "ask the running system"))
        mac = warm_commands.interface(running, [node["mac"], *node.get("macs", [])])
        warm_commands.check(running, mac, warm_commands.program_arch(self._sledc))
        end, outcome = warm_commands.leave(running)
        result = {"changed": True, "node": name, "mac": mac, "end": outcome}
        return result if dry else {**result, **self._start(running, mac, end)}

    def _start(self, running: warm_commands.Running, mac: str, end: str) -> Json:
        boot = self._client.boot(mac)
        files = {"vmlinuz": self._cache.get(boot["kernel"]), "initrd.img": self._cache.get(boot["initrd"])}
        files["sledc"] = (Path(self._sledc), digest_of(self._sledc))
        sizes = {name: path.stat().st_size for name, (path, _) in files.items()}
        room = warm_commands.check_room(running, sizes["vmlinuz"] + sizes["initrd.img"], sizes["sledc"])
        try:
            self._fill(files, self._texts(boot, sizes["initrd.img"]), room)
            self._load(running)
            self._leave(end)
        except SledError as error:
            raise SledError(f"{error}{self._drop()}") from error
        digests = {"kernel_sha256": files["vmlinuz"][1], "initrd_sha256": files["initrd.img"][1]}
        return {**digests, "bytes": sum(sizes.values())}

    @staticmethod
    def _texts(boot: Json, initrd: int) -> dict[str, bytes]:
        """The small files. The ticket is a secret, and so never part of a command or of the result."""
        if not boot.get("ticket"):
            raise SledError("sledd sent no ticket for the warm start: sledd is older than this collection")
        return {
            "arguments": boot["arguments"].encode("ascii") + b"\n",
            "leave": warm_commands.LEAVE.encode("ascii"),
            "ticket": warm_commands.ticket_archive(boot["ticket"], initrd),
        }

    def _fill(self, files: dict[str, tuple[Path, str]], texts: dict[str, bytes], room: int) -> None:
        """Puts all that is needed on the node, and proves that it arrived."""
        user = self._shell.run("id -u", "ask who logs in", become=False).split()
        self._shell.run(warm_commands.make_folder(int(user[-1]), room), f"make {warm_commands.FOLDER}")
        for name, (path, _) in files.items():
            self._shell.put(str(path), name)
        digests = {name: digest for name, (_, digest) in files.items()}
        for name, text in texts.items():
            with tempfile.NamedTemporaryFile(prefix="sled-warm-") as file:  # mode 0600
                file.write(text)
                file.flush()
                digests[name] = digest_of(file.name)
                self._shell.put(file.name, name)
        self._shell.run(warm_commands.prove(digests), "prove what was copied by its SHA-256")

    def _load(self, running: warm_commands.Running) -> None:
        try:
            self._shell.run(warm_commands.load(), "load the kernel")
        except SledError as error:
            locked = f" (lockdown: {running.lockdown})" if running.lockdown not in ("", "none") else ""
            raise SledError(f"{error}{locked}") from error

    def _leave(self, end: str) -> None:
        # The system may be gone before it has answered; whether the node comes is what sledd sees.
        with contextlib.suppress(Gone):
            self._shell.run(end, "order the jump")
        with contextlib.suppress(Exception):
            self._shell.close()

    def _drop(self) -> str:
        """Leaves the running system as it was; what cannot be undone is reported."""
        try:
            self._shell.run(warm_commands.drop_folder(), "clean up")
        except SledError as error:
            return f"; and {error}"
        return ""
