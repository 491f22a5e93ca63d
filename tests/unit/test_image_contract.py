# SPDX-License-Identifier: Apache-2.0
"""The reference reader of images against every vector of the contract."""

from __future__ import annotations

import hashlib
import io
import struct
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.contract.reader import image

VECTORS = Path(__file__).parents[2] / "contract/vectors/image"
CASES = [line.split() for line in (VECTORS / "manifest").read_text().splitlines()]


def read(name: str, raw: Path | None = None, chunks: bool = False) -> int:
    """Exit code."""
    try:
        image.run(VECTORS / name, None, raw, chunks)
    except image.Refused as refusal:
        return refusal.code
    return 0


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_vector(case: list[str], tmp_path: Path) -> None:
    name, code, raw, of_chunks = case
    out = tmp_path / "raw"
    for chunks, wanted in ((False, code), (True, of_chunks)):
        assert read(name, out, chunks) == int(wanted)
        if raw != "-" and wanted == "0":
            assert hashlib.sha256(out.read_bytes()).hexdigest() == raw


def test_an_index_beyond_the_limits(tmp_path: Path) -> None:
    """Its content cannot be looked at, so it is not damaged but unsupported."""
    size = image.HEAD.size + image.PARTITIONS_MAX * image.PARTITION.size + (image.CHUNKS_MAX + 1) * image.ENTRY.size
    with (tmp_path / "large").open("wb") as file:
        file.seek(8 + size)
        file.write(struct.pack("<II", image.TRAILER, image.END.size))
        file.write(image.END.pack(b"sled-end", 1, 0, 8, size, bytes(32), bytes(72)))
        file.write(bytes(24) + image.FOOTER.pack(2, 0, 0x8F92EAB1))
    assert read(str(tmp_path / "large")) == 3


def test_every_file_is_in_the_manifest() -> None:
    files = {f"{path.parent.name}/{path.name}" for path in VECTORS.glob("*/*.zst")}
    assert files == {name for name, *_ in CASES}
    assert len(files) > 100


def test_a_byte_changed_anywhere_is_refused() -> None:
    data = (VECTORS / "ok/gaps.raw.zst").read_bytes()
    for at in range(len(data)):
        file = io.BytesIO(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])
        with pytest.raises(image.Refused):
            for _ in image.read_disk(file, image.open_image(file)):
                pass


def test_a_free_tebibyte_has_the_size_that_the_page_states() -> None:
    page = (VECTORS.parents[1] / "image.md").read_text()
    assert f"A free TiB takes {image.gap_bytes(1 << 40) / 1e6:.1f} MB of file." in page


def test_another_digest() -> None:
    with (VECTORS / "ok/gaps.raw.zst").open("rb") as file, pytest.raises(image.Refused):
        image.open_image(file, "sha256:" + 64 * "0")


def test_a_file_cut_anywhere_is_refused() -> None:
    data = (VECTORS / "ok/gaps.raw.zst").read_bytes()
    for size in range(len(data)):
        with pytest.raises(image.Refused):
            image.open_image(io.BytesIO(data[:size]))
