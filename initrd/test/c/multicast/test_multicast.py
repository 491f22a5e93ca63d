# SPDX-License-Identifier: Apache-2.0
"""sledc send and sledc write multicast=, on the loopback interface. Prints TAP. $SLEDC is the build for tests."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import random
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import program
import server
from tap import run_tests

VECTORS = Path(os.environ["SLED_VECTORS"])
sys.path.insert(0, str(VECTORS / "multicast"))
import packets  # noqa: E402

SLEDC = program.for_tests()
KEYS = VECTORS / "image/keys"
MIB = 1 << 20
work = Path(tempfile.mkdtemp())
images = work / "images"
SECRET = b"of the site"
SIGNED: dict[Path, list[str]] = {}  # operands of `write`


def make(name: str, disk: bytes) -> tuple[Path, bytes]:
    """An image of that disk, and its digest."""
    raw, image = work / f"{name}.raw", images / f"{name}.raw.zst"
    images.mkdir(exist_ok=True)
    raw.write_bytes(disk)
    subprocess.run([SLEDC, "pack", f"in={raw}", f"out={image}", "sector=512"], check=True, timeout=60)
    words = [SLEDC, "sign", f"in={image}", f"key={KEYS}/test.key", f"name={name}"]
    shown = subprocess.check_output(words, text=True, timeout=60).partition("operands ")
    SIGNED[image] = shown[2].split()
    return image, bytes.fromhex(shown[0].split("sha256:")[1][:64])


def noise(chunks: int) -> bytes:
    """Chunks of different compressibility. They differ from run to run: all runs could hear a group, the digest."""
    chance = random.Random()
    return b"".join(chance.randbytes(size := chance.randrange(1, MIB)) + b"\1" * (MIB - size) for _ in range(chunks))


IMAGE, DIGEST = make("debian", noise(12))


def free_port() -> int:
    """A UDP port that nobody uses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextlib.contextmanager
