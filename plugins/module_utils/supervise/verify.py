# SPDX-License-Identifier: Apache-2.0
"""Verifies over SSH that a node runs the system that its binding requests.

The host key must be the one that sledd has of the node: the node reported it when it was imaged. The file with this key
replaces what the inventory pins, since a program that asks sledd for it would cost more than the login.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from typing import IO

from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SettingsError, SledError
from ansible_collections.sled.fleet.plugins.module_utils.hostvars import host_key
from ansible_collections.sled.fleet.plugins.module_utils.power.programs import Ended
from ansible_collections.sled.fleet.plugins.module_utils.power.ssh import REFUSED
from ansible_collections.sled.fleet.plugins.module_utils.supervise.login import NO_CONNECTION, Login

COMMAND = "hostname; cat /proc/sys/kernel/random/boot_id; cat /etc/sled-image"
PAUSE = 1.0  # seconds between two attempts
LONGEST_ANSWER = 4096  # bytes that are read of a node
LONGEST_SHOWN = 200  # characters of it in an error


def verify(
    login: Login, node: Json, timeout: float, clock: Callable[[], float], pause: Callable[[float], None]
) -> None:
    """Logs in as soon as the node answers, at most for the timeout, and compares. Raises SledError."""
    end = clock() + timeout
    with tempfile.NamedTemporaryFile("w", prefix="sled-known-hosts-", encoding="ascii") as file:
        key = host_key(node)
        file.write(f"{node['mac']} {key}\n")
        file.flush()
        argv = [*login.argv(before=_pinned(node["mac"], file.name if key else "")), "--", login.address, COMMAND]
        while True:
            ended = _run(argv, max(end - clock(), 1.0))
            if ended.code != NO_CONNECTION or any(sign in ended.err.lower() for sign in REFUSED):
                break
            if clock() + PAUSE >= end:
                raise SledError(f"no SSH at {login.address} within {timeout:.0f} s: {ended.last}")
            pause(PAUSE)
    if ended.code:
        raise SledError(f"its system cannot be verified over SSH: {ended.last[:LONGEST_SHOWN]} (code {ended.code})")
    compare(node, ended.out)


def _pinned(alias: str, file: str) -> list[str]:
    """Options of ssh that accept the host key in a file, and no other; without a file those that ssh knows already."""
    strict = ["StrictHostKeyChecking=yes", "ControlMaster=no", "ControlPath=none", "LogLevel=ERROR"]
    if not file:
        return strict
    known = [f"UserKnownHostsFile={file}", "GlobalKnownHostsFile=/dev/null", "KnownHostsCommand=none"]
    return [*strict, *known, f"HostKeyAlias={alias}", "UpdateHostKeys=no"]


def compare(node: Json, answer: str) -> None:
    """Compares what the system answers with what the binding requests and sledd has observed. Raises SledError."""
    name, boot = requested(node)
    image = node["binding"]["image"]
    lines = [line.strip() for line in answer.splitlines()]
    if len(lines) < 3 or lines[:2] != [name, boot] or image not in " ".join(lines[2:]):
        shown = ascii(lines)[:LONGEST_SHOWN]
        raise SledError(f"its system answers {shown}; requested are {name}, boot {boot}, image {image}")


def requested(node: Json) -> tuple[str, str]:
    """The host name that the node's system is to have, and the boot ID that it reported."""
    name = node["binding"].get("hostname") or node.get("name") or ""
    return str(name), str((node["status"].get("os") or {}).get("boot_id") or "")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends ssh and what it has started, such as a ProxyCommand."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _read(pipe: IO[bytes] | None) -> bytes:
    return pipe.read(LONGEST_ANSWER) if pipe else b""


def _run(argv: list[str], seconds: float) -> Ended:
    """Runs ssh, which ends in time, and reads no more of a node than an answer may have."""
    try:
        process = subprocess.Popen(  # noqa: S603 (the operator's own ssh)
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise SettingsError(f"ssh cannot be run: {error.strerror}") from error
    alarm = threading.Timer(seconds, _kill, [process])
    alarm.daemon = True
    alarm.start()
    with process:
        out = _read(process.stdout)
        err = _read(process.stderr) if len(out) < LONGEST_ANSWER else b"its answer does not end"
        if len(out) == LONGEST_ANSWER or len(err) == LONGEST_ANSWER:
            _kill(process)
        code = process.wait()
    in_time = alarm.is_alive()
    alarm.cancel()
    if code < 0 and not in_time:
        code, err = NO_CONNECTION, f"ssh did not end within {seconds:.0f} s".encode()
    return Ended(code, out.decode(errors="replace"), err.decode(errors="replace"))
