# SPDX-License-Identifier: Apache-2.0
"""The commands that end the system of a running node, and how their output is read. Pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.sled.fleet.plugins.module_utils.client import SettingsError, SledError

TICKET = "etc/sled/ticket"  # in the initrd, where sledc looks for it
FOLDER = "/run/sled-warm"  # a filesystem of our own, since /run may be noexec; gone with the running system
SMALLEST = 320 << 20  # bytes of memory, as the kernel counts it, that the Sled system needs (initrd/README.md: 384 MiB)
SPARE = 64 << 20  # bytes of memory that are left to the running system
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of ELF
KEXEC_BY_ITSELF = 255  # first systemd that jumps without the program kexec

PROBE = """
LC_ALL=C; export LC_ALL
echo "uid=$(id -u)"
echo "arch=$(uname -m)"
sed -n 's/^\\(MemTotal\\|MemAvailable\\): *\\([0-9]*\\) kB$/\\1=\\2/p' /proc/meminfo
echo "loaded=$(cat /sys/kernel/kexec_loaded 2>/dev/null)"
echo "disabled=$(cat /proc/sys/kernel/kexec_load_disabled 2>/dev/null)"
echo "lockdown=$(sed -n 's/.*\\[\\(.*\\)\\].*/\\1/p' /sys/kernel/security/lockdown 2>/dev/null)"
echo "ours=$(grep -c ' /run/sled-warm ' /proc/mounts)"
for tool in mount umount sha256sum systemctl systemd-run kexec; do
  command -v "$tool" >/dev/null && echo "tool=$tool"
