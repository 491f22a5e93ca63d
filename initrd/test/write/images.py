# SPDX-License-Identifier: Apache-2.0
"""What tests of whole writes need: raw disks, images of them, a server that counts and can be slow, and sledc itself.

$SLEDC is the build for tests: a file stands for the disk.
"""

from __future__ import annotations

import hashlib
import http.server
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

sys.path.append(str(Path(__file__).resolve().parents[1] / "c"))
import program

SLEDC = program.for_tests()
KIB, MIB = 1 << 10, 1 << 20
GRANULE = 4096
GIGABIT = 118_000_000  # bytes a second that a link of 1 Gbit/s carries
ASIDE = 640 * KIB  # bytes that a run may fetch beside chunks: the file's end, at most twice
work = Path(tempfile.mkdtemp())


def sledc(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """One run, with a deadline."""
    return subprocess.run(
        [SLEDC, *words], capture_output=True, text=True, timeout=300, check=False, env=environment(**env)
    )


def environment(**env: str) -> dict[str, str]:
    """With the key that images of these tests are signed with."""
    return {**os.environ, "SLED_KEYS": str(work / "image.pub"), "SLED_TEST_IDLE": "20", **env}


def expect(run: subprocess.CompletedProcess[str], code: int, words: str = "") -> None:
    """The exit code, and words among what it said."""
    assert run.returncode == code, f"exit {run.returncode}, not {code}: {run.stdout}{run.stderr}"
    assert words in run.stdout + run.stderr, f"no {words!r} in {run.stdout}{run.stderr}"


class Chunk(NamedTuple):
    """One entry of an index."""

    offset: int
    at: int
    frame: int
    used: int  # bitmap
    hash: bytes

    def runs(self, disk_bytes: int) -> Iterator[tuple[int, int]]:
        """Used bytes of the disk, from and to."""
        for run in re.finditer("1+", f"{self.used:b}"[::-1]):
            yield self.offset + run.start() * GRANULE, min(self.offset + run.end() * GRANULE, disk_bytes)


class Image(NamedTuple):
    """An image file, as far as tests look into it."""

    path: Path
    digest: str
    bytes: int  # of the disk
    index_at: int
    index_size: int
    chunks: list[Chunk]
    signed: list[str]  # operands of `write`

    @classmethod
    def read(cls, path: Path) -> Self:
        """Trusts the file: it is fresh from pack. Signs it."""
        data = path.read_bytes()
        frames = struct.unpack("<I", data[-9:-5])[0]
        trailer = data[len(data) - (8 + 8 * frames + 9) - 136 :][:136]
        at, size = struct.unpack("<QQ", trailer[16:32])
        index = data[at : at + size]
        disk, _, count, partitions = struct.unpack("<QQII", index[16:40])
        chunks = []
        for i in range(count):
            entry = index[40 + 40 * partitions + 84 * i :][:84]
            offset, where, frame = struct.unpack("<QQI", entry[:20])
            chunks.append(Chunk(offset, where, frame, int.from_bytes(entry[20:52], "little"), entry[52:]))
        shown = sledc("sign", f"in={path}", "name=disk", f"key={work}/image.key")
        expect(shown, 0)
        signed = shown.stdout.split("operands ")[1].split()
        return cls(path, "sha256:" + hashlib.sha256(index).hexdigest(), disk, at, size, chunks, signed)

    def wrong(self, disk: Path) -> list[Chunk]:
        """Chunks of which the disk does not hold what it should."""
        return [chunk for chunk in self.chunks if hash_of(chunk, self.bytes, disk) != chunk.hash]


def hash_of(chunk: Chunk, disk_bytes: int, disk: Path) -> bytes:
    """SHA-256 of the used bytes that are on the disk."""
    digest = hashlib.sha256()
    with disk.open("rb") as f:
        for start, end in chunk.runs(disk_bytes):
            f.seek(start)
            digest.update(f.read(end - start))
    return digest.digest()


def dead(disk: Path) -> bool:
    """Nothing starts from it: no partition table, no boot sector."""
    with disk.open("rb") as f:
        first = f.read(MIB)
    return first[510:512] != b"\x55\xaa" and b"EFI PART" not in first


def make_key() -> None:
    """A key pair for the images of this run."""
    pem, public = work / "image.key", work / "image.pub"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", pem], check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", pem, "-pubout", "-out", public], check=True, capture_output=True)


