# SPDX-License-Identifier: Apache-2.0
"""One partition is written, then packed, and every byte outside of it stays: seeded rounds, half of them killed.

ROUNDS=200: how many. Prints TAP.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time

from images import GRANULE, SLEDC, Image, Server, expect, run_tests, sledc
from partitions import JUNK, Donor, Target, make_donors, make_target, pack, run_write, words_for, wrong

SEED = 45
ROUNDS = int(os.environ.get("ROUNDS", "40"))
TABLES = ("gpt", "mbr", "logical")
RATE = 100_000_000  # bytes a second: slow enough to be stopped on the way
MARKER = slice(2048, 2136)


def selector(draw: random.Random, target: Target, number: int) -> str:
    """One of the ways to name it."""
    names = [f"partition={number}"]
    if target.table == "gpt":
        names += [f"partition=part-label:part{number}", f"partition=part-uuid:00000000-0000-0000-0000-{number:012}"]
    return draw.choice(names)


def killed_write(target: Target, place: str, image: Image, number: int, stop: tuple[int, float], *words: str) -> None:
    """A write that is killed once so many bytes were sent to it, and its marker is there or so many seconds passed."""
    moment, patience = stop
    process: list[subprocess.Popen[bytes]] = []
    started, before = threading.Event(), target.inside(number)[MARKER]

    def hook(sent: int) -> None:
        if sent >= moment and started.wait(20):
            end = time.monotonic() + patience
            while target.inside(number)[MARKER] == before and time.monotonic() < end:
                time.sleep(0.01)
            process[0].kill()

    with Server(image.path, rate=RATE, hook=hook) as server:
        command, env = words_for(target, place, server.url, image, *words)
        quiet = subprocess.DEVNULL
        process.append(subprocess.Popen([SLEDC, *command], stdout=quiet, stderr=quiet, env=env))
        started.set()
        process[0].wait(120)


def check_stopped(donor: Donor, before: bytes, inside: bytes) -> None:
    """Untouched, dead or done: nothing in between can be mounted."""
    first = bytearray(inside[:GRANULE])
    if inside == before or not wrong(donor, inside):
        return
    first[MARKER] = bytes(MARKER.stop - MARKER.start)
    assert not any(first), "what was half written can be mounted"


def check_packed(target: Target, number: int, donor: Donor) -> None:
    """What is packed of it brings the system back, once something else was there. Packing only reads."""
    before = target.path.read_bytes()
    packed = pack(target.path, number)
    assert target.path.read_bytes() == before, "packing has changed the disk"
    outside = target.outside(number)
    target.fill(number, JUNK[: target.places[number][1]])
    run_write(target, packed, f"partition={number}", "mode=full", place="file")
    assert target.outside(number) == outside, "a byte outside changed"
    assert not wrong(donor, target.inside(number)), "something of the system is not in what was packed"


def one_round(draw: random.Random, donors: list[Donor]) -> bool:
    """Returns whether the second run resumed the first."""
    target, donor = make_target(draw, draw.choice(TABLES)), draw.choice(donors)
    number, place = draw.choice([*target.places]), draw.choice(("disk", "file"))
    if draw.random() < 0.3:
        target.fill(number, donor.data[: len(donor.data) // 2])
    outside, before = target.outside(number), target.inside(number)
    words = [selector(draw, target, number), f"mode={draw.choice(('full', 'delta', 'auto'))}"]
    words += [f"gaps={draw.choice(('discard', 'zero', 'keep'))}", f"verify={draw.choice(('none', 'sample', 'full'))}"]
    if draw.random() < 0.5:
        stop = draw.randrange(donor.image.path.stat().st_size), draw.choice((0, 0.02, 2))
        killed_write(target, place, donor.image, number, stop, *words)
        assert target.outside(number) == outside, f"killed: a byte outside changed: {words}"
        check_stopped(donor, before, target.inside(number))
    command, env = words_for(target, place, f"file://{donor.image.path}", donor.image, *words)
    run = subprocess.run([SLEDC, *command], capture_output=True, text=True, timeout=120, check=False, env=env)
    expect(run, 0)
    assert target.outside(number) == outside, f"a byte outside changed: {words}"
    assert not wrong(donor, target.inside(number)), f"the partition is wrong: {words}"
    expect(sledc("verify", f"image=file://{donor.image.path}", f"file={target.path}", f"partition={number}"), 0)
    check_packed(target, number, donor)
    return "an earlier write of this image was interrupted" in run.stdout


def test_rounds() -> None:
    draw, donors = random.Random(SEED), make_donors("gpt") + make_donors("dos")
    resumed = sum(one_round(draw, donors) for _ in range(ROUNDS))
    print(f"# {ROUNDS} rounds, seed {SEED}: {resumed} resumed")
    assert resumed > 0, "no round resumed a write: none was stopped in the middle"


def test_what_was_packed_is_what_is_there() -> None:
    for table in ("gpt", "dos"):
        for donor in make_donors(table):
            assert donor.image.bytes == len(donor.data)
            target = make_target(random.Random(1), "gpt")
            run_write(target, donor.image, "partition=2", "mode=full", "gaps=zero", "verify=full", place="file")
            inside = target.inside(2)
            assert not wrong(donor, inside)
            assert not any(inside[len(donor.data) :]), "the rest of the partition is zeros"
    shown = sledc("inspect", f"in={donor.image.path}", "json=yes")
    expect(shown, 0, '"of": "partition"')


def test_block_device() -> None:
    """Discard, zeroing, O_DIRECT of a real one; for root only."""
    if os.geteuid() != 0:
        print("# not root: no loop device")
        return
    draw, donor = random.Random(5), make_donors("gpt")[0]
    for gaps in ("discard", "zero", "keep"):
        target = make_target(draw, "gpt", "backing.raw")
        outside = target.outside(3)
        loop = subprocess.run(
            ["losetup", "--find", "--show", target.path], capture_output=True, text=True, check=True
        ).stdout.strip()
        try:
            words = ["partition=3", f"gaps={gaps}"]
            command, _ = words_for(target, "disk", f"file://{donor.image.path}", donor.image, *words)
            expect(sledc(*command, SLED_TEST_DISK=loop), 0)
        finally:
            subprocess.run(["losetup", "--detach", loop], check=True)
        assert target.outside(3) == outside, gaps
        assert not wrong(donor, target.inside(3)), gaps


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
