# SPDX-License-Identifier: Apache-2.0
"""Makes the tables beside it again, from ../../multicast.md: `python3 make_packets.py`.

They are committed; a reader needs only them. A packet is lines of a word and its value:

    key    of the session, 16 bytes in hex; absent: none
    id     of the session that the reader knows, 8 bytes in hex
    hex    the packet
    why    in bad only: the reason that counts

and in ok the fields: type, flags (joined by `,`; `-`: none), then in the order of the packet those that its type has;
`payload` is the first and the last byte of a symbol, `need FROM COUNT` and `parity CHUNK BLOCK MISSING` are entries.

A case of parity is a block: a line `data HEX` for each of its symbols, and `parity NUMBER HEX`. Its symbols are
shorter than those of packets: the bytes of a symbol do not depend on each other.
"""

from __future__ import annotations

import random
import runpy
import struct
from pathlib import Path

from packets import (
    ALONE,
    ANNOUNCE,
    DATA,
    DIGEST,
    ID,
    IDLE,
    LEAVE,
    NEED,
    REPAIR,
    STATS,
    announce,
    chunks,
    data,
    need,
    parity_of,
    put,
    seal,
    stats,
)

HERE = Path(__file__).parent
KEY = bytes(range(16))
write = runpy.run_path(str(HERE.parent / "cases.py"))["write"]
NAMES = {DATA: "data", NEED: "need", ANNOUNCE: "announce", STATS: "stats"}
FLAGS = {REPAIR: "repair", IDLE: "idle", ALONE: "alone", LEAVE: "leave"}
Lines = list[tuple[str, str]]


def entries_of(packet: bytes) -> Lines:
    """The lines of the entries of a NEED."""
    lines = []
    for i in range(struct.unpack_from("<H", packet, 6)[0]):
        first, second = struct.unpack_from("<II", packet, 48 + 8 * i)
        if second >> 31:
            lines.append(("parity", f"{first} {second & 0xFF} {second >> 8 & 0xFF}"))
        else:
            lines.append(("need", f"{first} {second}"))
    return lines


def fields(packet: bytes) -> Lines:
    """What a reader must find in a good packet."""
    kind, flags, turn = struct.unpack_from("<BBH", packet, 4)
    sequence, subject, block, symbol, n = struct.unpack_from("<IIBBH", packet, 16)
    names = ",".join(name for bit, name in FLAGS.items() if flags & bit) or "-"
    lines: list[tuple[str, object]] = [("type", NAMES[kind]), ("flags", names)]
    if kind == DATA:
        lines += [("turn", turn), ("sequence", sequence), ("chunk", subject), ("block", block), ("symbol", symbol)]
        lines += [("n", n), ("payload", f"{packet[32]:02x} {packet[-1]:02x}")]
    elif kind == NEED:
        received, lost, dropped, room, expected = struct.unpack_from("<IIIHH", packet, 32)
        lines += [("sequence", sequence), ("client", subject), ("received", received), ("lost", lost)]
        lines += [("dropped", dropped), ("room", room), ("expected", expected), *entries_of(packet)]
    elif kind == ANNOUNCE:
        rate, clients, interval, _, client = struct.unpack_from("<IIHHI", packet, 64)
        lines += [("turn", turn), ("sequence", sequence), ("cursor", subject), ("digest", packet[32:64].hex())]
        lines += [("rate", rate), ("clients", clients), ("interval", interval), ("client", client)]
    else:
        words = ("ms", "lost", "duplicate", "dropped", "rejected", "parity", "multicast", "http")
        lines += [("client", subject), *zip(words, struct.unpack_from("<IIIIIIQQ", packet, 32), strict=True)]
    return [(word, str(value)) for word, value in lines]


