# SPDX-License-Identifier: Apache-2.0
"""Floods a site with claims, facts and logs, and measures what operators and admitted nodes notice.

usage: flood.py [--minutes M] [--rate BYTES] [--quota MIB] [--addresses N ...]

Real sledd, etcd and nginx with the limits of their roles. For each number of addresses: RATE bytes per second for M
minutes, while operators bind and delete and admitted nodes request their plans. Then operators fill the store.
Prints a table; exits with 1 if a limit of LIMITS is exceeded.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.sled.fleet.tests.hostile.machine import Machine
from ansible_collections.sled.fleet.tests.hostile.more import LONG
from ansible_collections.sled.fleet.tests.hostile.site import Links, Site
from ansible_collections.sled.fleet.tests.hostile.work import Work, fill_up

THREADS = 16  # that send
CLAIMS = 8  # of one stranger, before it sends facts and logs
NODES = 20  # admitted, and claimed by the strangers as well
INVENTED = 500  # MACs that nobody has declared
GROWTH = 64 << 20  # bytes that those who are not admitted may add to the store
SLOWEST = 1.0  # seconds, of 99% of the requests of operators and of admitted nodes
HEALED = 60.0  # seconds
HEAD = 250  # bytes of a request beside its body, with those of TLS
DISKS = "".join(f"disk name=d{number} serial={LONG}\n" for number in range(200))
LOG = b"9" * 60_000


class Pace:
    """Bytes per second that all senders share."""

    def __init__(self, rate: float) -> None:
        self._rate, self._next = rate, time.monotonic()
        self._lock = threading.Lock()
        self.sent = 0

    def wait(self, size: int) -> None:
        """Waits until that many bytes may be sent."""
        with self._lock:
            begin = max(self._next, time.monotonic() - 1)
            self._next = begin + size / self._rate
            self.sent += size
        time.sleep(max(0.0, begin - time.monotonic()))


class Stranger:
    """Claims to be nodes from one address, polls, and sends facts and logs by its claims."""

    def __init__(self, site: Site, address: str, macs: list[str], pace: Pace, statuses: Counter[str]) -> None:
        self._links = Links(site, address)
        self._address, self._pace, self._statuses = address, pace, statuses
        self._macs, self._claims = itertools.cycle(macs), dict[str, str]()
        self._numbers = itertools.count(1)

    def act(self) -> None:
        """Claims to be some nodes, and sends what the token of the last claim allows and what it does not."""
        for _ in range(CLAIMS):
            mac = next(self._macs)
            boot = f"{self._address.replace('.', '-')}-{next(self._numbers)}"
            hello = f"hello 1\nboot id={boot} nic={mac.replace('-', ':')} uuid={LONG} serial={LONG}\n"
            self._claims[mac] = self._say("POST", mac, "hello", hello.encode()) or self._claims.get(mac, "")
            for _ in range(3):
                self._say("GET", mac, "plan")
        for what in ("facts", "facts", "log?step=1", "lastwords"):
            body = f"facts 1\nboot {boot}\n{DISKS}".encode() if what == "facts" else LOG
            self._say("POST", mac, what, body)

    def close(self) -> None:
        self._links.close()

    def _say(self, method: str, mac: str, what: str, body: bytes = b"") -> str:
        self._pace.wait(HEAD + len(body))
        claim = "" if what == "hello" else self._claims.get(mac, "")
        headers = {"Authorization": f"Bearer {claim}"} if claim else {}
        try:
            answer = self._links.request(method, f"/node/v1/{mac}/{what}", body, headers)
        except (http.client.HTTPException, OSError) as error:  # cut by nginx, after all of it was sent or before
            self._statuses[type(error).__name__] += 1
            return ""
        self._statuses[str(answer.status)] += 1
        return answer.token


@contextlib.contextmanager
def flood(site: Site, addresses: int, macs: list[str], pace: Pace) -> Iterator[Counter[str]]:
    """Sends from that many addresses while it is entered."""
    statuses: Counter[str] = Counter()
    over = threading.Event()
    all_of_them = [Stranger(site, f"10.99.{64 + i // 250}.{i % 250 + 1}", macs[i:] + macs[:i], pace, statuses)
                   for i in range(addresses)]  # fmt: skip
    if addresses == 1:
        all_of_them = [Stranger(site, "10.99.64.1", macs[i:] + macs[:i], pace, statuses) for i in range(THREADS)]

    def send(own: list[Stranger]) -> None:
        for stranger in itertools.cycle(own):
            if over.is_set():
                return
            stranger.act()

    threads = [threading.Thread(target=send, args=(all_of_them[i::THREADS],), daemon=True) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for stranger in all_of_them:
            stranger.close()


def part(site: Site, nodes: list[Machine], addresses: int, options: argparse.Namespace) -> list[str]:
    """One flood. Returns what exceeds the limits."""
    macs = [node.hyphens for node in nodes] + [f"52-54-00-f0-{i >> 8:02x}-{i & 255:02x}" for i in range(INVENTED)]
    pace, work = Pace(options.rate), Work(site, nodes)
    before = most = site.store()["in_use"]
    begin = time.monotonic()
    with flood(site, addresses, macs, pace) as statuses, work:
        while time.monotonic() < begin + 60 * options.minutes:
            time.sleep(1)
            most = max(most, site.store()["in_use"])
    seconds = time.monotonic() - begin
    grown = most - before
    print(f"{addresses} addresses, {seconds:.0f} s, {pace.sent / seconds / 1e6:.2f} MB/s: answers "
          + ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items())))  # fmt: skip
    print(f"  the store has grown by {grown / (1 << 20):.1f} MiB at most, limit {GROWTH >> 20} MiB")
    broken = [f"{addresses} addresses: the store grew by {grown} bytes"] if grown > GROWTH else []
    if pace.sent / seconds < 0.9 * options.rate:
        broken.append(f"{addresses} addresses: only {pace.sent / seconds:.0f} bytes per second were sent")
    for what, found in work.done.items():
        print(f"  {what}: {found}", flush=True)
        if found.errors or found.percentile(99) > SLOWEST:
            broken.append(f"{addresses} addresses: {what}: {found}")
    return broken


def full(site: Site, nodes: list[Machine]) -> list[str]:
    """Operators fill the store; it heals itself."""
    found = fill_up(site, nodes[0])
    print(f"a full store: /readyz answered {dict(found.ready)}, writes were taken again after {found.seconds:.1f} s")
    broken = [] if found.ready[503] else ["/readyz never answered 503"]
    return broken if found.seconds <= HEALED else [*broken, f"the store was full for {found.seconds:.0f} s"]


def main() -> int:
    """Floods from each number of addresses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=2e6, help="bytes per second")
    parser.add_argument("--quota", type=int, default=96, help="MiB of the store")
    parser.add_argument("--addresses", type=int, nargs="+", default=[1, 200])
    options = parser.parse_args()
    broken: list[str] = []
    for addresses in options.addresses:
        with tempfile.TemporaryDirectory(prefix="flood") as name:
            site = Site(Path(name) / "site", "expected", quota=options.quota, rate=50, connections=4096)
            try:
                site.begin()
                nodes = [Machine(site) for _ in range(NODES)]
                for node in nodes:
                    node.enter("window")
                broken += part(site, nodes, addresses, options)
                if addresses == options.addresses[-1]:
                    broken += full(site, nodes)
            finally:
                site.end()
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
