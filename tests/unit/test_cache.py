# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.cache import Cache, digest_of
from ansible_collections.sled.fleet.plugins.module_utils.client import SettingsError, SledError, Unreachable
from ansible_collections.sled.fleet.tests.unit.double import Sledd

KERNEL = b"bzImage" * 50000


def get(folder: Path, url: str, ca: str | None = None) -> str:
    """As another process does it."""
    path, digest = Cache(str(folder), ca).get(url)
    assert digest_of(path) == digest
    return digest


def test_fetched_once_by_many(sledd: Sledd, tmp_path: Path) -> None:
    sledd.files["/k"] = KERNEL
    with ProcessPoolExecutor(4, get_context("spawn")) as pool:
        digests = set(pool.map(get, [tmp_path / "c"] * 8, [sledd.url + "/k"] * 8))
    assert digests == {hashlib.sha256(KERNEL).hexdigest()}
    assert sledd.sent == ["/k"]
    assert len([path for _, path, _ in sledd.asked if path == "/k"]) == 8


def test_what_is_new_is_fetched_and_what_is_spoilt_too(sledd: Sledd, tmp_path: Path) -> None:
    sledd.files["/k"] = KERNEL
    url = sledd.url + "/k"
    old = get(tmp_path, url)
    sledd.files["/k"] = b"newer"
    assert get(tmp_path, url) == hashlib.sha256(b"newer").hexdigest() != old
    (tmp_path / hashlib.sha256(b"newer").hexdigest()).write_bytes(b"spoilt")
    assert get(tmp_path, url) == hashlib.sha256(b"newer").hexdigest()
    next(tmp_path.glob("*.json")).write_text("{")
    get(tmp_path, url)
    assert sledd.sent == ["/k"] * 4
    assert not list(tmp_path.glob(".part-*"))


def test_the_ca_is_heeded(sledd: Sledd, tmp_path: Path) -> None:
    certificate = sledd.use_tls(tmp_path)
    sledd.files["/k"] = KERNEL
    assert get(tmp_path / "c", sledd.url + "/k", str(certificate))
    with pytest.raises(Unreachable, match=r"cannot be fetched.*certificate"):
        get(tmp_path / "c", sledd.url + "/k")


def test_errors_name_the_thing(sledd: Sledd, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SledError, match=r"/none: 401"):
        get(tmp_path, sledd.url + "/none")
    with pytest.raises(SettingsError, match="in clear"):
        get(tmp_path, "http://10.77.0.1/k")
    with pytest.raises(SettingsError, match=f"cache {tmp_path}/file"):
        get(tmp_path / "file", sledd.url + "/k")
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1/k cannot be fetched"):
        get(tmp_path, "http://127.0.0.1:1/k")
