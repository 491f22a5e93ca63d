# SPDX-License-Identifier: Apache-2.0
"""Action sled.fleet.warm: glue.

Its documentation is in plugins/modules/warm.py, the work in module_utils/warming.py and cache.py.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase
from ansible_collections.sled.fleet.plugins.module_utils import warming
from ansible_collections.sled.fleet.plugins.module_utils.cache import Cache, digest_of
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.options import API, connect

SPEC = {
    **API,
    "node": {"type": "str"},
    "cache": {"type": "path", "default": "~/.cache/sled/warm"},
    "sledc": {"type": "path"},
}


class Gone(SledError):
    """The node does not answer its connection."""


class ActionModule(ActionBase):
    """Runs on the controller, and speaks to the node by its connection alone: no Python is needed there."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True
    TRANSFERS_FILES = False  # not by Ansible: it would tidy up behind itself on a machine that is gone

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> Json:
        """Orders the jump, or leaves the running system as it was."""
        result: Json = super().run(tmp, task_vars)
        _, options = self.validate_argument_spec(SPEC)
        variables = task_vars or {}
        options["node"] = options["node"] or str(variables.get("inventory_hostname", ""))
        options["sledc"] = options["sledc"] or str(Path(__file__).resolve().parents[2] / "build" / "bin" / "sledc")
        try:
            result.update(self._warm(connect(options), options))
        except SledError as error:
            result.update(failed=True, msg=str(error), status=getattr(error, "status", 0))
        return result

    def _warm(self, client: Client, options: Json) -> Json:
        node = client.find("nodes", options["node"])
        if node is None:
            raise SledError(f"node {options['node']} does not exist")
        running = warming.read_probe(self._shell(warming.PROBE, "ask the running system"))
        mac = warming.interface(running, [node["mac"], *node.get("macs", [])])
        warming.check(running, mac, warming.program_arch(options["sledc"]))
        end, outcome = warming.leave(running)
        result = {"changed": True, "node": options["node"], "mac": mac, "end": outcome}
        if self._task.check_mode:
            return result
        boot = client.boot(mac)
        cache = Cache(options["cache"], options["ca_file"], options["timeout"])
        files = {"vmlinuz": cache.get(boot["kernel"]), "initrd.img": cache.get(boot["initrd"])}
        files["sledc"] = (Path(options["sledc"]), digest_of(options["sledc"]))
        sizes = {name: path.stat().st_size for name, (path, _) in files.items()}
        room = warming.check_room(running, sizes["vmlinuz"] + sizes["initrd.img"], sizes["sledc"])
        try:
            self._fill(files, self._texts(boot, sizes["initrd.img"]), room)
            self._load(running)
            self._leave(end)
        except SledError as error:
            raise SledError(f"{error}{self._drop()}") from error
        digests = {"kernel_sha256": files["vmlinuz"][1], "initrd_sha256": files["initrd.img"][1]}
        return {**result, **digests, "bytes": sum(sizes.values())}

    @staticmethod
    def _texts(boot: Json, initrd: int) -> dict[str, bytes]:
        """The small files. The ticket is a secret, and so never part of a command or of the result."""
        if not boot.get("ticket"):
            raise SledError("sledd sent no ticket for the warm start: sledd is older than this collection")
        return {
            "arguments": boot["arguments"].encode("ascii") + b"\n",
            "leave": warming.LEAVE.encode("ascii"),
            "ticket": warming.ticket_archive(boot["ticket"], initrd),
        }

    def _fill(self, files: dict[str, tuple[Path, str]], texts: dict[str, bytes], room: int) -> None:
        """Puts all that is needed on the node, and proves that it arrived."""
        user = self._shell("id -u", "ask who logs in", become=False).split()
        self._shell(warming.make_folder(int(user[-1]), room), f"make {warming.FOLDER}")
        for name, (path, _) in files.items():
            self._put(str(path), name)
        digests = {name: digest for name, (_, digest) in files.items()}
        for name, text in texts.items():
            with tempfile.NamedTemporaryFile(prefix="sled-warm-") as file:  # mode 0600
                file.write(text)
                file.flush()
                digests[name] = digest_of(file.name)
                self._put(file.name, name)
        self._shell(warming.prove(digests), "prove what was copied by its SHA-256")

    def _load(self, running: warming.Running) -> None:
        try:
            self._shell(warming.load(), "load the kernel")
        except SledError as error:
            locked = f" (lockdown: {running.lockdown})" if running.lockdown not in ("", "none") else ""
            raise SledError(f"{error}{locked}") from error

    def _leave(self, end: str) -> None:
        # The system may be gone before it has answered; whether the node comes is what sledd sees.
        with contextlib.suppress(Gone):
            self._shell(end, "order the jump")
        with contextlib.suppress(Exception):  # a connection that is kept would hang on a machine that is gone
            self._connection.reset()

    def _drop(self) -> str:
        """Leaves the running system as it was; what cannot be undone is reported."""
        try:
            self._shell(warming.drop_folder(), "clean up")
        except SledError as error:
            return f"; and {error}"
        return ""

    def _put(self, local: str, name: str) -> None:
        try:
            self._connection.put_file(local, f"{warming.FOLDER}/{name}")
        except AnsibleError as error:
            raise Gone(f"cannot copy {name} to the node: {error}") from error

    def _shell(self, command: str, what: str, become: bool = True) -> str:
        # Not for Ansible to see as unreachable: another entry method may be tried for that node.
        try:
            answer = self._low_level_execute_command(command, sudoable=become, executable="/bin/sh")
        except AnsibleConnectionFailure as error:
            raise Gone(f"cannot {what}: {error}") from error
        if answer["rc"] == 0:
            return str(answer["stdout"])
        printed = (answer.get("stderr") or answer.get("stdout") or "").strip().splitlines()
        raise SledError(f"cannot {what}: {'; '.join(printed[-5:]) or 'no output'} (code {answer['rc']})")