def good() -> dict[str, tuple[bytes, bytes | None]]:
    """Accepted: packets without tag, and the key that they get one with."""
    full = tuple(chunks(2 * i, 1) for i in range(170))
    entries = (chunks(0, 64), parity_of(12, 1, 30), chunks(2_097_151, 1), parity_of(2_097_151, 5, 127))
    return {
        "data": (data(), None),
        "data_with_key": (data(), KEY),
        "data_with_another_key": (data(), KEY[::-1]),
        "data_first_of_all": (data(turn=0, sequence=0, chunk=0, symbol=0, n=1, fill=b"\0"), None),
        "data_last_of_all": (data(turn=65535, sequence=2**32 - 1, chunk=2_097_151, block=5, symbol=124, n=751), None),
        "data_block_of_128": (data(symbol=127, n=128), None),
        "data_short_block_of_two": (data(block=1, symbol=63, n=129), None),
        "data_long_block_of_two": (data(block=0, symbol=64, n=129), None),
        "data_repair_first": (data(REPAIR, symbol=128), None),
        "data_repair_last": (data(REPAIR, symbol=254, block=1), None),
        "data_repair_of_one_symbol": (data(REPAIR, symbol=128, n=1), KEY),
        "need_empty": (need(), None),
        "need_first": (need((chunks(0, 2_097_152),), counters=(0, 0, 0, 65535), sequence=0), None),
        "need_of_both_kinds": (need(entries), None),
        "need_expected": (need((chunks(0, 64),), counters=(0, 0, 0, 17872), sequence=0, expected=8), KEY),
        "need_expected_most": (need(expected=65535), None),
        "need_with_key": (need(entries), KEY),
        "need_of_four_entries_is_not_padded_more": (need((chunks(1, 1),) * 4), None),
        "need_of_five_entries": (need((chunks(1, 1),) * 5), None),
        "need_of_170_entries": (need(full), KEY),
        "need_counters_at_their_end": (need(client=2**32 - 1, counters=(2**32 - 1,) * 3 + (65535,)), None),
        "announce": (announce(), None),
        "announce_with_key": (announce(), KEY),
        "announce_idle": (announce(IDLE), None),
        "announce_alone": (announce(ALONE, client=7), None),
        "announce_alone_and_idle": (announce(ALONE | IDLE, client=7), None),
        "announce_leave": (announce(LEAVE, client=2**32 - 1), KEY),
        "announce_to_a_client": (announce(client=7), None),
        "announce_least": (announce(cursor=0, rate=1, clients=0, interval=20), None),
        "announce_most": (announce(cursor=2_097_152, rate=100_000_000, clients=2**32 - 1, interval=1024), None),
        "stats": (stats(), None),
        "stats_with_key": (stats(), KEY),
    }


def wrong_sizes() -> dict[str, bytes]:
    """Refused as `size`."""
    return {
        "empty": b"",
        "one_byte": data()[:1],
        "header_cut": data()[:31],
        "data_header_alone": data()[:32],
        "data_cut": data()[:-1],
        "data_longer": data() + b"\0",
        "need_cut": need((chunks(1, 1),))[:79],
        "need_longer_than_its_entries": need((chunks(1, 1),)) + bytes(8),
        "need_shorter_than_its_entries": need((chunks(1, 1),) * 5, more=1),
        "need_of_171_entries": need((chunks(1, 1),) * 171),
        "need_of_65535_entries": put(need(), 6, b"\xff\xff"),
        "announce_cut": announce()[:-1],
        "announce_longer": announce() + bytes(4),
        "stats_cut": stats()[:-8],
        "stats_longer": stats() + bytes(8),
    }


def wrong_fields() -> dict[str, bytes]:
    """Refused as `field`."""
    return {
        "data_flag_unknown": put(data(), 5, b"\x10"),
        "data_flag_idle": put(data(), 5, b"\x02"),
        "data_repair_of_a_data_symbol": data(REPAIR, symbol=5),
        "data_parity_without_repair": data(symbol=128),
        "data_symbol_255": data(REPAIR, symbol=255),
        "data_symbol_is_k": data(block=1, symbol=64, n=129),
        "data_symbol_is_k_of_one": data(symbol=1, n=1),
        "data_block_is_nb": data(block=2, n=219),
        "data_repair_block_is_nb": data(REPAIR, block=1, symbol=128, n=128),
        "data_n_is_0": data(symbol=0, n=0),
        "data_n_is_752": data(n=752),
        "data_chunk_is_2097152": data(chunk=2_097_152),
        "need_flag": put(need(), 5, b"\x01"),
        "need_client_is_0": need(client=0),
        "need_block_in_header": put(need(), 24, b"\x01"),
        "need_n_in_header": put(need(), 26, b"\x01"),
        "need_padding": put(need(), 79, b"\x01"),
        "need_no_chunks": need((chunks(1, 0),)),
        "need_chunks_past_the_limit": need((chunks(2_097_151, 2),)),
        "need_chunks_that_overflow": need((chunks(2**32 - 1, 2),)),
        "need_parity_of_no_symbol": need((parity_of(1, 0, 0),)),
        "need_parity_of_128_symbols": need((parity_of(1, 0, 128),)),
        "need_parity_of_block_6": need((parity_of(1, 6, 1),)),
        "need_parity_of_chunk_2097152": need((parity_of(2_097_152, 0, 1),)),
        "need_parity_reserved": need((chunks(1, 1), struct.pack("<II", 1, 1 << 31 | 1 << 16 | 1 << 8))),
        "announce_flag_repair": announce(REPAIR),
        "announce_flag_unknown": announce(0x80),
        "announce_alone_to_all": announce(ALONE),
        "announce_leave_to_all": announce(LEAVE),
        "announce_alone_and_leave": announce(ALONE | LEAVE, client=7),
        "announce_cursor_2097153": announce(cursor=2_097_153),
        "announce_digest_of_another_session": announce(digest=DIGEST[::-1]),
        "announce_rate_0": announce(rate=0),
        "announce_rate_too_high": announce(rate=2**32 - 1),
        "announce_interval_19": announce(interval=19),
        "announce_interval_1025": announce(interval=1025),
        "announce_reserved": put(announce(), 74, b"\x01"),
        "announce_symbol_in_header": put(announce(), 25, b"\x01"),
        "stats_client_is_0": stats(client=0),
        "stats_turn": put(stats(), 6, b"\x01"),
        "stats_sequence": put(stats(), 16, b"\x01"),
    }


