# SPDX-License-Identifier: Apache-2.0
"""Systems whose files lead elsewhere, each a function that changes the tree of a plain Debian."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

# What the steps read and write, by the kind of file that takes its place.
READ = ("etc/hosts", "etc/machine-id", "etc/fstab", "root/.ssh/authorized_keys", "boot/grub/grub.cfg",
        "boot/vmlinuz-6.1", "lib/modules/6.1/modules.dep")  # fmt: skip
WRITTEN = ("etc/hostname", "etc/hostname.sled", "etc/hosts.sled", "etc/machine-id.sled", "usr/lib/sled/sledc",
           "etc/ssh/ssh_host_ed25519_key", "etc/systemd/system/sled-operational.service")  # fmt: skip
FOLDERS = (
    "root/.ssh",
    "etc/cloud",
    "etc/sled",
    "usr/lib/sled",
    "etc/systemd/system",
    "var/lib/cloud",
    "var/lib/systemd",
)


def plain(tree: Path) -> None:
    """A Debian with all that the steps look for."""
    files = {
        "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n",
        "etc/os-release": "ID=debian\n",
        "etc/hosts": "127.0.0.1\tlocalhost\n",
        "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
        "etc/fstab": "UUID=1 / ext4 defaults 0 1\n",
        "etc/ssh/ssh_host_rsa_key": "old",
        "boot/vmlinuz-6.1": "kernel",
        "boot/initrd.img-6.1": "initrd",
        "boot/grub/grub.cfg": menu("/boot/vmlinuz-6.1", "/boot/initrd.img-6.1"),
        "usr/bin/cloud-init": "",
        "usr/lib/systemd/systemd": "",
        "usr/lib/systemd/systemd-makefs": "",
        "usr/sbin/mkfs.ext4": "",
        "root/.ssh/authorized_keys": "ssh-ed25519 BBBB image\n",
        "lib/modules/6.1/modules.dep": "kernel/iTCO_wdt.ko:\n",
        "etc/systemd/system/sled-watchdog.service": "",
    }
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)


def menu(kernel: str, initrd: str) -> str:
    return f"menuentry 'Debian' {{\n\tlinux {kernel} root=UUID=1\n\tinitrd {initrd}\n}}\n"


def place(tree: Path, name: str) -> Path:
    """That name, with nothing there."""
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    return path


def link_all(tree: Path, to: Callable[[str], str], folder: str) -> None:
    """Links in place of each file and folder, and a menu whose files are links."""
    for name in FOLDERS:
        place(tree, name).symlink_to(folder)
    for name in (*READ, *WRITTEN):
        if not any(parent.is_symlink() for parent in (tree / name).parents):
            place(tree, name).symlink_to(to(name))


def upwards(tree: Path, _kept: int) -> None:
    up = "../" * 12
    link_all(tree, lambda _: f"{up}etc/victim", f"{up}lib/sled")
    passwd = tree / "etc/passwd"
    passwd.write_text(passwd.read_text().replace("/home/user", f"/{up}run/sled"))


def menu_upwards(tree: Path, _kept: int) -> None:
    (tree / "boot/grub/grub.cfg").write_text(menu(f"/{'../' * 12}etc/victim", f"/{'../' * 12}dev/keep"))
    for name in ("boot/vmlinuz-6.1", "boot/vmlinuz-9"):
        place(tree, name).symlink_to("/etc/victim")


def absolute(tree: Path, _kept: int) -> None:
    link_all(tree, lambda _: "/lib/sled/kexec.sh", "/lib/sled")


def through_proc(tree: Path, _kept: int) -> None:
    link_all(tree, lambda _: "/proc/self/root/etc/victim", "/proc/self/root/etc")


def kept_disk(tree: Path, kept: int) -> None:
    (tree / "dev").mkdir(exist_ok=True)
    os.mknod(tree / "dev/keep", 0o666 | stat.S_IFBLK, kept)
    link_all(tree, lambda _: "/dev/keep", "/dev")


def device(tree: Path, kept: int) -> None:
    for name in (*READ, *WRITTEN):
        os.mknod(place(tree, name), 0o666 | stat.S_IFBLK, kept)


def fifo(tree: Path, _kept: int) -> None:
    for name in (*READ, *WRITTEN):
        os.mkfifo(place(tree, name))


def sockets(tree: Path, _kept: int) -> None:
    for name in (*READ, *WRITTEN):
        path = place(tree, name)
        os.chdir(path.parent)  # the address of a socket is short
        socket.socket(socket.AF_UNIX).bind(path.name)
    os.chdir("/")


def immutable(tree: Path, _kept: int) -> None:
    for name in ("etc/hostname", "etc/hosts", "etc/ssh", "root/.ssh"):
        (tree / name).touch()
        subprocess.run(["chattr", "+i", tree / name], check=True)


def full(tree: Path, _kept: int) -> None:
    with (tree / "ballast").open("wb", buffering=0) as ballast:
        try:
            for size in (1 << 16, 1 << 10, 1):
                while True:
                    try:
                        ballast.write(bytes(size))
                    except OSError:
                        break
            os.fsync(ballast.fileno())
        except OSError:
            pass


def read_only(_tree: Path, _kept: int) -> None:
    """The device is."""


def loops(tree: Path, _kept: int) -> None:
    link_all(tree, lambda name: Path(name).name, "../var/lib/systemd")
    place(tree, "boot/grub").symlink_to("grub")
    place(tree, "var/lib/systemd").symlink_to("systemd")


def folders(tree: Path, _kept: int) -> None:
    for name in (*READ, *WRITTEN):
        (place(tree, name) / "below").mkdir(parents=True)


def hard_links(tree: Path, _kept: int) -> None:
    (tree / "etc/other").write_text("other\n")
    for name in (*READ, *WRITTEN):
        os.link(tree / "etc/other", place(tree, name))


def deep(tree: Path, _kept: int) -> None:
    """A home that no call can open, and one below many folders that are missing."""
    passwd = tree / "etc/passwd"
    passwd.write_text(passwd.read_text().replace("/home/user", "/d" * 1900))
    place(tree, "usr/bin/cloud-init")


def benign(tree: Path, _kept: int) -> None:
    """Absolute links as a system with its data elsewhere has them."""
    (tree / "data").mkdir()
    shutil.move(tree / "root/.ssh", tree / "data/ssh")
    links = {"root/.ssh": "/data/ssh", "etc/cloud": "/data/cloud", "boot/vmlinuz": "/boot/vmlinuz-6.1"}
    for name, target in links.items():
        (tree / name).symlink_to(target)
    (tree / "boot/grub/grub.cfg").write_text(menu("/boot/vmlinuz", "/boot/initrd.img-6.1"))


HOSTILE: list[Callable[[Path, int], None]] = [
    upwards, menu_upwards, absolute, through_proc, kept_disk, device, fifo, sockets, immutable, full, read_only, loops,
    folders, hard_links, deep,
]  # fmt: skip
