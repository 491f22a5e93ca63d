# SPDX-License-Identifier: Apache-2.0
"""Step configure on systems whose /etc/fstab mounts other filesystems below the root: what is written is found where
the system looks for it, and nothing outside of its disk is mounted. As root. Prints TAP."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import hostile_trees
from sled_system import SLEDC, Loop, SledSystem, run
from tap import run_tests

work = Path(tempfile.mkdtemp())
STEP = "sh /lib/sled/step configure disk=serial:L hostname=n1"
KEY = "ssh-ed25519 AAAA operator\n"
UUIDS = [f"{number}1111111-2222-4333-8444-555555555555" for number in range(1, 5)]


@contextmanager
def mounted(image: Path, options: str = "defaults") -> Iterator[Path]:
    tree = Path(tempfile.mkdtemp(dir=work))
    run("mount", "-o", f"loop,{options}", image, tree)
    try:
        yield tree
    finally:
        run("umount", tree)


def make(number: int, kind: str, size: int = 24) -> Path:
    """A filesystem in a file, with UUID and label of that number."""
    image = work / f"image{number}"
    image.unlink(missing_ok=True)
    with image.open("wb") as opened:
        opened.truncate(size << 20)
    uuid = {"ext4": "-U", "btrfs": "-U", "xfs": "-muuid="}[kind]
    words = [uuid + UUIDS[number]] if uuid.endswith("=") else [uuid, UUIDS[number]]
    run(f"mkfs.{kind}", "-q", "-L", f"label{number}", *words, image)
    return image


def root(fstab: str, image: Path, subvolumes: tuple[str, ...] = ()) -> Path:
    """A plain Debian, in the subvolume @ of a btrfs if there are subvolumes."""
    with mounted(image) as tree:
        for name in subvolumes:
            run("btrfs", "subvolume", "create", tree / name)
        place = tree / "@" if subvolumes else tree
        hostile_trees.plain(place)
        (place / "etc/fstab").write_text(fstab)
    return image


def configure(*images: Path) -> tuple[int, str]:
    """The step; nothing outside of the images changes, and nothing of them stays mounted."""
    before = system.state()
    with ExitStack() as stack:
        loops = []
        for image in images:
            loops.append(Loop(image))
            stack.callback(loops[-1].close)
        code, said = system.step(loops[0], f"{STEP}; code=$?; grep /run/sled /proc/mounts; exit $code", *loops[1:])
    assert " /run/sled" not in said, said
    assert system.state() == before, said
    print(f"# {code} {said.strip()[-160:]!r}")
    return code, said


def seed(folder: Path) -> bool:
    return (folder / "lib/cloud/seed/nocloud/meta-data").is_file()


def test_partitions() -> None:
    """/var and /root in partitions of their own, by UUID and label, through a link."""
    fstab = (
        f"UUID={UUIDS[0]} / ext4 defaults 0 1\nUUID={UUIDS[1]} /var ext4 defaults 0 2\nLABEL=label2 /root xfs rw 0 2\n"
    )
    image, var, home = root(fstab, make(0, "ext4")), make(1, "ext4"), make(2, "xfs", 320)
    with mounted(image) as tree:
        shutil.rmtree(tree / "var", ignore_errors=True)
        (tree / "var").symlink_to("/../../../data/var")
    with mounted(var) as tree:
        (tree / "lib/systemd").mkdir(parents=True)
        (tree / "lib/systemd/random-seed").write_text("old")
    code, said = configure(image, var, home)
    assert code == 0, said
    with mounted(image) as tree:
        assert not seed(tree / "data/var") and (tree / "root/.ssh/authorized_keys").read_text().count("\n") == 1
        assert (tree / "etc/hostname").read_text() == "n1\n"
    with mounted(var) as tree:
        assert seed(tree) and not (tree / "lib/systemd/random-seed").exists()
    with mounted(home) as tree:
        keys = tree / ".ssh/authorized_keys"
        assert keys.read_text() == KEY and keys.stat().st_mode & 0o777 == 0o600


def test_subvolumes() -> None:
    """Root, /var, /root and /home in subvolumes of one btrfs; /home by its number."""
    names = ("@", "@var", "@root", "@home")
    image = root("", make(0, "btrfs", 256), names)
    with mounted(image) as tree:
        number = run("btrfs", "inspect-internal", "rootid", tree / "@home").strip()
        options = {"/": "subvol=@", "/var": "subvol=/@var", "/root": "subvol=@root", "/home": f"subvolid={number}"}
        lines = (f"UUID={UUIDS[0]} {point} btrfs {option},compress=zstd 0 0\n" for point, option in options.items())
        (tree / "@/etc/fstab").write_text("".join(lines))
        (tree / "@/usr/bin/cloud-init").unlink()  # so that the user gets the keys
    code, said = configure(image)
    assert code == 0, said
    with mounted(image) as tree:
        assert (tree / "@root/.ssh/authorized_keys").read_text() == KEY
        assert (tree / "@home/user/.ssh/authorized_keys").read_text() == KEY
        assert not (tree / "@/home/user").exists()
        (tree / "@/usr/bin/cloud-init").touch()
    assert configure(image)[0] == 0
    with mounted(image) as tree:
        assert seed(tree / "@var") and not seed(tree / "@/var")


def test_bind() -> None:
    fstab = f"UUID={UUIDS[1]} /data ext4 defaults 0 2\n/data/../data/root /root none bind 0 0\n"
    image, data = root(fstab, make(0, "ext4")), make(1, "ext4")
    with mounted(data) as tree:
        (tree / "root").mkdir()
    code, said = configure(image, data)
    assert code == 0, said
    with mounted(data) as tree:
        assert (tree / "root/.ssh/authorized_keys").read_text() == KEY


def test_covered() -> None:
    """What is on no partition of this disk: the step ends before it says that all is well."""
    for line, place in (
        (f"UUID={UUIDS[3]} /var ext4 defaults 0 2", "/var/lib/cloud/seed"),
        ("tmpfs /root tmpfs defaults 0 0", "/root/.ssh/authorized_keys"),
        ("/dev/keep /etc ext4 defaults 0 0", "/etc/sled"),
        ("/dev/keep /usr ext4 defaults 0 0", "/etc/sled"),
    ):
        code, said = configure(root(f"{line}\n", make(0, "ext4")))
        point = line.split()[1]
        assert code == 3 and f"{point} of the image is not mounted: " in said.splitlines()[-1], said
        assert place in said or point == "/usr", said
    # Through a link, which only the kernel follows.
    image = root(f"UUID={UUIDS[3]} /data ext4 defaults 0 2\n", make(0, "ext4"))
    with mounted(image) as tree:
        shutil.rmtree(tree / "root")
        (tree / "root").symlink_to("data")
    code, said = configure(image)
    assert code == 3 and "in a filesystem that cannot be mounted here" in said.splitlines()[-1], said
    # Other places do not matter.
    code, said = configure(root("nas:/a /srv nfs rw 0 0\n/dev/keep /opt/a/b ext4 rw 0 0\n", make(0, "ext4")))
    assert code == 0, said


def test_hostile_points() -> None:
    """Mount points that lead out of the tree, to the root itself, or to no folder."""
    points = "/../../dev /up/dev /proc2 /self /etc/passwd /loop /" + "a" * 300
    image, other = root("", make(0, "ext4")), make(1, "ext4")
    with mounted(image) as tree:
        (tree / "up").symlink_to("../../../../..")
        (tree / "proc2").symlink_to("/proc/self/root/bin")
        (tree / "self").symlink_to("/")
        (tree / "loop").symlink_to("loop")
        (tree / "etc/fstab").write_text("".join(f"UUID={UUIDS[1]} {point} ext4 rw 0 0\n" for point in points.split()))
    code, said = configure(image, other)
    assert code == 0, said
    for point in ("/self", "/etc/passwd", "/loop"):
        assert f"{point} of the image is not mounted: its mount point" in said, said
    with mounted(image) as tree:
        assert (tree / "etc/hostname").read_text() == "n1\n" and (tree / "dev").is_dir()


def tree_verb(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SLEDC, "tree", *words], input="", capture_output=True, text=True, check=False, timeout=60)


def test_verbs() -> None:
    """A mount is moved and can be unmounted by the path that is printed; a tmpfs stands for one that is missing."""
    with mounted(make(0, "ext4")) as tree, mounted(make(1, "ext4")) as staged, ExitStack() as stack:
        run("mount", "--make-private", staged)
        (tree / "link").symlink_to("/a/b")
        done = tree_verb("attach", tree, staged, "/link/c")
        assert done.stdout == f"{tree}/a/b/c\n", done
        stack.callback(run, "mount", "--move", tree / "a/b/c", staged)
        assert tree_verb("put", tree, "/link/c/x", "0644").returncode == 0
        done = tree_verb("bind", tree, "/a/b/c", "/d")
        assert done.stdout == f"{tree}/d\n" and os.listdir(tree / "d") == os.listdir(tree / "a/b/c"), done
        run("umount", tree / "d")
        for words in (("bind", tree, "/a", "/"), ("bind", tree, "/missing", "/d"), ("bind", tree, "/a", "/link/c/x")):
            assert tree_verb(*words).returncode == 3, words
        run("mount", "-t", "tmpfs", "none", tree / "d")
        stack.callback(run, "umount", tree / "d")
        done = tree_verb("put", tree, "/d/e/f", "0644")
        assert done.returncode == 3 and "/d/e/f of the installed system is in a filesystem that" in done.stderr
        assert tree_verb("files", tree, "/d/*").stdout == "" and os.listdir(tree / "d") == []


system = SledSystem(work / "sled")

if __name__ == "__main__":
    try:
        status = run_tests(globals())
    finally:
        system.close()
    sys.exit(status)
