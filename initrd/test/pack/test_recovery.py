# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/images.md that get files out of an image without Sled: exactly those of the page.

As root: test_recovery.py; $SLEDC. Prints TAP.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "c")]
import disks  # noqa: E402
from tap import run_tests  # noqa: E402

SLEDC = os.environ["SLEDC"]
PAGE = HERE.parents[2] / "docs/images.md"
SECTION = "Get files out of an image without Sled"
FILES = {"etc/fstab": b"/dev/vda1 / ext4\n", "etc/hostname": b"recovered\n"}
work = Path(tempfile.mkdtemp())


def commands() -> list[str]:
    """The blocks of code of the section."""
    section = re.search(rf"^## {SECTION}\n(.*?)^## ", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert section, f"{PAGE} has no section {SECTION!r}"
    return re.findall(r"^```\n(.*?)^```$", section[1], re.DOTALL | re.MULTILINE)


def make_image(table: str, kinds: list[str], folder: Path) -> None:
    """Of a disk whose first partition has the files."""
    disk = folder / "source"
    parts = disks.make_disk(disk, table, 512, kinds)
    with disks.cut(disk, parts[0]) as device, disks.mounted(kinds[0], device) as root:
        for name, content in FILES.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_bytes(content)
    disks.run(SLEDC, "pack", f"in={disk}", f"out={folder / 'debian.raw.zst'}", "level=1")
    disk.unlink()


def recover(name: str, table: str, kinds: list[str]) -> None:
    """In a folder with the image, and in a namespace whose mounts end with it."""
    folder = work / name
    folder.mkdir()
    make_image(table, kinds, folder)
    blocks = commands()
    assert len(blocks) == 2, blocks
    script = "set -eux\n" + "\n".join(blocks)
    done = subprocess.run(
        ["unshare", "--mount", "sh"], input=script, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for path, content in FILES.items():
        assert (folder / Path(path).name).read_bytes() == content, path
    stat = (folder / "disk.raw").stat()
    assert stat.st_blocks * 512 < stat.st_size, "free space takes room"


def test_gpt_ext4() -> None:
    recover("gpt", "gpt", ["ext4", "swap"])


def test_mbr_xfs() -> None:
    recover("mbr", "mbr", ["xfs", "data"])


if __name__ == "__main__":
    try:
        code = run_tests(globals())
    finally:
        shutil.rmtree(work)
    sys.exit(code)
