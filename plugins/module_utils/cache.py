# SPDX-License-Identifier: Apache-2.0
"""Keeps files of a boot server on the controller. What many processes want at once is fetched once."""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import json
import os
import tempfile
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible.module_utils.urls import ConnectionError as UrlsError
from ansible.module_utils.urls import open_url
from ansible_collections.sled.fleet.plugins.module_utils.client import (
    SettingsError,
    SledError,
    Unreachable,
    check_server,
)

PIECE = 1 << 20  # bytes
LONGEST_FILE = 512 << 20  # bytes


class Cache:
    """Files named by their SHA-256 in a folder of the user's own, with one record for each URL.

    Anything in it may be deleted.
    """

    def __init__(self, folder: str, ca_file: str | None = None, timeout: float = 30.0) -> None:
        self.folder = Path(folder)
        self._ca_file = ca_file
        self._timeout = timeout

    def get(self, url: str) -> tuple[Path, str]:
        """Returns the file that a URL points to now, and its SHA-256.

        sledd's server is always asked, and sends what is new.
        """
        check_server(url)
        with self._locked(url) as record:
            known = _read_record(record)
            had = self.folder / known.get("sha256", "-")
            if not (known.get("etag") and had.is_file() and _digest(had) == known["sha256"]):
                known = {}
            fresh = self._fetch(url, known.get("etag"))
            if fresh is None:
                return had, known["sha256"]
            _write(record, json.dumps({"url": url, **fresh}).encode())
            return self.folder / fresh["sha256"], fresh["sha256"]

    @contextmanager
    def _locked(self, url: str) -> Iterator[Path]:
        """The record of a URL, while nobody else has it. The lock goes with the process."""
        record = self.folder / (hashlib.sha256(url.encode()).hexdigest()[:16] + ".json")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(record.with_suffix(".lock"), "w", encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield record
        except OSError as error:
            raise SettingsError(f"cache {self.folder}: {error}") from error

    def _fetch(self, url: str, etag: str | None) -> dict[str, str] | None:
        """Puts what the URL means into the folder; None when it is what is there."""
        try:
            with open_url(
                url,
                headers={"If-None-Match": etag} if etag else {},
                ca_path=self._ca_file,
                timeout=self._timeout,
                http_agent="sled.fleet",
                follow_redirects="none",
                use_netrc=False,
                decompress=False,
            ) as answer:
                return {"etag": answer.headers.get("ETag") or "", "sha256": self._keep(answer)}
        except urllib.error.HTTPError as error:
            if error.code == 304:
                return None
            raise SledError(f"{url}: {error.code} {error.reason}") from error
        except (UrlsError, urllib.error.URLError, http.client.HTTPException, TimeoutError) as error:
            raise Unreachable(f"{url} cannot be fetched: {getattr(error, 'reason', error)}") from error

    def _keep(self, answer: Any) -> str:
        promised = answer.headers.get("Content-Length")
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".part-", delete=False) as part:
            try:
                size, digest = _copy(answer, part)
                if promised is not None and size != int(promised):
                    raise SledError(f"{answer.geturl()}: {size} of {promised} bytes were received")
                Path(part.name).replace(self.folder / digest)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
        return digest


def _copy(answer: Any, into: Any) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    while piece := answer.read(PIECE):
        size += len(piece)
        if size > LONGEST_FILE:
            raise SledError(f"{answer.geturl()} is longer than {LONGEST_FILE} bytes")
        digest.update(piece)
        into.write(piece)
    into.flush()
    os.fsync(into.fileno())
    return size, digest.hexdigest()


def digest_of(path: str | Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    try:
        return _digest(Path(path))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from error


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _read_record(record: Path) -> dict[str, str]:
    try:
        known = json.loads(record.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(record: Path, data: bytes) -> None:
    part = record.with_suffix(".new")
    part.write_bytes(data)
    part.replace(record)
