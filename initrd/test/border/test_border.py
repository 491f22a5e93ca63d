# SPDX-License-Identifier: Apache-2.0
"""Steps on systems whose files lead elsewhere: nothing outside of the tree is read or changed. As root. Prints TAP."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import hostile_trees
from boot.trees import TREES
from sled_system import SLEDC, Loop, SledSystem, run
from tap import run_tests

work = Path(tempfile.mkdtemp())
STEP = "sh /lib/sled/step"
DATA = f"{STEP} layout disk=serial:D name=a id=0b5f6c1e-7a54-8c1f-9a55-1f3a0b8f6f5f mount=/srv/a && "
CONFIGURE = f"{STEP} configure disk=serial:L hostname=n1"
MOUNTED = "mkdir -p /run/sled/root && mount -t ext4 -o ro /dev/vda2 /run/sled/root && "
STEPS = {
    "configure": CONFIGURE,
    "bootentry": f"{MOUNTED}sledc bootentry root=/run/sled/root",
    "layout": DATA + CONFIGURE,
    "capture": f"{STEP} capture disk=serial:L upload=http://a/b",
    "kexec": f"{STEP} kexec disk=serial:L watchdog=300",
}
# How the steps end, in that order: 3, the image does not permit it; 1, its filesystem is full or cannot be written.
ENDS = {
    "upwards": (0, 3, 3, 0, 3),
    "menu_upwards": (0, 3, 0, 0, 3),
    "absolute": (0, 3, 3, 0, 3),
    "through_proc": (0, 3, 3, 0, 3),
    "kept_disk": (3, 3, 3, 0, 3),
    "device": (3, 3, 3, 0, 3),
    "fifo": (3, 3, 3, 0, 3),
    "sockets": (3, 3, 3, 0, 3),
    "immutable": (3, 0, 3, 0, 0),
    "full": (1, 0, 1, 0, 0),
    "read_only": (1, 0, 1, 0, 0),
    "loops": (3, 3, 3, 0, 3),
    "folders": (3, 3, 3, 0, 3),
    "hard_links": (0, 3, 0, 0, 3),
    "deep": (3, 0, 3, 0, 0),
    "benign": (0, 0, 0, 0, 0),
}


Change = Callable[[Path, int], None]


@contextmanager
def mounted(image: Path) -> Iterator[Path]:
    tree = work / "tree"
    tree.mkdir(exist_ok=True)
    loop = Loop(image)
    try:
        run("mount", loop.path, tree)
        try:
            yield tree
        finally:
            run("umount", tree)
    finally:
        loop.close()


def make(change: Change) -> Path:
    """A filesystem with that tree, in a file."""
    image = work / "image"
    image.write_bytes(b"")
    os.truncate(image, 24 << 20)
    run("mke2fs", "-q", "-F", "-t", "ext4", image)
    with mounted(image) as tree:
        hostile_trees.plain(tree)
        change(tree, system.kept.number)
    return image


def check_step(image: Path, step: str, *options: str) -> tuple[int, str]:
    """Runs the step on that image. Nothing outside of its tree is read or changed."""
    before = system.state()
    loop = Loop(image, *options)
    try:
        code, said = system.step(loop, STEPS[step])
    finally:
        loop.close()
    after = system.state()
    changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    assert not changed, f"{step} changed {changed}: {said}"
    assert "SLED-SECRET" not in said, f"{step}: {said}"
    assert b"SLED-SECRET" not in image.read_bytes(), step
    return code, said


def check(change: Change) -> None:
    image, ends = make(change), []
    options = ("--read-only",) if change is hostile_trees.read_only else ()
    for step in STEPS:
        copy = work / "copy"
        shutil.copy(image, copy)
        code, said = check_step(copy, step, *options)
        ends.append(code)
        print(f"# {change.__name__} {step}: {code} {said.strip()[-120:]!r}")
    assert tuple(ends) == ENDS[change.__name__], f"{ends}, should be {ENDS[change.__name__]}"


def test_benign_links_stay_inside() -> None:
    """A system whose keys and kernel are behind absolute links."""
    check(hostile_trees.benign)
    image = make(hostile_trees.benign)
    code, said = check_step(image, "configure")
    assert code == 0, said
    with mounted(image) as tree:
        keys = tree / "data/ssh/authorized_keys"
        assert keys.read_text() == "ssh-ed25519 BBBB image\nssh-ed25519 AAAA operator\n", keys.read_text()
        assert keys.stat().st_mode & 0o777 == 0o600 and keys.parent.stat().st_mode & 0o777 == 0o700
        assert os.readlink(tree / "root/.ssh") == "/data/ssh"
        assert (tree / "data/cloud/cloud.cfg.d/zz-sled.cfg").is_file()
    code, said = check_step(image, "bootentry")
    assert code == 0 and " kernel=/run/sled/root/boot/vmlinuz-6.1 " in said, said


def test_another_name_of_a_file_keeps_its_content() -> None:
    image = make(hostile_trees.hard_links)
    assert check_step(image, "configure")[0] == 0
    with mounted(image) as tree:
        assert (tree / "etc/other").read_text() == "other\n" and (tree / "etc/hostname").read_text() == "n1\n"


def test_a_read_error_is_no_missing_file() -> None:
    """What the boot loader finds in that file is not known, so no other entry is taken for its choice."""
    memory = f"/proc/{os.getpid()}/mem"  # whose first byte cannot be read
    saved, bls, systemd = TREES["debian saved"], TREES["fedora"], TREES["arch glob"]
    entry = next(name for name in bls.files if name.endswith(".conf"))
    for tree, name in (
        (saved, "boot/grub/grubenv"),
        (saved, "boot/grub/grub.cfg"),
        (bls, entry),
        (systemd, "boot/loader/loader.conf"),
        (systemd, "boot/loader/entries/lts.conf"),
    ):
        folder = Path(tempfile.mkdtemp(dir=work))
        for one, text in tree.files.items():
            (folder / one).parent.mkdir(parents=True, exist_ok=True)
            (folder / one).write_text(text)
        words = [SLEDC, "bootentry", f"root={folder}", *([f"boot={folder}/boot"] if tree.separate else [])]
        assert subprocess.run(words, capture_output=True, check=False, timeout=20).returncode == 0, name
        run("mount", "--bind", memory, folder / name)
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=20)
        run("umount", folder / name)
        assert done.returncode == 1 and "Input/output error" in done.stderr, (name, done)


def check_seed(name: str, kind: bytes, target: str = "") -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    member.devmajor, member.devminor = os.major(system.kept.number), os.minor(system.kept.number)
    with tarfile.open(system.root / "seed.tar", "w") as archive:
        for other in {"authorized_keys", "meta-data", "user-data", "operational"} - {name}:
            archive.add(system.root / "seed" / other, other)
        archive.addfile(member)
    try:
        code, said = check_step(make(lambda _tree, _kept: None), "configure")
        assert code == 0, said
    finally:
        (system.root / "seed.tar").unlink()


def test_members_of_a_seed_are_only_read() -> None:
    """Whoever controls sledd chooses the seed, and must not reach a disk that is kept."""
    check_seed("meta-data", tarfile.BLKTYPE)
    check_seed("authorized_keys", tarfile.SYMTYPE, "/run/sled/token")
    check_seed("user-data", tarfile.LNKTYPE, "etc/victim")
    check_seed("../../../etc/new", tarfile.REGTYPE)


system = SledSystem(work / "sled")
for one in hostile_trees.HOSTILE:
    globals()[f"test_{one.__name__}"] = partial(check, one)

if __name__ == "__main__":
    try:
        status = run_tests(globals())
    finally:
        system.close()
    sys.exit(status)
