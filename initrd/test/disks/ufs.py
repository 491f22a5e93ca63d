# SPDX-License-Identifier: Apache-2.0
"""UFS1 and UFS2 in memory, by FreeBSD's sys/ufs/ffs/fs.h and dinode.h: reads their files, and ages what makefs made."""

from __future__ import annotations

import hashlib
import random
import stat
import struct
from collections.abc import Iterator

ROOT, UFS1, UFS2 = 2, 0x00011954, 0x19540119
Inode = tuple[int, int, list[int], list[int]]  # mode, bytes, direct blocks, indirect ones
SUPER = {
    "group_at": 12, "inodes_at": 16, "groups": 44, "block": 48, "fragment": 52, "inodes": 184, "each": 188,
}  # fmt: skip


class Ufs:
    """One filesystem that starts at that byte of a disk."""

    def __init__(self, disk: bytearray, start: int = 0) -> None:
        self.disk, self.start = disk, start
        self.order, self.two, self.super = self.find()
        field = {name: self.get(self.super + at) for name, at in SUPER.items()}
        self.block, self.fragment = field["block"], field["fragment"]
        self.per_block = self.block // self.fragment
        self.each, self.groups = field["each"], field["groups"]
        self.group_at, self.inodes_at, self.inodes = field["group_at"], field["inodes_at"], field["inodes"]
        self.size = self.get(self.super + 1080, "q") if self.two else self.get(self.super + 36)
        self.summary = self.get(self.super + 1096, "q") if self.two else self.get(self.super + 152)

    def find(self) -> tuple[str, bool, int]:
        """Order of bytes, whether it is UFS2, and the byte of its superblock."""
        for at in (65536, 8192):
            for order in "<>":
                (place,) = struct.unpack_from(order + "q", self.disk, self.start + at + 1000)
                (magic,) = struct.unpack_from(order + "I", self.disk, self.start + at + 1372)
                if (magic == UFS2 and place == at) or (magic == UFS1 and at == 8192):
                    return order, magic == UFS2, at
        raise ValueError("no superblock")

    def get(self, at: int, form: str = "I") -> int:
        """A number at that byte of the filesystem."""
        number: int = struct.unpack_from(self.order + form, self.disk, self.start + at)[0]
        return number

    def put(self, at: int, value: int, form: str = "I") -> None:
        struct.pack_into(self.order + form, self.disk, self.start + at, value)

    def add(self, at: int, value: int, form: str = "I") -> None:
        self.put(at, self.get(at, form) + value, form)

    def group(self, number: int) -> int:
        """The byte of a cylinder group."""
        return (number * self.each + self.group_at) * self.fragment

    def bit(self, fragment: int) -> tuple[int, int]:
        """Byte of the disk and mask of a fragment in its map."""
        group = self.group(fragment // self.each)
        place = fragment % self.each
        return self.start + group + self.get(group + 96) + place // 8, 1 << place % 8

    def is_free(self, fragment: int) -> bool:
        at, mask = self.bit(fragment)
        return bool(self.disk[at] & mask)

    def is_whole(self, fragment: int) -> bool:
        """Whether the block of a fragment is free."""
        first = fragment - fragment % self.each % self.per_block
        return all(self.is_free(i) for i in range(first, first + self.per_block))

    def count(self, group: int, blocks: int, fragments: int) -> None:
        """In the group, in the list of all groups, in the superblock."""
        for at, change in ((4, blocks), (12, fragments)):
            self.add(self.group(group) + 24 + at, change)
            self.add(self.summary * self.fragment + group * 16 + at, change)
            if not self.two:
                self.add(self.super + 192 + at, change)
        if self.two:
            self.add(self.super + 1008 + 8, blocks, "q")
            self.add(self.super + 1008 + 24, fragments, "q")

    def mark(self, first: int, count: int, *, free: bool) -> None:
        """Fragments of one block."""
        start = first - first % self.each % self.per_block
        block = range(start, start + self.per_block)
        before = sum(self.is_free(i) for i in block)
        for i in range(first, first + count):
            at, mask = self.bit(i)
            assert self.is_free(i) != free
            self.disk[at] ^= mask
        after = before + (count if free else -count)
        whole = (after == self.per_block) - (before == self.per_block)
        self.count(first // self.each, whole, after - before - whole * self.per_block)

    def inode_at(self, number: int) -> int:
        size = 256 if self.two else 128
        group, place = divmod(number, self.inodes)
        return (group * self.each + self.inodes_at) * self.fragment + place * size

    def pointers(self, at: int, count: int) -> list[int]:
        return list(struct.unpack_from(f"{self.order}{count}{'q' if self.two else 'i'}", self.disk, self.start + at))

    def inode(self, number: int) -> Inode:
        at = self.inode_at(number)
        table = at + (112 if self.two else 40)
        width = 8 if self.two else 4
        size = self.get(at + (16 if self.two else 8), "q")
        return self.get(at, "H"), size, self.pointers(table, 12), self.pointers(table + 12 * width, 3)

    def tree(self, block: int, level: int) -> Iterator[tuple[int, bool]]:
        """Blocks below an indirect one, and that itself: fragment, and whether it holds data."""
        count = self.block // (8 if self.two else 4)
        for below in self.pointers(block * self.fragment, count):
            if level and below:
                yield from self.tree(below, level - 1)
            else:
                yield below, True
        yield block, False

    def pieces(self, inode: Inode) -> list[tuple[int, int, bool]]:
        """Of a file: first fragment, number of them, and whether they hold data."""
        _, size, direct, indirect = inode
        blocks = [(block, True) for block in direct]
        for level, block in enumerate(indirect):
            blocks += self.tree(block, level) if block else []
        found, left = [], size
        for block, is_data in blocks:
            if is_data and left <= 0:
                continue
            short = is_data and size <= 12 * self.block and left < self.block
            found.append((block, -(-left // self.fragment) if short else self.per_block, is_data))
            left -= self.block if is_data else 0
        return found

    def read(self, inode: Inode) -> bytes:
        mode, size, _, _ = inode
        if stat.S_ISLNK(mode) and size < (120 if self.two else 60):
            return b""
        data = b""
        for first, count, is_data in self.pieces(inode):
            at = self.start + first * self.fragment
            if is_data:
                data += self.disk[at : at + count * self.fragment] if first else bytes(count * self.fragment)
        return data[:size]

    def entries(self, folder: int) -> Iterator[tuple[str, int, int]]:
        """Name, inode, and byte of each entry of a folder."""
        inode = self.inode(folder)
        for first, count, is_data in self.pieces(inode):
            at, end = first * self.fragment, (first + count) * self.fragment
            while is_data and at < end and (length := self.get(at + 4, "H")):
                number, size = self.get(at), self.disk[self.start + at + 7]
                name = bytes(self.disk[self.start + at + 8 : self.start + at + 8 + size]).decode()
                if number and name not in (".", ".."):
                    yield name, number, at
                at += length

    def walk(self, folder: int = ROOT, path: str = "") -> Iterator[tuple[str, int, int]]:
        for name, number, at in self.entries(folder):
            yield f"{path}/{name}", number, at
            if stat.S_ISDIR(self.inode(number)[0]):
                yield from self.walk(number, f"{path}/{name}")

    def files(self) -> dict[str, str]:
        """Digest of the inode and the bytes of each."""
        size = 256 if self.two else 128
        found = {}
        for path, number, _ in self.walk():
            at = self.start + self.inode_at(number)
            data = bytes(self.disk[at : at + size]) + self.read(self.inode(number))
            found[path] = hashlib.sha256(data).hexdigest()
        return found

    def regular(self) -> list[tuple[str, int, int]]:
        return [entry for entry in self.walk() if stat.S_ISREG(self.inode(entry[1])[0])]

    def remove(self, number: int, entry: int) -> None:
        """As unlink; the inode itself stays, as no map of inodes is read."""
        for first, count, _ in self.pieces(self.inode(number)):
            if first:
                self.mark(first, count, free=True)
        self.put(entry, 0)

    def shorten(self, number: int) -> bool:
        """By one fragment, if its last block is not a whole one."""
        _, size, direct, _ = self.inode(number)
        last = -(-size // self.block) - 1
        count = -(-size % self.block // self.fragment)
        if last >= 12 or last < 0 or count < 2 or not direct[last]:
            return False
        self.mark(direct[last] + count - 1, 1, free=True)
        self.put(self.inode_at(number) + (16 if self.two else 8), last * self.block + (count - 1) * self.fragment, "q")
        return True

    def move(self, number: int, to: int) -> bool:
        """Its first block to another place."""
        _, size, direct, _ = self.inode(number)
        if size < self.block or not direct[0] or not self.is_whole(to):
            return False
        width = self.per_block * self.fragment
        source, target = self.start + direct[0] * self.fragment, self.start + to * self.fragment
        self.mark(to, self.per_block, free=False)
        self.disk[target : target + width] = self.disk[source : source + width]
        self.mark(direct[0], self.per_block, free=True)
        self.put(self.inode_at(number) + (112 if self.two else 40), to, "q" if self.two else "I")
        return True

    def free_bytes(self) -> int:
        return self.fragment * sum(self.is_free(i) for i in range(self.size))

    def spoil(self, draw: random.Random) -> None:
        """Random bytes in everything that is free."""
        for i in range(self.size):
            if self.is_free(i):
                at = self.start + i * self.fragment
                self.disk[at : at + self.fragment] = draw.randbytes(self.fragment)

    def age(self, draw: random.Random) -> None:
        """A third of the files is removed, of others fragments are freed, and blocks are moved anywhere."""
        regular = self.regular()
        draw.shuffle(regular)
        third = len(regular) // 3
        for _, number, entry in regular[:third]:
            self.remove(number, entry)
        for _, number, _ in regular[third : 2 * third]:
            self.shorten(number)
        for _, number, _ in regular[third:]:
            block = draw.randrange(self.size // self.per_block) * self.per_block
            if block + self.per_block <= self.size:
                self.move(number, block)
        self.spoil(draw)
