# SPDX-License-Identifier: Apache-2.0
"""A write is killed and done again: the disk is right, and only what was missing is moved.

20 seeded moments. Prints TAP.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from images import (
    ASIDE,
    MIB,
    SLEDC,
    Image,
    Server,
    dead,
    environment,
    expect,
    make_disk,
    noise,
    pack,
    run_tests,
    work,
    write,
    write_words,
)

SEED = 8
MOMENTS = 20
DISK = 64 * MIB
RATE = 400_000_000  # bytes a second: slow enough to be stopped on the way


def fresh_disk() -> Path:
    """Full of something else."""
    disk = work / "target"
    disk.write_bytes(b"\xa5" * DISK)
    return disk


def wait_for(image: Image, disk: Path, right: int) -> None:
    """Waits until that many chunks are right on the disk; whoever sees them too late fails by what is on it."""
    deadline = time.monotonic() + 20
    while len(image.chunks) - len(image.wrong(disk)) < right and time.monotonic() < deadline:
        time.sleep(0.02)


def killed_write(image: Image, disk: Path, moment: int, right: int = 0) -> int:
    """A write that is killed when `moment` bytes were sent to it and `right` chunks are on the disk.

    What was sent is not yet written: on a loaded machine all of it may still be under way.
    """
    process: list[subprocess.Popen[str]] = []
    started = threading.Event()

    def hook(sent: int) -> None:
        if sent >= moment and started.wait(20):
            wait_for(image, disk, right)
            process[0].kill()

    with Server(image.path, rate=RATE, hook=hook) as server:
        command = [SLEDC, *write_words(server.url, image, "mode=full")]
        process.append(
            subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment(SLED_TEST_DISK=str(disk)),
            )
        )
        started.set()
        return process[0].wait(120)


def check_again(image: Image, disk: Path, moment: int) -> int:
    """Runs it to the end; returns how many chunks were right before."""
    missing = image.wrong(disk)
    with Server(image.path) as server:
        run = write(server.url, image, disk, "mode=full")
    expect(run, 0)
    assert not image.wrong(disk), f"killed at {moment}: the disk is wrong after the second run"
    most = sum(chunk.frame for chunk in missing) + image.chunks[0].frame + ASIDE
    assert server.sent <= most, (
        f"killed at {moment}: {server.sent} bytes moved, {len(missing)} chunks missed, at most {most}: {run.stdout}"
    )
    return len(image.chunks) - len(missing)


def test_killed_and_done_again() -> None:
    image = pack(make_disk("some.raw", DISK, (MIB, noise(1, 40 * MIB))))
    size = image.path.stat().st_size
    draw = random.Random(SEED)
    for _ in range(MOMENTS):
        disk, moment = fresh_disk(), draw.randrange(size)
        code = killed_write(image, disk, moment)
        assert code == -signal.SIGKILL, f"killed at {moment}: exit {code}"
        assert dead(disk), f"killed at {moment}: the disk could start"
        check_again(image, disk, moment)


def test_what_was_written_is_kept() -> None:
    image = pack(make_disk("some.raw", DISK, (MIB, noise(1, 40 * MIB))))
    disk, moment, quarter = fresh_disk(), image.path.stat().st_size * 3 // 4, len(image.chunks) // 4
    killed_write(image, disk, moment, right=quarter)
    assert dead(disk), "the disk could start"
    kept = check_again(image, disk, moment)
    assert kept >= quarter, f"{kept} of {len(image.chunks)} chunks were right when the second run began"


def test_killed_twice() -> None:
    image = pack(make_disk("some.raw", DISK, (MIB, noise(1, 40 * MIB))))
    disk = fresh_disk()
    size = image.path.stat().st_size
    killed_write(image, disk, size * 2 // 5)
    missing = image.wrong(disk)
    moment = ASIDE + sum(chunk.frame for chunk in missing) // 2
    killed_write(image, disk, moment, right=len(image.chunks) - len(missing) + 1)
    assert dead(disk)
    assert len(image.wrong(disk)) < len(missing), "the second run brought nothing"
    check_again(image, disk, 0)


def test_another_image_is_not_resumed() -> None:
    old = pack(make_disk("old.raw", DISK, (MIB, noise(3, 20 * MIB))))
    new = pack(make_disk("new.raw", DISK, (MIB, noise(4, 20 * MIB))))
    disk = fresh_disk()
    killed_write(old, disk, old.path.stat().st_size // 2)
    check_again(new, disk, 0)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
