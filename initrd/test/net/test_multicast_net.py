# SPDX-License-Identifier: Apache-2.0
"""sledc send and several sledc write at one switch: bytes that the server sends, and whatever goes wrong. Prints TAP.

Needs root and nginx. $SLEDC is the build for tests, $SLED_VECTORS the vectors.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from switch import SERVER, Switch, wait_for

sys.path.insert(0, str(Path(__file__).parent.with_name("c")))
sys.path.insert(0, os.path.join(os.environ["SLED_VECTORS"], "multicast"))
import packets
import program
from tap import run_tests

SLEDC = program.for_tests()
KEYS = Path(os.environ["SLED_VECTORS"]) / "image/keys"
MIB = 1 << 20
CHUNKS = 24
RATE = 50  # Mbit/s; the link has twice as much
work = Path(tempfile.mkdtemp())
images = work / "images"
SECRET = b"of the site"


def make_image() -> tuple[Path, Path, bytes]:
    """A disk, its image, and the digest."""
    raw, image = work / "debian.raw", images / "debian.raw.zst"
    images.mkdir()
    chance = random.Random(20)
    chunks = [chance.randbytes(MIB // 2) + b"\1" * (MIB // 2) for _ in range(CHUNKS)]
    raw.write_bytes(b"".join([b"\2" * MIB, *chunks[1:]]))
    words = [SLEDC, "pack", f"in={raw}", f"out={image}", "sector=512"]
    shown = subprocess.run(words, check=True, timeout=120, capture_output=True, text=True)
    found = re.search(r"sha256:([0-9a-f]{64})", shown.stdout)
    assert found, shown.stdout
    return raw, image, bytes.fromhex(found[1])


def signed(image: Path) -> list[str]:
    """Operands of `write` with its signature."""
    words = [SLEDC, "sign", f"in={image}", f"key={KEYS}/test.key", "name=debian"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    return shown.split("operands ")[1].split()


RAW, IMAGE, DIGEST = make_image()
SIGNED = signed(IMAGE)
KEY = hmac.new(SECRET, DIGEST, hashlib.sha256).hexdigest()[:32]


class Server:
    """nginx and a sender of the images."""

    def __init__(self, switch: Switch, *words: str) -> None:
        self.switch, self.words = switch, words
        conf = work / "nginx.conf"
        conf.write_text(
            f"user root; daemon off; master_process off; pid {work}/pid; error_log {work}/log; events {{}}\n"
            f"http {{ access_log off; server {{ listen {SERVER}:80; root {images}; }} }}\n"
        )
        switch.start("server", "nginx", "-c", conf, "-e", work / "log")
        self.await_port("tcp", ":0050 ")
        self.sender = self.start_sender()

    def await_port(self, protocol: str, text: str) -> None:
        """Until something listens."""
        words = ["ip", "netns", "exec", self.switch.namespace("server"), "cat", f"/proc/net/{protocol}"]

        def listens() -> bool:
            return text in subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout

        wait_for(f"{protocol} port", listens)

    def start_sender(self) -> subprocess.Popen[str]:
        """One that is ready."""
        words = [SLEDC, "send", f"folder={images}", f"rate={RATE}", *self.words]
        sender = self.switch.start("server", *words, stdout=subprocess.DEVNULL)
        self.await_port("udp", ":1B59 ")
        return sender

    def restart_sender(self) -> None:
        """Kills it, and starts another one."""
        self.sender.kill()
        self.sender.wait()
        self.sender = self.start_sender()


class Writer:
    """A write to a file, at a node."""

    def __init__(self, switch: Switch, node: int, key: str = "") -> None:
        self.file = work / f"disk{node}"
        self.words = [
            SLEDC, "write", f"file={self.file}", f"image=http://{SERVER}/{IMAGE.name}",
            f"digest=sha256:{DIGEST.hex()}", f"keys={KEYS}/both.pub", *SIGNED, "mode=full",
            f"multicast={SERVER}:7001{key}",
        ]  # fmt: skip
        self.switch, self.node = switch, node
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        """Once more, too."""
        return self.switch.start(str(self.node), *self.words, stdout=subprocess.PIPE)

    def written(self) -> int:
        """Bytes of the disk so far."""
        return self.file.stat().st_blocks * 512 if self.file.exists() else 0

    def kill_and_restart(self) -> None:
        """As a power cut does."""
        self.process.kill()
        self.process.wait()
        wait_for("the kernel has ended its writes", self._is_free)
        self.process = self.start()

    def _is_free(self) -> bool:
        with self.file.open("r+b") as file, contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def detail(self) -> str:
        """The line at the end; the disk is right."""
        out, _ = self.process.communicate(timeout=180)
        assert self.process.returncode == 0, out
        assert self.file.read_bytes() == RAW.read_bytes(), "another disk"
        self.file.unlink()
        return out.splitlines()[-1]


def by_multicast(detail: str) -> float:
    """Share of the image."""
    found = re.search(r"; multicast (\d+) MB, ", detail)
    assert found, detail
    return int(found[1]) * 1e6 / IMAGE.stat().st_size


@contextlib.contextmanager
def rack(nodes: int, *words: str) -> Iterator[tuple[Switch, Server]]:
    """A switch with a server."""
    with Switch(nodes, f"{2 * RATE}mbit") as switch:
        yield switch, Server(switch, *words)


def copies(switch: Switch) -> float:
    """What the server sent, in copies of the image."""
    return switch.sent() / IMAGE.stat().st_size


def await_copies(switch: Switch, least: float) -> None:
    """Until that much was sent."""
    wait_for(f"{least} copies", lambda: copies(switch) >= least)


def show(what: str, switch: Switch, details: list[str]) -> float:
    """Prints and returns the copies."""
    sent = copies(switch)
    print(f"# {what}: {sent:.3f} copies sent")
    for detail in details:
        print(f"#   {detail}")
    return sent


def write_all(switch: Switch, nodes: int, what: str) -> float:
    """That many at once; returns the copies."""
    writers = [Writer(switch, i) for i in range(nodes)]
    details = [writer.detail() for writer in writers]
    assert all(by_multicast(detail) > 0.5 for detail in details), details
    return show(what, switch, details)


def test_eight() -> None:
    with rack(8) as (switch, _):
        assert write_all(switch, 8, "8 nodes") < 3


def test_eight_with_loss() -> None:
    with rack(8) as (switch, _):
        switch.drop("numgen random mod 100 < 5")
        assert write_all(switch, 8, "8 nodes that lose 5 %") < 3


def test_alone_until_another_comes() -> None:
    with rack(2) as (switch, _):
        first = Writer(switch, 0)
        await_copies(switch, 0.1)  # early: a busy machine takes long to start the second
        second = Writer(switch, 1)
        details = [first.detail(), second.detail()]
        assert all(by_multicast(detail) > 0.3 for detail in details), details
        assert show("second node at 0.1", switch, details) < 1.9


def test_no_multicast() -> None:
    with rack(4) as (switch, _):
        switch.drop("")
        details = [writer.detail() for writer in [Writer(switch, i) for i in range(4)]]
        assert all(by_multicast(detail) == 0 for detail in details), details
        assert any("packets to the group do not arrive" in detail for detail in details), details
        show("no multicast", switch, details)


def test_sender_killed() -> None:
    with rack(4) as (switch, server):
        writers = [Writer(switch, i) for i in range(4)]
        await_copies(switch, 0.4)
        server.restart_sender()
        details = [writer.detail() for writer in writers]
        assert all(by_multicast(detail) > 0.5 for detail in details), details
        assert show("sender restarted", switch, details) < 3


def test_sender_away() -> None:
    with rack(4) as (switch, server):
        writers = [Writer(switch, i) for i in range(4)]
        await_copies(switch, 0.3)
        server.sender.kill()
        details = [writer.detail() for writer in writers]
        assert all("the sender is silent" in detail for detail in details), details


def test_writer_killed() -> None:
    with rack(4) as (switch, _):
        writers = [Writer(switch, i) for i in range(4)]
        wait_for("a third is written", lambda: writers[0].written() > CHUNKS * MIB // 3)
        writers[0].kill_and_restart()
        details = [writer.detail() for writer in writers]
        show("writer killed after a third", switch, details)
        assert "an earlier write of this image was interrupted" in details[0], details
        assert by_multicast(details[0]) < 0.9, "it requested what it had"


def test_node_stops() -> None:
    """One takes nothing for a while, as with a disk that hangs; the others do not wait."""
    with rack(4) as (switch, _):
        writers = [Writer(switch, i) for i in range(4)]
        await_copies(switch, 0.3)
        writers[0].process.send_signal(signal.SIGSTOP)
        details = [writer.detail() for writer in writers[1:]]
        assert writers[0].process.poll() is None
        writers[0].process.send_signal(signal.SIGCONT)
        show("one hangs", switch, [writers[0].detail(), *details])


def memory(process: subprocess.Popen[str]) -> float:
    """The most that it had, in MiB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text(encoding="ascii"))
    assert found
    return int(found[1]) / 1024


