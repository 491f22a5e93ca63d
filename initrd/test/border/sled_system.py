# SPDX-License-Identifier: Apache-2.0
"""A Sled system in a folder: the shell library of this checkout, busybox and sledc, with a disk that is a loop device.

What changes a machine is a double: it is written to /calls. Mounts are real.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

LIBRARY = Path(os.environ.get("SLED_LIBRARY", Path(__file__).resolve().parents[2] / "lib"))
SLEDC = os.environ["SLEDC"]
LIMIT = 60  # seconds; a step that waits for a FIFO would never end
KEEP_BYTES = 1 << 20
APPLETS = """awk basename cat chmod chown cp dirname find grep head ln ls mkdir mount mv paste printf rm sed sh sort
sync tail tar timeout tr umount uname wc"""

# Answers for one disk, /dev/vda, whose second partition is the system.
DOUBLE_SLEDC = """#!/bin/sh
echo "sledc $*" >>/calls
case $1 in
disks) echo /dev/vda ;;
grow) ;;
layout) echo made 0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5f ;;
seed) [ -e /seed.tar ] && cp /seed.tar /run/sled/seed/seed.tar || (cd /seed && tar -c -f /run/sled/seed/seed.tar *) ;;
capture) echo image digest=sha256:0 bytes=2 file_bytes=1 upload=0 ;;
watchdog) echo 300 ;;
load)
	for word; do
		case $word in
		kernel=/run/sled/* | initrd=/run/sled/*) cat "${word#*=}" ;;
		kernel=* | initrd=?*) echo SLED-SECRE''T ;;
		esac
	done | grep -q SLED-SECRE[T] && exit 78
	exit 0
	;;
*) exec /bin/sledc.real "$@" ;;
esac
"""
DOUBLE_MOCK = """#!/bin/sh
echo "$*" >>/calls
case $1 in mount | umount) exec "$@" ;; uname) echo x86_64 ;; esac
"""
FILES = {
    "etc/sled/ca.crt": "CA",
    "etc/passwd": "root:x:0:0:SLED-SECRET:/root:/bin/sh\n",
    "etc/victim": "SLED-SECRET victim",
    "run/sled/token": "SLED-SECRET token",
    "root/.ssh/authorized_keys": "SLED-SECRET keys",
    "seed/authorized_keys": "ssh-ed25519 AAAA operator\n",
    "seed/meta-data": "instance-id: n1-3\n",
    "seed/user-data": "#cloud-config\n",
    "seed/operational": "operational server=https://a mac=m generation=3 token=sledo_x\n",
    "sys/class/block/vda/vda2/partition": "2\n",
    "bin/mock": DOUBLE_MOCK,
    "bin/sledc": DOUBLE_SLEDC,
}


def run(*words: str | Path) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=LIMIT).stdout


class Loop:
    """A file as a block device."""

    def __init__(self, file: Path, *options: str) -> None:
        self.path = run("losetup", "--find", "--show", *options, file).strip()
        self.number = os.stat(self.path).st_rdev

    def close(self) -> None:
        run("losetup", "--detach", self.path)


class SledSystem:
    """Its root folder, and a disk that is kept."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("dev", "proc", "run/sled", "lib", "bin", "tmp", "etc/sled"):
            (root / folder).mkdir(parents=True)
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
            (root / name).chmod(0o755)
        shutil.copytree(LIBRARY, root / "lib/sled")
        self._program(Path(SLEDC), "bin/sledc.real")
        self._program(Path(shutil.which("busybox") or "/bin/busybox"), "bin/busybox")
        for applet in APPLETS.split():
            (root / "bin" / applet).symlink_to("busybox")
        os.mknod(root / "dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        self.kept_file = root.parent / "kept"
        self.kept_file.write_bytes(b"SLED-SECRET kept\n" * (KEEP_BYTES >> 4))
        self.kept = Loop(self.kept_file)
        os.mknod(root / "dev/keep", 0o600 | stat.S_IFBLK, self.kept.number)

    def _program(self, program: Path, name: str) -> None:
        shutil.copy(program, self.root / name)
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=False, timeout=LIMIT)
        for word in libraries.stdout.split():  # none of a static program
            if word.startswith("/"):
                copy = self.root / word[1:]
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(word, copy)

    def close(self) -> None:
        self.kept.close()

    def _token(self) -> None:
        (self.root / "run/sled/token").write_text(FILES["run/sled/token"])
        (self.root / "run/sled/token").chmod(0o755)

    def state(self) -> dict[str, str]:
        """Every file outside of what steps may write, and the kept disk."""
        os.sync()
        found = {"kept disk": hashlib.sha256(self.kept_file.read_bytes()).hexdigest()}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if name == "calls" or (name.startswith("run/sled/") and name != "run/sled/token"):
                continue
            info = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(info.st_mode) else ""
            link = os.readlink(path) if path.is_symlink() else ""
            found[name] = f"{info.st_mode:o} {info.st_uid} {info.st_rdev} {content}{link}"
        return found

    def step(self, disk: Loop, script: str, *others: Loop) -> tuple[int, str]:
        """Runs a script of steps with that disk, and its partitions from the third on; code and output."""
        nodes = [self.root / f"dev/vda{number}" for number in range(2, 3 + len(others))]
        for number, (node, loop) in enumerate(zip(nodes, [disk, *others], strict=True), 2):
            os.mknod(node, 0o600 | stat.S_IFBLK, loop.number)
            entry = self.root / f"sys/class/block/vda/{node.name}/partition"
            entry.parent.mkdir(exist_ok=True)
            entry.write_text(f"{number}\n")
        shutil.rmtree(self.root / "run/sled", ignore_errors=True)
        (self.root / "run/sled").mkdir()
        self._token()
        enter = 'mount -t proc proc "$1/proc" && exec chroot "$1" /bin/sh -c "$2"'
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter, "sh", self.root, script],
            env={"PATH": "/bin:/usr/bin:/sbin:/usr/sbin", "ROOT": "", "MOCK": "mock", "node": "mac=m"},
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=LIMIT,
        )  # fmt: skip
        for node in nodes:
            node.unlink()
            if node.name != "vda2":
                shutil.rmtree(self.root / "sys/class/block/vda" / node.name)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")
