# SPDX-License-Identifier: Apache-2.0
"""Minimal Debian containers that have what `sled` depends on, and an apt repository of the release in /debs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MIRROR = "http://deb.debian.org/debian"
# The system: not in the packages' Depends.
SYSTEM = "dbus,systemd,systemd-sysv"


@contextmanager
def minimal(release: Path, suite: str, include: str = "", later: str = "") -> Iterator[Path]:
    """The root file system; `include` are further packages, `later` those that only /debs has, with what they need."""
    cache = Path(os.environ.get("SLED_CACHE", Path.home() / ".cache/sled")) / "roots"
    debs = [next(release.glob(f"{name}_*_amd64.deb")) for name in ("sled", "sledctl")]
    fields = subprocess.run(["dpkg-deb", "-f", debs[0], "Depends"], check=True, capture_output=True, text=True).stdout
    needed = [word.split()[0] for word in fields.split(", ") if not word.startswith("sledctl")]
    made = cache / suite
    shutil.rmtree(made, ignore_errors=True)
    made.parent.mkdir(parents=True, exist_ok=True)
    options = ["--quiet", "--variant=minbase", f"--include={','.join([SYSTEM, *needed, include])}"]
    download = f'chroot "$1" apt-get -q install -y --download-only --no-install-recommends {later}'
    hooks = [f'--customize-hook={download} && mkdir "$1/debs" && mv "$1"/var/cache/apt/archives/*.deb "$1/debs"']
    subprocess.run(["mmdebstrap", *options, *(hooks if later else []), suite, made, MIRROR], check=True)
    (made / "debs").mkdir(exist_ok=True)
    for deb in debs:
        shutil.copy(deb, made / "debs")
    if later:
        index = subprocess.run(["apt-ftparchive", "packages", "."], cwd=made / "debs", check=True, capture_output=True)
        (made / "debs/Packages").write_bytes(index.stdout)
        (made / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/debs ./\n")
    yield made
    shutil.rmtree(made)


def boot(root: Path, script: str, minutes: int = 10) -> str:
    """Runs a script in the booted system, which has no network, and powers it off; what it printed."""
    unit = "[Unit]\nAfter=dbus.service\n[Service]\nType=idle\nExecStart=/bin/sh /debs/script\n"
    (root / "debs/script").write_text(f"({script}\n) >/debs/output 2>&1\necho $? >/debs/code\nsystemctl poweroff\n")
    (root / "etc/systemd/system/script.service").write_text(unit)
    wants = root / "etc/systemd/system/default.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "script.service").unlink(missing_ok=True)
    (wants / "script.service").symlink_to("../script.service")
    command = ["systemd-nspawn", "-q", "-D", str(root), "--boot", "--private-network", "--register=no", "--keep-unit"]
    command += ["--console=pipe"]
    limit = 60 * minutes
    subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=limit)
    output = (root / "debs/output").read_text()
    assert (root / "debs/code").read_text() == "0\n", output
    return output
