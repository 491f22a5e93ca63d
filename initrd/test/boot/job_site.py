# SPDX-License-Identifier: Apache-2.0
"""What sledd gives to a node for a job, the images of jobs, and what the node says of it."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

# Some of Docker's; CAP_MKNOD is none of a job's.
CAPABILITIES = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_NET_RAW", "CAP_SETGID", "CAP_SETUID"]
# What the image has of the kernel: what the machine needs, and `dummy`, which no Sled system has.
PARTS = [
    *("crypto", "lib", "arch/x86/crypto", "net/core", "net/packet", "fs/squashfs", "fs/overlayfs", "drivers/virtio"),
    *("drivers/char/hw_random", "drivers/block/loop.ko", "drivers/block/virtio_blk.ko", "drivers/net/virtio_net.ko"),
    *("drivers/net/net_failover.ko", "drivers/net/dummy.ko"),
]


def config(arguments: list[str]) -> bytes:
    """What sledd writes: contract/job.md."""
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
    ]
    sets = dict.fromkeys(("bounding", "effective", "permitted"), CAPABILITIES)
    process = {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": arguments, "env": ["PATH=/bin"], "cwd": "/"}
    linux = {
        "namespaces": [{"type": name} for name in ("pid", "ipc", "uts", "mount", "cgroup")],
        "cgroupsPath": "/sled/job",
        "resources": {"devices": [{"allow": False, "access": "rwm"}]},
    }
    whole = {"ociVersion": "1.0.2", "process": {**process, "capabilities": sets, "noNewPrivileges": True},
             "root": {"path": "rootfs"}, "hostname": "n1", "mounts": mounts, "linux": linux}  # fmt: skip
    return json.dumps(whole).encode()


def tar(**files: bytes) -> bytes:
    """Of these files: `_` in a name stands for a dot."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name.replace("_", "."))
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return held.getvalue()


def squashfs(tree: Path, to: Path) -> Path:
    """An image of a tree."""
    words = ["mksquashfs", tree, to, "-all-root", "-comp", "zstd", "-quiet", "-no-progress"]
    subprocess.run(words, check=True, timeout=300)
    return to


def root(folder: Path) -> Path:
    """The root of payloads."""
    tree = folder / "tree"
    for name in ("bin", "dev", "proc", "sys"):
        (tree / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", tree / "bin")
    for name in ("sh", "cat", "sleep", "uname", "wget"):
        (tree / "bin" / name).symlink_to("busybox")
    return squashfs(tree, folder / "root.squashfs")


def kernel(out: Path, folder: Path) -> tuple[str, Path]:
    """The release and the image of a kernel: of SLED_KERNEL, else that of the flavour generic."""
    base = Path(os.environ.get("SLED_KERNEL") or (out / "initrd/generic/kernel").read_text().strip())
    if base.is_file():
        return json.loads(base.with_name(f"{base.name}.json").read_text())["release"], base
    modules = next((base / "lib/modules").iterdir())
    release, tree = modules.name, folder / "kernel"
    to = tree / "usr/lib/modules" / release
    for part in PARTS:
        for path in [modules / "kernel" / part, *(modules / "kernel").glob(part + ".xz")]:
            if path.is_dir():
                shutil.copytree(path, to / "kernel" / part)
            elif path.exists():
                (to / "kernel" / part).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, (to / "kernel" / part).parent)
    for path in modules.glob("modules.*"):
        shutil.copy(path, to)
    packed_modules = [str(path) for path in to.rglob("*.ko.xz")]
    if packed_modules:
        subprocess.run(["xz", "-d", *packed_modules], check=True)
    (tree / "lib").symlink_to("usr/lib")
    subprocess.run(["depmod", "-b", tree, release], check=True)
    shutil.copy(base / "boot" / f"vmlinuz-{release}", to / "vmlinuz")
    return release, squashfs(tree, folder / "kernel.squashfs")


def told(console: str) -> dict[str, tuple[int, str]]:
    """Of each step that was run: code, and the lines that follow it."""
    found = {}
    for part in console.split("sled: job: ")[1:]:
        head = re.match(r"(fetch|run) (.*): code (\d+)", part)
        if head:
            key = re.findall(r"job=(\w+)", head[2])
            last = key[0] if key else f"fetch {len(found)}"
            found[last] = (int(head[3]), "")
        elif found:
            last = list(found)[-1]
            found[last] = (found[last][0], found[last][1] + part.replace("\r", ""))
    return found
