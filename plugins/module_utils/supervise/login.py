# SPDX-License-Identifier: Apache-2.0
"""The shell of a running node over ssh, as the variables of the inventory say how to log in."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from ansible_collections.sled.fleet.plugins.module_utils import warm_commands
from ansible_collections.sled.fleet.plugins.module_utils.client import SettingsError, SledError
from ansible_collections.sled.fleet.plugins.module_utils.power.programs import Ended
from ansible_collections.sled.fleet.plugins.module_utils.warm_start import Gone

CONNECT = 20  # seconds until a node answers
LONGEST = 600.0  # seconds for one command, or one file
ALONE = ["BatchMode=yes", f"ConnectTimeout={CONNECT}", "ServerAliveInterval=5", "ServerAliveCountMax=6"]
NO_CONNECTION = 255  # exit code of ssh that none of a command is known to have


@dataclass(frozen=True)
class Login:
    """How to log in to a node: the variables ansible_* that ssh needs."""

    address: str
    port: int = 0  # 0: the configuration of ssh
    user: str = ""
    key_file: str = ""
    arguments: tuple[str, ...] = ()  # such as those that pin the host key
    become: bool = False
    connection: str = "ssh"

    def argv(self, before: Sequence[str] = (), after: Sequence[str] = ()) -> list[str]:
        """The command up to the one of the node. Of two values of an option ssh takes the first: those in `before`
        replace the settings of the inventory, those in `after` do not.
        """
        if self.connection not in ("ssh", "ansible.builtin.ssh", "smart"):
            raise SettingsError(f"ansible_connection {self.connection}: warm starts and supervise_verify=ssh need ssh")
        words = ["ssh"]
        for option in before:
            words += ["-o", option]
        words += self.arguments
        for option in (*ALONE, *after):
            words += ["-o", option]
        for flag, value in (("-p", self.port), ("-l", self.user), ("-i", self.key_file)):
            if value:
                words += [flag, str(value)]
        return words


class SshShell:
    """A connection that is kept for some commands and files. Its verbs are those of warm_start.Shell."""

    def __init__(self, login: Login) -> None:
        self._login = login
        self._folder = tempfile.mkdtemp(prefix="sled-ssh-")
        shared = ["ControlMaster=auto", f"ControlPath={self._folder}/%C", "ControlPersist=60"]
        self._argv = login.argv(after=shared)

    def run(self, command: str, what: str, become: bool = True) -> str:
        """Runs a command of /bin/sh."""
        sudo = "sudo -n " if become and self._login.become else ""
        ended = self._ssh(f"{sudo}/bin/sh -c {shlex.quote(command)}", what)
        if ended.code == 0:
            return ended.out
        printed = "; ".join((ended.err or ended.out).strip().splitlines()[-5:]) or "no output"
        if ended.code == NO_CONNECTION:
            raise Gone(f"cannot {what}: {printed}")
        raise SledError(f"cannot {what}: {printed} (code {ended.code})")

    def put(self, local: str, name: str) -> None:
        """Copies a file."""
        target = shlex.quote(f"{warm_commands.FOLDER}/{name}")
        with open(local, "rb") as file:
            ended = self._ssh(f"umask 077; cat >{target}", f"copy {name} to the node", file)
        if ended.code:
            raise Gone(f"cannot copy {name} to the node: {ended.last}")

    def close(self) -> None:
        """Ends the connection, and what is kept of it."""
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(  # noqa: S603
                [*self._argv, "-O", "exit", "--", self._login.address],
                capture_output=True,
                timeout=CONNECT,
                check=False,
            )
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ssh(self, command: str, what: str, source: IO[bytes] | int = subprocess.DEVNULL) -> Ended:
        # A file, as older ssh keeps stderr open for as long as it keeps the connection.
        with tempfile.TemporaryFile() as errors:
            try:
                ended = subprocess.run(  # noqa: S603 (the operator's own ssh)
                    [*self._argv, "--", self._login.address, command],
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    timeout=LONGEST,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise Gone(f"cannot {what}: ssh did not end within {LONGEST:.0f} s") from None
            except OSError as error:
                raise SettingsError(f"cannot {what}: ssh cannot be run: {error.strerror}") from error
            errors.seek(0)
            return Ended(
                ended.returncode, ended.stdout.decode(errors="replace"), errors.read().decode(errors="replace")
            )
