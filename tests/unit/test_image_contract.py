# SPDX-License-Identifier: Apache-2.0
"""The reference reader of images against every vector of the contract."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.contract.reader import image

VECTORS = Path(__file__).parents[2] / "contract/vectors/image"
CASES = [line.split() for line in (VECTORS / "manifest").read_text().splitlines()]


def read(name: str, keys: str, raw: Path | None = None) -> int:
    """Exit code."""
    try:
        image.run(VECTORS / name, None if keys == "-" else VECTORS / "keys" / keys, None, raw)
    except image.Refused as refusal:
        return refusal.code
    return 0


@pytest.mark.parametrize(("name", "code", "keys", "raw"), CASES)
def test_vector(name: str, code: str, keys: str, raw: str, tmp_path: Path) -> None:
    out = tmp_path / "raw"
    assert read(name, keys, out) == int(code)
    if raw != "-":
        assert hashlib.sha256(out.read_bytes()).hexdigest() == raw


def test_every_file_is_in_the_manifest() -> None:
    files = {f"{path.parent.name}/{path.name}" for path in VECTORS.glob("*/*.zst")}
    assert files == {name for name, *_ in CASES}
    assert len(files) > 100


def test_a_byte_changed_anywhere_is_refused() -> None:
    data = (VECTORS / "ok/signed.raw.zst").read_bytes()
    keys = image.read_keys(VECTORS / "keys/test.pub")
    for at in range(len(data)):
        file = io.BytesIO(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])
        with pytest.raises(image.Refused):
            for _ in image.read_disk(file, image.open_image(file, keys)):
                pass


def test_another_digest() -> None:
    with (VECTORS / "ok/gaps.raw.zst").open("rb") as file, pytest.raises(image.Refused):
        image.open_image(file, digest="sha256:" + 64 * "0")


def test_a_file_cut_anywhere_is_refused() -> None:
    data = (VECTORS / "ok/gaps.raw.zst").read_bytes()
    for size in range(len(data)):
        with pytest.raises(image.Refused):
            image.open_image(io.BytesIO(data[:size]))


def test_keys_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing")
    with pytest.raises(ValueError, match="not Ed25519"):
        image.read_keys(tmp_path / "none.pem")