def make_disk(name: str, size: int, *partitions: tuple[int, bytes], table: str = "gpt") -> Path:
    """A raw disk with a partition table, and these bytes at these places as partitions."""
    path = work / name
    with path.open("wb") as f:
        f.truncate(size)
    label = "11111111-2222-3333-4444-555555555555" if table == "gpt" else "0x11111111"
    lines = [f"label: {table}", f"label-id: {label}", "unit: sectors"]
    for i, (start, data) in enumerate(partitions, 1):
        guid = f", uuid=00000000-0000-0000-0000-{i:012}" if table == "gpt" else ""
        lines.append(f"start={start // 512}, size={len(data) // 512}, type=linux{guid}")
    subprocess.run(
        ["sfdisk", "--quiet", path], input="\n".join(lines) + "\n", text=True, check=True, capture_output=True
    )
    with path.open("r+b") as f:
        for start, data in partitions:
            f.seek(start)
            f.write(data)
    return path


def noise(seed: int, size: int, each: int = MIB) -> bytes:
    """Bytes that do not compress, `each` of a MiB; the rest of it is the same byte."""
    draw = random.Random(seed)
    return b"".join(draw.randbytes(each) + b"x" * (MIB - each) for _ in range(size // MIB))


def pack(raw: Path, *words: str) -> Image:
    """A signed image of that disk."""
    path = raw.with_suffix(".raw.zst")
    with raw.open("rb") as file:
        if file.read(512)[510:] != b"\x55\xaa":
            words += ("sector=512",)
    expect(sledc("pack", f"in={raw}", f"out={path}", *words), 0)
    return Image.read(path)


class Server:
    """One image file by HTTP, whole or in ranges; `rate` bytes a second over all connections.

    `hook` hears how many bytes were sent.
    """

    def __init__(self, path: Path, rate: int = 0, hook: Callable[[int], None] | None = None) -> None:
        self.path, self.rate, self.hook = path, rate, hook
        self.sent = 0
        self.free_at = 0.0
        self.lock = threading.Lock()
        self.http = Quiet(("127.0.0.1", 0), Request)
        self.http.owner = self
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/image.raw.zst"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    def pace(self, size: int) -> None:
        """Waits until the link is free for that many bytes."""
        with self.lock:
            now = time.monotonic()
            self.free_at = max(self.free_at, now) + (size / self.rate if self.rate else 0)
            wait = self.free_at - now
        if wait > 0.001:
            time.sleep(wait)

    def count(self, size: int) -> None:
        """Bytes went out."""
        with self.lock:
            self.sent += size
            sent = self.sent
        if self.hook:
            self.hook(sent)


class Quiet(http.server.ThreadingHTTPServer):
    """Connections that a killed client leaves are no news."""

    daemon_threads = True
    owner: Server

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing on standard error."""


class Request(http.server.BaseHTTPRequestHandler):
    """GET and HEAD of the one file."""

    protocol_version = "HTTP/1.1"
    server: Quiet

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on standard error."""

    def do_GET(self) -> None:
        """The range that is asked for."""
        size = self.server.owner.path.stat().st_size
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        start, end = 0, size - 1
        if wanted and wanted[1]:
            start, end = int(wanted[1]), min(int(wanted[2] or end), end)
        elif wanted:
            start = max(size - int(wanted[2]), 0)
        self.send_response(206 if wanted else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(end + 1 - start))
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        self.end_headers()
        if self.command == "GET":
            self.send_file(start, end + 1)

    do_HEAD = do_GET

    def send_file(self, start: int, end: int) -> None:
        """In pieces, at the rate of the link."""
        owner = self.server.owner
        piece = 64 * KIB if owner.rate or owner.hook else MIB
        self.wfile.flush()
        with owner.path.open("rb") as f:
            while start < end:
                owner.pace(min(piece, end - start))
                n = os.sendfile(self.connection.fileno(), f.fileno(), start, min(piece, end - start))
                start += n
                owner.count(n)


def write_words(url: str, image: Image, *words: str) -> list[str]:
    """Operands of a write of that image."""
    return ["write", "disk=only", f"image={url}", f"digest={image.digest}", *image.signed, "gaps=keep", *words]


def write(url: str, image: Image, disk: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One whole write."""
    return sledc(*write_words(url, image, *words), SLED_TEST_DISK=str(disk))


def run_tests(names: dict[str, object]) -> int:
    """Each function test_*, as TAP; 1 when one failed."""
    failed = 0
    tests = [(name, f) for name, f in names.items() if name.startswith("test_") and callable(f)]
    make_key()
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Exception:
            failed = 1
            print(f"not ok {number} - {name}")
            traceback.print_exc(file=sys.stdout)
    print(f"1..{len(tests)}")
    return failed