def bad() -> dict[str, tuple[str, bytes, bytes | None]]:
    """Refused: the reason, the packet, the key of the reader."""
    vectors: dict[str, tuple[str, bytes, bytes | None]] = {
        "magic_of_another_program": ("magic", put(data(), 0, b"NORM"), None),
        "magic_of_version_2": ("magic", put(data(), 3, b"2"), None),
        "magic_before_type_and_size": ("magic", put(announce(), 3, b"\0\x09"), None),
        "type_0": ("type", put(data(), 4, b"\0"), None),
        "type_5": ("type", put(announce(), 4, b"\x05"), None),
        "session_of_another_image": ("session", put(data(), 8, ID[::-1]), None),
        "session_before_tag": ("session", put(data(), 15, b"\0"), KEY),
        "tag_missing": ("tag", data(), KEY),
        "tag_of_another_key": ("tag", seal(data(), KEY[::-1]), KEY),
        "tag_without_key": ("tag", seal(data(), KEY), None),
        "tag_of_another_payload": ("tag", put(seal(data(), KEY), 1439, b"\x23"), KEY),
        "tag_of_another_sequence": ("tag", put(seal(need(), KEY), 16, b"\x23"), KEY),
        "tag_before_field": ("tag", put(data(n=752), 28, b"\x01"), None),
    }
    vectors |= {f"size_{name}": ("size", packet, None) for name, packet in wrong_sizes().items()}
    return vectors | {f"field_{name}": ("field", seal(packet, KEY), KEY) for name, packet in wrong_fields().items()}


def times(a: int, b: int) -> int:
    """A product in GF(256), polynomial 0x11D."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return product


def parity(symbols: list[bytes], number: int) -> bytes:
    """A parity symbol of a block."""
    total = bytearray(len(symbols[0]))
    for i, symbol in enumerate(symbols):
        factor = next(x for x in range(256) if times(x, number ^ i) == 1)
        for at, byte in enumerate(symbol):
            total[at] ^= times(factor, byte)
    return bytes(total)


def blocks() -> dict[str, Lines]:
    """Blocks with some of their parity."""
    found = {}
    for k, size, numbers in ((1, 16, (128, 254)), (2, 16, (128, 129)), (110, 3, (128, 200)), (128, 2, (128, 253, 254))):
        chance = random.Random(k)  # noqa: S311
        symbols = [chance.randbytes(size) for _ in range(k)]
        lines = [("data", symbol.hex()) for symbol in symbols]
        found[f"block_of_{k}"] = lines + [("parity", f"{p} {parity(symbols, p).hex()}") for p in numbers]
    return found


def table(name: str, what: str, vectors: dict[str, Lines]) -> None:
    """Writes a table of vectors."""
    texts = {
        vector: "".join(f"{word} {value}\n" for word, value in lines).encode() for vector, lines in vectors.items()
    }
    write(f"multicast/{name}", f"Made by make_packets.py, which describes the lines: {what}.", texts)


def head(key: bytes | None) -> Lines:
    """The session of a vector."""
    return [*([("key", key.hex())] if key else []), ("id", ID.hex())]


def main() -> None:
    """Writes every table."""
    accepted = {
        name: [*head(key), ("hex", seal(packet, key).hex()), *fields(packet)] for name, (packet, key) in good().items()
    }
    refused = {name: [*head(key), ("hex", packet.hex()), ("why", why)] for name, (why, packet, key) in bad().items()}
    table("ok", "packets that are accepted", accepted)
    table("bad", "packets that are refused", refused)
    table("parity", "blocks", blocks())


if __name__ == "__main__":
    main()
