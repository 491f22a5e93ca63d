# SPDX-License-Identifier: Apache-2.0
"""Makes the packets of ../../multicast.md, right ones and wrong ones. Their tag is empty until `seal`."""

from __future__ import annotations

import struct

DIGEST = bytes(range(0x80, 0xA0))
ID = DIGEST[:8]
DATA, NEED, ANNOUNCE, STATS = 1, 2, 3, 4
REPAIR, IDLE, ALONE, LEAVE = 1, 2, 4, 8
SYMBOL = 1408  # bytes
MASK = (1 << 64) - 1


def siphash(key: bytes, data: bytes) -> bytes:
    """SipHash-2-4."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def left(x: int, by: int) -> int:
        return (x << by | x >> (64 - by)) & MASK

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[2] = (v[2] + v[3]) & MASK
            v[1], v[3] = left(v[1], 13) ^ v[0], left(v[3], 16) ^ v[2]
            v[0] = left(v[0], 32)
            v[2] = (v[2] + v[1]) & MASK
            v[0] = (v[0] + v[3]) & MASK
            v[1], v[3] = left(v[1], 17) ^ v[2], left(v[3], 21) ^ v[0]
            v[2] = left(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return struct.pack("<Q", v[0] ^ v[1] ^ v[2] ^ v[3])


def seal(packet: bytes, key: bytes | None = None) -> bytes:
    """The packet with its tag."""
    untagged = packet[:28] + bytes(4) + packet[32:]
    return untagged if key is None else untagged[:28] + siphash(key, untagged)[:4] + untagged[32:]


def header(
    kind: int,
    flags: int = 0,
    *,
    turn: int = 0,
    sequence: int = 0,
    subject: int = 0,
    block: int = 0,
    symbol: int = 0,
    n: int = 0,
) -> bytes:
    """With an empty tag."""
    start = struct.pack("<4sBBH8s", b"SLM1", kind, flags, turn, ID)
    return start + struct.pack("<IIBBHI", sequence, subject, block, symbol, n, 0)


def data(
    flags: int = 0,
    *,
    turn: int = 7,
    sequence: int = 1000,
    chunk: int = 3,
    block: int = 0,
    symbol: int = 5,
    n: int = 219,
    fill: bytes = b"\x11\x22",
) -> bytes:
    """DATA; `fill` is repeated."""
    return (
        header(DATA, flags, turn=turn, sequence=sequence, subject=chunk, block=block, symbol=symbol, n=n)
        + (fill * SYMBOL)[:SYMBOL]
    )


def chunks(first: int, count: int) -> bytes:
    """An entry of a NEED."""
    return struct.pack("<II", first, count)


def parity_of(chunk: int, block: int, missing: int) -> bytes:
    """An entry of a NEED."""
    return struct.pack("<II", chunk, 1 << 31 | missing << 8 | block)


def need(
    entries: tuple[bytes, ...] = (),
    client: int = 0xC0FFEE,
    counters: tuple[int, int, int, int] = (900, 12, 3, 17872),
    sequence: int = 1000,
    *,
    expected: int = 0,
    more: int = 0,
) -> bytes:
    """NEED; its header states `more` entries than it has."""
    packet = header(NEED, turn=len(entries) + more, sequence=sequence, subject=client)
    packet += struct.pack("<IIIHH", *counters, expected) + b"".join(entries)
    return packet.ljust(80, b"\0")


def announce(
    flags: int = 0,
    *,
    cursor: int = 40,
    digest: bytes = DIGEST,
    rate: int = 100_000,
    clients: int = 80,
    interval: int = 20,
    client: int = 0,
) -> bytes:
    """ANNOUNCE."""
    start = header(ANNOUNCE, flags, turn=7, sequence=1000, subject=cursor)
    return start + digest + struct.pack("<IIHHI", rate, clients, interval, 0, client)


def stats(client: int = 0xC0FFEE, millis: int = 3500) -> bytes:
    """STATS."""
    return header(STATS, subject=client) + struct.pack("<IIIIIIQQ", millis, 100, 6, 5, 1, 90, 1 << 33, 4096)


def put(packet: bytes, at: int, value: bytes) -> bytes:
    """The packet with other bytes there."""
    return packet[:at] + value + packet[at + len(value) :]