def sender(nodes: int, *words: str) -> Iterator[int]:
    """A sender for that many nodes; its port."""
    port = free_port()
    command = [SLEDC, "send", f"folder={images}", "rate=100", f"port={port}", f"from={nodes}", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            while f":{port:04X} " not in Path("/proc/net/udp").read_text(encoding="ascii"):
                assert process.poll() is None, "the sender ended"
            yield port
        finally:
            process.terminate()


class Writer:
    """A write to a file, which runs."""

    def __init__(
        self,
        name: str,
        port: int,
        *,
        address: str = "127.0.0.1",
        key: str = "",
        image: Path = IMAGE,
        patience: int = 30,
        mode: str = "full",
        expected: int = 1,
        url: str = "",
    ) -> None:
        self.file, self.image = work / name, image
        digest = DIGEST if image == IMAGE else SMALL_DIGEST
        command = [
            SLEDC, "write", f"file={self.file}", f"image={url or f'file://{image}'}", f"digest=sha256:{digest.hex()}",
            f"keys={KEYS}/both.pub", *SIGNED[image], f"mode={mode}",
            f"multicast={address}:{port}{key}", f"expected={expected}",
        ]  # fmt: skip
        environment = {**os.environ, "SLED_TEST_IDLE": str(patience)}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    def detail(self) -> str:
        """The line at the end; the file is right."""
        out, _ = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, out
        wanted = work / self.image.name.removesuffix(".zst")
        assert self.file.read_bytes() == wanted.read_bytes(), "another disk"
        return out.splitlines()[-1]


def by_multicast(detail: str) -> float:
    """MB that came by multicast."""
    found = re.search(r"; multicast (\d+) MB, ", detail)
    assert found, detail
    return float(found[1])


def test_two() -> None:
    with sender(2) as port:
        writers = [Writer(f"two{i}", port) for i in range(2)]
        details = [writer.detail() for writer in writers]
    for detail in details:
        assert "not all" not in detail or "no other node" in detail, detail
    assert any(by_multicast(detail) > 1 for detail in details), details


def test_from_one() -> None:
    with sender(1) as port:
        detail = Writer("one", port).detail()
    assert by_multicast(detail) > 1 and "not all" not in detail, detail
    assert "0 frames rejected" in detail, detail


def test_expected() -> None:
    for mode in ("full", "auto"):
        with sender(2) as port:
            begin = time.monotonic()
            detail = Writer(f"expected-{mode}", port, mode=mode, expected=2).detail()
        assert by_multicast(detail) > 1 and "not all" not in detail, detail
        assert time.monotonic() - begin > 1, "it waited for the other one"


def wait_for(what: str, is_so: Callable[[], bool]) -> None:
    """Polls until it is so."""
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_state() -> None:
    state = work / "state"
    with sender(1, f"state={state}") as port:
        wait_for("a state without sessions", lambda: state.exists() and "session " not in state.read_text())
        Writer("state1", port).detail()
        wait_for("a receiver that has ended", lambda: " done=1 " in state.read_text())
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(packets.put(packets.need(()), 8, bytes(8)), ("127.0.0.1", port))
        wait_for("a refused packet", lambda: " refused_session=1 " in state.read_text())
    head, session = state.read_text(encoding="ascii").splitlines()
    assert head.startswith("sender rate=100000 from=1 limited=0 "), head
    fields = dict(word.split("=", 1) for word in session.split()[1:])
    assert fields["image"] == "debian.raw.zst" and fields["digest"] == DIGEST.hex(), session
    assert int(fields["data"]) >= int(fields["symbols"]) // 2 and fields["rejected"] == "0", session
    assert int(fields["multicast"]) > MIB, session


def half(name: str) -> None:
    """A disk of which the second half differs."""
    disk = (work / "debian.raw").read_bytes()
    (work / name).write_bytes(disk[: 6 * MIB] + bytes(6 * MIB))


def test_auto_takes_the_announced_rate() -> None:
    half("auto")
    with sender(1) as port:
        detail = Writer("auto", port, mode="auto").detail()
    assert re.search("fetching all [0-9.]+ s at 6 MB/s", detail), detail
    assert re.search("fetched [01] MB", detail), detail  # the head; a measurement takes 3 more


def test_auto_measures_alone() -> None:
    half("measured")
    with sender(2) as port:
        detail = Writer("measured", port, mode="auto").detail()
    assert "50 % of" in detail and "no other node" in detail, detail
    assert not re.search("fetching all [0-9.]+ s at 6 MB/s", detail), f"the announced rate is none of its own: {detail}"


def test_auto_measures_nothing_for_an_empty_disk() -> None:
    (work / "empty").write_bytes(bytes(12 * MIB))
    with sender(1) as port:
        detail = Writer("empty", port, mode="auto").detail()
    assert re.search("fetched [01] MB.*full: 12 of 12 sampled chunks differ", detail), detail


def test_alone() -> None:
    with sender(2) as port:
        detail = Writer("alone", port).detail()
    assert by_multicast(detail) == 0 and "no other node requests it" in detail, detail


def test_nobody() -> None:
    detail = Writer("nobody", free_port(), patience=1).detail()
    assert by_multicast(detail) == 0 and "nobody sends it" in detail, detail


def test_no_route() -> None:
    writer = Writer("route", 7001, address="255.255.255.255")
    detail = writer.detail()
    assert by_multicast(detail) == 0 and "not all: connect: " in detail, detail


def test_wrong_place() -> None:
    writer = Writer("place", 7001, key="/secret")
    out, _ = writer.process.communicate(timeout=60)
    assert writer.process.returncode == 2 and "secret" not in out, out


def test_key() -> None:
    secret = work / "secret"
    secret.write_bytes(SECRET)
    key = hmac.new(SECRET, DIGEST, hashlib.sha256).digest()[:16]
    with sender(1, f"secret={secret}") as port:
        right = Writer("right", port, key=f"/{key.hex()}").detail()
        wrong = Writer("wrong", port, key=f"/{key[::-1].hex()}", patience=1).detail()
        without = Writer("without", port, patience=1).detail()
    assert by_multicast(right) > 1 and key.hex() not in right, right
    assert by_multicast(wrong) == by_multicast(without) == 0, (wrong, without)
    assert "nobody sends it" in wrong and "nobody sends it" in without, (wrong, without)


def forge(sock: socket.socket, digest: bytes, chunks: int) -> None:
    """Answers each request by frames that are not those of the image, until the socket is closed."""
    (bits,) = struct.unpack(">I", digest[:4])
    group = (socket.inet_ntoa(struct.pack(">I", 0xEFC00000 | bits >> 14)), 7000)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    sequence = 0
    with contextlib.suppress(OSError):
        while sock.recvfrom(2000)[0]:
            for chunk in range(chunks):
                sequence += 1
                packet = packets.data(turn=sequence, sequence=sequence, chunk=chunk, symbol=0, n=1)
                sock.sendto(packets.put(packet, 8, digest[:8]), group)


def flood(sock: socket.socket, port: int) -> None:
    """Requests images that do not exist, as fast as it can, until the socket is closed."""
    request = packets.need((packets.chunks(0, 1),))
    with contextlib.suppress(OSError):
        while True:
            sock.sendto(packets.put(request, 8, os.urandom(8)), ("127.0.0.1", port))


def test_flood_of_unknown_images() -> None:
    with sender(1) as port, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.2", 0))
        threading.Thread(target=flood, args=(sock, port), daemon=True).start()
        detail = Writer("flood", port).detail()
    assert by_multicast(detail) > 1, detail


SMALL, SMALL_DIGEST = make("small", os.urandom(16).ljust(MIB, b"\1") + b"".join(bytes([i]) * MIB for i in range(2, 7)))


def test_forged() -> None:
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", port))
        sock.settimeout(60)
        thread = threading.Thread(target=forge, args=(sock, SMALL_DIGEST, 6), daemon=True)
        thread.start()
        detail = Writer("forged", port, image=SMALL, patience=2).detail()
    assert re.search(r"[1-9]\d* frames rejected", detail), detail
    assert by_multicast(detail) == 0, detail


class Hollow:
    """A sender that announces the image to the node that requests it, as often as is due, and sends none of it."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.heard, self.due = sock, 0.0, 0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        """Until the socket is closed."""
        announcement, place = b"", None
        with contextlib.suppress(OSError, ValueError):
            while True:
                if select.select([self.sock], [], [], 0.05)[0]:
                    packet, place = self.sock.recvfrom(2000)
                    (client,) = struct.unpack_from("<I", packet, 20)
                    announcement = packets.announce(digest=DIGEST, client=client)
                    self.heard = time.monotonic()
                if place and self.due:
                    self.due -= 1
                    self.sock.sendto(packets.put(announcement, 8, DIGEST[:8]), place)


def test_silence() -> None:
    """After the third silence of a sender the node stays with HTTP, whatever is announced."""
    image, may, fetches = IMAGE.read_bytes(), threading.Event(), list[int]()

    def slow(request: server.Request) -> None:
        """Head and index at once; of the other frames a byte now and then, until they may come."""
        first, last = request.range(len(image)) or (0, 0)
        if first == 0 or last - first < MIB:
            request.file(image)
            return
        if not fetches or first == fetches[0]:  # else it continues a fetch whose connection was idle for too long
            fetches.append(first)
            hollow.due = 1 if len(fetches) < 3 else sys.maxsize  # earlier, the node would return without a request
        request.send_response(206)
        request.send_header("Content-Range", f"bytes {first}-{last}/{len(image)}")
        request.send_header("Content-Length", str(last + 1 - first))
        request.end_headers()
        while request.wfile.write(image[first : first + 1]) and not may.wait(0.2):
            first += 1
        request.wfile.write(image[first + 1 : last + 1])

    with server.Server(slow) as http, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        hollow = Hollow(sock)
        writer = Writer("silence", sock.getsockname()[1], patience=1, url=f"{http.url}/debian.raw.zst")
        wait_for("the third silence", lambda: len(fetches) >= 3)
        wait_for("the end of its requests", lambda: time.monotonic() - hollow.heard > 6)  # one is due after 5 s
        may.set()
        detail = writer.detail()
    assert len(fetches) == 3, f"{len(fetches)} times it went to HTTP"
    assert by_multicast(detail) == 0 and "not all: " in detail, detail


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
