# SPDX-License-Identifier: Apache-2.0
"""Images that every reader refuses. Most are three() of form.py, changed in one place."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable

from form import (
    ENTRY,
    GRANULE,
    HEAD,
    KEY,
    MIB,
    PARTITION,
    compress,
    gap_frame,
    parts_of,
    skippable,
    three,
)

TABLE = 8 + 8 * 8 + 9  # bytes of the seek table of three(): three chunks, three gaps, index, trailer


def patched(offset: int, form: str, *values: int | bytes) -> bytes:
    """three(), with other bytes at one place of its index; digest and all else are right for it."""
    parts = parts_of(three())
    struct.pack_into("<" + form, parts.index, offset, *values)
    return parts.seal()


def entry(number: int, offset: int = 0) -> int:
    """Where a chunk's entry is in the index of three()."""
    return HEAD + 2 * PARTITION + number * ENTRY + offset


def with_chunks(chunks: Iterable[int]) -> bytes:
    """three(), its chunks in another order or number."""
    disk = three()
    full = parts_of(disk)
    entries = [bytes(full.index[entry(i) : entry(i + 1)]) for i in range(3)]
    chosen = [entries[i] for i in chunks]
    full.index[entry(0) :] = b"".join(chosen)
    struct.pack_into("<I", full.index, 32, len(chosen))
    return full.seal()


def flipped(data: bytes, at: int) -> bytes:
    """One bit changed; a negative place counts from the end."""
    changed = bytearray(data)
    changed[at] ^= 0x10
    return bytes(changed)


def order_of_faults() -> dict[str, tuple[bytes, int]]:
    """Images with two faults, and the code of the one that counts."""
    head = "IIQQII"  # from the version on
    return {
        "version_2_sector_0": (patched(8, head, 2, 0, 8 * MIB, 0, 3, 2), 3),
        "sector_0_chunks_too_many": (patched(8, head, 1, 0, 8 * MIB, 0, (1 << 25) + 1, 2), 5),
        "disk_over_2_50_half_a_sector": (patched(16, "Q", (1 << 50) + 256), 5),
        "disk_of_2_63_chunks_too_many": (patched(8, head, 1, 512, 1 << 63, 0, (1 << 25) + 1, 2), 5),
        "chunks_too_many_used_wrong": (patched(8, head, 1, 512, 8 * MIB, 0, (1 << 25) + 1, 2), 3),
        "version_2_trailer_reserved": (parts_of(three()).seal(version=2, zero=1), 3),
        "version_2_trailer_digest": (parts_of(three()).seal(version=2, digest=bytes(32)), 3),
        "trailer_reserved_index_far": (parts_of(three()).seal(zero=1, size=1 << 40), 5),
    }


