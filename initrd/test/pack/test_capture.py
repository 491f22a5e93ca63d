# SPDX-License-Identifier: Apache-2.0
"""sledc capture, to a server that takes it, spoils it or refuses it. As root; $SLEDC: a build with -DSLED_TEST."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "disks"), str(HERE.parent / "c")]
import disks  # noqa: E402
import program  # noqa: E402
from server import Request, Server  # noqa: E402
from tap import run_tests  # noqa: E402

SLEDC = program.for_tests()
NAME = "52-54-00-77-00-01-3.raw.zst"
ID = "0c2f5c1e7a544c1f9a551f3a0b8f6f5e"  # of each upload
STORED = f"/images/captured/{NAME}".replace(".raw", f"-{ID}.raw")
work = Path(tempfile.mkdtemp())
disk = work / "disk.raw"
token = work / "token"
kept: dict[str, bytes] = {}
sent: list[tuple[str, str | None]] = []  # method and token of each request


def renew(text: str) -> None:
    """The token, at once: several streams read it."""
    new = work / "token.new"
    new.write_text(text)
    new.rename(token)


def take(request: Request) -> None:
    """PUT below /upload/ is to be had below /images/captured/, under a name of its own."""
    sent.append((request.command, request.headers["Authorization"]))
    if request.command == "PUT":
        assert request.path == f"/upload/{NAME}"
        kept[STORED] = b"".join(request.chunks())
        renew("renewed\n")
        request.answer(201, Location=f"https://any{STORED}")
    else:
        renew("renewed-again\n")
        request.file(kept[request.path])


def spoil(request: Request) -> None:
    """As take, but one bit of what it has is another."""
    take(request) if request.command == "PUT" else request.file(
        kept[request.path][:5000] + b"\0" + kept[request.path][5001:]
    )


def refuse(request: Request) -> None:
    """Says no."""
    request.answer(403)


def capture(server: Server, source: Path = disk, *operands: str) -> subprocess.CompletedProcess[str]:
    """One run."""
    sent.clear()
    token.write_text("secret\n")
    environment = {**os.environ, "SLED_TEST_DISK": str(source), "SLED_TOKEN_FILE": str(token)}
    words = [SLEDC, "capture", "disk=only", f"upload={server.url}/upload/{NAME}", *operands]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=environment)


def test_round_trip() -> None:
    with Server(take) as server:
        done = capture(server)
    assert done.returncode == 0, done.stderr
    packed = subprocess.run(
        [SLEDC, "pack", f"in={disk}", f"out={work / 'image'}"], capture_output=True, text=True, check=True
    )
    image = (work / "image").read_bytes()
    assert kept[STORED] == image, "the bytes that pack makes"
    last = done.stdout.splitlines()[-1]
    digest = packed.stdout.split("sha256:")[1].split()[0]
    assert last == f"image digest=sha256:{digest} bytes={disk.stat().st_size} file_bytes={len(image)} upload={ID}", last
    assert "progress bytes=" in done.stdout
    assert sent[0] == ("PUT", "Bearer secret"), sent
    assert sent[1] == ("GET", "Bearer renewed"), "the upload is private: it is read with the newest token"
    assert len(sent) > 2 and sent[-1] == ("GET", "Bearer renewed-again"), "of which there may be one for each range"


def test_names() -> None:
    """A server whose answer does not say where exactly this upload is."""
    for location in (
        "",
        f"/images/captured/{NAME}",
        STORED.replace(ID, ID[1:]),
        STORED.replace(ID, "A" * 32),
        STORED.replace("-3-", "-4-"),
        STORED + ".old",
    ):

        def store(request: Request, location: str = location) -> None:
            for _ in request.chunks():
                pass
            request.answer(201, **({"Location": location} if location else {}))

        with Server(store) as server:
            done = capture(server)
        assert done.returncode == 6 and "want 52-54-00-77-00-01-3-ID.raw.zst" in done.stderr, done.stderr
    done = subprocess.run(
        [SLEDC, "capture", "disk=only", "upload=http://127.0.0.1:1/f"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "is not BASE/upload/NAME.raw.zst" in done.stderr, done.stderr


def test_spoilt() -> None:
    with Server(spoil) as server:
        done = capture(server)
    assert done.returncode == 5, done.stderr
    assert "image digest" not in done.stdout


def test_refused() -> None:
    with Server(refuse) as server:
        done = capture(server)
    assert done.returncode == 6, done.stderr


def test_dirty() -> None:
    dirty = work / "dirty.raw"
    disks.make_content("ext4", dirty, 64 * disks.MIB)
    disks.run("debugfs", "-w", "-R", "feature needs_recovery", dirty)
    with Server(take) as server:
        done = capture(server, dirty)
    assert done.returncode == 3 and "replayed" in done.stderr, done.stderr
    assert not sent, "no upload is opened before the disk is surveyed"


def test_partition() -> None:
    """The image that pack makes of it; without an upload, if there is none."""
    made = work / "partition"
    words = [SLEDC, "pack", f"in={disk}", "partition=2", f"out={made}"]
    subprocess.run(words, capture_output=True, text=True, check=True)
    with Server(take) as server:
        done = capture(server, disk, "partition=2")
        assert done.returncode == 0 and kept[STORED] == made.read_bytes(), done.stderr
        done = capture(server, disk, "partition=4")
    assert done.returncode == 4 and "its partitions are: 1, 2, 3" in done.stderr and not sent, done.stderr


def test_gaps() -> None:
    loader = work / "loader.raw"
    data = bytearray(disk.read_bytes())
    end = len(data) - 40 * 512  # behind the last partition, before the copy of the GPT
    data[end - 4096 : end] = b"loader".ljust(4096, b".")
    loader.write_bytes(data)
    for gaps, is_kept in (("keep", True), ("drop", False)):
        with Server(take) as server:
            done = capture(server, loader, f"gaps={gaps}")
        assert done.returncode == 0 and ("are left out" in done.stderr) != is_kept, done.stderr
        image = work / "captured"
        image.write_bytes(kept[STORED])
        raw = subprocess.run(["zstd", "-dcq", image], capture_output=True, check=True).stdout
        assert (b"loader...." in raw) == is_kept, gaps


if __name__ == "__main__":
    disks.make_disk(disk, "gpt", 512, ["fat16", "ext4", "swap"])
    sys.exit(run_tests(globals()))
