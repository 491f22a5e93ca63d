# SPDX-License-Identifier: Apache-2.0
"""Frames that every reader of the file refuses. Most are three() of form.py, changed in one place."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

from bad import flipped
from form import (
    CHUNK,
    HEAD,
    MIB,
    RUN,
    Chunk,
    Disk,
    compress,
    gap_frame,
    parts_of,
    reheaded,
    skippable,
    three,
    windowed,
)


def with_frame(frame: Callable[[bytes], bytes]) -> bytes:
    """three(), its second chunk's frame made otherwise."""
    disk = three()
    disk.chunks[1].fill(disk.size)
    disk.chunks[1].frame = frame(disk.chunks[1].data)
    return parts_of(disk).seal()


def crafted(declared: int, decoded: int) -> bytes:
    """A frame that declares one size and decodes to another: zeros, and a checksum that nobody gets to."""
    blocks = gap_frame(decoded)[10:]
    return b"\x28\xb5\x2f\xfd\xc4\x48" + struct.pack("<Q", declared) + blocks + b"\0\0\0\0"


def with_dictionary(number: int) -> Callable[[bytes], bytes]:
    """The usual frame, and a dictionary's number in its header."""
    return lambda data: reheaded(compress(data), 0xA5, bytes([number]) + struct.pack("<I", len(data)))


def with_descriptor(descriptor: int) -> Callable[[bytes], bytes]:
    """The usual frame with other bits in the first byte of its header."""
    return lambda data: reheaded(compress(data), descriptor, struct.pack("<I", len(data)))


def with_noise(data: bytes) -> bytes:
    """A byte in a granule that the index says is free."""
    noisy = bytearray(data)
    noisy[5] = 1
    return compress(bytes(noisy))


def bitmap_past_end() -> bytes:
    """The last chunk has two granules; a third is used."""
    disk = Disk(2 * MIB + 4608, [Chunk(2 * MIB, [0, 1])])
    parts = parts_of(disk)
    parts.index[HEAD + 20] |= 4
    return parts.seal()


def bad_frames() -> dict[str, bytes]:
    """Frames of the right size in the file that are not what they must be."""
    split = parts_of(three())
    split.frames[0:1] = [(gap_frame(MIB // 2), MIB // 2)] * 2
    late = parts_of(Disk(65 * MIB + 512, []))
    late.frames.reverse()
    return {
        "frame_no_checksum": with_frame(lambda data: compress(data, checksum=False)),
        "frame_no_size": with_frame(lambda data: compress(data, size=False)),
        "frame_with_dictionary": with_frame(with_dictionary(7)),
        "frames_two_in_one": with_frame(lambda data: compress(data[:4096]) + compress(data[4096:])),
        "frame_and_more": with_frame(lambda data: compress(data) + skippable(0x184D2A50, b"")),
        "frame_after_skippable": with_frame(lambda data: skippable(0x184D2A50, b"") + compress(data)),
        "frame_is_skippable": with_frame(lambda _: skippable(0x184D2A50, b"1234")),
        "frame_is_noise": with_frame(lambda data: hashlib.sha256(data).digest()),
        "frame_one_byte": with_frame(lambda _: b"\x28"),
        "frame_too_short": with_frame(lambda data: compress(data[:-1])),
        "frame_too_long": with_frame(lambda data: compress(data + b"\0")),
        "bomb_declares_gib": with_frame(lambda _: crafted(64 << 30, RUN)),
        "bomb_declares_2_63": with_frame(lambda _: crafted(1 << 63, RUN)),
        "bomb_decodes_64_mib": with_frame(lambda _: crafted(CHUNK, 64 << 20)),
        "frame_decodes_less": with_frame(lambda _: crafted(CHUNK, RUN)),
        "free_granule_not_zeros": with_frame(with_noise),
        "bitmap_past_end": bitmap_past_end(),
        "gap_in_two_frames": split.seal(),
        "gap_short_frame_first": late.seal(),
    }


def bad_windows() -> dict[str, bytes]:
    """Windows that a decoder need not have room for, or that are smaller than blocks are."""
    windows = {"1_kib": 0x00, "128_kib": 0x38, "256_kib": 0x40, "640_kib": 0x4A, "2_mib": 0x58, "1_gib": 0xA0}
    return {f"frame_window_{name}": with_frame(windowed(window)) for name, window in windows.items()} | {
        "frame_dictionary_field_of_0": with_frame(with_dictionary(0)),
        "frame_unused_bit": with_frame(with_descriptor(0xB4)),
        "frame_reserved_bit": with_frame(with_descriptor(0xAC)),
    }


def with_blocks(first: bytes, covers: int = RUN + 1) -> Callable[[bytes], bytes]:
    """Plain blocks after this one, which stands for the first bytes of the chunk, all zeros."""

    def frame(data: bytes) -> bytes:
        blocks, at = first, covers
        while at < len(data):
            size = min(RUN, len(data) - at)
            blocks += (size << 3 | (at + size == len(data))).to_bytes(3, "little") + data[at : at + size]
            at += size
        return b"\x28\xb5\x2f\xfd\xa4" + struct.pack("<I", len(data)) + blocks + compress(data)[-4:]

    return frame


def match_block(reserved: int = 0) -> bytes:
    """A compressed block of 128 KiB of zeros: a literal, and one sequence that repeats it (RFC 8878, 3.1.1.3).

    All three kinds of symbols are runs of one: literal length 1, offset code 2, match length code 52. In the stream,
    from its end: the mark, 2 bits of the offset, 16 bits of the match length less 65539.
    """
    bits = 1 << 18 | (RUN - 1 - 65539)
    block = bytes([1 << 3, 0, 1, 0x54 | reserved, 1, 2, 52]) + bits.to_bytes(3, "little")
    return (len(block) << 3 | 2 << 1).to_bytes(3, "little") + block


def bad_blocks() -> dict[str, bytes]:
    """Blocks that some decoders accept."""
    size = ((RUN + 1) << 3).to_bytes(3, "little")
    run = ((RUN + 1) << 3 | 1 << 1).to_bytes(3, "little")
    return {
        "frame_block_too_large": with_frame(with_blocks(size + bytes(RUN + 1))),
        "frame_run_too_large": with_frame(with_blocks(run + b"\0")),
        "frame_block_of_no_type": with_frame(with_blocks(b"\x0e\0\0\0" + run + b"\0")),
        "frame_sequences_reserved_bit": with_frame(with_blocks(match_block(reserved=1), RUN)),
    }


def bad_gaps() -> dict[str, bytes]:
    """Gap frames of the right length with other bytes: only a reader of the whole file sees them."""

    def changed(frame: bytes) -> bytes:
        parts = parts_of(three())
        parts.frames[0] = (frame, MIB)
        return parts.seal()

    right = gap_frame(MIB)
    return {
        "gap_other_window": changed(gap_frame(MIB, window=0x40)),
        "gap_of_ones": changed(right[:13] + b"\1" + right[14:]),
        "gap_declares_less": changed(right[:6] + struct.pack("<I", MIB - 1) + right[10:]),
        "gap_ends_early": changed(right[:10] + bytes([right[10] | 1]) + right[11:]),
        "gap_is_noise": changed(bytes(len(right))),
        "flip_in_gap": flipped(parts_of(three()).seal(), 9),
    }
