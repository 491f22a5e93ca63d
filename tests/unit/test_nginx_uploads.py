# SPDX-License-Identifier: Apache-2.0
"""The templates of role nginx, in a real nginx: several uploads of one captured disk."""

from __future__ import annotations

import re

import pytest
from ansible_collections.sled.fleet.tests.unit.front import Front, front

__all__ = ["front"]

UPLOAD = "/upload/52-54-00-77-00-01-4.raw.zst"
STORED = re.compile(r"52-54-00-77-00-01-4-[0-9a-f]{32}\.raw\.zst")


class Put:
    """An upload that sends half of a file, and waits."""

    def __init__(self, front: Front, data: bytes, path: str = UPLOAD) -> None:
        self.data, self.link = data, front.connect_from("127.0.0.1")
        head = f"PUT {path} HTTP/1.1\r\nHost: sled\r\nAuthorization: Bearer good\r\nContent-Length: {len(data)}\r\n"
        self.link.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        assert self.link.recv(65536).startswith(b"HTTP/1.1 100 ")
        self.link.sendall(data[: len(data) // 2])

    def end(self) -> tuple[int, str]:
        """Sends the rest; returns the status and the name of the file in the answer."""
        self.link.sendall(self.data[len(self.data) // 2 :])
        head = self.link.recv(65536).decode()
        self.link.close()
        found = re.search(r"(?im)^location: (.*)\r$", head)
        return int(head.split()[1]), found[1].rpartition("/")[2] if found else ""


def stored(front: Front) -> dict[str, bytes]:
    """The files of uploads."""
    folder = front.directory / "images/captured"
    return {path.name: path.read_bytes() for path in folder.glob("52-54-00-77-00-01-4*")}


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_an_upload_that_ends_late_changes_no_file(front: Front) -> None:
    late, first = Put(front, b"late" * 500), Put(front, b"first" * 500)
    status, name = first.end()
    before = stored(front)
    late.end()
    after = stored(front)
    assert {file: after[file] for file in before} == before, "the file may be registered by now"
    assert status == 201 and STORED.fullmatch(name) and before == {name: b"first" * 500}
    assert sorted(after.values()) == [b"first" * 500, b"late" * 500]
