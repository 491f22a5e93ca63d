# SPDX-License-Identifier: Apache-2.0
"""Where an image is written to: a regular file at a shell, a real block device; and servers that go away.

Prints TAP.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from images import (
    KIB,
    MIB,
    Image,
    Server,
    dead,
    environment,
    expect,
    make_disk,
    noise,
    pack,
    run_tests,
    sledc,
    work,
    write,
    write_words,
)

DISK = 64 * MIB


def some_image() -> Image:
    """Two partitions, gaps around them."""
    return pack(make_disk("some.raw", DISK, (MIB, noise(1, 20 * MIB)), (40 * MIB, noise(2, 2 * MIB))))


def write_file(image: Image, file: Path | str, *words: str) -> subprocess.CompletedProcess[str]:
    """As at a shell."""
    return sledc(
        "write",
        f"file={file}",
        f"image=file://{image.path}",
        f"digest={image.digest}",
        *image.signed,
        *words,
        **environment(),
    )


def test_file() -> None:
    image, raw = some_image(), work / "some.raw"
    out = work / "out.raw"
    expect(write_file(image, out, "mode=full", "verify=full"), 0, "detail full: ")
    assert out.read_bytes() == raw.read_bytes(), "a new file is the disk, byte for byte"
    assert out.stat().st_blocks * 512 < 24 * MIB, "what is free takes no room"
    for gaps in ("zero", "discard"):
        out.write_bytes(b"\xa5" * DISK)
        expect(write_file(image, out, "mode=full", f"gaps={gaps}"), 0)
        assert out.read_bytes() == raw.read_bytes(), gaps
    out.write_bytes(b"\xa5" * 100)
    expect(write_file(image, out), 0)
    assert not image.wrong(out), "a short file grows"
    expect(write_file(image, out, "mode=delta"), 0, "detail delta: ")


def test_file_is_refused() -> None:
    image = some_image()
    expect(write_file(image, work), 4)
    expect(write_file(image, "/dev/null"), 4, "not a regular file")
    expect(write_file(image, work / "none" / "out.raw"), 4, "No such file")
    expect(write_file(image, work / "out.raw", "disk=only"), 2, "exactly one of disk=")
    expect(write_file(image, work / "out.raw", "keep=only"), 2, "exactly one of disk=")
    expect(sledc("write", f"image=file://{image.path}", f"digest={image.digest}"), 2, "exactly one of disk=")


def test_no_plan_names_a_file() -> None:
    plan = work / "plan"
    for word in ("file=/root/x", "disk=only file=/root/x"):
        plan.write_text(f"plan 1\ngeneration 1 run 7\nwrite {word} image=http://a/b digest=sha256:{'0' * 64}\nidle\n")
        expect(sledc("check-plan", str(plan)), 2, "file")


def test_server_gone() -> None:
    image, disk = some_image(), work / "target"
    disk.write_bytes(b"\xa5" * DISK)
    servers: list[Server] = []

    def hook(sent: int) -> None:
        if sent > 8 * MIB:
            servers[0].http.socket.close()
            raise ConnectionError

    with Server(image.path, hook=hook) as server:
        servers.append(server)
        run = sledc(
            *write_words(server.url, image, "mode=full"), **environment(SLED_TEST_DISK=str(disk), SLED_TEST_IDLE="2")
        )
    expect(run, 6)
    assert dead(disk), "the disk could start"
    assert image.wrong(disk)
    run = write(f"file://{image.path}", image, disk, "mode=full")
    expect(run, 0, "an earlier write of this image was interrupted")
    assert not image.wrong(disk)


def attach(backing: Path) -> str:
    """A loop device on it."""
    run = subprocess.run(["losetup", "--find", "--show", backing], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_block_device() -> None:
    """Discard, zeroing, O_DIRECT and O_EXCL of a real one; for root only."""
    if os.geteuid() != 0:
        print("# not root: no loop device")
        return
    image, raw, backing = some_image(), work / "some.raw", work / "backing"
    for gaps in ("discard", "zero"):
        backing.write_bytes(b"\xa5" * DISK)
        loop = attach(backing)
        try:
            words = write_words(f"file://{image.path}", image, "mode=full", "verify=full")
            expect(
                sledc(*[w for w in words if w != "gaps=keep"], f"gaps={gaps}", **environment(SLED_TEST_DISK=loop)), 0
            )
        finally:
            subprocess.run(["losetup", "--detach", loop], check=True)
        assert backing.read_bytes() == raw.read_bytes(), gaps
        if gaps == "discard":
            assert backing.stat().st_blocks * 512 < 24 * MIB + 512 * KIB, "free space was discarded"


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