done
[ -d /run/systemd/system ] && echo "systemd=$(systemctl --version | sed -n '1s/^systemd \\([0-9]*\\).*/\\1/p')"
cat /sys/class/net/*/address | sed 's/^/mac=/'
for nic in /sys/class/net/*; do
  [ "$(cat "$nic/carrier" 2>/dev/null)" = 1 ] && echo "up=$(cat "$nic/address")"
done
sed -n 's/^Permanent HW addr: /mac=/p' /proc/net/bonding/* 2>/dev/null || :
"""


@dataclass
class Running:
    """What a node's running system reported of itself."""

    uid: int = -1
    arch: str = ""
    total: int = 0  # bytes of memory
    available: int = 0
    loaded: str = ""  # 0 or 1; empty: the kernel has no kexec
    disabled: str = ""
    lockdown: str = ""
    ours: bool = False  # something of an earlier try is there
    systemd: int = 0
    tools: set[str] = field(default_factory=set)
    macs: set[str] = field(default_factory=set)
    up: set[str] = field(default_factory=set)  # MACs of interfaces with a carrier


def read_probe(text: str) -> Running:
    """Reads what PROBE printed; lines of others, such as a banner, are left out."""
    found = Running()
    for line in text.splitlines():
        name, _, value = line.strip().partition("=")
        match name:
            case "uid" | "systemd" if value.isdigit():
                setattr(found, name, int(value))
            case "MemTotal" if value.isdigit():
                found.total = int(value) << 10
            case "MemAvailable" if value.isdigit():
                found.available = int(value) << 10
            case "arch" | "loaded" | "disabled" | "lockdown":
                setattr(found, name, value)
            case "ours":
                found.ours = value not in ("", "0")
            case "tool":
                found.tools.add(value)
            case "mac":
                found.macs.add(value.lower())
            case "up":
                found.up.add(value.lower())
    return found


def interface(running: Running, macs: list[str]) -> str:
    """The MAC to boot from, of those of the node: the first with a carrier, else the first that the machine has."""
    for has in (running.up, running.macs):
        for mac in macs:
            if mac in has:
                return mac
    return macs[0]


def check(running: Running, mac: str, arch: str) -> None:
    """Refuses what cannot be started warm, before anything is changed."""
    missing = sorted({"mount", "umount", "sha256sum"} - running.tools)
    for wrong, why in (
        (running.uid < 0, "the running system did not answer the questions of a shell"),
        (running.uid > 0, f"user id {running.uid} may not load a kernel: log in as root, or set become: true"),
        (running.macs and mac not in running.macs, f"what answers has no interface {mac}: it is another machine"),
        (running.arch != arch, f"the machine is {running.arch}, the sledc given is for {arch}"),
        (not running.loaded, "its kernel has no kexec (/sys/kernel/kexec_loaded is missing)"),
        (running.disabled == "1", "kernel.kexec_load_disabled is 1, which only a reboot ends"),
        (
            running.loaded == "1" and not running.ours,
            "a kernel that is not ours is loaded already; kexec -u unloads it",
        ),
        (
            running.total < SMALLEST,
            f"it has {running.total >> 20} MiB of memory, the Sled system needs {SMALLEST >> 20}",
        ),
        (bool(missing), f"it has no {', '.join(missing)}"),
    ):
        if wrong:
            raise SledError(f"no warm start: {why}")


def check_room(running: Running, held: int, sledc: int) -> int:
    """Bytes that the files may take on the node; they lie in memory twice, but for sledc."""
    needed = 2 * held + sledc + SPARE
    if running.available < needed:
        raise SledError(
            f"no warm start: {running.available >> 20} MiB of memory are available, {needed >> 20} are needed"
        )
    return held + sledc + (4 << 20)


def program_arch(path: str) -> str:
    """The architecture that sledc was built for."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(20)
    except OSError as error:
        raise SettingsError(f"sledc {path}: {error.strerror}; make build makes one") from error
    arch = MACHINES.get(int.from_bytes(head[18:20], "little")) if head[:6] == b"\x7fELF\x02\x01" else None
    if not arch:
        raise SettingsError(f"sledc {path} is not a Linux program for {' or '.join(MACHINES.values())}")
    return arch


def make_folder(uid: int, room: int) -> str:
    """Makes the folder, which the user who logs in may fill."""
    return (
        f"umask 077; {drop_folder()}; mkdir -p {FOLDER} && "
        f"mount -t tmpfs -o mode=0700,uid={uid},size={room},nosuid,nodev sled-warm {FOLDER}"
    )


def drop_folder() -> str:
    """Takes the folder away, and what is loaded."""
    return (
        f'[ "$(cat /sys/kernel/kexec_loaded)" != 1 ] || [ ! -x {FOLDER}/sledc ] || {FOLDER}/sledc unload; '
        f"while grep -q ' {FOLDER} ' /proc/mounts; do umount {FOLDER} || break; done; "
        f"[ ! -d {FOLDER} ] || rmdir {FOLDER}"
    )


def prove(digests: dict[str, str]) -> str:
    """Takes the files over and compares them with their SHA-256; then makes sledc a program."""
    lines = "".join(f"{digest}  {FOLDER}/{name}\\n" for name, digest in sorted(digests.items()))
    return (
        f"chown -R 0:0 {FOLDER} && chmod 0700 {FOLDER} && chmod 0600 {FOLDER}/* && "
        f"printf {shlex.quote(lines)} | sha256sum -c - >&2 && chmod 0700 {FOLDER}/sledc {FOLDER}/leave"
    )


def entry(number: int, name: str, mode: int, content: bytes) -> bytes:
    """One entry of a cpio archive (newc), owned by root."""
    path = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
    return _aligned(head) + _aligned(content)


def _aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def ticket_archive(ticket: str, behind: int) -> bytes:
    """The cpio archive with the ticket, to be appended to an initrd of so many bytes."""
    files = (("etc", 0o040755, b""), ("etc/sled", 0o040755, b""), (TICKET, 0o100600, ticket.encode("ascii") + b"\n"))
    entries = [entry(number, *file) for number, file in enumerate(files, 1)]
    return bytes(-behind % 4) + b"".join(entries) + entry(0, "TRAILER!!!", 0, b"")


def load() -> str:
    """Loads what was proven, with the ticket behind the initrd. The files are not needed any more then."""
    return (
        f"cat {FOLDER}/ticket >>{FOLDER}/initrd.img && rm -f {FOLDER}/ticket && "
        f"{FOLDER}/sledc load kernel={FOLDER}/vmlinuz initrd={FOLDER}/initrd.img arguments={FOLDER}/arguments && "
        f"rm -f {FOLDER}/initrd.img"
    )


def by_systemd(running: Running) -> bool:
    """Whether `systemctl kexec` jumps.

    systemd up to 254 calls the program kexec, and goes through the firmware without it.
    """
    return running.systemd > 0 and (running.systemd >= KEXEC_BY_ITSELF or "kexec" in running.tools)


LEAVE = """#!/bin/sh
# Ends the running system as far as a shell can, and jumps. What was stopped is started again when the jump fails.
PATH=$PATH:/usr/sbin:/sbin
services=
if [ -d /run/systemd/system ]; then
    services=$(systemctl list-units --type=service --state=running --plain --no-legend | while read -r unit rest; do
        case $unit in
        systemd-*|dbus*|ssh*|user@*|getty@*|serial-getty@*|sled-warm*) ;;
        *) echo "$unit" ;;
        esac
    done)
    [ -z "$services" ] || timeout 60 systemctl stop $services
fi
FOLDER/sledc jump
FOLDER/sledc unload
[ -z "$services" ] || systemctl start --no-block $services
""".replace("FOLDER", FOLDER)


def leave(running: Running) -> tuple[str, str]:
    """The command that orders the jump, and its name for a person. It answers before anything ends."""
    if by_systemd(running):
        return "systemctl --no-block kexec", "systemctl kexec"
    if running.systemd and "systemd-run" in running.tools:
        return (
            f"systemd-run --quiet --collect --no-block --unit=sled-warm /bin/sh {FOLDER}/leave",
            "services stopped, then the jump",
        )
    return (
        f"setsid /bin/sh {FOLDER}/leave >/dev/null 2>&1 </dev/null &",
        "services stopped as far as known, then the jump",
    )