def bad_places() -> dict[str, bytes]:
    """Files cut, flipped, longer."""
    whole = parts_of(three()).seal()
    table = len(whole) - TABLE
    trailer = table - 144
    index = trailer - len(parts_of(three()).index)
    first = len(gap_frame(MIB))
    return {
        "empty_file": b"",
        "four_bytes": whole[:4],
        "cut_by_a_byte": whole[:-1],
        "cut_before_seek_table": whole[:table],
        "cut_before_trailer": whole[:trailer],
        "cut_in_half": whole[: len(whole) // 2],
        "only_the_tail": whole[index - 8 :],
        "byte_in_front": b"\0" + whole,
        "byte_behind": whole + b"\0",
        "byte_within": whole[:table] + b"\0" + whole[table:],
        "flip_in_frame": flipped(whole, first + 20),
        "flip_in_index_head": flipped(whole, index - 1),
        "flip_in_index": flipped(whole, index + 30),
        "flip_in_hash": flipped(whole, index + entry(2, 60)),
        "flip_in_trailer_head": flipped(whole, trailer),
        "flip_in_trailer_magic": flipped(whole, trailer + 8),
        "flip_in_digest": flipped(whole, trailer + 8 + 40),
        "flip_in_seek_table": flipped(whole, table + 9),
        "flip_in_seek_table_head": flipped(whole, table + 5),
        "flip_in_seek_table_count": flipped(whole, -9),
        "flip_in_seek_table_flags": flipped(whole, -5),
        "flip_in_trailer_zeros": flipped(whole, trailer + 8 + 64),
        "flip_in_trailer_end": flipped(whole, table - 1),
        "no_image": b"".join(
            [compress(bytes(4096)), skippable(0x184D2A5E, struct.pack("<IIIB", 30, 4096, 1, 0) + b"\xb1\xea\x92\x8f")]
        ),
    }


def bad_trailer() -> dict[str, bytes]:
    """A trailer whose numbers are not the file's."""
    parts = parts_of(three())
    digest = hashlib.sha256(parts.index).digest()
    return {
        "trailer_signature_of_version_1": parts.seal(unused=bytes(8) + KEY.sign(b"sled-image-1:" + digest)),
        "trailer_magic": parts.seal(magic=b"sled-and"),
        "trailer_reserved": parts.seal(zero=1),
        "trailer_index_at_2_63": parts.seal(at=1 << 63),
        "trailer_index_at_end": parts.seal(at=(1 << 64) - 1),
        "trailer_index_at_0": parts.seal(at=0),
        "trailer_index_before": parts.seal(at=len(parts.body()) + 7),
        "trailer_index_size_2_63": parts.seal(size=1 << 63),
        "trailer_index_size_end": parts.seal(size=(1 << 64) - 1),
        "trailer_index_sum_wraps": parts.seal(at=(1 << 64) - 8, size=len(parts.index) + len(parts.body()) + 16),
        "trailer_index_size_0": parts.seal(size=0),
        "trailer_index_past_end": parts.seal(size=len(parts.index) + 1),
        "trailer_digest": parts.seal(digest=bytes(32)),
    }


def bad_head() -> dict[str, bytes]:
    """The first 40 bytes of an index."""
    short = parts_of(three())
    short.index = short.index[:39]
    longer = parts_of(three())
    longer.index += b"\0"
    return {
        "index_magic": patched(0, "8s", b"sled-imh"),
        "index_too_short": short.seal(),
        "index_too_long": longer.seal(),
        "sector_0": patched(12, "I", 0),
        "sector_1024": patched(12, "I", 1024),
        "disk_of_no_bytes": patched(16, "Q", 0),
        "disk_half_a_sector": patched(16, "Q", 8 * MIB + 256),
        "disk_of_2_63": patched(16, "Q", 1 << 63),
        "disk_of_2_64": patched(16, "Q", (1 << 64) - 512),
        "disk_larger_than_frames": patched(16, "Q", 9 * MIB),
        "disk_ends_in_chunk": patched(16, "Q", 5 * MIB + 4096),
        "used_one_less": patched(24, "Q", 104 * GRANULE - 1),
        "used_2_64": patched(24, "Q", (1 << 64) - 1),
        "chunks_one_more": patched(32, "I", 4),
        "chunks_one_less": patched(32, "I", 2),
        "chunks_all": patched(32, "I", 1 << 21),
        "partitions_one_more": patched(36, "I", 3),
        "partitions_one_less": patched(36, "I", 1),
    }


def bad_partitions() -> dict[str, bytes]:
    """Partitions that no disk has."""
    second = HEAD + PARTITION
    return {
        "partition_starts_at_end": patched(second, "QQQ", 8 * MIB, 0, 0),
        "partition_starts_at_2_63": patched(second, "Q", 1 << 63),
        "partition_bytes_2_64": patched(second + 8, "Q", (1 << 64) - 1),
        "partition_past_end": patched(second + 8, "Q", 4 * MIB + 1),
        "partition_order": patched(second, "Q", MIB - 512),
        "partition_uses_more": patched(second + 16, "Q", 3 * MIB + 1),
        "content_empty": patched(second + 24, "16s", b""),
        "content_upper_case": patched(second + 24, "16s", b"Ext4"),
        "content_escape": patched(second + 24, "16s", b"\x1b[2J"),
        "content_after_nul": patched(second + 24, "16s", b"ext4\0x"),
    }


def bad_chunks() -> dict[str, bytes]:
    """Chunks where none can be, or elsewhere than they say."""
    return {
        "chunk_twice": with_chunks([0, 1, 1]),
        "chunks_out_of_order": with_chunks([1, 0, 2]),
        "chunk_missing": with_chunks([0, 2]),
        "chunks_overlap": patched(entry(1), "Q", MIB),
        "chunk_half_a_chunk": patched(entry(1), "Q", 2 * MIB + 4096),
        "chunk_at_end": patched(entry(2), "Q", 8 * MIB),
        "chunk_at_2_63": patched(entry(2), "Q", 1 << 63),
        "chunk_at_2_64": patched(entry(2), "Q", (1 << 64) - MIB),
        "chunk_elsewhere": patched(entry(2), "Q", 4 * MIB),
        "frame_at_0": patched(entry(1, 8), "Q", 0),
        "frame_at_2_63": patched(entry(1, 8), "Q", 1 << 63),
        "frames_share_bytes": patched(entry(1, 8), "Q", len(gap_frame(MIB)) + 1),
        "frame_of_no_bytes": patched(entry(1, 16), "I", 0),
        "frame_one_less": patched(entry(2, 16), "I", len(parts_of(three()).frames[4][0]) - 1),
        "frame_too_large": patched(entry(1, 16), "I", 1056769),
        "frame_of_2_32": patched(entry(1, 16), "I", (1 << 32) - 1),
        "bitmap_empty": patched(entry(1, 20), "32s", b""),
        "bitmap_one_more": patched(entry(1, 20), "B", 1),
        "hash": patched(entry(1, 52), "B", 0),
    }


def seek_tables() -> dict[str, bytes]:
    """Seek tables that another file would have."""

    def edited(edit: Callable[[bytes], bytes]) -> bytes:
        parts = parts_of(three())
        parts.table_edit = edit
        return parts.seal()

    def with_checksums(table: bytes) -> bytes:
        entries = b"".join(table[at : at + 8] + bytes(4) for at in range(8, len(table) - 9, 8))
        return skippable(0x184D2A5E, entries + table[-9:-5] + b"\x80" + table[-4:])

    return {
        "seek_table_checksums": edited(with_checksums),
        "seek_table_sizes_swapped": edited(lambda table: table[:8] + table[12:16] + table[8:12] + table[16:]),
        "seek_table_other_magic": edited(lambda table: b"\x50" + table[1:]),
        "seek_table_count_2_32": edited(lambda table: table[:-9] + b"\xff" * 4 + table[-5:]),
        "seek_table_one_less": edited(
            lambda table: skippable(0x184D2A5E, table[8:-17] + struct.pack("<I", 7) + table[-5:])
        ),
    }


def unsupported() -> dict[str, bytes]:
    """Images of a later program: exit code 3."""
    return {
        "version_2_index": patched(8, "I", 2),
        "version_0_index": patched(8, "I", 0),
        "version_2_trailer": parts_of(three()).seal(version=2),
        "disk_over_2_50": patched(16, "Q", (1 << 50) + 512),
        "chunks_too_many": patched(32, "I", (1 << 25) + 1),
        "chunks_2_32": patched(32, "I", (1 << 32) - 1),
        "partitions_too_many": patched(36, "I", 129),
    }