def beside_a_stranger(what: str, *words: str, key: str = "") -> list[str]:
    """Four nodes write, and a fifth machine sends all it can."""
    symbols = -(-IMAGE.stat().st_size // (CHUNKS - 1) // packets.SYMBOL)
    with rack(5, *words) as (switch, server):
        stranger = Path(__file__).with_name("stranger.py")
        attack = switch.start("4", "python3", stranger, DIGEST.hex(), CHUNKS, symbols)
        writers = [Writer(switch, i, key) for i in range(4)]
        details = [writer.detail() for writer in writers]
        assert attack.poll() is None, "the stranger has ended"
        assert server.sender.poll() is None, "the sender has ended"
        most = memory(server.sender)
        assert most < 64, f"{most:.0f} MiB"
        show(f"{what}; the sender had {most:.1f} MiB", switch, details)
        return details


def test_stranger() -> None:
    details = beside_a_stranger("a stranger")
    assert any(re.search(r"[1-9]\d* frames rejected", detail) for detail in details), details


def test_stranger_without_key() -> None:
    secret = work / "secret"
    secret.write_bytes(SECRET)
    details = beside_a_stranger("a stranger without the key", f"secret={secret}", key=f"/{KEY}")
    assert all(by_multicast(detail) > 0.5 and "0 frames rejected" in detail for detail in details), details


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
