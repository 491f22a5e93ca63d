# SPDX-License-Identifier: Apache-2.0
"""stranger.py DIGEST CHUNKS N: whatever a machine at the same switch can send, until it is killed.

The image of that digest has that many chunks, most of N symbols. To the group: forged symbols of every chunk, another
image, packets that are cut or random, announcements that tell nodes to use HTTP, and of odd rates. To the sender:
requests for everything, from one address and from ten thousand.
"""

from __future__ import annotations

import os
import random
import socket
import struct
import sys

from switch import SERVER

sys.path.insert(0, os.path.join(os.environ["SLED_VECTORS"], "multicast"))
import packets

GROUP_PORT, SENDER_PORT = 7000, 7001
OTHER = bytes(8)  # the image that is replayed


def group(digest: bytes) -> tuple[str, int]:
    """Of the image."""
    (bits,) = struct.unpack(">I", digest[:4])
    return socket.inet_ntoa(struct.pack(">I", 0xEFC00000 | bits >> 14)), GROUP_PORT


def to_group(digest: bytes, chunks: int, n: int, chance: random.Random) -> list[bytes]:
    """A round of packets."""
    id_, sequence, turn = digest[:8], chance.getrandbits(32), chance.getrandbits(16)
    made = []
    for chunk in range(chunks):
        at = (sequence + chunk) % 2**32
        symbol = packets.data(turn=turn, sequence=at, chunk=chunk, symbol=chance.randrange(100), n=n)
        made += [packets.put(symbol, 8, id_), packets.put(symbol, 8, OTHER)]
        made += [packets.put(symbol, 8, id_)[: chance.randrange(1440)], chance.randbytes(1440)]
    for rate in (1, 2**32 - 1, 0):
        announcement = packets.announce(digest=digest, rate=rate, interval=1024, flags=chance.choice([0, packets.IDLE]))
        made.append(packets.put(announcement, 8, id_))
    for flag in (packets.ALONE, packets.LEAVE):
        client = 1 + chance.getrandbits(31)
        made.append(packets.put(packets.announce(digest=digest, flags=flag, client=client), 8, id_))
    return made


def from_anywhere(payload: bytes, chance: random.Random) -> bytes:
    """An IP packet to the sender, from one of 10,000 addresses. The kernel completes its header."""
    source = socket.inet_aton(f"198.18.{1 + chance.randrange(40)}.{1 + chance.randrange(250)}")
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_UDP, 0, source, socket.inet_aton(SERVER))
    return head + struct.pack(">HHHH", 1024 + chance.randrange(60000), SENDER_PORT, 8 + len(payload), 0) + payload


def main() -> None:
    """Sends for ever."""
    digest, chunks, n = bytes.fromhex(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(8)
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    interface = struct.pack("=4s4si", bytes(4), bytes(4), socket.if_nametoindex("eth0"))
    datagrams.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, interface)
    everything = (packets.chunks(0, 2**21), *(packets.parity_of(i % chunks, i % 3, 100) for i in range(169)))
    place = group(digest)
    while True:
        for packet in to_group(digest, chunks, n, chance):
            datagrams.sendto(packet, place)
            client = 1 + chance.getrandbits(31)
            request = packets.put(packets.need(everything, client=client), 8, digest[:8])
            datagrams.sendto(request, (SERVER, SENDER_PORT))
            raw.sendto(from_anywhere(request, chance), (SERVER, SENDER_PORT))


if __name__ == "__main__":
    main()
