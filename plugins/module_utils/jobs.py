# SPDX-License-Identifier: Apache-2.0
"""Requests about jobs, and their files."""

from __future__ import annotations

import hashlib
import http.client
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError, dry_run

# Of each field of a job: the file on the controller, and its parts on the boot server.
FILES = {
    "output": ("stdout", "out.{:06}"),
    "errors": ("stderr", "err.{:06}"),
    "files": ("artefacts.tar", "files.{:06}"),
}


class Jobs:
    """The jobs of a sledd."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def start(self, spec: Json, dry: bool) -> Json:
        """Requests a job; dry: only as if."""
        return self._client._json("POST", "/v1/jobs", dry_run(dry), spec)

    def find(self, name: str) -> Json:
        """Reads a job that must exist."""
        job = self._client.find("jobs", name)
        if job is None:
            raise SledError(f"job {name} does not exist")
        return job

    def cancel(self, name: str, dry: bool) -> Json:
        """Cancels a job; dry: only as if."""
        return self._client._json("DELETE", self._client._path("jobs", name), dry_run(dry))

    def put_energy(self, name: str, energy: Json) -> None:
        """Stores what the node drew during a job."""
        self._client._json("PUT", self._client._path("jobs", name, "energy"), None, energy)

    def read(self, name: str, file: str, write: Callable[[bytes], Any]) -> bool:
        """Reads a file of a job in pieces; False if there is none."""
        url = self._client.server + self._client._path("jobs", name, "files", file)
        try:
            with self._client._open(url, "GET", None, {}, private=True) as answer:
                while piece := answer.read(1 << 20):
                    write(piece)
                if answer.length:
                    raise http.client.IncompleteRead(b"", answer.length)
                return bool(answer.status == 200)  # 204: sledd has no files, only a web server in front of it
        except ApiError as error:
            if error.status == 404:
                return False
            raise

    def store(self, job: Json, folder: Path) -> bool:
        """Stores the files of a job, unless they are there; compares them with what its node reported."""
        folder.mkdir(parents=True, exist_ok=True)
        changed = False
        for field, (name, parts) in FILES.items():
            sent, file = job.get(field), folder / name
            if sent and not (file.exists() and digest(file) == sent["sha256"]):
                self._store(job["id"], file, parts, sent)
                changed = True
        return changed

    def _store(self, name: str, file: Path, parts: str, sent: Json) -> None:
        coming, number = file.with_name(f".{file.name}.part"), 1
        with coming.open("wb") as to:
            while self.read(name, parts.format(number), to.write):
                number += 1
        if digest(coming) != sent["sha256"]:
            raise SledError(
                f"{file.name} of job {name}: {coming.stat().st_size} bytes were read, the node sent {sent['bytes']} "
                "with another SHA-256: files of jobs are removed after some time"
            )
        coming.rename(file)


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    found = hashlib.sha256()
    with file.open("rb") as content:
        while piece := content.read(1 << 20):
            found.update(piece)
    return found.hexdigest()
